"""What an instant of one event does to the rows of an automaton, and in which order rows can change in place.

The rows after the instant are a linear function of the rows before it: a row stays, moves or is dropped, and steps add
rows to others. A row changes only when all who read it have; where that cannot be, they read a copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..cheap_dataclass import dataclass
from ..plan.automaton import DROPPED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ..plan.automaton import Automaton, Move

UNBOUND: Final = -1


@dataclass(frozen=True, slots=True)
class RowRead:
    """Row `source`, as it stood before the event, is added to row `target` with the event bound to `variable`."""

    source: int
    target: int
    variable: int = UNBOUND


@dataclass(frozen=True, slots=True)
class Effect:
    """Row s stays if `kept[s]`, else it is emptied; then the reads are added. `starts`: it does something to a query of
    which only the start row is not empty.
    """

    kept: tuple[bool, ...]
    reads: tuple[RowRead, ...]
    starts: bool


def effect(automaton: Automaton, letters: frozenset[int]) -> Effect:
    """What an instant of one event does that satisfies exactly these letters."""
    if letters & set(automaton.kills):
        return Effect((False,) * automaton.states, (), True)
    stands = moved(automaton.moves, letters, automaton.states)
    adds = moved(automaton.new_moves, letters, automaton.states)
    reads = [RowRead(source, target) for source, target in enumerate(stands) if target not in (source, DROPPED)]
    for step in automaton.steps:
        if step.letter in letters and adds[step.target] != DROPPED:
            reads.append(RowRead(step.source, adds[step.target], step.variable))
    kept = tuple(stands[s] == s for s in range(automaton.states))
    return Effect(kept, tuple(reads), not kept[0] or any(read.source == 0 for read in reads))


def moved(moves: Iterable[Move], letters: frozenset[int], states: int) -> list[int]:
    """Where each state's row goes in an instant with exactly these letters; DROPPED if nowhere.

    The moves of one negation happen at once, those of several one negation after the other, in the order of their
    numbers.
    """
    moves = tuple(moves)
    places = list(range(states))
    for negation in sorted({move.negation for move in moves}):
        of_negation = [move for move in moves if move.negation == negation]
        known = frozenset(letter for move in of_negation for letter in move.letters)
        there = {m.source: m.target for m in of_negation if frozenset(m.letters) == letters & known}
        places = [there.get(place, place) if place != DROPPED else DROPPED for place in places]
    return places


@dataclass(frozen=True, slots=True)
class Order:
    """The rows that change, each after all who read it; of those in `copied` they read a copy."""

    rows: tuple[int, ...]
    copied: frozenset[int]


def order(changed: Iterable[int], reads: Mapping[int, Collection[int]], copied: Iterable[int] = ()) -> Order:
    """An order for rows of which `reads[target]` are the sources. A row that reads itself does so before it changes
    otherwise; one that cannot is in `copied`.
    """
    copies = set(copied)
    waiting = {s: {t for t, sources in reads.items() if t != s and s in sources} for s in changed}
    rows: list[int] = []
    while waiting:
        ready = [s for s, readers in waiting.items() if s in copies or not readers & waiting.keys()]
        if not ready:
            copies.add(min(waiting))
            continue
        for s in ready:
            del waiting[s]
        rows += ready
    return Order(tuple(rows), frozenset(copies))


def reached(states: Iterable[int], after: Mapping[int, Collection[int]]) -> frozenset[int]:
    """These states, or rows, and all that come after them."""
    found = set(states)
    waiting = list(found)
    while waiting:
        new = {*after.get(waiting.pop(), ())} - found
        found |= new
        waiting += new
    return frozenset(found)
