"""Explanations as JSON: the dataclasses as they are."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .explanation import Explanation


def to_json(explanations: Sequence[Explanation]) -> str:
    streams = []
    for one in explanations:
        data = asdict(one)
        data["alone"], data["together"] = one.alone._asdict(), one.together._asdict()
        for execution, shown in zip(one.executions, data["executions"], strict=True):
            shown["load"], shown["labels"] = execution.load._asdict(), dict(execution.labels)
        streams.append(data)
    return json.dumps({"streams": streams}, indent=2, ensure_ascii=False) + "\n"
