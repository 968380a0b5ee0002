"""What `cepc run` runs: a program of cepc, or SQL texts; they differ in how tables become events and rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from cepc_runtime.cheap_dataclass import dataclass

from .common import events_of, loaded_from, places_of, right_program
from .sql import is_sql, right_sql

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cepc_runtime.parts.resources import Resources
    from cepc_runtime.plan.stream import StreamPlan

    from .. import model
    from ..checked import Checked
    from ..errors import CepcError
    from ..reading.files import EventSource
    from ..reading.read import Read
    from ..row_patterns.texts import SqlProgram
    from ..running.local import Report
    from ..running.progress import Progress
    from .common import GivenEvents


def runnable(ctx: click.Context, files: tuple[str, ...], engine: str) -> Runnable:
    """The program of these files, for this engine; one with errors ends the command."""
    if not is_sql(files):
        return RunnableProgram(right_program(ctx, files))
    found = RunnableSql(right_sql(ctx, files))
    if engine == "spark":
        raise click.UsageError(
            "SQL texts are answered in this process; with Spark by `cepc.sql(spark, text)` of Python"
        )
    return found


@dataclass(frozen=True, slots=True)
class RunnableProgram:
    """A program of cepc whose tables are events as they stand, and whose rows are what is written."""

    checked: Checked

    def events_of(self, program: model.CheckedProgram, given: GivenEvents) -> GivenEvents:
        """What is given for the program, which has some of the queries. Raises ProgramError."""
        return events_of(program, self.checked, given)

    def places(self, program: model.CheckedProgram, given: GivenEvents) -> dict[str, EventSource]:
        """Where the events of each stream are. Raises DataError and ProgramError."""
        return places_of(program, given)

    def loaded(
        self, places: Mapping[str, EventSource], given: GivenEvents, progress: Progress, resources: Resources
    ) -> Callable[[model.Stream, StreamPlan], Read]:
        """What reads the events of a stream, which raises DataError."""
        return loaded_from(places, given, progress, resources)

    def shown(self, report: Report) -> Report:
        """The rows as they are written, and the warnings. Raises RunError."""
        return report

    def in_own_words(self, error: CepcError) -> CepcError:
        """What a run says, in words of what the user has written."""
        return error

    def no_rows(self, report: Report) -> Iterable[str]:
        """Lines that say why queries have none."""
        from ..why.no_rows import no_rows

        return no_rows(report, self.checked.sources)


@dataclass(frozen=True, slots=True)
class RunnableSql:
    """The same of SQL texts, whose rows are numbered as they are read and take their columns' names in the end."""

    sql: SqlProgram

    @property
    def checked(self) -> Checked:
        return self.sql.checked

    def events_of(self, _program: model.CheckedProgram, given: GivenEvents) -> GivenEvents:
        return given

    def places(self, _program: model.CheckedProgram, given: GivenEvents) -> dict[str, EventSource]:
        from ..row_patterns.reading import table_streams
        from ..running import sources
        from ..stream_words import in_sql

        streams = table_streams(self.sql).values()
        try:
            return sources.places(streams, given.events, given.input_format, given.options)
        except sources.UnclearSourceError as error:
            raise click.UsageError(in_sql(str(error))) from None

    def loaded(
        self, places: Mapping[str, EventSource], given: GivenEvents, progress: Progress, resources: Resources
    ) -> Callable[[model.Stream, StreamPlan], Read]:
        from ..row_patterns.reading import TableReader, table_streams

        bad = given.treatment(place.path for place in places.values())
        return TableReader(self.sql, table_streams(self.sql), places, bad, progress.reading, resources.threads).load

    def shown(self, report: Report) -> Report:
        from ..row_patterns.of_tables import of_tables
        from ..row_patterns.results import selected_rows, shown_table
        from ..writing.sorting import sorted_by

        tables = {}
        for name, table in report.tables.items():
            clause, select = self.sql.clauses.clauses[name], self.sql.statements[name].select
            table = sorted_by(table, clause.sorted_by) if clause.sorted_by else table
            found = shown_table(table, clause, self.checked.sources)
            assert select is not None
            tables[name] = selected_rows(found, select, clause)
        return replace(report, tables=tables, warnings=tuple(map(of_tables, report.warnings)))

    def in_own_words(self, error: CepcError) -> CepcError:
        from ..row_patterns.of_tables import of_tables

        return type(error)(map(of_tables, error.diagnostics), error.sources)

    def no_rows(self, _report: Report) -> Iterable[str]:
        return ()


Runnable = RunnableProgram | RunnableSql
