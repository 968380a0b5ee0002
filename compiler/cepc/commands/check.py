"""`cepc check`: is the program right?"""

from __future__ import annotations

import click

from ..own_process import OWN_PROCESS, keep_garbage
from .sql import checked_sql, is_sql


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
    help="For people, the first hundred; or for editors, all: one JSON object a line.",
)  # fmt: skip
@click.pass_context
def check(ctx: click.Context, files: tuple[str, ...], form: str) -> None:
    """Report every error and warning of a program, or of MATCH_RECOGNIZE in SQL texts, files that end in `.sql`.

    Several FILES together are one program: the queries in one and the STREAM in another, for example. `-` is standard
    input. Warnings do not fail.
    """
    from ..api import check_files
    from ..output import print_diagnostics, status

    if ctx.obj == OWN_PROCESS:
        keep_garbage()
    checked = checked_sql(files).checked if is_sql(files) else check_files(files)
    if form == "json":
        from ..diagnostics.as_json import as_json

        click.echo(as_json(checked.diagnostics, checked.sources), nl=False)
    else:
        print_diagnostics(checked.diagnostics, checked.sources, err=False)
    ctx.exit(status(checked.diagnostics))
