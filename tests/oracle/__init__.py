"""The language page as code (docs/language.md): every match by brute force, and the rows that follow from them.

Slow and obvious on purpose. It is the ground truth of the property tests, and shares nothing with the compiler but the abstract
syntax. It takes programs that the checker accepts; what the page does not say is decided in docs/semantics-decisions.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cepc_grammar import ast

from .errors import EvaluationError, Overflow, Unsupported
from .helpers import written_out
from .matches import Finder
from .rows import rows
from .stream import read

Events = Sequence[Mapping[str, object]]

__all__ = ["EvaluationError", "Overflow", "Unsupported", "evaluate", "matches"]


def evaluate(program: ast.Program, events: Events) -> dict[str, list[dict[str, object]]]:
    """The result rows of every query of the program, in no particular order, over the events of its one stream.

    Values: TIMESTAMP an aware datetime, TIMESTAMP_NTZ a naive one, DATE a date, numbers int, float or Decimal, str, bool, bytes,
    None, a list for an ARRAY, a dict for a STRUCT. Raises Overflow when a value does not fit its type, EvaluationError when an
    expression fails on a row, Unsupported for a program that the checker would refuse.
    """
    program = written_out(program)
    read_events = read(program, events)
    return {query.name.text: rows(Finder(program, query, read_events)) for query in _queries(program)}


def matches(program: ast.Program, query_name: str, events: Events) -> set[frozenset[tuple[int, str]]]:
    """The matches of one query before HAVING, each a set of (index into `events`, variable).

    They satisfy partition, conditions, selection, AFTER MATCH and WITHIN; in an aggregate query they stand in at least one window.
    """
    program = written_out(program)
    read_events = read(program, events)
    (query,) = (query for query in _queries(program) if query.name.text == query_name)
    found = Finder(program, query, read_events).found()
    return {frozenset((read_events.inputs[event], variable) for event, variable in result.match) for result in found}


def _queries(program: ast.Program) -> list[ast.Query]:
    return [statement for statement in program.statements if isinstance(statement, ast.Query)]
