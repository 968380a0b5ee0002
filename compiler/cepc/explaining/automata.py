"""A query's automaton, or the places of its pattern, with names: a state is called after the variables that lead to
it.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain, count
from types import MappingProxyType
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.automaton import DROPPED

from ..planning.logical import Uncountable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cepc_runtime.plan.automaton import Automaton, Move
    from cepc_runtime.plan.query import QueryPlan

    from ..planning.logical import Countability, LogicalQuery

START = "start"


@dataclass(frozen=True, slots=True)
class NamedStep:
    """`ties`: the event belongs to the same instant as the one before it. `moves`: no event of a match is read, but one
    that NOT watches for, and what stands in the source stands in the target from then on.
    """

    source: str
    target: str
    variable: str
    ties: bool = False
    moves: bool = False


@dataclass(frozen=True, slots=True)
class Drawn:
    """`guarded`: a NOT moves or drops what stands in some states."""

    states: tuple[str, ...]
    accepting: tuple[str, ...]
    steps: tuple[NamedStep, ...]
    guarded: bool


def drawn(query: LogicalQuery[Countability]) -> Drawn | None:
    """None for a query whose matches cannot be counted."""
    if isinstance(query.counting, Uncountable):
        return None
    automaton = query.counting.automaton
    names = state_names(automaton)
    steps = [
        NamedStep(names[s.source], names[s.target], automaton.variables[s.variable], bool(ties))
        for ties, found in enumerate((automaton.steps, automaton.ties))
        for s in found
    ]
    steps += (NamedStep(names[m.source], names[m.target], "NOT", moves=True) for m in _moves(automaton))
    accepting = tuple(names[state] for state in automaton.accepting)
    return Drawn(names, accepting, tuple(dict.fromkeys(steps)), bool(query.positions.negations))


def places(query: QueryPlan) -> Drawn:
    """The places of the pattern, along which matches are listed."""
    found = query.positions
    names = _names(found.states, ((edge.target, edge.variable) for edge in found.edges))
    steps = (NamedStep(names[e.source], names[e.target], e.variable, e.tie) for e in found.edges)
    accepting = dict.fromkeys(names[acceptance.state] for acceptance in found.acceptances)
    return Drawn(names, tuple(accepting), tuple(dict.fromkeys(steps)), bool(found.negations))


def state_names(automaton: Automaton) -> tuple[str, ...]:
    """Different names; those that would be equal are numbered in the order of the states.

    >>> from cepc_runtime.plan.automaton import Automaton, Step
    >>> state_names(Automaton(4, ("A", "B"), (Step(0, 1, 0, 0), Step(1, 2, 1, 1), Step(2, 3, 1, 1)), (3,)))
    ('start', 'A', 'B', 'B 2')
    """
    steps = (*automaton.steps, *automaton.ties)
    arrivals = ((step.target, automaton.variables[step.variable]) for step in steps)
    return _names(automaton.states, arrivals, {move.target: move.source for move in reversed(_moves(automaton))})


def _moves(automaton: Automaton) -> list[Move]:
    """Those after which something still stands."""
    return [move for move in (*automaton.moves, *automaton.new_moves) if move.target != DROPPED]


def _names(
    states: int, arrivals: Iterable[tuple[int, str]], moved: Mapping[int, int] = MappingProxyType({})
) -> tuple[str, ...]:
    """A state that only moves lead to (`moved`: from where) is called after the state where they begin."""
    variables: defaultdict[int, dict[str, None]] = defaultdict(dict)
    for target, variable in arrivals:
        variables[target][variable] = None
    names = {START: None}
    for state in range(1, states):
        name = " or ".join(variables[state]) or f"{_before(state, variables, moved)} past NOT"
        choices = chain((name,), (f"{name} {number}" for number in count(2)))
        names[next(choice for choice in choices if choice not in names)] = None
    return tuple(names)


def _before(state: int, variables: Mapping[int, Iterable[str]], moved: Mapping[int, int]) -> str:
    seen: set[int] = set()
    while state in moved and not variables.get(state) and state not in seen:
        seen.add(state)
        state = moved[state]
    return " or ".join(variables.get(state, ())) or START
