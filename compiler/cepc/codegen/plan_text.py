"""A plan as a constant of a job."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cepc_runtime.plan_data import to_data

from .python import long_string

if TYPE_CHECKING:
    from cepc_runtime.plan import PhysicalPlan


def plan_text(plan: PhysicalPlan, name: str) -> str:
    """The plan as JSON in pieces; every query begins a line, so that a change in one changes its lines alone."""
    data = to_data(plan)
    queries = data.pop("queries")
    dumped = [json.dumps(part, separators=(",", ":"), ensure_ascii=True) for part in (data, *queries)]
    text, cuts = dumped[0][:-1] + ',"queries":[', []
    for i, query in enumerate(dumped[1:]):
        cuts.append(len(text))
        text += query + ("," if i + 2 < len(dumped) else "")
    return long_string(name, f"{text}]}}", cuts)
