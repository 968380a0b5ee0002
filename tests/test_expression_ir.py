"""Typed expressions as values: invariants, walks, data, and SQL text."""

import decimal
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepc_runtime.sql import types as t
from cepc_runtime.sql.aggregate_functions import COLLECT, COUNT, MIN_BY, SUM, VARIABLE
from cepc_runtime.sql.expression import (
    NAME_OF_VARIABLE,
    Aggregate,
    Call,
    Expression,
    Field,
    FieldKey,
    Literal,
    aggregates,
    conjuncts,
    fields,
    from_data,
    rewrite,
    to_data,
    variables,
    walk,
)
from cepc_runtime.sql.literal import literal_sql, string_literal
from cepc_runtime.sql.spark_sql import describe, to_sql
from cepc_runtime.sql.types import BIGINT, BOOLEAN, DOUBLE, INT, STRING, Array, DataType, Decimal, Interval

ONE = Literal(1, INT)
X = Field("v", "x", "each", INT)
Y = Field("w", "y", "prev", INT)


def total(argument: Expression = X) -> Aggregate:
    return Aggregate(SUM, "v", argument, False, None, BIGINT)


LITERALS: list[tuple[Literal, str]] = [
    (Literal(None, t.NULL), "NULL"),
    (Literal(None, INT), "CAST(NULL AS INT)"),
    (Literal(True, BOOLEAN), "TRUE"),
    (Literal(-5, INT), "(-5)"),
    (Literal(5, t.TINYINT), "5Y"),
    (Literal(5, t.SMALLINT), "5S"),
    (Literal(2**40, BIGINT), "1099511627776L"),
    (Literal(1.5, DOUBLE), "1.5D"),
    (Literal(1e300, DOUBLE), "1e+300D"),
    (Literal(float("nan"), DOUBLE), "CAST('NaN' AS DOUBLE)"),
    (Literal(float("-inf"), t.FLOAT), "CAST('-Infinity' AS FLOAT)"),
    (Literal(decimal.Decimal("1.50"), Decimal(3, 2)), "1.50BD"),
    (Literal(decimal.Decimal("1.50"), Decimal(10, 4)), "CAST(1.5000BD AS DECIMAL(10,4))"),
    (Literal(b"\x01\xff", t.BINARY), "X'01FF'"),
    (Literal(19_782, t.DATE), "DATE '2024-02-29'"),
    (Literal(-1, t.TIMESTAMP), "TIMESTAMP '1969-12-31 23:59:59.999999Z'"),
    (Literal(0, t.TIMESTAMP_NTZ), "TIMESTAMP_NTZ '1970-01-01 00:00:00'"),
    (Literal(-93_784_500_000, Interval()), "INTERVAL '-1 02:03:04.5' DAY TO SECOND"),
    (Literal(5_400_000_000, Interval(2, 2)), "INTERVAL '90' MINUTE"),
]


@pytest.mark.parametrize(("literal", "text"), LITERALS, ids=[text for _, text in LITERALS])
def test_a_literal_is_printed_with_its_type(literal: Literal, text: str) -> None:
    assert literal_sql(literal) == text


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("it's", r"'it\'s'"),
        ("a\\", r"'a\\'"),
        ("\\' OR 1=1 --", r"'\\\' OR 1=1 --'"),
        ("line\nend\r\t\0", r"'line\nend\r\t\u0000'"),
        ("${env:HOME}", r"'\u0024{env:HOME}'"),
        ("日本 😀", "'日本 😀'"),
        ("\u2028\U000e0001", r"'\u2028\U000E0001'"),
        ('"quoted"', "'\"quoted\"'"),
    ],
)
def test_no_string_ends_its_literal_early(text: str, printed: str) -> None:
    assert string_literal(text) == printed


@given(st.text())
def test_a_string_literal_has_no_bare_quote_and_no_odd_backslash(text: str) -> None:
    inside = string_literal(text)[1:-1]
    plain = inside.replace("\\\\", "").replace("\\'", "")
    assert "'" not in plain
    assert not plain.endswith("\\")
    assert "${" not in inside


def test_names_are_quoted() -> None:
    field = Field(None, "a`; DROP TABLE x; --", "each", INT)
    assert to_sql(field, lambda leaf: getattr(leaf, "column", "")) == "`a``; DROP TABLE x; --`"


def test_the_namer_names_fields_and_aggregates() -> None:
    def name(leaf: Field | Aggregate) -> str:
        return "total" if isinstance(leaf, Aggregate) else f"{leaf.variable}.{leaf.column}"

    assert to_sql(Call("+", (total(), Call("cast", (Y,), BIGINT)), BIGINT), name) == "(`total` + CAST(`w.y` AS BIGINT))"


CALLS: list[tuple[Call, str]] = [
    (Call("and", (X, X, X), BOOLEAN), "(`x` AND `x` AND `x`)"),
    (Call("not", (X,), BOOLEAN), "(NOT `x`)"),
    (Call("<=>", (X, ONE), BOOLEAN), "(`x` <=> 1)"),
    (Call("div", (X, ONE), BIGINT), "(`x` DIV 1)"),
    (Call("negative", (X,), INT), "(- `x`)"),
    (Call("isnotnull", (X,), BOOLEAN), "(`x` IS NOT NULL)"),
    (Call("in", (X, ONE, ONE), BOOLEAN), "(`x` IN (1, 1))"),
    (Call("try_cast", (X,), STRING), "TRY_CAST(`x` AS STRING)"),
    (Call("case", (X, ONE, X, ONE, Literal(None, INT)), INT), "CASE WHEN `x` THEN 1 WHEN `x` THEN 1 ELSE CAST(NULL AS INT) END"),
    (Call("like", (X, X, Literal("!", STRING)), BOOLEAN), "(`x` LIKE `x` ESCAPE '!')"),
    (Call("ilike", (X, X), BOOLEAN), "(`x` ILIKE `x`)"),
    (Call("item", (X, ONE), INT), "`x`[1]"),
    (Call("field", (X, Literal("a b", STRING)), INT), "`x`.`a b`"),
    (Call("trim", (X, Literal("-", STRING)), STRING), "TRIM(BOTH '-' FROM `x`)"),
    (Call("interval_hours", (X,), t.TINYINT), "EXTRACT(HOUR FROM `x`)"),
    (Call("substring", (X, ONE, ONE), STRING), "substring(`x`, 1, 1)"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "text"), CALLS, ids=[text for _, text in CALLS])
def test_calls_as_sql(call: Call, text: str) -> None:
    assert to_sql(call, lambda leaf: getattr(leaf, "column", "")) == text


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (Call("/", (Call("cast", (X,), DOUBLE), Literal(0.0, DOUBLE)), DOUBLE), "v.x / 0"),
        (Call("cast", (Field(None, "s", "each", STRING),), INT), "CAST(s AS INT)"),
        (Call("<", (Y, total()), BOOLEAN), "PREV(w).y < SUM(v.x)"),
        (Call("*", (Call("+", (X, ONE), INT), X), INT), "(v.x + 1) * v.x"),
        (Aggregate(COUNT, None, None, False, None, BIGINT), "COUNT(*)"),
        (Aggregate(COUNT, "v", None, True, None, BIGINT), "TRY_COUNT(v)"),
        (Aggregate(COUNT, None, None, False, STRING, STRING), "CAST(COUNT(*) AS STRING)"),
        (Aggregate(COUNT, None, None, False, None, BIGINT, running=True), "RUNNING COUNT(*)"),
        (Aggregate(COUNT, "v", X, False, None, BIGINT, distinct=True), "COUNT(DISTINCT v.x)"),
        (Aggregate(SUM, None, ONE, False, None, BIGINT), "SUM(1)"),
        (Aggregate(COUNT, None, None, False, None, BIGINT, among=("v", "w")), "COUNT(* of v, w)"),
        (Aggregate(COLLECT, None, NAME_OF_VARIABLE, False, None, STRING), "COLLECT(VARIABLE())"),
        (Aggregate(MIN_BY, "v", X, False, None, INT, by=Field("v", "y", "each", INT)), "MIN_BY(v.x, v.y)"),
        (Aggregate(VARIABLE, None, None, False, None, STRING), "VARIABLE()"),
    ],
)
def test_people_read_the_program_and_not_its_conversions(expression: Expression, text: str) -> None:
    assert describe(expression) == text


# ---- values ----------------------------------------------------------------------------------------------------------


def expressions() -> st.SearchStrategy[Expression]:
    literals = st.one_of(
        st.sampled_from([literal for literal, _ in LITERALS if literal.value == literal.value]),
        st.text(max_size=5).map(lambda s: Literal(s, STRING)),
    )
    leaves = st.one_of(literals, st.sampled_from([X, Y, Field(None, "z", "each", Array(INT))]))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(
                Call,
                st.sampled_from(["+", "cast", "and", "case", "soundex"]),
                st.lists(inner, min_size=1, max_size=3).map(tuple),
                st.sampled_from([INT, Decimal(5, 1), BOOLEAN]),
            ),
            inner.map(total),
            inner.map(lambda part: Aggregate(COLLECT, None, part, False, None, Array(INT), among=("v", "w"))),
        ),
        max_leaves=8,
    )


@given(expressions())
def test_an_expression_is_read_back_from_its_data(expression: Expression) -> None:
    assert from_data(json.loads(json.dumps(to_data(expression)))) == expression


def test_nan_survives_as_data() -> None:
    back = from_data(json.loads(json.dumps(to_data(Literal(float("nan"), DOUBLE)))))
    assert isinstance(back, Literal)
    assert back.value != back.value


@given(expressions())
def test_rewriting_nothing_gives_the_same_object(expression: Expression) -> None:
    assert rewrite(expression, lambda node: node) is expression


def test_walks() -> None:
    expression = Call("and", (Call("<", (X, Y), BOOLEAN), Call("=", (X, total()), BOOLEAN)), BOOLEAN)
    assert [type(n).__name__ for n in walk(expression)] == [
        "Call",
        "Call",
        "Field",
        "Field",
        "Call",
        "Field",
        "Aggregate",
        "Field",
    ]
    assert fields(expression) == (X, Y)
    assert variables(expression) == ("v", "w")
    assert aggregates(expression) == (total(),)
    assert X.key == FieldKey("v", "x", "each")


def test_conjuncts_are_found_in_nested_ands() -> None:
    assert conjuncts(Call("and", (X, Call("and", (Y, ONE), BOOLEAN)), BOOLEAN)) == (X, Y, ONE)
    assert conjuncts(X) == (X,)


def test_rewriting_reaches_the_argument_of_an_aggregate() -> None:
    assert rewrite(total(), lambda node: ONE if node == X else node) == total(ONE)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Field(None, "x", "prev", INT),
        lambda: Aggregate(SUM, "v", ONE, False, None, BIGINT, among=("v", "w")),
        lambda: Aggregate(SUM, "v", None, False, None, BIGINT),
        lambda: Aggregate(COUNT, "v", None, False, STRING, BIGINT),
    ],
)
def test_what_means_nothing_cannot_be_made(make: object) -> None:
    with pytest.raises(ValueError, match=r"of no|differs"):
        make()  # type: ignore[operator]


def test_types_are_part_of_a_value() -> None:
    types: list[DataType] = [INT, BIGINT]
    assert len({Literal(1, type_) for type_ in types}) == 2
