"""One window of one group once more, in numbers of many digits and machine code: what `exact.py` does in Python's
integers, where it is known how many digits are enough.
"""

from __future__ import annotations

from collections import Counter
from math import isfinite, log2
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..cheap_dataclass import dataclass
from ..events.letter_words import BITS as LETTERS
from ..numbers.columns import combine_codes, dense
from . import digits
from .digits import BITS, DigitMemory, DigitWindow, Moves
from .effects import moved
from .machine_code import run_function

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..events.grouped import Events
    from ..events.letters import Kinds
    from ..numbers.columns import Floats, Ints
    from ..plan.automaton import Automaton, Step
    from .planes import Plane
    from .values import Values

SMALL: Final = 2.0**61
"""A number that an event adds is smaller: a float says so, which may be a little off."""


@dataclass(frozen=True)
class Long:
    """A query's windows in long numbers; `numbers` are those that events add, a row for each track. An event of a kind
    makes counts `growth[kind]` bits longer at most.
    """

    automaton: Automaton
    moves: Moves
    kinds: Ints
    instants: Ints
    letters: Ints
    variables: Ints
    numbers: Ints
    largest: int
    growth: Floats

    def totals(self, first: int, end: int, about: float, interpreted: bool | None = None) -> list[int] | None:
        """The count and the tracks over the events from `first`, before `end`, where instants begin; None where
        Python's integers are as good. `about` is the count as a float.
        """
        states, width = self.automaton.states, 1 + len(self.variables)
        run = run_function(digits, (end - first) * states * width, interpreted)
        if run is digits.run and not interpreted:
            return None
        most = log2(max(about, 1.0)) if isfinite(about) else float(self.growth[self.kinds[first:end]].sum())
        # A float of so many roundings is off by less than half; a track is a sum over the events of each match; and
        # there is a sign.
        bits = int(most) + 2 + (end - first).bit_length() + self.largest.bit_length() + 1
        shape = states, width, -(-bits // BITS)
        memory = DigitMemory(*(np.zeros(shape, dtype=np.int64) for _ in range(3)))
        memory.rows[0, 0, 0] = 1
        low, high = np.searchsorted(self.instants, [first, end]).tolist()
        window = DigitWindow(
            self.kinds, self.instants[low : high + 1], self.letters[low:high], self.variables, self.numbers
        )
        if run(self.moves, window, memory):
            return [0] * width
        return [_number(memory.rows[list(self.automaton.accepting), number]) for number in range(width)]


def long_of(automaton: Automaton, events: Events, kinds: Kinds, planes: Sequence[Plane], values: Values) -> Long | None:
    """None where an event adds a float, or a number of more than 61 bits."""
    rows = [values.small(plane.value, SMALL) for plane in planes]
    found = [row for row in rows if row is not None]
    if len(found) < len(rows):
        return None
    numbers = np.stack(found) if found else np.empty((0, events.length), dtype=np.int64)
    letters, sets = _letters_of_instants(automaton, events, kinds)
    return Long(
        automaton,
        _moves(automaton, kinds.letters, sets),
        kinds.of.astype(np.int64),
        events.instant_starts.astype(np.int64),
        letters,
        np.array([plane.variable for plane in planes], dtype=np.int64),
        numbers,
        max(1, int(np.abs(numbers).max(initial=0))),
        np.array([log2(1 + _fan(automaton, letters)) for letters in kinds.letters]),
    )


def _fan(automaton: Automaton, letters: frozenset[int]) -> int:
    """To how many rows an event adds what one of them holds, at most."""
    sources = Counter(step.source for step in (*automaton.steps, *automaton.ties) if step.letter in letters)
    return max(sources.values(), default=0)


def _moves(automaton: Automaton, kinds: Sequence[frozenset[int]], sets: Sequence[frozenset[int]]) -> Moves:
    begins, steps = _by_kind(automaton.steps, kinds)
    tie_begins, ties = _by_kind(automaton.ties, kinds)
    places = [moved(automaton.moves, letters, automaton.states) for letters in sets]
    new_places = [moved(automaton.new_moves, letters, automaton.states) for letters in sets]
    kills = [bool(letters & set(automaton.kills)) for letters in sets]
    return Moves(begins, steps, tie_begins, ties, _ints(places), _ints(new_places), _ints(kills))


def _by_kind(steps: Sequence[Step], kinds: Sequence[frozenset[int]]) -> tuple[Ints, Ints]:
    found = [[(s.source, s.target, s.variable) for s in steps if s.letter in letters] for letters in kinds]
    begins = np.cumsum([0, *map(len, found)], dtype=np.int64)
    return begins, _ints([step for own in found for step in own]).reshape(-1, 3)


def _letters_of_instants(automaton: Automaton, events: Events, kinds: Kinds) -> tuple[Ints, list[frozenset[int]]]:
    """For each instant the number of the letters that it has, of those that say what happens to rows; and the
    letters.
    """
    starts = events.instant_starts
    telling = frozenset(automaton.kills).union(*automaton.negation_letters.values())
    if not telling:
        return np.zeros(len(starts) - 1, dtype=np.int64), [frozenset()]
    order = sorted(telling)
    words = [
        np.bitwise_or.reduceat(_ints([_bits(letters, part) for letters in kinds.letters])[kinds.of], starts[:-1])
        for part in (order[low : low + LETTERS] for low in range(0, len(order), LETTERS))
    ]
    coded = [(numbers, len(first)) for numbers, first in map(dense, words)]
    found, first = dense(combine_codes(coded, len(starts) - 1)[0])
    return found, [
        frozenset(x for n, x in enumerate(order) if words[n // LETTERS][place] >> n % LETTERS & 1) for place in first
    ]


def _bits(letters: frozenset[int], wanted: Sequence[int]) -> int:
    return sum(1 << place for place, letter in enumerate(wanted) if letter in letters)


def _ints(numbers: Iterable[Any]) -> Ints:
    return np.array(list(numbers), dtype=np.int64)


def _number(rows: Ints) -> int:
    """The sum of numbers given as rows of digits."""
    size = BITS * rows.shape[1]
    total: int = sum(digit << BITS * place for row in rows.tolist() for place, digit in enumerate(row)) % (1 << size)
    return total - (1 << size) if total >> (size - 1) else total
