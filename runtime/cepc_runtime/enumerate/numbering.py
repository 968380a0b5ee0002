"""The number of a match among those of its partition, where AFTER MATCH goes from one to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..numbers.columns import Ints


class Numbering:
    """Counts the matches of each group: 1, 2, …, in the order in which they begin."""

    def __init__(self, group: Ints) -> None:
        """`group` is that of each event."""
        self._group = group
        self._met = np.zeros(int(group[-1]) + 1 if len(group) else 0, dtype=np.int64)

    def next(self, first: Ints) -> Ints:
        """Of the next matches of each group, which begin at these positions, ascending."""
        group = self._group[first]
        groups, starts, counts = np.unique(group, return_index=True, return_counts=True)
        place = np.arange(len(first)) - np.repeat(starts, counts)
        numbers = self._met[group] + place + 1
        self._met[groups] += counts
        return numbers
