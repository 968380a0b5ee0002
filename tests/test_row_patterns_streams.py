"""MATCH_RECOGNIZE over a stream, without Spark: random clauses have the rows that SQL says, each once, whatever the
micro-batches, each of them a restart, and the order of arrival.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from cepc.errors import RunError
from cepc.passes.strategy import strategy
from cepc.planning import plan_program
from cepc.row_patterns.coming import numbers_of
from cepc.row_patterns.program import NamedClause, program_of
from cepc.row_patterns.results import shown_table
from cepc.row_patterns.tables import RowsComing, table_of
from cepc_grammar.source import Source
from cepc_grammar.sql.parser import parse_sql
from cepc_runtime.parts.classes import classes_of
from cepc_runtime.sql.types import to_arrow
from cepc_runtime.streaming.advance import advance
from cepc_runtime.streaming.program import Program
from cepc_runtime.streaming.state import State, from_bytes, to_bytes
from cepc_runtime.streaming.ticks import END

from . import row_pattern_clauses as clauses
from . import row_pattern_oracle as sql
from .test_row_patterns import NOT_THERE, SCHEMA, TABLE, hashable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cepc.row_patterns.program import ClauseProgram

    Row = dict[str, Any]

MINUTE = 60_000_000
BEGIN = datetime(2026, 3, 2, tzinfo=UTC)


def compiled(text: str) -> tuple[Source, ClauseProgram]:
    source = Source("text.sql", f"{TABLE}SELECT * FROM numbers {text}")
    created, select = parse_sql(source).statements
    assert created.created is not None
    table = dataclasses.replace(table_of(created.created), rows=RowsComing("at"))
    return source, program_of([NamedClause("q", select.clauses[0], table)], {source.name: source})


class Stream:
    """A clause over rows that come, the state of which is bytes between two steps."""

    def __init__(self, text: str) -> None:
        self.source, self.clauses = compiled(text)
        assert self.clauses.checked.program is not None
        ((self.stream, rows),) = self.clauses.rows.items()
        (logical,) = plan_program(self.clauses.checked.program).plans
        plan = strategy(logical, "stream")
        lagging = [query.name for query in plan.queries] if plan.stream.beside else []
        self.program = Program(plan, classes_of(plan.queries, lagging=lagging), numbers=numbers_of(rows))
        self.number, self.made = rows.number, {rows.number, *(one.name for one in rows.shifted)}
        self.given = plan.stream.given
        self.data, self.due, self.late = to_bytes(State(), self.program), None, 0

    def take(self, rows: list[Row], watermark: int) -> list[tuple[Any, ...]]:
        """The rows of the clause that this gives. Raises RunError."""
        table = pa.Table.from_pylist(rows, SCHEMA)
        for name, type_ in self.given:
            if name in self.made:
                made = pa.nulls(len(rows), to_arrow(type_))
                table = table.append_column(name, pc.fill_null(made, 0) if name == self.number else made)
        table = table.select([name for name, _ in self.given])
        done = advance(self.program, from_bytes(self.data, self.program), [table], watermark)
        self.data, self.due = to_bytes(done.state, self.program), done.due
        self.late += sum(late.events.num_rows for late in done.late)
        sources = {self.source.name: self.source}
        shown = [shown_table(table, self.clauses.clauses["q"], sources) for _, table in done.rows]
        return [tuple(map(hashable, row.values())) for table in shown for row in table.to_pylist()]


def as_they_come(random: Random, rows: list[Row]) -> Iterator[tuple[list[Row], int]]:
    """The rows in any order within a watermark, cut anywhere, each part with the watermark after it."""
    delay = random.choice((0, 0, 3, 10)) * MINUTE
    ticks = {id(row): (row["at"] - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) for row in rows}
    arrival = {id(row): ticks[id(row)] + random.randint(0, delay) for row in rows}
    order = sorted(rows, key=lambda row: (arrival[id(row)], random.random()))
    cuts = sorted(random.randint(0, len(order)) for _ in range(random.randint(0, 6)))
    newest = 0
    for start, end in zip([0, *cuts], [*cuts, len(order)], strict=True):
        newest = max([newest, *(ticks[id(row)] for row in order[start:end])])
        yield order[start:end], newest - delay


def streamed(random: Random, text: str, rows: list[Row]) -> list[tuple[Any, ...]]:
    """The rows of all steps. Raises RunError."""
    stream, found = Stream(text), list[tuple[Any, ...]]()
    for part, watermark in as_they_come(random, rows):
        found += stream.take(part, watermark)
        if stream.due is not None:  # before that, there is nothing to say
            data, due = stream.data, stream.due
            assert stream.take([], due - 1) == []
            stream.data, stream.due = data, due
    found += stream.take([], END)
    assert stream.late == 0
    return found


def without_next(part: Any) -> Any:
    """The same with rows before others asked for, and none behind them."""
    if isinstance(part, tuple):
        return tuple(map(without_next, part))
    if isinstance(part, dict):
        return {name: without_next(value) for name, value in part.items()}
    if not dataclasses.is_dataclass(part) or isinstance(part, type):
        return part
    changed = {field.name: without_next(getattr(part, field.name)) for field in dataclasses.fields(part)}
    if isinstance(part, sql.Column):
        changed["places"] = -abs(part.places)
    return dataclasses.replace(part, **changed)


def coming(random: Random, kind: Callable[[Random], sql.Clause]) -> sql.Clause:
    """Such a clause of rows that come, some of them at one time, which other columns put in order."""
    order = random.choice([(("t", ""),), (("t", "DESC"),), (("o", "DESC NULLS LAST"), ("t", "")), (("o", ""), ("t", "DESC"))])
    made = without_next(kind(random))
    return dataclasses.replace(made, order=(("at", ""), *order), within=random.choice([4, 9, 20, 40, 200]), edges="")


KINDS: dict[str, Callable[[Random], sql.Clause]] = {
    "any": clauses.clause,
    "rows further back": clauses.further,
    "aggregates": clauses.aggregated,
    "all rows": clauses.every_row,
    "unmatched rows": clauses.with_unmatched,
    "perhaps no rows": clauses.perhaps_empty,
    "rows counted": clauses.numbered_rows,
}


@pytest.mark.parametrize(
    ("kind", "seed", "number"),
    [
        *((kind, 4, 25) for kind in KINDS),
        *(pytest.param(kind, seed, 120, marks=pytest.mark.long) for kind in KINDS for seed in (5, 6)),
    ],
)
def test_random_clauses_over_a_stream_have_the_rows_that_sql_says(kind: str, seed: int, number: int) -> None:
    random = Random(seed)
    compared = count = tied = empty = 0
    for _ in range(number):
        clause = coming(random, KINDS[kind])
        text = sql.as_sql(clause)
        refused = {d.code for d in compiled(text)[1].checked.errors}
        if refused:
            assert refused <= NOT_THERE, f"{refused}\n{text}"
            continue
        for _ in range(2):
            coarse = random.choice((1, 5))
            rows = clauses.rows(random)
            for row in rows:
                row["at"] = BEGIN + timedelta(minutes=row["t"] // coarse * coarse)
            try:
                expected: Any = Counter(sql.rows_of(clause, rows))
            except sql.SkipError:
                expected = "an error"
            try:
                made: Any = Counter(streamed(random, text, rows))
            except RunError as error:
                made = "an error" if error.diagnostics[0].code == "E0955" else error
            assert made == expected, f"{text}\n{rows}"
            compared += 1
            found = 1 if made == "an error" else made.total()
            count, empty = count + found, empty + (not found)
            tied += len({(row["k"], row["at"]) for row in rows}) < len(rows)
    assert compared > number
    assert count > compared
    assert tied > compared / 4
    assert empty < compared / 2
