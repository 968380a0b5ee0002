"""Integers of any size, and floats, as columns: of numpy while they are reckoned with, of Arrow where they travel or
are kept.

In numpy, integers are int64 where all of them fit, else Python's; those below 2^53 may be float64. In Arrow they take
as few bytes as they need: int8 to int64, and beyond that fixed-size binary, little-endian, in two's complement.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from .exactness import EXACT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .columns import ExactColumn, Floats

_SIZES: Final = (np.int8, np.int16, np.int32, np.int64)


def objects(numbers: Sequence[Any]) -> ExactColumn:
    """Python's numbers."""
    return np.array([*numbers, None], dtype=object)[:-1]


def whole(column: ExactColumn) -> ExactColumn:
    """Integers as int64 where these are sure to be exact."""
    if column.dtype == object:
        fits = all(-EXACT < number < EXACT for number in column.tolist())
        return column.astype(np.int64) if fits else column
    return column.astype(np.int64) if column.dtype == np.float64 and np.all(np.abs(column) < EXACT) else column


def integers(column: ExactColumn) -> ExactColumn:
    """Integers as Python's."""
    return objects([int(number) for number in column.tolist()])


def floats(column: ExactColumn) -> Floats:
    """The nearest float64, infinite where there is none."""
    if column.dtype != object:
        return column.astype(np.float64)
    return np.array([to_float(number) for number in column.tolist()], dtype=np.float64)


def to_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def one_after_the_other(columns: Sequence[ExactColumn]) -> ExactColumn:
    """Columns of the same numbers as one."""
    kinds = {column.dtype for column in columns}
    return np.concatenate([column.astype(object) for column in columns] if len(kinds) > 1 else columns)


# ---- of Arrow --------------------------------------------------------------------------------------------------------


def to_arrow(column: ExactColumn) -> Any:
    if column.dtype == object:
        numbers = [int(number) for number in column.tolist()]
        bits = max(((~number if number < 0 else number).bit_length() for number in numbers), default=0)  # and a sign
        if bits >= 64:
            return _wide(numbers, bits // 8 + 1)
        column = np.array(numbers, dtype=np.int64)
    if column.dtype != np.int64:
        return pa.array(column.astype(np.float64))
    low, high = column.min(initial=0), column.max(initial=0)
    return pa.array(column.astype(next(t for t in _SIZES if np.iinfo(t).min <= low and high <= np.iinfo(t).max)))


def _wide(numbers: Sequence[int], width: int) -> Any:
    data = b"".join(number.to_bytes(width, "little", signed=True) for number in numbers)
    return pa.Array.from_buffers(pa.binary(width), len(numbers), [None, pa.py_buffer(data)])


def from_arrow(array: Any) -> ExactColumn:
    """The column that was given to `to_arrow`, or one of the same numbers."""
    if pa.types.is_fixed_size_binary(array.type):
        return objects([int.from_bytes(data, "little", signed=True) for data in array.to_pylist()])
    return np.array(array.to_numpy(), dtype=np.float64 if pa.types.is_floating(array.type) else np.int64)
