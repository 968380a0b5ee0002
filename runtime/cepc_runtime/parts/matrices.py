"""The matrices of panes, multiplied in order of time; for all groups and windows at once.

An entry holds how many ways lead from one state to another, and for each further plane a sum over these ways, or the least place of a
value on any of them. So do the numbers of an open window, of which there is an entry for each state. A pane without events changes
nothing.

Numbers are multiplied as float64. Counts and magnitudes are never negative: where what comes out is below 2^53, all that went into it
was exact. The other rows are multiplied again in Python's integers; where results are DOUBLE, only those near the end of float64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..exactness import EXACT
from .families import is_exactly
from .products import EXTREME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..columns import Bools, Ints
    from ..exactness import Column
    from ..kernel.planes import QueryPlanes
    from ..plan import Measure
    from ..windows import Sliding

    Planes = tuple[Column, ...]
    Entries = dict[int, Planes]  # by state

LARGE: Final = 1e300
"""Near the end of float64."""

CHUNK: Final = 1 << 16
"""So many windows are computed at once."""


@dataclass(frozen=True)
class Matrices:
    """Of panes: `entries[i, j]` are the planes of what leads from state i to j, with a number for each pane. A state without an entry
    to itself stays as it is; one with an entry has a way to itself in every pane. Integers from `limit` on have to be computed
    exactly; `exact` says that these are Python's numbers.
    """

    layout: QueryPlanes
    entries: Mapping[tuple[int, int], Planes]
    limit: float
    exact: bool = False

    def one(self, length: int) -> Planes:
        """One way, with nothing on it."""
        type_, infinite = object if self.exact else np.float64, np.full(length, np.inf)
        zeros, least = np.zeros(length, type_), self.layout.count - self.layout.additive
        return (np.ones(length, type_), *(zeros,) * (self.layout.additive - 1), *(infinite,) * least)

    def bounded(self) -> Matrices:
        """With the magnitude of each exact sum, which bounds what it can become."""
        bounds = {m.magnitude: m.total for m in self.layout.measures if m.magnitude is not None}
        found = {
            ends: tuple(abs(planes[bounds[p] or 0]) if p in bounds else column for p, column in enumerate(planes))
            for ends, planes in self.entries.items()
        }
        return replace(self, entries=found)

    def exactly(self, rows: Ints) -> Matrices:
        """Some of the panes, in Python's numbers."""
        layout = self.layout

        def taken(column: Column, plane: int) -> Column:
            if plane >= layout.additive:
                return column[rows]
            return _integers(column[rows]) if is_whole(layout, plane) else column[rows].astype(object)

        return replace(self, entries=self._each(taken), exact=True)

    def approximately(self) -> Matrices:
        return replace(self, entries=self._each(lambda column, _: floats(column)))

    def _each(self, change: Callable[[Column, int], Column]) -> dict[tuple[int, int], Planes]:
        return {
            ends: tuple(change(column, p) for p, column in enumerate(planes)) for ends, planes in self.entries.items()
        }


@np.errstate(invalid="ignore", over="ignore")
def product(first: Matrices, second: Matrices, length: int) -> dict[tuple[int, int], Planes]:
    """The entries of panes that follow one another, row by row."""
    found = _product(first.approximately(), second.approximately(), length)
    inexact = np.zeros(length, dtype=np.bool_)
    for planes in found.values():
        inexact |= _inexact(planes, first.layout, first.limit)
    rows = np.flatnonzero(inexact)
    exact = _product(first.exactly(rows), second.exactly(rows), len(rows)) if len(rows) else {}
    return {
        ends: tuple(_column(column, p, first.layout, rows, exact.get(ends)) for p, column in enumerate(planes))
        for ends, planes in found.items()
    }


def _product(first: Matrices, second: Matrices, length: int) -> dict[tuple[int, int], Planes]:
    found: dict[tuple[int, int], Planes] = {}
    for source in {i for i, _ in first.entries}:
        before = {j: planes for (i, j), planes in first.entries.items() if i == source}
        if source not in before:
            before[source] = first.one(length)
        after = _applied(before, second.entries, first.layout.additive)
        found |= {(source, j): planes for j, planes in after.items() if (source, j) in first.entries}
    return found


@np.errstate(invalid="ignore", over="ignore")
def windows(
    matrices: Matrices, groups: Ints, panes: Ints, accepting: Sequence[int], wanted: WindowRange
) -> tuple[Ints, Ints, Planes]:
    """The windows with a match: their groups, numbers, and the planes of their matches. `groups` and `panes` say whose the matrices
    are; there is one at most for each group and pane.
    """
    order, of_group, numbers, begin, end = wanted.runs(groups, panes)
    run = _Run(matrices, matrices.approximately(), order, tuple(accepting))
    found = [
        run.of(of_group[at], numbers[at], begin[at], end[at])
        for start in range(0, len(numbers), CHUNK)
        for at in [slice(start, start + CHUNK)]
    ]
    joined: list[list[Any]] = [list(column) for column in zip(*((g, w, *p) for g, w, p in found), strict=True)]
    if not joined:
        none = np.zeros(0, dtype=np.int64)
        return none, none, (none,) * matrices.layout.count
    of_group, numbers, *planes = (_joined(column) for column in joined)
    return of_group, numbers, tuple(planes)


@dataclass(frozen=True)
class WindowRange:
    """The windows from number `low` to `high`, of panes of a `length` that divides theirs; None is no bound."""

    window: Sliding
    length: int
    low: int | None = None
    high: int | None = None

    def runs(self, groups: Ints, panes: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """The panes in the order of groups and time; then of each window in which a group has a pane its group, its number, and where
        its panes begin and end in that order.
        """
        order = np.lexsort((panes, groups))
        groups, panes = groups[order], panes[order]
        distinct = np.unique(panes)
        places = groups * (len(distinct) + 1) + np.searchsorted(distinct, panes)
        of_group, numbers = self.of(groups, panes)
        first = self.window.begin(numbers) // self.length
        begin, end = (
            np.searchsorted(places, of_group * (len(distinct) + 1) + np.searchsorted(distinct, pane))
            for pane in (first, first + self.window.span // self.length)
        )
        return order, of_group, numbers, begin, end

    def of(self, groups: Ints, panes: Ints) -> tuple[Ints, Ints]:
        """Each window in which a group has a pane, by group and number, given by group and pane."""
        starts = panes * self.length
        first, last = self.window.first_holding(starts), self.window.last_holding(starts)
        if self.low is not None:
            first = np.maximum(first, min(max(self.low, -(1 << 62)), 1 << 62))
        if self.high is not None:
            last = np.minimum(last, max(min(self.high, 1 << 62), -(1 << 62)))
        count = np.maximum(last - first + 1, 0)
        rows = np.repeat(np.arange(len(panes)), count)
        numbers = first[rows] + np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
        order = np.lexsort((numbers, groups[rows]))
        of_group, numbers = groups[rows][order], numbers[order]
        new = np.ones(len(numbers), dtype=np.bool_)
        new[1:] = (of_group[1:] != of_group[:-1]) | (numbers[1:] != numbers[:-1])
        return of_group[new], numbers[new]


@dataclass(frozen=True)
class _Run:
    """`order` says at which row of the matrices a pane stands."""

    exact: Matrices
    floats: Matrices
    order: Ints
    accepting: tuple[int, ...]

    def of(self, groups: Ints, numbers: Ints, begin: Ints, end: Ints) -> tuple[Ints, Ints, Planes]:
        """The windows of these groups and numbers, whose panes are from `begin` to `end`."""
        layout = self.exact.layout
        longest = np.argsort(begin - end, kind="stable")  # so that those which have a next pane are the first
        begin, end = begin[longest], end[longest]
        found = self._numbers(self.floats, begin, end)
        if found is None:
            none = np.zeros(0, dtype=np.int64)
            return none, none, (none,) * layout.count
        matched = found[0] > 0
        rows = np.flatnonzero(matched & _inexact(found, layout, self.exact.limit))
        exact = None
        if len(rows):
            spots = np.unique(np.concatenate([self.order[begin[r] : end[r]] for r in rows.tolist()]))
            place = np.searchsorted(spots, self.order)  # right where it is one of them
            part = _Run(self.exact, self.exact.exactly(spots), place, self.accepting)
            exact = part._numbers(part.floats, begin[rows], end[rows])
        back = np.argsort(longest)
        back = back[matched[back]]
        planes = tuple(_column(column, p, layout, rows, exact)[back] for p, column in enumerate(found))
        return groups[longest][back], numbers[longest][back], planes

    def _numbers(self, matrices: Matrices, begin: Ints, end: Ints) -> Planes | None:
        """Those of the accepting states; None if no way leads there."""
        layout, count = matrices.layout, len(begin)
        states: Entries = {0: matrices.one(count)}
        lengths = end - begin
        for step in range(int(lengths.max(initial=0))):
            active = int(np.searchsorted(-lengths, -step))
            at = self.order[begin[:active] + step]
            matrix = {ends: tuple(column[at] for column in planes) for ends, planes in matrices.entries.items()}
            head = {state: tuple(column[:active] for column in planes) for state, planes in states.items()}
            for state, planes in _applied(head, matrix, layout.additive).items():
                states[state] = _replaced(states.get(state), planes, count, layout.additive)
        found = [states[state] for state in self.accepting if state in states]
        return _sum(found, layout.additive) if found else None


def _applied(before: Entries, matrix: Mapping[tuple[int, int], Planes], additive: int) -> Entries:
    """What stands in each state after a pane; states that the pane does not touch stay."""
    ways: dict[int, list[Planes]] = {
        state: [planes] for state, planes in before.items() if (state, state) not in matrix
    }
    for (source, target), entry in matrix.items():
        if source in before:
            ways.setdefault(target, []).append(_times(before[source], entry, additive))
    return {state: found[0] if len(found) == 1 else _sum(found, additive) for state, found in ways.items()}


def _times(before: Planes, after: Planes, additive: int) -> Planes:
    """Ways one after the other: a sum over them has each way's as often as the other part has ways."""
    count = _often(before[0], after[0])
    sums = (_often(before[0], after[p]) + _often(after[0], before[p]) for p in range(1, additive))
    if additive == len(before):
        return (count, *sums)
    none = (before[0] == 0) | (after[0] == 0)
    least = (np.where(none, np.inf, np.minimum(before[p], after[p])) for p in range(additive, len(before)))
    return (count, *sums, *least)


def _often(count: Column, total: Column) -> Column:
    """So many times: infinitely many times 0 is 0, and no time infinity is."""
    if count.dtype == object or total.dtype == object:
        return np.asarray(_OFTEN(count, total), dtype=object)
    found = count * total
    if not np.isfinite(found).all():
        found[(count == 0) | (total == 0)] = 0
    return np.asarray(found)


def _often_one(count: int, total: Any) -> Any:
    if not isinstance(total, float):
        return count * total
    if total == 0 or count == 0:
        return 0.0
    return _float(count) * total


_OFTEN = np.frompyfunc(_often_one, 2, 1)


def _sum(found: Sequence[Planes], additive: int) -> Planes:
    planes = list(found[0])
    for other in found[1:]:
        for p, column in enumerate(other):
            planes[p] = planes[p] + column if p < additive else np.minimum(planes[p], column)
    return tuple(planes)


def _replaced(old: Planes | None, head: Planes, length: int, additive: int) -> Planes:
    """The planes with a new beginning."""
    if len(head[0]) == length:
        return head
    found = []
    for p, column in enumerate(head):
        empty = np.zeros(length - len(column), column.dtype) if p < additive else np.full(length - len(column), np.inf)
        found.append(np.concatenate([column, empty if old is None else old[p][len(column) :]]))
    return tuple(found)


# ---- exactness -------------------------------------------------------------------------------------------------------


def _inexact(planes: Planes, layout: QueryPlanes, limit: float) -> Bools:
    """Rows of which not all numbers are sure to be exact that have to be."""
    found = ~(planes[0] < limit)
    for p, plane in enumerate(layout.planes, start=1):
        if plane.value.role not in ("value", *EXTREME):  # of a value the magnitude tells, or it is a float
            found |= ~(planes[p] < limit)
    return np.asarray(found, dtype=np.bool_)


def _column(column: Column, plane: int, layout: QueryPlanes, rows: Ints, exact: Planes | None) -> Column:
    """Integers where they are, with some rows exactly."""
    if plane >= layout.additive:
        return column
    whole = is_whole(layout, plane)
    if exact is None or not len(rows):
        return whole_column(column) if whole else column
    known = column.copy()
    known[rows] = 0
    found = _integers(known) if whole else known.astype(object)
    found[rows] = exact[plane]
    if not whole:
        return found.astype(np.float64)
    return found.astype(np.int64) if all(abs(number) < EXACT for number in found.tolist()) else found


def whole_column(column: Column) -> Column:
    """Integers as such where float64 has them exactly."""
    return column.astype(np.int64) if column.dtype == np.float64 and np.all(np.abs(column) < EXACT) else column


def _integers(column: Column) -> Column:
    """As Python's."""
    return np.array([*(int(number) for number in column.tolist()), None], dtype=object)[:-1]


def is_whole(layout: QueryPlanes, plane: int) -> bool:
    """Whether the numbers of a plane are integers."""
    if plane == 0:
        return True
    key = layout.planes[plane - 1].value
    if key.role != "value":
        return True
    places = next(m for m in layout.measures if m.total == plane)
    return places.magnitude is not None


def floats(column: Column) -> Column:
    if column.dtype != object:
        return column.astype(np.float64)
    return np.array([_float(number) for number in column.tolist()], dtype=np.float64)


def _float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def limit_of(measures: Iterable[Measure]) -> float:
    """From where on integers have to be computed exactly for these results."""
    return EXACT if any(is_exactly(measure) for measure in measures) else LARGE


def _joined(columns: Sequence[Column]) -> Column:
    if any(column.dtype == object for column in columns):
        columns = [column.astype(object) for column in columns]
    return np.concatenate(columns)
