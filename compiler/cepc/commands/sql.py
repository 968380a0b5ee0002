"""SQL texts as what `cepc check` and `cepc run` are given in place of a program."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..row_patterns.texts import SqlProgram

ENDING = ".sql"


def is_sql(files: tuple[str, ...]) -> bool:
    """Whether the files are SQL texts; they are so all or none."""
    of_sql = [file.endswith(ENDING) for file in files]
    if any(of_sql) and not all(of_sql):
        raise click.UsageError("SQL texts and programs of cepc are given apart from each other")
    return any(of_sql)


def checked_sql(files: tuple[str, ...]) -> SqlProgram:
    """The texts of these files as one program."""
    from ..diagnostics.render import errors
    from ..files.read import load
    from ..row_patterns.texts import sql_program

    loaded = load(files)
    program = sql_program(loaded.programs)
    if not loaded.diagnostics:
        return program
    found = program.checked
    diagnostics = loaded.diagnostics if errors(loaded.diagnostics) else (*loaded.diagnostics, *found.diagnostics)
    checked = replace(
        found, program=None if errors(diagnostics) else found.program, diagnostics=diagnostics,
        sources={**loaded.sources, **found.sources},
    )  # fmt: skip
    return replace(program, clauses=replace(program.clauses, checked=checked))


def right_sql(ctx: click.Context, files: tuple[str, ...]) -> SqlProgram:
    """Texts that can be answered without Spark; others end the command."""
    from ..output import print_diagnostics, status
    from ..row_patterns.texts import not_plain

    program = checked_sql(files)
    wrong = program.checked.diagnostics if not program.checked.ok else tuple(not_plain(program))
    if wrong:
        print_diagnostics(wrong, program.checked.sources)
        ctx.exit(status(wrong))
    return program
