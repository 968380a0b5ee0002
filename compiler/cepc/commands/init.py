"""`cepc init`: a program to begin with."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..reading import readers
from .common import failed, pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..beginning.sample import Sample
    from ..reading.reader import FormatOptions


@click.command(short_help="Look at events and write a program that runs.")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option("-o", "--output", metavar="FILE.cep", type=click.Path(), help="Write it there instead of printing it.")
@click.option("--force", is_flag=True, help="Replace the file that is there.")
@click.option(
    "--input-format", type=click.Choice(readers.names(), case_sensitive=False),
    help="What the events are, where the names of the files do not say it.",
)  # fmt: skip
@click.option(
    "--option", "options", multiple=True, metavar="KEY=VALUE", callback=pairs,
    help="How CSV is written, where it cannot be guessed: delimiter, quote, nullValue, decimal (`,`), encoding.",
)  # fmt: skip
@click.pass_context
def init(
    ctx: click.Context, files: tuple[str, ...], output: str | None, force: bool, input_format: str | None,
    options: FormatOptions,
) -> None:  # fmt: skip
    """Look at events and write a program that runs: a STREAM with the names and types of their columns, which of them
    is likely the event time and which the type, and a first query. Comments say what was guessed, and why.

    Each of FILES is a stream: a file of events, a directory of them, or `-` for standard input. About the first 10,000
    records of each are looked at, of Parquet some of each of eight row groups.
    """
    from ..beginning.naming import stream_name
    from ..beginning.sample import look
    from ..beginning.write import program
    from ..errors import CepcError
    from ..files.write import write_text

    if output is not None and Path(output).exists() and not force:
        raise click.UsageError(f"there is a file `{output}` already; --force replaces it")
    if files.count("-") > 1:
        raise click.UsageError("standard input is named twice")
    try:
        samples = [(look(path, input_format, options), stream_name(path)) for path in files]
        beginning = program(samples)
        if output is None:
            click.echo(beginning.text, nl=False)
        else:
            write_text(output, beginning.text, events=_looked_at(files, input_format))
    except CepcError as error:
        failed(ctx, error, {})
    how = ([] if input_format is None else ["--input-format", input_format]) + [
        part for pair in options for part in ("--option", "=".join(pair))
    ]
    _say_next(samples, files, how, output, asks=beginning.asks)


def _looked_at(paths: tuple[str, ...], form: str | None) -> Iterator[str]:
    """The files that paths stand for. Raises DataError."""
    from ..reading.files import EventSource
    from ..reading.find import find_files

    for path in paths:
        yield from (file.name for file in find_files(EventSource(path, form)).files) if Path(path).is_dir() else (path,)


def _say_next(
    samples: list[tuple[Sample, str]], files: tuple[str, ...], how: list[str], output: str | None, *, asks: bool
) -> None:
    """What to type, on standard error. The options `how` the files are read were given."""
    name = shlex.quote(output or "queries.cep")
    if output is None:
        click.echo(f"To keep this: cepc init {shlex.join((*files, *how))} -o {name}", err=True)
    if not asks:
        click.echo("There is no query yet: the comments say what is missing.", err=True)
        return
    parts = ["cepc", "run", name]
    if files == ("-",):
        options = samples[0][0].origin.options
        parts += ["--events", "-", *(f"--option {shlex.quote('='.join(pair))}" for pair in options)]
    parts += ["--skip-bad"] if any(sample.bad for sample, _ in samples) else []
    click.echo(f"Next: {' '.join(parts)}", err=True)
