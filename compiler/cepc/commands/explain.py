"""`cepc explain`: what a code means, or what the compiler makes of a program."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..diagnostics.listed import listed
from .completers import codes_or_files
from .optimisation import check, optimisation, options_of
from .sql import checked_sql, is_sql

if TYPE_CHECKING:
    from .. import model
    from ..checked import Checked

CODE = re.compile(r"[EW]\d{1,5}", re.IGNORECASE)


@click.command(short_help="Explain an error by its code, or a program.")
@click.argument(
    "what", nargs=-1, required=True, metavar="CODE|FILE...", type=click.Path(), shell_complete=codes_or_files
)
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "dot", "svg", "html"]),
    help="Text; data; a graph for Graphviz; a picture; a page to look at and click. The suffix of -o chooses it too.",
)  # fmt: skip
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(),
    help="Write the explanation of a program here instead of printing it.",
)
@optimisation
@click.pass_context
def explain(
    ctx: click.Context, what: tuple[str, ...], form: str | None, output: str | None, sharing: dict[str, Any]
) -> None:
    """Explain an error by its code (`cepc explain E0102`), or a program.

    Of a program: what each query looks for, its variables, its conditions by kind, its windows, its automaton; what the
    queries share and what that saves; what each pass did; and what keeps queries from sharing more.
    """
    check(sharing)
    codes = [argument.upper() for argument in what if CODE.fullmatch(argument)]
    files = tuple(argument for argument in what if not CODE.fullmatch(argument))
    if output is not None and (codes or not files):
        raise click.UsageError("-o writes the explanation of a program; the page of a code is printed")
    for code in codes:
        _explain_code(code)
    if files:
        ctx.exit(_explain_program(files, form or _form(output), output, sharing))


_FORMS = ("json", "dot", "svg", "html")
_TEXTS = ("", "txt", "text", "md", "log")


def _form(output: str | None) -> str:
    """What the name says; one that says a format that there is none of is a wrong command."""
    suffix = Path(output or "").suffix.removeprefix(".").lower()
    if suffix in _FORMS:
        return suffix
    if suffix not in _TEXTS:
        known = listed((f"`.{form}`" for form in (*_FORMS, "txt")), "and")
        raise click.UsageError(f"`{output}` says no format: known are {known}; `--format` goes before the name")
    return "text"


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


def _explain_program(files: tuple[str, ...], form: str, output: str | None, sharing: dict[str, Any]) -> int:
    from ..api import check_files
    from ..errors import CepcError
    from ..files.write import write_text
    from ..output import print_diagnostics, status

    checked = checked_sql(files).checked if is_sql(files) else check_files(files, tests=False)
    if checked.diagnostics:
        print_diagnostics(checked.diagnostics, checked.sources)
    if checked.program is not None:
        try:
            text = _explained(checked, checked.program, form, sharing)
            if output is None:
                click.echo(text.encode(), nl=False)  # bytes: pages say that they are UTF-8
            else:
                write_text(output, text, files, checked.program.source_paths)
        except CepcError as error:
            print_diagnostics(error.diagnostics, {**checked.sources, **error.sources})
            return status(error.diagnostics)
    return status(checked.diagnostics)


def _explained(checked: Checked, program: model.CheckedProgram, form: str, sharing: dict[str, Any]) -> str:
    from ..explaining import as_dot, as_html, as_json, as_svg, as_text
    from ..explaining.explanation import explain
    from ..shared_plans import plan_shared

    found = explain(program, plan_shared(program, options_of(sharing, program)))
    match form:
        case "json":
            return as_json.to_json(found)
        case "dot":
            return as_dot.to_dot(found)
        case "svg":
            return as_svg.to_svg(found)
        case "html":
            texts = {name: source.text for name, source in checked.sources.items()}
            return as_html.to_html(program, found, texts, checked.text() if checked.diagnostics else "")
    return as_text.to_text(program, found)
