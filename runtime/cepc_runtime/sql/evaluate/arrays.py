"""Between Arrow, numpy and Python values.

Python values are Spark's internal ones (`expression.Value`): dates in days, timestamps and intervals in microseconds.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..expression import Call, Literal
from ..types import DATE, TIMES, Array, DataType, Interval, Map, Struct, to_arrow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Value = Any
"""A column (pa.Array), or a constant that stands for a column of any length (pa.Scalar)."""

NumpyValues = np.ndarray[Any, Any]

arrow_type = lru_cache(maxsize=256)(to_arrow)


def as_array(value: Value, length: int) -> pa.Array:
    """The value as an array of the length."""
    if isinstance(value, pa.Array):
        return value
    return pa.repeat(value, length) if value.is_valid else pa.nulls(length, value.type)


def conform(array: Any, type_: DataType) -> pa.Array:
    """A column as it arrives, in the Arrow type in which the evaluator keeps the Spark type. Of arrays that many rows
    share there may be views, whose elements alone can be asked for.
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_list_view(array.type):
        return array
    wanted = arrow_type(type_)
    return array if array.type == wanted else array.cast(wanted, safe=False)


def parameter(call: Call, index: int) -> Any:
    """The value of an argument that has to be a literal."""
    argument = call.arguments[index]
    if not isinstance(argument, Literal):
        raise TypeError(f"`{call.function}` requires a literal")
    return argument.value


def is_stored_as_integer(type_: DataType) -> bool:
    """Whether Python values of the type are integers where Arrow would give dates and times."""
    return type_ in TIMES or isinstance(type_, Interval)


def to_values(array: pa.Array, type_: DataType) -> list[Any]:
    """The values of a column, None for null; structs as tuples, maps as lists of pairs."""
    if is_stored_as_integer(type_):
        return array.view(pa.int32() if type_ == DATE else pa.int64()).to_pylist()  # type: ignore[no-any-return]
    match type_:
        case Array(element):
            return _nested_lists(array, element)
        case Struct(fields):
            columns = [to_values(array.field(i), f.type) for i, f in enumerate(fields)]
            rows = zip(*columns, strict=True) if columns else (() for _ in range(len(array)))
            valid = array.is_valid().to_pylist()
            return [row if v else None for row, v in zip(rows, valid, strict=True)]
        case Map(key, value):
            return _maps(array, key, value)
    return array.to_pylist()  # type: ignore[no-any-return]


def _nested_lists(array: pa.Array, element: DataType) -> list[Any]:
    offsets = array.offsets.to_pylist()
    values = to_values(array.values, element)
    valid = array.is_valid().to_pylist()
    return [values[offsets[i] : offsets[i + 1]] if v else None for i, v in enumerate(valid)]


def _maps(array: pa.Array, key: DataType, value: DataType) -> list[Any]:
    offsets = array.offsets.to_pylist()
    keys, values = to_values(array.keys, key), to_values(array.items, value)
    valid = array.is_valid().to_pylist()
    pairs = list(zip(keys, values, strict=True))
    return [pairs[offsets[i] : offsets[i + 1]] if v else None for i, v in enumerate(valid)]


def from_values(values: Sequence[Any], type_: DataType) -> pa.Array:
    """The inverse of `to_values`."""
    if is_stored_as_integer(type_):
        return pa.array(values, pa.int32() if type_ == DATE else pa.int64()).view(arrow_type(type_))
    match type_:
        case Array(element):
            flat = from_values([v for row in values if row is not None for v in row], element)
            return pa.ListArray.from_arrays(_offsets(values), flat, type=arrow_type(type_))
        case Map(key, value):
            pairs = [pair for row in values if row is not None for pair in row]
            keys, items = from_values([k for k, _ in pairs], key), from_values([v for _, v in pairs], value)
            return pa.MapArray.from_arrays(_offsets(values), keys, items, type=arrow_type(type_))
        case Struct(fields):
            columns = [
                from_values([None if row is None else row[i] for row in values], f.type) for i, f in enumerate(fields)
            ]
            mask = pa.array([row is None for row in values], pa.bool_())
            return pa.StructArray.from_arrays(columns, fields=list(arrow_type(type_)), mask=mask)
    return pa.array(values, arrow_type(type_))


def _offsets(rows: Iterable[Any]) -> pa.Array:
    """Where each row's values start; null for a null row."""
    position, offsets = 0, []
    for row in rows:
        offsets.append(None if row is None else position)
        position += len(row) if row is not None else 0
    return pa.array([*offsets, position], pa.int32())


def row_wise(
    function: Callable[..., Any], arguments: Sequence[pa.Array], types: Sequence[DataType], to: DataType
) -> pa.Array:
    """The function of each row, null where an argument is."""
    columns = [to_values(a, t) for a, t in zip(arguments, types, strict=True)]
    return from_values([None if None in row else function(*row) for row in zip(*columns, strict=True)], to)


# ---- numpy -----------------------------------------------------------------------------------------------------------


def numbers(array: pa.Array) -> np.ndarray[Any, Any]:
    """The values of a column of integers, floats or times as numpy has them, 0 for null. Times are integers."""
    if pa.types.is_temporal(array.type):
        array = array.view(pa.int32() if pa.types.is_date32(array.type) else pa.int64())
    if array.null_count:
        array = array.fill_null(False if pa.types.is_boolean(array.type) else 0)
    result: np.ndarray[Any, Any] = array.to_numpy(zero_copy_only=False)
    return result


def valid(*arrays: pa.Array) -> np.ndarray[Any, Any] | None:
    """Where none of the columns is null; None where that is everywhere."""
    masks = [a.is_valid().to_numpy(zero_copy_only=False) for a in arrays if a.null_count]
    if not masks:
        return None
    result: np.ndarray[Any, Any] = np.logical_and.reduce(masks)
    return result


def from_numpy(values: np.ndarray[Any, Any], where: np.ndarray[Any, Any] | None, to: DataType) -> pa.Array:
    """The column of the values, null where `where` is not."""
    wanted = arrow_type(to)
    mask = None if where is None else ~where
    if is_stored_as_integer(to):
        width = np.int32 if to == DATE else np.int64
        return pa.array(values.astype(width, copy=False), mask=mask).view(wanted)
    return pa.array(values, type=wanted, mask=mask)


def any_true(mask: np.ndarray[Any, Any], where: np.ndarray[Any, Any] | None) -> bool:
    """Whether the mask holds in some row that counts."""
    return bool(mask.any() if where is None else (mask & where).any())
