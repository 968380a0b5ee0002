"""A query's automaton with names for its states: a state is called after the variables that lead to it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    return Drawn(names, accepting, tuple(dict.fromkeys(steps)), bool(automaton.moves or automaton.kills))


def state_names(automaton: Automaton) -> tuple[str, ...]:
    """Different names; those that would be equal are numbered in the order of the states.

    >>> from cepc_runtime.plan import Automaton, Step
    >>> state_names(Automaton(4, ("A", "B"), (Step(0, 1, 0, 0), Step(1, 2, 1, 1), Step(2, 3, 1, 1)), (3,)))
    ('start', 'A', 'B', 'B 2')
    """
    variables: defaultdict[int, dict[str, None]] = defaultdict(dict)
    for step in (*automaton.steps, *automaton.ties):
        variables[step.target][automaton.variables[step.variable]] = None
    names = [START]
    seen: Counter[str] = Counter()
    for state in range(1, automaton.states):
        name = " or ".join(variables[state]) or "unreached"
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return tuple(names)
