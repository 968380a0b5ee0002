"""What Spark reads a streaming DataFrame from, as its plan says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def sources_of(events: DataFrame) -> list[Any]:
    """Spark's own descriptions of the sources, in the order of the plan; None for one of another kind."""
    frame: Any = events
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves()
    found = [leaves.apply(number) for number in range(leaves.size())]
    return [leaf.dataSource() if leaf.getClass().getSimpleName() == "StreamingRelation" else None for leaf in found]
