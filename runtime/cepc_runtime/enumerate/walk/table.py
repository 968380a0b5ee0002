"""A walk as the table that the loop reads (records.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...plan.after import SkipFor, SkipPastLast, SkipTo, SkipToNext
from ...record_table import appended
from .records import FOR, NONE, OPTION, PAST_LAST, RECORDS, STATE, TO_FIRST, TO_LAST, TO_NEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...numbers.columns import Ints
    from ...plan.after import AfterMatchSkip
    from ..pattern import IndexedPositions
    from .formulas import Formula
    from .instructions import Instruction
    from .neighbours import PairTest
    from .states import Option, TestedWay, Walk
    from .tallies import Keep


def table_of(
    walk: Walk,
    pattern: IndexedPositions,
    parts: OptionParts,
    span: int | None,
    after: AfterMatchSkip,
) -> Ints:
    """The table of a query; `after` is what AFTER MATCH SKIP says."""
    return _Builder(walk, pattern, parts).table(span, after)


class OptionParts(NamedTuple):
    """What is known of the events at hand: the rows of integers that a test compares, how an event of a variable
    changes what a match keeps, and what formulas compute.
    """

    sides: Mapping[PairTest, tuple[int, int]]
    keeps: Mapping[str, Sequence[Keep]]
    instructions: Mapping[Formula, Sequence[Instruction]]


class _Builder:
    def __init__(self, walk: Walk, pattern: IndexedPositions, parts: OptionParts) -> None:
        self._walk, self._pattern = walk, pattern
        self._bits = {letter: 1 << i for i, letter in enumerate(walk.letters)}
        self._parts = parts
        self._gaps = {guards: i for i, guards in enumerate(walk.guards)}
        self._table = [0] * (RECORDS + STATE * len(walk.states))

    def table(self, span: int | None, after: AfterMatchSkip) -> Ints:
        states = self._walk.states
        first = self._mask(letter for option in states[0].options for letter in option.letters)
        self._table[:RECORDS] = [
            len(states), self._walk.contiguous, NONE if span is None else span, *self._skip(after), first,
            self._walk.is_linked,
        ]  # fmt: skip
        entering = self._entering()
        for number in range(len(states)):
            start = RECORDS + STATE * number
            self._table[start : start + STATE] = self._state(number, entering[number])
        return np.array(self._table, dtype=np.int64)

    def _skip(self, after: AfterMatchSkip) -> tuple[int, int, int, int]:
        """How to go on, for how many ticks, and where the variables are named of which an event is gone on with."""
        match after:
            case SkipToNext():
                return TO_NEXT, 0, 0, 0
            case SkipPastLast():
                return PAST_LAST, 0, 0, 0
            case SkipFor(length):
                return FOR, length, 0, 0
            case SkipTo(end, variables):
                named = [[number] for number, name in enumerate(self._pattern.variables) if name in variables]
                return TO_FIRST if end == "FIRST" else TO_LAST, 0, *appended(self._table, named)

    def _entering(self) -> list[int]:
        found = [0] * len(self._walk.states)
        for state in self._walk.states:
            for option in state.options:
                if option.edge is not None:
                    found[option.target] |= self._mask(option.letters)
        return found

    def _state(self, number: int, entering: int) -> list[int]:
        state, loop = self._walk.states[number], self._walk.loop_of(number)
        free = self._mask(way.letter for way in state.ways if way.is_free)
        tested = [way for way in state.ways if not way.is_free]
        tests = [test for option in state.options for test in option.tests]
        tests += [test for way in tested for test in way.tests]
        loose = any(way.formulas or not all(test.is_local for test in way.tests) for way in tested)
        guarded = any(option.guards for option in state.options)
        plain = not guarded and not any(test.is_local for test in tests) and not loose
        start, end = appended(self._table, [self._option(option) for option in state.options])
        ways = [self._way(way) for way in tested]
        return [
            start, end, *appended(self._table, ways), entering, free,
            free | self._mask(way.letter for way in tested), plain, loose,
            any(option.edge is None for option in state.options), NONE if loop is None else start + OPTION * loop,
        ]  # fmt: skip

    def _option(self, option: Option) -> list[int]:
        if option.edge is None or option.variable is None:
            return [NONE, 0, NONE, 0, 0, NONE, 0, 0, *self._appended_formulas(option.formulas)]
        gap = self._gaps[option.guards] if option.guards else NONE
        bound = int(self._pattern.variable[option.edge])
        read = self._read(option.variable, option.tests, option.formulas)
        return [option.target, self._mask(option.letters), bound, *read[:2], gap, *read[2:]]

    def _way(self, way: TestedWay) -> list[int]:
        read = self._read(way.variable, way.tests, way.formulas)
        return [NONE, self._bits[way.letter], NONE, *read[:2], NONE, *read[2:]]

    def _read(self, variable: str, tests: Sequence[PairTest], formulas: Sequence[Formula]) -> list[int]:
        """Where the tests of an event, what it changes and the formulas start and end."""
        keeps = appended(self._table, self._parts.keeps.get(variable, ()))
        return [*self._appended_tests(tests), *keeps, *self._appended_formulas(formulas)]

    def _appended_formulas(self, formulas: Sequence[Formula]) -> tuple[int, int]:
        return appended(self._table, [step for formula in formulas for step in self._parts.instructions[formula]])

    def _appended_tests(self, tests: Sequence[PairTest]) -> tuple[int, int]:
        return appended(
            self._table,
            [[test.comparison.operator, *self._parts.sides[test], self._walk.number_of(test.other)] for test in tests],
        )

    def _mask(self, letters: Iterable[int]) -> int:
        mask = 0
        for letter in letters:
            mask |= self._bits[letter]
        return mask
