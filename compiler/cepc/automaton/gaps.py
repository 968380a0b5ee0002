"""Negation in a deterministic automaton: how far each forbidden pattern has come in the gap that is open.

Progress is kept for every (negation, track) that some way on asks about: the set of the negation's states reached by
the events that were skipped since the gap began, or BROKEN once it is complete.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.positions import Guard, Negation, Positions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

BROKEN = frozenset((-1,))
FRESH: frozenset[int] = frozenset()

GapProgress = frozenset[tuple[Guard, frozenset[int]]]  # entries that are not FRESH

MAX_LETTERS = 5  # of one negation: each set of them is an input of its own


class NotCounted(Exception):  # noqa: N818 - an answer: this query has to be enumerated
    """The kernel cannot count this pattern; `reason` in the user's words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Inputs:
    """What can happen to a negation in one instant.

    `number` names it in the plan's moves, `letters` occur, no others of `alphabet`.
    """

    number: int
    negation: int
    letters: frozenset[int]


def inputs_of(negations: tuple[Negation, ...]) -> tuple[Inputs, ...]:
    """All inputs of all negations.

    What is negated as one event takes its letters one by one, so that few inputs are needed.
    """
    inputs: list[Inputs] = []
    number = 0
    for n, negation in enumerate(negations):
        if negation.within is not None:
            raise NotCounted("NOT … WITHIN ends its gap at a time of its own")
        if any(e.tie for e in negation.positions.edges):
            raise NotCounted("AND inside NOT")
        alphabet = sorted({e.letter for e in negation.positions.edges})
        if is_single(negation.positions):
            inputs += (Inputs(number + i, n, frozenset((letter,))) for i, letter in enumerate(alphabet))
            number += len(alphabet)
            continue
        if len(alphabet) > MAX_LETTERS:
            raise NotCounted(f"a negated sequence of more than {MAX_LETTERS} event classes")
        sets = (frozenset(s) for size in range(1, len(alphabet) + 1) for s in combinations(alphabet, size))
        inputs += (Inputs(number, n, s) for s in sets)
        number += 1
    return tuple(inputs)


def is_single(positions: Positions) -> bool:
    """Is every match one event?"""
    return all(e.source == 0 for e in positions.edges)


def advance(negation: Negation, reached: frozenset[int], letters: frozenset[int]) -> frozenset[int]:
    """Progress after an instant in which events of `letters` were skipped."""
    if reached == BROKEN:
        return BROKEN
    sources = reached | {0}
    new = {e.target for e in negation.positions.edges if e.source in sources and e.letter in letters}
    if any(a.state in new for a in negation.positions.acceptances):
        return BROKEN
    return reached | new


def broken(progress: GapProgress) -> frozenset[Guard]:
    return frozenset(g for g, reached in progress if reached == BROKEN)


def kept(
    progress: Iterable[tuple[Guard, frozenset[int]]], asked: frozenset[Guard], begun: Callable[[Guard], bool]
) -> GapProgress:
    """Progress after reading an event: gaps that have begun anew, and what no way on asks about, are forgotten."""
    return frozenset((g, r) for g, r in progress if g in asked and not begun(g))
