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
from .from_query import declared
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
    given = _Given(written_out(program), events)
    return {query.name.text: given.answer(query) for query in given.queries}


def matches(program: ast.Program, query_name: str, events: Events) -> frozenset[Match]:
    """The matches of one query before HAVING.

    They satisfy partition, conditions, selection, AFTER MATCH and WITHIN; in an aggregate query they stand in at least
    one window.
    """
    given = _Given(written_out(program), events)
    (query,) = (query for query in given.queries if query.name.text == query_name)
    finder = given.finder(query)
    return _in_input(finder, finder.found())


class _Given:
    """A program and what it is given; a stream of the rows of a query becomes one of events when a query looks at it.
    A match of such events has their places in the rows of that query.
    """

    def __init__(self, program: ast.Program, events: Events) -> None:
        self.program = program
        self.queries = [statement for statement in program.statements if isinstance(statement, ast.Query)]
        self._found: dict[str, tuple[Finder, Answer]] = {}
        streams = [stream for stream in self._streams() if stream.query is None]
        if not isinstance(events, Mapping) and len(streams) < len(self._streams()):
            (only,) = streams
            events = {only.name.text: events}
        self._events = {**events} if isinstance(events, Mapping) else events

    def answer(self, query: ast.Query) -> Answer:
        return self._run(query)[1]

    def finder(self, query: ast.Query) -> Finder:
        program, events = self.program, self._events
        if not isinstance(events, Mapping):
            return Finder(program, query, read(program, events))
        names = streams_of(program, query)
        for stream in self._streams():
            if stream.name.text in names and stream.query is not None:
                self._make(stream, stream.query.text)
        return _over_streams(self.program, query, events, names)

    def _run(self, query: ast.Query) -> tuple[Finder, Answer]:
        if query.name.text not in self._found:
            finder = self.finder(query)
            found = finder.found()
            self._found[query.name.text] = finder, Answer(rows(finder, found), _in_input(finder, found))
        return self._found[query.name.text]

    def _make(self, stream: ast.Stream, name: str) -> None:
        (query,) = (query for query in self.queries if query.name.text == name)
        finder, answer = self._run(query)
        made = declared(stream, finder)
        statements = (made if one is stream else one for one in self.program.statements)
        self.program = ast.Program(tuple(statements))
        assert isinstance(self._events, dict)
        self._events[stream.name.text] = answer.rows

    def _streams(self) -> list[ast.Stream]:
        return [statement for statement in self.program.statements if isinstance(statement, ast.Stream)]


def _over_streams(program: ast.Program, query: ast.Query, events: Mapping[str, Rows], names: Sequence[str]) -> Finder:
    if len(names) == 1:
        alone = one_stream(program, names[0])
        return Finder(alone, query, read(alone, events.get(names[0], ())), owners(program, query, names))
    return Finder(program, query, read_several(program, events, names), owners(program, query, names))


def _in_input(finder: Finder, found: Sequence[Found]) -> frozenset[Match]:
    places = finder.events.inputs
    return frozenset(frozenset((places[event], variable) for event, variable in one.match) for one in found)
