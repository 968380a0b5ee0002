"""`cepc test`: the tests that a program has for its queries."""

from __future__ import annotations

from dataclasses import replace

import click

from ..visible import visible_lines
from .common import chosen_program, failed, right_program, warn
from .completers import tests


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option(
    "--test",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=tests,
    help="Run this test; may be given several times.",
)
@click.pass_context
def test(ctx: click.Context, files: tuple[str, ...], names: tuple[str, ...]) -> None:
    """Run the tests of a program: `TEST name FOR query GIVEN … EXPECT …`.

    Each gives events to a query and says which rows it expects. Of one that fails the rows are shown: with a minus what
    was expected and not found, with a plus what was found and not expected. The exit code is 1 if one fails.
    """
    from ..diagnostics.near import did_you_mean
    from ..errors import CepcError, ProgramError
    from ..running.messages import nothing_to_run
    from ..testing.check import check_tests
    from ..testing.run import run_test
    from ..testing.show import show, summary

    checked = right_program(ctx, files, warnings=False)
    try:
        program = chosen_program(checked)
        known = [one.name for one in program.tests]
        if not known:
            hint = "write one: `TEST name FOR query GIVEN (at, …) VALUES (…) EXPECT NO ROWS;`"
            raise ProgramError([nothing_to_run("TEST", hint)], checked.sources)
        for name in names:
            if name not in known:
                near = did_you_mean(name, known) or f"there are {', '.join(f'`{k}`' for k in known)}"
                raise click.UsageError(f"there is no test `{name}`; {near}")
        chosen = [one for one in program.tests if not names or one.name in names]
        found = check_tests(replace(program, tests=tuple(chosen)))
        warn([d for d in found if d.severity == "warning"], checked.sources)  # of errors the test tells
        outcomes = []
        for one in chosen:
            outcomes.append(run_test(program, one, checked.sources))
            click.echo(visible_lines(show(outcomes[-1], checked.sources)), nl=False)
    except CepcError as error:
        failed(ctx, error, checked.sources)
    click.echo(summary(outcomes))
    ctx.exit(0 if all(outcome.passed for outcome in outcomes) else 1)
