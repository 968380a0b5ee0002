"""`cepc doc`: what the modules of the standard library, and files, say about themselves."""

from __future__ import annotations

import click


@click.command(short_help="Show a module of the standard library.")
@click.argument("module", required=False, metavar="[MODULE|FILE]")
@click.pass_context
def doc(ctx: click.Context, module: str | None) -> None:
    """Show what a module declares, with its comments: `cepc doc std.shapes`, or a file. Without a module, list those that
    `IMPORT` knows.
    """
    from ..documenting import document, page_text
    from ..resolve.imports import standard_module, standard_modules

    if module is None:
        for name in standard_modules():
            found = standard_module(name)
            assert found is not None
            click.echo(f"{name:16} {document(*found).summary}")
        return
    if module.endswith(".cep"):
        ctx.exit(_file(module))
    found = standard_module(module) or standard_module(f"std.{module}")
    if found is None:
        from ..diagnostics.near import did_you_mean

        known = standard_modules()
        near = did_you_mean(f"std.{module.removeprefix('std.')}", known) or f"there are {', '.join(known)}"
        raise click.UsageError(f"there is no module `{module}`; {near}")
    click.echo(page_text(module, document(*found)), nl=False)


def _file(name: str) -> int:
    from cepc_grammar.parser import parse

    from ..documenting import document, page_text
    from ..files.read import load
    from ..output import print_diagnostics, status

    loaded = load([name])
    for source in loaded.programs:
        parsed = parse(source)
        problems = parsed.diagnostics
        if problems:
            print_diagnostics(problems, {source.name: source})
            return status(problems)
        click.echo(page_text(name, document(source, parsed)), nl=False)
    if loaded.diagnostics:
        print_diagnostics(loaded.diagnostics, loaded.sources)
    return status(loaded.diagnostics)
