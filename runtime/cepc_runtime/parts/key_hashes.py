"""Numbers for the values of keys: equal values have the same number in every batch, others mostly another. What is
equal is said in `columns.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..numbers.columns import flat, hashable, nested_values, plain_floats

if TYPE_CHECKING:
    from collections.abc import Sequence

Hashes = npt.NDArray[np.uint64]

_NULL: Final = 0x9E3779B97F4A7C15
_ODD: Final = 0x100000001B3
_SHIFTS: Final = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))


def parts_by_key(columns: Sequence[Any], parts: int) -> npt.NDArray[np.uint16]:
    """Of each row a number below `parts`: the same for rows with equal keys."""
    found = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        found = _mixed(found * np.uint64(_ODD) + _hashes(flat(column)))
    return (found % np.uint64(parts)).astype(np.uint16)


def _hashes(column: Any) -> Hashes:
    if pa.types.is_nested(column.type):
        return np.array([hash(hashable(value)) & (1 << 64) - 1 for value in nested_values(column)], dtype=np.uint64)
    if pa.types.is_floating(column.type):
        numbers = pc.fill_null(plain_floats(column), 0).cast(pa.float64())
        found = np.asarray(numbers.to_numpy(zero_copy_only=False)).view(np.uint64)
    elif pa.types.is_integer(column.type) or pa.types.is_boolean(column.type) or pa.types.is_temporal(column.type):
        found = _of_integers(column)
    else:
        encoded = column.dictionary_encode()
        places = pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)
        values = encoded.dictionary
        found = _of_bytes(values if pa.types.is_binary(values.type) else values.cast(pa.string()).cast(pa.binary()))
        found = found[places] if len(found) else np.zeros(len(column), dtype=np.uint64)
    return np.where(pc.is_null(column).to_numpy(zero_copy_only=False), np.uint64(_NULL), found)


def _of_integers(column: Any) -> Hashes:
    if pa.types.is_date32(column.type) or pa.types.is_time32(column.type):
        column = column.cast(pa.int32())
    elif pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    numbers = pc.fill_null(column.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
    return np.asarray(numbers, dtype=np.int64).view(np.uint64)


def _of_bytes(column: Any) -> Hashes:
    """The sum of the bytes, each times a number of its place: sums of what is before the end, less before the start."""
    lengths = np.asarray(pc.binary_length(column), dtype=np.int64)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    data = np.frombuffer(column.buffers()[2] or b"", dtype=np.uint8)
    first = np.frombuffer(column.buffers()[1], dtype=np.int32)[column.offset] if len(column) else 0
    data = data[first : first + int(lengths.sum())]
    places = (np.arange(len(data)) - np.repeat(starts, lengths) + 1).astype(np.uint64)
    sums = np.concatenate([[np.uint64(0)], np.cumsum((data + np.uint64(1)) * _mixed(places), dtype=np.uint64)])
    return np.asarray(sums[ends] - sums[starts], dtype=np.uint64)


def _mixed(numbers: Hashes) -> Hashes:
    """Each bit of a number changes about half of the bits."""
    for shift, factor in _SHIFTS:
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers
