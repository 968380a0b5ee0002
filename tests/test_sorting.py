"""The order of rows by whole numbers, whichever way it is found."""

from __future__ import annotations

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
