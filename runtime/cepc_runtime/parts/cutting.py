"""Cutting a batch into parts that are run by themselves: by groups, or by time where groups are too few for that.

A part of groups has whole ones, about as many events as the others, and its groups first occur after those of the part
before. A part of time finds the windows, or the matches, that begin in it. It has all events that these look at, of
which some are in the next part as well.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from ..cheap_dataclass import dataclass
from ..drive import found_together
from ..events.segments import LONGEST, edges_of, overlap_of
from ..events.stretch import EVERYWHERE, TimeSpan
from ..numbers.columns import dense_rows
from ..plan.strategy import Count, CountNeighbours, is_counted
from ..plan.windows import MatchBound, Sliding, TimeParts
from ..sql.types import varies
from ..streaming.decision import Decision, Windows, decision_of
from .classes import classes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..enumerate.arranged import Arranged
    from ..enumerate.standing import Matches
    from ..events.grouped import Reading
    from ..events.letters import Kinds
    from ..events.stretch import WhichMatches
    from ..numbers.columns import Bools, Ints
    from ..plan.strategy import PhysicalQuery
    from ..plan.stream import StreamPlan
    from .classes import Class

UNEVEN: Final = 1.2
"""Where a part has so many times its share of the events, it may be better to cut by time."""

_LEAST: Final = -(1 << 63)
_GREATEST: Final = (1 << 63) - 1

MOST: Final = 32
"""Parts of whole groups, for each of which all events are looked at."""

SAMPLE: Final = 1 << 14
"""Events whose times say where time is cut."""

COARSE: Final = 8
"""Time is cut where windows of all queries begin, if that leaves so many places to choose from for each part."""


@dataclass(frozen=True)
class Part:
    """Queries, how many rows of a reading they are run on, what says which (which is for the part's own thread to do),
    and which of their results are wanted there.
    """

    queries: tuple[PhysicalQuery, ...]
    size: int
    rows: Callable[[], Ints | slice]
    span: TimeSpan = EVERYWHERE
    known: WhichMatches | None = None

    @property
    def has_groups(self) -> bool:
        """Whether it has whole groups, and not what is in a piece of time."""
        return self.known is None


@dataclass(frozen=True, slots=True)
class Near:
    """Queries of which a part of time needs the events of so many ticks before it and after it. It ends where one of
    `edges` does.
    """

    queries: tuple[PhysicalQuery, ...]
    before: int
    after: int
    edges: TimeParts = TimeParts(1)

    def around(self, span: TimeSpan) -> tuple[int | None, int | None]:
        """Between which times the events for a part are; None is no bound."""
        least = None if span.first is None or span.first - self.before < _LEAST else span.first - self.before
        bound = None if span.end is None or span.end + self.after > _GREATEST else span.end + self.after
        return least, bound

    def inside(self, span: TimeSpan, ticks: Ints) -> Bools:
        """Which events a part needs."""
        least, bound = self.around(span)
        inside = np.ones(len(ticks), dtype=np.bool_)
        inside &= True if least is None else ticks >= least
        inside &= True if bound is None else ticks < bound
        return inside


def parts_of(
    reading: Reading,
    kinds: Kinds,
    stream: StreamPlan,
    queries: Sequence[PhysicalQuery],
    pieces: int,
    many: int,
) -> list[list[Part]]:
    """The events in some `pieces`, or more where parts of whole groups would have more than `many`, for some queries
    after the others: all parts of a list have the same ones.
    """
    found = []
    for one in classes_of(queries):
        own, mattering = tuple(queries[number] for number in one.queries), _mattering(kinds, one)
        of_groups = max(pieces, min(-(-int(np.count_nonzero(mattering)) // many), MOST))
        by_groups = _by_groups(reading, one.keys, own, mattering, of_groups)
        if _largest(by_groups) * pieces <= UNEVEN * sum(part.size for part in by_groups):
            found.append(by_groups)
            continue
        left = dict.fromkeys(own)
        for near in (near_windows(own, stream, reading.ticks, pieces), near_matches(own)):
            by_time = [] if near is None else _by_time(reading, near, mattering, pieces)
            if near is not None and _largest(by_time) < _largest(by_groups):
                found.append(by_time)
                left = {query: None for query in left if query not in near.queries}
        for some in _bundles(left, pieces) if len(by_groups) == 1 else [tuple(left)]:
            found.append([Part(some, part.size, part.rows) for part in by_groups])
    return [parts for parts in found if parts[0].queries]


def _bundles(queries: Iterable[PhysicalQuery], pieces: int) -> list[tuple[PhysicalQuery, ...]]:
    """Queries that need all events at once, in so many bundles: what is counted in one pass, and matches that are found
    together, stay so.
    """
    own = list(queries)
    passes = [[query for query in own if isinstance(query.strategy, Count)]]
    passes += [[query] for query in own if isinstance(query.strategy, CountNeighbours)]
    passes += found_together(query for query in own if not is_counted(query))
    return [tuple(query for some in passes[i::pieces] for query in some) for i in range(pieces)]


def _largest(parts: Iterable[Part]) -> int:
    return max((part.size for part in parts), default=0)


def _mattering(kinds: Kinds, one: Class) -> Bools:
    """Which events some query of the class looks at."""
    if one.letters is None:
        return np.ones(len(kinds.of), dtype=np.bool_)
    return kinds.satisfying(one.letters)


def _rows_of(inside: Bools, first: int = 0) -> Ints | slice:
    """Where it is true, counted from the first, as a range if it is one."""
    rows = np.flatnonzero(inside)
    if len(rows) and rows[-1] - rows[0] + 1 == len(rows):
        return slice(first + int(rows[0]), first + int(rows[-1]) + 1)
    return rows + first if first else rows


# ---- by groups -------------------------------------------------------------------------------------------------------


def _by_groups(
    reading: Reading, keys: Sequence[str], queries: tuple[PhysicalQuery, ...], mattering: Bools, pieces: int
) -> list[Part]:
    if not keys:
        return [Part(queries, int(np.count_nonzero(mattering)), partial(_rows_of, mattering))]
    groups, _ = dense_rows([reading.table.column(name) for name in keys])
    sizes = np.bincount(groups, weights=mattering)
    before = np.cumsum(sizes) - sizes / 2
    of_group = (before * pieces // max(sizes.sum(), 1)).astype(np.int16)
    place = of_group[groups]

    def rows_at(number: int) -> Ints | slice:
        return _rows_of(mattering & (place == number))

    counts = np.bincount(of_group, weights=sizes, minlength=pieces).astype(np.int64).tolist()
    found = [Part(queries, counts[i], partial(rows_at, i)) for i in range(pieces)]
    return [part for part in found if part.size] or found[:1]


# ---- by time ---------------------------------------------------------------------------------------------------------


def near_windows(queries: Iterable[PhysicalQuery], stream: StreamPlan, ticks: Ints, pieces: int) -> Near | None:
    """The aggregate queries with windows. Not those whose rows show a value of a group that is equal to another of it
    without being the same: the first of them is shown.
    """
    types = dict(stream.columns)
    own = tuple(
        query for query in queries if _has_short_windows(query) and not any(varies(types[n]) for n in query.group_by)
    )
    if not own:
        return None
    later = max(decision.after for query in own if isinstance(decision := decision_of(query), Windows))
    edges = edges_of(own)
    if edges.length * pieces * COARSE > int(ticks.max()) - int(ticks.min()):
        edges = TimeParts(1)
    return Near(own, 0, overlap_of(own, edges) + later, edges)


def _has_short_windows(query: PhysicalQuery) -> bool:
    return isinstance(query.window, Sliding) and query.window.span <= LONGEST and query.window.slide <= LONGEST


def near_matches(queries: Iterable[PhysicalQuery]) -> Near | None:
    """The match queries with bounds, where one match does not depend on another."""
    bounds = {q: decision_of(q) for q in queries if isinstance(q.window, MatchBound) and q.after is None}
    own = {query: bound for query, bound in bounds.items() if isinstance(bound, Decision) and bound.span <= LONGEST}
    if not own:
        return None
    longest = max(bound.span for bound in own.values())
    return Near(tuple(own), longest, longest + max(bound.after_last for bound in own.values()))


def _by_time(reading: Reading, near: Near, mattering: Bools, pieces: int) -> list[Part]:
    ticks, found = reading.ticks, []
    is_sorted = bool(np.all(ticks[1:] >= ticks[:-1]))
    for first, end in pairwise([None, *cuts_of(ticks, near.edges, pieces), None]):
        span = TimeSpan(first, end)
        least, bound = near.around(span)
        if is_sorted:
            low = 0 if least is None else int(np.searchsorted(ticks, least))
            inside = mattering[low : len(ticks) if bound is None else int(np.searchsorted(ticks, bound))]
        else:
            low, inside = 0, mattering & near.inside(span, ticks)
        if size := int(np.count_nonzero(inside)):
            found.append(Part(near.queries, size, partial(_rows_of, inside, low), span, partial(begins_in, span)))
    return found


def cuts_of(ticks: Ints, edges: TimeParts, pieces: int) -> list[int]:
    """Where time is cut, so that about as many events are in each piece."""
    some = np.sort(ticks[:: max(len(ticks) // SAMPLE, 1)])
    cuts = {edges.start(edges.number(int(some[len(some) * i // pieces]))) for i in range(1, pieces)}
    return [cut for cut in sorted(cuts) if cut > some[0]]


def begins_in(span: TimeSpan, _query: PhysicalQuery, matches: Matches, arranged: Arranged) -> Bools:
    """Which matches begin in the span."""
    ticks = arranged.events.ticks[matches.positions[0]]
    inside = np.ones(len(ticks), dtype=np.bool_)
    if span.first is not None:
        inside &= ticks >= span.first
    if span.end is not None:
        inside &= ticks < span.end
    return inside
