"""`cepc why`: what is behind a row, or what stopped it."""

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
    events_of,
    failed,
    loaded_from,
    noting,
    places_of,
    right_program,
    warn,
)
from .completers import queries

if TYPE_CHECKING:
    from cepc_grammar.diagnostic import Diagnostic


@click.command(short_help="Explain a row, or why there is none.")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option(
    "--query", "name", metavar="NAME", shell_complete=queries, help="The query asked about, where there are several."
)
@event_options
@click.option(
    "--group", multiple=True, metavar="NAME=VALUE",
    help="Of this group: a column of [ ] or GROUP BY and its value, NULL for none; may be given several times.",
)  # fmt: skip
@click.option(
    "--window", metavar="START", help="The window that starts then; of a match query, the matches that begin then."
)
@click.option("--limit", type=click.IntRange(min=1), default=5, show_default=True, metavar="N", help="List N matches.")
@click.pass_context
def why(
    ctx: click.Context,
    files: tuple[str, ...],
    name: str | None,
    given: GivenEvents,
    group: tuple[str, ...],
    window: str | None,
    limit: int,
) -> None:
    """Explain a row of a query: the matches behind it, with their events and the conditions' values. Or explain why
    there is no row: how far the pattern came and what stopped it.

    Without --group and --window it is about the query's first row, or about why it has none at all.
    """
    from ..errors import CepcError
    from ..running.progress import Progress
    from ..why.report import why as explained
    from ..why.scope import UnclearRowError, scope_of

    check_standard_input(files, given)
    checked = right_program(ctx, files, warnings=False)
    try:
        program = chosen_program(checked, () if name is None else (name,))
        if len(program.queries) > 1:
            known = ", ".join(f"`{query.name}`" for query in program.queries)
            raise click.UsageError(f"which query? Say it with --query: {known}")
        (query,) = program.queries
        scope = scope_of(query, program.stream(query.stream), group, window)
        given = events_of(program, checked, given)
        places = places_of(program, given)
        warnings: list[Diagnostic] = []
        with Progress(sys.stderr) as progress:
            load = noting(loaded_from(places, given, progress), warnings)
            text = explained(program, query, scope, load, checked.sources, limit)
    except UnclearRowError as error:
        raise click.UsageError(str(error)) from None
    except CepcError as error:
        failed(ctx, error, checked.sources)
    warn(warnings, checked.sources)
    click.echo(visible_lines(text), nl=False)
