"""`cepc lsp`: a server for editors."""

from __future__ import annotations

import click


@click.command(short_help="Serve an editor: mistakes, help, names, renaming.")
@click.option("--stdio", is_flag=True, help="Standard input and output, as always: some editors say so.")
def lsp(stdio: bool) -> None:  # noqa: ARG001 - there is no other way
    """Answer an editor over standard input and output, by the Language Server Protocol: what is wrong while a program
    is typed, what names mean, what may be written next, renaming, layout, and the program's tests.

    An editor starts it; `docs/editors.md` says how. It comes with `pip install 'cepc[lsp]'`.
    """
    try:
        from ..language_server.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise click.UsageError("the server needs pygls: `pip install 'cepc[lsp]'`") from None
    serve()
