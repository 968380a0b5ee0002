"""The rows of a query as events: rows are the oracle's, in this process on any number of threads and in little memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cepc.errors import DataError, RunError
from cepc.running.given import read_given
from cepc.running.local import run
from cepc_runtime.parts.resources import ONE_THREAD, Resources
from tests.equivalence import ABOUT, same
from tests.programs import between_neighbours, cases
from tests.properties import NOTHING, Seen, hold
from tests.rows_as_events import COMPARED, answered, counted, over, rows_as_events, table_of
from tests.several_streams import compile_text

if TYPE_CHECKING:
    from random import Random
    from typing import Any

    from tests.programs import Case
    from tests.several_streams import Compiled


def rows_of(case: Case, compiled: Compiled, resources: Resources) -> dict[str, list[dict[str, Any]]] | None:
    table = table_of(case, compiled)
    try:
        report = run(
            compiled.program, lambda stream, plan: read_given(table, plan, stream.input), {}, resources=resources
        )
    except (RunError, DataError):
        return None
    return {name: table.to_pylist() for name, table in report.tables.items()}


def compare(case: Case, _chance: Random, resources: Resources = ONE_THREAD) -> Seen:
    compiled = compile_text(case.text)
    expected = answered(case, compiled)
    found = rows_of(case, compiled, resources)
    if expected is None:
        return NOTHING
    assert found is not None, "the engine fails where the language page has rows"
    for query in compiled.program.queries:
        rows = expected[query.name].rows
        assert same(found[query.name], rows, ABOUT), (query.name, found[query.name], rows)
        counted(over(compiled, query.name), len(rows))
    return Seen.of(case, {name: one for name, one in expected.items() if over(compiled, name) == "events"})


KINDS = {
    "aggregates": cases(match=False),
    "matches": cases(match=True, select="ANY"),
    "AFTER MATCH": cases(match=True, select="NEXT", after=True),
    "conditions between neighbours": between_neighbours,
}


def in_parts(case: Case, chance: Random) -> Seen:
    """On several threads, or in so little memory that events go to disk."""
    return compare(case, chance, chance.choice((Resources(threads=3, few=1), Resources(memory=1, least=2_000))))


def test_rows_are_the_same_on_several_threads_and_in_little_memory() -> None:
    hold("rows as events: threads and memory", rows_as_events(cases()), in_parts)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_queries_over_rows_are_the_oracles(kind: str) -> None:
    COMPARED.clear()
    hold(f"rows as events: {kind}", rows_as_events(KINDS[kind]), compare)
    assert COMPARED["queries over rows with rows"] + COMPARED["queries over both with rows"] > 0, COMPARED
