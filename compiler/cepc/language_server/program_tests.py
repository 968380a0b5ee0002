"""Running the tests of a program from its text in the editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_runtime.cheap_dataclass import dataclass

from ..diagnostics.render import as_text, render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_grammar.source import Span

    from .program import EditedProgram


@dataclass(frozen=True, slots=True)
class TestAt:
    """A test of the file, and where its name stands."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class TestReport:
    """`failures` say of each test that failed what `cepc test` says, `summary` how many there were."""

    passed: bool
    summary: str
    failures: tuple[tuple[TestAt, str], ...] = ()


def named_tests(program: EditedProgram) -> Iterator[TestAt]:
    for statement in program.parsed.program.statements:
        if isinstance(statement, ast.Test):
            yield TestAt(statement.name.text, statement.name.span)


def run_tests(program: EditedProgram, only: str | None = None) -> TestReport:
    """The outcome of the tests of the file, or of the one named."""
    from ..testing.run import run_test
    from ..testing.show import show, summary

    checked = program.checked
    if checked.program is None:
        return TestReport(False, f"the tests were not run: {_first_error(program)}")
    chosen = [test for test in named_tests(program) if only is None or test.name == only]
    outcomes, failures = [], []
    for test in chosen:
        known = next(t for t in checked.program.tests if t.name == test.name)
        outcome = run_test(checked.program, known, checked.sources)
        outcomes.append(outcome)
        if not outcome.passed:
            failures.append((test, show(outcome, checked.sources).rstrip()))
    return TestReport(not failures, summary(outcomes), tuple(failures))


def _first_error(program: EditedProgram) -> str:
    errors = program.checked.errors
    if not errors:
        return "there is no STREAM in the program"
    return as_text(render(errors[:1], program.checked.sources)).partition("\n")[0]
