"""The order of rows by whole numbers, in the cheapest way for these numbers. Rows with equal ones keep their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .columns import Ints

_MOST = 1 << 62


def order_of(keys: Sequence[Ints]) -> Ints:
    """By the first key, rows with equal ones by the next, and so on."""
    first, *others = keys
    if len(first) < 2:
        return np.arange(len(first))
    places = 1 << len(first).bit_length()
    packed, values = _packed(keys)
    if values * places <= _MOST:
        return _with_places(packed, places)
    rest, values_of_rest = _packed(others)
    if others and values_of_rest * places <= _MOST:
        order = _with_places(rest, places)
        return order[by_number((first - first.min())[order])]
    return np.argsort(packed, kind="stable") if values <= _MOST else np.lexsort(keys[::-1])


def by_number(numbers: npt.NDArray[Any]) -> Ints:
    """By numbers from 0, of which there are not many: by 16 bits at a time, which numpy sorts in linear time."""
    order = np.argsort(numbers.astype(np.uint16), kind="stable")
    for bits in range(16, int(numbers.max(initial=0)).bit_length(), 16):
        order = order[np.argsort((numbers >> bits).astype(np.uint16)[order], kind="stable")]
    return order


def _packed(keys: Sequence[Ints]) -> tuple[Ints, int]:
    """The keys as one number in the same order, and how many values it may have: it is none if these are more than
    fit.
    """
    packed, values = np.zeros(len(keys[0]) if keys else 0, dtype=np.int64), 1
    for key in keys:
        low, high = int(key.min()), int(key.max())
        values *= high - low + 1
        if values <= _MOST:
            packed = packed * (high - low + 1) + (key.astype(np.int64, copy=False) - low)
    return packed, values


def _with_places(packed: Ints, places: int) -> Ints:
    """Each number with its place behind it: numpy sorts numbers several times as fast as it finds their order."""
    placed = packed * places + np.arange(len(packed))
    placed.sort()
    return placed & (places - 1)
