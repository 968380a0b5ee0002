"""One test of a program: its events to the query, and the rows compared with those that it expects."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import CepcError
from ..running.given import read_given
from ..running.local import run
from .compare import Difference, compare
from .values import table_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc_grammar.source import Source
    from cepc_runtime.plan import StreamPlan

    from .. import model
    from ..reading.read import Read


@dataclass(frozen=True, slots=True)
class Outcome:
    """A test with how the rows differ from those expected, or with the error that the run ended in."""

    test: model.Test
    difference: Difference | None
    error: CepcError | None = None

    @property
    def passed(self) -> bool:
        return self.difference is not None and self.difference.equal


def run_test(program: model.CheckedProgram, test: model.Test, sources: Mapping[str, Source]) -> Outcome:
    """The outcome of a test of the program. Raises ProgramError where one of its constants has no value."""
    query = next(q for q in program.queries if q.name == test.query)
    stream = program.stream(query.stream)
    events = table_of(test.given, stream.columns, sources)
    expected = None if test.expected is None else table_of(test.expected, test.expected.columns, sources)

    def load(_stream: model.Stream, plan: StreamPlan) -> Read:
        return read_given(events, plan, stream.columns)

    try:
        found = run(replace(program, queries=(query,)), load, sources).tables[query.name]
    except CepcError as error:
        return Outcome(test, None, error)
    if expected is None:
        return Outcome(test, compare(found.slice(0, 0), found))
    return Outcome(test, compare(expected, found.select(expected.column_names)))
