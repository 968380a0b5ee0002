"""From syntax to typed expressions: coercions, places, names of columns, and what every mistake is answered."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from cepc.expressions import ExpressionContext, column_name, data_type, type_condition, type_expression
from cepc_grammar import ast
from cepc_runtime.sql import functions as catalogue
from cepc_runtime.sql.aggregate_functions import COUNT, SUM
from cepc_runtime.sql.evaluate.kernels import KERNELS
from cepc_runtime.sql.expression import Aggregate, Call, Expression, Field, Literal, from_data, to_data
from cepc_runtime.sql.functions.portable import PORTABLE, spark_only
from cepc_runtime.sql.functions.spark import spark_functions
from cepc_runtime.sql.spark_sql import describe, to_sql
from cepc_runtime.sql.types import BIGINT, BOOLEAN, DOUBLE, INT, STRING, Array, Decimal, Interval
from tests.expression_scope import COLUMNS, World, codes, typed, written

ALL = list(ExpressionContext)


def sql(expression: Expression) -> str:
    return to_sql(expression, lambda leaf: getattr(leaf, "column", "")).replace("`", "")


# ---- coercions -------------------------------------------------------------------------------------------------------

TYPED: list[tuple[str, str, str]] = [
    ("i + l", "BIGINT", "(CAST(i AS BIGINT) + l)"),
    ("i + 1L", "BIGINT", "(CAST(i AS BIGINT) + 1L)"),
    ("i + f", "DOUBLE", "(CAST(i AS DOUBLE) + CAST(f AS DOUBLE))"),
    ("i / 2", "DOUBLE", "(CAST(i AS DOUBLE) / 2.0D)"),
    ("de + 1", "DECIMAL(11,2)", "(de + 1BD)"),
    ("de + i", "DECIMAL(13,2)", "(de + CAST(i AS DECIMAL(10,0)))"),
    ("de / 3", "DECIMAL(14,6)", "(de / 3BD)"),
    ("de * de", "DECIMAL(21,4)", "(de * de)"),
    ("CAST(de AS DECIMAL(38,10)) * de", "DECIMAL(38,6)", "(CAST(de AS DECIMAL(38,10)) * de)"),
    ("i = '12'", "BOOLEAN", "(CAST(i AS BIGINT) = 12L)"),
    ("d > 1.5", "BOOLEAN", "(d > 1.5D)"),
    ("dt = '2020-02-29'", "BOOLEAN", "(dt = DATE '2020-02-29')"),
    ("ts >= '2020-02-29 12:00:00+02:00'", "BOOLEAN", "(ts >= TIMESTAMP '2020-02-29 10:00:00Z')"),
    ("dt < ts", "BOOLEAN", "(CAST(dt AS TIMESTAMP) < ts)"),
    ("i <> 1", "BOOLEAN", "(NOT (i = 1))"),
    ("i BETWEEN 1 AND l", "BOOLEAN", "((i >= 1) AND (CAST(i AS BIGINT) <= l))"),
    ("i IS DISTINCT FROM 1", "BOOLEAN", "(NOT (i <=> 1))"),
    ("bo IS NOT TRUE", "BOOLEAN", "(NOT (bo <=> TRUE))"),
    ("bo AND bo AND NOT bo", "BOOLEAN", "(bo AND bo AND (NOT bo))"),
    ("CASE i WHEN 1 THEN 2L END", "BIGINT", "CASE WHEN (i = 1) THEN 2L ELSE CAST(NULL AS BIGINT) END"),
    ("if(bo, i, d)", "DOUBLE", "CASE WHEN bo THEN CAST(i AS DOUBLE) ELSE d END"),
    ("nvl2(s, 1, 2L)", "BIGINT", "CASE WHEN (s IS NOT NULL) THEN 1L ELSE 2L END"),
    ("s || i", "STRING", "concat(s, CAST(i AS STRING))"),
    ("ts - INTERVAL 90 MINUTES", "TIMESTAMP", "(ts - INTERVAL '0 01:30:00' DAY TO SECOND)"),
    ("dt - INTERVAL 2 DAYS", "DATE", "date_sub(dt, EXTRACT(DAY FROM INTERVAL '2' DAY))"),
    ("dt + 1", "DATE", "date_add(dt, 1)"),
    ("ts - nt", "INTERVAL DAY TO SECOND", "(CAST(ts AS TIMESTAMP_NTZ) - nt)"),
    ("EXTRACT(DOW FROM dt)", "INT", "dayofweek(dt)"),
    ("EXTRACT(SECOND FROM ts)", "DECIMAL(8,6)", "EXTRACT(SECOND FROM ts)"),
    ("CEILING(de)", "DECIMAL(9,0)", "ceil(de)"),
    ("round(de, 1)", "DECIMAL(10,1)", "round(de, 1)"),
    ("trim('-', s)", "STRING", "TRIM(BOTH '-' FROM s)"),
    ("st.in.y", "DOUBLE", "st.in.y"),
    ("ma['x'] + ar[0]", "INT", "(ma['x'] + ar[0])"),
    ("double(i)", "DOUBLE", "CAST(i AS DOUBLE)"),
    ("double('NaN')", "DOUBLE", "CAST('NaN' AS DOUBLE)"),
    ("date('2020-02-29')", "DATE", "CAST('2020-02-29' AS DATE)"),
    ("int(s)", "INT", "CAST(s AS INT)"),
    ("int('12') = i", "BOOLEAN", "(CAST('12' AS INT) = i)"),
    ("i::STRING", "STRING", "CAST(i AS STRING)"),
    ("soundex(s)", "STRING", "soundex(s)"),
    ("CAST(get(ar, 0) AS INT)", "INT", "CAST(get(ar, 0) AS INT)"),
    ("date_format(ts, 'yyyy')", "STRING", "date_format(ts, 'yyyy')"),
    ("to_date(s, 'yyyyMMdd')", "DATE", "to_date(s, 'yyyyMMdd')"),
    ("-2147483648", "INT", "(-2147483648)"),
    ("2147483648", "BIGINT", "2147483648L"),
    ("9223372036854775808", "DECIMAL(19,0)", "9223372036854775808BD"),
    ("0.05", "DECIMAL(2,2)", "0.05BD"),
    ("1e3", "DOUBLE", "1000.0D"),
    ("X'1F'", "BINARY", "X'1F'"),
    ("INTERVAL 1 HOUR 30 MINUTES", "INTERVAL HOUR TO MINUTE", "INTERVAL '01:30' HOUR TO MINUTE"),
    ("-INTERVAL 1 DAY", "INTERVAL DAY", "(- INTERVAL '1' DAY)"),
    ("INTERVAL 1.5 SECONDS", "INTERVAL SECOND", "INTERVAL '01.5' SECOND"),
    ("INTERVAL 1 DAY 1.5 SECONDS", "INTERVAL DAY TO SECOND", "INTERVAL '1 00:00:01.5' DAY TO SECOND"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "type_", "printed"), TYPED, ids=[text for text, _, _ in TYPED])
def test_types_and_coercions(text: str, type_: str, printed: str) -> None:
    expression = typed(text, ExpressionContext.EVENT)
    assert (expression.type.sql, sql(expression)) == (type_, printed)


def test_names_of_functions_have_no_case() -> None:
    assert typed("Upper(s)", ExpressionContext.EVENT) == typed("UCASE(s)", ExpressionContext.EVENT)


# ---- aggregates and events of a match --------------------------------------------------------------------------------


def aggregate(text: str, context: ExpressionContext = ExpressionContext.AGGREGATE) -> Aggregate:
    found = typed(text, context)
    assert isinstance(found, Aggregate)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("COUNT(*)", Aggregate(COUNT, None, None, False, None, BIGINT)),
        ("count(b)", Aggregate(COUNT, "b", None, False, None, BIGINT)),
        ("COUNT(w.p)", Aggregate(COUNT, "w.p", None, False, None, BIGINT)),
        ("COUNT(b.i)", Aggregate(COUNT, "b", Field("b", "i", "each", INT), False, None, BIGINT)),
        ("TRY_COUNT(*)", Aggregate(COUNT, None, None, True, None, BIGINT)),
        ("string(COUNT(*))", Aggregate(COUNT, None, None, False, STRING, STRING)),
        ("CAST(COUNT(*) AS STRING)", Aggregate(COUNT, None, None, False, STRING, STRING)),
        ("CAST(COUNT(*) AS DECIMAL(38,0))", Aggregate(COUNT, None, None, False, Decimal(38, 0), Decimal(38, 0))),
        ("TRY_CAST(COUNT(*) AS INT)", Aggregate(COUNT, None, None, True, INT, INT)),
        ("CAST(TRY_SUM(b.i) AS DOUBLE)", Aggregate(SUM, "b", Field("b", "i", "each", INT), True, DOUBLE, DOUBLE)),
    ],
)
def test_aggregates(text: str, expected: Aggregate) -> None:
    assert aggregate(text) == expected


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("SUM(b.ti)", BIGINT),
        ("SUM(b.d)", DOUBLE),
        ("SUM(b.f)", DOUBLE),
        ("SUM(b.de)", Decimal(20, 2)),
        ("SUM(b.iv)", Interval()),
        ("AVG(b.i)", DOUBLE),
        ("AVG(b.de)", Decimal(14, 6)),
        ("MIN(b.s)", STRING),
        ("MAX(b.i + 1)", INT),
    ],
)
def test_aggregates_have_sparks_types(text: str, type_: object) -> None:
    assert aggregate(text).type == type_


def test_collect_is_an_array() -> None:
    assert aggregate("COLLECT(b.i)", ExpressionContext.MATCH).type == Array(INT)


def test_a_cast_that_is_not_directly_around_is_a_cast() -> None:
    for text in (
        "CAST(COUNT(*) + 1 AS STRING)",
        "CAST(AVG(b.i) AS INT)",
        "CAST(SUM(b.d) AS INT)",
        "CAST(MIN(b.i) AS BIGINT)",
    ):
        assert isinstance(typed(text, ExpressionContext.AGGREGATE), Call)


def test_results_are_combined() -> None:
    assert describe(typed("SUM(a.i) + 2 * COUNT(b)", ExpressionContext.AGGREGATE)) == "SUM(a.i) + (2 * COUNT(b))"


def test_an_alias_in_having_is_its_expression() -> None:
    trips = aggregate("COUNT(*)")
    condition, diagnostics = type_condition(
        written("trips > 10"), World((("trips", trips),)), ExpressionContext.HAVING_AGGREGATE
    )
    assert not diagnostics
    assert condition == Call(">", (trips, Literal(10, BIGINT)), BOOLEAN)


@pytest.mark.parametrize(
    ("text", "context", "readable"),
    [
        ("b.i > PREV(b).i", ExpressionContext.CONDITION, "b.i > PREV(b).i"),
        ("b.i > PREV(b.i)", ExpressionContext.CONDITION, "b.i > PREV(b).i"),
        ("a.i > LAST(b).i + 1", ExpressionContext.CONDITION, "a.i > LAST(b).i + 1"),
        ("FIRST(b).st.in.y", ExpressionContext.MATCH, "FIRST(b).st.`in`.`y`"),
        ("LAST(b.i * 2)", ExpressionContext.MATCH, "LAST(b).i * 2"),
        ("FIRST(b).i < 3", ExpressionContext.HAVING_MATCH, "FIRST(b).i < 3"),
        ("FIRST(w.p).i", ExpressionContext.MATCH, "FIRST(w.p).i"),
        ("FIRST(b, 2).st.in.y", ExpressionContext.MATCH, "FIRST(b, 2).st.`in`.`y`"),
        ("LAST(b.i, 1) + LAST(b, 0).i", ExpressionContext.HAVING_MATCH, "LAST(b, 1).i + LAST(b).i"),
        ("b.i > PREV(b, 2).i + PREV(b, 1).i", ExpressionContext.CONDITION, "b.i > PREV(b, 2).i + PREV(b).i"),
        ("a.i < 2 * SUM(b.i)", ExpressionContext.CONDITION, "a.i < 2 * SUM(b.i)"),
        ("a.i <> b.i + 1 OR a.i != 2", ExpressionContext.CONDITION, "(a.i <> (b.i + 1)) OR (a.i <> 2)"),
        ("NOT (a.i < b.i)", ExpressionContext.CONDITION, "NOT (a.i < b.i)"),
    ],
)
def test_first_last_and_prev(text: str, context: ExpressionContext, readable: str) -> None:
    assert describe(typed(text, context)) == readable


# ---- mistakes --------------------------------------------------------------------------------------------------------

C, A, M, E = ExpressionContext.CONDITION, ExpressionContext.AGGREGATE, ExpressionContext.MATCH, ExpressionContext.EVENT

MISTAKES: list[tuple[str, ExpressionContext, list[str]]] = [
    ("foo(i)", E, ["E0301"]),
    ("upper()", E, ["E0302"]),
    ("substring(s, 1, 2, 3)", E, ["E0302"]),
    ("COUNT(b.i, b.l)", A, ["E0302"]),
    ("bo + 1", E, ["E0303"]),
    ("ts + 1", E, ["E0303"]),
    ("s = ar", E, ["E0303"]),
    ("ma = ma", E, ["E0303"]),
    ("upper(ar)", E, ["E0303"]),
    ("round(d, i)", E, ["E0303"]),
    ("date_trunc('fortnight', ts)", E, ["E0303"]),
    ("SUM(b.bo)", A, ["E0303"]),
    ("MIN(b.ma)", A, ["E0303"]),
    ("CASE WHEN i THEN 1 END", E, ["E0303"]),
    ("CASE WHEN bo THEN 1 ELSE ar END", E, ["E0303"]),
    ("i IS TRUE", E, ["E0303"]),
    ("CAST(i AS FOO)", E, ["E0305"]),
    ("CAST(i AS DECIMAL(40, 2))", E, ["E0306"]),
    ("CAST(ar AS INT)", E, ["E0307"]),
    ("CAST(dt AS INT)", E, ["E0307"]),
    ("DATE '2020-02-30'", E, ["E0308"]),
    ("300Y", E, ["E0308"]),
    ("1e400", E, ["E0308"]),
    ("INTERVAL 1 MONTH", E, ["E0308"]),
    ("INTERVAL 1.5 DAYS", E, ["E0308"]),
    ("INTERVAL 1.0 DAYS", E, ["E0308"]),
    ("INTERVAL 1 DAY 0.5 HOURS", E, ["E0308"]),
    ("INTERVAL 0.0000001 SECONDS", E, ["E0308"]),
    ("s LIKE 'x' ESCAPE 'ab'", E, ["E0308"]),
    ("rand() > 0.5", E, ["E0309"]),
    ("current_timestamp() > ts", E, ["E0309"]),
    ("unix_timestamp() > 0", E, ["E0309"]),
    ("ntile(2)", E, ["E0310"]),
    ("LAG(i)", E, ["E0335"]),
    ("LAG(a.i)", M, ["E0335"]),
    ("LAG(i) > 1", C, ["E0335"]),
    ("LAG(a) IS NULL", C, ["E0335"]),
    ("LAG(a).i > 1", C, ["E0335"]),
    ("LEAD(a.i + 1) > 1", C, ["E0335"]),
    ("LEAD(a.i, 0) > 1", C, ["E0335"]),
    ("LEAD(a.i, -1) > 1", C, ["E0335"]),
    ("LEAD(a.i, a.l) > 1", C, ["E0335"]),
    ("LEAD(a.i, 1000001) > 1", C, ["E0335"]),
    ("LAG(a.i, 1, 0) > 1", C, ["E0335"]),
    ("LAG() > 1", C, ["E0335"]),
    ("FIRST(LAG(b.i)) > 1", C, ["E0313"]),
    ("FIRST(b, 100).i > 1", C, []),
    ("FIRST(b, 101).i > 1", C, ["E0317"]),
    ("LAST(b, -1).i > 1", M, ["E0317"]),
    ("LAST(b.i, a.i) > 1", M, ["E0317"]),
    ("PREV(b, 0).i > 1", C, ["E0317"]),
    ("PREV(b, 2).i > 1", M, ["E0317"]),
    ("FIRST(b.i, 1, 2) > 1", C, ["E0302"]),
    ("FIRST(a, 1).i > 1", C, ["E0318"]),
    ("FIRST(a, 0).i > 1", C, []),
    ("FIRST(COALESCE(b.i, 0), 1) > 1", C, ["E0317"]),
    ("PREV(COALESCE(b.i, 0), 2) > 1", C, []),
    ("FIRST(b, 1) > 1", C, ["E0328"]),
    ("COUNT(b) > SUM(a.i)", C, []),
    ("b.i > AVG(b.i)", C, []),
    ("SUM(b) > 1", C, ["E0328"]),
    ("SUM(a.i + b.i) > 1", C, ["E0314"]),
    ("COUNT(DISTINCT b.i) > 1", C, ["E0312"]),
    ("TRY_SUM(b.i) > 1", C, ["E0315"]),
    ("STDDEV(b.i) > 1", C, ["E0315"]),
    ("COLLECT(b.i) IS NULL", C, ["E0315"]),
    ("MATCH_NUMBER() > 1", C, ["E0315"]),
    ("SUM(RUNNING SUM(b.i)) > 1", C, ["E0313"]),
    ("SUM(COUNT(b)) > 1", C, ["E0313"]),
    ("RUNNING SUM(b.i)", M, ["E0336"]),
    ("RUNNING SUM(i) > 1", E, ["E0336"]),
    ("RUNNING COUNT(*) > 1", C, ["E0336"]),
    ("RUNNING FIRST(b.i) > 1", C, ["E0336"]),
    ("RUNNING TRY_SUM(b.i) > 1", C, ["E0336"]),
    ("RUNNING SUM(b) > 1", C, ["E0328"]),
    ("RUNNING SUM(b.s) > 1", C, []),
    ("RUNNING SUM(b.bo) > 1", C, ["E0303"]),
    ("RUNNING MAX(b.ma) IS NULL", C, ["E0303"]),
    ("FIRST(RUNNING SUM(b.i)) > 1", C, ["E0313"]),
    ("LAG(FIRST(b.i)) > 1", C, ["E0335"]),
    ("explode(ar)", E, ["E0310"]),
    ("exists(s)", E, ["E0310"]),
    ("filter(ar, i)", E, ["E0310"]),
    ("skewness(b.i)", A, ["E0311"]),
    ("COLLECT(b.i)", A, ["E0311"]),
    ("COUNT(DISTINCT b.i)", A, ["E0312"]),
    ("COUNT(DISTINCT b.ma)", M, ["E0303"]),
    ("MAX_BY(b.i, b.ma)", M, ["E0303"]),
    ("MAX_BY(b.i, COUNT(b))", M, ["E0313"]),
    ("SUM(COUNT(*))", A, ["E0313"]),
    ("SUM(FIRST(b).i)", M, ["E0313"]),
    ("FIRST(LAST(b).i)", M, ["E0313"]),
    ("SUM(a.i + b.i)", A, ["E0314"]),
    ("FIRST(a.i + b.i)", M, ["E0314"]),
    ("COUNT(*) > 1", C, ["E0315"]),
    ("MAX(i) > 1", E, ["E0315"]),
    ("SUM(1)", A, ["E0316"]),
    ("FIRST(b).i", A, ["E0317"]),
    ("PREV(b).i", M, ["E0317"]),
    ("FIRST(i)", E, ["E0317"]),
    ("FIRST(1)", M, ["E0317"]),
    ("FIRST()", M, ["E0317"]),
    ("PREV(a).i < 1", C, ["E0318"]),
    ("b.i + 1", M, ["E0319"]),
    ("st.z", E, ["E0322"]),
    ("FIRST(b).st.z", M, ["E0322"]),
    ("FIRST(b).i.z", M, ["E0322"]),
    ("SUM(*)", A, ["E0323"]),
    ("array(1)", E, ["E0324"]),
    ("ts > 'soon'", E, ["E0327"]),
    ("i IN (1, 'x')", E, ["E0327"]),
    ("FIRST(b)", M, ["E0328"]),
    ("SUM(b)", A, ["E0328"]),
    ("EXTRACT(CENTURY FROM ts)", E, ["E0329"]),
    ("NULL", M, ["E0330"]),
    ("i = NULL", E, ["W0301"]),
    ("i = s", E, ["W0302"]),
    ("double(i = s)", E, ["W0302"]),
    ("foo(1) + bar(2) * upper()", E, ["E0301", "E0301", "E0302"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "context", "expected"), MISTAKES, ids=[f"{t} in {c.name}" for t, c, _ in MISTAKES])
def test_mistakes(text: str, context: ExpressionContext, expected: list[str]) -> None:
    assert codes(text, context) == expected


CAST = "a CAST says how to convert one into the other: `CAST(x AS …)`"
DATES = "`unix_date(x)` makes a number of a date, `date_from_unix_date(n)` a date of a number"
MAPS = "maps are not compared: compare what they have under a key, `m[key]`"


@pytest.mark.parametrize(
    ("text", "cure", "cured"),
    [
        ("dt = 3", DATES, "unix_date(dt) = 3"),
        ("dt > d", DATES, "unix_date(dt) > d"),
        ("dt IN (3, 4)", DATES, "dt IN (date_from_unix_date(3), date_from_unix_date(4))"),
        ("COALESCE(dt, 3) = dt", DATES, "COALESCE(dt, date_from_unix_date(3)) = dt"),
        ("ma = ma", MAPS, "ma['x'] = ma['y']"),
        ("ma IN (ma)", MAPS, "ma['x'] IN (ma['y'])"),
        ("ma = CAST(ma AS MAP<STRING, STRING>)", MAPS, "ma['x'] = CAST(ma AS MAP<STRING, STRING>)['x']"),
        ("ar = 3", "take an element of the array: `a[0]`", "ar[0] = 3"),
        ("ma = 3", "take a value of the map: `m[key]`", "ma['x'] = 3"),
        ("st.in = 3", "take a field of the struct: `s.y`", "st.in.y = 3"),
        ("bo = i", CAST, "CAST(bo AS INT) = i"),
        ("s = ar", CAST, "s = CAST(ar AS STRING)"),
        ("dt = bo", "", None),
        ("dt + dt = dt", "", None),
    ],
)
def test_operands_of_different_types_have_a_cure_that_works_or_none(text: str, cure: str, cured: str | None) -> None:
    _, found = type_expression(written(text), World(), ExpressionContext.EVENT)
    assert [(d.code, d.hint) for d in found] == [("E0303", cure)]
    if cured is not None:
        assert typed(cured, ExpressionContext.EVENT).type == BOOLEAN


@pytest.mark.parametrize(
    ("text", "cure"),
    [
        ("INTERVAL 1.5 DAYS", "INTERVAL 36 HOURS"),
        ("INTERVAL 1.5 WEEKS", "INTERVAL 252 HOURS"),
        ("INTERVAL '1.5' HOUR", "INTERVAL 90 MINUTES"),
        ("INTERVAL 2.0 HOURS", "INTERVAL 2 HOURS"),
        ("INTERVAL 1.25 MINUTES", "INTERVAL 75 SECONDS"),
        ("INTERVAL 1.0001 MINUTES", "INTERVAL 60006 MILLISECONDS"),
        ("INTERVAL 0.5 MILLISECONDS", "INTERVAL 500 MICROSECONDS"),
        ("INTERVAL 1 DAY 1.5 HOURS", "INTERVAL 1 DAY 90 MINUTES"),
        ("INTERVAL 0.0000015 SECONDS", "INTERVAL 1 MICROSECOND"),
        ("INTERVAL 0.5 MICROSECONDS", "INTERVAL 1 MICROSECOND"),
    ],
)
def test_a_fraction_of_another_unit_than_seconds_is_said_in_a_shorter_one(text: str, cure: str) -> None:
    _, (found,) = type_expression(written(text), World(), ExpressionContext.EVENT)
    assert (found.code, f"`{cure}`" in found.hint) == ("E0308", True), found
    assert codes(cure, ExpressionContext.EVENT) == []


@pytest.mark.parametrize(("text", "expected"), [("i", ["E0304"]), ("s", ["E0304"]), ("NULL", []), ("i > 1", [])])
def test_a_condition_is_a_boolean(text: str, expected: list[str]) -> None:
    assert codes(text, ExpressionContext.EVENT, condition=True) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RUNNING SUM(b.i) > a.i", []),
        ("RUNNING SUM(b.i) > LAST(a).i + COUNT(a)", []),
        ("RUNNING SUM(b.i) > RUNNING SUM(a.i)", []),
        ("RUNNING SUM(b.i) > COALESCE(a.i, RUNNING SUM(a.i))", []),
        ("RUNNING SUM(b.i) > PREV(b).i + FIRST(b).i AND a.i > 1", []),
        ("RUNNING SUM(b.i) > PREV(b).i + a.i", ["E0326"]),
        ("RUNNING SUM(b.i) > LAST(b).i", ["E0336"]),
        ("RUNNING SUM(b.i) > FIRST(b, 1).i", ["E0336"]),
        ("RUNNING SUM(b.i) > SUM(b.i)", ["E0336"]),
        ("RUNNING SUM(b.i) > RUNNING SUM(a.i) + COUNT(a)", ["E0336"]),
        ("RUNNING SUM(b.i) > RUNNING SUM(a.i) + FIRST(a).i", ["E0336"]),
        ("RUNNING SUM(b.i) > RUNNING SUM(a.i) + PREV(b).i", ["E0326", "E0336"]),
    ],
)
def test_what_is_running_stands_beside_what_is_known_at_the_event_at_hand(text: str, expected: list[str]) -> None:
    assert codes(text, C, condition=True) == expected


def test_prev_stands_alone_in_its_conjunct() -> None:
    assert codes("b.i > PREV(b).i AND a.i < b.i", C, condition=True) == []
    assert codes("b.i > PREV(b).i + a.i", C, condition=True) == ["E0326"]
    assert codes("SUM(b.i) > PREV(b, 2).i", C, condition=True) == []
    assert codes("COUNT(a) > PREV(b, 2).i", C, condition=True) == ["E0326"]


@pytest.mark.parametrize(
    "nest",
    [
        lambda n: "nullif(" * n + "d" + ", 1)" * n,
        lambda n: "(" * n + "bo" + " BETWEEN FALSE AND bo)" * n,
        lambda n: "CASE " * n + "i" + " WHEN 1 THEN 2 WHEN 2 THEN 3 END" * n,
    ],
    ids=["NULLIF", "BETWEEN", "CASE"],
)
def test_nesting_that_doubles_is_refused_before_it_grows(nest: Callable[[int], str]) -> None:
    assert codes(nest(5), ExpressionContext.EVENT) == []
    assert codes(nest(40), ExpressionContext.EVENT) == ["E0331"]
    assert len(column_name(written(nest(40)))) < 10_000


@pytest.mark.parametrize(
    "chain", ["- " * 140 + "d", "+".join(["d"] * 140), "abs(" * 140 + "d" + ")" * 140, "NOT " * 140 + "bo"]
)
def test_what_the_parser_lets_through_is_not_too_deep(chain: str) -> None:
    expression = typed(chain, ExpressionContext.EVENT)
    assert from_data(to_data(expression)) == expression
    assert sql(expression)
    assert describe(expression)
    assert column_name(written(chain))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("uppr(s)", "did you mean `upper`?"),
        ("mean(b.i)", "did you mean `AVG`?"),
        ("st.X", "did you mean `x`?"),
        ("CAST(i AS INTEGR)", "did you mean `INTEGER`?"),
        ("CAST(i AS TEXT)", "did you mean `STRING`?"),
        ("EXTRACT(HOURR FROM ts)", "did you mean `HOUR`?"),
        ("i = NULL", "write `… IS NULL`"),
        ("ts = 'x'", "a TIMESTAMP is written '2024-05-31 12:30:00'"),
        ("SUM(b)", "write `b.ti`"),
    ],
)
def test_hints(text: str, hint: str) -> None:
    context = ExpressionContext.AGGREGATE if "b" in text.replace("ab", "") else ExpressionContext.EVENT
    _, diagnostics = type_expression(written(text), World(), context)
    assert [d.hint for d in diagnostics] == [hint]


@pytest.mark.parametrize("context", ALL)
def test_no_context_lets_an_exception_out(context: ExpressionContext) -> None:
    for text, _, _ in TYPED:
        type_condition(written(text), World(), context)
    for text, _, _ in MISTAKES:
        type_expression(written(text), World(), context)


# ---- types as written ------------------------------------------------------------------------------------------------


def test_types_as_written() -> None:
    def of(text: str) -> str:
        cast = written(f"CAST(i AS {text})")
        assert isinstance(cast, ast.Cast)
        type_, errors = data_type(cast.type)
        return type_.sql if type_ is not None else ",".join(e.code for e in errors)

    assert of("integer") == "INT"
    assert of("LONG") == "BIGINT"
    assert of("decimal") == "DECIMAL(10,0)"
    assert of("NUMERIC(5)") == "DECIMAL(5,0)"
    assert of("VARCHAR(20)") == "STRING"
    assert of("MAP<STRING, ARRAY<INT>>") == "MAP<STRING, ARRAY<INT>>"
    assert of("STRUCT<a: INT, b: STRUCT<c: DATE>>") == "STRUCT<`a`: INT, `b`: STRUCT<`c`: DATE>>"
    assert of("INT(5)") == "E0306"
    assert of("VARCHAR") == "E0306"
    assert of("DECIMAL(5, 6)") == "E0306"
    assert of("ARRAY") == "E0306"
    assert of("MAP<INT>") == "E0306"
    assert of("STRUCT<a: INT, A: INT>") == "E0306"
    assert of("STRUCT<a: FOO, b: BAR>") == "E0305,E0305"
    assert of("TIME") == "E0305"


# ---- names of columns ------------------------------------------------------------------------------------------------

NAMED = [
    ("i", "i"),
    ("a.i", "i"),
    ("a.st.in.y", "y"),
    ("SUM(a.d)", "sum(d)"),
    ("SUM(a.st.x)", "sum(st.x)"),
    ("COUNT(*)", "count(1)"),
    ("COUNT(b)", "count(b)"),
    ("FIRST(b).i", "first(i)"),
    ("FIRST(b.i)", "first(i)"),
    ("FIRST(b, 1).i", "first(i, 1)"),
    ("FIRST(b.i, 1)", "first(i, 1)"),
    ("CAST(a.i AS STRING)", "i"),
    ("CAST(COUNT(*) AS STRING)", "CAST(count(1) AS STRING)"),
]  # fmt: skip
"""Columns of queries; what Spark itself prints for expressions is compared in `test_evaluate_spark.py`."""


@pytest.mark.parametrize(("text", "name"), NAMED, ids=[text for text, _ in NAMED])
def test_names_of_columns(text: str, name: str) -> None:
    assert column_name(written(text)) == name


# ---- the catalogue ---------------------------------------------------------------------------------------------------


def test_every_portable_function_is_computed_by_the_evaluator() -> None:
    assert set(KERNELS) | {"and", "or", "case", "coalesce"} == PORTABLE


@pytest.mark.parametrize(
    ("text", "functions"),
    [
        ("upper(s) = 'A' AND i > 1", ()),
        ("soundex(s) = md5(bi)", ("soundex", "md5")),
        ("s RLIKE '^a+$'", ()),
        ("to_timestamp(s, 'dd.MM.yyyy') > try_to_timestamp(s, 'HH:mm')", ()),
        ("to_timestamp(s, 'EEE') > to_timestamp(s, s)", ("to_timestamp",)),
        ("try_to_timestamp(s) > ts", ("try_to_timestamp",)),
        ("s RLIKE '[a-z&&[^b]]'", ("rlike",)),
        ("nvl2(s, if(bo, 1, 2), 3) = 1", ()),
    ],
)
def test_what_only_spark_computes_is_known(text: str, functions: tuple[str, ...]) -> None:
    assert spark_only(typed(text, ExpressionContext.EVENT)) == functions


def test_portable_functions_are_not_in_sparks_list() -> None:
    assert [name for name in catalogue.names() if name in spark_functions()] == []


def test_usage_names_its_function() -> None:
    for group in catalogue.GROUPS.values():
        for function in group:
            name = function.usage.partition("(")[0]
            assert catalogue.find(name) is function, function.usage


@pytest.mark.parametrize("name", list(COLUMNS))
def test_every_type_can_be_null(name: str) -> None:
    assert typed(f"coalesce({name}, NULL)", ExpressionContext.EVENT).type == COLUMNS[name]


def test_checking_loads_no_numpy_arrow_or_spark() -> None:
    code = "import sys, cepc.expressions; print([m for m in ('numpy', 'pyarrow', 'pyspark', 'pandas') if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )
