"""Reading events: types, times, groups, instants, letters, and what is dropped."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cepc_runtime.events.grouped import Dropped, Events, InputError, arrange, read, times_of
from cepc_runtime.events.letters import ByType, classify
from cepc_runtime.numbers.columns import codes, dense_rows, ranks
from cepc_runtime.plan.stream import Letter, StreamPlan
from cepc_runtime.sql.expression import Call, Field, Literal
from cepc_runtime.sql.types import BIGINT, BOOLEAN, DATE, STRING, TIMESTAMP
from tests.automata import stream, table

X = Field(None, "x", "each", BIGINT)


def prepare(rows: Any, plan: StreamPlan, partition: list[str]) -> Events:
    """The events of a table for one partition, in canonical order."""
    return arrange(read(rows, plan), plan, partition)


def over(limit: int) -> Call:
    return Call(">", (X, Literal(limit, BIGINT)), BOOLEAN)


def test_events_are_sorted_by_group_and_time() -> None:
    events = prepare(table([(3, "A", "h", 0), (1, "B", "g", 1), (2, "A", "h", 2), (0, "A", "g", 3)]), stream(), ["g"])
    assert events.keys.to_pylist() == [{"g": "h"}, {"g": "g"}]
    assert events.group_starts.tolist() == [0, 2, 4]
    assert events.table.column("x").to_pylist() == [2, 0, 3, 1]
    assert events.ticks.tolist() == [2, 3, 0, 1]
    assert events.order.tolist() == [2, 0, 3, 1]


def test_events_that_stand_in_order_are_left_alone() -> None:
    source = table([(1, "A", "g", 0), (2, "A", "g", 1), (1, "A", "h", 2)])
    events = arrange(read(source, stream()), stream(), ["g"])
    assert events.order.tolist() == [0, 1, 2]


def test_events_of_a_group_time_and_order_by_are_one_instant() -> None:
    rows = [(1, "A", "g", 5), (1, "B", "g", 5), (1, "A", "g", None), (1, "A", "h", 5), (2, "A", "g", 5)]
    plain = prepare(table(rows), stream(), ["g"])
    assert np.diff(plain.instant_starts).tolist() == [3, 1, 1]
    ordered = prepare(table(rows), stream(order_by=("x",)), ["g"])
    assert ordered.table.column("x").to_pylist() == [None, 5, 5, 5, 5]
    assert np.diff(ordered.instant_starts).tolist() == [1, 2, 1, 1]


def test_events_of_an_instant_are_in_canonical_order() -> None:
    rows = [(1, "B", "g", 0), (1, "A", "g", 7), (1, "A", "g", None), (1, "A", "g", -7)]
    events = prepare(table(rows), stream(), ["g"])
    assert list(zip(events.table["type"].to_pylist(), events.table["x"].to_pylist(), strict=True)) == [
        ("A", None), ("A", -7), ("A", 7), ("B", 0),
    ]  # fmt: skip


def test_rows_without_time_or_type_are_dropped_and_counted() -> None:
    rows: list[Any] = [(None, "A", "g", 0), (1, None, "g", 0), (None, None, "g", 0), (1, "A", "g", 0)]
    reading = read(table(rows), stream())
    assert reading.dropped == Dropped(2, 1)
    assert reading.rows == 4
    assert reading.ticks.tolist() == [1]


def test_partition_keys_are_equal_as_in_group_by() -> None:
    nan = float("nan")
    column = pa.array([0.0, -0.0, nan, -nan, None, None, 1.0])
    numbers, count = codes(column)
    assert numbers.tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert count == 4
    assert codes(pa.array([[1, None], [1, None], None, [1]]))[0].tolist() == [0, 0, 1, 2]


def test_no_partition_is_one_group_and_no_events_are_none() -> None:
    assert prepare(table([(2, "A", "g", 0), (1, "A", "h", 0)]), stream(), []).group_starts.tolist() == [0, 2]
    empty = prepare(table([]), stream(), ["g"])
    assert (empty.length, empty.group_starts.tolist(), empty.instant_starts.tolist()) == (0, [0], [0])


@pytest.mark.parametrize(
    ("values", "ordered"),
    [
        ([2.0, float("nan"), None, -0.0, 0.0, -1.0], [-1.0, 0.0, 2.0, float("nan")]),
        (["b", "a", "é", "z", None], ["a", "b", "z", "é"]),
        ([True, False, None], [False, True]),
        ([[2], [1, 5], None, [1]], [[1], [1, 5], [2]]),
        ([{"a": 1, "b": None}, {"a": 1, "b": 0}, {"a": 0, "b": 9}], [{"a": 0, "b": 9}, {"a": 1, "b": None}, {"a": 1, "b": 0}]),
    ],
)  # fmt: skip
def test_ranks_are_sparks_order(values: list[Any], ordered: list[Any]) -> None:
    found = ranks(pa.array(values))
    assert repr(found.values.to_pylist()) == repr(ordered)
    assert [n for n, v in zip(found.numbers, values, strict=True) if v is None] == [-1] * values.count(None)


TIMES = {
    "timestamp of nanoseconds": (pa.array([1_999, -1], pa.timestamp("ns", "UTC")), TIMESTAMP, [1, -1]),
    "timestamp of seconds": (pa.array([2], pa.timestamp("s", "+01:00")), TIMESTAMP, [2_000_000]),
    "date": (pa.array([date(1970, 1, 3)]), DATE, [2]),
    "integer": (pa.array([7], pa.int32()), BIGINT, [7]),
}


@pytest.mark.parametrize(("column", "type_", "ticks"), TIMES.values(), ids=TIMES.keys())
def test_times_are_ticks(column: Any, type_: Any, ticks: list[int]) -> None:
    plan = replace(stream(), columns=(("t", type_), ("type", STRING)), all_columns=("t", "type"))
    reading = read(pa.table({"t": column, "type": ["A"] * len(column)}), plan)
    assert reading.ticks.tolist() == ticks


def test_ticks_are_times_again() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    assert times_of(np.array([int(start.timestamp()) * 10**6]), pa.timestamp("us", "UTC"))[0].as_py() == start
    assert times_of(np.array([1]), pa.date32())[0].as_py() == date(1970, 1, 2)


def test_a_missing_or_mistyped_column_is_named() -> None:
    with pytest.raises(InputError, match="no column g"):
        read(table([]).drop_columns(["g"]), stream())
    wrong = table([(1, "A", "g", 1)]).set_column(3, "x", pa.array(["many"]))
    with pytest.raises(InputError, match="x is string, not BIGINT"):
        read(wrong, stream())


def test_letters_are_types_and_conditions_that_are_true() -> None:
    letters = [Letter("A"), Letter("A", (over(1),)), Letter(None, (over(1),)), Letter("A", (), ((over(1),),))]
    events = prepare(table([(1, "A", "g", 0), (2, "A", "g", 2), (3, "B", "g", 2), (4, "A", "g", None)]), stream(), [])
    by_type = ByType(events)
    masks = [[i in by_type.satisfying(letter) for i in range(len(events.types))] for letter in letters]
    assert masks == [
        [True, True, False, True],
        [False, True, False, False],
        [False, True, True, False],
        [True, False, False, True],
    ]
    kinds = classify(events, letters)
    assert [sorted(kinds.letters[k]) for k in kinds.of] == [[0, 3], [0, 1, 2], [2], [0, 3]]


def test_a_condition_is_evaluated_only_where_those_before_it_hold() -> None:
    quotient = Call("/", (Literal(1.0, X.type), X), BIGINT)
    safe = Letter(
        "A", (Call("not", (Call("=", (X, Literal(0, BIGINT)), BOOLEAN),), BOOLEAN), Call(">", (quotient, X), BOOLEAN))
    )
    rows = table([(1, "A", "g", 0), (2, "B", "g", 0)])
    calls: list[int] = []

    def fails_on_zero(_: Any, columns: Any, length: int) -> Any:
        calls.append(length)
        (column,) = columns.values()
        if 0 in column.to_pylist():
            raise ZeroDivisionError
        return pa.array([True] * length, pa.bool_())

    def evaluated(expression: Any, columns: Any, length: int) -> Any:
        return (
            fails_on_zero(expression, columns, length)
            if expression is safe.conditions[1]
            else _not_zero(columns, length)
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cepc_runtime.events.letters.evaluate", evaluated)
        events = prepare(rows, stream(), [])
        assert ByType(events).satisfying(safe).tolist() == []
    assert calls == [1, 0]  # tried on the one A, then on none


def _not_zero(columns: Any, length: int) -> Any:
    (column,) = columns.values()
    assert len(column) == length
    return pa.array([v != 0 for v in column.to_pylist()], pa.bool_())


def test_a_stream_without_types_has_one() -> None:
    plan = StreamPlan("s", (("t", BIGINT),), ("t",), "t", "s", (), None, "s", None)
    events = prepare(pa.table({"t": [1, 2]}), plan, [])
    assert ByType(events).satisfying(Letter("s")).tolist() == [0, 1]
    assert ByType(events).satisfying(Letter("other")).tolist() == []


@pytest.mark.parametrize("groups", [3, 1 << 16, (1 << 16) + 1, 200_000])
def test_groups_are_sorted_in_the_same_way_whether_events_come_in_the_order_of_time_or_not(groups: int) -> None:
    chance = np.random.default_rng(groups)
    keys = np.append(np.arange(groups), chance.integers(0, groups, 1000)).tolist()
    ordered = table([(i // 2, "A", f"g{key:06}", i) for i, key in enumerate(keys)])
    events = prepare(ordered, stream(), ["g"])
    expected = sorted(range(len(keys)), key=lambda i: (keys[i], i))
    assert events.order.tolist() == expected
    assert events.group_starts[-1] == len(keys)
    assert np.array_equal(events.groups, np.repeat(np.arange(groups), np.bincount(keys)))
    late = prepare(pa.concat_tables([ordered.slice(1), ordered.slice(0, 1)]), stream(), ["g"])
    assert sorted(late.table["x"].to_pylist()) == list(range(len(keys)))
    by_time = sorted(zip(late.groups.tolist(), late.ticks.tolist(), strict=True))
    assert list(zip(late.groups.tolist(), late.ticks.tolist(), strict=True)) == by_time


@pytest.mark.parametrize(
    "values",
    [
        ["b", "a", None, "b", "c", None],
        [True, None, False, True],
        [False, True],
        [2.0, float("nan"), -0.0, 0.0, None, float("nan")],
        [Decimal("2.5"), None, Decimal("1.0"), Decimal("2.5")],
        [date(2020, 1, 2), date(2020, 1, 1), date(2020, 1, 2)],
        [{"a": 2}, {"a": 1}, None, {"a": 2}],
        [b"b", b"a", b"b"],
    ],
)
def test_equal_values_are_numbered_as_they_first_occur(values: list[Any]) -> None:
    numbers, count = codes(pa.array(values))
    first = list(dict.fromkeys(numbers.tolist()))
    assert first == list(range(count))
    again, firsts = dense_rows([pa.array(values)])
    assert again.tolist() == numbers.tolist()
    assert firsts.tolist() == [numbers.tolist().index(number) for number in first]


@pytest.mark.filterwarnings("error")
def test_every_nan_of_a_file_is_one_and_nothing_is_said_of_it() -> None:
    signalling = np.array([0x7FF0000000000001, 0x7FF8000000000000, 0xFFF8000000000007], np.uint64).view(np.float64)
    numbers, _ = codes(pa.array(signalling))
    assert numbers.tolist() == [0, 0, 0]
