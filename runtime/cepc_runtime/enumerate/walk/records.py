"""The states of a walk as records in one array of integers, the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from .neighbours import HeldEvent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...numbers.columns import Ints
    from ...plan.query import After
    from ..pattern import IndexedPositions
    from .neighbours import PairTest
    from .states import Option, Walk

# the table: these, then the records of states, then what they point to
STATES: Final = 0
CONTIGUOUS: Final = 1
SPAN: Final = 2  # ticks, or NONE
SKIP: Final = 3
VARIABLE: Final = 4  # that SKIP names; the ticks of SKIP FOR
INITIAL: Final = 5  # one of these letters has each first event
LINKED: Final = 6  # whether some test is of the first event, or of one that is held
RECORDS: Final = 7

# SKIP
TO_NEXT: Final = 0
PAST_LAST: Final = 1
TO_FIRST: Final = 2
TO_LAST: Final = 3
FOR: Final = 4
SKIPS: Final = {
    "TO NEXT EVENT": TO_NEXT,
    "PAST LAST EVENT": PAST_LAST,
    "TO FIRST": TO_FIRST,
    "TO LAST": TO_LAST,
    "FOR": FOR,
}

# of a state; letters are bits of masks
OPTIONS: Final = 0
OPTIONS_END: Final = 1
WAYS: Final = 2  # with tests
WAYS_END: Final = 3
ENTERING: Final = 4  # one of these letters has each event that leads here
FREE: Final = 5  # an event with one of these may not be skipped
LOOKED: Final = 6  # nor perhaps one with one of these
PLAIN: Final = 7  # whether what comes next depends on the instant alone, the first event, and those that are held
LOOSE: Final = 8  # whether the first event says which may be skipped
ACCEPTING: Final = 9
LOOP: Final = 10  # the option that leads to the state itself, or NONE, if it is not gone round event by event
STATE: Final = 11

TARGET: Final = 0  # NONE: the match ends
LETTERS: Final = 1  # an event has all of these
BOUND: Final = 2  # the variable
TESTS: Final = 3
TESTS_END: Final = 4
GAP: Final = 5  # where the event must lie before, or NONE
HOLDS: Final = 6  # the place in which the event is held from then on, or NONE
HOLDS_FIRST: Final = 7  # the same, if there is none yet
OPTION: Final = 8

WAY_LETTERS: Final = 0
WAY_TESTS: Final = 1
WAY_TESTS_END: Final = 2
WAY: Final = 3

OPERATOR: Final = 0
LATER: Final = 1  # rows of numbers
OTHER: Final = 2
OF: Final = 3  # the other event is the one before, the first, or that which is held in a place
TEST: Final = 4

# OF
BEFORE: Final = 0
FIRST: Final = 1
PLACES: Final = 2  # of those that are held, from here on

NONE: Final = -1


def table_of(
    walk: Walk,
    pattern: IndexedPositions,
    sides: Mapping[PairTest, tuple[int, int]],
    span: int | None,
    after: After,
) -> Ints:
    """The table of a query; `sides` are the rows of numbers that a test compares, `after` is what AFTER MATCH SKIP
    says.
    """
    return _Builder(walk, pattern, sides).table(span, after)


class _Builder:
    def __init__(self, walk: Walk, pattern: IndexedPositions, sides: Mapping[PairTest, tuple[int, int]]) -> None:
        self._walk, self._pattern = walk, pattern
        self._bits = {letter: 1 << i for i, letter in enumerate(walk.letters)}
        self._sides = sides
        self._gaps = {guards: i for i, guards in enumerate(walk.guards)}
        self._table = [0] * (RECORDS + STATE * len(walk.states))

    def table(self, span: int | None, after: After) -> Ints:
        states = self._walk.states
        skip, said = after
        named = self._pattern.variables.index(said) if isinstance(said, str) else NONE if said is None else said
        first = self._mask(letter for option in states[0].options for letter in option.letters)
        self._table[:RECORDS] = [
            len(states), self._walk.contiguous, NONE if span is None else span, SKIPS[skip], named, first,
            self._walk.is_linked,
        ]  # fmt: skip
        entering = self._entering()
        for number in range(len(states)):
            start = RECORDS + STATE * number
            self._table[start : start + STATE] = self._state(number, entering[number])
        return np.array(self._table, dtype=np.int64)

    def _entering(self) -> list[int]:
        found = [0] * len(self._walk.states)
        for state in self._walk.states:
            for option in state.options:
                if option.edge is not None:
                    found[option.target] |= self._mask(option.letters)
        return found

    def _state(self, number: int, entering: int) -> list[int]:
        state, loop = self._walk.states[number], self._walk.loop_of(number)
        free = self._mask(way.letter for way in state.ways if not way.tests)
        tested = [way for way in state.ways if way.tests]
        tests = [test for option in state.options for test in option.tests]
        tests += [test for way in tested for test in way.tests]
        loose = any(test.from_first for way in tested for test in way.tests)
        guarded = any(option.guards for option in state.options)
        plain = not guarded and not any(test.is_local for test in tests) and not loose
        start, end = self._appended([self._option(option) for option in state.options])
        ways = [[self._bits[way.letter], *self._appended_tests(way.tests)] for way in tested]
        return [
            start, end, *self._appended(ways), entering, free,
            free | self._mask(way.letter for way in tested), plain, loose,
            any(option.edge is None for option in state.options), NONE if loop is None else start + OPTION * loop,
        ]  # fmt: skip

    def _option(self, option: Option) -> list[int]:
        if option.edge is None:
            return [NONE, 0, NONE, 0, 0, NONE, NONE, NONE]
        gap = self._gaps[option.guards] if option.guards else NONE
        bound = int(self._pattern.variable[option.edge])
        places = [NONE, NONE]
        for place, held in enumerate(self._walk.held):
            if held.variable == option.variable:
                places[held.at == "first"] = place
        return [option.target, self._mask(option.letters), bound, *self._appended_tests(option.tests), gap, *places]

    def _appended_tests(self, tests: Sequence[PairTest]) -> tuple[int, int]:
        return self._appended([[test.comparison.operator, *self._sides[test], self._of(test)] for test in tests])

    def _of(self, test: PairTest) -> int:
        match test.other:
            case "earlier":
                return BEFORE
            case "first":
                return FIRST
            case HeldEvent():
                return PLACES + self._walk.held.index(test.other)

    def _appended(self, records: Sequence[Sequence[int]]) -> tuple[int, int]:
        """Where the records start and end."""
        start = len(self._table)
        for record in records:
            self._table += record
        return start, len(self._table)

    def _mask(self, letters: Iterable[int]) -> int:
        mask = 0
        for letter in letters:
            mask |= self._bits[letter]
        return mask
