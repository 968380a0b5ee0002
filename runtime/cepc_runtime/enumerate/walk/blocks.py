"""Blocks of events, and blocks of such blocks, so that many events at once are seen to fail a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from .reading import NULL, WIDTH

if TYPE_CHECKING:
    from ...numbers.columns import Ints

_MOST: Final = np.iinfo(np.int64).max


class Blocks(NamedTuple):
    """Of all levels, one after the other from the smallest blocks to a single one: the letters that some event of a
    block has, and of each row of numbers the least and the greatest but for nulls; where the levels begin, and end.
    """

    letters: Ints
    least: Ints
    greatest: Ints
    levels: Ints


def blocks_of(letters: Ints, numbers: Ints) -> Blocks:
    """Of events with these letters, as bits, and these rows of numbers."""
    level = letters, np.where(numbers == NULL, _MOST, numbers), numbers
    found: list[tuple[Ints, Ints, Ints]] = []
    while not found or len(level[0]) > 1:
        starts = np.arange(0, len(level[0]), 1 << WIDTH)
        level = (
            np.bitwise_or.reduceat(level[0], starts),
            np.minimum.reduceat(level[1], starts, axis=1),
            np.maximum.reduceat(level[2], starts, axis=1),
        )
        found.append(level)
    some, least, greatest = ([level[part] for level in found] for part in range(3))
    levels = np.cumsum([0, *map(len, some)])
    return Blocks(np.concatenate(some), np.concatenate(least, axis=1), np.concatenate(greatest, axis=1), levels)


def no_blocks() -> Blocks:
    """For a walk that looks at events one by one."""
    none, nothing = np.empty(0, dtype=np.int64), np.empty((0, 0), dtype=np.int64)
    return Blocks(none, nothing, nothing, np.zeros(1, dtype=np.int64))
