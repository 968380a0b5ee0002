"""Which aggregate queries the kernel counts, and which need their matches listed (docs/architecture.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cepc.api import check_sources
from cepc.automaton.positions import positions_of
from cepc.planning import plan_program
from cepc.planning.logical import Countable, CountableNeighbours, Uncountable
from cepc_grammar.source import Source
from cepc_runtime.plan.as_json import from_text_of_plan, to_text
from cepc_runtime.plan.select import SelectAny, SelectContiguous, SelectNext
from cepc_runtime.plan.strategy import Reason
from tests.equivalence import compile_text

if TYPE_CHECKING:
    from cepc.automaton.letters import Letters
    from cepc.automaton.positions import Built
    from cepc.model import Query
    from cepc.planning.logical import Countability, LogicalQuery

STREAM = "STREAM s (at BIGINT, kind STRING, x INT) EVENT TIME at EVENT TYPE kind;\n"
LEG = "PATTERN leg AS SEQ(A a, NOT C c, B b) WHERE {condition};\n"


def planned(query: str) -> LogicalQuery[Countability]:
    (found,) = compile_text(f"{STREAM}{query} WITHIN 9 s SLIDE 3 s;").logical.queries
    return found


ORDERED = [
    ("PREV of events that may tie", "AND(A, A){2} WHERE A.x > PREV(A).x", True),
    ("PREV of events that never tie", "SEQ(A, A+) WHERE A.x > PREV(A).x", False),
    ("events that may tie, in no order", "AND(A, A){2} WHERE A.x > 1", False),
    ("FIRST", "SEQ(A+, B) WHERE FIRST(A).x < B.x", True),
]


@pytest.mark.parametrize(("pattern", "all_columns"), [case[1:] for case in ORDERED], ids=[case[0] for case in ORDERED])
def test_all_columns_are_read_where_the_order_of_tied_events_matters(pattern: str, all_columns: bool) -> None:
    stream = "STREAM s (at BIGINT, kind STRING, x INT, y INT) EVENT TIME at EVENT TYPE kind;\n"
    plan = compile_text(f"{stream}QUERY q RETURN MATCH COUNT(*) AS n PATTERN {pattern} WITHIN 9 s;").logical
    assert ("y" in dict(plan.stream.columns)) == all_columns


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
    ("events apart", "PATTERN SEQ(A, B, C) WHERE A.x < C.x", "no neighbours", "A.x < C.x"),
    ("events apart, if the first is there", "PATTERN SEQ(A?, B, C) WHERE A.x < C.x", "no neighbours", "A.x < C.x"),
    (
        "events of which there may be several",
        "PATTERN SEQ(A, A*, B) WHERE FIRST(A).x < B.x",
        "no neighbours",
        "FIRST(A).x < B.x",
    ),
    ("events up to one", "PATTERN A+ WHERE RUNNING SUM(A.x) < 9", "running", "RUNNING SUM(A.x) < 9"),
    ("all events", "PATTERN A+ WHERE SUM(A.x) < 9", "whole", "SUM(A.x) < 9"),
    ("an event further back", "PATTERN A+ WHERE A.x > PREV(A, 2).x", "no neighbours", "A.x > PREV(A, 2).x"),
    ("neighbours under NEXT", "PATTERN SEQ(A, B) WHERE A.x < B.x SELECT NEXT", "NEXT", "A.x < B.x"),
    ("a condition on what NOT forbids", "PATTERN SEQ(A, NOT C, B) WHERE A.x < C.x", "negated", "A.x < C.x"),
    ("NOT WITHIN", "PATTERN SEQ(A, NOT C WITHIN 2 s)", "NOT", "NOT … WITHIN ends its gap at a time of its own"),
]


@pytest.mark.parametrize("clauses", [c for _, c in COUNTED], ids=[name for name, _ in COUNTED])
def test_counted(clauses: str) -> None:
    counting = planned(f"QUERY q RETURN COUNT(*) AS n {clauses}").counting
    assert isinstance(counting, Countable | CountableNeighbours)


@pytest.mark.parametrize(("clauses", "kind", "text"), [case[1:] for case in LISTED], ids=[case[0] for case in LISTED])
def test_listed_and_what_is_in_the_way(clauses: str, kind: str, text: str) -> None:
    counting = planned(f"QUERY q RETURN COUNT(*) AS n {clauses}").counting
    assert isinstance(counting, Uncountable)
    assert (counting.reason.kind, counting.reason.text) == (kind, text)


def test_a_match_query_lists_its_matches_because_they_are_asked_for() -> None:
    (query,) = compile_text(f"{STREAM}QUERY q RETURN MATCH * PATTERN SEQ(A, B) WITHIN 9 s;").logical.queries
    assert query.counting == Uncountable(Reason("match query"))


def test_who_wants_the_matches_of_a_query_that_could_be_counted_gets_them_listed() -> None:
    program = compile_text(f"{STREAM}QUERY q RETURN COUNT(*) PATTERN SEQ(A+, B) SELECT NEXT WITHIN 9 s;").program
    (counted,), (listed,) = (plan_program(program, listed=listed).plans[0].queries for listed in (False, True))
    assert isinstance(counted.counting, Countable)
    assert listed.counting == Uncountable(Reason("match query"))
    assert counted.select == listed.select
    assert isinstance(listed.select, SelectNext)


@pytest.mark.parametrize("condition", ["", " WHERE A.x < C.x"])
def test_prefixes_are_kept_for_next_alone(condition: str) -> None:
    clauses = f"PATTERN SEQ(A, B, C){condition}"
    selects = ("", " SELECT CONTIGUOUS", " SELECT NEXT")
    found = [planned(f"QUERY q RETURN COUNT(*) AS n {clauses}{select}").select for select in selects]
    assert [type(one) for one in found] == [SelectAny, SelectContiguous, SelectNext]


@pytest.mark.parametrize(
    "pattern", ["SEQ(A, NOT C, B)", "SEQ(A, AND(B, C), D)", "SEQ(A, B{2,30}, C)", "SEQ(NOT C, A, NOT SEQ(B, E), D+)"]
)
def test_who_asks_only_whether_a_pattern_is_too_large_plans_no_small_one(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepc.planning.query.plan_built", None)
    text = f"{STREAM}QUERY q RETURN TRY_COUNT(*) AS n PATTERN {pattern} WITHIN 9 s SLIDE 3 s;"
    assert check_sources([Source("q.cep", text)]).ok


def test_the_positions_of_a_pattern_are_built_once_for_its_warnings_and_to_know_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built: list[str] = []

    def counted(query: Query, letters: Letters) -> Built:
        built.append(query.name)
        return positions_of(query, letters)

    for module in ("automaton.positions", "planning.query"):
        monkeypatch.setattr(f"cepc.{module}.positions_of", counted)
    pattern = "AND(SEQ(A a1, B b1), SEQ(A a2, B b2), SEQ(C c1, D d1), SEQ(C c2, D d2)) WHERE a1.x < d2.x"
    found = check_sources([Source("q.cep", f"{STREAM}QUERY q RETURN COUNT(*) AS n PATTERN {pattern} WITHIN 9 s;")])
    assert built == ["q"]
    assert "W0402" in {d.code for d in found.diagnostics}


@pytest.mark.parametrize("query", ["RETURN COUNT(*) AS n", "RETURN MATCH *"])
def test_a_pattern_that_is_too_large_is_refused_by_check_as_by_planning(query: str) -> None:
    pattern = "AND(" + ", ".join(f"SEQ(A a{i}, B b{i}, C c{i}, D d{i})" for i in range(8)) + ")"
    found = check_sources([Source("q.cep", f"{STREAM}QUERY q {query} PATTERN {pattern} WITHIN 9 s;")])
    assert [d.code for d in found.diagnostics if d.severity == "error"] == ["E0801"]


def test_a_repetition_of_thousands_is_built_without_a_call_for_each() -> None:
    found = check_sources([Source("q.cep", f"{STREAM}QUERY q RETURN MATCH * PATTERN SEQ(A{{0,3000}}, B) WITHIN 9 s;")])
    assert [d for d in found.diagnostics if d.severity == "error"] == []


@pytest.mark.parametrize("condition", ["c.x > a.x", "c.x > b.x AND b.x > a.x"])
def test_a_condition_on_what_a_named_pattern_forbids_is_of_its_negation(condition: str) -> None:
    found = planned(LEG.format(condition=condition) + "QUERY q RETURN COUNT(*) AS n PATTERN leg+")
    assert isinstance(found.counting, Uncountable)
    assert {c.negation for c in found.conditions if "c" in c.variables} == {0}


def test_a_plan_keeps_the_scopes_of_what_is_forbidden() -> None:
    leg = LEG.format(condition="c.x > a.x")
    plan = compile_text(f"{STREAM}{leg}QUERY q RETURN COUNT(*) AS n PATTERN leg+ WITHIN 9 s;").plan
    guards = [guard for edge in plan.queries[0].positions.edges for guard in edge.guards]
    assert [scope for guard in guards for scope in guard.scopes] == [(0, "current")]
    assert from_text_of_plan(to_text(plan)) == plan


def test_what_an_edge_forbids_is_in_order() -> None:
    """So that a job is the same text in every process."""
    forbidden = ", ".join(f"NOT N{n} n{n}" for n in range(12))
    edges = planned(f"QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, {forbidden}, B)").positions.edges
    assert [[guard.negation for guard in edge.guards] for edge in edges if edge.guards] == [list(range(12))]
