"""Which queries are run together: those whose events can be brought together by the same columns."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..cheap_dataclass import dataclass
from ..events.segments import are_short, can_have_segments, segments_for
from ..panes.cutting import can_be_cut, has_loops, panes_in_time
from ..plan.select import SelectContiguous
from ..plan.strategy import letters_read
from ..plan.windows import Sliding, TimeParts
from ..results.partition_sums import has_partitions

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ..events.segments import Segments
    from ..plan.strategy import PhysicalQuery
    from ..plan.stream import TickUnit


Groupings = frozenset[tuple[str, ...]]
"""Sets of columns, each sorted."""


@dataclass(frozen=True, slots=True)
class Class:
    """Queries, as indexes into the plan's, that need all events with equal `keys` in one place.

    `letters` are those that some of them ask for; None where every event counts. `panes` are those into which the
    events are cut, so that there is more than one place: the queries' windows are products of panes. With `segments`
    there is more than one place as well, each with all events of some windows. With `able`, letters, the events of a
    group in which none of them occurs go nowhere: no query can match in it. The queries of a class that is `since` a
    tick came to a stream that was running: they see no event before it, and have no window that begins before it.
    """

    keys: tuple[str, ...]
    queries: tuple[int, ...]
    letters: tuple[int, ...] | None
    panes: TimeParts | None = None
    segments: Segments | None = None
    able: tuple[int, ...] | None = None
    since: int | None = None


def has_segments(query: PhysicalQuery, unit: TickUnit) -> bool:
    """Whether the query has one group, and so would be one task, but its windows can be found apart. Panes are another
    stage of Spark for each query, and where they have few events twice the work of an ordinary pass, so they are for
    long segments alone.
    """
    if query.kind != "aggregate" or query.group_by or has_partitions(query) or not can_have_segments(query):
        return False
    return bool(query.partition) or not can_be_cut(query) or has_loops(query) or are_short([query], unit)


def panes_of(query: PhysicalQuery, unit: TickUnit) -> TimeParts | None:
    """The panes of a query that has one group, and so would be one task, but can be cut into panes."""
    if query.partition or not isinstance(query.window, Sliding) or not can_be_cut(query) or has_segments(query, unit):
        return None
    return panes_in_time(query.window)


def has_subtotals(query: PhysicalQuery, unit: TickUnit) -> bool:
    """Whether the query's rows are made from what several tasks find: by partition, or by pane."""
    return has_partitions(query) or panes_of(query, unit) is not None


def keys_of(query: PhysicalQuery) -> tuple[str, ...]:
    """The columns by which the query's events have to be together.

    A match lies within one partition, so match queries need no more. The results of an aggregate query are added up
    over the partitions of a group: it needs whole groups.
    """
    keys = query.partition if query.kind == "match" else query.group_by
    return tuple(sorted(keys))


def letters_of(query: PhysicalQuery) -> frozenset[int] | None:
    """The letters of the events that the query looks at; None for all events."""
    if isinstance(query.select, SelectContiguous):
        return None
    return letters_read(query)


def classes_of(
    queries: Sequence[PhysicalQuery],
    *,
    cut: TickUnit | None = None,
    hot: Groupings = frozenset(),
    since: Mapping[str, int] = MappingProxyType({}),
    lagging: Collection[str] = (),
) -> tuple[Class, ...]:
    """The classes of the queries, in the order of first occurrence; with `cut`, one group is several parts where it can
    be, and that is the unit of time. So is each group of the GROUP BYs in `hot`. `since` which tick a query sees events
    is by its name; others see all. Those that are `lagging`, by name, ask for what is before an event, whatever it is.
    """
    found: dict[tuple[tuple[str, ...], TimeParts | None, bool, int | None], list[int]] = {}
    for number, query in enumerate(queries):
        keys = tuple(sorted(query.partition)) if cut and has_partitions(query) else keys_of(query)
        panes = panes_of(query, cut) if cut else None
        is_hot = keys_of(query) in hot and can_have_segments(query)
        apart = cut is not None and (is_hot or has_segments(query, cut))
        found.setdefault((keys, panes, apart, since.get(query.name)), []).append(number)
    return tuple(
        Class(
            keys, tuple(numbers), _union(queries, numbers, lagging), panes,
            segments_for([queries[number] for number in numbers], cut) if cut and apart else None,
            since=begin,
        )
        for (keys, panes, apart, begin), numbers in found.items()
    )  # fmt: skip


def _union(queries: Sequence[PhysicalQuery], numbers: list[int], lagging: Collection[str]) -> tuple[int, ...] | None:
    letters: set[int] = set()
    for number in numbers:
        of_query = letters_of(queries[number])
        if of_query is None or queries[number].name in lagging:
            return None
        letters |= of_query
    return tuple(sorted(letters))


def chosen(classes: Sequence[Class], numbers: Collection[int]) -> tuple[Class, ...]:
    """The classes with these queries alone; a class without any keeps its place, for classes go by number."""
    return tuple(replace(one, queries=tuple(q for q in one.queries if q in numbers)) for one in classes)
