"""What queries share, as the plan says it and as the kernel carries it out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cepc_runtime import plan_data
from cepc_runtime.plan import Member, Plan, SharedStates
from tests.automata import automaton, plan, query

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
