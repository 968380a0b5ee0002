"""How large a deterministic automaton can be, told from the positions without building it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cepc_runtime.plan.positions import Positions


MAX_STATES = 600


def surely_within(positions: Positions, most: int) -> bool:
    """True if the automaton of these positions has at most so many states, selected or not; False says nothing.

    A state is a set of configurations, and a single one where no word can be read in two ways. A configuration is a
    position, with what each guard has seen and the tracks of the instant.
    """
    guards = {g for edge in positions.edges for g in edge.guards} | {g for a in positions.acceptances for g in a.guards}
    seen = sum(positions.negations[guard.negation].positions.states - 1 for guard in guards)
    doublings = seen + positions.tracks - 1
    if doublings >= most:
        return False
    configurations = positions.states << doublings
    return configurations <= most and (not positions.ambiguous or 1 << configurations <= most)
