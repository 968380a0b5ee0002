"""Running a plan on events in one process: this is what the local engine does, and what a Spark worker does with its groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .aggregate import run_aggregates
from .enumerate.budget import PARTIAL_MATCHES
from .enumerate.run import run_enumerated
from .events import Dropped, read
from .plan import counted_queries, listed_queries
from .work_done import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .kernel.run import Effort
    from .plan import Plan


@dataclass(frozen=True)
class Execution:
    """What a run found: a table for each query, how many rows were read, how many of them were no events, and what the kernel did."""

    tables: dict[str, Any]
    read: int
    dropped: Dropped
    effort: Effort


def execute(
    plan: Plan,
    table: Any,
    queries: Sequence[str] | None = None,
    *,
    interpreted: bool | None = None,
    most: int = PARTIAL_MATCHES,
    tell: Callable[[float], None] = lambda _fraction: None,
) -> Execution:
    """The rows of the plan's queries (or of those named) over a pyarrow table of whole groups, in no promised order.

    `most` bounds the partial matches of each query that are enumerated. `tell` is called with the fraction of the work that is done.
    """
    reading = read(table, plan.stream)
    chosen = [q for q in plan.queries if queries is None or q.name in queries]
    counted, listed = counted_queries(chosen), listed_queries(chosen)
    work = Work(len(chosen), tell)
    found = run_aggregates(reading, plan, counted, interpreted=interpreted, work=work) if counted else {}
    if listed:
        found |= run_enumerated(reading, plan, listed, limit=most, work=work)
    return Execution({q.name: found[q.name] for q in chosen}, reading.rows, reading.dropped, work.effort)
