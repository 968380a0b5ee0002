"""Doubles as integers of few bits, however far apart in magnitude: what 64-bit integers add up exactly.

Every double is a multiple of 2**-1074. Counted in it, a double is a long integer, of which few digits are not zero if a
digit has many bits. Which ones these are differs from group to group: a group keeps only digits that some value in it
has, lowest first, each in a *slot*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..cheap_dataclass import dataclass
from .doubles import UNIT

if TYPE_CHECKING:
    from .columns import Bools, Floats, Ints

MANTISSA: Final = 53
_OF_INT: Final = 62


@dataclass(frozen=True)
class Pieces:
    """The digits of values that are not 0: `digits[i]`, with the value's sign, is of `events[i]` and in `slots[i]`. A
    digit in a slot and a group is in units of 2**(exponents[slot, group] - UNIT).
    """

    events: Ints
    slots: Ints
    digits: Ints
    exponents: Ints

    def fill(self, row: Ints, slot: int) -> None:
        """Write a slot's digits, event by event."""
        row[:] = 0
        own = self.slots == slot
        row[self.events[own]] = self.digits[own]


def bits_for(count: float) -> int:
    """Of digits of which so many have a sum of 63 bits; there are less than 2**MANTISSA."""
    return min(MANTISSA, _OF_INT - int(np.frexp(count)[1]))


def pieces(values: Floats, groups: Ints, chosen: Bools, bits: int) -> Pieces:
    """Digits of so many bits, of finite values in the chosen groups; each value is in one of the groups."""
    events = np.flatnonzero(chosen[groups] & np.isfinite(values) & (values != 0))
    some = values[events]
    places = np.maximum(np.frexp(some)[1].astype(np.int64) - MANTISSA, -UNIT)
    left = np.abs(np.ldexp(some, -places)).astype(np.int64)
    numbers, shifts = np.divmod(places + UNIT, bits)
    found = [(events[:0], numbers[:0], left[:0])]
    negative = some < 0
    while len(events):
        room = bits - shifts
        digits = (left & ((1 << room) - 1)) << shifts
        there = digits != 0
        found.append((events[there], numbers[there], np.where(negative, -digits, digits)[there]))
        left = left >> room
        more = left != 0
        events, numbers, left, negative = events[more], numbers[more] + 1, left[more], negative[more]
        shifts = np.zeros_like(left)
    events, numbers, digits = (np.concatenate(column) for column in zip(*found, strict=True))
    return _in_slots(events, groups[events], numbers, digits, bits, len(chosen))


def _in_slots(events: Ints, groups: Ints, numbers: Ints, digits: Ints, bits: int, length: int) -> Pieces:
    """The digits with these numbers, 0 for the lowest that a double can have, in the slots of so many groups."""
    every = 1 + int(numbers.max(initial=0))
    kept, place = np.unique(groups * every + numbers, return_inverse=True)
    own = kept // every
    slots = np.arange(len(kept)) - np.searchsorted(own, own)
    exponents = np.zeros((1 + int(slots.max(initial=-1)), length), dtype=np.int64)
    exponents[slots, own] = kept % every * bits
    return Pieces(events, slots[place], digits, exponents)
