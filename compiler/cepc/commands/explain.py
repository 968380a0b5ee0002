"""`cepc explain`: what a code means, or what the compiler makes of a program."""

from __future__ import annotations

import re
import sys

import click

CODE = re.compile(r"[EW]\d{1,5}", re.IGNORECASE)


@click.command(short_help="Explain an error by its code, or a program.")
@click.argument("what", nargs=-1, required=True, metavar="CODE|FILE...")
@click.pass_context
def explain(ctx: click.Context, what: tuple[str, ...]) -> None:
    """Explain an error by its code (`cepc explain E0102`), or a program.

    Of a program: what each query looks for, its variables, its conditions by kind, its windows.
    """
    codes = [argument.upper() for argument in what if CODE.fullmatch(argument)]
    files = tuple(argument for argument in what if not CODE.fullmatch(argument))
    for code in codes:
        _explain_code(code)
    if files:
        ctx.exit(_explain_program(files))


def _explain_code(code: str) -> None:
    from ..diagnostics import catalogue
    from ..output import is_coloured

    page = catalogue.page(code)
    if page is None:
        near = catalogue.near(code)
        raise click.UsageError(f"there is no code {code}" + (f"; did you mean {near}?" if near else ""))
    if is_coloured(sys.stdout):
        from rich.console import Console
        from rich.markdown import Markdown

        # Programs read well in the colours of SQL; which one is wrong has to be said, as the fence is not shown.
        text = page.text.replace("```cep wrong", "Wrong:\n```sql").replace("```cep right", "```sql")
        Console().print(Markdown(text, code_theme="ansi_dark"))
    else:
        click.echo(page.text)


def _explain_program(files: tuple[str, ...]) -> int:
    from ..api import check_files
    from ..output import print_diagnostics, status

    checked = check_files(files)
    if checked.diagnostics:
        print_diagnostics(checked.diagnostics, checked.sources)
    if checked.program is not None:
        from ..describe import describe

        click.echo(describe(checked.program), nl=False)
    return status(checked.diagnostics)
