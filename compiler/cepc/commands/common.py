"""What the commands that read events have in common."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import click

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.parts.resources import ONE_THREAD

from ..reading import readers
from ..reading.bad_records import treatment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Source
    from cepc_runtime.parts.resources import Resources
    from cepc_runtime.plan.stream import StreamPlan

    from .. import model
    from ..checked import Checked
    from ..errors import CepcError
    from ..reading.bad_records import Treatment
    from ..reading.files import EventSource
    from ..reading.read import Read
    from ..running.progress import Progress


@dataclass(frozen=True, slots=True)
class GivenEvents:
    """Where the command line says that events are, and in which format, if it does; and what becomes of records that
    are none.
    """

    events: tuple[str, ...]
    input_format: str | None
    options: tuple[tuple[str, str], ...]
    skip_bad: bool
    dead: str | None

    def treatment(self, places: Iterable[str] = ()) -> Treatment:
        """Events are at the places, beside those that are given. Raises DataError where the file for them cannot be
        written.
        """
        if self.skip_bad and self.dead is not None:
            raise click.UsageError("--dead passes over bad records as --skip-bad does: give one of the two")
        given = (path for text in self.events for path in (text, text.partition("=")[2]) if path)
        return treatment(skip_bad=self.skip_bad, dead=self.dead, events=(*given, *places))


def check_standard_input(files: tuple[str, ...], given: GivenEvents) -> None:
    """It can be read once, and has nothing for the second who asks."""
    events = [text for text in given.events if "-" in (text, text.partition("=")[2])]
    if len(events) + ("-" in files) > 1:
        also = "the program and events" if "-" in files else "the events of several streams"
        raise click.UsageError(f"standard input is named twice, for {also}: name a file for one of them")


def together(
    name: str, value: Callable[..., Any], options: tuple[str, ...]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Hands several options to a command as one value."""

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def with_value(*args: Any, **given: Any) -> Any:
            made = value(*(given.pop(option) for option in options))
            return command(*args, **{name: made}, **given)

        return with_value

    return decorated


def pairs(_ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    for text in texts:
        if "=" not in text:
            raise click.BadParameter(f"write KEY=VALUE, not `{text}`")
    return tuple((name, value) for name, _, value in (text.partition("=") for text in texts))


def event_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Where a command's events are, as `given`."""
    options = (
        click.option(
            "--events", multiple=True, metavar="[STREAM=]PATH", type=click.Path(),
            help="A file of events, a directory of them, or `-` for standard input. Overrides the stream's FROM.",
        ),
        click.option(
            "--input-format", type=click.Choice(readers.names(), case_sensitive=False),
            help="What the events are, where the names of the files do not say it.",
        ),
        click.option(
            "--option", "options", multiple=True, metavar="KEY=VALUE", callback=pairs,
            help="How CSV is written: delimiter, quote, nullValue, decimal (`,`), encoding; how CSV and JSON write "
            "times: timestampFormat, timestampNTZFormat, dateFormat. May be given several times.",
        ),
        click.option(
            "--skip-bad", is_flag=True, help="Pass over records that are no events, and say how many there were."
        ),
        click.option(
            "--dead", metavar="FILE", type=click.Path(),
            help="Pass over them, and write each to FILE with what is wrong, as JSON lines.",
        ),
    )  # fmt: skip
    command = together("given", GivenEvents, ("events", "input_format", "options", "skip_bad", "dead"))(command)
    for option in reversed(options):
        command = option(command)
    return command


def right_program(ctx: click.Context, files: tuple[str, ...], *, warnings: bool = True) -> Checked:
    """The program of these files, with its warnings printed unless they are beside the point; one with errors
    ends the command.
    """
    from ..api import check_files
    from ..output import print_diagnostics, status

    checked = check_files(files, tests=False)
    if not checked.ok:
        print_diagnostics(checked.diagnostics, checked.sources)
        ctx.exit(status(checked.diagnostics))
    if warnings:
        warn(checked.diagnostics, checked.sources)
    return checked


def chosen_program(checked: Checked, queries: tuple[str, ...] = ()) -> model.CheckedProgram:
    """The program with the queries named, or with all. Raises ProgramError where there is nothing to run."""
    from ..errors import ProgramError
    from ..running.local import UnknownQueryError, choose
    from ..running.messages import nothing_to_run

    if checked.program is None:
        command = click.get_current_context().info_name
        hint = f"give the file with the STREAM as well: `cepc {command} stream.cep …`"
        raise ProgramError([nothing_to_run("STREAM", hint)], checked.sources)
    try:
        return choose(checked.program, queries or None)
    except UnknownQueryError as error:
        raise click.UsageError(str(error)) from None


def events_of(program: model.CheckedProgram, checked: Checked, given: GivenEvents) -> GivenEvents:
    """What is given for the queries that were chosen: events for others are left alone."""
    from ..running.local import streams_read
    from ..running.sources import of_streams

    assert checked.program is not None
    chosen, known = ({stream.name for stream in streams_read(one)} for one in (program, checked.program))
    return replace(given, events=of_streams(given.events, chosen, known))


def places_of(program: model.CheckedProgram, given: GivenEvents) -> dict[str, EventSource]:
    """Where the events of each stream are that some query reads. Raises DataError."""
    from ..running import sources
    from ..running.local import streams_read

    try:
        sources.refuse_rows(program, given.events)
        return sources.places(streams_read(program), given.events, given.input_format, given.options)
    except sources.UnclearSourceError as error:
        raise click.UsageError(str(error)) from None


def loaded_from(
    places: Mapping[str, EventSource], given: GivenEvents, progress: Progress, resources: Resources = ONE_THREAD
) -> Callable[[model.Stream, StreamPlan], Read]:
    """What reads the events of a stream, which raises DataError."""
    from ..reading.read import read_events

    bad = given.treatment(place.path for place in places.values())

    def load(stream: model.Stream, plan: StreamPlan) -> Read:
        return read_events(places[stream.name], plan, stream.input, progress.reading, bad, resources=resources)

    return load


def noting(
    load: Callable[[model.Stream, StreamPlan], Read], warnings: list[Diagnostic]
) -> Callable[[model.Stream, StreamPlan], Read]:
    """As `load`; what it warns of is added to the warnings, for commands whose answer does not have them."""

    def noted(stream: model.Stream, plan: StreamPlan) -> Read:
        read = load(stream, plan)
        warnings.extend(read.warnings)
        return read

    return noted


def warn(warnings: Iterable[Diagnostic], sources: Mapping[str, Source]) -> None:
    """Without a count at the end: the command goes on, and may end in an error."""
    from ..diagnostics.render import in_order, render_one
    from ..output import print_lines

    for warning in in_order(warnings, sources):
        print_lines([*render_one(warning, sources), ()], err=True)


def failed(ctx: click.Context, error: CepcError, sources: Mapping[str, Source]) -> NoReturn:
    """Print what a CepcError says and end the command."""
    from ..output import print_diagnostics, status
    from ..reading.messages import UNUSABLE

    print_diagnostics(error.diagnostics, {**sources, **error.sources})
    ctx.exit(2 if any(d.code in UNUSABLE for d in error.diagnostics) else status(error.diagnostics))
