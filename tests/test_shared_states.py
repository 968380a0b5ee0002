"""What queries share, as the plan says it and as the kernel carries it out."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepc_runtime import plan_data
from cepc_runtime.aggregate import run_aggregates
from cepc_runtime.kernel.basis import Costs
from cepc_runtime.plan import Member, Plan, QueryPlan, SharedStates
from tests.automata import (
    WINDOWS,
    automaton,
    brute_force,
    events,
    expected_rows,
    plan,
    query,
    sorted_rows,
    table,
)
from tests.test_kernel import AUTOMATA, RETURNS

if TYPE_CHECKING:
    from collections.abc import Iterator

SEQ = query(automaton("0 A 1, 1 B 2", [2]), name="a")
LONG = query(automaton("0 C 1, 1 A 2, 2 B 3", [3]), 50, name="b")
MIDDLE = SharedStates((Member("a", (1, 2)), Member("b", (2, 3))), basis=True)


def shared(*parts: SharedStates) -> Plan:
    return replace(plan(SEQ, LONG), sharing=parts)


# ---- the plan --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parts", [(), (MIDDLE,), (SharedStates((Member("a", (0,)), Member("b", (0,))), True), MIDDLE)])
def test_what_is_shared_travels_with_the_plan(parts: tuple[SharedStates, ...]) -> None:
    assert plan_data.from_text_of_plan(plan_data.to_text(shared(*parts))) == shared(*parts)


def test_members_have_equally_many_states() -> None:
    with pytest.raises(ValueError, match="different numbers"):
        SharedStates((Member("a", (1,)), Member("b", (1, 2))))


def test_a_state_is_shared_once() -> None:
    with pytest.raises(ValueError, match="state 2 of query b is shared twice"):
        shared(MIDDLE, SharedStates((Member("b", (1, 2)),)))
    assert shared(MIDDLE, SharedStates((Member("b", (1,)),))).sharing[1].members[0].query == "b"


def test_one_stands_for_those_that_are_kept_with_it() -> None:
    twin = query(automaton("0 A 1, 1 B 2", [2]), name="twin")
    equal = SharedStates((Member("a", (0, 1, 2)), Member("twin", (0, 1, 2))), equal=True)
    both = replace(plan(SEQ, LONG, twin), sharing=(equal, MIDDLE))
    assert plan_data.from_text_of_plan(plan_data.to_text(both)) == both
    with pytest.raises(ValueError, match="state 1 of query twin is kept with another"):
        replace(both, sharing=(equal, SharedStates((Member("twin", (1,)), Member("b", (2,))))))


@pytest.mark.parametrize("basis", [False, True])
def test_what_is_kept_once_may_lie_beside_others(basis: bool) -> None:
    """The rows are those of the queries by themselves, for the leader, who it stands for, and the neighbour."""
    twin = query(automaton("0 A 1, 1 B 2", [2]), name="twin")
    equal = SharedStates((Member("a", (0, 1, 2)), Member("twin", (0, 1, 2))), equal=True)
    alone = plan(SEQ, LONG, twin)
    letters = enumerate("CABBACABBB")
    events = table([((0, 1, 2, 3, 3, 5, 6, 7, 8, 60)[i], letter, "g", 1) for i, letter in letters])
    shared_rows = run_aggregates(events, replace(alone, sharing=(equal, replace(MIDDLE, basis=basis))))
    rows = run_aggregates(events, alone)
    assert [rows[name].num_rows > 0 for name in ("a", "b", "twin")] == [True, True, True]
    for name, found in rows.items():
        assert sorted(map(str, found.to_pylist())) == sorted(map(str, shared_rows[name].to_pylist()))


# ---- any alignment gives the right rows ------------------------------------------------------------------------------

DECISIONS = {"as it pays": 1.0, "always": -1e15, "never": 1e15}


@contextmanager
def deciding(decision: str) -> Iterator[None]:
    """Runs are shared or split as said."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cepc_runtime.kernel.tables.Costs", partial(Costs, application=DECISIONS[decision]))
        yield


@st.composite
def workloads(draw: st.DrawFn) -> list[QueryPlan]:
    """Queries of a few automata, some of them alike, with windows of their own."""
    names = draw(st.lists(st.sampled_from(sorted(AUTOMATA)), min_size=1, max_size=2))
    found = []
    for number in range(draw(st.integers(1, 4))):
        window = draw(st.one_of(st.just((6, 2)), WINDOWS))
        returns = draw(st.sets(st.sampled_from(range(len(RETURNS)))))
        found.append(
            query(
                AUTOMATA[draw(st.sampled_from(names))],
                *window,
                name=f"q{number}",
                returns=[RETURNS[i] for i in sorted(returns)],
            )
        )
    return found


@st.composite
def alignments(draw: st.DrawFn, queries: list[QueryPlan]) -> tuple[SharedStates, ...]:
    """States of queries side by side: mostly the same states of each, sometimes any."""
    free = {q.name: list(range(q.automaton.states)) for q in queries if q.automaton}
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        members: list[Member] = []
        wanted = draw(st.lists(st.integers(0, 3), min_size=1, max_size=4, unique=True))
        for name in draw(st.permutations(sorted(free))):
            states = wanted if draw(st.integers(0, 3)) else draw(st.permutations(free[name]))[: len(wanted)]
            if len(states) == len(wanted) and {*states} <= {*free[name]}:
                free[name] = [s for s in free[name] if s not in states]
                members.append(Member(name, tuple(states)))
        if members:
            parts.append(SharedStates(tuple(members), basis=draw(st.booleans())))
    return tuple(parts)


def twins(queries: list[QueryPlan]) -> tuple[list[QueryPlan], tuple[SharedStates, ...]]:
    """Each query and another with the same pattern and windows that returns something else, kept once."""
    found, parts = list(queries), []
    for q in queries:
        assert q.automaton is not None
        other = query(q.automaton, q.within, q.slide, name=f"{q.name}'", returns=RETURNS[:5])
        states = tuple(range(q.automaton.states))
        found.append(other)
        parts.append(SharedStates((Member(q.name, states), Member(other.name, states)), equal=True))
    return found, tuple(parts)


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("interpreted", [True, False])
@given(data=st.data())
def test_rows_do_not_depend_on_what_is_shared(decision: str, interpreted: bool, data: st.DataObject) -> None:
    queries = data.draw(workloads())
    parts = data.draw(alignments(queries))
    if data.draw(st.booleans()):
        queries, equal = twins(queries)
        parts = (*equal, *parts)
    rows = data.draw(events(most=12))
    both = replace(plan(*queries), sharing=parts)
    with deciding(decision):
        found = run_aggregates(table(rows), both, interpreted=interpreted)
        some = [q for q in queries if data.draw(st.booleans())]
        left = run_aggregates(table(rows), both, some, interpreted=interpreted)
    for q in queries:
        expected = sorted_rows(expected_rows(q, brute_force(q, rows)))
        assert sorted_rows(found[q.name].to_pylist()) == expected, q.name
        if q in some:
            assert sorted_rows(left[q.name].to_pylist()) == expected, q.name
