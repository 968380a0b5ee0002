"""MATCH_RECOGNIZE against an oracle that knows SQL's meaning alone: random clauses over random rows have its rows."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from cepc.cli import cepc
from cepc.compiled_program import Compiled
from cepc.errors import RunError
from cepc.row_patterns.number_table import number_table
from cepc.row_patterns.program import NamedClause, program_of
from cepc.row_patterns.results import shown_table
from cepc.row_patterns.tables import table_of
from cepc.row_patterns.texts import not_plain, sql_program
from cepc_grammar.source import Source
from cepc_grammar.sql.parser import parse_sql

from . import row_pattern_clauses as clauses
from . import row_pattern_oracle as sql
from .growing import one_after_the_other

if TYPE_CHECKING:
    from collections.abc import Callable

    from cepc.row_patterns.program import ClauseProgram

TABLE = "CREATE TABLE numbers (k STRING, t INT, o INT, a INT, b INT, at TIMESTAMP);\n"
TIME = pa.timestamp("us", "UTC")
SCHEMA = pa.schema([("k", pa.string()), *((name, pa.int32()) for name in "toab"), ("at", TIME)])
NOT_THERE = frozenset({"E0952", "E0954"})


@lru_cache(1)  # each random clause is asked about several rows
def compiled(text: str, table: str = TABLE) -> tuple[Source, ClauseProgram]:
    source = Source("text.sql", table + "SELECT * FROM numbers " + text)
    parsed = parse_sql(source)
    assert parsed.diagnostics == ()
    created, select = parsed.statements
    assert created.created is not None
    named = NamedClause("q", select.clauses[0], table_of(created.created))
    return source, program_of([named], {source.name: source})


def found(
    text: str, rows: list[dict[str, Any]], table: str = TABLE, schema: pa.Schema = SCHEMA
) -> list[tuple[Any, ...]] | frozenset[str]:
    """The rows of the clause, or the codes of what is wrong. Raises RunError."""
    source, program = compiled(text, table)
    if program.checked.program is None:
        return frozenset(d.code for d in program.checked.diagnostics)
    given = pa.Table.from_pylist(rows, schema)
    events = {stream: number_table(given, numbered) for stream, numbered in program.rows.items()}
    results = Compiled(program.checked, program.checked.program).run(events)
    shown = shown_table(results["q"], program.clauses["q"], {source.name: source})
    return [tuple(map(hashable, row.values())) for row in shown.to_pylist()]


def hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


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


def short(random: Random) -> sql.Clause:
    """A clause whose matches are some minutes long at most."""
    made = random.choice([clauses.clause, clauses.clause, clauses.further, clauses.aggregated, clauses.every_row])(
        random
    )
    return replace(made, order=(("at", ""),), within=random.choice([4, 6, 9, 20, 40]))


KINDS: dict[str, Callable[[Random], sql.Clause]] = {
    "any": clauses.clause,
    "rows further back": clauses.further,
    "aggregates": clauses.aggregated,
    "all rows": clauses.every_row,
    "unmatched rows": clauses.with_unmatched,
    "perhaps no rows": clauses.perhaps_empty,
    "rows counted": clauses.numbered_rows,
    "short matches": short,
}


DRAWN = [
    ("any", 0, 150),
    *((kind, 4, 40) for kind in KINDS if kind != "any"),
    *(pytest.param("any", seed, 150, marks=pytest.mark.long) for seed in range(1, 4)),
    *(pytest.param(kind, seed, 150, marks=pytest.mark.long) for kind in KINDS if kind != "any" for seed in range(4)),
]
"""How many clauses of which kind."""


@pytest.mark.parametrize(("kind", "seed", "number"), DRAWN)
def test_random_clauses_have_the_rows_that_sql_says(kind: str, seed: int, number: int) -> None:
    random = Random(seed)
    compared = refused = count = empty = 0
    for _ in range(number):
        clause = KINDS[kind](random)
        for rows in (clauses.rows(random), clauses.rows(random)):
            text, made, expected, is_refused = said(clause, rows)
            if is_refused:
                assert made <= NOT_THERE, f"{made}\n{text}"
                refused += 1
                break
            assert made == expected, f"{text}\n{rows}"
            compared += 1
            found = 1 if made == "an error" else made.total()
            count, empty = count + found, empty + (not found)
    assert compared > number * 2 / 3
    assert count > 2 * compared
    assert empty < compared / 2


@pytest.mark.parametrize("kind", ["any", "perhaps no rows"])
def test_matches_that_are_followed_one_after_the_other_are_those_that_sql_says(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_after_the_other(monkeypatch)
    test_random_clauses_have_the_rows_that_sql_says(kind, 9, 40)


def test_a_bound_in_time_is_one_of_the_search() -> None:
    """Without it each A would be followed to the end of the partition, where there is no C of its own."""
    start = datetime(2026, 3, 2, tzinfo=UTC)
    rows = [{"k": "x", "t": i, "a": i % 11, "at": start + timedelta(seconds=i)} for i in range(20_000)]
    of_a_minute = "ORDER BY at MEASURES A.t AS t, COUNT(*) AS n PATTERN (A B* C) WITHIN INTERVAL '9' SECOND"
    assert found(f"MATCH_RECOGNIZE ({of_a_minute} DEFINE A AS a = 1, C AS a = 10) AS q", rows) == []
    several = found(f"MATCH_RECOGNIZE ({of_a_minute} DEFINE A AS a = 2, C AS a = 10) AS q", rows)
    assert several == [(i, 9) for i in range(2, 19_990, 11)]


# ---- known tasks -----------------------------------------------------------------------------------------------------

PRICES = {"x": [12, 17, 9, 8, 20, 21, 19, 22], "y": [5, 4, 3, 4]}
ROWS: list[dict[str, Any]] = [
    {"k": k, "t": t, "o": None, "a": a, "b": 0} for k, prices in PRICES.items() for t, a in enumerate(prices, 1)
]
FALL_AND_RISE = "DEFINE DOWN AS DOWN.a < PREV(DOWN.a), UP AS UP.a > PREV(UP.a)"
V = f"MEASURES STRT.a AS a, LAST(DOWN.a) AS b, LAST(UP.a) AS c {{}} PATTERN (STRT DOWN+ UP+) {FALL_AND_RISE}"

KNOWN: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "a V, one after the other": (V.format(""), [("x", 17, 8, 21), ("y", 5, 3, 4)]),
    "a V from each row": (
        V.format("AFTER MATCH SKIP TO NEXT ROW"),
        [("x", 17, 8, 21), ("x", 9, 8, 21), ("x", 21, 19, 22), ("y", 5, 3, 4), ("y", 4, 3, 4)],
    ),
    "a V from the top of the one before": (
        V.format("AFTER MATCH SKIP TO LAST UP"),
        [("x", 17, 8, 21), ("x", 21, 19, 22), ("y", 5, 3, 4)],
    ),
    "from the last row of a variable whose condition means another row after a longer fall": (
        "MEASURES STRT.a AS a, LAST(DOWN.a) AS b, LAST(UP.a) AS c AFTER MATCH SKIP TO LAST UP PATTERN (STRT DOWN+ UP) DEFINE DOWN AS (LAST(DOWN.a, 1) IS NULL AND DOWN.a < STRT.a) OR DOWN.a < LAST(DOWN.a, 1), UP AS UP.a > LAST(DOWN.a, 1)",
        [("x", 17, 8, 20)],
    ),
    "from the last row of a union": (
        "MEASURES FIRST(a) AS a, COUNT(*) AS n AFTER MATCH SKIP TO LAST ENDS PATTERN (UP+ (FLAT | DOWN)) SUBSET ENDS = (FLAT, DOWN) DEFINE UP AS UP.a > PREV(UP.a), FLAT AS FLAT.a = PREV(FLAT.a), DOWN AS DOWN.a < PREV(DOWN.a)",
        [("x", 17, 2), ("x", 20, 3)],
    ),
    "from the last row of a variable whose first row is another": (
        "MEASURES FIRST(DOWN.a) AS a AFTER MATCH SKIP TO LAST DOWN PATTERN (DOWN{2,}) DEFINE DOWN AS LAST(DOWN.a, 1) IS NULL OR DOWN.a < LAST(DOWN.a, 1)",
        [("x", 17), ("x", 21), ("y", 5)],
    ),
    "what is asked of a row that is not there is null, whatever it makes of nulls": (
        "MEASURES A.a AS a PATTERN (A) DEFINE A AS PREV(COALESCE(a, 0)) IS NULL",
        [("x", 12), ("y", 5)],
    ),
    "a variable that is called like a column": (
        "MEASURES LAST(a.a) AS x, COUNT(a.*) AS n, COUNT(a) AS m PATTERN (a+ t) DEFINE a AS a < 18, t AS t.t > a.t + 2 OR t.a > 19",
        [("x", 8, 4, 5)],
    ),
    "the row of a variable before, first there, then the last": (
        "MEASURES FIRST(DOWN.a) AS a, LAST(DOWN.a) AS b, UP.a AS c PATTERN (DOWN{2,} UP) DEFINE DOWN AS LAST(DOWN.a, 1) IS NULL OR DOWN.a < LAST(DOWN.a, 1), UP AS UP.a > LAST(DOWN.a)",
        [("x", 17, 8, 20), ("x", 21, 19, 22), ("y", 5, 3, 4)],
    ),
    "the last row but one of a variable before, if it has two": (
        "MEASURES STRT.a AS a, LAST(DOWN.a) AS b, UP.a AS c PATTERN (STRT DOWN+ UP) DEFINE DOWN AS (LAST(DOWN.a, 1) IS NULL AND DOWN.a < STRT.a) OR DOWN.a < LAST(DOWN.a, 1), UP AS UP.a > LAST(DOWN.a, 1)",
        [("x", 17, 8, 20)],
    ),
    "the last row of a variable, first there, then more": (
        "MEASURES FIRST(DOWN.a) AS a, LAST(DOWN.a) AS b, LAST(UP.a) AS c PATTERN (DOWN{2,} UP+) DEFINE DOWN AS LAST(DOWN.a, 1) IS NULL OR DOWN.a < LAST(DOWN.a, 1), UP AS UP.a > LAST(DOWN.a)",
        [("x", 17, 8, 22), ("y", 5, 3, 4)],
    ),
    "as few rows as will do": (
        "MEASURES COUNT(A.*) AS n, B.a AS b PATTERN (A+? B) DEFINE B AS B.a > 19",
        [("x", 4, 20), ("x", 2, 22)],
    ),
    "alternatives": (
        "MEASURES a AS a, CLASSIFIER() AS c PATTERN (low | High) DEFINE LOW AS a < 10, high AS high.a >= 20",
        [("x", 9, "low"), ("x", 8, "low"), ("x", 20, "High"), ("x", 21, "High"), ("x", 22, "High")]
        + [("y", a, "low") for a in PRICES["y"]],
    ),
    "empty matches are rows and have numbers": (
        "MEASURES COUNT(*) AS n, MATCH_NUMBER() AS m, LAST(A.a) AS a PATTERN (A*) DEFINE A AS a > 19",
        [*(("x", 0, m, None) for m in (1, 2, 3, 4, 6)), ("x", 2, 5, 21), ("x", 1, 7, 22)]
        + [("y", 0, m, None) for m in range(1, 5)],
    ),
    "any order": (
        "MEASURES CLASSIFIER() AS c, FIRST(t) AS t PATTERN (PERMUTE(A, B)) DEFINE A AS a < 10, B AS a >= 20",
        [("x", "B", 4)],
    ),
    "a running sum": (
        "MEASURES SUM(A.a) AS s PATTERN (A+) DEFINE A AS SUM(A.a) <= 30",
        [("x", 29), ("x", 17), ("x", 20), ("x", 21), ("x", 19), ("x", 22), ("y", 16)],
    ),
    "a running sum of rows that are compared with the one before": (
        "MEASURES SUM(A.a) AS s, COUNT(*) AS n PATTERN (A+) DEFINE A AS SUM(A.a) < 60 AND (LAST(A.a, 1) IS NULL OR A.a >= LAST(A.a, 1) - 3)",
        [("x", 29, 2), ("x", 58, 4), ("x", 41, 2), ("y", 16, 4)],
    ),
    "rows beside the match": (
        "MEASURES PREV(FIRST(A.a)) AS before, NEXT(LAST(A.a), 2) AS after, FINAL LAST(A.a) AS last PATTERN (A{2}) DEFINE A AS a < 10",
        [("x", 17, 21, 8), ("y", None, 4, 4), ("y", 4, None, 4)],
    ),
    "a union of variables": (
        "MEASURES MAX(ends.a) AS m, COUNT(ends.*) AS n, CLASSIFIER(ends) AS c PATTERN (A B+ C) SUBSET ends = (A, C) DEFINE B AS B.a < A.a, C AS C.a > A.a",
        [("x", 20, 2, "C"), ("x", 22, 2, "C")],
    ),
    "what another variable's row may lack": (
        "MEASURES COUNT(A.*) AS n, B.t AS t PATTERN (A* B) DEFINE A AS A.a < 9, B AS B.a > 20 OR B.a > LAST(A.a) + 11",
        [("x", 1, 5), ("x", 0, 6), ("x", 0, 8)],
    ),
    "from the start of a partition": (
        "MEASURES LAST(A.a) AS a PATTERN (^ A+) DEFINE A AS A.a < 18",
        [("x", 8), ("y", 4)],
    ),
    "up to the end of a partition": (
        "MEASURES FIRST(A.a) AS a PATTERN (A+ $) DEFINE A AS A.a > 8 OR A.t > 2",
        [("x", 12), ("y", 3)],
    ),
    "the first row but one, the last but one, and one that is not there": (
        "MEASURES FIRST(A.a, 1) AS b, LAST(A.a, 1) AS c, LAST(A.a, 9) AS d PATTERN (A+) DEFINE A AS A.a < 18",
        [("x", 17, 9, None), ("y", 4, 3, None)],
    ),
    "below the row but one before": (
        "MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS LAST(A.a, 2) IS NULL OR A.a < LAST(A.a, 2)",
        [("x", 4), ("x", 3), ("x", 1), ("y", 3), ("y", 1)],
    ),
    "the second row may be the one at hand": (
        "MEASURES FIRST(A.a) AS a, FIRST(A.a, 1) AS b PATTERN (A{2}) DEFINE A AS COALESCE(FIRST(A.a, 1), 20) >= 17",
        [("x", 12, 17), ("x", 8, 20), ("x", 21, 19)],
    ),
    "above the second row of another variable": (
        "MEASURES COUNT(*) AS n PATTERN (A+ B+) DEFINE A AS A.a < 18, B AS B.a > FIRST(A.a, 1)",
        [("x", 8), ("y", 3)],
    ),
    "more than the rows before it together": (
        "MEASURES SUM(A.a) AS s, C.a AS c, AVG(a) AS m PATTERN (A{2,} C) DEFINE A AS A.a < 10, C AS C.a > SUM(A.a)",
        [("x", 17, 20, 37 / 3)],
    ),
    "as long as the rows so far come to less": (
        "MEASURES COUNT(*) AS n, SUM(a) AS s PATTERN (A B+ C) DEFINE B AS SUM(a) < 40",
        [("x", 4, 46), ("y", 4, 16)],
    ),
    "a balance that stays": (
        "MEASURES COUNT(*) AS n, COUNT(IN_.*) AS i PATTERN ((IN_ | OUT_)+) DEFINE IN_ AS t % 2 = 1, OUT_ AS SUM(OUT_.a) < COALESCE(SUM(IN_.a), 0)",
        [("x", 1, 1), ("x", 3, 2), ("x", 1, 1), ("y", 3, 2)],
    ),
    "the last row so far of another variable, of which more may come": (
        "MEASURES COUNT(*) AS n, COUNT(B.*) AS b PATTERN ((A | B)+) DEFINE A AS a % 2 = 0, B AS B.a > A.a",
        [("x", 2, 1), ("x", 3, 1), ("x", 1, 0), ("y", 1, 0), ("y", 1, 0)],
    ),
    "the row beside that one": (
        "MEASURES COUNT(*) AS n PATTERN ((A | B)+) DEFINE A AS a % 2 = 0, B AS B.a <> COALESCE(PREV(COALESCE(A.a, 0)), 17)",
        [("x", 1), ("x", 6), ("y", 4)],
    ),
    "the first row so far, which may be of several variables": (
        "MEASURES COUNT(*) AS n PATTERN ((A | B)+ C) DEFINE A AS a > 10, B AS a < 10, C AS C.a < FIRST(a)",
        [("x", 4), ("x", 3), ("y", 4)],
    ),
    "an aggregate and the first row of a variable of which more may come": (
        "MEASURES COUNT(*) AS n PATTERN ((A B)+) DEFINE B AS SUM(A.a) <= 2 * FIRST(A.a)",
        [("x", 4), ("x", 4), ("y", 4)],
    ),
    "the last row of a variable that a match may lack, however the rows of others stand": (
        "MEASURES COUNT(*) AS n PATTERN ((A | B)+ C) SUBSET U = (A, B) DEFINE A AS a % 2 = 0, C AS C.a > AVG(U.a) AND C.a > LAST(A.a)",
        [("x", 8)],
    ),
    "the row of a union that is of one variable or another": (
        "MEASURES COUNT(*) AS n PATTERN ((A | B) C+) SUBSET U = (A, B) DEFINE A AS a > 15, C AS C.a <= U.a",
        [("y", 4), ("x", 3), ("x", 2)],
    ),
    "below the average of all rows so far": (
        "MEASURES COUNT(*) AS n PATTERN (A B+ C) DEFINE B AS B.a <= AVG(a), C AS C.a > 1.2 * AVG(a)",
        [("x", 4)],
    ),
    "below the average of another variable's rows so far": (
        "MEASURES COUNT(*) AS n PATTERN ((A B)+) DEFINE B AS B.a <= AVG(A.a)",
        [("x", 2), ("x", 2), ("y", 4)],
    ),
    "an aggregate of a variable that a match may lack": (
        "MEASURES COUNT(*) AS n, COUNT(B.*) AS b PATTERN (A+ (B | ())) DEFINE A AS A.a < 18, B AS MAX(B.a) > 20",
        [("x", 4, 0), ("y", 4, 0)],
    ),
    "as many rows as the match may have": (
        "MEASURES COUNT(*) AS n, COUNT(DISTINCT B.a) AS d, MAX_BY(B.t, B.a) AS t PATTERN (A B+) DEFINE B AS COUNT(*) <= 4",
        [("x", 4, 3, 2), ("x", 4, 3, 8), ("y", 4, 2, 2)],
    ),
    "rows of a repetition compared within it": (
        "MEASURES COUNT(*) AS n PATTERN ((A B)+) DEFINE B AS B.a <> A.a, A AS A.a > B.a OR A.a < 20",
        [("x", 8), ("y", 4)],
    ),
    "an earlier row that is none in one place of the pattern": (
        "MEASURES COUNT(*) AS n, COUNT(A.*) AS m PATTERN ((A B*?){2,} C | A D) DEFINE A AS LAST(A.a, 1) IS NULL OR FIRST(A.a) <= LAST(A.a, 1), B AS B.a < 18, C AS C.a > 20, D AS D.a < 5",
        [("x", 8, 5), ("y", 2, 1), ("y", 2, 1)],
    ),
    "a row rather than none, and none rather than a row again": (
        "MEASURES COUNT(A.*) AS n PATTERN (A | () | A) DEFINE A AS a > 9",
        [("x", n) for n in (1, 1, 0, 0, 1, 1, 1, 1)] + [("y", 0)] * 4,
    ),
    "perhaps a row, or a row": (
        "MEASURES COUNT(A.*) AS n, MATCH_NUMBER() AS m PATTERN (A? | A) DEFINE A AS a > 20",
        [("x", n, m) for m, n in enumerate((0, 0, 0, 0, 0, 1, 0, 1), 1)] + [("y", 0, m) for m in range(1, 5)],
    ),
    "as few rows as will do, up to the end of a partition": (
        "MEASURES COUNT(*) AS n PATTERN (A*? $) DEFINE A AS a > 18 OR a = 4",
        [("x", 4), ("y", 1)],
    ),
    "rows counted since the first one, which may be of several variables": (
        "MEASURES COUNT(*) AS n, COUNT(C.*) AS c PATTERN ((A | C)+) DEFINE C AS COUNT(*) < 3, A AS a > 18",
        [("x", 2, 2), ("x", 6, 2), ("y", 2, 2), ("y", 2, 2)],
    ),
    "rows counted between others, since the first one": (
        "MEASURES COUNT(*) AS n, D.t AS t PATTERN (A* C D C) DEFINE A AS a > 10, C AS COUNT(*) < 5, D AS COUNT(*) <> 2",
        [("x", 4, 3), ("x", 4, 7)],
    ),
    "PREV and NEXT by the names that Snowflake has": (
        "MEASURES LAG(FIRST(A.t)) AS one, LEAD(a, 2) AS two, lag(t, 1) AS three PATTERN (A+) DEFINE A AS a < lag(a) AND lag(A.t) > 1",
        [("x", 2, 21, 3), ("x", 6, None, 6), ("y", 2, None, 2)],
    ),
    "a running count of what is distinct, at the last row": (
        "MEASURES RUNNING COUNT(DISTINCT a) AS n, FINAL COUNT(DISTINCT b) AS m PATTERN (A+) DEFINE A AS a < 18",
        [("x", 4, 1), ("y", 3, 1)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_task_has_its_rows(name: str) -> None:
    text, expected = KNOWN[name]
    assert Counter(found(f"MATCH_RECOGNIZE (PARTITION BY k ORDER BY t {text})", ROWS)) == Counter(expected)


def test_numbers_of_other_types_are_added_up_over_several_variables() -> None:
    columns = {"d": pa.float64(), "e": pa.decimal128(10, 2), "b": pa.int64(), "f": pa.float32()}
    table = "CREATE TABLE numbers (k STRING, t INT, d DOUBLE, e DECIMAL(10, 2), b BIGINT, f FLOAT);\n"
    schema = pa.schema([("k", pa.string()), ("t", pa.int32()), *columns.items()])
    largest = 2**63 - 1
    values = [(0.1, "1.25", largest, 0.5), (0.2, None, largest, 0.25), (0.3, "9.99", 1, None), (None, "0.01", 2, 1.5)]
    rows = [
        {"k": "x", "t": t, "d": d, "e": None if e is None else Decimal(e), "b": b, "f": f}
        for t, (d, e, b, f) in enumerate(values)
    ]
    measured = ", ".join(f"{call} AS m{i}" for i, call in enumerate(
        ("SUM(d)", "AVG(d)", "SUM(e)", "AVG(b)", "SUM(f)", "AVG(f)", "COUNT(e)")
    ))  # fmt: skip
    clause = f"PARTITION BY k ORDER BY t MEASURES {measured} PATTERN (A B+) DEFINE B AS SUM(e) < 99 AND AVG(b) > 9 AND "
    (row,) = found(f"MATCH_RECOGNIZE ({clause} SUM(d) < 0.9)", rows, table, schema)
    assert row == ("x", pytest.approx(0.6, rel=1e-15), pytest.approx(0.2, rel=1e-15), Decimal("11.25"),
                   pytest.approx((2 * largest + 3) / 4), 2.25, 0.75, 3)  # fmt: skip
    assert str(row[3]) == "11.25"
    assert found(f"MATCH_RECOGNIZE ({clause} SUM(d) < 0.25)", rows, table, schema) == []
    assert found(f"MATCH_RECOGNIZE ({clause} AVG(e) < 1)", rows, table, schema) == frozenset({"E0952"})


ALL_ROWS: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "a V, row by row": (
        f"MEASURES CLASSIFIER() AS v, MATCH_NUMBER() AS m, STRT.a AS s, DOWN.a AS d, LAST(UP.a) AS u, FINAL LAST(UP.a) AS top, COUNT(*) AS n ALL ROWS PER MATCH PATTERN (STRT DOWN+ UP+) {FALL_AND_RISE}",
        [("x", 2, "STRT", 1, 17, None, None, 21, 1, None, 17, 0), ("x", 3, "DOWN", 1, 17, 9, None, 21, 2, None, 9, 0),
         ("x", 4, "DOWN", 1, 17, 8, None, 21, 3, None, 8, 0), ("x", 5, "UP", 1, 17, 8, 20, 21, 4, None, 20, 0),
         ("x", 6, "UP", 1, 17, 8, 21, 21, 5, None, 21, 0), ("y", 1, "STRT", 1, 5, None, None, 4, 1, None, 5, 0),
         ("y", 2, "DOWN", 1, 5, 4, None, 4, 2, None, 4, 0), ("y", 3, "DOWN", 1, 5, 3, None, 4, 3, None, 3, 0),
         ("y", 4, "UP", 1, 5, 3, 4, 4, 4, None, 4, 0)],
    ),
    "an empty match has the row where it is": (
        "MEASURES COUNT(*) AS n, a AS last, CLASSIFIER() AS c ALL ROWS PER MATCH SHOW EMPTY MATCHES PATTERN (A*) DEFINE A AS a = 9",
        [("x", t, int(t == 3), 9 if t == 3 else None, "A" if t == 3 else None, None, a, 0) for t, a in enumerate(PRICES["x"], 1)]
        + [("y", t, 0, None, None, None, a, 0) for t, a in enumerate(PRICES["y"], 1)],
    ),
    "empty matches left out": (
        "MEASURES MATCH_NUMBER() AS n ALL ROWS PER MATCH OMIT EMPTY MATCHES PATTERN (A*) DEFINE A AS a = 9",
        [("x", 3, 3, None, 9, 0)],
    ),
    "rows that no match has": (
        "MEASURES COUNT(*) AS n, CLASSIFIER() AS c, FINAL LAST(A.a) AS last ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A B) DEFINE A AS a < 10, B AS a > 10",
        [("x", 1, None, None, None, None, 12, 0), ("x", 2, None, None, None, None, 17, 0), ("x", 3, None, None, None, None, 9, 0),
         ("x", 4, 1, "A", 8, None, 8, 0), ("x", 5, 2, "B", 8, None, 20, 0), ("x", 6, None, None, None, None, 21, 0),
         ("x", 7, None, None, None, None, 19, 0), ("x", 8, None, None, None, None, 22, 0)]
        + [("y", t, None, None, None, None, a, 0) for t, a in enumerate(PRICES["y"], 1)],
    ),
    "with empty matches there are no others": (
        "MEASURES COUNT(*) AS n, MATCH_NUMBER() AS m ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A{3}|()) DEFINE A AS a > 17",
        [*(("x", t, 0, m, None, PRICES["x"][t - 1], 0) for t, m in ((1, 1), (2, 2), (3, 3), (4, 4), (8, 6)))]
        + [("x", t, t - 4, 5, None, PRICES["x"][t - 1], 0) for t in (5, 6, 7)]
        + [("y", t, 0, t, None, a, 0) for t, a in enumerate(PRICES["y"], 1)],
    ),
    "rows that are not shown are of the match": (
        "MEASURES COUNT(*) AS n, CLASSIFIER() AS c ALL ROWS PER MATCH PATTERN (A {- A* -} B) DEFINE A AS a < 18, B AS a > 18",
        [("x", 1, 1, "A", None, 12, 0), ("x", 5, 5, "B", None, 20, 0)],
    ),
    "nothing among what is not shown": (
        "MEASURES COUNT(*) AS n ALL ROWS PER MATCH PATTERN (^ {- A -} B {- (C | ()) -} D) DEFINE C AS a > 20, D AS a < 10",
        [("x", 2, 2, None, 17, 0), ("x", 3, 3, None, 9, 0), ("y", 2, 2, None, 4, 0), ("y", 3, 3, None, 3, 0)],
    ),
    "FINAL and RUNNING in PREV": (
        "MEASURES PREV(FINAL LAST(a)) AS f, PREV(RUNNING LAST(a), 1) AS r, FINAL PREV(LAST(a)) AS g ALL ROWS PER MATCH PATTERN (A B) DEFINE A AS a = 8, B AS PREV(RUNNING LAST(a)) = 8",
        [("x", 4, 8, 9, 8, None, 8, 0), ("x", 5, 8, 8, 8, None, 20, 0)],
    ),
    "the last row so far, which is open": (
        "MEASURES LAST(A.a) AS one, LAST(A.a, 1) AS two ALL ROWS PER MATCH PATTERN ((A B+)+) DEFINE A AS A.a < 18 AND A.t < 4, B AS B.a > 10 AND B.t > 1",
        [("x", 1, 12, None, None, 12, 0), ("x", 2, 12, None, None, 17, 0)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ALL_ROWS)
def test_a_known_task_has_all_its_rows(name: str) -> None:
    text, expected = ALL_ROWS[name]
    there = found(f"MATCH_RECOGNIZE (PARTITION BY k ORDER BY t {text})", ROWS)
    assert not isinstance(there, frozenset)
    assert Counter(row[:-1] for row in there) == Counter(expected)


def test_the_last_row_so_far_of_a_long_match() -> None:
    """It was looked up in a list of all rows of its variable, which each row of the match took along."""
    count = 20_000
    rows = [{"k": "x", "t": t, "o": None, "a": t % 7, "b": t} for t in range(count)]
    measured = "MEASURES LAST(B.b) AS last, PREV(LAST(B.b)) AS before"
    there = found(
        f"MATCH_RECOGNIZE (ORDER BY t {measured} ALL ROWS PER MATCH PATTERN ((A | B)+) DEFINE A AS a > 0)", rows
    )
    assert not isinstance(there, frozenset)
    assert [row[:3] for row in there] == [(t, t - t % 7, t - t % 7 - 1 if t > 6 else None) for t in range(count)]


# ---- what is wrong, or not there -------------------------------------------------------------------------------------

WRONG = {
    "ORDER BY t MEASURES 1 AS n ALL ROWS PER MATCH WITH UNMATCHED ROWS AFTER MATCH SKIP TO NEXT ROW PATTERN (A)": (
        "E0952",
        "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
    ),
    "ORDER BY t MEASURES 1 AS n ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A {- B -})": (
        "E0952",
        "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
    ),
    "ORDER BY t MEASURES 1 AS n ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (^ A*)": (
        "E0952",
        "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
    ),
    "ORDER BY t MEASURES MATCH_NUMBER() AS n ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A)": (
        "E0952",
        "MATCH_NUMBER()",
    ),
    "PARTITION BY k ORDER BY t MEASURES 1 AS A ALL ROWS PER MATCH PATTERN (A)": ("E0953", "A"),
    "PARTITION BY k ORDER BY t MEASURES o AS o ALL ROWS PER MATCH PATTERN (A)": ("E0953", "o"),
    "ORDER BY t MEASURES COUNT(DISTINCT A.a) AS n ALL ROWS PER MATCH PATTERN (A+)": ("E0952", "COUNT(DISTINCT A.a)"),
    "PARTITION BY k MEASURES 1 AS n PATTERN (A)": ("E0952", None),
    "ORDER BY t MEASURES 1 AS n PATTERN (A ^ B)": ("E0952", "^"),
    "ORDER BY t MEASURES 1 AS n PATTERN ((A | B) $)": ("E0952", "$"),
    "ORDER BY t MEASURES 1 AS n PATTERN (A*?)": ("E0952", "A"),
    "ORDER BY t MEASURES 1 AS n PATTERN (A? | B | A)": ("E0952", "B"),
    "ORDER BY t MEASURES 1 AS n PATTERN (() | A)": ("E0952", "A"),
    "ORDER BY t MEASURES 1 AS n PATTERN (A{3,2} B)": ("E0951", "A{3,2}"),
    "ORDER BY t MEASURES 1 AS n PATTERN (())": ("E0952", None),
    "ORDER BY t MEASURES A.a AS n PATTERN (B A{0})": ("E0952", "A"),
    "ORDER BY t MEASURES COUNT(u.*) AS n PATTERN (A) SUBSET u = (C)": ("E0953", "C"),
    "ORDER BY t PATTERN (A)": ("E0952", None),
    "ORDER BY t MEASURES LAST(A.a, 101) AS n PATTERN (A+)": ("E0952", "LAST(A.a, 101)"),
    "ORDER BY t MEASURES 1 AS n PATTERN (A+) DEFINE A AS FINAL LAST(A.a) > 1": ("E0952", "FINAL LAST(A.a)"),
    "ORDER BY t MEASURES 1 AS n PATTERN (A+) DEFINE A AS MATCH_NUMBER() > 1": ("E0952", "MATCH_NUMBER()"),
    "ORDER BY t MEASURES 1 AS n PATTERN (A B) DEFINE B AS AVG(a + 1) > 2": ("E0952", "AVG(a + 1)"),
    "ORDER BY t MEASURES 1 AS n PATTERN (A B) DEFINE B AS MAX(CLASSIFIER()) = 'A'": ("E0953", "CLASSIFIER()"),
    "ORDER BY t MEASURES COLLECT(CLASSIFIER(B) || A.a) AS n PATTERN (A B)": ("E0953", "COLLECT(CLASSIFIER(B) || A.a)"),
    "ORDER BY t MEASURES 1 AS n PATTERN (A+) DEFINE A AS COUNT(DISTINCT A.a) > 1": ("E0952", "COUNT(DISTINCT A.a)"),
    "ORDER BY t MEASURES MAX_BY(A.a, B.b) AS n PATTERN (A B)": ("E0953", "MAX_BY(A.a, B.b)"),
    "ORDER BY t MEASURES 1 AS n PATTERN ((A B+)+) DEFINE A AS A.a > LAST(A.a, 2) + SUM(B.a)": (
        "E0954",
        "A.a > LAST(A.a, 2) + SUM(B.a)",
    ),
    "ORDER BY t MEASURES 1 AS n PATTERN (A+) DEFINE A AS VARIANCE(A.a) > 1": ("E0952", "VARIANCE(A.a)"),
    "ORDER BY t DESC MEASURES 1 AS n PATTERN (A) WITHIN INTERVAL '1' HOUR": ("E0952", "INTERVAL '1' HOUR"),
    "ORDER BY a, t MEASURES 1 AS n PATTERN (A) WITHIN INTERVAL '1' HOUR": ("E0952", "INTERVAL '1' HOUR"),
    "ORDER BY t MEASURES z AS n PATTERN (A)": ("E0953", "z"),
    "ORDER BY -t MEASURES 1 AS n PATTERN (A)": ("E0952", "-t"),
    "PARTITION BY k, a % 2 ORDER BY t MEASURES 1 AS n PATTERN (A)": ("E0952", "a % 2"),
    "ORDER BY t MEASURES 1 AS n PATTERN ((A B | B A | A A){1,900})": ("E0801", None),
    "ORDER BY t MEASURES A.a AS n, A.b AS N PATTERN (A)": ("E0953", "N"),
    "ORDER BY t MEASURES Z.a AS n PATTERN (A)": ("E0953", "Z"),
    "ORDER BY t MEASURES 1 AS n PATTERN (A) DEFINE B AS a > 1": ("E0953", "B"),
    "ORDER BY t MEASURES 1 AS n PATTERN (A) DEFINE A AS a > 1, a AS a < 1": ("E0953", "a"),
    "ORDER BY t MEASURES 1 AS n PATTERN (A B) SUBSET u = (A, C)": ("E0953", "C"),
    "ORDER BY t MEASURES LAST(A.a + B.a) AS n PATTERN (A B)": ("E0953", "LAST(A.a + B.a)"),
    "ORDER BY t MEASURES 1 AS n PATTERN (A) DEFINE A AS PREV(a, b) > 1": ("E0953", "b"),
    "ORDER BY t MEASURES 1 AS n PATTERN ((A+ B)+) DEFINE B AS B.a > FIRST(A.a) AND A AS 1": ("E0951", "AS"),
    "ORDER BY t MEASURES 1 AS n PATTERN ((A B+)+) DEFINE B AS B.a > LAST(A.a, 1)": ("E0954", "LAST(A.a, 1)"),
    "ORDER BY t MEASURES 1 AS n PATTERN (A+) DEFINE A AS a": ("E0304", "a"),
    "ORDER BY t MEASURES hex(A.a) AS n PATTERN (A)": ("E0338", "hex(A.a)"),
    "ORDER BY t MEASURES 1 AS n PATTERN (A C* B) DEFINE A AS hex(a) = '1', B AS hex(B.a) = '2' AND HEX(A.a) < 'A'": (
        "E0338",
        "HEX(A.a)",
    ),
    "ORDER BY t MEASURES 1 AS n PATTERN ((A B+)+) DEFINE A AS A.a > LAST(A.a, 1) + LAST(B.a)": (
        "E0954",
        "LAST(A.a, 1)",
    ),
    "ORDER BY t MEASURES 1 AS n PATTERN (C (A B+)+) DEFINE A AS A.a > LAST(A.a, 1) + C.a": (
        "E0954",
        "A.a > LAST(A.a, 1) + C.a",
    ),
}


TOLD = {
    "MEASURES Z.a AS n PATTERN (A B)": "the pattern has A and B",
    "MEASURES BB.a AS n PATTERN (A BBB)": "did you mean `BBB`?",
    "MEASURES A.z AS n PATTERN (A B)": "its columns are `k`, `t`, `o`, `a`, `b` and `at`",
    "MEASURES COUNT(1) AS n PATTERN (A B)": "write `COUNT(*)` for all rows, `COUNT(v.*)` for those of a variable, or a "
    "column of the table, with a variable before it or without",
    "MEASURES FIRST(CLASSIFIER()) AS n PATTERN (A B)": "`CLASSIFIER()` by itself is of the last row so far, and "
    "`CLASSIFIER(v)` of the last one of a variable",
    "MEASURES SUM(a - PREV(a)) AS n PATTERN (A B)": "write `PREV(x, 2)` for the row two places away; or compute it in "
    "what the clause is over: `(SELECT *, LAG(x) OVER (…) AS before FROM table)`",
    "MEASURES 1 AS n AFTER MATCH SKIP TO LAST ROW PATTERN (A B)": "write `AFTER MATCH SKIP PAST LAST ROW`, `TO NEXT ROW`, "
    "or `TO LAST` and a variable",
    "MEASURES MATCH_SEQUENCE_NUMBER() AS n PATTERN (A B)": "with ALL ROWS PER MATCH it is `COUNT(*)`",
    "MEASURES 1 AS n PATTERN (A B) DEFINE B AS a > PRIOR(a)": "the row before is `PREV(x)`",
    "MEASURES SUM(A.a * B.a) AS n PATTERN (A B)": "write one variable before all of its columns, or a call for each "
    "variable",
}


@pytest.mark.parametrize("text", TOLD)
def test_a_name_that_is_not_there_is_told_those_that_are(text: str) -> None:
    source = Source("text.sql", f"{TABLE}SELECT * FROM numbers MATCH_RECOGNIZE (ORDER BY t {text})")
    assert [d.hint for d in sql_program([source]).checked.diagnostics] == [TOLD[text]]


def test_an_unknown_function_is_not_one_that_a_text_could_declare() -> None:
    clause = "MATCH_RECOGNIZE (ORDER BY t MEASURES foo(A.a) AS n PATTERN (A))"
    (only,) = sql_program([Source("text.sql", f"{TABLE}SELECT * FROM numbers {clause}")]).checked.diagnostics
    assert (only.code, only.notes) == ("E0301", ())


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said_in_its_place(text: str) -> None:
    code, place = WRONG[text]
    source = Source("text.sql", TABLE + f"SELECT * FROM numbers MATCH_RECOGNIZE ({text})")
    (diagnostic,) = sql_program([source]).checked.diagnostics
    assert diagnostic.code == code, diagnostic
    shown = source.text[diagnostic.span.start : diagnostic.span.end]
    assert shown == place or (place is None and shown.startswith("MATCH_RECOGNIZE ("))


def test_a_table_that_is_not_understood_is_said_to() -> None:
    text = (
        TABLE.replace(");", ") PARTITIONED BY (k);")
        + "SELECT * FROM numbers MATCH_RECOGNIZE (ORDER BY t MEASURES 1 AS n PATTERN (A))"
    )
    (only,) = sql_program([Source("text.sql", text)]).checked.diagnostics
    assert only.title == "`PARTITIONED` cannot stand here"


@pytest.mark.parametrize("notes", ["NOT NULL COMMENT 'x'", "COMMENT 'x' NOT NULL", "COMMENT 'x'", "NOT NULL"])
def test_what_stands_behind_a_type_is_in_any_order(notes: str) -> None:
    text = f"CREATE TABLE n (t INT {notes}, u INT) USING csv OPTIONS (header true) LOCATION 'n.csv'; SELECT * FROM n {ALONE}"
    assert sql_program([Source("t.sql", text)]).checked.ok


def test_an_interval_is_declared_as_in_spark(tmp_path: Path) -> None:
    (tmp_path / "n.jsonl").write_text('{"interval": "0 00:00:01"}\n{"interval": "0 00:00:05"}\n')
    (tmp_path / "q.sql").write_text(
        f"CREATE TABLE n (interval INTERVAL DAY TO SECOND NOT NULL) USING json LOCATION '{tmp_path / 'n.jsonl'}';\n"
        "SELECT * FROM n MATCH_RECOGNIZE (ORDER BY interval MEASURES LAST(interval) - FIRST(interval) AS d "
        "PATTERN (A B) DEFINE B AS interval > PREV(interval) + INTERVAL '3' SECOND);"
    )
    done = CliRunner().invoke(cepc, ["run", str(tmp_path / "q.sql"), "--format", "csv"])
    assert done.stdout == "d\nINTERVAL '0 00:00:04' DAY TO SECOND\n", done.output


INTERVALS = {
    "INTERVAL DAY": [],
    "ARRAY<INTERVAL HOUR TO SECOND>": [],
    "INTERVAL YEAR TO MONTH": ["unknown type `INTERVAL YEAR TO MONTH`"],
    "INTERVAL": [],
}


@pytest.mark.parametrize("type_", INTERVALS)
def test_a_type_of_intervals_has_several_words(type_: str) -> None:
    clause = "MATCH_RECOGNIZE (ORDER BY t MEASURES A.lasted AS n PATTERN (A))"
    text = f"CREATE TABLE n (t INT, lasted {type_} COMMENT 'x', day INT); SELECT * FROM n {clause}"
    assert [d.title for d in sql_program([Source("t.sql", text)]).checked.diagnostics] == INTERVALS[type_]


@pytest.mark.parametrize("place", ["PARTITION BY m ORDER BY t", "ORDER BY t, m DESC", "ORDER BY l"])
def test_maps_have_no_order(place: str) -> None:
    """Spark says so too; here they had one that nothing says."""
    clause = f"MATCH_RECOGNIZE ({place} MEASURES 1 AS n PATTERN (A))"
    text = f"CREATE TABLE n (t INT, m MAP<STRING, INT>, l ARRAY<MAP<INT, INT>>); SELECT * FROM n {clause}"
    (only,) = sql_program([Source("t.sql", text)]).checked.diagnostics
    assert (only.code, text[only.span.start : only.span.end]) == ("E0303", "l" if "l" in place else "m")
    assert only.label.endswith("requires a type with an order")


def test_a_result_is_not_ordered_by_maps() -> None:
    clause = "MATCH_RECOGNIZE (ORDER BY t MEASURES LAST(A.m){} AS n PATTERN (A)) AS r ORDER BY r.n"
    text = f"CREATE TABLE n (t INT, m MAP<STRING, INT>); SELECT * FROM n {clause}"
    (only,) = sql_program([Source("t.sql", text.format(""))]).checked.diagnostics
    assert (only.code, text.format("")[only.span.start : only.span.end]) == ("E0303", "r.n")
    assert "`LAST(x)['key'] AS name`" in only.hint
    assert sql_program([Source("t.sql", text.format("['key']"))]).checked.ok


RUN: dict[str, str] = {
    "": "nothing says where the rows of the table `n` are",
    "USING kafka LOCATION 'x'": "USING KAFKA is read by Spark alone",
    "USING csv OPTIONS (header 'true') LOCATION 'n.csv'": "take `q` out of CREATE TABLE",
    "USING json LOCATION 'n.jsonl'": "the table `n` declares `q INT`",
    "USING parquet LOCATION 'n.parquet'": "declare `t STRING`, and in expressions write `CAST(t AS INT)`",
}


@pytest.mark.parametrize("source", RUN)
def test_a_run_speaks_of_tables(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"t": ["1"], "q": [1]}), "n.parquet")
    Path("n.csv").write_text("t\n1\n")
    Path("n.jsonl").write_text('{"t": 1}\n')
    clause = "MATCH_RECOGNIZE (ORDER BY t MEASURES LAST(A.q) AS c PATTERN (A+)) AS m"
    Path("q.sql").write_text(f"CREATE TABLE n (t INT, q INT) {source}; SELECT * FROM n {clause}")
    done = CliRunner().invoke(cepc, ["run", "q.sql"])
    assert RUN[source] in done.stderr
    assert "stream" not in done.stderr.lower()


MANY = "CREATE TABLE n (t BIGINT) USING parquet LOCATION 'n.parquet'; SELECT * FROM n MATCH_RECOGNIZE (ORDER BY t {});"
FEWER = {
    "AFTER MATCH SKIP PAST LAST ROW": "AFTER MATCH SKIP PAST LAST ROW PATTERN (A+)",
    "`{1,100}` in place of `+`": "AFTER MATCH SKIP TO NEXT ROW PATTERN (A{1,2})",
    "a reluctant `+?`": "AFTER MATCH SKIP TO NEXT ROW PATTERN (A+?)",
}


@pytest.mark.parametrize("cure", FEWER)
def test_too_many_matches_of_a_clause_have_cures_of_sql(
    cure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"t": range(300)}), "n.parquet")
    Path("many.sql").write_text(MANY.format("MEASURES COUNT(*) AS c AFTER MATCH SKIP TO NEXT ROW PATTERN (A+)"))
    done = CliRunner().invoke(cepc, ["run", "many.sql", "--most", "100"])
    assert "error[E0803]: `n` has too many matches" in done.stderr
    assert cure in done.stderr
    Path("few.sql").write_text(MANY.format("MEASURES COUNT(*) AS c " + FEWER[cure]))
    assert CliRunner().invoke(cepc, ["run", "few.sql", "--most", "100"]).exit_code == 0


PLAIN: dict[str, list[tuple[Any, ...]]] = {
    "SELECT k, n AS m FROM numbers MATCH_RECOGNIZE ({}) AS t": [("k", "m"), ("x", 3), ("y", 4)],
    "SELECT T.n FROM numbers MATCH_RECOGNIZE ({}) t WHERE t.N > 3 AND k = 'y'": [("n",), (4,)],
    "SELECT * FROM numbers MATCH_RECOGNIZE ({}) WHERE match_start = 1": [("k", "n", "match_start"), ("y", 4, 1)],
    "SELECT k, t, n FROM numbers MATCH_RECOGNIZE ({every}) WHERE n = 2 AND T > 2 OR k = 'y' AND n = 3": [
        ("k", "t", "n"), ("x", 4, 2), ("y", 3, 3),
    ],
    "SELECT t.*, n AS m FROM numbers MATCH_RECOGNIZE ({}) AS t ORDER BY n DESC": [
        ("k", "n", "match_start", "m"), ("y", 4, 1, 4), ("x", 3, 3, 3),
    ],
    "SELECT n FROM numbers MATCH_RECOGNIZE ({}) t ORDER BY t.match_start LIMIT 1": [("n",), (4,)],
    "SELECT *, t AS u FROM numbers MATCH_RECOGNIZE ({every}) q ORDER BY q.k DESC NULLS LAST, u DESC LIMIT 3": [
        ("k", "t", "n", "match_start", "o", "a", "b", "at", "u"), ("y", 4, 4, 1, "", 4, 0, "", 4),
        ("y", 3, 3, 1, "", 3, 0, "", 3), ("y", 2, 2, 1, "", 4, 0, "", 2),
    ],
    "SELECT t AS limit FROM numbers MATCH_RECOGNIZE ({every}) ORDER BY limit LIMIT 2": [("limit",), (1,), (2,)],
    "SELECT n FROM numbers MATCH_RECOGNIZE ({}) LIMIT 0": [("n",)],
}  # fmt: skip


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_select_is_answered_here(text: str, tmp_path: Path) -> None:
    clause = "PARTITION BY k ORDER BY t MEASURES COUNT(*) AS n, FIRST(t) AS match_start PATTERN (A{3,}) DEFINE A AS a < 21 AND t > 0 AND a <> 12 AND a <> 17 AND a <> 19 "
    pq.write_table(pa.Table.from_pylist(ROWS, SCHEMA), tmp_path / "numbers.parquet")
    created = TABLE.replace(");", f") USING parquet LOCATION '{tmp_path / 'numbers.parquet'}';")
    (tmp_path / "q.sql").write_text(
        created + text.format(clause, every=clause.replace("PATTERN", "ALL ROWS PER MATCH PATTERN"))
    )
    done = CliRunner().invoke(cepc, ["run", str(tmp_path / "q.sql"), "--format", "csv"])
    assert done.stdout.splitlines() == [",".join(map(str, row)) for row in PLAIN[text]], done.output


REMARKS = {
    "COUNT(A.x > 1) > 2": ("W0305", "A.x > 1"),
    "B.note > 1": ("W0302", "B.note"),
    "B.note RLIKE '('": ("W0304", "'('"),
    "B.x > COUNT(A.x)": None,
}


@pytest.mark.parametrize("condition", REMARKS)
def test_a_clause_is_warned_of_what_values_do_once(condition: str) -> None:
    """Though the condition is asked at two places of the pattern."""
    clause = f"MATCH_RECOGNIZE (ORDER BY t MEASURES 1 AS n PATTERN (A+ B A* B) DEFINE B AS {condition})"
    text = f"CREATE TABLE n (t INT, x INT, note STRING); SELECT * FROM n {clause}"
    checked = sql_program([Source("t.sql", text)]).checked
    said = [(d.code, text[d.span.start : d.span.end]) for d in checked.diagnostics]
    assert said == [one for one in (REMARKS[condition],) if one is not None]
    assert checked.ok


NOT_OF_ONE_ROW = {
    "COUNT(*) > 1": "COUNT",
    "n > 1 AND SUM(n) > 5": "SUM",
    "MATCH_NUMBER() = 1": "MATCH_NUMBER",
    "CLASSIFIER() = 'A'": "CLASSIFIER",
    "n > PREV(n)": "PREV",
    "n > LAG(n)": "LAG",
    "FIRST(n) > 1": "FIRST",
    "RUNNING SUM(n) > 1": "SUM",
    "FINAL LAST(n) > 1": "FINAL",
    "MAX_BY(n, k) > 1": "MAX_BY",
}


@pytest.mark.parametrize("rows", ["ONE ROW PER MATCH", "ALL ROWS PER MATCH"])
@pytest.mark.parametrize("where", NOT_OF_ONE_ROW)
def test_a_where_around_is_of_a_row_of_the_result(where: str, rows: str) -> None:
    """It is a HAVING of ours, where all of these would be of the rows of the match."""
    clause = f"MATCH_RECOGNIZE (PARTITION BY k ORDER BY t MEASURES COUNT(*) AS n {rows} PATTERN (A))"
    (only,) = sql_program([Source("t.sql", f"{TABLE}SELECT * FROM numbers {clause} WHERE {where}")]).checked.diagnostics
    assert (only.code, only.title) == ("E0951", f"{NOT_OF_ONE_ROW[where]} in WHERE")


@pytest.mark.parametrize(("where", "code"), [("n", "E0304"), ("soundex(k) = 'x'", "E0338")])
def test_a_where_around_is_called_so(where: str, code: str) -> None:
    clause = "MATCH_RECOGNIZE (PARTITION BY k ORDER BY t MEASURES COUNT(*) AS n PATTERN (A))"
    (only,) = sql_program([Source("t.sql", f"{TABLE}SELECT * FROM numbers {clause} WHERE {where}")]).checked.diagnostics
    assert only.code == code
    assert "WHERE" in only.label
    assert "HAVING" not in only.label


OTHERS = {
    "GROUP BY k": "GROUP",
    "ORDER BY k LIMIT 2 OFFSET 1": "OFFSET",
    "JOIN numbers USING (k)": "JOIN",
    "WHERE n > (SELECT 1)": "SELECT",
}


@pytest.mark.parametrize("behind", OTHERS)
def test_what_needs_spark_is_said_to(behind: str, tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text(
        TABLE + "SELECT k FROM numbers MATCH_RECOGNIZE (PARTITION BY k ORDER BY t MEASURES COUNT(*) AS n PATTERN (A)) "
        f"AS m {behind};"
    )
    assert CliRunner().invoke(cepc, ["check", str(tmp_path / "q.sql")]).exit_code == 0
    done = CliRunner().invoke(cepc, ["run", str(tmp_path / "q.sql")])
    assert done.exit_code == 1
    assert "E0956" in done.output


ALONE = "MATCH_RECOGNIZE (ORDER BY t MEASURES COUNT(*) AS c PATTERN (A+)) AS m;"
CURES = {
    "ORDER BY -t MEASURES 1 AS n PATTERN (A)": "write `t DESC`",
    "ORDER BY a + 1 MEASURES 1 AS n PATTERN (A)": "write MATCH_RECOGNIZE over `(SELECT *, … AS key FROM table)`",
    "ORDER BY t MEASURES 1 AS n PATTERN ((A B | B A | A A){1,900})": "use smaller counts",
    "ORDER BY t MEASURES FINAL A.a AS n PATTERN (A+)": "write `FINAL LAST(A.a)`",
    "ORDER BY t MEASURES 1 AS n PATTERN ((A | B)*? C?? | D)": "leave the `?` behind the quantifier out, or let",
    "ORDER BY t MEASURES 1 AS n PATTERN (() | A*?)": "write the alternative without rows behind the others, or let",
    "ORDER BY t MEASURES 1 AS n PATTERN (A? | B)": "write it before what can match no row",
    "ORDER BY t MEASURES A.a PATTERN (A)": "a measure has a name: `… AS name`",
    "ORDER BY t MEASURES A.a, A.b AS b PATTERN (A)": "a measure has a name: `… AS name`",
    "ORDER BY t PATTERN (A) MEASURES 1 AS n": "this order: PARTITION BY, ORDER BY, MEASURES, ONE ROW PER MATCH or ALL",
    "ORDER BY t ONE ROW PER MATCH MEASURES 1 AS n PATTERN (A)": "the clauses stand in this order: PARTITION BY",
    "MEASURES 1 AS n ORDER BY t PATTERN (A)": "the clauses stand in this order: PARTITION BY",
    "ORDER BY t MEASURES 1 AS n PATTERN (A) DEFINE A AS a > 1 WITHIN INTERVAL '1' DAY": "this order: PARTITION BY",
    "ORDER BY at MEASURES 1 AS n PATTERN (A) WITHIN 5 MINUTES": "write `WITHIN INTERVAL '5' MINUTE`",
    "ORDER BY t MEASURES 1 AS n PATTERN (A, B+)": "rows that follow each other have no comma between them: `A B+`",
    "ORDER BY t MEASURES 1 AS n PATTERN (A B{2-3})": "write `{2,3}`",
    "ORDER BY t MEASURES 1 AS n PATTERN (A B) DEFINE B = b > 3": "write `B AS …`",
    "ORDER BY t MEASURES 1 AS n AFTER MATCH SKIP PAST LAST EVENT PATTERN (A)": "write ROW",
    "ORDER BY t MEASURES hex(A.a) AS n PATTERN (A)": "write MATCH_RECOGNIZE over `(SELECT *, … AS name FROM table)`, and",
    "ORDER BY t MEASURES 1 AS n PATTERN (A) DEFINE A AS position('x' IN PREV(k)) > 1": "write `position('x', PREV(k))`",
    "ORDER BY t MEASURES 1 AS n PATTERN (A) DEFINE A AS k = “x”": "strings stand in straight quotes: '…'",
    "ORDER BY t MEASURES COUNT(*) FILTER (WHERE a > 1) AS n PATTERN (A)": "`COUNT(CASE WHEN condition THEN 1 END)`",
    "ORDER BY t MEASURES 1 AS n PATTERN (A) DEFINE A AS a > AVG(a) OVER (PARTITION BY k)": "`(SELECT *, … OVER (…) AS",
    "ORDER BY t MEASURES 1 AS n PATTERN (A) DEFINE A AS a > (SELECT AVG(a) FROM numbers)": "over a query that joins it",
    'ORDER BY t MEASURES A.a AS "n" PATTERN (A)': "double quotes are of texts, as in Spark: write `n`",
    'ORDER BY t MEASURES A.a AS n PATTERN ("A b" B)': "double quotes are of texts, as in Spark: write `A b`",
    f"ORDER BY t MEASURES 1 AS n PATTERN (A) DEFINE A AS {'(' * 200}a{')' * 200} > 1": "a view can give a part",
}


@pytest.mark.parametrize("text", CURES)
def test_a_cure_is_one_of_sql(text: str) -> None:
    source = Source("text.sql", TABLE + f"SELECT * FROM numbers MATCH_RECOGNIZE ({text})")
    (diagnostic,) = sql_program([source]).checked.diagnostics
    assert CURES[text] in diagnostic.hint


MEASURED = "ORDER BY t MEASURES A.a AS n"
CURED = [
    # what is wrong, its place, the cure, and what a user then has
    (f"({MEASURED}, PATTERN (A B+))", ",", "leave the comma out", f"({MEASURED} PATTERN (A B+))"),
    (f"({MEASURED}, ONE ROW PER MATCH PATTERN (A))", ",", "leave the comma out", f"({MEASURED} PATTERN (A))"),
    (f"({MEASURED} PATTERN (A B), DEFINE B AS a > 1)", ",", "leave the comma out", f"({MEASURED} PATTERN (A B))"),
    (f"({MEASURED} PATTERN (A B) DEFINE B AS a > 1,)", ",", "leave the comma out", f"({MEASURED} PATTERN (A B))"),
    ("(PARTITION BY k, ORDER BY t PATTERN (A))", ",", "leave the comma out", "(PARTITION BY k ORDER BY t PATTERN (A))"),
    ("(ORDER BY t, MEASURES 1 AS n PATTERN (A))", ",", "leave the comma out", f"({MEASURED} PATTERN (A))"),
    ("(ORDER BY t MEASURES A.a n PATTERN (A))", "n", "write `AS n`", f"({MEASURED} PATTERN (A))"),
    (f"({MEASURED} PATTERN (A) DEFINE A a > 1)", "a", "write `A AS …`", f"({MEASURED} PATTERN (A) DEFINE A AS a > 1)"),
    (f"({MEASURED} PATTERN (A) DEFINE A => a > 1)", "=>", "write `A AS …`", f"({MEASURED} PATTERN (A) DEFINE A AS a > 1)"),
    (
        f"({MEASURED} PATTERN (A) DEFINE a > 1)", ">", "write the variable before its condition: `variable AS …`",
        f"({MEASURED} PATTERN (A) DEFINE A AS a > 1)",
    ),
    (f"({MEASURED} PATTERN (A) DEFINE A AS a => 1)", "=>", "write `>=`", f"({MEASURED} PATTERN (A) DEFINE A AS a >= 1)"),
    (
        f"({MEASURED} PATTERN (A) DEFINE A AS a > :low)", ":low", "write the value in its place",
        f"({MEASURED} PATTERN (A) DEFINE A AS a > 1)",
    ),
    (f"({MEASURED} PATTERN (A)) WHERE n > ?", "?", "write the value in its place", f"({MEASURED} PATTERN (A)) WHERE n > 1"),
    (f"({MEASURED} PATERN (A))", "PATERN", "did you mean PATTERN?", f"({MEASURED} PATTERN (A))"),
    ("(ODER BY t MEASURES 1 AS n PATTERN (A))", "ODER", "did you mean ORDER?", f"({MEASURED} PATTERN (A))"),
    (f"({MEASURED} ALL ROW PER MATCH PATTERN (A))", "ROW", "did you mean ROWS?", f"({MEASURED} ALL ROWS PER MATCH PATTERN (A))"),
    (
        f"({MEASURED} AFTER MATCH SKIP TO NEXT PATTERN (A))", "PATTERN", "write `TO NEXT ROW`",
        f"({MEASURED} AFTER MATCH SKIP TO NEXT ROW PATTERN (A))",
    ),
    (
        f"({MEASURED} AFTER MATCH SKIP PAST LAST ROW SEEK PATTERN (A))", "SEEK", "leave it out",
        f"({MEASURED} AFTER MATCH SKIP PAST LAST ROW PATTERN (A))",
    ),
    (f"({MEASURED} INITIAL PATTERN (A))", "INITIAL", "write `^` first in PATTERN", f"({MEASURED} PATTERN (^ A))"),
    (
        "(ORDER BY at MEASURES 1 AS n PATTERN (A) WITHIN '10' MINUTES)", "MINUTES", "write `WITHIN INTERVAL '10' MINUTE`",
        "(ORDER BY at MEASURES 1 AS n PATTERN (A) WITHIN INTERVAL '10' MINUTE)",
    ),
    ("(ORDER BY t MEASURES CLASSIFIER AS n PATTERN (A))", "CLASSIFIER", "write `CLASSIFIER()`",
     "(ORDER BY t MEASURES CLASSIFIER() AS n PATTERN (A))"),
    (f"({MEASURED}, n + 1 AS m PATTERN (A))", "n", "write what stands before `AS n` in its place",
     f"({MEASURED}, A.a + 1 AS m PATTERN (A))"),
    ("(ORDER BY t MEASURES numbers.a AS n PATTERN (A))", "numbers", "leave `numbers.` out", f"({MEASURED} PATTERN (A))"),
    (f"({MEASURED} PATTERN (A B;))", ";", "leave it out", f"({MEASURED} PATTERN (A B))"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "place", "cure", "right"), CURED)
def test_a_cure_works_when_it_is_typed(wrong: str, place: str, cure: str, right: str) -> None:
    text, mended = (f"{TABLE}SELECT * FROM numbers MATCH_RECOGNIZE {clause};" for clause in (wrong, right))
    (found,) = sql_program([Source("t.sql", text)]).checked.diagnostics
    assert text[found.span.start : found.span.end] == place
    assert cure in found.hint
    assert sql_program([Source("t.sql", mended)]).checked.ok


def test_a_comma_behind_the_last_column_is_none_of_spark_s() -> None:
    text = f"{TABLE}SELECT k, n, FROM numbers MATCH_RECOGNIZE (PARTITION BY k {MEASURED} PATTERN (A))"
    (only,) = sql_program([Source("t.sql", text)]).checked.diagnostics
    assert (only.code, only.title, only.hint) == ("E0951", "a comma before FROM", "leave the comma out")


@pytest.mark.parametrize("word", ["MATCH_RECOGNISE", "MATCH_RECOGNIZED", "MATCHRECOGNIZE", "MATCH RECOGNIZE"])
def test_the_word_of_a_clause_is_known_misspelt(word: str) -> None:
    text = f"{TABLE}SELECT * FROM numbers {word} ({MEASURED} PATTERN (A))"
    (only,) = sql_program([Source("t.sql", text)]).checked.diagnostics
    assert (only.code, only.hint.rstrip("?").endswith("MATCH_RECOGNIZE")) == ("E0951", True)
    of_spark = "SELECT match_recognised(a) FROM numbers"  # a function that somebody may have
    assert parse_sql(Source("t.sql", of_spark)).diagnostics == ()


JOINED = {
    "numbers JOIN numbers o USING (k)": "the USING of a JOIN",
    "numbers n JOIN numbers o ON n.k = o.k": "the ON of a JOIN",
    "numbers LATERAL VIEW explode(array(a)) x AS y": "LATERAL",
    "numbers, LATERAL (SELECT 1)": "LATERAL",
    "LATERAL numbers": "LATERAL",
}


@pytest.mark.parametrize("table", JOINED)
def test_a_join_is_made_before_a_clause(table: str) -> None:
    text = f"{TABLE}SELECT * FROM {table} MATCH_RECOGNIZE ({MEASURED} PATTERN (A))"
    (only,) = sql_program([Source("t.sql", text)]).checked.diagnostics
    assert (only.code, only.title) == ("E0952", f"MATCH_RECOGNIZE behind {JOINED[table]}")
    assert only.hint.endswith("over all of it as a query: `(SELECT * FROM …)`")


UNITS_FIRST = {
    "MEASURES {} AS n PATTERN (A B)": (
        "datediff(SECOND, FIRST(at), B.at)",
        "(unix_micros(B.at) - unix_micros(FIRST(at))) DIV 1000000",
    ),
    "MEASURES {} AS n ALL ROWS PER MATCH PATTERN (A B)": ("timestampadd(MINUTE, 5, A.at)", "A.at + INTERVAL 5 MINUTES"),
    "MEASURES MAX({}) AS n PATTERN (A B)": ("dateadd(HOUR, 2, B.at)", "B.at + INTERVAL 2 HOURS"),
    "MEASURES 1 AS n PATTERN (A B+) DEFINE B AS {} < 5": (
        "timestampdiff(MINUTE, PREV(at), B.at)",
        "(unix_micros(B.at) - unix_micros(PREV(at))) DIV 60000000",
    ),
    "MEASURES 1 AS n PATTERN (A B+) DEFINE B AS {} > 0": (
        "date_diff('day', COALESCE(A.at, B.at), at)",
        "(unix_micros(at) - unix_micros(CAST(COALESCE(A.at, B.at) AS TIMESTAMP))) DIV 86400000000",
    ),
    "MEASURES A.at AS s, B.at AS e PATTERN (A B)) WHERE ({} > 0": (
        "datediff(HOUR, s, e)",
        "(unix_micros(CAST(e AS TIMESTAMP)) - unix_micros(CAST(s AS TIMESTAMP))) DIV 3600000000",
    ),
}


@pytest.mark.parametrize("text", UNITS_FIRST)
def test_a_unit_is_no_column(text: str) -> None:
    """What is written for it is in the words of the clause, and works."""
    written, cure = UNITS_FIRST[text]
    around = f"{TABLE}SELECT * FROM numbers MATCH_RECOGNIZE (ORDER BY t {text})"
    (only,) = sql_program([Source("t.sql", around.format(written))]).checked.diagnostics
    assert (only.code, only.hint) == ("E0301", f"write `{cure}`")
    assert sql_program([Source("t.sql", around.format(cure))]).checked.ok


EXPECTED = {
    "ORDER BY t NULLS MEASURES 1 AS n PATTERN (A)": "FIRST or LAST is expected",
    "ORDER BY t MEASURES 1 AS n PATTERN (A B++)": "PERMUTE, `$`, `(`, `)`, `?`, `^` or something else is expected",
    "ORDER BY t MEASURES 1 AS n PATTERN (A . B)": "a quantifier, a variable, PERMUTE, `$`, `)`, `^` or `|` is expected",
    "ORDER BY t MEASURES A.'b' AS n PATTERN (A)": "`*` or a name is expected",
    "ORDER BY t MEASURES 1 AS n ALL ROWS PER MATCH WITH UNMATCHED PATTERN (A)": "ROWS is expected",
}


@pytest.mark.parametrize("text", EXPECTED)
def test_what_is_expected_is_as_it_is_written(text: str) -> None:
    source = Source("text.sql", TABLE + f"SELECT * FROM numbers MATCH_RECOGNIZE ({text})")
    (diagnostic,) = sql_program([source]).checked.diagnostics
    assert EXPECTED[text] in diagnostic.label
    assert diagnostic.hint == ""


OF_FLINK = {
    "x INT, WATERMARK FOR at AS at - INTERVAL '1' SECOND) USING csv LOCATION 'x.csv'": "leave `WATERMARK FOR …` out",
    "x INT) WITH ('connector' = 'filesystem')": "USING csv OPTIONS (header 'true') LOCATION 'events.csv'`",
}


OF_DATABASES = {
    "x INT DEFAULT -1 + 2": (
        "DEFAULT -1 + 2",
        "leave it out, and write `COALESCE(x, -1 + 2)` where a value may be missing",
    ),
    "x INT NULL": ("NULL", "leave it out"),
    "x INT PRIMARY KEY, y INT": ("PRIMARY KEY", "leave it out"),
    "y INT, x INT CHECK (x > 0)": ("CHECK (x > 0)", "leave it out"),
    "x INT, PRIMARY KEY (x, y), y INT": ("PRIMARY KEY (x, y)", "leave it out, and the comma before it"),
    "x INT, CHECK (x > 0)": ("CHECK (x > 0)", "leave it out, and the comma before it"),
    "x INT, CONSTRAINT own UNIQUE (x)": ("CONSTRAINT own UNIQUE (x)", "leave it out, and the comma before it"),
    "x INT,": (",", "leave the comma out"),
    "x INT, y INTEGR": ("INTEGR", "did you mean `INTEGER`?"),
    "x INT, y STRUCT<z: TEXT>": ("TEXT", "did you mean `STRING`?"),
}


@pytest.mark.parametrize("columns", OF_DATABASES)
def test_what_a_table_of_files_does_not_keep_is_said_of_it(columns: str) -> None:
    text = f"CREATE TABLE t ({columns}) USING csv; SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x MEASURES 1 AS n PATTERN (A))"
    (only,) = sql_program([Source("t.sql", text)]).checked.diagnostics
    assert (text[only.span.start : only.span.end], only.hint) == OF_DATABASES[columns]


def test_a_type_that_spark_has_is_one_of_no_column_asked_for() -> None:
    clause = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x MEASURES {} AS n PATTERN (A))"
    table = "CREATE TABLE t (x INT, y VARIANT, z ARRAY<GEOMETRY>);"
    assert sql_program([Source("t.sql", table + clause.format("1"))]).checked.ok
    assert not sql_program([Source("t.sql", table + clause.format("A.y"))]).checked.ok


@pytest.mark.parametrize("columns", OF_FLINK)
def test_a_cure_is_for_tables_of_flink(columns: str) -> None:
    clause = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x MEASURES 1 AS n PATTERN (A))"
    (diagnostic,) = sql_program([Source("text.sql", f"CREATE TABLE t ({columns};\n{clause}")]).checked.diagnostics
    assert OF_FLINK[columns] in diagnostic.hint


@pytest.mark.parametrize("written", ["header 'true'", "'header'=true", "header TRUE", "delimiter = ',', header = true"])
def test_options_are_written_as_in_spark(written: str, tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("t\n5\n6\n")
    text = (
        f"CREATE TABLE n (t INT) USING csv OPTIONS ({written}) LOCATION '{tmp_path / 'n.csv'}'; SELECT * FROM n {ALONE}"
    )
    (tmp_path / "q.sql").write_text(text)
    done = CliRunner().invoke(cepc, ["run", str(tmp_path / "q.sql"), "--format", "csv"])
    assert done.stdout == "c\n2\n", done.output


def test_an_option_that_is_a_name_is_wrong() -> None:
    text = f"CREATE TABLE n (t INT) USING csv OPTIONS (header yes) LOCATION 'n.csv'; SELECT * FROM n {ALONE}"
    first, *_ = sql_program([Source("t.sql", text)]).checked.diagnostics
    assert (first.code, first.hint) == ("E0951", "write it in quotes: `'yes'`")


def test_what_overflows_in_a_condition_is_said_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("t,p\n1,2147483647\n2,3\n")
    (tmp_path / "q.sql").write_text(
        f"CREATE TABLE n (t INT, p INT) USING csv OPTIONS (header true) LOCATION '{tmp_path / 'n.csv'}';\n"
        "SELECT * FROM n MATCH_RECOGNIZE (ORDER BY t MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS prev(p) + 5 > 2);"
    )
    done = CliRunner().invoke(cepc, ["run", str(tmp_path / "q.sql")])
    assert "INT overflow in `PREV(p) + 5`" in done.output
    assert "q.sql:2:93" in done.output


FOR_SPARK = {
    TABLE + f"DELETE FROM numbers WHERE a = 5; SELECT * FROM numbers {ALONE}": "DELETE FROM numbers WHERE a = 5",
    TABLE + f"CREATE TEMP VIEW numbers AS SELECT 1; SELECT * FROM numbers {ALONE}": "CREATE TEMP VIEW numbers AS SELECT 1",
    TABLE + f"SELECT k FROM numbers; SELECT * FROM numbers {ALONE}": "SELECT k FROM numbers",
    TABLE + f"SELECT DISTINCT c FROM numbers {ALONE}": "DISTINCT",
    TABLE + f"SELECT ALL * FROM numbers {ALONE}": "ALL",
    f"CREATE TABLE n (t INT) USING csv LOCATION 'n.csv'; SELECT * FROM n {ALONE}": "CREATE TABLE n (t INT) USING csv LOCATION 'n.csv'",
}  # fmt: skip


@pytest.mark.parametrize("text", FOR_SPARK)
def test_what_is_not_understood_here_is_not_passed_over(text: str) -> None:
    program = sql_program([Source("text.sql", text)])
    assert program.checked.ok
    assert [(d.code, text[d.span.start : d.span.end]) for d in not_plain(program)] == [("E0956", FOR_SPARK[text])]


SELECTED_TWICE = {
    "SELECT k, n, k FROM": "k",
    "SELECT n, t.N FROM": "N",
    "SELECT k AS n, n FROM": "n",
    "SELECT k AS x, n AS X FROM": "X",
}


@pytest.mark.parametrize("selected", SELECTED_TWICE)
def test_a_column_of_the_result_is_selected_once(selected: str) -> None:
    name = SELECTED_TWICE[selected]
    clause = "MATCH_RECOGNIZE (PARTITION BY k ORDER BY t MEASURES COUNT(*) AS n PATTERN (A)) AS t"
    program = sql_program([Source("t.sql", f"{TABLE}{selected} numbers {clause}")])
    assert program.checked.ok
    (only,) = not_plain(program)
    assert (only.code, only.title) == ("E0956", f"`{name}` is a column twice")
    assert only.hint.endswith(f"another name: `… AS {name}_2`")


@pytest.mark.parametrize(
    "before", ["CREATE TEMP VIEW v AS SELECT * FROM numbers; ", "WITH v AS (SELECT * FROM numbers) "]
)
def test_a_view_is_no_table_that_could_be_declared(before: str) -> None:
    first, *_ = sql_program([Source("t.sql", f"{TABLE}{before}SELECT * FROM v {ALONE}")]).checked.diagnostics
    assert (first.code, first.title) == ("E0953", "there is no table `v`")
    assert "views, and what WITH names, are not known" in first.notes[0]


def test_a_sample_is_written_as_a_query() -> None:
    text = f"{TABLE}SELECT * FROM numbers TABLESAMPLE (100 PERCENT) {ALONE}"
    (only,) = sql_program([Source("t.sql", text)]).checked.diagnostics
    assert (only.code, only.hint) == ("E0952", "write `(SELECT * FROM table TABLESAMPLE (…))` in the place of both")


def test_a_table_is_created_once() -> None:
    text = f"{TABLE}{TABLE.replace('numbers', 'Numbers')}SELECT * FROM numbers {ALONE}"
    assert [d.title for d in sql_program([Source("t.sql", text)]).checked.diagnostics] == ["`Numbers` is created twice"]


def test_clauses_of_one_order_are_queries_of_one_stream() -> None:
    one = "SELECT * FROM numbers MATCH_RECOGNIZE (PARTITION BY k ORDER BY {} MEASURES COUNT(*) AS n PATTERN (A {}));"
    text = TABLE + "".join(one.format(order, more) for order, more in (("t", "B"), ("t", "C+"), ("t DESC", "B")))
    program = sql_program([Source("q.sql", text)])
    assert {query.name: query.stream for query in program.checked.program.queries} == {  # type: ignore[union-attr]
        "numbers": "numbers'", "numbers_2": "numbers'", "numbers_3": "numbers''",
    }  # fmt: skip


IN_ANY_CASE = {
    "SELECT * FROM numbers {0}; SELECT c AS z FROM Numbers {0}; SELECT * FROM numbers {0}": ["numbers", "Numbers_2", "numbers_3"],
    "SELECT * FROM numbers {0} AS m; SELECT * FROM numbers {0} AS M; SELECT * FROM numbers {0} AS n": ["m", "M_2", "n"],
    "SELECT * FROM numbers {0} AS m; SELECT * FROM numbers {0} AS M_2; SELECT * FROM numbers {0} AS m": ["m", "M_2", "m_3"],
    "SELECT * FROM numbers {1} AS `c 2`; SELECT * FROM numbers {1}": ["c 2", "numbers"],
}  # fmt: skip
DIVIDED = (
    "MATCH_RECOGNIZE (ORDER BY t MEASURES COUNT(*) AS c PATTERN ((A | B) C `c 2`) DEFINE C AS A.a IS NULL OR a > A.a)"
)


@pytest.mark.parametrize("text", IN_ANY_CASE)
def test_names_that_are_made_differ_in_more_than_case(text: str) -> None:
    clause = ALONE.removesuffix(" AS m;")
    program = sql_program([Source("t.sql", TABLE + text.format(clause, DIVIDED))])
    assert program.checked.diagnostics == ()
    assert [query.name for query in program.checked.program.queries] == IN_ANY_CASE[text]  # type: ignore[union-attr]


# ---- any text --------------------------------------------------------------------------------------------------------

WORDS = [
    "MATCH_RECOGNIZE",
    "(",
    ")",
    ",",
    ".",
    ";",
    "*",
    "A",
    "b",
    "t",
    "k",
    "1",
    "'x'",
    "PATTERN",
    "DEFINE",
    "MEASURES",
    "AS",
    "FINAL",
    "RUNNING",
    "LAST",
    "FIRST",
    "PREV",
    "NEXT",
    "ORDER",
    "BY",
    "SUBSET",
    "=",
    "PARTITION",
    "WITHIN",
    "INTERVAL",
    "HOUR",
    "{",
    "}",
    "{-",
    "-}",
    "|",
    "+",
    "?",
    "^",
    "$",
    "PERMUTE",
    "AFTER",
    "MATCH",
    "SKIP",
    "TO",
    "ROW",
    "NULLS",
    "DESC",
    "ALL",
    "ROWS",
    "PER",
    "ONE",
    "COUNT",
    "SUM",
    "CLASSIFIER",
    "MATCH_NUMBER",
    "NULL",
    "CASE",
    "WHEN",
    "END",
    "[",
    "]",
    "{2,}",
    "{,3}",
    "{3000}",
    "{0}",
    "`q`",
    "--",
    "/*",
    '"',
    "<",
    ">",
    "IS",
    "NOT",
    "u",
    "WHERE",
    "SELECT",
    "FROM",
]


@pytest.mark.unhurried
def test_no_text_ends_in_a_traceback() -> None:
    """Clauses with words taken out, put in, changed and exchanged."""
    random, said_of = Random(5), Counter[str]()
    for _ in range(400):
        pieces = re.findall(
            r"\w+|\s+|.",
            f"{TABLE}SELECT * FROM numbers {sql.as_sql(random.choice((clauses.clause, clauses.further))(random))}",
        )
        for _ in range(random.choice([1, 1, 2, 3, 5])):
            at = random.randrange(len(pieces))
            pieces[at : at + random.randrange(2)] = [f" {random.choice(WORDS)} "] * random.randrange(2)
        text = "".join(pieces)
        checked = sql_program([Source("text.sql", text)]).checked
        assert all(0 <= d.span.start <= d.span.end <= len(text) for d in checked.diagnostics), text
        assert checked.text()
        said_of.update(d.code for d in checked.diagnostics)
    assert said_of["E0951"] > 100
    assert min(said_of[code] for code in ("E0952", "E0953", "E0954", "E0956")) > 0, said_of
