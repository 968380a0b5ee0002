"""A batch in one process: all events of a table, of which everything is known. This is what the local engine does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .drive import tables
from .enumerate.budget import PARTIAL_MATCHES
from .events import Dropped, read
from .stretch import Means, Stretch
from .threads import FEW, drive_in_threads
from .work_done import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .kernel.run import Effort
    from .plan import PhysicalPlan


@dataclass(frozen=True)
class Execution:
    """What a run found: a table for each query, how many rows were read, how many of them were no events, and what the
    kernel did.
    """

    tables: dict[str, Any]
    read: int
    dropped: Dropped
    effort: Effort


def execute(
    plan: PhysicalPlan,
    table: Any,
    queries: Sequence[str] | None = None,
    *,
    interpreted: bool | None = None,
    most: int = PARTIAL_MATCHES,
    tell: Callable[[float], None] = lambda _fraction: None,
    threads: int = 1,
    few: int = FEW,
) -> Execution:
    """The rows of the plan's queries (or of those named) over a pyarrow table of whole groups, in no promised order.

    `most` bounds the partial matches of each query that are enumerated. `tell` is called with the fraction of the work
    that is done, by one of the `threads` at a time. No thread gets fewer events than `few`; rows and errors are the
    same on any number.
    """
    reading = read(table, plan.stream, threads)
    chosen = [q for q in plan.queries if queries is None or q.name in queries]
    work = Work(len(chosen), tell)
    means = Means(most=most, interpreted=interpreted, work=work)
    found = tables(drive_in_threads(Stretch(plan, reading), chosen, means, threads, few))
    return Execution({q.name: found[q.name] for q in chosen}, reading.rows, reading.dropped, work.effort)
