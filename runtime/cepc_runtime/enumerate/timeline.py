"""Sorted events as enumeration sees them: an event is its position, and a range of events is a range of positions.

Positions run over all groups, so that one `searchsorted` or one look-up serves every group at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_FAR = np.iinfo(np.int64).max // 2


@dataclass(frozen=True)
class Timeline:
    """Events by group, then instant, then canonically.

    `group_starts` and `instant_starts` say where each group and instant begins, with the number of events at the end;
    an instant lies in one group. `masks[i]` says which events satisfy letter i.
    """

    ticks: Ints
    group_starts: Ints
    instant_starts: Ints
    masks: Sequence[Bools]
    _letters: dict[int, tuple[Ints, Ints]] = field(default_factory=dict, repr=False)
    _reach: dict[int | None, Ints] = field(default_factory=dict, repr=False)
    _since: dict[int, Ints] = field(default_factory=dict, repr=False)

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

    def rank(self, letter: int) -> Ints:
        """For each position how many events before it satisfy the letter: where a range of positions begins in
        `events_of`.
        """
        return self._letter(letter)[1]

    def _letter(self, letter: int) -> tuple[Ints, Ints]:
        if letter not in self._letters:
            mask = self.masks[letter]
            rank = np.zeros(self.length + 1, dtype=np.int64)
            np.cumsum(mask, out=rank[1:])
            self._letters[letter] = np.flatnonzero(mask), rank
        return self._letters[letter]

    def reach(self, span: int | None) -> Ints:
        """For each event the first position of its group that is `span` ticks or more later: what is before it still
        fits.

        None is a span without bound.
        """
        if span not in self._reach:
            self._reach[span] = (
                self.group_end if span is None else self.first_from(self.group, _later(self.ticks, span))
            )
        return self._reach[span]

    def since(self, span: int | None) -> Ints:
        """For each event the first position of its group that is less than `span` ticks earlier. None is a span
        without bound.
        """
        if span is None:
            return np.repeat(self.group_starts[:-1], np.diff(self.group_starts))
        if span not in self._since:
            self._since[span] = self.first_from(self.group, _later(self.ticks, 1 - span))
        return self._since[span]

    def first_from(self, group: Ints, tick: Ints) -> Ints:
        """For each pair the first position in the group at `tick` or later; the group's end if there is none."""
        low, high = self.group_starts[group], self.group_starts[group + 1]
        if not len(low):
            return low
        for _ in range(int((high - low).max()).bit_length()):
            middle = (low + high) >> 1
            earlier = (low < high) & (self.ticks[np.minimum(middle, self.length - 1)] < tick)
            low = np.where(earlier, middle + 1, low)
            high = np.where(earlier, high, np.maximum(middle, low))
        return low


def _later(ticks: Ints, span: int) -> Ints:
    """Ticks moved by `span`, staying within 64 bits."""
    limits = np.iinfo(np.int64)
    span = max(-_FAR, min(_FAR, span))
    if span >= 0:
        return np.minimum(ticks, limits.max - span) + span
    return np.maximum(ticks, limits.min - span) + span
