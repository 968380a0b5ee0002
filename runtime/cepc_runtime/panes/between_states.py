"""What leads from one state of an automaton to another: the same for all queries that have it, whatever else is in
their patterns.

An entry of a pane's matrix depends on nothing but the steps between its two states. Two entries of two queries with the
same steps, up to the numbers of states and variables, are one number. Imports no numpy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..plan.automaton import Automaton, Step

    LabelledStep = tuple[Step, bool]


@dataclass(frozen=True, slots=True)
class Shape:
    """Steps as (source, target, letter, variable, whether a tie), from state 0 to state `end`."""

    steps: tuple[tuple[int, int, int, int, bool], ...]
    end: int


@dataclass(frozen=True, slots=True)
class Way:
    """From a state to another of an automaton. `variables[v]` is the shape's number for its variable v, of those that
    can be bound.
    """

    shape: Shape
    variables: Mapping[int, int]


def ways_of(automaton: Automaton) -> dict[tuple[int, int], Way]:
    """Between all states that lie on some match. A state without a way back to itself has none to itself: it stays as
    it is.
    """
    steps = [*((step, False) for step in automaton.steps), *((step, True) for step in automaton.ties)]
    ahead = _ahead(automaton.states, automaton.steps + automaton.ties)
    useful = [state for state in range(automaton.states) if ahead[state] & set(automaton.accepting)]
    found = {}
    for i in sorted(ahead[0] & set(useful)):
        for j in sorted(ahead[i] & set(useful)):
            inside = [(s, tie) for s, tie in steps if s.source in ahead[i] and j in ahead[s.target]]
            if inside:
                found[i, j] = _way(i, j, inside)
    return found


def count_of_ways(automaton: Automaton) -> int:
    """How many ways `ways_of` would find, which takes much longer: each is a walk through a part of the automaton."""
    steps = automaton.steps + automaton.ties
    ahead = _ahead(automaton.states, steps)
    useful = {state for state in range(automaton.states) if ahead[state] & set(automaton.accepting)}
    looping = {step.source for step in steps if step.source in ahead[step.target]}
    return sum(len(ahead[i] & useful) - (i not in looping) for i in ahead[0] & useful)


def _ahead(states: int, steps: Iterable[Step]) -> list[frozenset[int]]:
    """The states that each one leads to, itself among them."""
    found = [{state} for state in range(states)]
    grown = True
    while grown:
        grown = False
        for step in reversed(tuple(steps)):  # most lead to states of higher numbers
            before = len(found[step.source])
            found[step.source] |= found[step.target]
            grown |= len(found[step.source]) > before
    return [frozenset(some) for some in found]


def _way(start: int, end: int, steps: list[LabelledStep]) -> Way:
    """States and variables numbered in the order of a walk from the start."""
    leaving: dict[int, list[LabelledStep]] = {}
    for step, tie in sorted(steps, key=lambda s: (s[0].letter, s[1], s[0].variable, s[0].target)):
        leaving.setdefault(step.source, []).append((step, tie))
    states, variables = {start: 0}, dict[int, int]()
    waiting = [start]
    for state in waiting:  # which grows
        for step, _ in leaving.get(state, []):
            variables.setdefault(step.variable, len(variables))
            if step.target not in states:
                states[step.target] = len(states)
                waiting.append(step.target)
    shape = sorted((states[s.source], states[s.target], s.letter, variables[s.variable], tie) for s, tie in steps)
    return Way(Shape(tuple(shape), states[end]), variables)


def from_to(automaton: Automaton, start: int, end: int) -> Automaton:
    """The automaton that accepts what leads from one state to another."""
    number = {0: start, start: 0}  # the two change places
    return replace(
        automaton,
        steps=tuple(
            replace(s, source=number.get(s.source, s.source), target=number.get(s.target, s.target))
            for s in automaton.steps
        ),
        ties=tuple(
            replace(s, source=number.get(s.source, s.source), target=number.get(s.target, s.target))
            for s in automaton.ties
        ),
        accepting=(number.get(end, end),),
    )
