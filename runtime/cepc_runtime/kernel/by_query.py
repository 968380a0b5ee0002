"""What the loop emits for each query, gathered query by query while the loop's buffer is still near the processor."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from ..cheap_dataclass import dataclass
from .scatter import ByQuery, Scattered

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..numbers.columns import Ints
    from .planes import KeptPlanes

LARGEST: Final = 1 << 27
MORE: Final = 4.0
"""Areas made for rows to come have so many bytes at most, or so many times those of the rows that there are."""

CHANCE: Final = 3.0
FEW: Final = 32
"""What comes by chance is rarely more than so many times its root above what is expected; and so many besides."""


@dataclass(frozen=True)
class Emissions:
    """What the kernel found for one query: a row for each group and window with a match, and a column for each
    plane.
    """

    groups: Ints
    windows: Ints
    planes: npt.NDArray[Any]


class RowsByQuery:
    """The rows of queries, for each in an area that grows."""

    def __init__(self, kept: KeptPlanes, dtype: Any, scattering: Callable[..., Any]) -> None:
        self._scattering, self._queries = scattering, len(kept.of)
        self._emitted = np.array([own.count for own in kept.of], dtype=np.int64)
        self._asked = np.fromiter(chain.from_iterable(kept.asked), dtype=np.int64)
        self._widths = np.array([len(own) for own in kept.asked], dtype=np.int64)
        self._asked_end = np.cumsum(self._widths)
        self._lengths = np.zeros(self._queries, dtype=np.int64)
        self._rooms = np.zeros(self._queries, dtype=np.int64)
        self._starts, self._begins = self._rooms, self._rooms  # where an area's rows begin, and its numbers
        self._into = Scattered(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype))

    def add(self, rows: Ints, values: npt.NDArray[Any], done: float) -> None:
        """More rows (query, group, window), and the planes that are kept of each, one row after the other. `done` is
        the fraction of the events after which there are so many; 1 where no more come.
        """
        lengths = self._lengths + np.bincount(rows[:, 0], minlength=self._queries)
        if (lengths > self._rooms).any():
            self._make_room(lengths, done)
        first, end = self._asked_end - self._widths, self._asked_end
        places, begins = self._starts + self._lengths, self._begins + self._lengths
        of = ByQuery(self._emitted, self._asked, first, end, self._rooms, places, begins)
        self._scattering(rows, values, of, self._into)
        self._lengths = lengths

    def emissions(self) -> tuple[Emissions, ...]:
        """Those of each query. Each plane stands in one piece, which numpy goes through faster."""
        return tuple(map(self._emissions, range(self._queries)))

    def _emissions(self, query: int) -> Emissions:
        start, begin, length = int(self._starts[query]), int(self._begins[query]), int(self._lengths[query])
        room, width = int(self._rooms[query]), int(self._widths[query])
        groups, windows, planes = self._into
        own = planes[begin : begin + room * width].reshape(width, room)
        return Emissions(groups[start : start + length], windows[start : start + length], own[:, :length].T)

    def _make_room(self, lengths: Ints, done: float) -> None:
        """Larger areas: for all rows to come, if they come as they have so far."""
        held = np.flatnonzero(self._lengths).tolist()
        before = list(map(self._emissions, held))
        if done < 1:
            expected = lengths + CHANCE * np.sqrt(lengths)
            size = float((expected * (self._widths + 2)).sum()) * self._into.planes.itemsize
            more = min(1 / max(done, 1e-9), max(MORE, LARGEST / size))
            lengths = (expected * more).astype(np.int64) + FEW
        self._rooms = np.maximum(self._rooms, lengths)
        numbers = self._rooms * self._widths
        self._starts, self._begins = np.cumsum(self._rooms) - self._rooms, np.cumsum(numbers) - numbers
        rows, dtype = int(self._rooms.sum()), self._into.planes.dtype
        self._into = Scattered(
            np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64), np.empty(int(numbers.sum()), dtype)
        )
        for query, old in zip(held, before, strict=True):
            new = self._emissions(query)
            new.groups[:], new.windows[:], new.planes[:] = old.groups, old.windows, old.planes
