"""Windows as slices: the events of one group that lie in one window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...cheap_dataclass import dataclass
from ...plan.windows import Sliding, Window

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...numbers.columns import Ints


@dataclass(frozen=True)
class Slices:
    """Slice i holds the events `own[first[i]:end[i]]` of `groups[i]` in window `windows[i]`; none is empty."""

    own: Ints
    groups: Ints
    windows: Ints
    first: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.windows)

    @property
    def longest(self) -> int:
        return int((self.end - self.first).max(initial=0))

    def part(self, start: int, end: int) -> Slices:
        return Slices(
            self.own, self.groups[start:end], self.windows[start:end], self.first[start:end], self.end[start:end]
        )

    def batches(self, most: int) -> Iterator[Slices]:
        """The slices in parts of at most so many events, if one slice alone has not more."""
        sizes = np.cumsum(self.end - self.first)
        start = 0
        while start < len(self):
            done = int(sizes[start - 1]) if start else 0
            end = max(start + 1, int(np.searchsorted(sizes, done + most, side="right")))
            yield self.part(start, end)
            start = end

    def events(self) -> Ints:
        """The events of all slices, one slice after the other."""
        return self.own[ranges(self.first, self.end)]

    def bounds(self) -> Ints:
        """Where each slice starts in `events()`, and the end."""
        return np.concatenate(([0], np.cumsum(self.end - self.first)))


def ranges(first: Ints, end: Ints) -> Ints:
    """The numbers of `first[i]:end[i]`, one range after the other."""
    lengths = end - first
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(first - (ends - lengths), lengths), dtype=np.int64)


def slices_of(own: Ints, groups: Ints, ticks: Ints, window: Window) -> Slices:
    """The windows of each group that hold one of the events `own`, whose groups and ticks are given (in order)."""
    if not len(own):
        return Slices(own, own, own, own, own)
    starts = np.flatnonzero(np.concatenate(([True], groups[1:] != groups[:-1])))
    ends = np.append(starts[1:], len(own))
    if not isinstance(window, Sliding):
        return Slices(own, groups[starts], np.zeros(len(starts), dtype=np.int64), starts, ends)
    low, high = window.first_holding(ticks), window.last_holding(ticks)
    before = np.concatenate(([0], high[:-1]))
    is_first = np.zeros(len(own), dtype=np.bool_)
    is_first[starts] = True
    new_from = np.where(is_first, low, np.maximum(low, before + 1))  # windows that no earlier event of the group is in
    new_end = np.maximum(high + 1, new_from)
    windows = ranges(new_from, new_end)
    first = np.repeat(np.arange(len(own)), new_end - new_from)
    group_end = np.repeat(np.repeat(ends, ends - starts), new_end - new_from)
    return Slices(own, groups[first], windows, first, _ends(first, group_end, ticks, window.end(windows)))


def _ends(first: Ints, group_end: Ints, ticks: Ints, bounds: Ints) -> Ints:
    """For each window the first event of its group that is not before the bound: a binary search for all at once."""
    low, high = first.copy(), group_end.copy()
    while True:
        open_ = low < high
        if not open_.any():
            return low
        middle = (low + high) // 2
        before = open_ & (ticks[np.minimum(middle, len(ticks) - 1)] < bounds)
        low = np.where(before, middle + 1, low)
        high = np.where(open_ & ~before, middle, high)
