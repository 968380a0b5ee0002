"""What an instant of one event does to a query's rows, as a short list of operations in place.

The rows after the instant are a linear function of the rows before it: a row stays, moves or is dropped, and steps add rows to
others. The operations are ordered so that a row changes only when all who read it have; where that cannot be, they read a copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..plan import Automaton, Move

COPY: Final = 0
ZERO: Final = 1
ADD: Final = 2

UNBOUND: Final = -1
DROPPED: Final = -1


@dataclass(frozen=True, slots=True)
class Operation:
    """Row `target` becomes row `source` (COPY) or zero (ZERO), or gets row `source` added with the event bound to `variable`."""

    code: int
    source: int
    target: int
    variable: int = UNBOUND


@dataclass(frozen=True, slots=True)
class Program:
    """`rows` counts the states and the copies after them. `starts`: it does something to a query of which only the start row
    is not zero.
    """

    operations: tuple[Operation, ...]
    rows: int
    starts: bool


def program(automaton: Automaton, letters: frozenset[int]) -> Program:
    """The operations of an instant of one event that satisfies exactly these letters."""
    if letters & set(automaton.kills):
        zeros = tuple(Operation(ZERO, s, s) for s in range(automaton.states))
        return Program(zeros, automaton.states, True)
    stands = moved(automaton.moves, letters, automaton.states)
    adds = moved(automaton.new_moves, letters, automaton.states)
    reads: dict[int, list[tuple[int, int]]] = {}  # target: (source, variable) of what is added to it
    for source, target in enumerate(stands):
        if target not in (source, DROPPED):
            reads.setdefault(target, []).append((source, UNBOUND))
    for step in automaton.steps:
        if step.letter in letters and adds[step.target] != DROPPED:
            reads.setdefault(adds[step.target], []).append((step.source, step.variable))
    kept = [stands[s] == s for s in range(automaton.states)]
    starts = not kept[0] or any(source == 0 for found in reads.values() for source, _ in found)
    return Program(*_ordered(automaton.states, kept, reads), starts)


def moved(moves: Iterable[Move], letters: frozenset[int], states: int) -> list[int]:
    """Where each state's row goes in an instant with exactly these letters; DROPPED if nowhere.

    The moves of one negation happen at once, those of several one negation after the other, in the order of their numbers.
    """
    moves = tuple(moves)
    places = list(range(states))
    for negation in sorted({move.negation for move in moves}):
        of_negation = [move for move in moves if move.negation == negation]
        known = frozenset(letter for move in of_negation for letter in move.letters)
        there = {m.source: m.target for m in of_negation if frozenset(m.letters) == letters & known}
        places = [there.get(place, place) if place != DROPPED else DROPPED for place in places]
    return places


def _ordered(
    states: int, kept: list[bool], reads: dict[int, list[tuple[int, int]]]
) -> tuple[tuple[Operation, ...], int]:
    """The operations in an order in which each row is read before it changes, and the number of rows with copies."""
    changed = [s for s in range(states) if s in reads or not kept[s]]
    waiting = {
        s: {t for t, found in reads.items() if t != s and any(source == s for source, _ in found)} for s in changed
    }
    copies: dict[int, int] = {}
    for s in changed:  # a row that reads itself may do so first, once, unless it is emptied
        if sum(source == s for source, _ in reads.get(s, ())) > (1 if kept[s] else 0):
            copies[s] = states + len(copies)
    order: list[int] = []
    while waiting:
        ready = [s for s, readers in waiting.items() if s in copies or not readers & waiting.keys()]
        if not ready:
            first = min(waiting)
            copies[first] = states + len(copies)
            continue
        for s in ready:
            del waiting[s]
        order += ready
    operations = [Operation(COPY, s, copy) for s, copy in copies.items()]
    for s in order:
        found = sorted(reads.get(s, ()), key=lambda read: read[0] != s)
        if not kept[s]:
            operations.append(Operation(ZERO, s, s))
        operations += [Operation(ADD, copies.get(source, source), s, variable) for source, variable in found]
    return tuple(operations), states + len(copies)
