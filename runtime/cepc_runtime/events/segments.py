"""Cutting time into segments, each of which is run by itself: a window is found from the segment in which it begins.

A window reaches over the end of that segment, so the first events of a segment, as many as the `overlap` says, go to
the one before as well:

    segment 0   events from 0, before L + overlap      windows that begin from 0, before L
    segment 1   events from L, before 2 L + overlap    windows that begin from L, before 2 L
    …

Imports no numpy.
"""

from __future__ import annotations

from math import ceil, lcm
from typing import TYPE_CHECKING, Final

from ..cheap_dataclass import dataclass
from ..plan.strategy import is_counted
from ..plan.windows import Sliding, TimeParts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ..plan.strategy import PhysicalQuery
    from ..plan.stream import TickUnit

SEGMENT: Final = "_segment"
"""The column with the number of an event's segment."""

LEAST, MOST = 2, 8
"""Overlaps that a segment is long: with 2, half of the events are sent, sorted and counted twice, with 8 an eighth."""

HOUR: Final[Mapping[TickUnit, int]] = {"us": 3_600_000_000, "ms": 3_600_000, "s": 3_600, "day": 0}
"""Whole ticks. A segment of more than two overlaps is no longer, so that a day's events are at least some twenty tasks.
"""

HOURS: Final = 6
"""Segments that are no longer are short. Of longer ones a day has no more than a few, whereas panes, an eighth of a
SLIDE, are many.
"""

LONGEST: Final = 1 << 58
"""Ticks of a window that has segments: they are some sixteen times as long at most, which 64 bits hold."""


@dataclass(frozen=True, slots=True)
class Segments:
    """Segment k is part k of time in parts of a `length`, of which part 0 begins at `begin`, and the `overlap` ticks
    after it.
    """

    length: int
    overlap: int
    begin: int = 0

    @property
    def parts(self) -> TimeParts:
        return TimeParts(self.length, self.begin)

    def __post_init__(self) -> None:
        if not 0 <= self.overlap <= self.length:
            raise ValueError("an event would be in more than two segments")


def reach_of(queries: Iterable[PhysicalQuery]) -> int | None:
    """How many ticks from a window's beginning on its events can be; None where some query needs whole groups."""
    reach = 0
    for query in queries:
        if not is_counted(query) or not isinstance(query.window, Sliding):
            return None
        reach = max(reach, query.window.span)
    return reach


def can_have_segments(query: PhysicalQuery) -> bool:
    """Whether the query's windows can be found apart."""
    reach = reach_of([query])
    return reach is not None and reach <= LONGEST


def segments_for(queries: Collection[PhysicalQuery], unit: TickUnit) -> Segments:
    """Segments for queries that have a reach. Their edges are edges of all windows if these have a common multiple that
    is not too long, because the last window that begins in a segment then begins a SLIDE before its end.
    """
    edges = edges_of(queries)
    reach = reach_of(queries) or 0
    if edges.length <= MOST * reach:
        overlap = overlap_of(queries, edges)
        length = max(1, ceil(_wanted(overlap, unit) / edges.length)) * edges.length
        return Segments(length, overlap, edges.begin)
    length = _wanted(reach, unit)
    return Segments(length, overlap_of(queries, TimeParts(length)))


def edges_of(queries: Iterable[PhysicalQuery]) -> TimeParts:
    """Parts of time at whose beginnings windows of all queries begin, if their offsets allow it, or else windows of one
    query, whichever leaves the least overlap.
    """
    windows = _windows(queries)
    length = lcm(*(window.slide for window in windows))
    found = (TimeParts(length, begin) for begin in sorted({window.offset for window in windows}))
    return min(found, key=lambda parts: max(window.overhang(parts) for window in windows))


def _wanted(overlap: int, unit: TickUnit) -> int:
    return max(LEAST * overlap, min(MOST * overlap, HOUR[unit]))


def are_short(queries: Collection[PhysicalQuery], unit: TickUnit) -> bool:
    """Whether the segments of the queries are so short that most inputs have many of them."""
    return segments_for(queries, unit).length <= HOURS * HOUR[unit]


def overlap_of(queries: Iterable[PhysicalQuery], parts: TimeParts) -> int:
    """How many ticks a window can reach over the end of the part of time in which it begins."""
    return max(window.overhang(parts) for window in _windows(queries))


def _windows(queries: Iterable[PhysicalQuery]) -> list[Sliding]:
    return [query.window for query in queries if isinstance(query.window, Sliding)]
