"""One window of one group once more, in Python integers: for sums that passed what a float64 holds exactly.

It reads the automaton itself, instant by instant, in the plainest way. DOUBLE values become integers of a common scale,
so that a sum overflows only when it is rounded at last; infinite and NaN values are counted apart.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from ..cheap_dataclass import dataclass
from ..plan.automaton import DROPPED
from ..plan.windows import Sliding
from .effects import moved
from .long import Long, long_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..events.grouped import Events
    from ..events.letters import Kinds
    from ..numbers.columns import Bools, Ints
    from ..plan.automaton import Step
    from ..plan.strategy import CountedQuery
    from .adjacent.run import Neighbours
    from .planes import Plane, QueryPlanes
    from .values import Values

ExactNumber = int | float | Fraction
"""An exact number, or an infinite or NaN float."""

Row = list[int]
"""What a state holds: the count, then one number for each track."""


@dataclass(frozen=True)
class Track:
    """The number that each event adds, by event, when it is bound to the variable."""

    variable: int
    numbers: dict[int, int]


@dataclass(frozen=True)
class _Tracks:
    """Tracks as a matrix."""

    tracks: Sequence[Track]

    def __getitem__(self, place: tuple[int, int]) -> int:
        return self.tracks[place[0]].numbers.get(int(place[1]), 0)


@dataclass(frozen=True)
class Recount:
    """Everything that a query was counted from."""

    events: Events
    kinds: Kinds
    query: CountedQuery
    planes: QueryPlanes
    values: Values
    neighbours: Neighbours | None = None  # with conditions between neighbours

    def row(self, group: int, window: int, about: float) -> list[ExactNumber]:
        """The additive planes of a group and window, summed over the accepting states, exactly; `about` is the count as
        a float.
        """
        first, end = self.bounds(group, window)
        if self._long is not None and (found := self._long.totals(first, end, about)) is not None:
            return [*found]
        return self.in_python(group, window)

    def in_python(self, group: int, window: int) -> list[ExactNumber]:
        """The same in Python's integers."""
        rows = self._own(*self.bounds(group, window))
        planes = self._additive
        tracks: list[Track] = []
        sums: list[_Sum] = []
        for plane in planes:
            added = self._sum(plane, rows, len(tracks) + 1)
            tracks += added.tracks
            sums.append(added)
        if self.neighbours is None:
            totals = self._run(rows, tracks)
        else:
            bindings: dict[int, list[list[int]]] = {}
            for i, track in enumerate(tracks):
                bindings.setdefault(track.variable, []).append([i + 1, i, 0])
            totals = self.neighbours.exactly(group, window, bindings, _Tracks(tracks), 1 + len(tracks))
        return [totals[0], *(added.total(totals) for added in sums)]

    @property
    def _additive(self) -> tuple[Plane, ...]:
        return self.planes.planes[: self.planes.additive - 1]

    @cached_property
    def _long(self) -> Long | None:
        if self.neighbours is not None:
            return None
        return long_of(self.query.automaton, self.events, self.kinds, self._additive, self.values)

    def bounds(self, group: int, window: int) -> tuple[int, int]:
        """The events of a group and window."""
        first, end = self.events.group_starts[group : group + 2].tolist()
        windows = self.query.window
        if not isinstance(windows, Sliding):
            return first, end
        edges = [windows.begin(window), windows.end(window)]
        low, high = np.searchsorted(self.events.ticks[first:end], edges).tolist()
        return first + low, first + high

    def lengths(self, groups: Ints, windows: Ints) -> Ints:
        """How many events the given groups have in the given windows, or more."""
        window = self.query.window
        if not isinstance(window, Sliding) or self._keys is None:
            return np.asarray(np.diff(self.events.group_starts)[groups], dtype=np.int64)
        keys, low, span = self._keys
        edges = (window.begin(windows) - low, window.end(windows) - low)
        first, end = (np.searchsorted(keys, groups * span + np.clip(edge, 0, span)) for edge in edges)
        return np.asarray(end - first, dtype=np.int64)

    @cached_property
    def _keys(self) -> tuple[Ints, int, int] | None:
        """The events' groups and ticks as one number, the first tick, and how many there are; None where that does not
        fit 64 bits.
        """
        ticks = self.events.ticks
        low, span = int(ticks.min(initial=0)), int(ticks.max(initial=0)) - int(ticks.min(initial=0)) + 1
        if span * len(self.events.group_starts) >= 1 << 62:
            return None
        return self.events.groups.astype(np.int64) * span + (ticks - low), low, span

    def _sum(self, plane: Plane, rows: Ints, place: int) -> _Sum:
        key = plane.value
        if key.role == "one":
            return _Sum([Track(plane.variable, dict.fromkeys(rows.tolist(), 1))], place, 1)
        if key.role in ("rest", "last"):  # an exact total leaves nothing
            return _Sum([], place, 1)
        found = dict(zip(rows.tolist(), self.values.exact(key, rows), strict=True))
        if key.is_whole:
            return _Sum([Track(plane.variable, {e: int(v) for e, v in found.items() if v is not None})], place, 1)
        return _float_sum(plane.variable, {e: float(v) for e, v in found.items() if v is not None}, place)

    @cached_property
    def _letters(self) -> list[frozenset[int]]:
        """Of each kind of event those that the query reads: the events are of other queries, too."""
        own = self.query.automaton.letters
        return [letters & own for letters in self.kinds.letters]

    @cached_property
    def _reads(self) -> Bools:
        return np.array([bool(letters) for letters in self._letters], dtype=np.bool_)

    def _own(self, first: int, end: int) -> Ints:
        """The events from `first`, before `end`, that the query reads."""
        return first + np.flatnonzero(self._reads[self.kinds.of[first:end]])

    def _instants(self, events: Ints) -> Iterator[list[int]]:
        """The events of one instant after the other."""
        numbers = np.searchsorted(self.events.instant_starts, events, side="right").tolist()
        for _, of_instant in groupby(zip(numbers, events.tolist(), strict=True), key=itemgetter(0)):
            yield [event for _, event in of_instant]

    def _run(self, events: Ints, tracks: Sequence[Track]) -> Row:
        automaton = self.query.automaton
        letters = dict(zip(events.tolist(), (self._letters[k] for k in self.kinds.of[events].tolist()), strict=True))
        width = 1 + len(tracks)
        rows: list[Row] = [[0] * width for _ in range(automaton.states)]
        rows[0][0] = 1
        for instant in self._instants(events):
            seen = frozenset(letter for event in instant for letter in letters[event])
            if seen & set(automaton.kills):
                return [0] * width
            new: list[Row] = [[0] * width for _ in rows]
            for event in instant:
                there = letters[event]
                steps = _added(automaton.steps, there, rows, event, tracks)
                ties = _added(automaton.ties, there, new, event, tracks)
                for target, row in [*steps, *ties]:
                    _add(new[target], row)
            rows = _placed(rows, moved(automaton.moves, seen, automaton.states))
            for into, row in zip(rows, _placed(new, moved(automaton.new_moves, seen, automaton.states)), strict=True):
                _add(into, row)
        return [sum(rows[state][i] for state in automaton.accepting) for i in range(width)]


@dataclass(frozen=True)
class _Sum:
    """A plane's tracks: one of integers, or the scaled finite values, then how often NaN, inf and -inf are added."""

    tracks: list[Track]
    place: int
    scale: int

    def total(self, totals: Row) -> ExactNumber:
        if not self.tracks:
            return 0
        if len(self.tracks) == 1:
            return totals[self.place] if self.scale == 1 else Fraction(totals[self.place], self.scale)
        finite, nan, high, low = totals[self.place : self.place + 4]
        if nan or (high and low):
            return math.nan
        if high or low:
            return math.inf if high else -math.inf
        return Fraction(finite, self.scale)


def _float_sum(variable: int, values: dict[int, float], place: int) -> _Sum:
    finite = {event: v.as_integer_ratio() for event, v in values.items() if math.isfinite(v)}
    scale = max((below for _, below in finite.values()), default=1)  # powers of two
    tracks = [Track(variable, {event: above * (scale // below) for event, (above, below) in finite.items()})]
    if len(finite) < len(values):
        for test in (math.isnan, lambda v: v == math.inf, lambda v: v == -math.inf):
            tracks.append(Track(variable, {event: 1 for event, v in values.items() if test(v)}))
    return _Sum(tracks, place, scale)


def _added(
    steps: Sequence[Step], letters: frozenset[int], rows: list[Row], event: int, tracks: Sequence[Track]
) -> list[tuple[int, Row]]:
    """What the steps of an event add to which state."""
    found = []
    for step in steps:
        source = rows[step.source]
        if step.letter in letters and source[0]:
            row = list(source)
            for i, track in enumerate(tracks, start=1):
                if track.variable == step.variable and (number := track.numbers.get(event)):
                    row[i] += number * source[0]
            found.append((step.target, row))
    return found


def _add(into: Row, row: Row) -> None:
    for i, number in enumerate(row):
        into[i] += number


def _placed(rows: list[Row], places: list[int]) -> list[Row]:
    placed: list[Row] = [[0] * len(row) for row in rows]
    for row, place in zip(rows, places, strict=True):
        if place != DROPPED:
            _add(placed[place], row)
    return placed
