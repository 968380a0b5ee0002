"""`cepc compile`: a program to one PySpark job."""

from __future__ import annotations

from typing import Any

import click

from .optimisation import check, optimisation, options_of


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Write the job here instead of printing it.")
@click.option(
    "--bundle",
    metavar="DIR",
    type=click.Path(),
    help="Write the job, the runtime for --py-files, and how to submit them.",
)
@optimisation
@click.pass_context
def compile(  # noqa: A001 - the word for it
    ctx: click.Context, files: tuple[str, ...], output: str | None, bundle: str | None, sharing: dict[str, Any]
) -> None:
    """Make one PySpark job of a program.

    Several FILES together are one program; `-` is standard input. The job answers all queries in one read of the
    source. It imports `cepc_runtime`, which --bundle puts beside it.
    """
    from ..api import check_files
    from ..codegen.bundle import write_bundle
    from ..codegen.compiling import job_of
    from ..errors import CepcError, ProgramError
    from ..files.write import write_text
    from ..output import print_diagnostics, status
    from ..running.messages import nothing_to_run

    check(sharing)
    checked = check_files(files, tests=False)
    if checked.diagnostics:
        print_diagnostics(checked.diagnostics, checked.sources)
    if not checked.ok:
        ctx.exit(status(checked.diagnostics))
    try:
        if checked.program is None:
            hint = "give the file with the STREAM as well: `cepc compile stream.cep …`"
            raise ProgramError([nothing_to_run("STREAM", hint)], checked.sources)
        options = options_of(sharing, checked.program, timed=False)  # the same bytes on every machine
        job = job_of(checked.program, checked.sources, options)
    except CepcError as error:
        print_diagnostics(error.diagnostics, {**checked.sources, **error.sources})
        ctx.exit(status(error.diagnostics))
    try:
        if bundle is not None:
            write_bundle(job, bundle)
            click.echo(f"{bundle}: spark-submit --py-files cepc_runtime.zip job.py --help", err=True)
        if output is not None:
            write_text(output, job.text, files, checked.program.source_paths)
    except CepcError as error:
        print_diagnostics(error.diagnostics, {})
        ctx.exit(status(error.diagnostics))
    if output is None and bundle is None:
        click.echo(job.text.encode(), nl=False)  # bytes: the text is UTF-8 whatever the locale
