"""Which aggregate queries the kernel counts, and which need their matches listed (docs/architecture.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cepc_runtime.plan_data import from_text_of_plan, to_text
from tests.equivalence import compile_text

if TYPE_CHECKING:
    from cepc_runtime.plan import QueryPlan

STREAM = "STREAM s (at BIGINT, kind STRING, x INT) EVENT TIME at EVENT TYPE kind;\n"
LEG = "PATTERN leg AS SEQ(A a, NOT C c, B b) WHERE {condition};\n"


def planned(query: str) -> QueryPlan:
    (found,) = compile_text(f"{STREAM}{query} WITHIN 9 s SLIDE 3 s;").plan.queries
    return found


COUNTED = [
    ("all matches", "PATTERN SEQ(A, B)"),
    ("SELECT NEXT", "PATTERN SEQ(A+, B) SELECT NEXT"),
    ("SELECT CONTIGUOUS", "PATTERN SEQ(A+, B) SELECT CONTIGUOUS"),
    ("SELECT with NOT and conditions on single events", "PATTERN SEQ(A, NOT C, B) WHERE A.x > 1 SELECT NEXT"),
    ("neighbours", "PATTERN SEQ(A, B) WHERE A.x < B.x"),
    ("neighbours under CONTIGUOUS", "PATTERN A+ WHERE A.x > PREV(A).x SELECT CONTIGUOUS"),
    ("neighbours around a NOT", "PATTERN SEQ(A, NOT C, B) WHERE A.x < B.x"),
]
LISTED = [
    ("events apart", "PATTERN SEQ(A, B, C) WHERE A.x < C.x"),
    ("events apart, if the first is there", "PATTERN SEQ(A?, B, C) WHERE A.x < C.x"),
    ("events of which there may be several", "PATTERN SEQ(A, A*, B) WHERE FIRST(A).x < B.x"),
    ("neighbours under NEXT", "PATTERN SEQ(A, B) WHERE A.x < B.x SELECT NEXT"),
    ("a condition on what NOT forbids", "PATTERN SEQ(A, NOT C, B) WHERE A.x < C.x"),
    ("NOT WITHIN", "PATTERN SEQ(A, NOT C WITHIN 2 s)"),
]


@pytest.mark.parametrize("clauses", [c for _, c in COUNTED], ids=[name for name, _ in COUNTED])
def test_counted(clauses: str) -> None:
    assert planned(f"QUERY q RETURN COUNT(*) AS n {clauses}").automaton is not None


@pytest.mark.parametrize("clauses", [c for _, c in LISTED], ids=[name for name, _ in LISTED])
def test_listed(clauses: str) -> None:
    assert planned(f"QUERY q RETURN COUNT(*) AS n {clauses}").automaton is None


@pytest.mark.parametrize("condition", ["c.x > a.x", "c.x > b.x AND b.x > a.x"])
def test_a_condition_on_what_a_named_pattern_forbids_is_of_its_negation(condition: str) -> None:
    found = planned(LEG.format(condition=condition) + "QUERY q RETURN COUNT(*) AS n PATTERN leg+")
    assert found.automaton is None
    assert {c.negation for c in found.conditions if "c" in c.variables} == {0}


def test_a_plan_keeps_the_scopes_of_what_is_forbidden() -> None:
    leg = LEG.format(condition="c.x > a.x")
    plan = compile_text(f"{STREAM}{leg}QUERY q RETURN COUNT(*) AS n PATTERN leg+ WITHIN 9 s;").plan
    guards = [guard for edge in plan.queries[0].positions.edges for guard in edge.guards]
    assert [scope for guard in guards for scope in guard.scopes] == [(0, "current")]
    assert from_text_of_plan(to_text(plan)) == plan
