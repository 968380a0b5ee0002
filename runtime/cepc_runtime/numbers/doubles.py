"""Sums of doubles that are rounded once: each as two doubles, `total` and `rest`, which stand for their exact sum.

To be added up, a double is taken into three parts: two multiples of powers of two that its run has in common, of so few
bits that sums of many are exact, and what is left. Unless a run has numbers that are many millions of times smaller
than others, sums of that are exact too; else what is rounded in them hardly ever matters. Where it might, the caller
adds up in exact numbers.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..kernel.exact import ExactNumber
    from .columns import Bools, ExactColumn, Floats, Ints

BITS: Final = 26
"""Of a first part, so that sums of 2**27 of them are exact."""

LAST_BITS: Final = 43
"""Of what is last, as an integer, in which what it has more is lost."""

ROUNDING: Final = 2.0**-53
"""How much of a result a float64 operation may be off."""

UNIT: Final = 1074
"""All doubles are multiples of 2**-UNIT."""

_ONE: Final = 1 << UNIT
_EXACT: Final = 2.0**53
_SMALLEST: Final = -1021
_LEAST: Final = -1074
_SAFE: Final = 2.0**900
"""Numbers between this and its inverse multiply without overflow or loss."""
_SPLIT: Final = 2.0**27 + 1


@dataclass(frozen=True)
class Scale:
    """What numbers are, run by run: less than `size` in magnitude, or at most that, and multiples of `unit`, a power of
    two, but for what is less than `lost`.
    """

    size: Floats
    unit: Floats
    lost: Floats

    def exact(self, counts: Floats) -> Bools:
        """Whether sums of so many numbers are exact, one run for each count."""
        return np.asarray((self.lost == 0) & (counts * self.size <= _EXACT * self.unit))

    @cached_property
    def most(self) -> float:
        """So many numbers of any run, or fewer, have a sum that is exact; perhaps more."""
        if self.lost.any():
            return 0.0
        with np.errstate(all="ignore"):
            return float(np.min(_EXACT * self.unit / self.size, where=self.size > 0, initial=np.inf)) * (
                1 - 2 * ROUNDING
            )

    def take(self, runs: Ints) -> Scale:
        return Scale(self.size[runs], self.unit[runs], self.lost[runs])


def halves(values: Floats, starts: Ints) -> tuple[Floats, Floats]:
    """The first parts and the rests of values. Runs of them begin at `starts`, and are not empty. What is infinite or
    NaN is its own first part.
    """
    return _halves(values, starts, _units(values, starts)[1])


def parts(values: Floats, starts: Ints) -> list[tuple[Floats, Scale]]:
    """First parts, rests, and last what the rests leave that are so many bits; each with its scale."""
    if not len(values):
        return [(values, Scale(*(np.zeros(len(starts)) for _ in range(3))))] * 3
    largest, units = _units(values, starts)
    first, left = _halves(values, starts, units)
    magnitudes = np.where((values != 0) & np.isfinite(values), np.abs(values), np.inf)
    least = np.frexp(np.minimum.reduceat(magnitudes, starts))[1] - 53
    finest = np.ldexp(1.0, np.maximum(least, _LEAST))
    finer = np.maximum(units * 2.0**-BITS, 2.0**_LEAST)
    rest, last = _halves(left, starts, finer)
    units_of_last = np.maximum(finest, np.maximum(finer * 2.0**-LAST_BITS, 2.0**_LEAST))
    sizes = [np.maximum.reduceat(np.abs(part), starts) for part in (rest, last)]
    lost = np.where((finest < units_of_last) & (sizes[1] > 0), units_of_last, 0.0)
    return [
        (first, Scale(largest, units, 0 * units)),
        (rest, Scale(sizes[0], np.maximum(finer, finest), 0 * units)),
        (last, Scale(sizes[1], units_of_last, lost)),
    ]


def together(first: Floats, rest: Floats, last: Floats) -> tuple[Floats, Floats]:
    """Three sums as a total and a rest that round to what they are together."""
    with np.errstate(invalid="ignore", over="ignore"):
        near, left = _sum(first, rest)
        left, lacking = _sum(left, last)
        total, left = _sum(near, left)
        found = left + lacking
        rows = np.flatnonzero(lacking)  # hardly ever any: elsewhere `left` is all that the total lacks
        if len(rows):
            found[rows] = _left(total[rows], left[rows], lacking[rows])
        finite = np.isfinite(total)
        return (total, found) if finite.all() else (np.where(finite, total, first), np.where(finite, found, rest))


def _left(total: Floats, left: Floats, lacking: Floats) -> Floats:
    """What totals lack, as near as a number can tell that is not rounded to another total with it."""
    half = (left != 0) & ((total + 2 * left) - total == 2 * left)  # what lacks decides
    found = np.where(half & (lacking != 0), np.nextafter(left, np.copysign(np.inf, lacking)), left + lacking)
    return np.where(~half & (total + found != total), np.nextafter(found, 0.0), found)


def _units(values: Floats, starts: Ints) -> tuple[Floats, Floats]:
    """For each run a power of two beyond its finite values, and what first parts are multiples of."""
    if not len(values):
        return np.zeros(len(starts)), np.ones(len(starts))
    magnitudes = np.abs(values)
    if not np.isfinite(magnitudes.max()):
        magnitudes = np.where(np.isfinite(magnitudes), magnitudes, 0.0)
    exponents = np.frexp(np.maximum.reduceat(magnitudes, starts))[1]
    with np.errstate(over="ignore"):
        return np.ldexp(1.0, exponents), np.ldexp(1.0, np.maximum(exponents - BITS, _SMALLEST))


def _halves(values: Floats, starts: Ints, units: Floats) -> tuple[Floats, Floats]:
    with np.errstate(invalid="ignore", over="ignore"):
        unit = np.repeat(units, np.diff(np.append(starts, len(values))))
        first = np.trunc(values / unit) * unit
        return first, np.where(np.isfinite(values), values - first, 0.0)


def quotients(totals: Floats, rests: Floats, counts: Floats) -> Floats:
    """Each total with its rest, divided by an integer below 2**53 and rounded once; NaN by 0."""
    with np.errstate(all="ignore"):
        near, left = _sum(totals, rests)
        found = np.asarray(near / counts)
        product, missing = _product(found, counts)
        better = found + ((near - product) - missing + left) / counts
        size = np.abs(found)
        plain = (size > 1 / _SAFE) & (size * counts < _SAFE)
        rows = np.flatnonzero(~plain & (near != 0) & (counts != 0) & np.isfinite(totals))
        found = np.where(plain, better, found)
    for row in rows.tolist():
        exact = Fraction(float(totals[row])) + Fraction(float(rests[row]))
        found[row] = nearest(exact / Fraction(float(counts[row])))
    return found


def _sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The sum rounded, and what it lacks, by Knuth."""
    found = a + b
    of_b = found - a
    return found, (a - (found - of_b)) + (b - of_b)


def _product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The product rounded, and what it lacks, by Dekker."""
    product = a * b
    high_a, high_b = _high(a), _high(b)
    low_a, low_b = a - high_a, b - high_b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


def _high(a: Floats) -> Floats:
    scaled = _SPLIT * a
    return np.asarray(scaled - (scaled - a))


def added(totals: ExactColumn, rests: ExactColumn) -> ExactColumn:
    """Totals with their rests: rounded once, or exact numbers where some total is one, as no double is near it."""
    if totals.dtype != object:
        with np.errstate(over="ignore"):
            return np.asarray(totals + rests)
    sums = [add_exactly(both) for both in zip(totals.tolist(), rests.tolist(), strict=True)]
    return np.array([*sums, None], dtype=object)[:-1]


def rounds_once(totals: Floats, rests: Floats, error: Floats, counts: Floats | None) -> Bools:
    """Whether totals with rests that are off by so much round to one number; with counts, their quotients as well."""
    if not error.any():
        return np.isfinite(rests) | ~np.isfinite(totals)
    with np.errstate(all="ignore"):
        # the error bound is itself rounded, as are the sums with it
        more = error * 1.0001 + ROUNDING * np.abs(rests) * (error != 0)
        low, high = rests - more, rests + more
        sure = (totals + low == totals + high) | ~np.isfinite(totals)
        if counts is not None:
            sure &= (
                (error == 0)
                | ~np.isfinite(totals)
                | (quotients(totals, low, counts) == quotients(totals, high, counts))
            )
        return np.asarray(sure)


def nearest(number: Fraction) -> float:
    """The nearest double; infinity beyond the largest, and 0.0 for what is too small, also below it."""
    try:
        return number.numerator / number.denominator + 0.0
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def pair(units: int) -> tuple[float, float]:
    """The double nearest to so many units of 2**-UNIT, and what it leaves, such that their sum rounds to the first."""
    try:
        total = units / _ONE
    except OverflowError:
        return (math.inf if units > 0 else -math.inf), 0.0
    rest = (units - in_units(total)) / _ONE
    # half of a unit, if it is a little less, is not rounded to it
    return total, rest if total + rest == total else math.nextafter(rest, 0.0)


def in_units(number: ExactNumber) -> int:
    """A finite sum of doubles as a multiple of 2**-UNIT."""
    above, below = number.as_integer_ratio()
    return above << UNIT - below.bit_length() + 1


def of_units(units: int) -> Fraction:
    return Fraction(units, _ONE)


def add_exactly(numbers: Sequence[ExactNumber]) -> ExactNumber:
    """The sum of exact numbers, among which infinite ones and NaN are as in float arithmetic."""
    special = [n for n in numbers if isinstance(n, float) and not math.isfinite(n)]
    if special:
        return math.fsum(special) if len(set(special)) == 1 else math.nan
    if all(isinstance(n, int) for n in numbers):
        return sum(numbers)
    sums: dict[int, int] = {}  # what has one denominator, of which there are few, before Fraction reduces anything
    for number in numbers:
        above, below = number.as_integer_ratio()
        sums[below] = sums.get(below, 0) + above
    return sum((Fraction(above, below) for below, above in sums.items()), Fraction())
