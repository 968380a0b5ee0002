"""`cepc fmt`: the one layout."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..files.read import STDIN
from ..own_process import OWN_PROCESS, keep_garbage
from ..visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_grammar.source import Source


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
@click.pass_context
def fmt(ctx: click.Context, files: tuple[str, ...], check: bool, diff: bool) -> None:
    """Lay out programs, each file by itself, in place.

    `-` reads standard input and writes standard output. Comments stay; a file with a syntax error is left as it is.
    """
    from cepc_grammar.formatter import format_source

    from ..files import messages
    from ..files.read import load
    from ..output import print_diagnostics, status

    if ctx.obj == OWN_PROCESS:
        keep_garbage()
    of_sql = [name for name in files if name.endswith(".sql")]
    loaded = load([name for name in files if name not in of_sql])
    diagnostics = [*map(messages.sql_text, of_sql), *loaded.diagnostics]
    changed: list[str] = []
    for source in loaded.programs:
        text = format_source(source)
        if not isinstance(text, str):
            diagnostics += text
            if source.name == STDIN and not (check or diff):
                _write_stdout(source.text)  # an editor that filters its buffer through fmt must not lose the text
            continue
        if text != source.text:
            changed.append(source.name)
        if diff:
            click.echo("".join(_difference(source, text)), nl=False)
        elif not check:
            _write(source, text)
    if diagnostics:
        print_diagnostics(diagnostics, loaded.sources)
    if check or not diff:
        for name in changed:
            if name != STDIN or check:
                click.echo(f"{'would reformat' if check else 'reformatted'} {visible(name)}", err=True)
    ctx.exit(max(status(diagnostics), int(check and bool(changed))))


def _write(source: Source, text: str) -> None:
    if source.name == STDIN:
        _write_stdout(text)
    elif text != source.text:
        # Bytes: the text has the line ends that the file had.
        Path(source.name).write_bytes(text.encode())


def _write_stdout(text: str) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def _difference(source: Source, text: str) -> Iterator[str]:
    for line in difflib.unified_diff(
        source.text.splitlines(keepends=True), text.splitlines(keepends=True), source.name, f"{source.name} (formatted)"
    ):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
