"""The registry of aggregates: nothing else knows their names, and each entry is what it says."""

import ast
import copy
import pickle
from collections.abc import Iterator
from decimal import Decimal as Number
from decimal import localcontext
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cepc
import cepc_grammar
import cepc_runtime
import cepc_stdlib
from cepc.commands.functions import OF_EVENTS
from cepc_runtime.numbers.gathered import Gathered
from cepc_runtime.numbers.spread import square_root
from cepc_runtime.sql import aggregate_functions
from cepc_runtime.sql.aggregate_functions import (
    AGGREGATES,
    ALONE,
    AVG,
    COLLECT,
    COUNT,
    MATCH_NUMBER,
    MAX,
    MAX_BY,
    MIN,
    MIN_BY,
    STDDEV,
    SUM,
    VARIABLE,
    AggregateFunction,
    aggregate_named,
    aggregate_written,
    spellings,
)
from cepc_runtime.sql.types import BIGINT, DOUBLE, INT, STRING, DataType, Decimal, Interval
from tests.sources import nodes

PACKAGES = [Path(str(package.__file__)).parent for package in (cepc, cepc_grammar, cepc_runtime, cepc_stdlib)]
NAMES = {*spellings(), *(function.name for function in AGGREGATES)}

# Strings that are an aggregate's name by chance, or say it to somebody who has no registry.
OTHERS = {
    ("cepc/explaining/strategies.py", "count"): "a strategy",
    ("cepc/reporting/history.py", "min"): "a field of Arrow's",
    ("cepc/reporting/history.py", "max"): "a field of Arrow's",
    ("cepc/running/spark_events.py", "count"): "a column of Spark's",
    ("cepc_grammar/builder.py", "COUNT"): "a query without RETURN counts; the grammar knows no types",
    ("cepc_grammar/habits/clauses.py", "COUNT"): "of the aggregates it alone can be meant to have a variable's star",
    ("cepc_runtime/sql/functions/times.py", "MIN"): "a minute",
    **dict.fromkeys(
        [
            (f"{module}.py", "variable")
            for module in (
                "cepc/language_server/completion",
                "cepc/language_server/hover",
                "cepc/language_server/references",
                "cepc/language_server/server",
                "cepc/resolve/messages/names",
                "cepc/resolve/variables",
            )
        ],
        "a kind of name",
    ),
    **dict.fromkeys(
        [
            (f"{m}.py", "variable")
            for m in ("cepc/resolve/from_query", "cepc_runtime/enumerate/matches", "cepc_runtime/spark/rows")
        ],
        "a field of what RETURN MATCH * gives",
    ),
    ("cepc_runtime/plan/as_json.py", "count"): "a way of executing a query",
    ("cepc_runtime/spark/streaming/query.py", "min"): "a setting of Spark's",
    ("cepc_runtime/spark/streaming/telling.py", "max"): "a field of Spark's progress",
}

# Modules that make aggregates of their own; none compares one.
MAKING = {
    "cepc/resolve/results.py", "cepc_runtime/sql/expression.py", "cepc_runtime/panes/shared_panes.py",
    "cepc_runtime/enumerate/extremes.py", "cepc/row_patterns/aggregating.py", "cepc/row_patterns/conditions.py",
    "cepc/row_patterns/each_row.py", "cepc/row_patterns/build.py", "cepc/row_patterns/measures.py",
    "cepc/row_patterns/skipping.py",
}  # fmt: skip


def modules() -> Iterator[tuple[str, tuple[ast.AST, ...]]]:
    for package in PACKAGES:
        for path in package.rglob("*.py"):
            if path != Path(aggregate_functions.__file__):
                yield str(path.relative_to(package.parent)), nodes(path)


@pytest.mark.xdist_group("sources")
def test_no_other_module_knows_the_names_of_aggregates() -> None:
    found = {
        (module, node.value)
        for module, inside in modules()
        for node in inside
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in NAMES
    }
    assert found == set(OTHERS)


@pytest.mark.xdist_group("sources")
def test_no_other_module_asks_which_aggregate_it_is() -> None:
    values = {function.written for function in AGGREGATES}
    found = {
        module
        for module, inside in modules()
        for node in inside
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").endswith("aggregate_functions")
        and values & {alias.name for alias in node.names}
    }
    assert found == MAKING
    compared = {
        (module, ast.unparse(node))
        for module, inside in modules()
        if module in MAKING
        for node in inside
        if isinstance(node, ast.Compare) and values & {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    }
    assert compared == set()


@pytest.mark.parametrize("function", AGGREGATES, ids=repr)
def test_an_aggregate_is_one_value(function: AggregateFunction) -> None:
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function
    assert aggregate_named(function.name) is function
    assert {aggregate_written(spelling) for spelling in function.spellings} == {function}
    assert getattr(aggregate_functions, function.written) is function


def test_every_spelling_is_listed_by_cepc_functions() -> None:
    listed = " ".join(usage for rows in OF_EVENTS.values() for usage, _ in rows)
    assert [spelling for spelling in spellings() if f"{spelling}(" not in listed] == []


def test_what_can_be_counted_has_what_it_ends_with() -> None:
    assert spellings(countable=False) == ("COLLECT", "MIN_BY", "MAX_BY", "MATCH_NUMBER", "VARIABLE")
    assert [f for f in AGGREGATES if (f.end is not None) != (f.combination == "sums")] == []
    assert [(f.combination, f) for f in AGGREGATES if f.combination != "sums"] == [
        ("least", MIN), ("greatest", MAX), ("list", COLLECT), ("list", MIN_BY), ("list", MAX_BY), ("number", MATCH_NUMBER),
        ("name", VARIABLE),
    ]  # fmt: skip
    assert all(function.gathers[-1:] == (role,) for role, function in ALONE.items() if role != "one")


@pytest.mark.parametrize(
    ("function", "argument", "expected"),
    [
        (COUNT, STRING, BIGINT),
        (SUM, INT, BIGINT),
        (SUM, Decimal(10, 2), Decimal(20, 2)),
        (SUM, Decimal(38, 2), Decimal(38, 2)),
        (SUM, DOUBLE, DOUBLE),
        (SUM, Interval(0, 1), Interval()),
        (AVG, INT, DOUBLE),
        (AVG, Decimal(10, 2), Decimal(14, 6)),
        (AVG, Decimal(38, 37), Decimal(38, 38)),
        (AVG, Interval(0, 1), Interval()),
        (MIN, STRING, STRING),
        (MAX, INT, INT),
        (STDDEV, Decimal(18, 2), DOUBLE),
    ],
)
def test_results_have_the_types_of_spark(function: AggregateFunction, argument: DataType, expected: DataType) -> None:
    assert function.result(argument) == expected


@pytest.mark.parametrize(
    ("function", "totals", "rests", "scale", "type_", "expected"),
    [
        (COUNT, None, None, 0, BIGINT, [2, 0]),
        (SUM, [7, 0], None, 0, BIGINT, [7, None]),
        (SUM, [1.0, 0.0], [2.0**-53, 0.0], 0, DOUBLE, [1.0, None]),
        (SUM, [725, 0], None, 2, STRING, ["7.25", None]),
        (AVG, [7, 0], None, 0, DOUBLE, [3.5, None]),
        (AVG, [1.0, 0.0], [0.5, 0.0], 0, DOUBLE, [0.75, None]),
    ],
)
def test_a_sum_of_nothing_is_null_and_others_are_rounded_once(
    function: AggregateFunction, totals: Any, rests: Any, scale: int, type_: DataType, expected: list[Any]
) -> None:
    sums = () if totals is None else (np.array(totals),)
    assert function.end is not None
    column, misfits = function.end(
        Gathered(np.array([2, 0]), sums, None if rests is None else np.array(rests), scale), type_
    )
    assert (column.to_pylist(), misfits.tolist()) == (expected, [False, False])


# ---- variances -------------------------------------------------------------------------------------------------------

STREAM = """STREAM s (at BIGINT, kind STRING, x BIGINT, i INT, z DECIMAL(18, 9)) EVENT TIME at EVENT TYPE kind IN ('A', 'B');
QUERY q RETURN {} PATTERN SEQ(A+, B) WITHIN UNBOUNDED;
"""
SPREADS = "VARIANCE(A.{c}) AS v, VAR_POP(A.{c}) AS vp, STDDEV(A.{c}) AS s, STDDEV_POP(A.{c}) AS sp"
COLUMNS: dict[str, list[Any]] = {
    "x": [2**63 - 1, -(2**63), 2**63 - 1, 7],
    "i": [-(2**31), 2**31 - 1, None, -(2**31)],
    "z": [Number("999999999.999999999"), Number("999999999.999999998"), None, Number("0.5")],
}


def spread_rows(text: str, values: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """The rows of the query over A's with these values, and a B."""
    length = len(next(iter(values.values())))
    columns: dict[str, list[Any]] = {"at": list(range(length + 1)), "kind": ["A"] * length + ["B"]}
    columns |= {name: [*values.get(name, [None] * length), None] for name in COLUMNS}
    types = {"at": pa.int64(), "kind": pa.string(), "x": pa.int64(), "i": pa.int32(), "z": pa.decimal128(18, 9)}
    events = pa.table({name: pa.array(column, types[name]) for name, column in columns.items()})
    found: list[dict[str, Any]] = cepc.compile(text).run(events)["q"].to_pylist()
    return found


def by_definition(values: list[Any]) -> list[float | None]:
    """VARIANCE, VAR_POP, STDDEV and STDDEV_POP of the values that are there, from their mean."""
    numbers = [Fraction(value) for value in values if value is not None]
    if not numbers:
        return [None] * 4
    mean = sum(numbers, Fraction(0)) / len(numbers)
    squares = sum(((number - mean) ** 2 for number in numbers), Fraction(0))
    sample = squares / (len(numbers) - 1) if len(numbers) > 1 else None
    roots = [None if v is None else rooted(v) for v in (sample, squares / len(numbers))]
    return [None if sample is None else float(sample), float(squares / len(numbers)), *roots]


def rooted(number: Fraction) -> float:
    with localcontext(prec=200):
        return float((Number(number.numerator) / number.denominator).sqrt())


@pytest.mark.parametrize("column", COLUMNS)
def test_variances_of_a_match_are_exact_and_rounded_once(column: str) -> None:
    values = COLUMNS[column]
    found = spread_rows(STREAM.format("MATCH COUNT(A) AS n, " + SPREADS.format(c=column)), {column: values})
    subsets = [list(s) for n in range(1, 5) for s in combinations(values, n)]
    key = repr
    assert sorted([[row[name] for name in ("n", "v", "vp", "s", "sp")] for row in found], key=key) == sorted(
        [[len(s), *by_definition(s)] for s in subsets], key=key
    )


@pytest.mark.parametrize("column", COLUMNS)
def test_variances_over_all_matches_are_counted_exactly(column: str) -> None:
    values = COLUMNS[column]
    text = STREAM.format("COUNT(*) AS n, " + SPREADS.format(c=column))
    (row,) = spread_rows(text, {column: values})
    bound = [value for n in range(1, 5) for subset in combinations(values, n) for value in subset]
    assert [row[name] for name in ("v", "vp", "s", "sp")] == by_definition(bound)


def test_a_variance_over_counts_beyond_64_bits_is_exact() -> None:
    text = STREAM.format("CAST(COUNT(*) AS STRING) AS n, " + SPREADS.format(c="i"))
    values = [n % 7 for n in range(90)]
    (row,) = spread_rows(text, {"i": values})
    assert row["n"] == str(2**90 - 1)
    times = 2**89  # each A is in half of all subsets
    count, total, squares = (times * sum(v**power for v in values) for power in (0, 1, 2))
    assert row["vp"] == float(Fraction(squares, count) - Fraction(total, count) ** 2)
    assert row["v"] == float(Fraction(count * squares - total**2, count * (count - 1)))


def test_of_one_value_there_is_no_sample_and_of_none_no_variance() -> None:
    query = STREAM.format("COUNT(A.i) AS n, " + SPREADS.format(c="i"))
    (row,) = spread_rows(query, {"i": [5]})
    assert [row[name] for name in ("v", "vp", "s", "sp")] == [None, 0.0, None, 0.0]
    (row,) = spread_rows(query, {"i": [None]})
    assert [row[name] for name in ("v", "vp", "s", "sp")] == [None] * 4


def test_having_compares_a_variance() -> None:
    query = STREAM.format("VAR_POP(A.i) AS v").replace(" WITHIN", " HAVING STDDEV_POP(A.i) > {} WITHIN")
    assert [row["v"] for row in spread_rows(query.format("0.9"), {"i": [1, 3]})] == [1.0]
    assert spread_rows(query.format("1"), {"i": [1, 3]}) == []


@pytest.mark.parametrize("number", [Fraction(2), Fraction(1, 3), Fraction(0), Fraction(10**40, 7), Fraction(4, 9)])
def test_a_root_is_rounded_once(number: Fraction) -> None:
    assert square_root(number) == rooted(number)


@pytest.mark.parametrize("type_", ["DOUBLE", "FLOAT", "DECIMAL(19, 2)", "STRING"])
def test_numbers_whose_squares_are_not_exact_are_refused_with_a_cast(type_: str) -> None:
    text = STREAM.replace("x BIGINT", f"x {type_}").format("STDDEV(A.x) AS s")
    (diagnostic,) = cepc.check(text).errors
    assert (diagnostic.code, "CAST(" in diagnostic.hint) == ("E0303", type_ != "STRING")
    cast = text.replace("A.x", "CAST(A.x AS DECIMAL(18, 6))")
    assert cepc.check(cast).errors == ()
