"""Exact sums of doubles: integers by the power of two that they are multiples of.

A double is a few integers of so many bits, one for each *bin* in which it has bits; bins are the same for all numbers.
Sums of such are exact in any order, and stay within 64 bits until there are more than any memory holds.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import repeat
from typing import TYPE_CHECKING, Final

import numpy as np

from ..cheap_dataclass import dataclass
from ..numbers.doubles import UNIT, of_units, pair, together
from .ragged import starts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..kernel.exact import ExactNumber
    from ..numbers.columns import Bools, Floats, Ints
    from .lists import AnyArray

BITS: Final = 26
"""Of the integers in a bin."""


@dataclass(frozen=True)
class Binned:
    """For each row a sum of doubles. `special` adds up what is infinite or NaN."""

    bins: Mapping[int, Ints]
    special: Floats

    def __len__(self) -> int:
        return len(self.special)

    def take(self, rows: Ints | Bools) -> Binned:
        return Binned({number: column[rows] for number, column in self.bins.items()}, self.special[rows])

    def added(self, starts: Ints) -> Binned:
        """One row for each run of rows; runs begin at `starts`."""
        with np.errstate(invalid="ignore"):
            special = np.add.reduceat(self.special, starts) if len(starts) else self.special
        bins = {n: np.add.reduceat(column, starts) if len(starts) else column for n, column in self.bins.items()}
        return Binned(bins, special)

    def numbers(self) -> tuple[AnyArray, AnyArray]:
        """The sums as totals and rests (doubles.py)."""
        totals: list[ExactNumber] = []
        rests: list[float] = []
        shifts = [_exponent(number) + UNIT for number in self.bins]
        rows = zip(*(column.tolist() for column in self.bins.values()), strict=True) if self.bins else repeat(())
        for special, row in zip(self.special.tolist(), rows, strict=False):
            if special != 0:
                totals.append(special)
                rests.append(0.0)
                continue
            units = sum(number << shift for number, shift in zip(row, shifts, strict=True) if number)
            total, rest = pair(units)
            totals.append(total if np.isfinite(total) else of_units(units))
            rests.append(rest)
        if any(isinstance(total, Fraction) for total in totals):
            return np.array([*totals, None], dtype=object)[:-1], np.array(rests)
        return np.array(totals, dtype=np.float64), np.array(rests, dtype=np.float64)


FEW: Final = 5
"""Bins next to each other are three doubles, without the first two each."""


def rounded(found: Binned) -> tuple[AnyArray, AnyArray]:
    """What `numbers` gives; at once where the bins are few."""
    most, least = max(found.bins, default=0), min(found.bins, default=0)
    if most - least >= FEW or least * BITS < -UNIT:
        return found.numbers()
    some = [found.bins.get(most - i, np.zeros(len(found), dtype=np.int64)) for i in range(FEW)]
    for i in range(FEW - 1, 0, -1):
        over = some[i] >> BITS
        some[i], some[i - 1] = some[i] - (over << BITS), some[i - 1] + over
    with np.errstate(over="ignore", invalid="ignore"):
        first = np.ldexp(some[0].astype(np.float64), most * BITS)
        pairs = ((some[i] << BITS) + some[i + 1] for i in (1, 3))
        rest, last = (
            np.ldexp(both.astype(np.float64), max((most - i) * BITS, -UNIT))
            for both, i in zip(pairs, (2, 4), strict=True)
        )
        totals, rests = together(first, rest, last)
    plain = found.special == 0
    if not np.isfinite(totals[plain]).all() or np.abs(some[0]).max(initial=0) >= 1 << 53:
        return found.numbers()
    return np.where(plain, totals, found.special), np.where(plain, rests, 0.0)


def binned(counts: Ints, values: Floats) -> Binned:
    """The sum of each list of values, list by list."""
    finite = np.isfinite(values)
    left = np.where(finite, values, 0.0)
    special = _lists(counts, np.where(finite, 0.0, values))
    bins: dict[int, Ints] = {}
    largest = float(np.abs(left).max(initial=0.0))
    number = int(np.frexp(largest)[1]) // BITS
    while left.any():
        unit = np.ldexp(1.0, _exponent(number))
        whole = np.trunc(left / unit)
        if whole.any():
            bins[number] = _lists(counts, whole.astype(np.int64))
            left = left - whole * unit
        number -= 1
    return Binned(bins, special)


def joined(parts: Sequence[Binned]) -> Binned:
    """The rows of one after those of the other."""
    numbers = dict.fromkeys(number for part in parts for number in part.bins)
    bins = {
        number: np.concatenate([part.bins.get(number, np.zeros(len(part), dtype=np.int64)) for part in parts])
        for number in numbers
    }
    return Binned(bins, np.concatenate([part.special for part in parts]))


def _exponent(number: int) -> int:
    return max(number * BITS, -UNIT)


def _lists(counts: Ints, values: AnyArray) -> AnyArray:
    totals = np.zeros(len(counts), dtype=values.dtype)
    some = counts > 0
    if some.any():
        with np.errstate(invalid="ignore"):
            totals[some] = np.add.reduceat(values, starts_of(counts)[some])
    return totals
