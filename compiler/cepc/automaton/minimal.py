"""Merging states of a deterministic automaton that go on alike (Moore's refinement)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_runtime.plan.automaton import DROPPED

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from typing import TypeVar

    from cepc_runtime.plan.automaton import Automaton, Move, Step
    from cepc_runtime.sql.expression import Expression

    Key = TypeVar("Key", bound=Hashable)


def minimal(automaton: Automaton, conditions: Mapping[Step, Expression]) -> tuple[Automaton, dict[Step, Expression]]:
    """The automaton with one state for all that go on alike, useless states left out, and the conditions of its steps.

    The start stays alone: no step may lead into it. With conditions, whose values belong to the event last read, states
    also have to be reached by the same variables to be merged.
    """
    alive = _alive(automaton)
    classes = _classes(automaton, conditions, alive)
    order = sorted(set(classes.values()), key=lambda c: min(s for s, k in classes.items() if k == c))
    number = {c: i for i, c in enumerate(order)}

    def of(state: int) -> int:
        return number[classes[state]]

    def steps(old: tuple[Step, ...]) -> dict[Step, Step]:
        return {
            replace(s, source=of(s.source), target=of(s.target)): s
            for s in old
            if s.source in alive and s.target in alive
        }

    def moves(old: tuple[Move, ...]) -> tuple[Move, ...]:
        renamed = (
            replace(m, source=of(m.source), target=of(m.target) if m.target in alive else DROPPED)
            for m in old
            if m.source in alive
        )
        return tuple(dict.fromkeys(m for m in renamed if m.source != m.target))

    new_steps = steps(automaton.steps)
    small = replace(
        automaton,
        states=len(order),
        steps=tuple(new_steps),
        ties=tuple(steps(automaton.ties)),
        accepting=tuple(sorted({of(s) for s in automaton.accepting})),
        moves=moves(automaton.moves),
        new_moves=moves(automaton.new_moves),
    )
    return small, {new: conditions[old] for new, old in new_steps.items() if old in conditions}


def _alive(automaton: Automaton) -> set[int]:
    """States from which a match can still be completed, and the start."""
    back: dict[int, set[int]] = {}
    edges: tuple[Step | Move, ...] = (*automaton.steps, *automaton.ties, *automaton.moves, *automaton.new_moves)
    for edge in edges:
        back.setdefault(edge.target, set()).add(edge.source)
    alive, queue = {0, *automaton.accepting}, list(automaton.accepting)
    while queue:
        for source in back.get(queue.pop(), ()):
            if source not in alive:
                alive.add(source)
                queue.append(source)
    return alive


def _classes(automaton: Automaton, conditions: Mapping[Step, Expression], alive: set[int]) -> dict[int, int]:
    arrivals: dict[int, frozenset[int]] = {}
    if conditions:
        for step in automaton.steps:
            arrivals[step.target] = arrivals.get(step.target, frozenset()) | {step.variable}
        changed = True
        while changed:
            changed = False
            for move in automaton.moves:
                more = arrivals.get(move.target, frozenset()) | arrivals.get(move.source, frozenset())
                if move.target != DROPPED and more != arrivals.get(move.target, frozenset()):
                    arrivals[move.target] = more
                    changed = True
    first = {
        s: (s if s == 0 else -1, s in automaton.accepting, arrivals.get(s))
        for s in range(automaton.states)
        if s in alive
    }
    classes = numbered(first)
    out: dict[int, list[tuple[object, int]]] = {s: [] for s in alive}
    for kind, steps in (("step", automaton.steps), ("tie", automaton.ties)):
        for step in steps:
            if step.source in alive and step.target in alive:
                out[step.source].append(((kind, step.letter, step.variable, conditions.get(step)), step.target))
    for kind, moves in (("move", automaton.moves), ("new", automaton.new_moves)):
        for move in moves:
            if move.source in alive:
                out[move.source].append(
                    ((kind, move.negation, move.letters), move.target if move.target in alive else DROPPED)
                )
    while True:
        refined = numbered(
            {s: (classes[s], frozenset((what, classes.get(t, -1)) for what, t in out[s])) for s in classes}
        )
        if len(set(refined.values())) == len(set(classes.values())):
            return classes
        classes = refined


def numbered(kinds: Mapping[Key, Hashable]) -> dict[Key, int]:
    """Equal ones get equal numbers, from 0."""
    numbers: dict[Hashable, int] = {}
    return {key: numbers.setdefault(kind, len(numbers)) for key, kind in kinds.items()}
