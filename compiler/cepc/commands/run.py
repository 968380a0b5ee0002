"""`cepc run`: the queries' rows, from events in files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.enumerate.budget import PARTIAL_MATCHES

from ..diagnostics.listed import listed
from ..own_process import OWN_PROCESS, keep_arrow_from_pandas
from ..reading import readers
from ..running.memory import memory_of
from ..running.stages import Stages
from ..visible import visible
from ..wording import many
from ..writing import writers
from . import completers
from .common import (
    GivenEvents,
    check_standard_input,
    chosen_program,
    event_options,
    failed,
    together,
    warn,
)
from .optimisation import check, optimisation, options_of
from .runnable import runnable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cepc_runtime.parts.resources import Resources

    from .. import model
    from ..checked import Checked
    from ..reading.files import EventSource
    from ..running.local import Report
    from ..shared_plans import Options
    from .runnable import Runnable

    WriteRows = Callable[[Mapping[str, Any], int | None], object]


_FORMATS = listed((f"{r.title} {r.detail}".strip() for r in readers.READERS), "or")


@dataclass(frozen=True, slots=True)
class Engine:
    """Which one runs the queries, how many matches of a query it lists before it stops, and on how many threads and in
    how much memory of this process.
    """

    name: str
    most: int
    asked_threads: int | None
    asked_memory: int | None

    @property
    def threads(self) -> int:
        from cepc_runtime.parts.at_once import cores

        return self.asked_threads or cores()

    @property
    def resources(self) -> Resources:
        from cepc_runtime.parts.resources import Resources

        return Resources(self.most, self.threads, memory=memory_of(self.asked_memory))


@dataclass(frozen=True, slots=True)
class RowOptions:
    """What becomes of the rows: how they are written, into which directory, with which page, how many of a query."""

    asked_form: str | None
    output: str | None
    page: str | None
    limit: int | None

    @property
    def form(self) -> str:
        if self.asked_form is not None:
            return self.asked_form
        if self.output is not None:
            return "parquet"
        return "table" if sys.stdout is not None and sys.stdout.isatty() else "jsonl"

    def files(self, queries: Iterable[str]) -> list[Path]:
        """Those that --output writes."""
        from ..writing.store import files_of

        return [] if self.output is None else files_of(queries, self.output, self.form)


def _size(_ctx: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    try:
        return None if text is None else memory_of(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command(
    help=f"""Run a program's queries over events, in this process or by Spark.

    Several FILES together are one program; those that end in .sql are SQL with MATCH_RECOGNIZE. Events are
    {_FORMATS}; a directory is all of its files. A stream that is declared with FROM needs no --events; its path is
    looked for from here, then from where the program's file is. The rows go to standard output, sorted; everything else
    to standard error.
    """
)
@click.argument("files", nargs=-1, required=True, type=click.Path())
@event_options
@click.option(
    "--query", "queries", multiple=True, metavar="NAME", shell_complete=completers.queries,
    help="Run this query; may be given several times.",
)  # fmt: skip
@click.option(
    "--engine", type=click.Choice(["local", "spark"]), default="local", show_default=True,
    help="What runs them: this process, or Spark (here, or where SPARK_REMOTE says).",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice([writer.name for writer in writers.WRITERS]),
    help="How to write the rows. [default: table at a terminal, jsonl in a pipe, parquet with --output]",
)  # fmt: skip
@click.option(
    "--output",
    metavar="DIR",
    type=click.Path(),
    help="Write a file for each query, DIR/QUERY.FORMAT, instead of printing.",
)
@click.option(
    "--report", "page", metavar="FILE.html", type=click.Path(),
    help="Write a page about the run: time by stage, matches over time, what was shared.",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="At most N rows of each query.")
@click.option(
    "--most", type=click.IntRange(min=1), default=PARTIAL_MATCHES, show_default=True, metavar="N",
    help="Stop where a query whose matches are listed has more than N of them, finished or not; a match query may have "
    "20 more for each event, 50,000,000 more at most. With Spark, in each task.",
)  # fmt: skip
@click.option(
    "--threads", type=click.IntRange(min=1), metavar="N",
    help="Threads of this process. The rows are the same on any number. [default: as many as it may use cores]",
)  # fmt: skip
@click.option(
    "--memory", metavar="SIZE", callback=_size,
    help="Memory of this process, such as 1GB: events that do not fit are split into parts on disk, in the temporary "
    "folder, and taken part by part; rows that do not fit are sorted there. They are the same. [default: most of what "
    "is free]",
)  # fmt: skip
@optimisation
@click.pass_context
@together("engine", Engine, ("engine", "most", "threads", "memory"))
@together("wanted", RowOptions, ("form", "output", "page", "limit"))
def run(
    ctx: click.Context,
    files: tuple[str, ...],
    given: GivenEvents,
    queries: tuple[str, ...],
    engine: Engine,
    wanted: RowOptions,
    sharing: dict[str, Any],
) -> None:
    from ..errors import CepcError

    check(sharing)
    check_standard_input(files, given)
    stages = Stages()
    with stages("checking the program"):
        text = runnable(ctx, files, engine.name)
    checked = text.checked
    if ctx.obj == OWN_PROCESS and engine.name == "local":  # Spark has uses for pandas
        keep_arrow_from_pandas()
    try:
        program = chosen_program(checked, queries)
        given = text.events_of(program, given)
        options = options_of(sharing, program)
        write = _written_by(ctx, wanted, len(program.queries), engine.threads)
        results = wanted.files(query.name for query in program.queries)
        _look_at_names(wanted.page, given.dead, results)
        if wanted.page is not None:
            _look_at_page(wanted.page)
        by = _by_spark if engine.name == "spark" else _by_this_process
        report = by(program, text, given, options, stages, engine, results)
        with stages("writing rows"):
            _write(report.tables, write, wanted)
        if wanted.page is not None:
            _write_page(wanted.page, checked, report, stages, summary(report, wanted))
    except CepcError as error:
        failed(ctx, text.in_own_words(error), checked.sources)
    warn(report.warnings, checked.sources)
    for line in text.no_rows(report):
        click.echo(visible(line), err=True)
    click.echo(summary(report, wanted), err=True)


def _by_this_process(
    program: model.CheckedProgram,
    text: Runnable,
    given: GivenEvents,
    options: Options,
    stages: Stages,
    engine: Engine,
    results: Iterable[Path],
) -> Report:
    from ..running import local
    from ..running.allocation import keep_what_is_freed
    from ..running.progress import Progress

    keep_what_is_freed()
    if engine.asked_threads is not None:
        import pyarrow

        pyarrow.set_cpu_count(engine.asked_threads)  # Arrow decodes columns of Parquet by threads of its own
    resources = engine.resources
    places = text.places(program, given)
    _look_at_results(results, places)
    with Progress(sys.stderr) as progress:
        loaded = text.loaded(places, given, progress, resources)
        report = local.run(program, loaded, text.checked.sources, progress.running, options, stages, resources)
    return text.shown(report)


def _by_spark(
    program: model.CheckedProgram,
    text: Runnable,
    given: GivenEvents,
    options: Options,
    stages: Stages,
    engine: Engine,
    results: Iterable[Path],
) -> Report:
    from ..running import sources, spark

    if engine.asked_threads is not None:
        raise click.UsageError(
            "--threads is for the engine of this process; how many tasks Spark runs at once is its own setting"
        )
    if engine.asked_memory is not None:
        raise click.UsageError("--memory is for the engine of this process; what Spark has is its own setting")
    bad = given.treatment()
    try:
        places = spark.places(program, given.events, given.input_format, given.options, bad)
    except sources.UnclearSourceError as error:
        raise click.UsageError(str(error)) from None
    _look_at_results(results, places)
    return spark.run(program, text.checked.sources, places, options, stages, engine.most, bad)


def _look_at_results(results: Iterable[Path], places: Mapping[str, EventSource]) -> None:
    """Raises RunError where one would take the place of events, or be among them the next time."""
    from ..errors import RunError
    from ..files.messages import among_events
    from ..files.write import is_in

    for result in map(str, results):
        if any(is_in(result, place.path) for place in places.values()):
            raise RunError([among_events(result, "results", "directory")])


def _look_at_names(page: str | None, dead: str | None, results: Iterable[Path]) -> None:
    """Of what a run writes, each has a file of its own."""
    named = {option: Path(path).resolve() for option, path in (("--report", page), ("--dead", dead)) if path}
    if len(named) > len(set(named.values())):
        raise click.UsageError("--report and --dead name the same file")
    written = {result.resolve(): result for result in results}
    for option, path in named.items():
        if path in written:
            raise click.UsageError(f"{option} names `{written[path]}`, which is a file of --output: name another")


def _look_at_page(path: str) -> None:
    """Raises RunError where a page about the run would take the place of something else."""
    from ..errors import RunError
    from ..files.write import other_contents
    from ..reporting.as_html import BEGINNING

    if (other := other_contents(path, BEGINNING, "page about a run")) is not None:
        raise RunError([other])


def _write_page(path: str, checked: Checked, report: Report, stages: Stages, said: str) -> None:
    """Raises RunError where that cannot be done."""
    from ..diagnostics.render import as_text, in_order, render_one
    from ..files.write import write_text
    from ..reporting.as_html import to_html

    found = in_order((*checked.diagnostics, *report.warnings), checked.sources)
    warnings = "\n".join(as_text(render_one(warning, checked.sources)) for warning in found)
    write_text(path, to_html(report, stages.seconds, said, warnings))


def _written_by(ctx: click.Context, wanted: RowOptions, queries: int, threads: int) -> WriteRows:
    """What writes the rows; combinations without a meaning are refused."""
    from ..output import is_coloured
    from ..writing.store import store

    form, output = wanted.form, wanted.output
    writer = writers.by_name(form)
    if output is not None:
        if writer.save is None:
            others = listed([other.name for other in writers.WRITERS if other.save is not None], "or")
            raise click.UsageError(f"--format {form} is for a terminal; with --output choose {others}", ctx)
        return lambda tables, limit: store(tables, output, form, limit, threads)
    if writer.show is None:
        raise click.UsageError(f"--format {form} requires --output DIR", ctx)
    if writer.is_of_one_query and queries > 1:
        raise click.UsageError(
            f"the queries' columns differ: for {form.upper()} choose one with --query, or give --output DIR", ctx
        )
    if sys.stdout is None:  # it is closed, and nobody wants them
        return lambda _tables, _limit: None
    show = writer.show
    return lambda tables, limit: show(tables, sys.stdout, limit, is_coloured(sys.stdout))


def _write(tables: Mapping[str, Any], write: WriteRows, wanted: RowOptions) -> None:
    """Print or store the rows. Raises RunError where that cannot be done."""
    from ..errors import RunError
    from ..files.messages import unwritable

    try:
        write(tables, wanted.limit)
        if sys.stdout is not None:
            sys.stdout.flush()  # what is said to standard error comes after, also where both go to one file
    except BrokenPipeError:
        raise
    except IsADirectoryError as error:
        raise RunError([unwritable(error.filename, error)]) from None
    except OSError as error:
        raise RunError([unwritable(wanted.output or "<stdout>", error)]) from None


def summary(report: Report, wanted: RowOptions) -> str:
    """What was read, dropped and produced, in one line."""
    from ..writing.show import rows

    read = "read by Spark"
    if report.read is not None and report.files is not None:
        read = f"{many(report.read, 'event')} read from {many(report.files, 'file')}"
    made = sum(table.num_rows for table in report.tables.values())
    written = (
        made if wanted.limit is None else sum(min(table.num_rows, wanted.limit) for table in report.tables.values())
    )
    return "".join(
        (
            read,
            f", {many(report.passed_over, 'bad record')} passed over" if report.passed_over else "",
            f", {report.dropped or 'none dropped'}",
            f"; {rows(made)} of {many(len(report.tables), 'query', 'queries')}",
            f", {written:,} of them written" if written < made else "",
            f" in {wanted.output}" if wanted.output is not None else "",
            _shared(*report.shared),
        )
    )


def _shared(together: int, apart: int) -> str:
    """What was decided while the events were there."""
    if not together + apart:
        return ""
    return f"; of the events that queries could share, {together:,} were propagated once for all and {apart:,} for each"
