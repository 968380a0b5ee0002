"""One test of a program: its events to the query, and the rows compared with those that it expects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.computed import compute

from ..diagnostics.near import did_you_mean
from ..errors import CepcError
from ..running.given import read_given
from ..running.local import run
from .compare import Difference, compare
from .values import of_test, tables_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc_grammar.source import Source
    from cepc_runtime.plan.stream import StreamPlan

    from .. import model
    from ..reading.read import Read


@dataclass(frozen=True, slots=True)
class Outcome:
    """A test with how the rows differ from those expected, or with the error that it ended in; `strange` tells types
    of the events given that the stream does not list.
    """

    test: model.Test
    difference: Difference | None
    error: CepcError | None = None
    strange: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return self.difference is not None and self.difference.equal


def run_test(program: model.CheckedProgram, test: model.Test, sources: Mapping[str, Source]) -> Outcome:
    """The outcome of a test of the program: an error as well where one of its constants has no value."""
    query = next(q for q in program.queries if q.name == test.query)
    try:
        events, expected = tables_of(test, program, sources)

        def load(stream: model.Stream, plan: StreamPlan) -> Read:
            return read_given(events[stream.name], plan, stream.input)

        found = run(of_test(program, test, query), load, sources).tables[query.name]
    except CepcError as error:
        return Outcome(test, None, error)
    strange = [said for name, table in events.items() for said in _strange(table, program.stream(name))]
    rows, wanted = (found, found.slice(0, 0)) if expected is None else (found.select(expected.column_names), expected)
    return Outcome(test, compare(wanted, rows), strange=tuple(strange))


def _strange(events: Any, stream: model.Stream) -> tuple[str, ...]:
    """A sentence for each type that no event of the stream has, as far as it says which there are."""
    if stream.types is None or stream.type_column is None:
        return ()
    typed = compute(events, stream.input.needed((stream.type_column,)).computed)
    given = dict.fromkeys(map(str, typed.column(stream.type_column).drop_null().to_pylist()))
    strange = [name for name in given if name not in stream.types]
    near = [did_you_mean(name, stream.types) or f"there are {', '.join(stream.types)}" for name in strange]
    return tuple(
        f"GIVEN has the type {name}, which `{stream.name}` does not list; {cure}"
        for name, cure in zip(strange, near, strict=True)
    )
