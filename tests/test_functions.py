"""FUNCTION: a call is the function's expression, with the arguments in place of the parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import cepc
from cepc_grammar.parser import parse
from cepc_grammar.source import Source
from tests import oracle
from tests.equivalence import same

if TYPE_CHECKING:
    from cepc_grammar import ast

STREAM = "STREAM s (at BIGINT, kind STRING, x INT, y INT) EVENT TIME at EVENT TYPE kind IN ('A', 'B');\n"
FUNCTIONS = """FUNCTION plus(a, b) AS a + b;
FUNCTION twice(a) AS plus(a, a);
FUNCTION swapped(a, b) AS minus_(b, a);
FUNCTION minus_(a, b) AS a - b;
FUNCTION growth(v) AS LAST(v).x - FIRST(v).x;
FUNCTION x_of(v) AS v.x;
FUNCTION grown(v, c) AS LAST(v).c - FIRST(v).c;
FUNCTION of(v, c) AS v.c;
FUNCTION nothing() AS 7;
FUNCTION steep(v) AS v.x > PREV(v).x + 1;
PATTERN rise(T, c) AS T+ up WHERE twice(up.c) > plus(PREV(up).c, PREV(up).c);
"""
EVENTS = pa.table(
    {
        "at": pa.array([1, 2, 3, 4, 5, 6], pa.int64()),
        "kind": list("AABABB"),
        "x": pa.array([3, 1, 2, 5, 7, None], pa.int32()),
        "y": pa.array([1, 1, 4, 0, 2, 9], pa.int32()),
    }
)

WRITTEN_OUT = {
    "in a condition": ("MATCH A.x", "SEQ(A, B)", "twice(A.x) < B.x", "A.x + A.x < B.x"),
    "as a condition": ("MATCH COUNT(B) AS n", "B{2,}", "steep(B)", "B.x > PREV(B).x + 1"),
    "in a call": ("MATCH A.x", "SEQ(A, B)", "plus(twice(A.x), nothing()) > B.x", "A.x + A.x + 7 > B.x"),
    "parameters at once": ("MATCH A.x", "SEQ(A, B)", "swapped(A.x, B.x) > 0", "B.x - A.x > 0"),
    "of a variable": ("MATCH A.x", "SEQ(A, B+)", "growth(B) >= A.x", "LAST(B).x - FIRST(B).x >= A.x"),
    "of an event": ("MATCH A.x", "SEQ(A, B+)", "x_of(LAST(B)) > x_of(A)", "LAST(B).x > A.x"),
    "of a column": ("MATCH A.x", "SEQ(A, B+)", "grown(B, y) + of(A, x) > 1", "LAST(B).y - FIRST(B).y + A.x > 1"),
    "in any case": ("MATCH A.x", "SEQ(A, B)", "TWICE(A.x) < B.x", "A.x + A.x < B.x"),
    "in results": ("MATCH plus(A.x, B.y) AS n", "SEQ(A, B)", "TRUE", "MATCH A.x + B.y AS n"),
    "in an aggregate": ("SUM(plus(A.x, A.y)) AS n", "SEQ(A, B)", "TRUE", "SUM(A.x + A.y) AS n"),
    "of an aggregate": ("twice(COUNT(*)) AS n", "SEQ(A, B)", "TRUE", "COUNT(*) + COUNT(*) AS n"),
}


def rows(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cepc.compile(text).run(EVENTS)["q"].to_pylist()
    return found


def query(returns: str, pattern: str, where: str) -> str:
    return f"QUERY q RETURN {returns} PATTERN {pattern} WHERE {where} WITHIN 1 MINUTE;"


@pytest.mark.parametrize(("returns", "pattern", "where", "written"), WRITTEN_OUT.values(), ids=WRITTEN_OUT)
def test_a_call_is_what_is_written_out(returns: str, pattern: str, where: str, written: str) -> None:
    calling = STREAM + FUNCTIONS + query(returns, pattern, where)
    plain = query(written, pattern, where) if where == "TRUE" else query(returns, pattern, written)
    found = rows(calling)
    assert found
    assert found == rows(STREAM + plain)
    assert same(found, oracle.evaluate(program(calling), EVENTS.to_pylist())["q"])


def program(text: str) -> ast.Program:
    return parse(Source("t.cep", text)).program


def test_functions_stand_in_named_patterns_and_derived_events_too() -> None:
    calling = (
        STREAM
        + FUNCTIONS
        + "EVENT Large AS B WHERE twice(x) > 4;\n"
        + "QUERY q RETURN MATCH COUNT(up) AS n, l.x PATTERN SEQ(rise(A, x), Large l) WITHIN 1 MINUTE;"
    )
    found = rows(calling)
    assert sorted(row["n"] for row in found) == [1, 1, 1, 2, 2]
    assert same(found, oracle.evaluate(program(calling), EVENTS.to_pylist())["q"])


def test_a_column_without_a_name_is_called_as_spark_would_call_what_is_written_out() -> None:
    (row, *_) = rows(STREAM + FUNCTIONS + query("MATCH twice(A.x)", "A", "TRUE"))
    assert next(iter(row)) == "(x + x)"


def test_functions_are_called_before_they_are_declared_and_come_with_imports(tmp_path: Any) -> None:
    (tmp_path / "mine.cep").write_text("FUNCTION thrice(a) AS 3 * a;\n")
    (tmp_path / "q.cep").write_text(
        STREAM
        + query("MATCH half(thrice(A.x)) AS n", "A", "TRUE")
        + "FUNCTION half(a) AS a / 2;\nIMPORT './mine.cep';\n"
    )
    found = cepc.compile(tmp_path / "q.cep").run(EVENTS)["q"]
    assert found["n"].to_pylist() == [4.5, 1.5, 7.5]


def test_what_nobody_calls_is_checked_by_itself_alone() -> None:
    assert (
        cepc.compile(STREAM + "FUNCTION unused(a) AS LENGTH(a) + a;" + query("MATCH A.x", "A", "TRUE")).warnings == ()
    )
