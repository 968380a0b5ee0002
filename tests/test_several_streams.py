"""Patterns over several streams: rows are the oracle's, in this process on any number of threads and in little memory."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from cepc.errors import RunError
from cepc.running.given import read_given
from cepc.running.local import run
from cepc_runtime.parts.resources import ONE_THREAD, Resources
from tests.equivalence import ABOUT, same
from tests.programs import beside_itself, between_neighbours, cases
from tests.properties import NOTHING, Seen, hold
from tests.several_streams import Compiled, answered, compile_text, tables, two_streams

if TYPE_CHECKING:
    from random import Random
    from typing import Any

    from tests.programs import Case, Make

MIXED: Counter[str] = Counter()
"""How many queries were over one stream, and over both, and how many rows they had."""


def rows_of(case: Case, compiled: Compiled, resources: Resources) -> dict[str, list[dict[str, Any]]] | None:
    given = tables(case, compiled)
    try:
        report = run(
            compiled.program,
            lambda stream, plan: read_given(given[stream.name], plan, stream.input),
            {},
            resources=resources,
        )
    except RunError:
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
        over = "both" if compiled.program.stream(query.stream).members else "one"
        MIXED[f"queries over {over}"] += 1
        MIXED[f"rows of queries over {over}"] += len(rows)
    return Seen.of(case, expected)


KINDS: dict[str, Make] = {
    "aggregates": cases(match=False, select="ANY"),
    "matches": cases(match=True, select="ANY"),
    "conditions between neighbours": between_neighbours,
    "SELECT NEXT and CONTIGUOUS": cases(match=False, select="CONTIGUOUS", pairs=False),
    "AFTER MATCH": cases(match=True, select="NEXT", after=True),
    "AFTER MATCH with CONTIGUOUS": cases(match=True, select="CONTIGUOUS", after=True),
    "named patterns": beside_itself,
    "several queries": cases(size=3),
}


def in_parts(case: Case, chance: Random) -> Seen:
    """On several threads, or in so little memory that events go to disk."""
    return compare(case, chance, chance.choice((Resources(threads=3, few=1), Resources(memory=1, least=2_000))))


def test_rows_are_the_same_on_several_threads_and_in_little_memory() -> None:
    hold("two streams: threads and memory", two_streams(cases(size=2)), in_parts)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_two_streams_are_the_oracles(kind: str) -> None:
    hold(f"two streams: {kind}", two_streams(KINDS[kind]), compare)
    assert MIXED["queries over both"] > MIXED["queries over one"], MIXED
