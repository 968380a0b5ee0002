"""`cepc doc`: what the modules of the standard library, and files, say about themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .completers import modules_or_files

if TYPE_CHECKING:
    from ..documenting import Entry


@click.command(short_help="Show a module of the standard library.")
@click.argument("module", required=False, metavar="[MODULE|NAME|FILE]", shell_complete=modules_or_files)
@click.pass_context
def doc(ctx: click.Context, module: str | None) -> None:
    """Show what a module declares, with its comments: `cepc doc std.shapes`; one name of it, as `cepc doc v_shape`; or
    what a file declares. Without a module, list those that `IMPORT` knows.
    """
    from ..documenting import document, page_text
    from ..standard_library import read_standard, standard_module, standard_modules

    if module in (None, "std"):
        for name in standard_modules():
            click.echo(f"{name:16} {document(*read_standard(name)).summary}")
        click.echo("\n`cepc doc std.shapes` shows one of them, `IMPORT std.shapes;` brings it into a program.")
        return
    if module.endswith(".cep"):
        ctx.exit(_file(module))
    found = standard_module(module) or standard_module(f"std.{module}")
    if found is None:
        ctx.exit(_name(module))
    click.echo(page_text(module, document(*found)), nl=False)


def _name(asked: str) -> int:
    """What is declared under the name in a module of the library, which may stand before it."""
    from ..diagnostics.near import did_you_mean
    from ..documenting import document, entry_text
    from ..standard_library import read_standard, standard_modules

    module, _, name = asked.rpartition(".")
    entries: dict[str, tuple[str, Entry]] = {}
    for library in standard_modules():
        if library.endswith(module):
            entries |= {entry.name: (library, entry) for entry in document(*read_standard(library)).entries}
    if name in entries:
        of, entry = entries[name]
        click.echo(f"{entry_text(entry)}\n\nIt comes with `IMPORT {of};`.")
        return 0
    modules = standard_modules()
    near = did_you_mean(f"std.{asked.removeprefix('std.')}", modules) or did_you_mean(name, list(entries))
    near = near or f"the modules are {', '.join(modules)}"
    raise click.UsageError(f"there is no module `{asked}`, and none declares it; {near}")


def _file(name: str) -> int:
    from cepc_grammar.parser import parse

    from ..documenting import document, page_text
    from ..files.read import load
    from ..output import print_diagnostics, status
    from ..visible import visible_lines

    loaded = load([name])
    for source in loaded.programs:
        parsed = parse(source)
        problems = parsed.diagnostics
        if problems:
            print_diagnostics(problems, {source.name: source})
            return status(problems)
        click.echo(visible_lines(page_text(name, document(source, parsed))), nl=False)
    if loaded.diagnostics:
        print_diagnostics(loaded.diagnostics, loaded.sources)
    return status(loaded.diagnostics)
