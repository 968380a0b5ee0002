"""Rows that are equal in some columns: numbers for them, and the first of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..numbers.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..numbers.columns import Ints


def numbered(columns: Sequence[npt.NDArray[Any]]) -> tuple[Ints, Ints]:
    """The rows sorted by the columns, and a number for each row in that order: equal rows have the same, 0 first."""
    order = order_of(columns)
    changes = np.zeros(len(order), dtype=np.bool_)
    for column in columns:
        ordered = column[order]
        changes[1:] |= ordered[1:] != ordered[:-1]
    return order, np.cumsum(changes)


def number_of_each(columns: Sequence[npt.NDArray[Any]]) -> Ints:
    """A number for each row, in the rows' own order: equal rows have the same."""
    order, numbers = numbered(columns)
    found = np.empty(len(order), dtype=np.int64)
    found[order] = numbers
    return found


def first_of_each(columns: Sequence[npt.NDArray[Any]]) -> Ints:
    """The first of all rows that are equal in the columns, in order."""
    order, numbers = numbered(columns)
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = numbers[1:] != numbers[:-1]
    return np.sort(order[first])
