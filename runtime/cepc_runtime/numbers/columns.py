"""Arrow columns as numbers: equality as in GROUP BY, order as in ORDER BY, exact integers.

Equality and order are Spark SQL's: null equals null and comes first, NaN equals NaN and is the greatest number, -0.0 is
0.0.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Matrix = npt.NDArray[np.float64]
"""Of two dimensions."""

Small = npt.NDArray[np.int32]
ExactColumn = npt.NDArray[Any]
"""int64 or float64, or Python's exact numbers where one is too large for either."""

_DENSE: Final = 1 << 62


def flat(column: Any) -> Any:
    """The column as one array: not chunked, not dictionary-encoded."""
    if isinstance(column, pa.ChunkedArray):
        column = (
            column.chunk(0)
            if column.num_chunks == 1
            else pa.concat_arrays(column.chunks or [pa.array([], column.type)])
        )
    if pa.types.is_dictionary(column.type):
        return flat(decoded(column))
    return column


def decoded(column: Any) -> Any:
    """A dictionary-encoded column with its values written out. Those of a view become plain ones first: Arrow takes
    nothing out of an array of views by number.
    """
    plain = _PLAIN.get(column.type.value_type)
    if plain is not None:
        column = column.cast(pa.dictionary(column.type.index_type, plain))
    return column.dictionary_decode()


_PLAIN: Final = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


def joined(columns: Sequence[Any]) -> Any:
    """One column after the other, of the type of the first."""
    return pa.concat_arrays([flat(column).cast(flat(columns[0]).type) for column in columns])


def as_bools(column: Any) -> Bools:
    """True where the boolean column is true: neither false nor null."""
    if pa.types.is_null(column.type):
        return np.zeros(len(column), dtype=np.bool_)
    return np.asarray(pc.fill_null(flat(column), False).to_numpy(zero_copy_only=False), dtype=np.bool_)


def nulls(column: Any) -> Bools:
    if not column.null_count and not pa.types.is_null(column.type) and not pa.types.is_dictionary(column.type):
        return np.zeros(len(column), dtype=np.bool_)
    return np.asarray(pc.is_null(flat(column)).to_numpy(zero_copy_only=False), dtype=np.bool_)


# ---- equality --------------------------------------------------------------------------------------------------------


def codes(column: Any) -> tuple[Ints, int]:
    """Equal values as equal numbers from 0 in the order of first occurrence, and how many there are."""
    column = flat(column)
    if pa.types.is_nested(column.type):
        return _codes_of_keys([hashable(v) for v in nested_values(column)])
    encoded = plain_floats(column).dictionary_encode(null_encoding="encode")
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False), dtype=np.int64), len(encoded.dictionary)


def combine_codes(columns: list[tuple[Ints, int]], length: int) -> tuple[Ints, int]:
    """Equal rows as equal numbers from 0 to the number returned, which need not all occur."""
    combined, size = np.zeros(length, dtype=np.int64), 1
    for column, count in columns:
        if size * max(count, 1) >= _DENSE:
            values, combined = np.unique(combined, return_inverse=True)
            size = len(values)
        combined, size = combined * count + column, size * max(count, 1)
    return combined, size


def dense(values: Ints) -> tuple[Ints, Ints]:
    """The numbers as dense ones from 0, in the order of first occurrence, and where each first occurs."""
    numbers, count = codes(pa.array(values))
    return numbers, _first_of(numbers, count)


def dense_rows(columns: Sequence[Any]) -> tuple[Ints, Ints]:
    """Equal rows of one column at least as `dense` numbers, and where each first occurs."""
    first, *more = map(codes, columns)
    if not more:  # they are dense already
        return first[0], _first_of(*first)
    return dense(combine_codes([first, *more], len(first[0]))[0])


def _first_of(numbers: Ints, count: int) -> Ints:
    first = np.empty(count, dtype=np.int64)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return first


def plain_floats(column: Any) -> Any:
    """Floats with one zero and one NaN; anything else as it is."""
    if not pa.types.is_floating(column.type):
        return column
    values = pc.fill_null(column, 0.0).to_numpy(zero_copy_only=False)
    values = np.where(np.isnan(values), np.nan, values) + 0.0  # -0.0 + 0.0 is 0.0
    return pa.array(values, column.type, mask=nulls(column))


def _codes_of_keys(keys: list[Any]) -> tuple[Ints, int]:
    found: dict[Any, int] = {}
    numbers = [found.setdefault(key, len(found)) for key in keys]
    return np.array(numbers, dtype=np.int64), len(found)


def nested_values(column: Any) -> list[Any]:
    """The values of a column of a nested type as Python's, with numbers for times, which Python has from year 1 to 9999
    alone.
    """
    found: list[Any] = column.cast(_with_numbers(column.type)).to_pylist()
    return found


def _with_numbers(type_: Any) -> Any:
    """The type with integers in the place of times."""
    is_ = pa.types
    if is_.is_timestamp(type_) or is_.is_duration(type_):
        return pa.int64()
    if is_.is_date32(type_):
        return pa.int32()
    if is_.is_list(type_):
        return pa.list_(_with_numbers(type_.value_type))
    if is_.is_map(type_):
        return pa.map_(_with_numbers(type_.key_type), _with_numbers(type_.item_type))
    if is_.is_struct(type_):
        return pa.struct([field.with_type(_with_numbers(field.type)) for field in type_])
    return type_


def hashable(value: Any) -> Any:
    """A hashable stand-in for a value of a nested type."""
    match value:
        case float() if math.isnan(value):
            return "NaN", None
        case dict():
            return tuple((k, hashable(v)) for k, v in value.items())
        case list() | tuple():
            return tuple(hashable(v) for v in value)
    return value


# ---- order -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ranks:
    """`numbers` are dense ranks from 0, -1 for null; `values[r]` is the value of rank r."""

    numbers: Ints
    values: Any


def ranks(column: Any) -> Ranks:
    """Each value's place among the different values of the column."""
    column = flat(column)
    if pa.types.is_nested(column.type):
        return _nested_ranks(column)
    encoded = plain_floats(column).dictionary_encode()
    order = _order(encoded.dictionary)
    place = np.empty(len(order) + 1, dtype=np.int64)
    place[order] = np.arange(len(order))
    place[-1] = -1
    indices = encoded.indices
    numbers = place[pc.fill_null(indices, -1).to_numpy(zero_copy_only=False)] if len(column) else np.empty(0, np.int64)
    return Ranks(numbers, encoded.dictionary.take(pa.array(order)))


def sorting_numbers(column: Any, descending: bool, nulls_first: bool) -> Ints:
    """Whole numbers in the order that SQL's ORDER BY gives the values."""
    numbers = ranks(column).numbers  # from 0, of a null -1
    ordered = -numbers if descending else numbers
    beyond = len(numbers) + 1
    return np.where(numbers < 0, -beyond if nulls_first else beyond, ordered)


def as_places(values: Any, greatest: bool) -> tuple[Floats, Any]:
    """Values as places in a plane of minima, which are negative for the greatest, inf for null; and the values by
    place.
    """
    ranked = ranks(values)
    sign = -1.0 if greatest else 1.0
    return np.where(ranked.numbers < 0, np.inf, sign * ranked.numbers), ranked.values


def values_at(places: Floats, values: Any) -> Any:
    """The values at such places, null for inf."""
    none = np.isinf(places)
    return flat(flat(values).take(pa.array(np.abs(np.where(none, 0, places)).astype(np.int64), mask=none)))


def _order(values: Any) -> Ints:
    """The order of different values: ascending, NaN last, strings by their bytes."""
    if pa.types.is_boolean(values.type) or pa.types.is_duration(values.type):
        return np.argsort(np.asarray(values.cast(pa.int64() if pa.types.is_duration(values.type) else pa.int8())))
    return np.asarray(pc.array_sort_indices(values).to_numpy(), dtype=np.int64)


def _nested_ranks(column: Any) -> Ranks:
    """By the ranks of what is inside: the fields of a struct one by one, the elements of a list as far as the shorter
    one goes. Maps, which have no order in Spark, by their entries.
    """
    numbers = np.full(len(column), -1, dtype=np.int64)
    some = np.flatnonzero(~nulls(column))
    inside = column.take(pa.array(some))
    place, first = (_places_of_structs if pa.types.is_struct(column.type) else _places_of_lists)(inside)
    numbers[some] = place
    return Ranks(numbers, inside.take(pa.array(first)))


def _places_of_structs(column: Any) -> tuple[Ints, Ints]:
    """The place of each among the different ones, and where each of these first is."""
    places, most = np.zeros(len(column), dtype=np.int64), 1
    for field in column.flatten():
        numbers = ranks(field).numbers + 1
        most *= int(numbers.max(initial=0)) + 1
        if most >= _DENSE:
            places = np.unique(places, return_inverse=True)[1]
            most = len(column) * (int(numbers.max(initial=0)) + 1)
        places = places * (int(numbers.max(initial=0)) + 1) + numbers
    _, first, places = np.unique(places, return_index=True, return_inverse=True)
    return places, first


def _places_of_lists(column: Any) -> tuple[Ints, Ints]:
    """The same of lists."""
    if pa.types.is_map(column.type):
        entries = pa.StructArray.from_arrays([column.keys, column.items], ["key", "value"])
        column = pa.ListArray.from_arrays(column.offsets, entries)
    numbers = ranks(column.flatten()).numbers.tolist()
    ends = np.cumsum([0, *pc.list_value_length(column).to_pylist()]).tolist()
    keys = [tuple(numbers[start:end]) for start, end in pairwise(ends)]
    firsts: dict[tuple[int, ...], int] = {}
    for place, key in enumerate(keys):
        firsts.setdefault(key, place)
    place_of = {key: place for place, key in enumerate(sorted(firsts))}
    return np.array([place_of[key] for key in keys], np.int64), np.array([firsts[key] for key in place_of], np.int64)


# ---- numbers ---------------------------------------------------------------------------------------------------------


def approximate(column: Any) -> Floats:
    """Numbers as the nearest floats, 0 for null: of a DECIMAL the unscaled value, of an interval its microseconds."""
    column = flat(column)
    if pa.types.is_decimal(column.type):
        low, high = _decimal_words(column)
        small = low.view(np.int64)
        # The words of a small negative number, added as floats, would cancel to 0.
        wide = high.astype(np.float64) * 2.0**64 + low.astype(np.float64)
        values = np.where(high == small >> 63, small.astype(np.float64), wide)
        return np.where(nulls(column), 0.0, values)
    if pa.types.is_floating(column.type):
        return np.asarray(pc.fill_null(column, 0.0).to_numpy(zero_copy_only=False), dtype=np.float64)
    return np.asarray(pc.fill_null(column.cast(pa.int64()), 0).to_numpy(zero_copy_only=False), dtype=np.float64)


def low_words(column: Any) -> Ints:
    """Integers modulo 2**64, 0 for null: of a DECIMAL the unscaled value, of an interval its microseconds."""
    column = flat(column)
    if pa.types.is_decimal(column.type):
        return np.where(nulls(column), 0, _decimal_words(column)[0].view(np.int64))
    return np.asarray(pc.fill_null(column.cast(pa.int64()), 0).to_numpy(zero_copy_only=False), dtype=np.int64)


def exact_integers(column: Any) -> list[int | None]:
    """Integers as they are; of a DECIMAL the unscaled value, of an interval its microseconds."""
    column = flat(column)
    if pa.types.is_decimal(column.type):
        low, high = _decimal_words(column)
        absent = nulls(column)
        return [None if n else (int(h) << 64) + int(w) for w, h, n in zip(low, high, absent, strict=True)]
    values: list[int | None] = column.cast(pa.int64()).to_pylist()
    return values


def _decimal_words(column: Any) -> tuple[npt.NDArray[np.uint64], Ints]:
    """The low and the high word of each unscaled value; what stands for a null is arbitrary."""
    if not len(column):
        return np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    column = column.cast(pa.decimal128(column.type.precision, column.type.scale))
    words = np.frombuffer(column.buffers()[1], dtype=np.uint64)[2 * column.offset : 2 * (column.offset + len(column))]
    return words[0::2], words[1::2].view(np.int64)
