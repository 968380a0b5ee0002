"""From emissions to result rows: groups, types, exactness, overflow, HAVING."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepc_runtime.kernel.exact import Recount
from cepc_runtime.kernel.modulo import count_modulo
from cepc_runtime.numbers import counted_again
from cepc_runtime.numbers.doubles import add_exactly, in_units, nearest, parts
from cepc_runtime.numbers.exact_columns import cast_column, quotients
from cepc_runtime.numbers.pieces import bits_for, pieces
from cepc_runtime.plan.physical import PhysicalPlan
from cepc_runtime.plan.query import OutputPlan
from cepc_runtime.plan.windows import Sliding
from cepc_runtime.results.as_columns import ResultOverflowError, WindowEdgeError
from cepc_runtime.results.fewest import fewest
from cepc_runtime.sql.expression import Aggregate, Call, Expression, Literal
from cepc_runtime.sql.types import BIGINT, BOOLEAN, DATE, DOUBLE, FLOAT, INT, INTERVAL, STRING, TIMESTAMP, DataType
from cepc_runtime.sql.types import Decimal as DecimalType
from tests.automata import COUNT, LETTERS, Event, aggregate, automaton, name_of, plan, query, stream, table
from tests.driven import driven

if TYPE_CHECKING:
    from cepc_runtime.plan.strategy import CountedQuery

RUNS = automaton("0 A 1, 1 A 1", [1])  # A+
ONE = automaton("0 A 1", [1])


def rows_of(q: CountedQuery, events: list[Event], x: DataType = BIGINT) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = driven(table(events, x), plan(q, x=x), interpreted=True)["q"].to_pylist()
    return found


def only(*aggregates: Aggregate, having: Expression | None = None, **more: Any) -> CountedQuery:
    """A query that returns these aggregates alone."""
    within = more.pop("within", 100_000)
    q = query(more.pop("automaton", RUNS), within, returns=aggregates, having=having, count=False, **more)
    return replace(q, outputs=tuple(OutputPlan(name_of(a), a) for a in aggregates))


def value(a: Aggregate, events: list[Event], x: DataType = BIGINT) -> Any:
    (row,) = rows_of(only(a), events, x)
    return row[name_of(a)]


def events_of(*values: Any) -> list[Event]:
    return [(t, "A", "g", x) for t, x in enumerate(values)]


def many(length: int) -> list[Event]:
    return events_of(*range(length))


# ---- rows and types --------------------------------------------------------------------------------------------------


def test_the_columns_are_the_declared_ones_and_the_window() -> None:
    q = query(RUNS, 10, 5, returns=[aggregate("avg", "A", BIGINT)])
    found = driven(table(many(3)), plan(q))["q"]
    assert found.schema == pa.schema(
        [("g", pa.string()), ("count(None, False)", pa.int64()), ("avg(A, True)", pa.float64()), ("window_start", pa.int64()),
         ("window_end", pa.int64())]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("time", "column", "within", "start", "end"),
    [
        (TIMESTAMP, pa.array([datetime(2026, 1, 1, 0, 0, 7, tzinfo=UTC)]), 5_000_000, datetime(2026, 1, 1, 0, 0, 5, tzinfo=UTC),
         datetime(2026, 1, 1, 0, 0, 10, tzinfo=UTC)),
        (DATE, pa.array([date(1969, 12, 31)]), 7, date(1969, 12, 25), date(1970, 1, 1)),
        (INT, pa.array([-1], pa.int32()), 10, -10, 0),
    ],
)  # fmt: skip
def test_window_edges_have_the_type_of_the_time(time: DataType, column: Any, within: int, start: Any, end: Any) -> None:
    source = table(many(1)).set_column(0, "t", column)
    found = driven(source, PhysicalPlan(stream(time=time), LETTERS, (only(COUNT, within=within),)))["q"]
    assert found.select(["window_start", "window_end"]).to_pylist() == [{"window_start": start, "window_end": end}]
    assert len(found.column("window_start").type.__str__()) > 0
    assert found.schema.field("window_end").type == found.schema.field("window_start").type


def test_windows_past_the_range_of_times_are_refused() -> None:
    for tick in (2**63 - 1, -(2**63)):
        with pytest.raises(WindowEdgeError, match="an edge of a window is no BIGINT, the type of t"):
            rows_of(only(COUNT, within=10), [(tick, "A", "g", 0)])
    source = table([(2**31 - 1, "A", "g", 0)]).set_column(0, "t", pa.array([2**31 - 1], pa.int32()))
    with pytest.raises(WindowEdgeError, match="no INT"):
        driven(source, PhysicalPlan(stream(time=INT), LETTERS, (only(COUNT, within=10),)))


@pytest.mark.parametrize(("within", "slide"), [(10, 10), (10, 3), (3, 10)])
@pytest.mark.parametrize("offset", range(3))
def test_windows_near_the_ends_of_times_are_right_or_refused(within: int, slide: int, offset: int) -> None:
    query = replace(only(COUNT, within=within), window=Sliding(within, slide, offset))
    for tick in (2**63 - 30, 30 - 2**63):
        rows = rows_of(query, [(tick, "A", "g", 0)])
        assert len(rows) == len([k for k in range(tick - within + 1, tick + 1) if (k - offset) % slide == 0])
        assert all((row["window_start"] - offset) % slide == 0 for row in rows)
        assert all(row["window_start"] <= tick < row["window_end"] == row["window_start"] + within for row in rows)
    for tick in (2**63 - 1, -(2**63)):
        with pytest.raises(WindowEdgeError):
            rows_of(query, [(tick, "A", "g", 0)])


def test_unbounded_has_no_window() -> None:
    assert rows_of(only(COUNT, within=None), many(2)) == [{name_of(COUNT): 3, "window_start": None, "window_end": None}]


def test_partitions_are_combined_into_groups() -> None:
    values = [aggregate("sum", "A", BIGINT), aggregate("min", "A", BIGINT), aggregate("avg", "A", BIGINT)]
    events: list[Event] = [(0, "A", "g", 4), (1, "A", "h", -2), (2, "A", "k", None)]
    (row,) = rows_of(query(ONE, returns=values, group_by=()), events)
    assert [row[name_of(a)] for a in (COUNT, *values)] == [3, 2, -2, 1.0]


def test_huge_sums_of_partitions_stay_exact() -> None:
    events: list[Event] = [(0, "A", f"g{i}", 2**52) for i in range(2000)]
    a = aggregate("sum", "A", BIGINT, target=DecimalType(38, 0))
    q = replace(query(ONE, returns=[a], group_by=()), outputs=(OutputPlan("s", a),))
    assert rows_of(q, events)[0]["s"] == Decimal(2000 * 2**52)


def test_without_a_value_aggregates_are_null_and_counts_zero() -> None:
    functions = [aggregate(f, "A", BIGINT) for f in ("sum", "avg", "min", "max", "count")]
    (row,) = rows_of(only(*functions), events_of(None, None))
    assert [row[name_of(a)] for a in functions] == [None, None, None, None, 0]


@pytest.mark.parametrize(
    ("type_", "values", "least", "greatest"),
    [
        (BIGINT, [2**62 + 1, -(2**63), 2**62], -(2**63), 2**62 + 1),
        (DOUBLE, [1.5, math.nan, -math.inf], -math.inf, math.nan),
        (STRING, ["b", "é", "a"], "a", "é"),
        (BOOLEAN, [True, None, False], False, True),
        (DATE, [date(2026, 1, 2), date(1969, 1, 1)], date(1969, 1, 1), date(2026, 1, 2)),
        (DecimalType(38, 2), [Decimal("99999999999999999999999999999999.99"), Decimal("-0.01")], Decimal("-0.01"),
         Decimal("99999999999999999999999999999999.99")),
    ],
    ids=lambda v: v.sql if hasattr(v, "sql") else None,
)  # fmt: skip
def test_extremes_are_values_that_occur(type_: DataType, values: list[Any], least: Any, greatest: Any) -> None:
    found = [value(aggregate(f, "A", type_, type=type_), events_of(*values), type_) for f in ("min", "max")]
    assert repr(found) == repr([least, greatest])


def test_averages_are_exact_quotients_rounded_once() -> None:
    assert value(aggregate("avg", "A", BIGINT), events_of(2**53 + 1, 2**53 + 1)) == float(2**53 + 1)
    assert value(aggregate("avg", "A", BIGINT), events_of(2**63 - 1, 2**63 - 1)) == float(2**63 - 1)
    decimal = DecimalType(9, 2)
    average = aggregate("avg", "A", decimal, type=DecimalType(13, 6))
    assert value(average, events_of(Decimal("0.01"), Decimal("0.02"), Decimal("0.02")), decimal) == Decimal("0.016667")
    assert value(average, events_of(Decimal("-0.01"), Decimal("-0.02"), Decimal("-0.02")), decimal) == Decimal(
        "-0.016667"
    )


def test_an_average_that_is_too_small_for_a_double_has_no_sign() -> None:
    assert repr(value(aggregate("avg", "A", DOUBLE), events_of(-5e-324, 0.0), DOUBLE)) == "0.0"
    few, counts = np.array([-5e-324]), np.array([2])
    assert repr(quotients(few, counts, 0, DOUBLE)[0].to_pylist()) == "[0.0]"
    exact = np.array([Fraction(-1, 2**1074), None], dtype=object)[:1]
    assert repr(quotients(exact, counts, 0, DOUBLE)[0].to_pylist()) == "[0.0]"


def test_averages_of_doubles_survive_counts_beyond_all_doubles() -> None:
    events = events_of(*[1e300 if t % 2 else -1e300 for t in range(1100)])
    assert value(aggregate("avg", "A", DOUBLE), events, DOUBLE) == 0.0
    assert value(aggregate("avg", "A", DOUBLE), events_of(*[2.5] * 1100), DOUBLE) == 2.5
    assert value(aggregate("sum", "A", DOUBLE), events_of(*[2.5] * 1100), DOUBLE) == math.inf
    assert math.isnan(value(aggregate("sum", "A", DOUBLE), events_of(*[2.5] * 1100, math.nan), DOUBLE))
    assert value(aggregate("avg", "A", DOUBLE), events_of(*[2.5] * 1100, -math.inf), DOUBLE) == -math.inf


def test_sums_of_decimals_are_of_unscaled_integers() -> None:
    decimal = DecimalType(20, 3)
    total = aggregate("sum", "A", decimal, type=DecimalType(30, 3))
    big = Decimal("12345678901234567.891")
    assert value(total, events_of(big, -big, Decimal("0.001")), decimal) == Decimal("0.004")


# ---- exactness and overflow ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [52, 53, 54, 62, 63])
def test_counts_up_to_the_greatest_bigint_are_exact(length: int) -> None:
    assert value(COUNT, many(length)) == 2**length - 1


def test_a_count_that_does_not_fit_is_an_error_with_a_cure() -> None:
    with pytest.raises(
        ResultOverflowError, match=r"query q: COUNT\(\*\) does not fit BIGINT in the window from 0 to 100000"
    ) as error:
        rows_of(only(COUNT), many(64))
    assert (error.value.query, error.value.group, error.value.window) == ("q", {"g": "g"}, (0, 100_000))
    assert error.value.cure == "CAST(COUNT(*) AS STRING) is exact at any size, TRY_COUNT(*) is null instead"


@pytest.mark.parametrize("length", [64, 100, 10_000])
def test_a_count_as_string_is_exact_at_any_size(length: int) -> None:
    text = value(aggregate("count", target=STRING), many(length))
    assert Decimal(text) + 1 == Decimal(2) ** length if length < 90 else len(text) == len(str(Decimal(2**length)))
    assert pow(2, length, 10**9) - 1 == int(text[-9:])


CURES: list[tuple[Aggregate, Any]] = [
    (aggregate("count", safe=True), None),
    (aggregate("count", target=DecimalType(38, 0)), Decimal(2**64 - 1)),
    (aggregate("count", target=DOUBLE), float(2**64 - 1)),
    (aggregate("count", target=FLOAT), float(2**64)),
    (aggregate("sum", "A", BIGINT, safe=True), None),
    (aggregate("sum", "A", BIGINT, target=STRING), str(sum(range(64)) << 63)),
]


@pytest.mark.parametrize(("a", "expected"), CURES, ids=[name_of(a) for a, _ in CURES])
def test_the_cures_cure(a: Aggregate, expected: Any) -> None:
    assert value(a, many(64)) == expected


def test_an_approximate_count_ends_at_infinity() -> None:
    assert value(aggregate("count", target=DOUBLE), many(1100)) == math.inf


def test_a_count_that_is_asked_for_both_ways_is_exact_in_both() -> None:
    both = aggregate("count", target=DOUBLE), aggregate("count", target=STRING)
    assert list(rows_of(only(*both), many(60))[0].values())[:2] == [float(2**60 - 1), str(2**60 - 1)]


# ---- HAVING ----------------------------------------------------------------------------------------------------------


def than(operator: str, a: Expression, b: int) -> Call:
    return Call(operator, (a, Literal(b, BIGINT)), BOOLEAN)


def test_having_filters() -> None:
    events: list[Event] = [(0, "A", "g", 0), (0, "A", "h", 0), (1, "A", "h", 0)]
    assert [row["g"] for row in rows_of(query(RUNS, having=than(">", COUNT, 1)), events)] == ["h"]


@pytest.mark.parametrize(("operator", "kept"), [(">", 1), ("<=", 0), ("=", 0)])
def test_having_compares_values_that_do_not_fit(operator: str, kept: int) -> None:
    q = only(aggregate("count", target=STRING), having=than(operator, COUNT, 2**63 - 1))
    assert len(rows_of(q, many(70))) == kept


def test_having_may_combine_what_does_not_fit() -> None:
    total = aggregate("sum", "A", BIGINT)
    less = Call("<", (Call("*", (COUNT, Literal(2, BIGINT)), BIGINT), total), BOOLEAN)
    either = Call("or", (Call("not", (less,), BOOLEAN), than("<", COUNT, 0)), BOOLEAN)
    assert len(rows_of(only(aggregate("avg", "A", BIGINT), having=less), many(70))) == 1
    assert len(rows_of(only(aggregate("avg", "A", BIGINT), having=either), many(70))) == 0


def listed(*options: int | None) -> Call:
    return Call("in", (COUNT, *(Literal(option, BIGINT) for option in options)), BOOLEAN)


def case(*parts: Expression) -> Call:
    return Call("case", parts, BOOLEAN)


TRUE, NOTHING = Literal(True, BOOLEAN), Literal(None, BOOLEAN)
IS_NULL, IS_NOT_NULL = (Call(name, (COUNT,), BOOLEAN) for name in ("isnull", "isnotnull"))
TOO_LARGE: list[tuple[str, Expression, int]] = [
    ("IN", listed(1, 2), 0),
    ("NOT IN", Call("not", (listed(1, 2),), BOOLEAN), 1),
    ("NOT IN with a null", Call("not", (listed(1, None),), BOOLEAN), 0),
    ("IS NULL", Call("or", (than("=", COUNT, 1), IS_NULL), BOOLEAN), 0),
    ("IS NOT NULL", IS_NOT_NULL, 1),
    ("IS DISTINCT FROM", Call("not", (than("<=>", COUNT, 3),), BOOLEAN), 1),
    ("IS NOT DISTINCT FROM NULL", Call("<=>", (COUNT, Literal(None, BIGINT)), BOOLEAN), 0),
    ("CASE", case(than(">", COUNT, 3), TRUE, NOTHING), 1),
    ("CASE without ELSE", case(than("<", COUNT, 3), TRUE, NOTHING), 0),
    ("CASE with two conditions", case(IS_NULL, NOTHING, listed(2), NOTHING, TRUE), 1),
]


@pytest.mark.parametrize(("title", "having", "kept"), TOO_LARGE, ids=[title for title, *_ in TOO_LARGE])
def test_conditions_of_a_count_that_does_not_fit(title: str, having: Expression, kept: int) -> None:
    assert len(rows_of(only(aggregate("count", target=STRING), having=having), many(70))) == kept, title


def test_a_row_that_having_drops_does_not_overflow() -> None:
    assert rows_of(only(COUNT, having=than("<", COUNT, 100)), many(70)) == []


def test_having_that_needs_the_value_itself_fails() -> None:
    root = Call(">", (Call("sqrt", (Call("cast", (COUNT,), DOUBLE),), DOUBLE), Literal(1.0, DOUBLE)), BOOLEAN)
    with pytest.raises(ResultOverflowError):
        rows_of(only(aggregate("count", target=STRING), having=root), many(70))


NUMBER = Literal(3, BIGINT)
BETWEEN = Call("and", (than(">=", COUNT, 3), than("<", COUNT, 16)), BOOLEAN)
CASES: list[tuple[Expression, int, set[int]]] = [  # at least so many are emitted, and these are kept
    (than(">", COUNT, 3), 4, {7, 15}),
    (than(">=", COUNT, 3), 3, {3, 7, 15}),
    (than("=", COUNT, 3), 3, {3}),
    (than("<", COUNT, 3), 0, {1}),
    (than("<=", COUNT, 3), 0, {1, 3}),
    (Call("<", (NUMBER, COUNT), BOOLEAN), 4, {7, 15}),
    (Call("<=", (NUMBER, COUNT), BOOLEAN), 3, {3, 7, 15}),
    (Call(">", (NUMBER, COUNT), BOOLEAN), 0, {1}),
    (Call(">=", (aggregate("count", target=DOUBLE), Literal(2.5, DOUBLE)), BOOLEAN), 3, {3, 7, 15}),
    (Call(">", (aggregate("count", target=DOUBLE), Literal(math.inf, DOUBLE)), BOOLEAN), 0, set()),
    (than(">", COUNT, -5), 0, {1, 3, 7, 15}),
    (BETWEEN, 3, {3, 7, 15}),
    (Call("or", (than(">", COUNT, 3), than("<", COUNT, 2)), BOOLEAN), 0, {1, 7, 15}),
    (Call("and", (than(">", COUNT, 3), than(">", aggregate("sum", "A", BIGINT), 20)), BOOLEAN), 0, {15}),
    (than(">", aggregate("count", "A", BIGINT), 11), 0, {7, 15}),
]


@pytest.mark.parametrize(("having", "least", "kept"), CASES)
def test_what_having_drops_by_its_count_alone_is_not_emitted(having: Expression, least: int, kept: set[int]) -> None:
    events: list[Event] = [(t, "A", str(group), 1) for group in range(1, 5) for t in range(group)]
    q = query(RUNS, having=having)
    assert fewest(q) == least
    assert {row[name_of(COUNT)] for row in rows_of(q, events)} == kept


def test_a_window_of_several_partitions_has_the_matches_of_all() -> None:
    q = replace(only(COUNT, having=than(">", COUNT, 3)), group_by=())
    assert fewest(q) == 0
    assert [row[name_of(COUNT)] for row in rows_of(q, [(t, "A", g, 0) for t, g in enumerate("gghh")])] == [6]


@pytest.mark.parametrize(("least", "kept"), [(2**62 - 1, 1), (2**62, 0)])
def test_counts_beyond_floats_are_compared_exactly_when_few_are_emitted(least: int, kept: int) -> None:
    q = only(COUNT, having=than(">=", COUNT, least))
    assert fewest(q) == 2**53
    assert len(rows_of(q, many(62))) == kept


# ---- numbers ---------------------------------------------------------------------------------------------------------


def test_numbers_are_cast_or_do_not_fit() -> None:
    exact = np.array([2**64, -5, Fraction(7, 2)], dtype=object)
    found, misfits = cast_column(exact, 0, None, BIGINT)
    assert (found.to_pylist(), misfits.tolist()) == ([None, -5, 3], [True, False, False])
    found, misfits = cast_column(np.array([12345, -5], dtype=np.int64), 2, None, DecimalType(4, 1))
    assert (found.to_pylist(), misfits.tolist()) == ([Decimal("123.5"), Decimal("-0.1")], [False, False])
    assert cast_column(np.array([12345, -5], dtype=np.int64), 2, None, STRING)[0].to_pylist() == ["123.45", "-0.05"]
    assert cast_column(np.array([99995], dtype=np.int64), 2, None, DecimalType(4, 1))[1].tolist() == [True]


def test_quotients_of_intervals_round_half_away_from_zero() -> None:
    found, _ = quotients(np.array([5, -5, 1], dtype=np.int64), np.array([2, 2, 0], dtype=np.int64), 0, INTERVAL)
    assert found.cast(pa.int64()).to_pylist() == [3, -3, None]


def test_exact_sums_with_infinite_ones_are_as_of_floats() -> None:
    assert add_exactly([2**70, Fraction(1, 2)]) == Fraction(2**71 + 1, 2)
    assert add_exactly([2**70, math.inf]) == math.inf
    assert math.isnan(float(add_exactly([math.inf, -math.inf])))


@pytest.mark.parametrize("more", [1, 40])
def test_sums_of_doubles_stay_exact_where_partitions_cancel_what_is_large(more: int) -> None:
    """In a partition what is small decides nothing; it does once another took away what is large."""
    total, mean = aggregate("sum", "A", DOUBLE), aggregate("avg", "A", DOUBLE)
    large: list[Event] = [(0, "A", "g", 1e300), (1, "A", "g", 7e-9), (2, "A", "h", -1e300), (3, "A", "h", 0.1)]
    events = [*large, *((4 + t, "A", f"k{t}", 1e16 if t % 2 else -1e16) for t in range(2 * more))]
    (row,) = rows_of(query(ONE, returns=[total, mean], group_by=()), events, DOUBLE)
    exact = Fraction(7e-9) + Fraction(0.1)
    assert (row[name_of(total)], row[name_of(mean)]) == (float(exact), float(exact / len(events)))


def test_an_unsure_sum_of_doubles_leaves_an_integer_beside_it_as_large_as_it_is() -> None:
    """Where the one was counted again modulo 2**64, so was the other, and seemed to fit."""
    small = 2.0**-3 + 2.0**-45
    total = aggregate("sum", "A", DOUBLE)
    whole = replace(aggregate("sum", "A", BIGINT, safe=True), argument=Literal(2**62, BIGINT))
    q = query(RUNS, 100, returns=[total, whole])
    (row,) = rows_of(q, events_of(2.0**49, -(2.0**49), *[128 + small, -128.0] * 6), DOUBLE)
    assert (row[name_of(total)], row[name_of(whole)]) == (2**13 * 6 * small, None)


FAR_APART: Final = (1e300, -1e300, 1e16, -1e16, 1.0, 3.3, 0.1, 7e-9, 5e-324)


def test_sums_of_doubles_far_apart_take_few_passes_of_the_kernel() -> None:
    """Each row was counted again in long integers, and went through all events for that."""
    large, small = FAR_APART[:4], FAR_APART[4:]
    numbers = random.Random(1)
    values = [numbers.choice(large if t % 20 < 10 else small) for t in range(500)]
    events: list[Event] = [(t, "A", f"g{t % 10}", x) for t, x in enumerate([*values, *(-x for x in values[:495])])]
    total = aggregate("sum", "A", DOUBLE)
    with (
        patch.object(counted_again, "count_modulo", wraps=count_modulo) as passes,
        patch.object(Recount, "row", autospec=True) as rows,
    ):
        for grouped in (("g",), ()):
            passes.reset_mock()
            for row in rows_of(query(ONE, 100_000, returns=[total], group_by=grouped), events, DOUBLE):
                own = [x for _, _, g, x in events if row.get("g", g) == g]
                assert row[name_of(total)] == math.fsum(own)
            assert 1 <= passes.call_count <= 5
    rows.assert_not_called()


DOUBLES = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(FAR_APART))


@given(st.lists(st.tuples(st.sampled_from("ghk"), DOUBLES, st.booleans()), min_size=1, max_size=12), st.booleans())
def test_sums_of_doubles_of_any_magnitudes_are_rounded_once(rows: list[tuple[str, float, bool]], parted: bool) -> None:
    """Over partitions, or within each; some values are taken away once more."""
    rows = [*rows, *((g, -x, back) for g, x, back in rows if back)]
    events: list[Event] = [(t, "A", g, x) for t, (g, x, _) in enumerate(rows)]
    total, mean = aggregate("sum", "A", DOUBLE), aggregate("avg", "A", DOUBLE)
    q = query(RUNS, 100_000, returns=[total, mean], group_by=("g",) if parted else ())
    expected: dict[str, tuple[int, Fraction]] = {}
    for key in {g for g, _, _ in rows}:
        own = [x for g, x, _ in rows if g == key]
        each = 2 ** (len(own) - 1)  # so many of the sequences have an event
        count, known = expected.get(key if parted else "", (0, Fraction()))
        expected[key if parted else ""] = count + each * len(own), known + each * sum(map(Fraction, own), Fraction())
    found = {row.get("g", ""): (row[name_of(total)], row[name_of(mean)]) for row in rows_of(q, events, DOUBLE)}
    assert found == {key: (nearest(exact), nearest(exact / count)) for key, (count, exact) in expected.items()}


@given(st.lists(st.floats(-1e150, 1e150), min_size=1, max_size=12), st.integers(1, 12))
def test_so_many_doubles_as_all_sums_of_are_exact_have_exact_sums_run_by_run(numbers: list[float], length: int) -> None:
    starts = np.arange(0, len(numbers), length)
    for _, scale in parts(np.array(numbers), starts):
        if scale.lost.any() or scale.most == math.inf:
            assert scale.most == (0 if scale.lost.any() else math.inf)
            continue
        assert scale.exact(np.full(len(starts), scale.most)).all()
        assert not scale.exact(np.full(len(starts), scale.most * 1.001)).all()


@given(st.lists(st.tuples(st.integers(0, 2), DOUBLES)), st.floats(0, 2.0**53, exclude_max=True))
def test_pieces_of_doubles_are_all_of_them_in_few_bits(rows: list[tuple[int, float]], count: float) -> None:
    groups, bits = np.array([g for g, _ in rows], dtype=np.int64), bits_for(count)
    found = pieces(np.array([x for _, x in rows]), groups, np.array([True, False, True]), bits)
    sums = [0] * len(rows)
    for event, slot, digit in zip(found.events.tolist(), found.slots.tolist(), found.digits.tolist(), strict=True):
        assert 0 < abs(digit) < 2**bits
        assert abs(digit) * count <= 2**62
        sums[event] += digit << int(found.exponents[slot, groups[event]])
    assert sums == [in_units(x) if g != 1 else 0 for g, x in rows]
