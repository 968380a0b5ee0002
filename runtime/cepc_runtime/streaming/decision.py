"""From which watermark on a row is known, and how long events are needed for rows that are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..cheap_dataclass import dataclass
from ..plan.windows import MatchBound, Sessions, Sliding
from .ticks import before, least

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..numbers.columns import Bools, Ints
    from ..plan.positions import Negation, Positions
    from ..plan.query import QueryPlan


@dataclass(frozen=True, slots=True)
class Windows:
    """Of an aggregate query: a window is known when the watermark is `after` ticks past its end, for a NOT … WITHIN at
    the end of a match may look further than the window. Those that begin before `since` are no windows of the query.
    """

    window: Sliding
    after: int
    since: int | None

    def closing(self, earlier: int, watermark: int) -> tuple[int, int]:
        """The first and the last number of the windows that are known as the watermark goes from `earlier` on, and were
        not.
        """
        return self._known(earlier) + 1, self._known(watermark)

    def _known(self, watermark: int) -> int:
        """The last window that is known, or is none of the query's."""
        known = self.window.first_holding(watermark - self.after) - 1
        return known if self.since is None else max(known, self.window.last_holding(self.since - 1))

    def holding(self, first: int, last: int) -> tuple[int, int]:
        """The first and the last number of the windows that hold an event of these times or between them."""
        return self.window.first_holding(first), self.window.last_holding(last)

    def needed_from(self, watermark: int) -> int:
        """The time before which no window that is not known needs an event."""
        return self.window.begin(self._known(watermark) + 1)

    def due(self, ticks: Ints, watermark: int) -> int | None:
        """The next watermark at which a window with one of the events is known; or an earlier one."""
        first = least(ticks, self.needed_from(watermark))
        if first is None:
            return None
        next_known = max(self.window.first_holding(first), self._known(watermark) + 1)
        return self.window.end(next_known) + self.after


@dataclass(frozen=True, slots=True)
class SessionEnds:
    """Of an aggregate query with WITHIN SESSION: a session is known at its end, and until then all of its events are
    needed, whenever they were (`sessions.py`).
    """

    gap: int

    def needed_from(self, watermark: int) -> int:
        """The time from which on all events are of sessions that go on, or will."""
        return watermark

    def due(self, ticks: Ints, watermark: int) -> int | None:
        """The next watermark at which a session may end, if its last event is one of these."""
        first = least(ticks, watermark - self.gap + 1)
        return None if first is None else first + self.gap


@dataclass(frozen=True, slots=True)
class Decision:
    """Of a match query: a match is known when the watermark reaches `last + after_last` and `first + after_first`,
    where `first` and `last` are the times of its first and last event; where the first asks for no more, `after_first`
    is `after_last`.

    `span` is WITHIN; `looks_back`: an event before the first one may forbid a match. With AFTER MATCH, what a first
    event leads to is known at `first + after_first`, or before, where it is `foreseen` (`foreseen.py`).
    """

    span: int
    after_last: int
    after_first: int
    looks_back: bool
    foreseen: bool = False

    @property
    def forgets_early(self) -> bool:
        """Whether it needs no event before the first with which a match may still begin."""
        return self.foreseen and not self.looks_back

    def known(self, first: Ints, last: Ints, watermark: int) -> Bools:
        """Which matches are."""
        return before(last, watermark - self.after_last + 1) & before(first, watermark - self.after_first + 1)

    def may_decide(self, ticks: Ints, earlier: int, watermark: int) -> Bools:
        """Which events may be the first or last one of a match that becomes known as the watermark goes on from
        `earlier`.
        """
        found = _between(ticks, earlier - self.after_last, watermark - self.after_last)
        return found | _between(ticks, earlier - self.after_first, watermark - self.after_first)

    def needed_from(self, watermark: int) -> int:
        """The time before which no match that is not known needs an event, for itself or for a NOT.

        What a NOT forbids fits in the bound together with the last event.
        """
        needed = watermark - self.after_last + 1 - (self.span - 1)
        return min(needed, watermark - self.after_first + 1 - (self.span - 1 if self.looks_back else 0))

    def due(self, ticks: Ints, watermark: int) -> int | None:
        """The next watermark at which a match with one of the events may become known."""
        found = []
        for after in {self.after_last, self.after_first}:
            first = least(ticks, watermark - after + 1)
            if first is not None:
                found.append(first + after)
        return min(found, default=None)


def _between(ticks: Ints, low: int, high: int) -> Bools:
    return before(ticks, high + 1) & ~before(ticks, low + 1)


def decision_of(query: QueryPlan, since: int | None = None) -> Windows | SessionEnds | Decision:
    """Of a query with a window, which sees the events from a tick on."""
    window = query.window
    if isinstance(window, Sliding):
        after = max((negation.within or 0 for negation, _ in _open_gaps(query.positions)), default=0)
        return Windows(window, max(0, after - 1), since)
    if isinstance(window, Sessions):
        return SessionEnds(window.gap)
    assert isinstance(window, MatchBound)
    after_last, to_the_end = 1, False
    for negation, track in _open_gaps(query.positions):
        if negation.within is None or track != 0:  # the gap of an AND's operand may be the whole window
            to_the_end = True
        after_last = max(after_last, negation.within or 0)
    looks_back = _looks_back(query.positions)
    if query.after is not None:  # a longer match may be preferred as long as one can begin with the event
        return Decision(window.span, after_last, window.span + after_last - 1, looks_back, _is_foreseen(query))
    return Decision(window.span, after_last, window.span if to_the_end else after_last, looks_back)


def _is_foreseen(query: QueryPlan) -> bool:
    """Of a query with AFTER MATCH: nothing behind the last event of a match forbids it, and no events of one instant
    stand in one.
    """
    return not any(_open_gaps(query.positions)) and not any(edge.tie for edge in query.positions.edges)


def rows_behind(query: QueryPlan, column: str) -> int | None:
    """How far the rows still to come may lie behind the watermark, where `column` is their event time: once that is at
    w, all of them have times from w minus this on. None of a column that is no edge of a match or window, and of the
    beginning of a session, which may be as long ago as one likes.
    """
    match decision_of(query):
        case Windows(window, after):
            return {"window_end": after - 1, "window_start": after - 1 + window.span}.get(column)
        case SessionEnds():
            return -1 if column == "window_end" else None
        case Decision(span, after_last, after_first):
            begins = max(after_first - 1, after_last + span - 2)
            return {"match_end": max(after_last, after_first) - 1, "match_start": begins}.get(column)


def _open_gaps(positions: Positions) -> Iterator[tuple[Negation, int]]:
    """The negations whose gap ends after the match, and the track of the gap."""
    for acceptance in positions.acceptances:
        for guard in acceptance.guards:
            yield positions.negations[guard.negation], guard.track


def _looks_back(positions: Positions) -> bool:
    """Whether a gap may begin with the window."""
    begins = any(edge.source == 0 or guard.track != 0 for edge in positions.edges for guard in edge.guards)
    ends = any(guard.track != 0 for acceptance in positions.acceptances for guard in acceptance.guards)
    return begins or ends or any(negation.window_wide for negation in positions.negations)
