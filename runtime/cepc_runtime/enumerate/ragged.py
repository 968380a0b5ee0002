"""Lists of different lengths, row by row: `counts[i]` elements of row i, one row after the other in one flat array."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..numbers.columns import Ints


def starts_of(counts: Ints) -> Ints:
    """Where each row's list begins in the flat array."""
    return np.cumsum(counts) - counts


def expand(counts: Ints) -> tuple[Ints, Ints]:
    """For each element of the flat array its row, and its place in the row's list."""
    rows = np.repeat(np.arange(len(counts)), counts)
    return rows, np.arange(len(rows)) - np.repeat(starts_of(counts), counts)


def from_first(counts: Ints, flat: Ints, places: int) -> Ints:
    """Of each row's list the element so many places after the first, or -1."""
    return _at(counts, flat, starts_of(counts) + places, places)


def from_last(counts: Ints, flat: Ints, places: int) -> Ints:
    """The element so many places before the last, or -1."""
    return _at(counts, flat, np.cumsum(counts) - 1 - places, places)


def _at(counts: Ints, flat: Ints, where: Ints, places: int) -> Ints:
    found = np.full(len(counts), -1, dtype=np.int64)
    some = counts > places
    found[some] = flat[where[some]]
    return found


def product(lists: Sequence[Ints]) -> tuple[Ints, list[Ints]]:
    """Every tuple of one element of each of several lists, row by row: the row of each, and where in each flat array
    it is.

    `lists` are their counts; there is at least one.
    """
    total = np.prod(np.stack(lists), axis=0)
    rows, place = expand(total)
    indexes: list[Ints] = []
    for counts in reversed(lists):
        indexes.append(starts_of(counts)[rows] + place % np.maximum(counts[rows], 1))
        place = place // np.maximum(counts[rows], 1)
    return rows, indexes[::-1]


def slices(counts: Ints, limit: int) -> Iterator[tuple[int, int]]:
    """Runs of rows, from and to, of at most `limit` elements together; a row that alone has more is a run by itself."""
    ends = np.cumsum(counts)
    start, done = 0, 0
    while start < len(counts):
        stop = max(int(np.searchsorted(ends, done + limit, side="right")), start + 1)
        yield start, stop
        done = int(ends[stop - 1])
        start = stop
