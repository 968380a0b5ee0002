"""What queries share, as the plan says it and as the kernel carries it out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cepc_runtime import plan_data
from cepc_runtime.aggregate import run_aggregates
from cepc_runtime.plan import Member, Plan, SharedStates
from tests.automata import automaton, plan, query, table

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
