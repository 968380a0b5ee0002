"""MATCH_RECOGNIZE against an oracle that knows SQL's meaning alone: random clauses over random rows have its rows."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from cepc.compiled_program import Compiled
from cepc.errors import RunError
from cepc.row_patterns.number_table import number_table
from cepc.row_patterns.program import NamedClause, program_of
from cepc.row_patterns.results import shown_table
from cepc.row_patterns.tables import table_of
from cepc_grammar.source import Source
from cepc_grammar.sql.parser import parse_sql

from . import row_pattern_clauses as clauses
from . import row_pattern_oracle as sql

TABLE = "CREATE TABLE numbers (k STRING, t INT, o INT, a INT, b INT, at TIMESTAMP);\n"
TIME = pa.timestamp("us", "UTC")
SCHEMA = pa.schema([("k", pa.string()), *((name, pa.int32()) for name in "toab"), ("at", TIME)])
NOT_THERE = frozenset({"E0952", "E0954"})


def found(text: str, rows: list[dict[str, Any]]) -> list[tuple[Any, ...]] | frozenset[str]:
    """The rows of the clause, or the codes of what is wrong. Raises RunError."""
    source = Source("text.sql", TABLE + "SELECT * FROM numbers " + text)
    parsed = parse_sql(source)
    assert parsed.diagnostics == ()
    created, select = parsed.statements
    assert created.created is not None
    named = NamedClause("q", select.clauses[0], table_of(created.created))
    program = program_of([named], {source.name: source})
    if program.checked.program is None:
        return frozenset(d.code for d in program.checked.diagnostics)
    table = pa.Table.from_pylist(rows, SCHEMA)
    events = {stream: number_table(table, numbered) for stream, numbered in program.rows.items()}
    results = Compiled(program.checked, program.checked.program).run(events)
    shown = shown_table(results["q"], program.clauses["q"], {source.name: source})
    return [tuple(row.values()) for row in shown.to_pylist()]


def said(clause: sql.Clause, rows: list[dict[str, Any]]) -> Any:
    """What the compiler makes of a clause, and what it has to be, where it makes something of it."""
    text = sql.as_sql(clause)
    try:
        expected: Any = Counter(sql.rows_of(clause, rows))
    except sql.SkipError:
        expected = "an error"
    try:
        result = found(text, rows)
        is_refused = isinstance(result, frozenset)
        made: Any = result if is_refused else Counter(result)
    except RunError as error:
        is_refused, made = False, "an error" if error.diagnostics[0].code == "E0955" else error
    return text, made, expected, is_refused


@pytest.mark.property
@pytest.mark.parametrize("seed", range(4))
def test_random_clauses_have_the_rows_that_sql_says(seed: int) -> None:
    random = Random(seed)
    compared = refused = count = empty = 0
    for _ in range(150):
        clause = clauses.clause(random)
        for rows in (clauses.rows(random), clauses.rows(random)):
            text, made, expected, is_refused = said(clause, rows)
            if is_refused:
                assert made <= NOT_THERE, f"{made}\n{text}"
                refused += 1
                break
            assert made == expected, f"{text}\n{rows}"
            compared += 1
            number = 1 if made == "an error" else made.total()
            count, empty = count + number, empty + (not number)
    assert compared > 100
    assert count > 3 * compared
    assert empty < compared / 2
