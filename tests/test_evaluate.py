"""The evaluator: values and errors of ANSI SQL. What Spark says of the same expressions is in
`test_evaluate_spark.py`.
"""

import datetime
import decimal
import pickle
from typing import Any

import pyarrow as pa
import pytest

from cepc.expressions import ExpressionContext
from cepc_runtime.sql.aggregate_functions import COUNT
from cepc_runtime.sql.evaluate import EvaluationError, can_fail, evaluate
from cepc_runtime.sql.evaluate.arrays import from_values, to_values
from cepc_runtime.sql.evaluate.errors import SparkOnlyError
from cepc_runtime.sql.expression import Aggregate, Call, Field, FieldKey, Literal
from cepc_runtime.sql.like import PatternError, is_portable, regex
from cepc_runtime.sql.types import BIGINT, DOUBLE, INT, STRING, to_arrow
from tests.expression_scope import COLUMNS, typed

NAN = float("nan")
D = decimal.Decimal

ROWS: dict[str, list[Any]] = {
    "bo": [True, False, None],
    "ti": [1, -128, None],
    "si": [3, 300, None],
    "i": [1, -7, None],
    "l": [5, 2**40, None],
    "f": [1.5, NAN, None],
    "d": [2.5, -0.0, None],
    "de": [D("1.50"), D("-2.25"), None],
    "s": ["abc", " Ünï ", None],
    "bi": [b"a", b"", None],
    "dt": [18321, -1, None],
    "ts": [1_600_000_000_123_456, -1, None],
    "nt": [1_600_000_000_123_456, -1, None],
    "iv": [93_784_500_000, -1, None],
    "ar": [[1, 2], [], None],
    "ma": [[("x", 1)], [], None],
    "st": [(1, (2.5,)), (None, None), None],
}
COLUMNS_OF_ROWS = {FieldKey(None, name): from_values(values, COLUMNS[name]) for name, values in ROWS.items()}


def values(text: str) -> list[Any]:
    """The values of the expression for ROWS; Python's own kinds for times."""
    expression = typed(text, ExpressionContext.EVENT)
    array = evaluate(expression, COLUMNS_OF_ROWS, 3)
    assert array.type == to_arrow(expression.type)
    assert len(array) == 3
    return array.to_pylist()  # type: ignore[no-any-return]


def internal(text: str) -> list[Any]:
    expression = typed(text, ExpressionContext.EVENT)
    return to_values(evaluate(expression, COLUMNS_OF_ROWS, 3), expression.type)


VALUES: list[tuple[str, list[Any]]] = [
    ("i + 1", [2, -6, None]),
    ("i + l", [6, 2**40 - 7, None]),
    ("d / 2", [1.25, -0.0, None]),
    ("1 / i", [1.0, 1 / -7, None]),
    ("i % 3", [1, -1, None]),
    ("pmod(i, 3)", [1, 2, None]),
    ("i DIV 2", [0, -3, None]),
    ("de + 1", [D("2.50"), D("-1.25"), None]),
    ("de * de", [D("2.2500"), D("5.0625"), None]),
    ("de / 3", [D("0.500000"), D("-0.750000"), None]),
    ("abs(i)", [1, 7, None]),
    ("~i", [-2, 6, None]),
    ("i << 33", [2, -14, None]),
    ("i >>> 1", [0, 2**31 - 4, None]),
    # comparison
    ("f = f", [True, True, None]),
    ("f > 1e300", [False, True, None]),
    ("d = 0", [False, True, None]),
    ("f <=> NULL", [False, False, True]),
    ("s > 'abb'", [True, False, None]),
    ("i IN (1, 2)", [True, False, None]),
    ("i IN (1, NULL)", [True, None, None]),
    ("i NOT IN (1, NULL)", [False, None, None]),
    ("i BETWEEN -7 AND 0", [False, True, None]),
    ("st = st", [True, True, None]),
    # three values
    ("bo AND NULL", [None, False, None]),
    ("bo OR NULL", [True, None, None]),
    ("NOT bo", [False, True, None]),
    ("bo IS TRUE", [True, False, False]),
    ("bo IS UNKNOWN", [False, False, True]),
    # choices
    ("CASE WHEN i > 0 THEN 'plus' WHEN i < 0 THEN 'minus' END", ["plus", "minus", None]),
    ("CASE i WHEN 1 THEN 'one' ELSE 'other' END", ["one", "other", "other"]),
    ("coalesce(i, l, 0)", [1, -7, 0]),
    ("nullif(i, 1)", [None, -7, None]),
    ("nvl2(i, 'a', 'b')", ["a", "a", "b"]),
    ("if(bo, 1, 2)", [1, 2, 2]),
    ("greatest(i, l, 3)", [5, 2**40, 3]),
    ("least(d, f)", [1.5, -0.0, None]),
    ("nanvl(f, 1)", [1.5, 1.0, None]),
    # text
    ("upper(s)", ["ABC", " ÜNÏ ", None]),
    ("length(s)", [3, 5, None]),
    ("octet_length(s)", [3, 7, None]),
    ("trim(s)", ["abc", "Ünï", None]),
    ("substring(s, 2)", ["bc", "Ünï ", None]),
    ("substring(s, -2, 1)", ["b", "ï", None]),
    ("reverse(s)", ["cba", " ïnÜ ", None]),
    ("lpad(s, 5, 'xy')", ["xyabc", " Ünï ", None]),
    ("s || '-' || i", ["abc-1", " Ünï --7", None]),
    ("concat_ws('-', s, NULL, i)", ["abc-1", " Ünï --7", ""]),
    ("s LIKE '_b%'", [True, False, None]),
    ("s LIKE ''", [False, False, None]),
    ("s ILIKE '%ÜN%'", [False, True, None]),
    ("s RLIKE '^[a-c]+$'", [True, False, None]),
    ("split_part('a,b', ',', i)", ["a", "", None]),
    ("locate('b', s)", [2, 0, None]),
    # casts
    ("CAST(d AS INT)", [2, 0, None]),
    ("CAST(d AS STRING)", ["2.5", "-0.0", None]),
    ("CAST(1e7 AS STRING)", ["1.0E7"] * 3),
    ("CAST(5e-324D AS STRING)", ["4.9E-324"] * 3),
    ("CAST(1e-323D AS STRING)", ["9.9E-324"] * 3),
    ("CAST(CAST(1e-45D AS FLOAT) AS STRING)", ["1.4E-45"] * 3),
    ("CAST(CAST(3e-44D AS FLOAT) AS STRING)", ["2.9E-44"] * 3),
    ("CAST(f AS STRING)", ["1.5", "NaN", None]),
    ("CAST(de AS STRING)", ["1.50", "-2.25", None]),
    ("CAST(st AS STRING)", ["{1, {2.5}}", "{null, null}", None]),
    ("CAST(ma AS STRING)", ["{x -> 1}", "{}", None]),
    ("CAST(iv AS STRING)", ["INTERVAL '1 02:03:04.5' DAY TO SECOND", "INTERVAL '-0 00:00:00.000001' DAY TO SECOND", None]),
    ("TRY_CAST(s AS INT)", [None, None, None]),
    ("TRY_CAST(l AS INT)", [5, None, None]),
    ("TRY_CAST('-7122020-02-29' AS DATE)", [None, None, None]),
    ("CAST(d AS DECIMAL(3, 1))", [D("2.5"), D("0.0"), None]),
    ("CAST(1.005 AS DECIMAL(5, 2))", [D("1.01")] * 3),
    ("CAST(' 12 ' AS INT)", [12] * 3),
    ("CAST(ar AS ARRAY<STRING>)", [["1", "2"], [], None]),
    ("CAST(ts AS BIGINT)", [1_600_000_000, -1, None]),
    # nested values
    ("ma['x']", [1, None, None]),
    ("st.in.y", [2.5, None, None]),
    ("size(ar)", [2, 0, None]),
    ("array_contains(ar, 2)", [True, False, None]),
    # times
    ("year(dt)", [2020, 1969, None]),
    ("month(ts)", [9, 12, None]),
    ("hour(ts)", [12, 23, None]),
    ("dayname(dt)", ["Sat", "Wed", None]),
    ("dt + 1", [datetime.date(2020, 3, 1), datetime.date(1970, 1, 1), None]),
    ("dt + INTERVAL 1 DAY", [datetime.date(2020, 3, 1), datetime.date(1970, 1, 1), None]),
    ("add_months(dt, 12)", [datetime.date(2021, 2, 28), datetime.date(1970, 12, 31), None]),
    ("datediff(dt, DATE '2020-01-01')", [59, -18263, None]),
    ("ts - ts", [datetime.timedelta(0)] * 2 + [None]),
    ("EXTRACT(SECOND FROM ts)", [D("40.123456"), D("59.999999"), None]),
    # arithmetic that gives null instead of an error
    ("try_add(l, 9223372036854775807)", [None, None, None]),
    ("try_divide(i, 0)", [None, None, None]),
    ("try_divide(10, i - 1)", [None, -1.25, None]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), VALUES, ids=[text for text, _ in VALUES])
def test_values(text: str, expected: list[Any]) -> None:
    found = values(text)
    assert repr(found) == repr(expected)


@pytest.mark.parametrize(
    ("unit", "micros"),
    [
        ("HOUR", 1_599_998_400_000_000),
        ("DAY", 1_599_955_200_000_000),
        ("WEEK", 1_599_436_800_000_000),
        ("MONTH", 1_598_918_400_000_000),
        ("QUARTER", 1_593_561_600_000_000),
        ("YEAR", 1_577_836_800_000_000),
    ],
)
def test_truncation(unit: str, micros: int) -> None:
    assert internal(f"date_trunc('{unit}', ts)")[0] == micros


ERRORS = [
    ("i * 2147483647", "INT overflow in `i * 2147483647`"),
    ("l + 9223372036854775807", "BIGINT overflow"),
    ("-ti", "TINYINT overflow"),
    ("abs(ti)", "TINYINT overflow"),
    ("d / 0", "division by zero in `d / 0`; `try_divide` gives null there"),
    ("1 / d", "division by zero in `1 / d`"),
    ("i % 0", "division by zero"),
    ("i DIV 0", "division by zero"),
    ("de / 0", "division by zero in `de / 0`"),
    ("CAST(f AS INT)", "a value does not fit INT in `CAST(f AS INT)`; TRY_CAST gives null there"),
    ("CAST(l AS INT)", "a value does not fit INT"),
    ("CAST(si AS TINYINT)", "a value does not fit TINYINT"),
    ("CAST(de AS DECIMAL(2, 2))", "a value does not fit DECIMAL(2,2)"),
    ("CAST(s AS INT)", "'abc' cannot be read as INT in `CAST(s AS INT)`"),
    ("CAST(s AS TIMESTAMP)", "'abc' cannot be read as TIMESTAMP"),
    ("ar[0]", "there is no element 0 in an array of 0 in `ar[0]`"),
    ("element_at(ar, 0)", "elements are counted from 1"),
    ("make_date(2020, 2, i + 29)", "there is no date 2020-02-30"),
    ("ts + INTERVAL 106751991 DAYS", "TIMESTAMP overflow"),
    ("dt - TRY_CAST('300000' AS DATE)", "INTERVAL DAY overflow"),
    ("split_part(s, ',', 0)", "parts are counted from 1"),
    ("s LIKE 'a!b' ESCAPE '!'", "the escape character"),
    ("s RLIKE '['", "this is no regular expression"),
    ("repeat(s, 1000000000)", "too long"),
    ("soundex(s) = 'A100'", "only Spark has the function `soundex`, called in `soundex(s)`"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), ERRORS, ids=[text for text, _ in ERRORS])
def test_errors_in_the_words_of_the_program(text: str, message: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        values(text)
    assert message in str(caught.value)


GUARDED = [
    ("CASE WHEN d <> 0 THEN 1 / d END", [0.4, None, None]),
    ("d <> 0 AND 1 / d > 0", [True, False, None]),
    ("d = 0 OR 1 / d > 0", [True, True, None]),
    ("coalesce(i, 7) + 1", [2, -6, 8]),
    ("if(d = 0, 0, 1 / d)", [0.4, 0.0, None]),
    ("nullif(d, 0)", [2.5, None, None]),
    ("i IN (1, -7, i DIV 0)", [True, True, None]),
    ("nanvl(d, 1 / 0)", [2.5, -0.0, None]),
    ("CAST(NULL AS INT) + (i DIV 0)", [None, None, None]),
    ("CASE WHEN bo THEN ar[0] ELSE 0 END", [1, 0, 0]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), GUARDED, ids=[text for text, _ in GUARDED])
def test_what_is_not_reached_does_not_fail(text: str, expected: list[Any]) -> None:
    assert values(text) == expected


def test_a_branch_that_is_reached_fails() -> None:
    with pytest.raises(EvaluationError, match="division by zero"):
        values("coalesce(d, 1 / 0)")


def test_no_rows_have_no_errors() -> None:
    empty = {key: array.slice(0, 0) for key, array in COLUMNS_OF_ROWS.items()}
    assert len(evaluate(typed("1 / 0", ExpressionContext.EVENT), empty, 0)) == 0
    assert evaluate(typed("ar", ExpressionContext.EVENT), empty, 0).type == pa.list_(pa.int32())


def test_a_constant_is_as_long_as_the_rows() -> None:
    assert evaluate(typed("1 + 1", ExpressionContext.EVENT), {}, 4).to_pylist() == [2, 2, 2, 2]
    assert evaluate(Literal(None, STRING), {}, 2).to_pylist() == [None, None]


def test_fields_are_told_apart_by_variable_and_place() -> None:
    columns = {
        FieldKey("v", "x", "each"): pa.array([3, 1], pa.int32()),
        FieldKey("v", "x", "prev"): pa.array([1, 2], pa.int32()),
        FieldKey(None, "x", "each"): pa.array([9, 9], pa.int32()),
    }
    rising = Call(">", (Field("v", "x", "each", INT), Field("v", "x", "prev", INT)), DOUBLE)
    assert evaluate(rising, columns, 2).to_pylist() == [True, False]


def test_an_aggregate_is_a_column_that_is_given() -> None:
    count = Aggregate(COUNT, None, None, False, None, BIGINT)
    assert evaluate(
        Call("+", (count, Literal(1, BIGINT)), BIGINT), {count: pa.array([4], pa.int64())}, 1
    ).to_pylist() == [5]


def test_a_column_that_is_missing_is_named() -> None:
    with pytest.raises(KeyError, match="'i'"):
        evaluate(typed("i + 1", ExpressionContext.EVENT), {}, 1)


@pytest.mark.parametrize(
    "column",
    [
        pa.chunked_array([["a"], ["b", None]]),
        pa.array(["a", "b", None], pa.large_string()),
        pa.array(["a", "b", None]).dictionary_encode(),
        pa.array(["x", "a", "b", None]).slice(1),
    ],
    ids=["chunks", "large", "dictionary", "slice"],
)
def test_columns_come_in_many_forms(column: Any) -> None:
    columns = {FieldKey(None, "s"): column}
    assert evaluate(typed("upper(s) || '!'", ExpressionContext.EVENT), columns, 3).to_pylist() == ["A!", "B!", None]


def test_nanoseconds_are_cut_off() -> None:
    columns = {FieldKey(None, "ts"): pa.array([1_600_000_000_123_456_789], pa.timestamp("ns"))}
    assert to_values(evaluate(typed("ts", ExpressionContext.EVENT), columns, 1), COLUMNS["ts"]) == [
        1_600_000_000_123_456
    ]


def test_slices_of_nested_columns() -> None:
    sliced = {key: array.slice(1) for key, array in COLUMNS_OF_ROWS.items()}
    assert evaluate(typed("CAST(ar AS STRING)", ExpressionContext.EVENT), sliced, 2).to_pylist() == ["[]", None]
    assert evaluate(typed("st.x", ExpressionContext.EVENT), sliced, 2).to_pylist() == [None, None]
    assert evaluate(typed("size(ma)", ExpressionContext.EVENT), sliced, 2).to_pylist() == [0, None]


@pytest.mark.parametrize("name", [n for n in ROWS if n not in ("f",)])
def test_values_of_every_type_survive_the_way_to_python_and_back(name: str) -> None:
    array = from_values(ROWS[name], COLUMNS[name])
    array.validate(full=True)
    assert to_values(array, COLUMNS[name]) == ROWS[name]


@pytest.mark.parametrize(
    ("text", "fails"),
    [
        ("d + 1", False),
        ("i + 1", True),
        ("i < l", False),
        ("CAST(i AS BIGINT) = l", False),
        ("CAST(l AS INT) = i", True),
        ("upper(s) LIKE 'A%'", True),
        ("d > 1 AND bo", False),
        ("soundex(s)", True),
    ],
)
def test_what_can_fail_is_known(text: str, fails: bool) -> None:
    assert can_fail(typed(text, ExpressionContext.EVENT)) is fails


def test_an_error_travels_between_processes() -> None:
    error = EvaluationError("division by zero", "/", "a / b", "a hint")
    back = pickle.loads(pickle.dumps(error))
    assert (str(back), back.reason, back.function) == (str(error), "division by zero", "/")


def test_what_only_spark_reads_is_said_with_a_cure() -> None:
    with pytest.raises(SparkOnlyError) as error:
        values("s RLIKE '[a-z&&[^b]]'")
    assert "only Spark reads the regular expression" in error.value.reason
    assert "--engine spark" in error.value.hint


# ---- patterns --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"^a.c$", "a\rc", False),
        (r"^a$", "a\r\n", True),
        (r"\d", "٣", False),
        (r"(?<year>\d{4})", "in 2020", True),
        (r"\p{Upper}", "é", False),
        (r"[\h]", "\t", True),
        (r"\Qa.c\E", "abc", False),
        (r"a{2}b*+", "aab", True),
        (r"(?i)ABC", "xabc", True),
        (r"^(?i)hello", "HELLO", True),
        (r"^h(?i)ello", "HELLO", False),
        (r"a(?i)b|c", "C", True),
        (r"(a(?i)b|c)d", "AB", False),
        (r"(a(?i)b|c)d", "CD", False),
        (r"(a(?i)b|c)d", "Cd", True),
        (r"(?<w>(?i)a)(?i)b(?i)c|d", "ABC", True),
        (r"(?<w>(?i)a)b", "AB", False),
        (r"(?i:a)b|[(|)](?i)\(x", ")(X", True),
    ],
)
def test_regular_expressions_are_javas(pattern: str, text: str, found: bool) -> None:
    assert (regex(pattern).search(text) is not None) is found


@pytest.mark.parametrize(
    "pattern",
    [r"[a-z&&[^b]]", r"\p{IsGreek}", r"[[a]b]", r"(?x)a b", r"a(?s).", r"(?<=a+)b", r"\G", "[]a]", "(", "*", "a\\"],
)
def test_other_regular_expressions_are_left_to_spark(pattern: str) -> None:
    assert not is_portable(pattern)
    with pytest.raises(PatternError):
        regex(pattern)


@pytest.mark.parametrize("type_", ["TINYINT", "SMALLINT", "INT", "BIGINT"])
def test_texts_of_digits_are_read_together_as_each_is_alone(type_: str) -> None:
    plain = [
        "0",
        "-0",
        "007",
        "-7",
        "100",
        "127",
        "-128",
        "128",
        "32767",
        "-32769",
        "2147483648",
        "9" * 18,
        "-" + "9" * 18,
    ]
    others = [
        "9" * 19,
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "+1",
        " 1",
        "1\n",
        "0x1F",
        "",
    ]
    expression = typed(f"TRY_CAST(s AS {type_})", ExpressionContext.EVENT)
    field = FieldKey(None, "s")

    def read(texts: list[str]) -> list[Any]:
        return evaluate(expression, {field: pa.array([*texts, None])}, len(texts) + 1).to_pylist()  # type: ignore[no-any-return]

    def expected(text: str) -> int | None:
        number, bits = int(text) if text.strip() and "x" not in text else None, to_arrow(expression.type).bit_width
        return number if number is not None and -(2 ** (bits - 1)) <= number < 2 ** (bits - 1) else None

    for texts in (plain, others, plain + others, *([text] for text in plain + others)):
        assert read(texts) == [*map(expected, texts), None]
