"""Rows of match queries: what a match returns, in Spark's types."""

from __future__ import annotations

import math
from decimal import Decimal as Number
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cepc_runtime.enumerate.lists import aggregated
from cepc_runtime.plan.query import OutputPlan
from cepc_runtime.results.as_columns import ResultOverflowError
from cepc_runtime.sql.aggregate_functions import AVG, COLLECT, COUNT, MAX, MIN, SUM, AggregateFunction
from cepc_runtime.sql.expression import Aggregate, Call, Expression, Field, Literal
from cepc_runtime.sql.types import BIGINT, BOOLEAN, DOUBLE, INT, STRING, Array, DataType, Decimal, to_arrow
from tests.positions import COLUMNS, Query, pattern

OPTIONAL = pattern("0 A 1, 1 B 2", "1, 2")
"""SEQ(A, B?)"""
LISTS = pattern("0 A 1, 1 A 1, 1 B 2", "2")
"""SEQ(A+, B)"""


def of(variable: str | None, column: str, at: Any = "each") -> Field:
    return Field(variable, column, at, dict(COLUMNS)[column])


def over(
    function: AggregateFunction,
    variable: str | None,
    argument: Expression | None,
    type_: DataType,
    *,
    safe: bool = False,
    target: DataType | None = None,
) -> Aggregate:
    return Aggregate(function, variable, argument, safe, target, type_)


def returning(*expressions: Expression, **more: Any) -> dict[str, Any]:
    outputs = tuple(OutputPlan(f"r{i}", e) for i, e in enumerate(expressions))
    return {"outputs": outputs, "returns_events": False, **more}


def rows(query: Query, stream: str) -> list[tuple[Any, ...]]:
    """The rows in order, without `match_start` and `match_end`."""
    table = query.table(stream)
    assert table.column_names[-2:] == ["match_start", "match_end"]
    return sorted((tuple(row.values())[:-2] for row in table.to_pylist()), key=repr)


def test_a_single_variable_gives_its_fields_and_null_when_unbound() -> None:
    query = Query(OPTIONAL, more=returning(of("A", "x"), of("B", "x"), Call("isnull", (of("B", "name"),), BOOLEAN)))
    assert rows(query, "a1(x=5) b2(x=6)") == [(5, 6, False), (5, None, True)]


def test_a_match_starts_and_ends_with_its_events() -> None:
    table = Query(LISTS, more=returning(of("B", "name"))).table("a-3 a1 b4")
    assert sorted(zip(*(table.column(n).to_pylist() for n in ("match_start", "match_end")), strict=True)) == [
        (-3, 4), (-3, 4), (1, 4)
    ]  # fmt: skip


def test_the_columns_are_there_without_any_match() -> None:
    table = Query(LISTS, more=returning(of("B", "y"), over(COUNT, None, None, BIGINT))).table("b1 a2")
    assert table.num_rows == 0
    assert table.schema.types == [pa.float64(), pa.int64(), pa.int64(), pa.int64()]


def test_a_list_gives_ends_and_aggregates() -> None:
    query = Query(
        LISTS,
        more=returning(
            of("A", "x", "first"),
            of("A", "x", "last"),
            over(COUNT, "A", None, BIGINT),
            over(COUNT, "A", of("A", "x"), BIGINT),
            over(SUM, "A", of("A", "x"), BIGINT),
            over(AVG, "A", of("A", "x"), DOUBLE),
            over(MIN, "A", of("A", "x"), INT),
            over(MAX, "A", of("A", "name"), STRING),
            over(COLLECT, "A", of("A", "x"), Array(INT)),
            over(COUNT, None, None, BIGINT),
        ),
    )
    assert rows(query, "a1(x=4) a2 b3") == [
        (4, 4, 1, 1, 4, 4.0, 4, "a1", [4], 2),
        (4, None, 2, 1, 4, 4.0, 4, "a2", [4, None], 3),
        (None, None, 1, 0, None, None, None, "a2", [None], 2),
    ]


def test_aggregates_are_of_expressions_and_stand_in_expressions() -> None:
    doubled = Call("+", (of("A", "x"), of("A", "x")), INT)
    total = over(SUM, "A", doubled, BIGINT)
    query = Query(LISTS, more=returning(Call("+", (total, Call("cast", (of("B", "x"),), BIGINT)), BIGINT)))
    assert rows(query, "a1(x=4) a2(x=1) b3(x=100)") == [(102,), (108,), (110,)]


def test_a_bare_attribute_is_what_all_events_share() -> None:
    query = Query(OPTIONAL, partition=("g",), more=returning(of(None, "g"), of("A", "name")))
    assert rows(query, "a1(g=7) a2 b3(g=7)") == [(7, "a1"), (7, "a1"), (None, "a2")]


def test_a_shared_zero_has_no_sign() -> None:
    query = Query(OPTIONAL, partition=("y",), more=returning(of(None, "y")))
    ((zero,),) = rows(query, "a1(y=-0.0)")
    assert math.copysign(1, zero) == 1


def test_sums_and_extremes_have_no_signed_zero_and_what_an_event_has_keeps_its_own() -> None:
    aggregates = [over(function, "A", of("A", "y"), DOUBLE) for function in (SUM, MIN, MAX, AVG)]
    kept = over(COLLECT, "A", of("A", "y"), Array(DOUBLE))
    ((*made, collected),) = rows(Query(LISTS, more=returning(*aggregates, kept)), "a1(y=-0.0) b2")
    assert [math.copysign(1, value) for value in (*made, *collected)] == [1, 1, 1, 1, -1]


def test_having_keeps_rows() -> None:
    most = Call(">", (over(COUNT, None, None, BIGINT), Literal(2, BIGINT)), BOOLEAN)
    query = Query(LISTS, more=returning(over(COLLECT, "A", of("A", "name"), Array(STRING)), having=most))
    assert rows(query, "a1 a2 b3") == [(["a1", "a2"],)]


def test_having_that_is_null_keeps_nothing() -> None:
    unknown = Call(">", (over(SUM, "A", of("A", "x"), BIGINT), Literal(2, BIGINT)), BOOLEAN)
    assert rows(Query(LISTS, more=returning(of("B", "x"), having=unknown)), "a1 b3") == []


def test_the_whole_match_is_an_array_of_its_events_with_their_variables() -> None:
    both = pattern("0 A:a 1, 0 B:b 2, 1 B:b 3, 1 ~B:b 3, 2 A:a 3, 2 ~A:a 3", "3")
    ((events,),) = rows(Query(both), "b1(x=2) a1(x=1, g=4)")
    assert events == [
        {"variable": "a", "at": 1, "kind": "A", "g": 4, "x": 1, "y": None, "name": "a1", "seq": None},
        {"variable": "b", "at": 1, "kind": "B", "g": None, "x": 2, "y": None, "name": "b1", "seq": None},
    ]


# ---- values ----------------------------------------------------------------------------------------------------------


def column(
    function: AggregateFunction, values: list[list[Any]], of_type: DataType, type_: DataType, **more: Any
) -> Any:
    """The aggregate of each list, and where it does not fit."""
    counts = np.array([len(v) for v in values], dtype=np.int64)
    flat = pa.array([x for v in values for x in v], to_arrow(of_type))
    found, misfits = aggregated(over(function, "A", Field("A", "x", "each", of_type), type_, **more), counts, flat)
    assert found.type == to_arrow(type_)
    return found.to_pylist(), misfits.tolist()


def test_integer_sums_are_exact_or_do_not_fit() -> None:
    big = 2**62
    assert column(SUM, [[big, big - 1], [big, big], []], BIGINT, BIGINT) == (
        [2**63 - 1, None, None],
        [False, True, False],
    )
    text = column(SUM, [[big, big]], BIGINT, STRING, target=STRING)
    assert text == ([str(2**63)], [False])
    for values, total in {(1, big, big): 2**63 + 1, (-1, -big, -big): -(2**63) - 1}.items():
        assert column(SUM, [[*values]], BIGINT, STRING, target=STRING) == ([str(total)], [False])


def test_decimal_sums_and_averages_have_sparks_types() -> None:
    amounts: list[list[Any]] = [[Number("1.50"), Number("-0.25")], [None]]
    cents = Decimal(9, 2)
    assert column(SUM, amounts, cents, Decimal(19, 2))[0] == [Number("1.25"), None]
    assert column(AVG, amounts, cents, Decimal(13, 6))[0] == [Number("0.625000"), None]
    wide = Decimal(38, 0)
    assert column(SUM, [[Number(10**37), Number(9 * 10**37)]], wide, wide) == ([None], [True])


def test_a_double_sum_overflows_only_if_its_value_does() -> None:
    assert column(SUM, [[1e308, 1e308, -1e308], [1e308, 1e308]], DOUBLE, DOUBLE)[0] == [1e308, math.inf]
    assert column(AVG, [[1e308, 1e308]], DOUBLE, DOUBLE)[0] == [1e308]


def test_nan_is_the_greatest_number_and_spoils_only_its_own_list() -> None:
    lists = [[math.nan, 1.0], [2.0]]
    assert column(MIN, lists, DOUBLE, DOUBLE)[0] == [1.0, 2.0]
    assert math.isnan(column(MAX, lists, DOUBLE, DOUBLE)[0][0])
    assert column(SUM, lists, DOUBLE, DOUBLE)[0][1] == 2.0


def test_text_is_ordered_by_its_bytes() -> None:
    assert column(MAX, [["z", "é", None], []], STRING, STRING)[0] == ["é", None]


def test_a_value_that_does_not_fit_names_the_query_and_the_cure() -> None:
    wide = Call("*", (Call("cast", (of("A", "x"),), BIGINT), Literal(2**61, BIGINT)), BIGINT)
    query = Query(LISTS, partition=("g",), more=returning(over(SUM, "A", wide, BIGINT)))
    with pytest.raises(ResultOverflowError, match=r"query q: SUM.* does not fit BIGINT .*g = 1; .*AS STRING"):
        query.table("a1(g=1, x=3) a2(g=1, x=3) b3(g=1)")
    safe = Query(LISTS, partition=("g",), more=returning(over(SUM, "A", wide, BIGINT, safe=True)))
    assert rows(safe, "a1(g=1, x=3) a2(g=1, x=3) b3(g=1)") == [(3 * 2**61,), (3 * 2**61,), (None,)]


def test_having_compares_what_does_not_fit_exactly() -> None:
    wide = Call("*", (Call("cast", (of("A", "x"),), BIGINT), Literal(2**61, BIGINT)), BIGINT)
    total = over(SUM, "A", wide, BIGINT)
    large = Call(">", (total, Literal(2**62, BIGINT)), BOOLEAN)
    query = Query(LISTS, more=returning(over(COUNT, "A", None, BIGINT), having=large))
    assert rows(query, "a1(x=3) a2(x=3) b3") == [(1,), (1,), (2,)]
    small = Call("<", (total, Literal(2**62, BIGINT)), BOOLEAN)
    assert rows(Query(LISTS, more=returning(total, having=small)), "a1(x=3) a2(x=1) b3") == [(2**61,)]


def test_having_with_a_list_names_the_aggregate_that_does_not_fit() -> None:
    wide = Call("*", (Call("cast", (of("A", "x"),), BIGINT), Literal(2**61, BIGINT)), BIGINT)
    total, names = over(SUM, "A", wide, BIGINT), over(COLLECT, "A", of("A", "name"), Array(STRING))
    both = Call("and", (Call("=", (names, names), BOOLEAN), Call(">", (total, Literal(0, BIGINT)), BOOLEAN)), BOOLEAN)
    query = Query(LISTS, more=returning(over(COUNT, "A", None, BIGINT), having=both))
    assert rows(query, "a1(x=1, name=n) b3") == [(1,)]
    with pytest.raises(ResultOverflowError, match=r"query q: SUM.* does not fit BIGINT"):
        query.table("a1(x=3, name=n) a2(x=3, name=n) b3")
