"""Sums of DOUBLE that the kernel has found, and which of them might be rounded to another number than the exact sum, or
average, is.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from ..cheap_dataclass import dataclass
from ..kernel.planes import DoubleSumPlanes
from .doubles import ROUNDING, add_exactly, halves, in_units, of_units, pair, rounds_once, together
from .sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..kernel.by_query import Emissions
    from ..kernel.exact import ExactNumber, Recount
    from .columns import Bools, Floats, Ints
    from .doubles import Scale

COUNTED: Final = 2.0**53
"""Sums of so many numbers are not exact: a float64 does not tell any more how many they are."""

_ROUNDINGS: Final = 4
"""A step of an automaton rounds what it passes on so often at most: where it is read, added, shared and gathered."""
_ALWAYS: Final = 64


@dataclass(frozen=True)
class Targets:
    """Which rows will be one row of results: `order` are the rows, target by target, each from `starts` on."""

    order: Ints
    starts: Ints

    @cached_property
    def lengths(self) -> Ints:
        return np.diff(np.append(self.starts, len(self.order)))

    def rows(self, target: int) -> list[int]:
        found: list[int] = self.order[self.starts[target] : self.starts[target] + self.lengths[target]].tolist()
        return found

    def of_rows(self, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """For each row its target's number."""
        found = np.empty(len(self.order), dtype=numbers.dtype)
        found[self.order] = np.repeat(numbers, self.lengths)
        return found

    def of_first_rows(self, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The numbers of targets, each in its first row, and 0 in the others."""
        found = np.zeros(len(self.order), dtype=numbers.dtype)
        found[self.order[self.starts]] = numbers
        return found


@dataclass(frozen=True)
class DoubleSums:
    """The planes of a sum's parts, in all rows, and their sums over the rows of each target; without targets each row
    is one by itself. `unsure_totals` are the targets that have to be added up once more, exactly, and `unsure` those of
    their rows that have to be counted again before: the others' planes are exact.
    """

    places: tuple[int, int, int]
    targets: Targets | None
    planes: Floats
    totals: Floats
    rests: Floats
    unsure_totals: Bools
    unsure: Bools

    def columns(self, exact: Mapping[int, Sequence[ExactNumber]]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """A total and a rest for each row: those of a target in its first row, else 0. Some rows' planes are known
        exactly; in that of the total is then the whole sum, as an integer in units of 2**-UNIT, if it is one.
        """
        wanted = self.unsure_totals.copy()
        wanted[self._targets_of(list(exact))] = True
        totals, rests = self._totals(np.flatnonzero(wanted), exact) if wanted.any() else (self.totals, self.rests)
        if self.targets is None:
            return totals, rests
        return self.targets.of_first_rows(totals), self.targets.of_first_rows(rests)

    def _totals(
        self, wanted: Ints, exact: Mapping[int, Sequence[ExactNumber]]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        totals, rests, large = self.totals.copy(), self.rests.copy(), dict[int, Fraction]()
        for target in wanted.tolist():
            rows = [target] if self.targets is None else self.targets.rows(target)
            parts = [part for row in rows for part in self._parts(row, exact)]
            special = [part for part in parts if isinstance(part, float) and not math.isfinite(part)]
            if special:
                totals[target], rests[target] = add_exactly(special), 0.0
                continue
            units = sum(part if isinstance(part, int) else in_units(part) for part in parts if part)
            totals[target], rests[target] = pair(units)
            if math.isinf(totals[target]):
                large[target] = of_units(units)
        if not large:
            return totals, rests
        numbers = totals.astype(object)
        for target, fraction in large.items():
            numbers[target] = fraction
        return numbers, rests

    def _targets_of(self, rows: list[int]) -> Ints:
        if self.targets is None:
            return np.array(rows, dtype=np.int64)
        return self.targets.of_rows(np.arange(len(self.totals)))[rows]

    def _parts(self, row: int, exact: Mapping[int, Sequence[ExactNumber]]) -> list[ExactNumber]:
        return [(exact[row] if row in exact else self.planes[row].tolist())[place] for place in self.places]


def double_sums(recount: Recount, emissions: Emissions, targets: Ints | None) -> list[DoubleSums]:
    """Those of a query. Rows with equal `targets` will be one row of results; without, each is one by itself."""
    divided: dict[DoubleSumPlanes, bool] = {}
    for measure, own in zip(recount.query.measures, recount.planes.measures, strict=True):
        if isinstance(own, DoubleSumPlanes):
            divided[own] = divided.get(own, False) or measure.function.divided
    if not divided or not len(emissions.planes):
        return []
    known = None if targets is None else _targets(targets)
    return [_double_sums(recount, emissions, known, own, average) for own, average in divided.items()]


def _targets(targets: Ints) -> Targets:
    order = order_of([targets])
    return Targets(order, np.flatnonzero(np.diff(targets[order], prepend=-1)))


def _double_sums(
    recount: Recount, emissions: Emissions, targets: Targets | None, own: DoubleSumPlanes, divided: bool
) -> DoubleSums:
    places, planes = own.parts, emissions.planes
    with np.errstate(all="ignore"):
        parts = [planes[:, place] for place in places]
        counts, error = planes[:, own.count], _errors(recount, emissions, own)
        inexact = error != 0
        if targets is not None:
            parts, counts, error = _added(recount, emissions, targets, own, error)
        totals, rests = together(*parts)
        unsure = ~rounds_once(totals, rests, error, counts if divided else None) & (counts < COUNTED)
        lost = ~np.isfinite(totals)
        if lost.any():
            finite = np.isfinite(planes[:, places]).all(axis=1)
            if targets is not None:
                finite = np.logical_and.reduceat(finite[targets.order], targets.starts)
            unsure |= lost & finite
    of_rows = unsure if targets is None else targets.of_rows(unsure)
    return DoubleSums(places, targets, planes, totals, rests, unsure, of_rows & inexact)


def _added(
    recount: Recount, emissions: Emissions, targets: Targets, own: DoubleSumPlanes, error: Floats
) -> tuple[list[Floats], Floats, Floats]:
    """The parts, the counts and by how much the parts may be off, of each target."""
    places, order, starts = own.parts, targets.order, targets.starts
    parts = [emissions.planes[order, place] for place in places]
    counts, error = emissions.planes[order, own.count], error[order]
    if len(starts) == len(order):
        return parts, counts, error
    first, left = halves(parts[0], starts)
    _, rest, last = parts
    error = np.add.reduceat(error, starts)
    for place, part in ((places[1], np.abs(left) + np.abs(rest)), (places[2], np.abs(last))):
        sizes, units = np.add.reduceat(part, starts), _scale(recount, place).unit[emissions.groups[order]]
        exact = (error == 0) & (sizes <= COUNTED * np.minimum.reduceat(units, starts))
        error = np.where(exact, 0.0, error + ROUNDING * (targets.lengths + 2) * sizes)
    return (
        [np.add.reduceat(part, starts) for part in (first, left + rest, last)],
        np.add.reduceat(counts, starts),
        error,
    )


def _errors(recount: Recount, emissions: Emissions, own: DoubleSumPlanes) -> Floats:
    """How far the total and the rest of each row may be off, together."""
    counts = emissions.planes[:, own.count]
    inexact, most = np.zeros(len(counts)), counts.max()
    for plane in own.parts:
        scale = _scale(recount, plane)
        if most <= scale.most:
            continue
        of_rows = scale.take(emissions.groups)
        inexact += np.where(of_rows.exact(counts), 0.0, counts * of_rows.size)
    return inexact * _roundings(recount, emissions) if inexact.any() else inexact


def _scale(recount: Recount, plane: int) -> Scale:
    """Of what is summed up in each partition."""
    return recount.values.scales[recount.planes.planes[plane - 1].value]


def _roundings(recount: Recount, emissions: Emissions) -> Floats:
    """By how much numbers may be off that were added up over the events of each row."""
    automaton = recount.query.automaton
    ways: Iterable[object] = (*automaton.steps, *automaton.ties, *automaton.moves, *automaton.new_moves)
    each = _ROUNDINGS * (len(list(ways)) + automaton.states)
    return np.asarray(ROUNDING * (recount.lengths(emissions.groups, emissions.windows) * each + _ALWAYS))
