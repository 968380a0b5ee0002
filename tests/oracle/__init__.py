"""The language page as code (docs/language.md): every match by brute force, and the rows that follow from them.

Slow and obvious on purpose. It is the ground truth of the property tests, and shares nothing with the compiler but the
abstract syntax. It takes programs that the checker accepts; what the page does not say is decided in
docs/semantics-decisions.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cepc_grammar import ast

from .errors import EvaluationError, Overflow, TooMuch, Unsupported
from .helpers import written_out
from .matches import Finder, Found
from .rows import Row, rows
from .stream import one_stream, read, read_several
from .streams_of import owners, streams_of

Rows = Sequence[Mapping[str, object]]
Events = Rows | Mapping[str, Rows]
"""Of a program with several streams those of each."""

Match = frozenset[tuple[int, str]]
"""(index into the events, variable) of each event that a match binds; with several streams the index is the stream and
the index there.
"""

__all__ = ["Answer", "EvaluationError", "Match", "Overflow", "TooMuch", "Unsupported", "answers", "evaluate", "matches"]


@dataclass(frozen=True)
class Answer:
    """What a query gives: its rows, in no particular order, and the matches from which they are made, before HAVING."""

    rows: list[Row]
    matches: frozenset[Match]


def evaluate(program: ast.Program, events: Events) -> dict[str, list[Row]]:
    """The result rows of every query of the program, in no particular order, over the events of its one stream."""
    return {name: answer.rows for name, answer in answers(program, events).items()}


def answers(program: ast.Program, events: Events) -> dict[str, Answer]:
    """The rows and matches of every query of the program over the events of its one stream.

    Values: TIMESTAMP an aware datetime, TIMESTAMP_NTZ a naive one, DATE a date, numbers int, float or Decimal, str,
    bool, bytes, None, a list for an ARRAY, a dict for a STRUCT. Raises Overflow when a value does not fit its type,
    EvaluationError when an expression fails on a row, Unsupported for a program that the checker would refuse.
    """
    program = written_out(program)
    if not isinstance(events, Mapping):
        read_events = read(program, events)
        return {query.name.text: _answer(Finder(program, query, read_events)) for query in _queries(program)}
    return {query.name.text: _answer(_over_streams(program, query, events)) for query in _queries(program)}


def _over_streams(program: ast.Program, query: ast.Query, events: Mapping[str, Rows]) -> Finder:
    names = streams_of(program, query)
    if len(names) == 1:
        alone = one_stream(program, names[0])
        return Finder(alone, query, read(alone, events.get(names[0], ())), owners(program, query, names))
    return Finder(program, query, read_several(program, events, names), owners(program, query, names))


def _answer(finder: Finder) -> Answer:
    found = finder.found()
    return Answer(rows(finder, found), _in_input(finder, found))


def matches(program: ast.Program, query_name: str, events: Events) -> frozenset[Match]:
    """The matches of one query before HAVING.

    They satisfy partition, conditions, selection, AFTER MATCH and WITHIN; in an aggregate query they stand in at least
    one window.
    """
    program = written_out(program)
    (query,) = (query for query in _queries(program) if query.name.text == query_name)
    if isinstance(events, Mapping):
        finder = _over_streams(program, query, events)
    else:
        finder = Finder(program, query, read(program, events))
    return _in_input(finder, finder.found())


def _in_input(finder: Finder, found: Sequence[Found]) -> frozenset[Match]:
    places = finder.events.inputs
    return frozenset(frozenset((places[event], variable) for event, variable in one.match) for one in found)


def _queries(program: ast.Program) -> list[ast.Query]:
    return [statement for statement in program.statements if isinstance(statement, ast.Query)]
