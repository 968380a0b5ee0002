"""A query's automaton, or the places of its pattern, with names: a state is called after the variables that lead to it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import chain, count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cepc_runtime.plan import Automaton, QueryPlan

START = "start"


@dataclass(frozen=True, slots=True)
class Step:
    """`ties`: the event belongs to the same instant as the one before it."""

    source: str
    target: str
    variable: str
    ties: bool = False


@dataclass(frozen=True, slots=True)
class Drawn:
    """`guarded`: a NOT moves or drops what stands in some states."""

    states: tuple[str, ...]
    accepting: tuple[str, ...]
    steps: tuple[Step, ...]
    guarded: bool


def drawn(query: QueryPlan) -> Drawn | None:
    """None for a query whose matches are enumerated."""
    automaton = query.automaton
    if automaton is None:
        return None
    names = state_names(automaton)
    steps = [
        Step(names[s.source], names[s.target], automaton.variables[s.variable], bool(ties))
        for ties, found in enumerate((automaton.steps, automaton.ties))
        for s in found
    ]
    accepting = tuple(names[state] for state in automaton.accepting)
    return Drawn(names, accepting, tuple(dict.fromkeys(steps)), bool(query.positions.negations))


def places(query: QueryPlan) -> Drawn:
    """The places of the pattern, along which matches are listed."""
    found = query.positions
    names = _names(found.states, ((edge.target, edge.variable) for edge in found.edges))
    steps = (Step(names[e.source], names[e.target], e.variable, e.tie) for e in found.edges)
    accepting = dict.fromkeys(names[acceptance.state] for acceptance in found.acceptances)
    return Drawn(names, tuple(accepting), tuple(dict.fromkeys(steps)), bool(found.negations))


def state_names(automaton: Automaton) -> tuple[str, ...]:
    """Different names; those that would be equal are numbered in the order of the states.

    >>> from cepc_runtime.plan import Automaton, Step
    >>> state_names(Automaton(4, ("A", "B"), (Step(0, 1, 0, 0), Step(1, 2, 1, 1), Step(2, 3, 1, 1)), (3,)))
    ('start', 'A', 'B', 'B 2')
    """
    steps = (*automaton.steps, *automaton.ties)
    return _names(automaton.states, ((step.target, automaton.variables[step.variable]) for step in steps))


def _names(states: int, arrivals: Iterable[tuple[int, str]]) -> tuple[str, ...]:
    variables: defaultdict[int, dict[str, None]] = defaultdict(dict)
    for target, variable in arrivals:
        variables[target][variable] = None
    names = {START: None}
    for state in range(1, states):
        name = " or ".join(variables[state]) or "unreached"
        choices = chain((name,), (f"{name} {number}" for number in count(2)))
        names[next(choice for choice in choices if choice not in names)] = None
    return tuple(names)
