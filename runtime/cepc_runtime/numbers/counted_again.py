"""Rows of the kernel's planes once more, exactly: many by further passes of the kernel in 64-bit integers, the others
one by one in long integers.

In a pass, three digits of the doubles that a sum adds up (pieces.py) stand where its three parts stood. So many passes
add up all digits that doubles of some group have, and what the digits' sums stand for is the sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from ..kernel.modulo import FITS, count_modulo, whole
from ..kernel.planes import PARTS, DoubleSumPlanes
from .columns import codes, combine_codes, dense
from .double_sums import COUNTED
from .doubles import in_units
from .pieces import bits_for, pieces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..kernel.by_query import Emissions
    from ..kernel.exact import ExactNumber, Recount
    from ..kernel.planes import ValueKey
    from .columns import Bools, Ints
    from .pieces import Pieces

AT_ONCE: Final = len(PARTS)
"""So many digits are added up in a pass."""

MANY: Final = 16
"""So many rows are worth another pass of the kernel."""

SLOWER: Final = 50
"""So many times slower than a pass of the kernel are Python's integers, event by event."""


def counted_again(recount: Recount, emissions: Emissions, again: Bools, unsure: Bools) -> dict[int, list[ExactNumber]]:
    """The additive planes of some rows, exactly where their measures have to be: integers in those `again`, sums of
    DOUBLE in those that are `unsure`; as `DoubleSums` has them.
    """
    numbers = emissions.planes[:, : recount.planes.additive]
    fits = np.all(np.abs(numbers) < FITS, axis=1)
    # where no integer has to be exact, it may pass 64 bits, but for the count
    adds = unsure & (fits | (~again & (numbers[:, 0] < FITS)))
    fits &= again
    sums = _Sums(recount, emissions, np.flatnonzero(adds))
    if not sums.worth:
        adds, fits = np.zeros_like(adds), fits & ~unsure
        sums = _Sums(recount, emissions, np.flatnonzero(adds))
    if np.count_nonzero(fits) < MANY and not adds.any():
        fits[:] = False
    rows = np.flatnonzero(fits | adds)
    exact: dict[int, list[ExactNumber]] = dict(zip(rows.tolist(), numbers[rows].tolist(), strict=True))
    if len(rows):
        integers = [p for p, plane in enumerate(recount.planes.planes, start=1) if whole(plane)]
        for row, found in zip(rows.tolist(), sums.add(rows, integers).tolist(), strict=True):
            if fits[row]:
                for place, number in zip((0, *integers), found, strict=True):
                    exact[row][place] = number
        for own, row, total in sums.found():
            exact[row][own.total], exact[row][own.rest], exact[row][own.last] = total, 0, 0
    for row in np.flatnonzero(again | unsure).tolist():
        if row not in exact:
            exact[row] = _in_long(recount, emissions, row)
    return exact


def _in_long(recount: Recount, emissions: Emissions, row: int) -> list[ExactNumber]:
    numbers = recount.row(int(emissions.groups[row]), int(emissions.windows[row]), float(emissions.planes[row, 0]))
    for own in _double_sums(recount):
        total = numbers[own.total]
        if not isinstance(total, float):  # which is infinite, or NaN
            numbers[own.total] = in_units(total)
    return numbers


def _double_sums(recount: Recount) -> list[DoubleSumPlanes]:
    return [own for own in dict.fromkeys(recount.planes.measures) if isinstance(own, DoubleSumPlanes)]


class _Sums:
    """The sums of DOUBLE in some rows, digit by digit."""

    def __init__(self, recount: Recount, emissions: Emissions, rows: Ints) -> None:
        self._recount, self._emissions, self._rows = recount, emissions, rows
        self._groups = emissions.groups[rows]
        self._own = _double_sums(recount) if len(rows) else []
        self._sums = [[0] * len(rows) for _ in self._own]
        self._pieces = self._digits() if self._own else {}

    def _digits(self) -> dict[int, Pieces]:
        """Those of each argument, by the place of its numbers."""
        values, groups = self._recount.values, self._recount.events.groups.astype(np.int64)
        counts = self._emissions.planes[self._rows][:, [own.count for own in self._own]]
        bits = bits_for(float(counts.max(where=counts < COUNTED, initial=0)))
        chosen = np.zeros(len(self._recount.events.group_starts) - 1, dtype=np.bool_)
        chosen[self._groups] = True
        keys = {self._place(own): self._keys(own) for own in self._own}
        return {place: pieces(values.doubles(own), groups, chosen, bits) for place, own in keys.items()}

    @property
    def slots(self) -> int:
        """How many digits there are, in the group that has most."""
        return max((len(found.exponents) for found in self._pieces.values()), default=0)

    @property
    def worth(self) -> bool:
        """Whether passes of the kernel cost less than to look at the events of these rows one by one."""
        windows = self._emissions.windows[self._rows]
        events = int(self._recount.lengths(self._groups, windows).sum()) if len(self._rows) else 0
        return events * SLOWER > self._recount.events.length * -(-self.slots // AT_ONCE)

    def add(self, rows: Ints, integers: list[int]) -> Ints:
        """Add up all slots. It returns the counts, and the integers in these places, of rows that include all."""
        first = self._pass(rows, 0, integers)
        for slot in range(AT_ONCE, self.slots, AT_ONCE):
            self._pass(self._rows, slot, [])
        return first

    def found(self) -> Iterator[tuple[DoubleSumPlanes, int, int]]:
        """Each sum with its row, in units of 2**-UNIT, but where a float is all that is known, or infinite, or NaN."""
        planes = self._emissions.planes[self._rows]
        for own, sums in zip(self._own, self._sums, strict=True):
            known = np.isfinite(planes[:, own.parts]).all(axis=1) & (planes[:, own.count] < COUNTED)
            for place in np.flatnonzero(known).tolist():
                yield own, int(self._rows[place]), sums[place]

    def _keys(self, own: DoubleSumPlanes) -> list[ValueKey]:
        return [self._recount.planes.planes[place - 1].value for place in own.parts]

    def _place(self, own: DoubleSumPlanes) -> int:
        return self._recount.values.index[self._keys(own)[0]]

    def _pass(self, rows: Ints, slot: int, integers: list[int]) -> Ints:
        """Add up the slots from this one on, at once. It returns the counts and the integers in these places, of the
        rows, which include all that have sums.
        """
        values, planes = self._recount.values, self._recount.planes.planes
        keys = list(dict.fromkeys(planes[place - 1].value for place in integers))
        index = {key: number for number, key in enumerate(keys)}
        begins = {place: len(keys) + AT_ONCE * number for number, place in enumerate(self._pieces)}
        matrix = np.zeros((len(keys) + AT_ONCE * len(begins), values.matrix.shape[1]), dtype=np.int64)
        matrix[: len(keys)] = values.modulo(keys)
        for place, begin in begins.items():
            for number in range(AT_ONCE):
                self._pieces[place].fill(matrix[begin + number], slot + number)
        for own in self._own:
            index |= {key: begins[self._place(own)] + number for number, key in enumerate(self._keys(own))}
        kept = list(dict.fromkeys((*integers, *(place for own in self._own for place in own.parts))))
        emitted = count_modulo(self._recount, kept, matrix, index)
        found = emitted.planes[_rows_of(emitted, self._emissions, rows)]
        of_sums = found[np.searchsorted(rows, self._rows)]
        for own, totals in zip(self._own, self._sums, strict=True):
            exponents = self._pieces[self._place(own)].exponents[slot : slot + AT_ONCE]
            for place, shifts in zip(own.parts, exponents, strict=False):  # the last slots may be less
                _add(totals, of_sums[:, 1 + kept.index(place)], shifts[self._groups])
        return found[:, : 1 + len(integers)]


def _add(totals: list[int], numbers: Ints, exponents: Ints) -> None:
    """Add numbers times 2**exponents to totals."""
    some = np.flatnonzero(numbers)
    for row, number, exponent in zip(some.tolist(), numbers[some].tolist(), exponents[some].tolist(), strict=True):
        totals[row] += number << exponent


def _rows_of(emitted: Emissions, emissions: Emissions, rows: Ints) -> Ints:
    """Where in what was emitted these rows are."""
    groups = np.concatenate((emitted.groups, emissions.groups[rows]))
    windows = codes(pa.array(np.concatenate((emitted.windows, emissions.windows[rows]))))
    both = [(groups, 1 + int(groups.max(initial=0))), windows]
    numbers, first = dense(combine_codes(both, len(groups))[0])
    return first[numbers[len(emitted.groups) :]]
