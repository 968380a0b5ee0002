"""A batch in one process: all events of a table, of which everything is known. This is what the local engine does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .cheap_dataclass import dataclass
from .events.grouped import Dropped, read
from .events.stretch import Means, Stretch
from .parts.by_part import drive_by_part
from .parts.found import Found
from .parts.on_disk import InMemory, Stored
from .parts.resources import ONE_THREAD, Resources
from .parts.threads import drive_in_threads
from .work_done import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .kernel.run import Effort
    from .plan.physical import PhysicalPlan
    from .plan.strategy import PhysicalQuery


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
    events: Any,
    *,
    interpreted: bool | None = None,
    resources: Resources = ONE_THREAD,
    tell: Callable[[float], None] = lambda _fraction: None,
) -> Execution:
    """The rows of the plan's queries over a pyarrow table of whole groups, or over events `Stored` on disk, in no
    promised order. What does not fit into memory is run part by part, and of the rows what does not fit is on disk.

    `tell` is called with the fraction of the work that is done, by one thread at a time. Rows and errors are the same
    on any number of threads.
    """
    source = events if isinstance(events, Stored) else InMemory(events)
    work = Work(len(plan.queries), tell)
    means = Means(most=resources.most, interpreted=interpreted, work=work)
    if resources.parts(source.rows, source.size) > 1:
        parts, dropped = drive_by_part(source, plan, plan.queries, means, resources)
        return Execution(_of(plan.queries, parts), source.rows, dropped, work.effort)
    reading = read(source.whole(), plan.stream, resources.threads)
    stretch = Stretch(plan, reading, whole=True)
    found = Found(resources.found).add(drive_in_threads(stretch, plan.queries, means, resources))
    return Execution(_of(plan.queries, found), reading.rows, reading.dropped, work.effort)


def _of(queries: Sequence[PhysicalQuery], found: Found) -> dict[str, Any]:
    tables = found.tables()
    return {query.name: tables[query.name] for query in queries}
