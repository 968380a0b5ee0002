"""`cepc analyze`: statistics of events, which `--stats` gives to the optimiser."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ..visible import visible_lines
from .common import (
    GivenEvents,
    check_standard_input,
    chosen_program,
    event_options,
    failed,
    loaded_from,
    noting,
    places_of,
    right_program,
    warn,
)

if TYPE_CHECKING:
    from cepc_grammar.diagnostic import Diagnostic


@click.command(short_help="Measure the events: rates, bursts, groups.")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@event_options
@click.option(
    "-o",
    "--output",
    metavar="STATS.json",
    type=click.Path(),
    help="Write a statistics file instead of printing tables.",
)
@click.pass_context
def analyze(ctx: click.Context, files: tuple[str, ...], given: GivenEvents, output: str | None) -> None:
    """Measure what a planner asks of events: how many of each type come in a second, how many pass a query's conditions
    on single events, how many groups there are, and how many events of one type come in a row.

    A sample will do, if it holds whole groups and no gaps in time. The statistics file that -o writes is JSON, keyed by
    the names of types and columns and by the text of conditions, and may be edited.
    """
    from ..errors import CepcError
    from ..files.write import write_text
    from ..running.progress import Progress
    from ..statistics.analyze import analyze as analyzed
    from ..statistics.as_json import to_json
    from ..statistics.show import show

    check_standard_input(files, given)
    checked = right_program(ctx, files)
    try:
        program = chosen_program(checked)
        places = places_of(program, given)
        warnings: list[Diagnostic] = []
        with Progress(sys.stderr) as progress:
            found = analyzed(program, noting(loaded_from(places, given, progress), warnings), checked.sources)
        warn(warnings, checked.sources)
        if output is None:
            click.echo(visible_lines(show(found)), nl=False)
            return
        write_text(output, to_json(found), files, (place.path for place in places.values()))
    except CepcError as error:
        failed(ctx, error, checked.sources)
