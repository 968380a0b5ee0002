"""A pattern in its deterministic form: one path is one *match*. It drives the counting kernel."""

from __future__ import annotations

from typing import Final

from ..cheap_dataclass import dataclass

DROPPED: Final = -1
"""Instead of a state to which something moves."""


@dataclass(frozen=True, slots=True)
class Step:
    """Reading an event of `letter`, a value in `source` adds to `target`.

    `variable` is the index of the variable bound.
    """

    source: int
    target: int
    letter: int
    variable: int


@dataclass(frozen=True, slots=True)
class Move:
    """When an instant has events of exactly the letters `letters` among those of negation `negation`, what is in
    `source` moves to `target`, or is DROPPED.
    """

    negation: int
    letters: tuple[int, ...]
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Automaton:
    """State 0 is the start: it holds 1 when a window opens. One match is one accepted word.

    In an instant, `steps` read what stood before it, `ties` what canonically earlier events of the same instant have
    added. Then `moves` apply to what stood before the instant and `new_moves` to what it added. `kills`: letters of
    window-wide negations; an instant with one empties everything of every window it lies in, for good. No step leads
    into state 0.
    """

    states: int
    variables: tuple[str, ...]
    steps: tuple[Step, ...]
    accepting: tuple[int, ...]
    ties: tuple[Step, ...] = ()
    moves: tuple[Move, ...] = ()
    new_moves: tuple[Move, ...] = ()
    kills: tuple[int, ...] = ()

    @property
    def negation_letters(self) -> dict[int, frozenset[int]]:
        """For each negation, the letters that some move of it mentions."""
        found: dict[int, frozenset[int]] = {}
        for move in (*self.moves, *self.new_moves):
            found[move.negation] = found.get(move.negation, frozenset()) | set(move.letters)
        return found

    @property
    def letters(self) -> frozenset[int]:
        """All letters that something mentions."""
        moves = (letter for move in (*self.moves, *self.new_moves) for letter in move.letters)
        return frozenset([*(step.letter for step in (*self.steps, *self.ties)), *moves, *self.kills])
