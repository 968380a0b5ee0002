"""What a command prints: styled at a terminal, plain elsewhere."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

import click

from .diagnostics.render import as_text, errors, render

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Source

    from .diagnostics.snippet import StyledLine, TextRole

STYLES: dict[TextRole, str] = {
    "error": "bold red",
    "warning": "bold yellow",
    "title": "bold",
    "frame": "blue",
    "text": "",
    "primary": "bold red",
    "secondary": "blue",
    "note": "bold",
    "help": "bold green",
}


def status(diagnostics: Iterable[Diagnostic]) -> int:
    """The exit code: 2 where what the command names cannot be read, 1 where the program is wrong, 0 otherwise."""
    wrong = errors(diagnostics)
    if any(d.code.startswith("E00") for d in wrong):
        return 2
    return 1 if wrong else 0


def print_diagnostics(diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source], *, err: bool = True) -> None:
    """To standard error, unless they are what the command is for."""
    print_lines(render(diagnostics, sources), err=err)


def print_lines(lines: Iterable[StyledLine], *, err: bool = False) -> None:
    """Lines of styled fragments, styled where somebody sees it."""
    stream = sys.stderr if err else sys.stdout
    if is_coloured(stream):
        _print_styled(lines, stream)
    else:
        click.echo(as_text(lines), nl=False, err=err)


def is_coloured(stream: TextIO | None) -> bool:
    """At a terminal that can, and that nobody asked not to (https://no-color.org)."""
    return (
        stream is not None and stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def _print_styled(lines: Iterable[StyledLine], stream: TextIO) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, soft_wrap=True)
    for line in lines:
        console.print(Text.assemble(*((text, STYLES[role]) for text, role in line)))
