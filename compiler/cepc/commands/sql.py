"""SQL texts as what `cepc check` and `cepc run` are given in place of a program."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cepc_runtime.plan.stream import StreamPlan

    from .. import model
    from ..reading.files import EventSource
    from ..reading.read import Read
    from ..row_patterns.texts import SqlProgram
    from ..running.local import Report
    from ..running.progress import Progress
    from .common import GivenEvents

ENDING = ".sql"


def is_sql(files: tuple[str, ...]) -> bool:
    """Whether the files are SQL texts; they are so all or none."""
    of_sql = [file.endswith(ENDING) for file in files]
    if any(of_sql) and not all(of_sql):
        raise click.UsageError("SQL texts and programs of cepc are given apart from each other")
    return any(of_sql)


def checked_sql(files: tuple[str, ...]) -> SqlProgram:
    """The texts of these files as one program."""
    from ..diagnostics.render import errors
    from ..files.read import load
    from ..row_patterns.texts import sql_program

    loaded = load(files)
    program = sql_program(loaded.programs)
    if not loaded.diagnostics:
        return program
    found = program.checked
    diagnostics = loaded.diagnostics if errors(loaded.diagnostics) else (*loaded.diagnostics, *found.diagnostics)
    checked = replace(
        found, program=None if errors(diagnostics) else found.program, diagnostics=diagnostics,
        sources={**loaded.sources, **found.sources},
    )  # fmt: skip
    return replace(program, clauses=replace(program.clauses, checked=checked))


def right_sql(ctx: click.Context, files: tuple[str, ...]) -> SqlProgram:
    """Texts that can be answered without Spark; others end the command."""
    from ..output import print_diagnostics, status
    from ..row_patterns.texts import not_plain

    program = checked_sql(files)
    wrong = program.checked.diagnostics if not program.checked.ok else tuple(not_plain(program))
    if wrong:
        print_diagnostics(wrong, program.checked.sources)
        ctx.exit(status(wrong))
    return program


def table_places(program: SqlProgram, given: GivenEvents) -> dict[str, EventSource]:
    """Where the rows of each table are. Raises DataError and ProgramError."""
    from ..row_patterns.reading import table_streams
    from ..running import sources

    streams = table_streams(program).values()
    try:
        return sources.places(streams, given.events, given.input_format, given.options)
    except sources.UnclearSourceError as error:
        raise click.UsageError(str(error)) from None


def shown(report: Report, program: SqlProgram) -> Report:
    """The rows as SQL has them. Raises RunError."""
    from ..row_patterns.results import selected_rows, shown_table
    from ..writing.sorting import sorted_by

    tables = {}
    for name, table in report.tables.items():
        clause, select = program.clauses.clauses[name], program.statements[name].select
        table = sorted_by(table, clause.sorted_by) if clause.sorted_by else table
        found = shown_table(table, clause, program.checked.sources)
        assert select is not None
        tables[name] = selected_rows(found, select, clause)
    return replace(report, tables=tables)


def rows_loaded(
    program: SqlProgram, places: Mapping[str, EventSource], given: GivenEvents, progress: Progress, threads: int
) -> Callable[[model.Stream, StreamPlan], Read]:
    """What reads the rows of a table and numbers them, which raises DataError."""
    from ..row_patterns.reading import TableReader, table_streams

    bad = given.treatment(place.path for place in places.values())
    return TableReader(program, table_streams(program), places, bad, progress.reading, threads).load
