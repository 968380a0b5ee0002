"""The events of one query of many are taken out of the others, by kind, and give the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from cepc_runtime.enumerate.arranged import arrange_for
from cepc_runtime.events import by_kind
from cepc_runtime.events.by_kind import ByKind
from cepc_runtime.events.grouped import arrange, read, select
from cepc_runtime.events.letters import Kinds, classify
from tests.equivalence import compile_text
from tests.programs import between_neighbours, cases
from tests.properties import hold
from tests.test_equivalence import compare

if TYPE_CHECKING:
    from cepc_runtime.events.grouped import Events, Reading
    from tests.programs import Make

TEXT = """STREAM s (at BIGINT, kind STRING, k INT) EVENT TIME at UNIT s EVENT TYPE kind;
QUERY q RETURN MATCH * PATTERN SEQ(A a, B b) WHERE [k] AND a.k > 0 WITHIN 9 s;
QUERY r RETURN MATCH * PATTERN SEQ(C c, D d) WHERE [k] WITHIN 9 s;
"""
EVENTS = "A1 C1 B1 C2 D1 D2 B3 A0 E9 A3 C1 C1"


def reading_of(text: str) -> Reading:
    """Two events at each second, of a type and a k."""
    names = text.split()
    columns = [n // 2 for n in range(len(names))], [n[0] for n in names], [int(n[1:]) for n in names]
    return read(pa.table(dict(zip(("at", "kind", "k"), columns, strict=True))), compile_text(TEXT).plan.stream)


def shown(events: Events, kinds: Kinds) -> list[list[str]]:
    """By group, the instants, each with its events and their letters."""
    found: list[list[str]] = [[] for _ in events.group_starts[1:]]
    for first, end in zip(events.instant_starts[:-1], events.instant_starts[1:], strict=True):
        text = "".join(
            f"{events.names[events.types[i]]}{sorted(kinds.letters[kinds.of[i]])}" for i in range(first, end)
        )
        key = events.keys.column("k")[int(events.groups[first])].as_py()
        assert set(events.table.column("k").to_pylist()[first:end]) == {key}
        found[events.groups[first]].append(f"{key}@{events.ticks[first]} {text}")
    return found


@pytest.mark.parametrize("letters", [(), (0,), (1,), (2, 3), (0, 1), (3,)])
def test_they_are_what_would_be_arranged_of_them_alone(
    letters: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_kind, "FEW", 1.0)
    plan, reading = compile_text(TEXT).plan, reading_of(EVENTS)
    kinds = classify(reading, plan.letters)
    events = arrange(reading, plan.stream, ["k"])
    found, own = ByKind(events, Kinds(kinds.of[events.order], kinds.letters)).narrowed(frozenset(letters))
    wanted = np.flatnonzero(kinds.satisfying(letters))
    alone = arrange(select(reading, wanted), plan.stream, ["k"])
    of_alone = Kinds(kinds.of[wanted][alone.order], tuple(there & set(letters) for there in kinds.letters))
    assert sorted(shown(found, own)) == sorted(shown(alone, of_alone))
    assert sorted(found.order) == wanted.tolist()


def test_many_are_left_among_the_others() -> None:
    plan, reading = compile_text(TEXT).plan, reading_of(EVENTS)
    arranged = arrange_for(reading, classify(reading, plan.letters), plan.stream, plan.queries)
    lengths = [arranged.narrowed([query]).events.length for query in plan.queries]
    assert arranged.events.length == 10  # no E, nor the A whose k is 0
    assert lengths == [4, 10]  # of r six would be taken


def test_each_event_is_looked_at_by_its_own_query_alone() -> None:
    types = [(f"A{n}", f"B{n}") for n in range(30)]
    text = TEXT.splitlines()[0] + "".join(
        f"\nQUERY q{n} RETURN MATCH * PATTERN SEQ({a} a, {b} b) WHERE [k] WITHIN 9 s;" for n, (a, b) in enumerate(types)
    )
    plan = compile_text(text).plan
    kinds = [name for pair in types for name in pair] * 5
    table = pa.table({"at": list(range(len(kinds))), "kind": kinds, "k": [1] * len(kinds)})
    reading = read(table, plan.stream)
    arranged = arrange_for(reading, classify(reading, plan.letters), plan.stream, plan.queries)
    own = [arranged.narrowed([query]) for query in plan.queries]
    assert [(a.events.length, len(a.kinds.letters)) for a in own] == [(10, 2)] * 30


MAKES: dict[str, Make] = {
    "own events: several queries": cases(size=3),
    "own events: matches": cases(match=True, select="ANY", size=3),
    "own events: SELECT NEXT": cases(match=True, select="NEXT", size=3),
    "own events: conditions between neighbours": between_neighbours,
}


@pytest.mark.parametrize("kind", MAKES)
def test_rows_equal_the_oracles(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_kind, "FEW", 1.0)
    hold(kind, MAKES[kind], lambda case, _chance: compare(case, interpreted=True))
