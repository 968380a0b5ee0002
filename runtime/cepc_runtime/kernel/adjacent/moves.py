"""Between which states NOT and SELECT move values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...plan.automaton import DROPPED

if TYPE_CHECKING:
    from ...plan.automaton import Automaton


def reachable(automaton: Automaton) -> dict[int, frozenset[int]]:
    """For each state that values are moved from, the states that they can come to. What NOT has seen only grows, so
    never back.
    """
    there: dict[int, set[int]] = {}
    for move in (*automaton.moves, *automaton.new_moves):
        there.setdefault(move.source, set()).update((move.target,) if move.target != DROPPED else ())
    found: dict[int, frozenset[int]] = {}
    for state in there:
        reached: set[int] = set()
        waiting = [state]
        while waiting:
            more = there.get(waiting.pop(), set()) - reached
            reached |= more
            waiting += more
        assert state not in reached
        found[state] = frozenset(reached)
    return found
