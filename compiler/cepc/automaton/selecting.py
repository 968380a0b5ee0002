"""SELECT NEXT and CONTIGUOUS while counting: one number for each state is enough, because what is skipped drops values.

A partial match that an event makes stale can never go on, but a complete match stays. So every state has a *settled*
twin with no ways on, for matches that end there: each step leads to the state and to its twin, only twins accept, and
only the others lose their values. What NOT does to values it does to both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_runtime.plan.automaton import DROPPED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cepc_runtime.plan.automaton import Automaton, Move, Step


def settled(step: Step, automaton: Automaton) -> Step:
    """The step to the settled twin, in an automaton with twins."""
    return replace(step, target=automaton.states // 2 + step.target)


def settling(automaton: Automaton, stale: Iterable[Move]) -> Automaton:
    """The automaton with settled twins, where the moves `stale` drop what may not be skipped past."""
    size = automaton.states

    def also_settled(steps: tuple[Step, ...]) -> tuple[Step, ...]:
        return (*steps, *(replace(s, target=size + s.target) for s in steps))

    def of_both(moves: tuple[Move, ...]) -> tuple[Move, ...]:
        twins = (
            replace(m, source=size + m.source, target=DROPPED if m.target == DROPPED else size + m.target)
            for m in moves
        )
        return (*moves, *twins)

    return replace(
        automaton,
        states=2 * size,
        steps=also_settled(automaton.steps),
        ties=also_settled(automaton.ties),
        accepting=tuple(size + s for s in automaton.accepting),
        moves=(*of_both(automaton.moves), *stale),
        new_moves=of_both(automaton.new_moves),
    )
