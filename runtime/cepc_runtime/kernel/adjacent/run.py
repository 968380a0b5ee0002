"""Counting the matches of one query with conditions between neighbours."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from ...cheap_dataclass import dataclass
from ...numbers.sorting import order_of
from ..by_query import Emissions
from ..machine_code import run_function
from ..views import on_views
from . import loop
from .loop import EventRanks, PairBlock, SliceBatch
from .slices import Slices, ranges, slices_of
from .tables import SLICE, AdjacentLayout, Index, RecordBuilder
from .tests import (
    EQUAL,
    GREATER_EQUAL,
    LESS,
    LESS_EQUAL,
    PAIRS,
    Failing,
    Test,
    evaluate_pairs,
    prepare_test,
    tests_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...events.grouped import Events
    from ...events.letters import Kinds
    from ...numbers.columns import Ints
    from ...plan.strategy import NeighboursQuery
    from ...sql.expression import Expression
    from ..planes import QueryPlanes, ValueKey

BATCH: Final = 1 << 20
"""Events of slices that are prepared together."""

MOST_PAIRS: Final = 1 << 22
"""Pairs of events that are evaluated together."""


@dataclass(frozen=True)
class Neighbours:
    """One query over the events of its class. `failing` is what a condition is that cannot be evaluated."""

    events: Events
    kinds: Kinds
    query: NeighboursQuery
    failing: Failing = Failing.ERROR
    batch: int = BATCH
    most_pairs: int = MOST_PAIRS

    def count(
        self, planes: QueryPlanes, matrix: Any, index: Mapping[ValueKey, int], *, interpreted: bool | None = None
    ) -> Emissions:
        """A row for each group and window with a match. Numbers are of the matrix's type."""
        bindings: dict[int, list[list[int]]] = {}
        for number, plane in enumerate(planes.planes, start=1):
            bindings.setdefault(plane.variable, []).append([number, index[plane.value], not plane.additive])
        slices = self.slices
        layout = self._layout(bindings, planes.count, planes.additive, slices.longest)
        run = run_function(loop, len(slices) + int((slices.end - slices.first).sum()), interpreted)
        if run is loop.run:
            run = on_views(run, matrix.dtype)
        memory = np.zeros(layout.memory, matrix.dtype)
        parts = [self._run(run, layout, part, memory, matrix, planes.count) for part in slices.batches(self.batch)]
        found = np.concatenate(parts) if parts else np.empty((0, planes.count))
        there = found[:, 0] != 0
        return Emissions(slices.groups[there], slices.windows[there], found[there])

    def exactly(
        self, group: int, window: int, bindings: Mapping[int, Sequence[Sequence[int]]], values: Any, planes: int
    ) -> list[Any]:
        """The additive planes of one window in Python's integers; `values[row, event]` are such."""
        chosen = np.flatnonzero((self.slices.groups == group) & (self.slices.windows == window))
        slices = self.slices.part(int(chosen[0]), int(chosen[0]) + 1)
        layout = self._layout(bindings, planes, planes, slices.longest)
        memory = np.zeros(layout.memory, dtype=object)
        return list(self._run(loop.run, layout, slices, memory, values, planes)[0])

    # ---- what all runs share -----------------------------------------------------------------------------------------

    @cached_property
    def slices(self) -> Slices:
        own = np.flatnonzero(self.kinds.satisfying(self.query.automaton.letters))
        groups, ticks = self.events.groups[own].astype(np.int64), self.events.ticks[own]
        return slices_of(own, groups, ticks, self.query.window)

    @cached_property
    def tests(self) -> dict[Expression, Test]:
        steps: dict[Expression, list[int]] = {}
        for step, conditions in tests_of(self.query.strategy.conditions).items():
            for condition in conditions:
                steps.setdefault(condition, []).append(step)
        automaton, table = self.query.automaton, self.events.table
        return {c: prepare_test(c, found, automaton, table, self.kinds, self.failing) for c, found in steps.items()}

    @cached_property
    def _instants(self) -> Ints:
        """The number of each event's instant."""
        starts = self.events.instant_starts
        return np.repeat(np.arange(len(starts) - 1), np.diff(starts))

    @cached_property
    def _comparisons(self) -> list[Test]:
        return [test for test in self.tests.values() if test.operator != PAIRS]

    @cached_property
    def _pairs(self) -> list[Test]:
        return [test for test in self.tests.values() if test.operator == PAIRS]

    @cached_property
    def _ranks(self) -> tuple[Ints, Ints]:
        return _matrix([t.left for t in self._comparisons]), _matrix([t.right for t in self._comparisons])

    def _layout(
        self, bindings: Mapping[int, Sequence[Sequence[int]]], planes: int, additive: int, longest: int
    ) -> AdjacentLayout:
        builder = RecordBuilder(self.query, self.tests, bindings, planes=planes, additive=additive, longest=longest)
        return builder.layout(self.kinds.letters)

    # ---- one batch of slices -----------------------------------------------------------------------------------------

    def _run(
        self, run: Any, layout: AdjacentLayout, slices: Slices, memory: Any, values: Any, planes: int
    ) -> npt.NDArray[Any]:
        """The planes of each slice."""
        own, bounds = slices.events(), slices.bounds()
        of = np.repeat(np.arange(len(slices)), np.diff(bounds))
        placed = [_places(self._comparisons[i.test], i, own, of) for i in layout.indexes]
        emitted = np.zeros((len(slices), planes), dtype=memory.dtype)
        progress = np.zeros(layout.progress, dtype=np.int64)
        ranks = EventRanks(*self._ranks, _matrix([p for p, _ in placed]), _matrix([e for _, e in placed]))
        batch = SliceBatch(own, bounds, self.kinds.of, self._instants, values, ranks)
        for block in self._blocks(own, of, bounds):
            with np.errstate(all="ignore"):
                run(layout.table, progress, memory, batch, block, emitted)
        assert progress[SLICE] == len(slices)
        return emitted

    @cached_property
    def _ordinals(self) -> Ints:
        return _matrix([test.ordinal for test in self._pairs])

    def _blocks(self, own: Ints, of: Ints, bounds: Ints) -> Iterator[PairBlock]:
        """The batch in blocks of whole instants with at most so many pairs, if one instant alone has not more."""
        if not self._pairs:
            yield PairBlock(0, len(own), _matrix([]), self._ordinals, np.zeros(0, dtype=np.bool_))
            return
        instant_first = np.maximum(self.events.instant_starts[self._instants[own]], own[bounds[of]])
        counts = [np.where(t.later[own], t.ordinal[instant_first] - t.ordinal[own[bounds[of]]], 0) for t in self._pairs]
        starts = np.flatnonzero(
            np.concatenate(([True], (np.diff(self._instants[own]) != 0) | (np.diff(of) != 0)))
        )  # of instants
        done = np.concatenate(([0], np.cumsum(sum(counts))))[np.append(starts, len(own))]
        cuts = np.append(starts, len(own))
        i = 0
        while i < len(starts):
            j = max(i + 1, int(np.searchsorted(done, done[i] + self.most_pairs, side="right")) - 1)
            begin, end = int(cuts[i]), int(cuts[j])
            base, truths = self._truths(own, of, bounds, [c[begin:end] for c in counts], begin)
            yield PairBlock(begin, end, base, self._ordinals, truths)
            i = j

    def _truths(
        self, own: Ints, of: Ints, bounds: Ints, counts: list[Ints], block: int
    ) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """Which pairs pass, test by test, and where the pairs of each event begin."""
        base, truths, length = [], [], 0
        for test, count in zip(self._pairs, counts, strict=True):
            base.append(length + np.cumsum(count) - count)
            first = test.ordinal[own[bounds[of[block : block + len(count)]]]]
            earlier = test.earlier[ranges(first, first + count)]
            later = np.repeat(own[block : block + len(count)], count)
            truths.append(evaluate_pairs(test, self.events.table, earlier, later, self.failing))
            length += len(earlier)
        return _matrix(base), np.concatenate(truths)


def _matrix(rows: list[Ints]) -> Ints:
    return np.array(rows, dtype=np.int64) if rows else np.zeros((0, 0), dtype=np.int64)


def _places(test: Test, index: Index, own: Ints, of: Ints) -> tuple[Ints, Ints]:
    """For each place of the batch: where its row belongs in the index, and how far (or in which cell) it looks; 0 is
    nowhere.
    """
    left, right = test.left[own], test.right[own]
    if index.operator in (LESS, LESS_EQUAL):  # a prefix of the descending order
        highest = int(max(left.max(initial=0), right.max(initial=0)))
        left, right = np.where(left < 0, -1, highest - left), np.where(right < 0, -1, highest - right)
    span = int(max(left.max(initial=0), right.max(initial=0))) + 2
    keys = of * span
    there = np.flatnonzero(right >= 0)
    ordered = np.sort((keys + right)[there], kind="stable")
    slice_first = np.searchsorted(ordered, keys)
    equal_too = index.operator in (LESS_EQUAL, GREATER_EQUAL)
    ends = np.searchsorted(ordered, keys + left + equal_too) - slice_first
    places = np.zeros(len(own), dtype=np.int64)
    if index.operator == EQUAL:
        places[there] = (np.searchsorted(ordered, keys + right) - slice_first + 1)[there]
        found = np.append(ordered, -1)[ends + slice_first] == keys + left
        return places, np.where((left >= 0) & found, ends + 1, 0)
    order = there[order_of([(keys + right)[there]])]
    places[order] = np.arange(len(order)) - slice_first[order] + 1
    return places, np.where(left >= 0, ends, 0)
