"""The oracle's result rows against docs/language.md, "Results" and "Windows": windows, aggregates, names, overflow, bad
data.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from tests import oracle
from tests.streams import count, events, program, query, rows


def windows(clauses: str, stream: str) -> dict[tuple[object, object], object]:
    """COUNT(*) by window."""
    result = oracle.evaluate(query(clauses, "COUNT(*) AS n"), events(stream))["q"]
    return {(row["window_start"], row["window_end"]): row["n"] for row in result}


WINDOWS = [
    ("A WITHIN 10 s", "a1 a9 a10", {(0, 10): 2, (10, 20): 1}),
    ("SEQ(A, B) WITHIN 10 s", "a9 b11", {}),
    ("SEQ(A, B) WITHIN 10 s SLIDE 5 s", "a9 b11", {(5, 15): 1}),
    ("SEQ(A, B) WITHIN 10 s SLIDE 5 s", "a6 b9", {(0, 10): 1, (5, 15): 1}),
    ("A WITHIN 10 s SLIDE 5 s", "a-1", {(-10, 0): 1, (-5, 5): 1}),
    ("A WITHIN 10 s SLIDE 3 s", "a0", {(-9, 1): 1, (-6, 4): 1, (-3, 7): 1, (0, 10): 1}),
    ("A WITHIN 2 s SLIDE 5 s", "a0 a1 a2 a4 a5", {(0, 2): 2, (5, 7): 1}),
    ("A WITHIN 10 s OFFSET 2 s", "a1 a2 a11 a12", {(-8, 2): 1, (2, 12): 2, (12, 22): 1}),
    ("A WITHIN 10 s OFFSET -2 s", "a7 a8 a17", {(-2, 8): 1, (8, 18): 2}),
    ("A WITHIN 10 s OFFSET 0 s", "a0", {(0, 10): 1}),
    ("A WITHIN 10 s OFFSET 32 s", "a1 a2", {(-8, 2): 1, (2, 12): 1}),
    ("SEQ(A, B) WITHIN 10 s SLIDE 5 s OFFSET 1 s", "a5 b9 b11", {(1, 11): 1}),
    ("SEQ(A, B) WITHIN 10 s SLIDE 5 s OFFSET 1 s", "a6 b10 b11", {(1, 11): 1, (6, 16): 2}),
    ("A WITHIN 2 s SLIDE 5 s OFFSET 1 s", "a0 a1 a2 a3 a6", {(1, 3): 2, (6, 8): 1}),
    ("SEQ(A, NOT C) WITHIN 10 s SLIDE 5 s OFFSET 1 s", "a7 c11", {(1, 11): 1}),
    ("A WITHIN UNBOUNDED", "a0 a100000", {(None, None): 2}),
    ("SEQ(NOT C, A) WITHIN 10 s", "c1 a3", {}),
    ("SEQ(NOT C, A) WITHIN 10 s", "c3 a3", {(0, 10): 1}),
    ("SEQ(NOT C, A) WITHIN 10 s", "c9 a11", {(10, 20): 1}),
    ("SEQ(NOT C, A) WITHIN 10 s SLIDE 5 s", "c9 a11", {(10, 20): 1}),
    ("SEQ(A, NOT C) WITHIN 10 s SLIDE 5 s", "a7 c11", {(0, 10): 1}),
    ("SEQ(A, NOT C) WITHIN UNBOUNDED", "a7 c11", {}),
    ("SEQ(A, NOT SEQ(C, D)) WITHIN 10 s", "a7 c9 d11", {(0, 10): 1}),
    ("AND(A, NOT C) WITHIN 10 s SLIDE 5 s", "c3 a7", {(5, 15): 1}),
    ("SEQ(A, NOT C WITHIN 5 s) WITHIN 10 s", "a7 c11", {}),
    ("SEQ(A, NOT C WITHIN 4 s) WITHIN 10 s", "a7 c11", {(0, 10): 1}),
    ("SEQ(A, NOT C WITHIN 4 s) WITHIN 10 s", "a3 c8", {(0, 10): 1}),
]


@pytest.mark.parametrize(("clauses", "stream", "expected"), WINDOWS, ids=[f"{c} over {s}" for c, s, _ in WINDOWS])
def test_a_match_counts_in_every_window_that_holds_all_of_its_events(
    clauses: str, stream: str, expected: object
) -> None:
    assert windows(clauses, stream) == expected


def test_a_match_query_returns_each_match_once_and_is_bounded_itself() -> None:
    assert [(r["match_start"], r["match_end"]) for r in rows("SEQ(A, B) WITHIN 10 s", "a9 b18 b19")] == [(9, 18)]


def test_an_aggregate_query_has_a_row_for_each_group_and_window_with_a_match() -> None:
    text = "RETURN g, COUNT(*) AS n, SUM(A.x) AS s PATTERN SEQ(A, B) GROUP BY g WITHIN 10 s"
    assert rows(text, "a1(g=1, x=5) a2(g=1, x=6) b3(g=1) a4 b5 b6(g=2) a11(g=1, x=1) b12(g=1)") == [
        {"g": 1, "n": 1, "s": 1, "window_start": 10, "window_end": 20},
        {"g": 1, "n": 2, "s": 11, "window_start": 0, "window_end": 10},
        {"g": None, "n": 1, "s": None, "window_start": 0, "window_end": 10},
    ]


def test_an_equivalence_says_which_events_may_be_together_and_makes_no_groups() -> None:
    assert count("SEQ(A, B) WHERE [g]", "a1(g=1) b2(g=1) a3(g=2) b4(g=2)") == 2


def test_a_group_by_attribute_may_have_a_type_before_it_and_keeps_its_bare_name() -> None:
    (row,) = rows("RETURN A.g, COUNT(*) AS n PATTERN SEQ(A a, B) GROUP BY A.g", "a1(g=1) b2(g=1)")
    assert row == {"g": 1, "n": 1, "window_start": 0, "window_end": 100}


def test_zero_groups_with_minus_zero() -> None:
    (row,) = rows("RETURN y, COUNT(*) AS n PATTERN A GROUP BY y", "a1(y=-0.0) a2(y=0.0)")
    assert (math.copysign(1, row["y"]), row["n"]) == (1, 2)


AGGREGATES = [
    ("COUNT(*)", 3),
    ("COUNT(A)", 4),
    ("COUNT(A.x)", 2),
    ("COUNT(B)", 3),
    ("SUM(A.x)", 10),
    ("SUM(A.y)", 2.0),
    ("SUM(A.x + 1)", 12),
    ("AVG(A.x)", 5.0),
    ("MIN(A.x)", 5),
    ("MAX(A.x)", 5),
    ("MAX(A.name)", "a2"),
    ("SUM(B.x)", None),
    ("AVG(B.x)", None),
    ("VARIANCE(A.x)", 0.0),
    ("STDDEV(A.x)", 0.0),
    ("VAR_POP(A.at)", 0.25),
    ("STDDEV_POP(A.at)", 0.5),
    ("VARIANCE(A.at)", 1 / 3),
    ("STDDEV(B.at)", 0.0),
    ("STDDEV(B.x)", None),
    ("MIN(B.x)", None),
    ("COUNT(B.x)", 0),
    ("SUM(A.x) / COUNT(*)", 10 / 3),
    ("COUNT(*) DIV 2 + 1", 2),
    ("CASE WHEN COUNT(*) > 2 THEN 'many' ELSE 'few' END", "many"),
]


@pytest.mark.parametrize(("aggregate", "expected"), AGGREGATES)
def test_aggregates_are_over_all_matches_of_the_group_in_the_window(aggregate: str, expected: object) -> None:
    """Over {a1 b3}, {a2 b3}, {a1 a2 b3}."""
    (row,) = rows(f"RETURN COUNT(*) AS n, {aggregate} AS r PATTERN SEQ(A+, B)", "a1(x=5) a2(y=1.0) b3")
    assert row["r"] == expected


def test_nan_is_the_greatest_number() -> None:
    text = "RETURN MIN(A.y) AS low, MAX(A.y) AS high, SUM(A.y) AS s, AVG(A.y) AS m PATTERN A"
    (row,) = rows(text, "a1(y=nan) a2(y=1.5)")
    assert row["low"] == 1.5
    assert all(math.isnan(row[name]) for name in ("high", "s", "m"))


MATCH_COLUMNS = [
    ("B.x", 7),
    ("C.x", None),
    ("FIRST(A.x)", 1),
    ("LAST(A.x)", None),
    ("COUNT(A)", 3),
    ("COUNT(A.x)", 2),
    ("COUNT(*)", 4),
    ("SUM(A.x)", 4),
    ("AVG(A.x)", 2.0),
    ("MIN(A.x)", 1),
    ("MAX(A.x)", 3),
    ("COLLECT(A.x)", [1, 3, None]),
    ("COLLECT(C.x)", []),
    ("SUM(C.x)", None),
    ("COUNT(C)", 0),
    ("FIRST(C.x)", None),
    ("B.x - FIRST(A.x)", 6),
    ("g", 4),
]


@pytest.mark.parametrize(("column", "expected"), MATCH_COLUMNS)
def test_a_match_query_returns_columns_of_each_match(column: str, expected: object) -> None:
    text = f"RETURN MATCH {column} AS r PATTERN SEQ(A{{3}}, B, C?) WHERE [g]"
    (row,) = rows(text, "a1(g=4, x=1) a2(g=4, x=3) a3(g=4) b4(g=4, x=7)")
    assert row == {"r": expected, "match_start": 1, "match_end": 4}


def test_a_return_without_aggregates_is_a_match_query() -> None:
    assert rows("RETURN A.x PATTERN A WITHIN 10 s", "a1(x=3) a15") == [
        {"x": 3, "match_start": 1, "match_end": 1},
        {"x": None, "match_start": 15, "match_end": 15},
    ]


def test_return_match_star_is_all_events_with_their_variable() -> None:
    (row,) = rows("SEQ(A a, B)", "a1(x=1) b2")
    assert row["events"] == [
        {"variable": "a", "at": 1, "kind": "A", "g": None, "x": 1, "y": None, "name": "a1", "seq": None},
        {"variable": "B", "at": 2, "kind": "B", "g": None, "x": None, "y": None, "name": "b2", "seq": None},
    ]


HAVING = [
    ("RETURN COUNT(*) AS n PATTERN A GROUP BY g HAVING n > 1", [2]),
    ("RETURN COUNT(*) AS n PATTERN A GROUP BY g HAVING COUNT(*) = 1", [1]),
    ("RETURN COUNT(*) AS n PATTERN A GROUP BY g HAVING SUM(A.x) > 0", [2]),
    ("RETURN COUNT(*) AS n PATTERN A GROUP BY g HAVING g = 2", [1]),
    ("RETURN MATCH COUNT(A) AS n PATTERN A+ WHERE [g] HAVING SUM(A.x) = 3", [2]),
    ("RETURN MATCH COUNT(A) AS n PATTERN A+ WHERE [g] HAVING n > 1", [2]),
]


@pytest.mark.parametrize(("text", "expected"), HAVING)
def test_having_filters_rows_and_may_use_aliases(text: str, expected: list[int]) -> None:
    assert [row["n"] for row in rows(text, "a1(g=1, x=1) a2(g=1, x=2) a3(g=2)")] == expected


NAMES = [
    ("COUNT(*)", "count(1)"),
    ("SUM(A.x)", "sum(x)"),
    ("SUM(A.x) + 1", "(sum(x) + 1)"),
    ("CAST(COUNT(*) AS DECIMAL(38,0))", "CAST(count(1) AS DECIMAL(38,0))"),
    ("COUNT(*)::STRING", "CAST(count(1) AS STRING)"),
    ("TRY_COUNT(*)", "try_count(1)"),
    ("AVG(-A.x)", "avg((- x))"),
]


@pytest.mark.parametrize(("item", "name"), NAMES)
def test_without_as_a_column_is_named_as_spark_names_it(item: str, name: str) -> None:
    assert list(rows(f"RETURN {item} PATTERN A", "a1")[0]) == [name, "window_start", "window_end"]


# ---- numbers are never silently wrong --------------------------------------------------------------------------------


def wide(returned: str, values: list[object], kind: str = "BIGINT", having: str = "") -> list[dict[str, Any]]:
    """The rows of an aggregate over A events with these values of v."""
    text = f"""
    STREAM s (at BIGINT, kind STRING, v {kind}) EVENT TIME at EVENT TYPE kind IN ('A');
    QUERY q RETURN {returned} AS r PATTERN A {having} WITHIN 1000 s;
    """
    return oracle.evaluate(program(text), [{"at": i, "kind": "A", "v": v} for i, v in enumerate(values)])["q"]


TOP = 2**63 - 1


def test_a_sum_that_does_not_fit_is_an_error_that_names_query_group_and_window() -> None:
    with pytest.raises(oracle.Overflow) as raised:
        wide("SUM(A.v)", [TOP, 1])
    assert (raised.value.query, raised.value.column) == ("q", "r")


CURES: list[tuple[str, list[object], str, object]] = [
    ("SUM(A.v)", [TOP, 1, -1], "BIGINT", TOP),
    ("CAST(SUM(A.v) AS STRING)", [TOP, TOP], "BIGINT", str(2 * TOP)),
    ("CAST(SUM(A.v) AS DECIMAL(38,0))", [TOP, TOP], "BIGINT", Decimal(2 * TOP)),
    ("CAST(SUM(A.v) AS DOUBLE)", [TOP, TOP], "BIGINT", float(2 * TOP)),
    ("TRY_SUM(A.v)", [TOP, TOP], "BIGINT", None),
    ("TRY_SUM(A.v)", [TOP, -1], "BIGINT", TOP - 1),
    ("TRY_CAST(COUNT(*) AS TINYINT)", [1, 2], "BIGINT", 2),
    ("AVG(A.v)", [TOP, TOP], "BIGINT", float(TOP)),
    ("AVG(A.v)", [Decimal("0.01"), Decimal("0.02"), Decimal("0.02")], "DECIMAL(10,2)", Decimal("0.016667")),
    ("SUM(A.v)", [Decimal("0.01"), Decimal("0.02")], "DECIMAL(10,2)", Decimal("0.03")),
    ("CAST(SUM(A.v) AS STRING)", [Decimal("9" * 38), Decimal("9" * 38)], "DECIMAL(38,0)", str(2 * int("9" * 38))),
    ("SUM(A.v)", [1e308, 1e308], "DOUBLE", math.inf),
    ("AVG(A.v)", [1e308, 1e308], "DOUBLE", 1e308),
    ("SUM(A.v)", [127, 127], "TINYINT", 254),
]


@pytest.mark.parametrize(("returned", "values", "kind", "expected"), CURES)
def test_a_cast_directly_around_an_aggregate_sets_the_type_it_is_computed_in(
    returned: str, values: list[object], kind: str, expected: object
) -> None:
    assert wide(returned, values, kind)[0]["r"] == expected


FAILURES: list[tuple[str, list[object], str]] = [
    ("CAST(COUNT(*) AS TINYINT)", [1] * 128, "BIGINT"),
    ("SUM(A.v)", [Decimal("9" * 38), Decimal(1)], "DECIMAL(38,0)"),
    ("CAST(SUM(A.v) AS DECIMAL(19,0))", [TOP, TOP], "BIGINT"),
    ("CAST(SUM(A.v) + 0 AS STRING)", [TOP, TOP], "BIGINT"),
]


@pytest.mark.parametrize(("returned", "values", "kind"), FAILURES)
def test_what_does_not_fit_even_so_is_an_error(returned: str, values: list[object], kind: str) -> None:
    with pytest.raises(oracle.Overflow):
        wide(returned, values, kind)


def test_having_compares_exact_values() -> None:
    assert wide("COUNT(*)", [TOP, TOP], having="HAVING SUM(A.v) > 9223372036854775807")[0]["r"] == 2
    assert wide("SUM(A.v)", [TOP, TOP], having="HAVING SUM(A.v) < 5") == []


def test_arithmetic_fails_as_in_ansi_mode() -> None:
    with pytest.raises(oracle.EvaluationError):
        rows("RETURN SUM(A.x) / (COUNT(*) - 1) AS r PATTERN A", "a1(x=1)")
    with pytest.raises(oracle.EvaluationError):
        rows("A WHERE A.x + 1 > 0", f"a1(x={2**31 - 1})")


# ---- times and bad data ----------------------------------------------------------------------------------------------


def timed(
    kind: str, unit: str, window: str, times: list[object], returned: str = "COUNT(*) AS n"
) -> list[dict[str, Any]]:
    text = f"""
    STREAM A (at {kind}) EVENT TIME at {unit};
    QUERY q RETURN {returned} PATTERN A+ WITHIN {window};
    """
    return oracle.evaluate(program(text), [{"at": time} for time in times])["q"]


TIMES: list[tuple[str, str, str, list[object], list[tuple[object, object, int]]]] = [
    ("BIGINT", "", "10 s", [5], [(0, 10, 1)]),
    ("BIGINT", "UNIT ms", "1 s", [999, 1000], [(0, 1000, 1), (1000, 2000, 1)]),
    ("INT", "UNIT us", "1 ms", [-1], [(-1000, 0, 1)]),
    ("DATE", "", "2 DAYS", [date(1969, 12, 31)], [(date(1969, 12, 30), date(1970, 1, 1), 1)]),
    (
        "TIMESTAMP",
        "",
        "1 HOUR",
        [datetime(1969, 12, 31, 23, 30, tzinfo=UTC)],
        [(datetime(1969, 12, 31, 23, tzinfo=UTC), datetime(1970, 1, 1, tzinfo=UTC), 1)],
    ),
    (
        "TIMESTAMP_NTZ",
        "",
        "500 ms SLIDE 250 ms",
        [datetime(2020, 1, 1, 0, 0, 0, 300000)],
        [
            (datetime(2020, 1, 1), datetime(2020, 1, 1, 0, 0, 0, 500000), 1),
            (datetime(2020, 1, 1, 0, 0, 0, 250000), datetime(2020, 1, 1, 0, 0, 0, 750000), 1),
        ],
    ),
    ("BIGINT", "", "10 s", [None, 3, None], [(0, 10, 1)]),
]


@pytest.mark.parametrize(("kind", "unit", "window", "times", "expected"), TIMES)
def test_windows_are_in_the_type_and_unit_of_the_event_time(
    kind: str, unit: str, window: str, times: list[object], expected: list[tuple[object, object, int]]
) -> None:
    found = [(row["window_start"], row["window_end"], row["n"]) for row in timed(kind, unit, window, times)]
    assert sorted(found, key=str) == sorted(expected, key=str)


def test_order_by_breaks_ties_with_nulls_first() -> None:
    text = """
    STREAM s (at BIGINT, kind STRING, seq INT) EVENT TIME at ORDER BY seq EVENT TYPE kind IN ('A', 'B');
    QUERY q RETURN MATCH * PATTERN SEQ(A, B) WITHIN 10 s;
    """
    stream = [("B", None), ("A", None), ("A", 1), ("B", 2), ("B", 1)]
    found = oracle.matches(program(text), "q", [{"at": 0, "kind": k, "seq": s} for k, s in stream])
    assert found == {
        frozenset({(1, "A"), (3, "B")}),
        frozenset({(1, "A"), (4, "B")}),
        frozenset({(2, "A"), (3, "B")}),
    }


def test_an_event_without_a_time_or_a_type_is_dropped() -> None:
    stream: list[dict[str, object]] = [*events("a1 b2"), {"at": None, "kind": "A"}, {"at": 1, "kind": None}]
    assert len(oracle.matches(query("ANY+"), "q", stream)) == 3


def test_the_type_column_is_compared_as_a_string() -> None:
    text = """
    STREAM s (at BIGINT, kind INT) EVENT TIME at EVENT TYPE kind;
    QUERY q RETURN COUNT(*) AS n PATTERN `7` WITHIN 10 s;
    """
    assert oracle.evaluate(program(text), [{"at": 0, "kind": 7}, {"at": 1, "kind": 8}])["q"][0]["n"] == 1


def test_canonical_order_is_time_then_all_columns_nulls_first() -> None:
    (row,) = rows("RETURN MATCH COLLECT(A.x) AS xs PATTERN AND(A, A, A)", "a1(x=2) a1'(x=1) a1''")
    assert row["xs"] == [None, 1, 2]
