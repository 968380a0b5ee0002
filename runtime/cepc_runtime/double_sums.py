"""Sums of DOUBLE that the kernel has found, and which of them might be rounded to another number than the exact sum, or
average, is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from .doubles import ROUNDING, add_exactly, halves, nearest, pair, rounds_once, together
from .kernel.run import Emissions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from .columns import Bools, Floats, Ints
    from .doubles import Scale
    from .kernel.exact import Number, Recount
    from .kernel.planes import MeasurePlanes

    Found = Callable[[int, Mapping[int, int]], Number | None]

COUNTED: Final = 2.0**53
"""Sums of so many numbers are not exact: a float64 does not tell any more how many they are."""

_ROUNDINGS: Final = 4
"""A step of an automaton rounds what it passes on so often at most: where it is read, added, shared and gathered."""
_ALWAYS: Final = 64

_HALF: Final = 1 << 63
_TOLD: Final = 2.0**62
"""What is off by less is told by a number modulo 2**64."""


@dataclass(frozen=True)
class DoubleSums:
    """The planes of a sum's parts, summed over the rows of each target: `order` are the rows, target by target, each
    from `starts` on. `unsure` are the rows of those that have to be counted again.
    """

    places: tuple[int, int, int]
    order: Ints
    starts: Ints
    parts: Floats
    totals: Floats
    rests: Floats
    unsure: Bools

    def columns(self, exact: Mapping[int, Sequence[Number]]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """A total and a rest for each row: those of a target in its first row, else 0. Some rows' numbers are known
        exactly.
        """
        totals, rests, large = self.totals.copy(), self.rests.copy(), dict[int, Fraction]()
        ends = np.append(self.starts[1:], len(self.order))
        if exact:
            place = np.empty(len(self.order), dtype=np.int64)
            place[self.order] = np.repeat(np.arange(len(self.starts)), ends - self.starts)
            for target in np.unique(place[list(exact)]).tolist():
                rows = self.order[self.starts[target] : ends[target]].tolist()
                number = add_exactly([part for row in rows for part in self._parts(row, exact)])
                if isinstance(number, float) and not math.isfinite(number):
                    totals[target], rests[target] = number, 0.0
                    continue
                totals[target], rests[target] = pair(Fraction(number))
                if math.isinf(totals[target]):
                    large[target] = Fraction(number)
        found: list[npt.NDArray[Any]] = []
        for numbers in (totals.astype(object) if large else totals, rests):
            column = np.zeros(len(self.order), dtype=numbers.dtype)
            column[self.order[self.starts]] = numbers
            found.append(column)
        for target, fraction in large.items():
            found[0][self.order[self.starts[target]]] = fraction
        return found[0], found[1]

    def _parts(self, row: int, exact: Mapping[int, Sequence[Number]]) -> list[Number]:
        if row in exact:
            return [exact[row][place] for place in self.places]
        return [*self.parts[row].tolist()]


def double_sums(recount: Recount, emissions: Emissions, targets: Ints | None) -> list[DoubleSums]:
    """Those of a query. Rows with equal `targets` will be one row of results; without, each is one by itself."""
    divided: dict[MeasurePlanes, bool] = {}
    for measure, own in zip(recount.query.measures, recount.planes.measures, strict=True):
        if own.rest is not None:
            divided[own] = divided.get(own, False) or measure.function.divided
    if not divided or not len(emissions.planes):
        return []
    order, starts = _targets(targets, len(emissions.planes))
    return [_double_sums(recount, emissions, order, starts, own, average) for own, average in divided.items()]


def places_of(own: MeasurePlanes) -> tuple[int, int, int]:
    """The planes of a sum's parts."""
    assert own.total is not None
    assert own.rest is not None
    assert own.last is not None
    return own.total, own.rest, own.last


def _targets(targets: Ints | None, rows: int) -> tuple[Ints, Ints]:
    if targets is None:
        return np.arange(rows), np.arange(rows)
    order = np.argsort(targets, kind="stable")
    return order, np.flatnonzero(np.diff(targets[order], prepend=-1))


def _double_sums(
    recount: Recount, emissions: Emissions, order: Ints, starts: Ints, own: MeasurePlanes, divided: bool
) -> DoubleSums:
    assert own.count is not None
    places = places_of(own)
    with np.errstate(all="ignore"):
        parts = emissions.planes[:, places]
        first, rest, last = parts[order].T
        counts, error = emissions.planes[order, own.count], _errors(recount, emissions, own)[order]
        if len(starts) < len(order):
            first, left = halves(first, starts)
            many = np.diff(np.append(starts, len(order)))
            error = np.add.reduceat(error, starts)
            for place, part in ((places[1], np.abs(left) + np.abs(rest)), (places[2], np.abs(last))):
                sizes, units = np.add.reduceat(part, starts), _scale(recount, emissions, place).unit[order]
                exact = (error == 0) & (sizes <= COUNTED * np.minimum.reduceat(units, starts))
                error = np.where(exact, 0.0, error + ROUNDING * (many + 2) * sizes)
            first, rest, last = (np.add.reduceat(part, starts) for part in (first, left + rest, last))
            counts = np.add.reduceat(counts, starts)
        totals, rests = together(first, rest, last)
        unsure = ~rounds_once(totals, rests, error, counts if divided else None) & (counts < COUNTED)
        unsure |= ~np.isfinite(totals) & np.logical_and.reduceat(np.isfinite(parts[order]).all(axis=1), starts)
    of_rows = np.zeros(len(order), dtype=np.bool_)
    of_rows[order] = np.repeat(unsure, np.diff(np.append(starts, len(order))))
    return DoubleSums(places, order, starts, parts, totals, rests, of_rows)


def _errors(recount: Recount, emissions: Emissions, own: MeasurePlanes) -> Floats:
    """How far the total and the rest of each row may be off, together."""
    counts = emissions.planes[:, own.count or 0]
    inexact = np.zeros(len(counts))
    for plane in places_of(own):
        scale = _scale(recount, emissions, plane)
        inexact += np.where(scale.exact(counts), 0.0, counts * scale.size)
    return inexact * _roundings(recount, emissions) if inexact.any() else inexact


def _scale(recount: Recount, emissions: Emissions, plane: int) -> Scale:
    """Of what each row sums up."""
    return recount.values.scales[recount.planes.planes[plane - 1].value].take(emissions.groups)


def exact_sum(recount: Recount, emissions: Emissions, own: MeasurePlanes, rows: Ints) -> Found:
    """What finds the sum of one of the rows, which is known roughly, from its parts modulo 2**64. It is None where
    these do not tell, or where what they lack might make another double of it, or of its average.
    """
    some = Emissions(emissions.groups[rows], emissions.windows[rows], emissions.planes[rows])
    counts, roundings = some.planes[:, own.count or 0].tolist(), _roundings(recount, some).tolist()
    known = []
    for plane in places_of(own):
        scale = _scale(recount, some, plane)
        columns = some.planes[:, plane], scale.size, scale.unit, scale.lost
        known.append((plane, [column.tolist() for column in columns]))
    place = {row: i for i, row in enumerate(rows.tolist())}

    def found(row: int, modulo: Mapping[int, int]) -> Number | None:
        i = place[row]
        if not counts[i] < COUNTED:  # about is all that is known
            return add_exactly([about[i] for _, (about, _, _, _) in known])
        exact, lacking = Fraction(), Fraction()
        for plane, (about, sizes, units, lost) in known:
            if not counts[i] * (sizes[i] / units[i] * roundings[i] + 1) < _TOLD:
                return None
            near = int(about[i] / units[i])
            exact += (near + (modulo[plane] - near + _HALF) % (2 * _HALF) - _HALF) * Fraction(units[i])
            lacking += Fraction(lost[i]) * int(counts[i])
        low, high = exact - lacking, exact + lacking
        if lacking and any(nearest(low / n) != nearest(high / n) for n in (1, int(counts[i]) or 1)):
            return None
        return exact

    return found


def _roundings(recount: Recount, emissions: Emissions) -> Floats:
    """By how much numbers may be off that were added up over the events of each row."""
    automaton = recount.query.automaton
    ways: Iterable[object] = (*automaton.steps, *automaton.ties, *automaton.moves, *automaton.new_moves)
    each = _ROUNDINGS * (len(list(ways)) + automaton.states)
    return np.asarray(ROUNDING * (recount.lengths(emissions.groups, emissions.windows) * each + _ALWAYS))
