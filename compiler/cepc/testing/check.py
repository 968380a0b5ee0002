"""What is wrong with the values of tests, before any of them is run: constants without a value, and events that no
query sees, so that a test of them says little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cepc_grammar.diagnostic import Diagnostic
from cepc_runtime.sql.computed import NoValueError, compute

from ..diagnostics.near import did_you_mean
from ..wording import first_of
from .values import values_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_grammar.source import Span

    from .. import model


def check_tests(program: model.CheckedProgram) -> Iterator[Diagnostic]:
    """Errors for constants, warnings for events."""
    for test in program.tests:
        events, _, problems = values_of(test, program)
        yield from problems
        for name, values in test.given if not problems else ():
            yield from _unseen(events[name], values, program.stream(name))


def _unseen(events: Any, given: model.Values, stream: model.Stream) -> Iterator[Diagnostic]:
    """Events without a time, without a type, or of a type that is not listed."""
    time, type_ = stream.time.column, stream.type_column
    wanted = (time,) if type_ is None else (time, type_)
    try:
        computed = compute(events, stream.input.needed(wanted).computed)
    except NoValueError:  # a run says it of the row
        return
    for row, value in enumerate(computed.column(time).to_pylist()):
        if value is None:
            yield _warning("has no time", _place(given, row, time), f"`{time}` is NULL, so that it is no event", "")
    types = [] if type_ is None else computed.column(type_).to_pylist()
    for row, name in enumerate(types):
        if name is None:
            yield _warning("has no type", _place(given, row, type_), f"`{type_}` is NULL, so that it is no event", "")
        elif stream.types is not None and name not in stream.types:
            label = f"`{stream.name}` does not list the type {name}, so that nothing but ANY sees this"
            near = did_you_mean(name, stream.types) or f"the types are {first_of(stream.types)}"
            yield _warning("is of an unknown type", _place(given, row, type_), label, near)


def _place(given: model.Values, row: int, column: str | None) -> Span:
    """The value of the column; the row where the column is computed or not given."""
    values = given.rows[row]
    names = [name for name, _ in given.columns]
    return values[names.index(column)].span if column in names else values[0].span.to(values[-1].span)


def _warning(what: str, span: Span, label: str, hint: str) -> Diagnostic:
    return Diagnostic("W0901", f"a row of GIVEN {what}", span, label, hint=hint)
