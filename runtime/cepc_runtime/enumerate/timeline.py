"""Sorted events as enumeration sees them: an event is its position, and a range of events is a range of positions.

Positions run over all groups, so that one `searchsorted` or one look-up serves every group at once.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..numbers.columns import Bools, Ints

_FAR = np.iinfo(np.int64).max // 2


@dataclass(frozen=True)
class Timeline:
    """Events by group, then instant, then canonically.

    `group_starts` and `instant_starts` say where each group and instant begins, with the number of events at the end;
    an instant lies in one group. `satisfies(i)` says which events satisfy letter i.
    """

    ticks: Ints
    group_starts: Ints
    instant_starts: Ints
    satisfies: Callable[[int], Bools]
    _letters: dict[int, tuple[Ints, Ints]] = field(default_factory=dict, repr=False)

    @property
    def length(self) -> int:
        return len(self.ticks)

    @cached_property
    def group(self) -> Ints:
        """The group of each event."""
        return np.repeat(np.arange(len(self.group_starts) - 1), np.diff(self.group_starts))

    @cached_property
    def group_end(self) -> Ints:
        """For each event where its group ends."""
        return np.repeat(self.group_starts[1:], np.diff(self.group_starts))

    @cached_property
    def instant_start(self) -> Ints:
        """For each event where its instant begins; for the position after the last event that position."""
        return np.append(np.repeat(self.instant_starts[:-1], np.diff(self.instant_starts)), self.length)

    @cached_property
    def instant_end(self) -> Ints:
        """For each event where the next instant begins; the position after the last event has itself."""
        return np.append(np.repeat(self.instant_starts[1:], np.diff(self.instant_starts)), self.length)

    def events_of(self, letter: int) -> Ints:
        """The positions of the events that satisfy the letter, ascending."""
        return self._letter(letter)[0]

    def events_of_any(self, letters: Iterable[int]) -> Ints:
        """The positions of the events that satisfy one of the letters, ascending."""
        some = np.zeros(self.length, dtype=np.bool_)
        for letter in letters:
            some |= self.satisfies(letter)
        return np.flatnonzero(some)

    def rank(self, letter: int) -> Ints:
        """For each position how many events before it satisfy the letter: where a range of positions begins in
        `events_of`.
        """
        return self._letter(letter)[1]

    def _letter(self, letter: int) -> tuple[Ints, Ints]:
        if letter not in self._letters:
            mask = self.satisfies(letter)
            rank = np.zeros(self.length + 1, dtype=np.int64)
            np.cumsum(mask, out=rank[1:])
            self._letters[letter] = np.flatnonzero(mask), rank
        return self._letters[letter]

    def reach(self, events: Ints, span: int | None) -> Ints:
        """For each event given the first position of its group that is `span` ticks or more later: what is before it
        still fits.

        None is a span without bound.
        """
        if span is None:
            return self.group_end[events]
        end = self.first_from(self.group[events], _moved(self.ticks[events], span))
        beyond = self.ticks[events] > np.iinfo(np.int64).max - span  # no 64 bits are so late, and so no event
        return np.where(beyond, self.group_end[events], end)

    def since(self, events: Ints, span: int | None) -> Ints:
        """For each event given the first position of its group that is less than `span` ticks earlier."""
        if span is None:
            return self.group_starts[self.group[events]]
        return self.first_from(self.group[events], _moved(self.ticks[events], 1 - span))

    def first_from(self, group: Ints, tick: Ints) -> Ints:
        """For each pair the first position in the group at `tick` or later; the group's end if there is none."""
        low, high = self.group_starts[group], self.group_starts[group + 1]
        keys = self._keys
        if keys is not None:
            origin, stride, line = keys
            offset = np.clip(tick, origin, origin + stride - 1) - origin
            found = np.searchsorted(line, group * stride + offset)
            return np.where(tick >= origin + stride, high, found)
        for _ in range(int((high - low).max(initial=0)).bit_length()):  # a binary search of all at once
            middle = (low + high) >> 1
            earlier = (low < high) & (self.ticks[np.minimum(middle, self.length - 1)] < tick)
            low, high = np.where(earlier, middle + 1, low), np.where(earlier, high, np.maximum(middle, low))
        return low

    @cached_property
    def _keys(self) -> tuple[int, int, Ints] | None:
        """The least tick, how many there are, and all groups' ticks one after the other in one ascending line; None
        where that is too long for 64 bits.
        """
        if not self.length:
            return None
        origin = int(self.ticks.min())
        stride = int(self.ticks.max()) - origin + 1
        if stride * len(self.group_starts) >= _FAR:
            return None
        return origin, stride, self.group * stride + (self.ticks - origin)


def _moved(ticks: Ints, span: int) -> Ints:
    """Ticks moved by `span`, staying within 64 bits."""
    limits = np.iinfo(np.int64)
    if span >= 0:
        return np.minimum(ticks, limits.max - span) + span
    return np.maximum(ticks, limits.min - span) + span
