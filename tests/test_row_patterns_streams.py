"""MATCH_RECOGNIZE over a stream, without Spark: random clauses have the rows that SQL says, each once, whatever the
micro-batches, each of them a restart, and the order of arrival.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from cepc.codegen.compiling import job_of, load
from cepc.errors import RunError
from cepc.passes.strategy import strategy
from cepc.planning import plan_program
from cepc.row_patterns.coming import numbers_of
from cepc.row_patterns.program import NamedClause, program_of
from cepc.row_patterns.results import shown_table
from cepc.row_patterns.tables import RowsComing, table_of
from cepc_grammar import ast
from cepc_grammar.source import Source
from cepc_grammar.sql.parser import parse_sql
from cepc_runtime.plan.windows import MatchBound
from cepc_runtime.spark.streaming.blobs import LATE, METRICS, pack
from cepc_runtime.spark.streaming.query import OverTable, continuous
from cepc_runtime.sql.types import to_arrow
from cepc_runtime.streaming.ticks import END

from . import row_pattern_clauses as clauses
from . import row_pattern_oracle as sql
from .equivalence import Compiled
from .test_row_patterns import KINDS as OF_TABLES
from .test_row_patterns import NOT_THERE, SCHEMA, TABLE, hashable
from .test_row_patterns import compiled as compiled_of_table
from .test_stream_operator import BUCKETS, packed
from .told_rows import told_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cepc.row_patterns.program import ClauseProgram

    Row = dict[str, Any]

MINUTE = 60_000_000
LONGER = 200
"""Minutes, and longer than all rows of a case are apart: within them nothing is known because time is over."""
BEGIN = datetime(2026, 3, 2, tzinfo=UTC)


@lru_cache(1)  # a clause is compiled, and then asked about several rows
def compiled(text: str) -> tuple[Source, ClauseProgram]:
    source = Source("text.sql", f"{TABLE}SELECT * FROM numbers {text}")
    created, select = parse_sql(source).statements
    assert created.created is not None
    table = replace(table_of(created.created), rows=RowsComing("at"))
    return source, program_of([NamedClause("q", select.clauses[0], table)], {source.name: source})


class Stream:
    """A clause over rows that come, as Spark drives the operator: letters are words, and the state of each bucket is
    bytes between two steps.
    """

    def __init__(self, text: str) -> None:
        self.source, self.clauses = compiled(text)
        program = self.clauses.checked.program
        assert program is not None
        ((stream, self.rows),) = self.clauses.rows.items()
        (logical,) = plan_program(program).plans
        self.compiled = Compiled(ast.Program(()), program, logical, strategy(logical, "stream"))
        streamed = load(job_of(program, {self.source.name: self.source})).streamed[stream]
        self.what = replace(continuous(streamed, ["q"], BUCKETS, 0), run=OverTable(numbers_of(self.rows)))
        self.answering = self.what.answering()
        self.begin()

    def begin(self) -> None:
        """Without rows."""
        self.states: dict[int, bytes | None] = {}
        self.dues: dict[int, int | None] = {}

    def end(self) -> list[tuple[Any, ...]]:
        """The rows of what is open. Raises RunError."""
        return [row for bucket in self.states for row in self._step(bucket, [], END)]

    def says_nothing_before(self, bucket: int, due: int | None) -> bool:
        """Whether a step before it is due gives no row."""
        done = self.answering.step(bucket, self.states[bucket], [], (due or END) - 1)
        return told_of(done.rows).tables.keys() == {METRICS}

    def take(self, rows: list[Row], watermark: int) -> list[tuple[Any, ...]]:
        """The rows of the clause that this gives. Raises RunError."""
        given = packed(self.compiled, self._given(rows), self.what.plan, self.what.classes)
        blobs: dict[int, list[tuple[int, bytes]]] = defaultdict(list)
        for batch in pack(given.to_batches()):
            for bucket, kind, blob in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                blobs[bucket].append((kind, blob))
        expired = [bucket for bucket, due in self.dues.items() if due is not None and due <= watermark]
        found: list[tuple[Any, ...]] = []
        for bucket in dict.fromkeys((*blobs, *expired)):
            found += self._step(bucket, blobs.get(bucket, []), watermark)
        return found

    def _step(self, bucket: int, blobs: list[tuple[int, bytes]], watermark: int) -> list[tuple[Any, ...]]:
        done = self.answering.step(bucket, self.states.get(bucket), blobs, watermark)
        self.states[bucket], self.dues[bucket] = done.data, done.due
        told = told_of(done.rows)
        assert not told.lines(LATE)
        sources = {self.source.name: self.source}
        shown = [shown_table(table, self.clauses.clauses["q"], sources) for table in told.tables.get("0", ())]
        return [tuple(map(hashable, row.values())) for table in shown for row in table.to_pylist()]

    def _given(self, rows: list[Row]) -> pa.Table:
        """The rows with a place for what is made of them."""
        table = pa.Table.from_pylist(rows, SCHEMA)
        columns = {}
        for name, type_ in self.what.plan.stream.given:
            if name == self.rows.number:
                columns[name] = pa.array([0] * len(rows), pa.int64())
            else:
                is_there = name in table.column_names
                columns[name] = table.column(name) if is_there else pa.nulls(len(rows), to_arrow(type_))
        return pa.table(columns)


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


def streamed(random: Random, stream: Stream, rows: list[Row]) -> tuple[list[tuple[Any, ...]], int]:
    """The rows of all steps, and how many of them came before the stream was ended. Raises RunError."""
    stream.begin()
    found: list[tuple[Any, ...]] = []
    for part, watermark in as_they_come(random, rows):
        found += stream.take(part, watermark)
        if stream.dues:  # which bucket a partition is in is another one in each process
            bucket = list(stream.dues)[len(found) % len(stream.dues)]
            assert stream.says_nothing_before(bucket, stream.dues[bucket])
    return [*found, *stream.end()], len(found)


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
    return replace(part, **changed)


def coming(random: Random, kind: Callable[[Random], sql.Clause]) -> sql.Clause:
    """Such a clause of rows that come, some of them at one time, which other columns put in order."""
    order = random.choice(
        [(("t", ""),), (("t", "DESC"),), (("o", "DESC NULLS LAST"), ("t", "")), (("o", ""), ("t", "DESC"))]
    )
    made: sql.Clause = without_next(kind(random))
    return replace(made, order=(("at", ""), *order), within=random.choice([4, 9, 20, LONGER, LONGER]), edges="")


KINDS = {name: kind for name, kind in OF_TABLES.items() if name != "short matches"}  # how long is drawn here


@pytest.mark.parametrize(
    ("kind", "seed", "number"),
    [
        *((kind, 4, 25) for kind in KINDS),
        *(pytest.param(kind, 5, 80, marks=pytest.mark.long) for kind in KINDS),
    ],
)
def test_random_clauses_over_a_stream_have_the_rows_that_sql_says(kind: str, seed: int, number: int) -> None:
    random = Random(seed)
    compared = count = tied = empty = foreseen = 0
    for _ in range(number):
        clause = coming(random, KINDS[kind])
        text = sql.as_sql(clause)
        refused = {d.code for d in compiled(text)[1].checked.errors}
        if refused:
            assert refused <= NOT_THERE, f"{refused}\n{text}"
            continue
        stream = Stream(text)
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
                every, early = streamed(random, stream, rows)
                made: Any = Counter(every)
            except RunError as error:
                made, early = "an error" if error.diagnostics[0].code == "E0955" else error, 0
            assert made == expected, f"{text}\n{rows}"
            compared += 1
            found = 1 if made == "an error" else made.total()
            count, empty = count + found, empty + (not found)
            foreseen += early if clause.within == LONGER else 0
            tied += len({(row["k"], row["at"]) for row in rows}) < len(rows)
    assert compared > number
    assert count > compared
    assert tied > compared / 4
    assert foreseen > number / 4
    assert empty < compared / 2


# ---- what is refused -------------------------------------------------------------------------------------------------

HOUR = "WITHIN INTERVAL '1' HOUR"
REFUSED = [
    ("ORDER BY at MEASURES 1 AS n PATTERN (A B)", "MATCH_RECOGNIZE (ORDER BY at MEASURES 1 AS n PATTERN (A B))",
     f"ORDER BY at MEASURES 1 AS n PATTERN (A B) {HOUR}"),
    (f"ORDER BY t, at MEASURES 1 AS n PATTERN (A B) {HOUR}", "t",
     f"ORDER BY at, t MEASURES 1 AS n PATTERN (A B) {HOUR}"),
    (f"ORDER BY at DESC MEASURES 1 AS n PATTERN (A B) {HOUR}", "at",
     f"ORDER BY at MEASURES 1 AS n PATTERN (A B) {HOUR}"),
    (f"ORDER BY at MEASURES 1 AS n PATTERN (A B$) {HOUR}", "$",
     f"ORDER BY at MEASURES 1 AS n PATTERN (A B) {HOUR}"),
    (f"ORDER BY at MEASURES 1 AS n PATTERN (^A B) {HOUR}", "^",
     f"ORDER BY at MEASURES 1 AS n PATTERN (A B) {HOUR}"),
    (f"ORDER BY at MEASURES NEXT(A.a) AS n PATTERN (A B) {HOUR}", "NEXT(A.a)",
     f"ORDER BY at MEASURES B.a AS n PATTERN (A B) {HOUR}"),
    (f"ORDER BY at MEASURES 1 AS n PATTERN (A B) {HOUR} DEFINE A AS a < lead(a) + 1", "lead(a)",
     f"ORDER BY at MEASURES 1 AS n PATTERN (A B) {HOUR} DEFINE B AS LAST(A.a) < B.a + 1"),
    ("ORDER BY at MEASURES 1 AS n PATTERN (A B) WITHIN INTERVAL '1' MONTH", "INTERVAL '1' MONTH",
     "ORDER BY at MEASURES 1 AS n PATTERN (A B) WITHIN INTERVAL '30' DAY"),
    ("ORDER BY at MEASURES 1 AS n PATTERN (A B) WITHIN 5", "5",
     f"ORDER BY at MEASURES 1 AS n PATTERN (A B) {HOUR}"),
]  # fmt: skip
"""A clause, what of it is wrong, and what its cure makes of it."""


@pytest.mark.parametrize(("clause", "wrong", "cured"), REFUSED, ids=[clause for clause, _, _ in REFUSED])
def test_what_a_stream_cannot_answer_is_refused_and_has_a_cure(clause: str, wrong: str, cured: str) -> None:
    source, program = compiled(f"MATCH_RECOGNIZE ({clause})")
    (problem,) = program.checked.errors
    assert (problem.code, source.text[problem.span.start : problem.span.end]) == ("E0952", wrong)
    assert problem.hint
    assert compiled(f"MATCH_RECOGNIZE ({cured})")[1].checked.errors == ()


def test_rows_of_a_batch_need_no_within_and_may_be_in_any_order() -> None:
    """What is refused of a stream is not refused of a table."""
    of_streams = [clause for clause, wrong, _ in REFUSED if wrong not in ("5", "at", "t", "INTERVAL '1' MONTH")]
    for clause in of_streams:
        assert compiled_of_table(f"MATCH_RECOGNIZE ({clause})")[1].checked.ok
    assert len(of_streams) == 5


def test_a_length_of_several_units_is_their_sum() -> None:
    clause = "ORDER BY at MEASURES 1 AS n PATTERN (A B) WITHIN INTERVAL '1 02:30:00' DAY TO SECOND"
    _, program = compiled(f"MATCH_RECOGNIZE ({clause})")
    assert program.checked.program is not None
    (query,) = program.checked.program.queries
    assert query.window == MatchBound((26 * 60 + 30) * MINUTE)
