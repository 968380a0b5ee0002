"""The registry of aggregates: nothing else knows their names, and each entry is what it says."""

import ast
import copy
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cepc
import cepc_grammar
import cepc_runtime
import cepc_stdlib
from cepc.commands.functions import OF_EVENTS
from cepc_runtime import aggregate_functions
from cepc_runtime.aggregate_functions import (
    AGGREGATES,
    ALONE,
    AVG,
    COLLECT,
    COUNT,
    MAX,
    MIN,
    SUM,
    AggregateFunction,
    Gathered,
    aggregate_named,
    aggregate_written,
    spellings,
)
from cepc_runtime.types import BIGINT, DOUBLE, INT, STRING, DataType, Decimal, Interval

PACKAGES = [Path(str(package.__file__)).parent for package in (cepc, cepc_grammar, cepc_runtime, cepc_stdlib)]
NAMES = {*spellings(), *(function.name for function in AGGREGATES)}

# Strings that are an aggregate's name by chance, or say it to somebody who has no registry.
OTHERS = {
    ("cepc/expressions/functions.py", "avg"): "what is near `stddev_`",
    ("cepc/reporting/history.py", "min"): "a field of Arrow's",
    ("cepc/reporting/history.py", "max"): "a field of Arrow's",
    ("cepc_grammar/builder.py", "COUNT"): "a query without RETURN counts; the grammar knows no types",
    ("cepc_runtime/functions/times.py", "MIN"): "a minute",
    ("cepc_runtime/kernel/planes.py", "count"): "a field of MeasurePlanes",
    ("cepc_runtime/spark/streaming/run.py", "max"): "a field of Spark's progress",
    ("cepc_runtime/spark/streaming/sinks.py", "count"): "a column of Spark's",
}

# Modules that make aggregates of their own; none compares one.
MAKING = {"cepc_runtime/parts/families.py", "cepc_runtime/parts/numbers.py"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for package in PACKAGES:
        for path in package.rglob("*.py"):
            if path != Path(aggregate_functions.__file__):
                yield str(path.relative_to(package.parent)), ast.parse(path.read_text(encoding="utf-8"))


def test_no_other_module_knows_the_names_of_aggregates() -> None:
    found = {
        (module, node.value)
        for module, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in NAMES
    }
    assert found == set(OTHERS)


def test_no_other_module_asks_which_aggregate_it_is() -> None:
    values = {function.written for function in AGGREGATES}
    found = {
        module
        for module, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").endswith("aggregate_functions")
        and values & {alias.name for alias in node.names}
    }
    assert found == MAKING
    compared = {
        (module, ast.unparse(node))
        for module, tree in modules()
        if module in MAKING
        for node in ast.walk(tree)
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
    assert spellings(countable=False) == ("COLLECT",)
    assert [f for f in AGGREGATES if (f.end is not None) != (f.combination == "sums")] == []
    assert {f.combination: f for f in AGGREGATES if f.combination != "sums"} == {
        "least": MIN, "greatest": MAX, "list": COLLECT
    }  # fmt: skip
    assert all(function.gathers[-1:] == (role,) for role, function in ALONE.items() if role != "one")


@pytest.mark.parametrize(
    ("function", "argument", "expected"),
    [
        (COUNT, STRING, BIGINT), (SUM, INT, BIGINT), (SUM, Decimal(10, 2), Decimal(20, 2)), (SUM, Decimal(38, 2), Decimal(38, 2)),
        (SUM, DOUBLE, DOUBLE), (SUM, Interval(0, 1), Interval()), (AVG, INT, DOUBLE), (AVG, Decimal(10, 2), Decimal(14, 6)),
        (AVG, Decimal(38, 37), Decimal(38, 38)), (AVG, Interval(0, 1), Interval()), (MIN, STRING, STRING), (MAX, INT, INT),
    ],
)  # fmt: skip
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
    columns = [None if numbers is None else np.array(numbers) for numbers in (totals, rests)]
    assert function.end is not None
    column, misfits = function.end(Gathered(np.array([2, 0]), columns[0], columns[1], scale), type_)
    assert (column.to_pylist(), misfits.tolist()) == (expected, [False, False])
