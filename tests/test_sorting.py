"""The order of rows by whole numbers, whichever way it is found."""

from __future__ import annotations

import math
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from cepc_runtime.numbers.columns import ranks
from cepc_runtime.numbers.sorting import by_number, order_of

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDE = 1 << 61
KEYS: list[tuple[str, list[tuple[int, int]]]] = [
    ("one of few values", [(0, 3)]),
    ("one of many values", [(-(1 << 40), 1 << 40)]),
    ("all with their places in one number", [(0, 9), (-50, 50), (7, 9)]),
    ("all but the first with their places in one number", [(5, 40_000), (0, 1 << 47)]),
    ("the first of three times 16 bits", [(0, 1 << 34), (0, 1 << 30)]),
    ("all in one number without their places", [(0, 1 << 58)]),
    ("the others in no number", [(0, 3), (-WIDE, WIDE), (0, 1 << 20)]),
    ("numbers to the ends of 64 bits", [(-(1 << 63), (1 << 63) - 1), (0, 3)]),
    ("the same everywhere", [(4, 4), (-2, -2)]),
]


@pytest.mark.parametrize("rows", [0, 1, 2, 3000])
@pytest.mark.parametrize("ranges", [ranges for _, ranges in KEYS], ids=[name for name, _ in KEYS])
def test_rows_are_in_the_order_of_their_keys_and_equal_ones_as_they_stand(
    ranges: Sequence[tuple[int, int]], rows: int
) -> None:
    chance = np.random.default_rng(rows)
    keys = [chance.integers(low, high, rows, endpoint=True) for low, high in ranges]
    if rows > 2:
        for key, (low, high) in zip(keys, ranges, strict=True):
            key[:2] = low, high
            key[1000:2000] = key[:1000]  # equal rows
    assert order_of(keys).tolist() == sorted(range(rows), key=lambda row: [int(key[row]) for key in keys])


@pytest.mark.parametrize("type_", [np.int8, np.int32, np.bool_, np.uint16])
def test_keys_may_be_of_narrow_types(type_: Any) -> None:
    info = (0, 1) if type_ is np.bool_ else (np.iinfo(type_).min, np.iinfo(type_).max)
    key = np.array([info[1], info[0], info[1], info[0]]).astype(type_)
    assert order_of([key]).tolist() == [1, 3, 0, 2]
    assert order_of([key, np.array([5, 9, 4, 8])]).tolist() == [3, 1, 2, 0]


@pytest.mark.parametrize("most", [1, 1 << 15, 1 << 16, 1 << 17, 1 << 33])
@pytest.mark.parametrize("type_", [np.int64, np.int32])
def test_rows_are_in_the_order_of_numbers_from_0(most: int, type_: Any) -> None:
    if most > np.iinfo(type_).max:
        return
    numbers = np.random.default_rng(most).integers(0, most, 5000, endpoint=True).astype(type_)
    assert by_number(numbers).tolist() == np.argsort(numbers, kind="stable").tolist()
    assert by_number(numbers[:0]).tolist() == []


@pytest.mark.parametrize(
    "nested", [pa.list_(pa.timestamp("us", "UTC")), pa.struct([("at", pa.timestamp("us", "UTC"))])]
)
def test_nested_times_that_python_has_not_have_an_order(nested: Any) -> None:
    year = 366 * 86_400_000_000
    instants = pa.array([9_000 * year, -3_000 * year, 0], pa.int64()).cast(pa.timestamp("us", "UTC"))
    if pa.types.is_list(nested):
        column = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), instants)
    else:
        column = pa.StructArray.from_arrays([instants], ["at"])
    assert ranks(column).numbers.tolist() == [2, 0, 1]


INT32, DOUBLE, STRING = pa.int32(), pa.float64(), pa.string()
PAIR = pa.struct([("a", INT32), ("b", STRING)])
NESTED = [
    pa.list_(INT32), PAIR, pa.list_(PAIR), pa.struct([("a", pa.list_(DOUBLE)), ("b", PAIR)]), pa.list_(pa.list_(STRING)),
    pa.map_(STRING, INT32), pa.list_(pa.map_(INT32, PAIR)), pa.list_(INT32, 2), pa.large_list(pa.bool_()),
]  # fmt: skip


@pytest.mark.parametrize("nested", NESTED, ids=map(str, NESTED))
def test_nested_values_are_in_the_order_of_what_is_inside_them(nested: Any) -> None:
    chance = Random(str(nested))
    values = [_drawn(chance, nested) for _ in range(300)]
    column = pa.array(values, nested)
    places = {key: place for place, key in enumerate(sorted({_key(value) for value in values if value is not None}))}
    assert len(places) > 10
    expected = [-1 if value is None else places[_key(value)] for value in values]
    assert ranks(column).numbers.tolist() == expected
    some = column.slice(100, 50)
    assert repr(ranks(some).values.to_pylist()) == repr(some.take(_firsts(expected[100:150])).to_pylist())


def _drawn(chance: Random, type_: Any) -> Any:
    if chance.random() < 0.1:
        return None
    if pa.types.is_struct(type_):
        return {field.name: _drawn(chance, field.type) for field in type_}
    if pa.types.is_map(type_):
        keys = [_of_leaf(chance, type_.key_type) for _ in range(chance.randrange(3))]
        return [(key, _drawn(chance, type_.item_type)) for key in keys]
    if pa.types.is_nested(type_):
        length = type_.list_size if pa.types.is_fixed_size_list(type_) else chance.randrange(4)
        return [_drawn(chance, type_.value_type) for _ in range(length)]
    return _of_leaf(chance, type_)


def _of_leaf(chance: Random, type_: Any) -> Any:
    some = {
        INT32: (0, 1, 2),
        DOUBLE: (0.0, -0.0, math.nan, -math.inf, 1.5),
        STRING: ("", "a", "é", "\uffff", "\U0001f600"),
    }
    return chance.choice(some.get(type_, (True, False)))


def _key(value: Any) -> Any:
    """Nulls first, NaN last, texts by their bytes."""
    match value:
        case None:
            return (0,)
        case dict():
            return (1, *map(_key, value.values()))
        case list() | tuple():
            return (1, tuple(map(_key, value)))
        case float() if math.isnan(value):
            return (2,)
    return (1, value.encode() if isinstance(value, str) else value)


def _firsts(places: Sequence[int]) -> Any:
    """Where each place is first, in their order."""
    return pa.array([places.index(place) for place in sorted({*places} - {-1})])
