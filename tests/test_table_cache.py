"""A table is built for the queries and the kinds of events, and stays for the batches to come."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from cepc_runtime.events.letters import Kinds
from cepc_runtime.kernel import table_cache, tables
from cepc_runtime.kernel.table_cache import CachedTable
from cepc_runtime.sql.types import BIGINT
from tests.automata import LETTERS, Event, aggregate, automaton, plan, query, sorted_rows, table
from tests.driven import driven

BATCHES: list[list[Event]] = [
    [(1, "A", "g", 1), (2, "B", "g", 2)],
    [(1, "C", "g", 1), (2, "B", "h", 2), (3, "A", "h", 4), (4, "B", "h", 5)],
    [(2, "B", "g", 7), (1, "A", "g", 1), (3, "D", "g", 1)],
]


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[tuple[frozenset[int], ...]]:
    """The kinds of every table that is built from here on."""
    found: list[tuple[frozenset[int], ...]] = []

    def noted(queries: Any, planes: Any, kinds: Any, *others: Any) -> Any:
        found.append(kinds)
        return tables.build(queries, planes, kinds, *others)

    monkeypatch.setattr(table_cache, "build", noted)
    table_cache.cached_table.cache_clear()
    return found


def queries(text: str = "0 A 1, 1 B 2") -> list[Any]:
    return [query(automaton(text, [2]), returns=[aggregate("sum", "B", BIGINT)])]


def rows(events: list[Event]) -> list[Any]:
    found = driven(table(events), plan(*queries()), interpreted=True)["q"].to_pylist()
    return sorted_rows(found)


def test_a_table_of_earlier_batches_gives_the_rows_of_one_of_its_own(built: list[Any]) -> None:
    found = [rows(events) for events in BATCHES]
    assert len(built) < len(BATCHES)
    for events, own in zip(BATCHES, found, strict=True):
        table_cache.cached_table.cache_clear()
        assert rows(events) == own
        assert own


def test_equal_queries_have_one_table(built: list[Any]) -> None:
    for events in BATCHES * 2:
        driven(table(events), plan(*queries()), interpreted=True)
    assert len(built) == 1
    driven(table(BATCHES[0]), plan(*queries("0 B 1, 1 A 2")), interpreted=True)
    assert len(built) == 2


def test_what_a_batch_has_not_is_kept_for_the_next(built: list[Any]) -> None:
    one = CachedTable(tuple(queries()), (), None, ties=False)
    index = {plane.value: number for number, plane in enumerate(one.planes[0].planes)}
    first, second, both = (frozenset([0]),), (frozenset([1]),), (frozenset([1]), frozenset([0]))
    of = np.zeros(1, dtype=np.int32)
    _, kinds = one.of(Kinds(of, first), index, nulls=True)
    assert (kinds.of.tolist(), kinds.letters) == ([0], first)
    _, kinds = one.of(Kinds(of, second), index, nulls=True)
    assert (kinds.of.tolist(), kinds.letters) == ([1], (*first, *second))
    layout, kinds = one.of(Kinds(np.array([0, 1, 1], dtype=np.int32), both), index, nulls=True)
    assert kinds.of.tolist() == [1, 0, 0]
    assert one.of(Kinds(of, first), index, nulls=True)[0] is layout
    assert [len(kinds) for kinds in built] == [1, 2]


def test_kinds_of_many_batches_are_not_kept_for_ever(built: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_cache, "MOST", 2)
    one = CachedTable(tuple(queries()), (), None, ties=False)
    index = {plane.value: number for number, plane in enumerate(one.planes[0].planes)}
    for number in range(len(LETTERS)):
        one.of(Kinds(np.zeros(1, dtype=np.int32), (frozenset([number]),)), index, nulls=True)
    assert [len(kinds) for kinds in built] == [1, 2, 1, 2]


def test_a_worker_s_garbage_collector_does_not_look_again_at_what_was_loaded() -> None:
    asked = (
        "import gc, cepc_runtime.spark.kernel\n"
        "from cepc_runtime.spark.worker import settled\n"
        "settled(); frozen = gc.get_freeze_count(); kept = [[] for _ in range(100)]; settled()\n"
        "print(frozen > 20_000, gc.get_freeze_count() == frozen)"
    )
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, timeout=60)
    assert told.stdout == "True True\n"
