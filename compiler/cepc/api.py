"""The compiler as Python functions; the command line is a thin layer over these.

>>> from cepc.api import check_text
>>> [d.code for d in check_text("QUERY q RETURN COUNT(*) PATTERN SEQ(A, B)").diagnostics]
['E0106', 'W0601']
"""

from __future__ import annotations

import os
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_grammar.lost import NOTHING_LOST
from cepc_grammar.parser import parse
from cepc_grammar.source import Source

from .checked import Checked
from .diagnostics.render import errors
from .errors import ProgramError
from .files import messages
from .files.read import ImportReader, load
from .resolve import check
from .running.messages import nothing_to_run
from .too_large import too_large

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.parser import Parsed

    from .compiled_program import Compiled
    from .model import CheckedProgram
    from .resolve import Loader


def check_files(names: Iterable[str], *, tests: bool = True) -> Checked:
    """Check the program that these files make up together; `-` is standard input.

    Where a file cannot be read the others are parsed but no names are resolved: most would be missing. Without `tests`
    the values of its tests are not looked at, which are beside the point where queries are run.
    """
    names = tuple(names)
    if of_sql := [name for name in names if name.endswith(".sql")]:
        return Checked(None, tuple(map(messages.sql_text, of_sql)), {})
    loaded = load(names)
    checked = check_sources(loaded.programs, resolve=not errors(loaded.diagnostics), tests=tests)
    return Checked(checked.program, loaded.diagnostics + checked.diagnostics, {**loaded.sources, **checked.sources})


def check_text(text: str, name: str = "<text>") -> Checked:
    """Check a program given as text."""
    return check_sources((Source(name, text.removeprefix("\ufeff")),))


def compile_program(*programs: str | os.PathLike[str]) -> Compiled:
    """The program of these texts, or of these files (a path, or a text that is the name of one), to be run.

    Raises ProgramError where it has errors.
    """
    from .compiled_program import Compiled

    for program in programs:
        _check_kind(program)
    names = [os.fspath(program) for program in programs if not _is_text(program)]
    texts = [program for program in programs if isinstance(program, str) and _is_text(program)]
    if names and texts:
        raise ValueError("give texts or files, not both")
    checked = check_files(names, tests=False) if names else check_sources(_named(texts), tests=False)
    if not checked.ok:
        raise ProgramError(checked.diagnostics, checked.sources)
    if checked.program is None:
        raise ProgramError([nothing_to_run("STREAM", "declare the events by a STREAM")], checked.sources)
    return Compiled(checked, checked.program)


def _check_kind(program: object) -> None:
    """Raises TypeError for what is neither a text nor a path."""
    if isinstance(program, str | os.PathLike):
        return
    each = "give each as an argument of its own, `cepc.compile(*programs)`"
    cure = {"list": each, "tuple": each, "bytes": "`program.decode()` makes a text of it"}.get(type(program).__name__)
    raise TypeError(f"a program is a text or a path; not {type(program).__name__}{f': {cure}' if cure else ''}")


def _is_text(program: str | os.PathLike[str]) -> bool:
    """No program ends as the names of files do, nor is it the name of a file, or a folder, that there is."""
    if not isinstance(program, str):
        return False
    is_there = os.path.exists
    return "\n" in program or not (program.endswith((".cep", ".sql")) or is_there(program))


def _named(texts: list[str]) -> list[Source]:
    return [
        Source("<text>" if i == 0 else f"<text {i + 1}>", text.removeprefix("\ufeff")) for i, text in enumerate(texts)
    ]


def check_sources(sources: Iterable[Source], *, resolve: bool = True, tests: bool = True) -> Checked:
    """Check the program that these texts make up together."""
    parsed = [(source, parse(source)) for source in sources]
    return check_parsed(parsed, ImportReader(), resolve=resolve, tests=tests)


def check_parsed(
    program: Iterable[tuple[Source, Parsed]], reader: Loader, *, resolve: bool = True, tests: bool = True
) -> Checked:
    """The same of texts that are parsed already; `reader` reads the files that they import."""
    given = tuple(program)
    programs, parsed = [source for source, _ in given], [one for _, one in given]
    known = {source.name: source for source in programs}
    diagnostics = tuple(d for one in parsed for d in one.diagnostics)
    diagnostics += tuple(_empty(source, one) for source, one in zip(programs, parsed, strict=True) if _is_empty(one))
    if not resolve:
        return Checked(None, diagnostics, known)
    statements = tuple(statement for one in parsed for statement in one.program.statements)
    lost = reduce(or_, (one.lost for one in parsed), NOTHING_LOST)
    resolved = check(ast.Program(statements), reader, lost)
    known |= {source.name: source for source in resolved.sources}
    if not diagnostics:
        refused = () if resolved.program is None else too_large(resolved.program, resolved.built)
        tested = _of_tests(resolved.program) if tests and resolved.program is not None else ()
        wrong = refused or errors(tested)
        return Checked(None if wrong else resolved.program, (*resolved.diagnostics, *refused, *tested), known)
    return Checked(None if errors(diagnostics) else resolved.program, diagnostics + resolved.diagnostics, known)


def _of_tests(program: CheckedProgram) -> tuple[Diagnostic, ...]:
    if not program.tests:
        return ()
    from .testing.check import check_tests  # computes, which takes longer to load than most programs need

    return tuple(check_tests(program))


def _is_empty(parsed: Parsed) -> bool:
    return not parsed.program.statements and not parsed.diagnostics


def _empty(source: Source, parsed: Parsed) -> Diagnostic:
    return messages.empty(source.name, blank=not parsed.comments)
