"""The numbers of windows from those of their panes, pane by pane in order of time; for all groups and windows at once.
A pane without events changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..kernel.planes import IntegerSumPlanes
from ..numbers.columns import codes, combine_codes, dense
from ..numbers.number_columns import integers, one_after_the_other, whole
from ..numbers.sorting import order_of
from ..plan.windows import Sliding, TimeParts
from ..results.totals import Totals, grouped
from .arithmetic import PaneBlock, additive, blocks, compose, limit_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..kernel.planes import QueryPlanes
    from ..numbers.columns import Bools, ExactColumn, Ints
    from .folded import Folded
    from .shared_panes import Family

CHUNK: Final = 1 << 16
"""So many windows are computed at once."""


@dataclass(frozen=True)
class PaneRuns:
    """For each window in which a group has a pane its group, its number, and where its panes begin and end in `order`,
    which has the panes by group and time.
    """

    order: Ints
    groups: Ints
    numbers: Ints
    begin: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, rows: Any) -> PaneRuns:
        return PaneRuns(self.order, self.groups[rows], self.numbers[rows], self.begin[rows], self.end[rows])

    def among(self, panes: Ints) -> PaneRuns:
        """The same runs where only these panes are left, which are sorted and all that the runs have."""
        return PaneRuns(np.searchsorted(panes, self.order), self.groups, self.numbers, self.begin, self.end)

    @property
    def panes(self) -> Ints:
        """Those in some run."""
        edges = np.zeros(len(self.order) + 1, dtype=np.int64)
        np.add.at(edges, self.begin, 1)
        np.add.at(edges, self.end, -1)
        return np.sort(self.order[np.cumsum(edges[:-1]) > 0])


@dataclass(frozen=True)
class WindowRange:
    """The windows from number `low` to `high`, each a whole number of the panes; None is no bound."""

    window: Sliding
    times: TimeParts
    low: int | None = None
    high: int | None = None

    def runs(self, groups: Ints, panes: Ints) -> PaneRuns:
        """Of the panes of some groups, of which there is one at most for each group and time."""
        order = order_of([groups, panes])
        groups, panes = groups[order], panes[order]
        distinct = np.unique(panes)
        places = groups * (len(distinct) + 1) + np.searchsorted(distinct, panes)
        of_group, numbers = self.of(groups, panes)
        first = self.times.number(self.window.begin(numbers))
        begin, end = (
            np.searchsorted(places, of_group * (len(distinct) + 1) + np.searchsorted(distinct, pane))
            for pane in (first, first + self.window.span // self.times.length)
        )
        return PaneRuns(order, of_group, numbers, begin, end)

    def of(self, groups: Ints, panes: Ints) -> tuple[Ints, Ints]:
        """Each window in which a group has a pane, by group and number, given by group and pane."""
        starts = self.times.start(panes)
        first, last = self.window.first_holding(starts), self.window.last_holding(starts)
        if self.low is not None:
            first = np.maximum(first, min(max(self.low, -(1 << 62)), 1 << 62))
        if self.high is not None:
            last = np.minimum(last, max(min(self.high, 1 << 62), -(1 << 62)))
        count = np.maximum(last - first + 1, 0)
        rows = np.repeat(np.arange(len(panes)), count)
        numbers = first[rows] + np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
        order = order_of([groups[rows], numbers])
        of_group, numbers = groups[rows][order], numbers[order]
        new = np.ones(len(numbers), dtype=np.bool_)
        new[1:] = (of_group[1:] != of_group[:-1]) | (numbers[1:] != numbers[:-1])
        return of_group[new], numbers[new]


def totals_of_folded(
    family: Family, queries: tuple[int, ...], folded: Folded, low: int | None = None, high: int | None = None
) -> Iterator[tuple[int, Totals]]:
    """The totals of queries with the same windows in those from `low` to `high`, of which all panes are given."""
    plans = dict(family.queries)
    window = plans[queries[0]].window
    assert isinstance(window, Sliding)
    columns = folded.keys
    groups, first = dense(combine_codes([codes(column) for column in columns.values()], len(folded))[0])
    runs = WindowRange(window, family.times, low, high).runs(groups, folded.panes)
    for query, totals in zip(queries, _Windows.of(family, folded).totals(queries, runs), strict=True):
        yield (
            query,
            grouped(totals, {name: columns[name].take(pa.array(first)) for name in plans[query].group_by}, len(first)),
        )


@dataclass(frozen=True)
class _Windows:
    """The panes' numbers as floats, and for each extreme number the values by place."""

    family: Family
    folded: Folded
    block: PaneBlock
    values: dict[int, Any]

    @classmethod
    def of(cls, family: Family, folded: Folded) -> _Windows:
        (block,), values = blocks(family, [folded.numbers], exactly=False)
        return cls(family, folded, block, values)

    def totals(self, queries: tuple[int, ...], runs: PaneRuns) -> list[Totals]:
        """Of the windows with a match, by partition."""
        found: list[list[_Matched]] = [[] for _ in queries]
        for start in range(0, max(len(runs), 1), CHUNK):
            some = runs.take(slice(start, start + CHUNK))
            numbers = self._opened(queries, self.block, some)
            for query, own in zip(queries, found, strict=True):
                own.append(self._matched(query, numbers, some))
        return [self._joined(query, own) for query, own in zip(queries, found, strict=True)]

    @np.errstate(invalid="ignore", over="ignore")
    def _opened(self, queries: tuple[int, ...], panes: PaneBlock, runs: PaneRuns) -> PaneBlock:
        """What leads from the start of the queries through all panes of each run."""
        longest = np.argsort(runs.begin - runs.end, kind="stable")  # so that those which have a next pane are the first
        begin, lengths = runs.begin[longest], (runs.end - runs.begin)[longest]
        found, table = panes.take(runs.order[begin]), self.family.products.beginning(queries)
        for step in range(1, int(lengths.max(initial=0))):
            active = int(np.searchsorted(-lengths, -step))
            compose(table, found, panes, runs.order[begin[:active] + step])
        return found.take(np.argsort(longest))

    def _matched(self, query: int, numbers: PaneBlock, runs: PaneRuns) -> _Matched:
        plan, layout = dict(self.family.queries)[query], self.family.layouts[query]
        planes = self._planes(query, numbers)
        rows = np.flatnonzero(planes[0] != 0)  # also where it is no number
        planes, runs = [column[rows] for column in planes], runs.take(rows)
        inexact = np.zeros(len(rows), dtype=np.bool_)
        for column in planes[: layout.additive]:
            inexact |= ~(np.abs(column) < limit_of(plan.measures))
        if inexact.any():
            again = self._exactly(query, runs.take(inexact))
            planes = [_replaced(column, inexact, again[p], _is_whole(layout, p)) for p, column in enumerate(planes)]
            there = planes[0] != 0
            planes, runs = [column[there] for column in planes], runs.take(there)
        planes = [whole(column) if _is_whole(layout, p) else column for p, column in enumerate(planes)]
        return _Matched(runs.groups, runs.numbers, planes)

    def _exactly(self, query: int, runs: PaneRuns) -> list[ExactColumn]:
        """The planes of some windows again, in Python's numbers."""
        panes, extremes = runs.panes, self.block.extremes
        numbers = self.folded.take(panes).numbers
        block = PaneBlock(additive(self.family, numbers, exactly=True), extremes[:, panes])
        return self._planes(query, self._opened((query,), block, runs.among(panes)))

    def _planes(self, query: int, numbers: PaneBlock) -> list[ExactColumn]:
        return [self._plane(query, plane, numbers) for plane in range(self.family.layouts[query].count)]

    def _plane(self, query: int, plane: int, block: PaneBlock) -> ExactColumn:
        """Of all ways from the start to an accepting state."""
        layout, rows = self.family.layouts[query], self.family.products.rows
        totals = {m.magnitude: m.total for m in layout.measures if isinstance(m, IntegerSumPlanes)}
        found = [entry[totals.get(plane) or plane] for entry in self._ends(query)]
        numbers = [number for number in found if number is not None]
        if plane >= layout.additive:
            chosen = block.extremes[[rows.extremes[number] for number in numbers]]
            return np.asarray(chosen.min(axis=0, initial=np.inf))
        own = rows.magnitudes if plane in totals else rows.additive
        return np.asarray(block.additive[[own[number] for number in numbers]].sum(axis=0))

    def _ends(self, query: int) -> list[tuple[int | None, ...]]:
        automaton, places = dict(self.family.queries)[query].automaton, self.family.places[query]
        return [places[0, state] for state in automaton.accepting if (0, state) in places]

    def _joined(self, query: int, found: list[_Matched]) -> Totals:
        plan, layout = dict(self.family.queries)[query], self.family.layouts[query]
        groups, numbers = (np.concatenate([getattr(own, name) for own in found]) for name in ("groups", "numbers"))
        planes = tuple(one_after_the_other(columns) for columns in zip(*(own.planes for own in found), strict=True))
        extremes = {layout.planes[p - 1].value: self._values(query, p) for p in range(layout.additive, layout.count)}
        return Totals(plan, layout, groups, numbers, {}, planes, extremes)

    def _values(self, query: int, plane: int) -> Any:
        """Of a plane of extremes, by place."""
        number = next((entry[plane] for entry in self._ends(query) if entry[plane] is not None), None)
        return pa.nulls(0) if number is None else self.values[number]


@dataclass(frozen=True)
class _Matched:
    """Windows with a match, and the planes of their matches."""

    groups: Ints
    numbers: Ints
    planes: list[ExactColumn]


def _replaced(column: ExactColumn, rows: Bools, exact: ExactColumn, whole: bool) -> ExactColumn:
    """The numbers with some of them exact; floats stay floats."""
    found = column.copy()
    found[rows] = 0
    if whole:
        found = integers(found)
    found[rows] = exact
    return found


def _is_whole(layout: QueryPlanes, plane: int) -> bool:
    return plane == 0 or (plane < layout.additive and layout.planes[plane - 1].value.is_whole)
