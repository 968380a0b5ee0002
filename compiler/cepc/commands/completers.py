"""What a shell completes beyond commands, options and files: queries and tests of the program named, codes, modules,
functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click

    from cepc_grammar import ast


def queries(ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    from cepc_grammar import ast

    return _named(ctx, ast.Query, begun)


def tests(ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    from cepc_grammar import ast

    return _named(ctx, ast.Test, begun)


def codes_or_files(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    from ..diagnostics.catalogue import codes

    return (_begun(codes(), begun.upper()) if begun else []) or _files(begun)


def modules_or_files(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    from ..standard_library import standard_modules

    return _begun(standard_modules(), begun) or _files(begun)


def functions(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    from cepc_runtime.sql.functions import names

    return _begun(names(), begun.lower())


def _named(ctx: click.Context, kind: type[ast.Query | ast.Test], begun: str) -> list[CompletionItem]:
    """Of the files that the command line names, as far as they can be read. While an option waits for its value, click
    takes no argument for a file.
    """
    from cepc_grammar.parser import parse

    from ..files.read import read

    sources = (read(name)[0] for name in ctx.params.get("files") or ctx.args if name != "-")
    statements = (s for source in sources if source is not None for s in parse(source).program.statements)
    return _begun((s.name.text for s in statements if isinstance(s, kind)), begun)


def _begun(names: Iterable[str], begun: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in sorted(names) if name.startswith(begun)]


def _files(begun: str) -> list[CompletionItem]:
    return [CompletionItem(begun, type="file")]
