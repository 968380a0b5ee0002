"""The rows of tables in files, for the engine of this process."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Final

from cepc_grammar import ast
from cepc_runtime.cheap_dataclass import dataclass

from ..errors import ProgramError
from ..files.read import ImportReader
from ..planning.plan import stream_plan
from ..reading.read import read_events
from ..resolve import check
from ..running.given import read_given
from .number_table import number_table
from .numbered import unused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cepc_grammar.sql.syntax import CreateTable
    from cepc_runtime.plan.stream import StreamPlan

    from .. import model
    from ..reading.bad_records import Treatment
    from ..reading.files import EventSource
    from ..reading.read import Read
    from .texts import SqlProgram

_WITH_NAMES: Final = {"header": "true"}
"""Options of Spark's that say what is so here in any case."""


def table_streams(program: SqlProgram) -> dict[str, model.Stream]:
    """Each table that is read as a stream of its rows, by the table's name, which is the stream's. Raises
    ProgramError.
    """
    needed = dict.fromkeys(rows.order.table for rows in program.clauses.rows.values())
    found: dict[str, model.Stream] = {}
    for name in needed:
        resolved = check(ast.Program((_stream(program.tables[name]),)), ImportReader())
        if resolved.program is None:
            raise ProgramError(resolved.diagnostics, program.checked.sources)
        found[name] = resolved.program.streams[0]
    return found


def _stream(table: CreateTable) -> ast.Stream:
    """Rows need no time to be read: each has the same, which is computed."""
    columns = tuple(ast.Column(column.name, column.type) for column in table.columns)
    time = ast.Name(unused("read at", frozenset(column.name.text for column in columns)))
    read_at = ast.Column(time, None, ast.Literal("bigint", "0"))
    options = tuple(
        (ast.Name(key), value) for key, value in table.options if _WITH_NAMES.get(key.lower()) != value.lower()
    )
    source = None
    if table.location is not None:
        source = ast.From(table.format or "parquet", table.location, options, table.span)
    return ast.Stream(table.name.parts[-1], (*columns, read_at), ast.EventTime(time, "us"), None, source, table.span)


@dataclass
class TableReader:
    """Reads the tables of a program, each once, and numbers its rows for each of its streams."""

    program: SqlProgram
    streams: Mapping[str, model.Stream]
    places: Mapping[str, EventSource]
    treatment: Treatment
    progress: Callable[[int, int], None] | None
    threads: int
    _read: dict[str, Read] = field(default_factory=dict)

    def load(self, stream: model.Stream, plan: StreamPlan) -> Read:
        """The events of a stream of the program. Raises DataError."""
        rows = self.program.clauses.rows[stream.name]
        name = rows.order.table
        is_new = name not in self._read
        if is_new:
            self._read[name] = self._of_table(name)
        read = self._read[name]
        given = read_given(number_table(read.table, rows), plan, stream.input, threads=self.threads)
        if not is_new:
            return replace(given, rows=0)
        return replace(given, rows=read.rows, files=read.files, warnings=read.warnings, passed_over=read.passed_over)

    def _of_table(self, name: str) -> Read:
        wanted = {
            column for rows in self.program.clauses.rows.values() if rows.order.table == name for column in rows.columns
        }
        stream = self.streams[name]
        plan = stream_plan(stream, wanted, None)
        return read_events(self.places[name], plan, stream.input, self.progress, self.treatment)
