"""What a stream tells of its micro-batches: a line of JSON for each."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .time import SHIFT, shown

if TYPE_CHECKING:
    from .query import Continuous

Reporter = Callable[[dict[str, Any]], None]


def to_stderr(line: dict[str, Any]) -> None:
    print(json.dumps(line), file=sys.stderr, flush=True)


def line_of(what: Continuous, progress: Any, done: dict[str, Any]) -> dict[str, Any]:
    """What a micro-batch did, in the order in which one asks."""
    name, seen = what.streamed.stream.name, progress["observedMetrics"]
    dropped = [seen[own] for link in what.links for own in link.observations if own in seen]
    watermark = _millis(progress["eventTime"].get("watermark")) - SHIFT
    labels = {
        query: dict(of)
        for link in what.links
        for query, of in link.streamed.stream.labels.items()
        if query in link.written
    }
    newest = progress["eventTime"].get("max") if watermark > -SHIFT else None
    return {
        "stream": name,
        "batch": progress["batchId"],
        "at": progress["timestamp"],
        "rows": progress["numInputRows"],
        "without_time": sum(own["null_time"] for own in dropped),
        "without_type": sum(own["null_type"] for own in dropped),
        **done,
        **({"labels": labels} if labels else {}),
        "watermark": None if watermark <= -SHIFT else shown(watermark),  # before there is one
        "watermark_lag_ms": max(_millis(newest) - SHIFT - watermark, 0) if newest else None,
        "ms": progress["durationMs"].get("triggerExecution"),
    }


def _millis(text: str) -> int:
    """Spark's times are far in the future: the years are those since the year 1."""
    return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)
