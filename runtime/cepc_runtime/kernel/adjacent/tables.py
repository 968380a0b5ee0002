"""The automaton of a query with conditions on edges, as records in one array of integers (as in kernel/records.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ...cheap_dataclass import dataclass
from ...record_table import appended
from .moves import reachable
from .tests import DIFFERENT, EQUAL, PAIRS, tests_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...numbers.columns import Ints
    from ...plan.strategy import NeighboursQuery
    from ...sql.expression import Expression
    from .tests import Test

# The table begins with these; the steps of kind k are from table[KINDS + k] to table[KINDS + k + 1].
STATES: Final = 0
ADDITIVE: Final = 1  # additive planes
PLANES: Final = 2
KEPT: Final = 3  # records of the states of which rows are kept by event
KEPT_END: Final = 4
ACCEPTING: Final = 5  # rows in memory
ACCEPTING_END: Final = 6
MASKS: Final = 7  # by kind: which letters of negations its events have, as bits
KEPT_OF: Final = 8  # by state: the record of what is kept of it, or NONE
MOVERS: Final = 9  # the states whose values NOT or SELECT moves, each behind those that its values can come to
MOVERS_END: Final = 10
MOVES: Final = 11  # records, in the order of negations
MOVES_END: Final = 12
KINDS: Final = 13

# A step begins like an operation (kernel/records.py): CODE, SOURCE, TARGET, BINDINGS, BINDINGS_END; its rows are those
# of states.
KEPT_TARGET: Final = 5  # the record of what is kept of the target, or NONE
HOW: Final = 6
INDEX: Final = 7  # PREFIX, POINT: the record
KEPT_SOURCE: Final = 8  # SCAN: the record of what is kept of the source
TESTS: Final = 9
TESTS_END: Final = 10
STEP: Final = 11

# HOW a step finds the row that it adds
ALL: Final = 0
PREFIX: Final = 1
POINT: Final = 2
SCAN: Final = 3

ADDED: Final = 0  # where in the progress: how many rows there are
STANDING: Final = 1  # and how many of them stood before the instant at hand
ROWS: Final = 2  # in memory
EVENTS: Final = 3  # their events, in the progress
LISTED: Final = 4  # the rows stay when they have come into the indexes, to be scanned or moved
INDEXES: Final = 5
INDEXES_END: Final = 6
KEPT_RECORD: Final = 7

TREE: Final = 0  # in memory
NUMBER: Final = 1  # row of `EventRanks.places` and `ends`
BY_POINT: Final = 2
INDEX_RECORD: Final = 3

MOVE_NEW: Final = 0  # of what the instant adds, or else of what stood before it
MOVE_NEGATION: Final = 1
MOVE_KNOWN: Final = 2  # the letters of the negation, as bits
MOVE_SEEN: Final = 3  # those of them that the instant has, exactly
MOVE_SOURCE: Final = 4  # states
MOVE_TARGET: Final = 5  # or NONE
MOVE_RECORD: Final = 6

MOST_LETTERS: Final = 62  # of negations: bits of a mask

OPERATOR: Final = 0
TEST: Final = 1  # row of the ranks, or of the pairs
TEST_RECORD: Final = 2

NONE: Final = -1

# the progress: these, then for each state that is kept two counts and the events
SLICE: Final = 0
BEGIN: Final = 1  # where the slice at hand begins
COUNTERS: Final = 2


@dataclass(frozen=True, slots=True)
class Index:
    """Rows kept of a state, by the ranks of a comparison: a tree for prefixes, or cells."""

    state: int
    test: int
    operator: int


@dataclass(frozen=True)
class AdjacentLayout:
    """The table; how long memory and progress are; and the indexes, in the order of their numbers."""

    table: Ints
    memory: int
    progress: int
    indexes: tuple[Index, ...]


def test_numbers(tests: Mapping[Expression, Test]) -> dict[Expression, int]:
    """Comparisons and pairs are numbered apart."""
    comparisons = [c for c, test in tests.items() if test.operator != PAIRS]
    pairs = [c for c, test in tests.items() if test.operator == PAIRS]
    return {c: i for found in (comparisons, pairs) for i, c in enumerate(found)}


class RecordBuilder:
    """Collects the records. `longest` is the most events that a slice has; `bindings` are the records of each
    variable.
    """

    def __init__(
        self,
        query: NeighboursQuery,
        tests: Mapping[Expression, Test],
        bindings: Mapping[int, Sequence[Sequence[int]]],
        *,
        planes: int,
        additive: int,
        longest: int,
    ) -> None:
        automaton = query.automaton
        if automaton.kills:
            raise ValueError(
                f"query {query.name}: NOT for a whole window and conditions between neighbours are not counted together"
            )
        self._automaton = automaton
        self._after = reachable(automaton)
        alphabet = sorted(frozenset().union(*automaton.negation_letters.values()))
        assert len(alphabet) <= MOST_LETTERS
        self._bits = {letter: 1 << i for i, letter in enumerate(alphabet)}
        self._tests = tests
        self._numbers = test_numbers(tests)
        self._conditions = tests_of(query.strategy.conditions)
        self._bindings = bindings
        self._planes = planes
        self._longest = longest
        self._memory = (3 * automaton.states + 1) * planes
        self._progress = COUNTERS
        self._table = [automaton.states, additive, planes]

    def layout(self, kinds: Sequence[frozenset[int]]) -> AdjacentLayout:
        self._table += [0] * (KINDS + len(kinds) + 1 - len(self._table))
        indexes = tuple(dict.fromkeys(i for n in self._conditions if (i := self._index(n)) is not None))
        records = {index: appended(self._table, [self._index_record(i, index)])[0] for i, index in enumerate(indexes)}
        kept_states = dict.fromkeys(self._automaton.steps[number].source for number in self._conditions)
        kept_records = [self._kept_record(state, records) for state in kept_states]
        first, end = appended(self._table, kept_records)
        kept = {state: first + i * KEPT_RECORD for i, state in enumerate(kept_states)}
        accepting = appended(self._table, [[state * self._planes] for state in self._automaton.accepting])
        by_state = appended(self._table, [[kept.get(state, NONE)] for state in range(self._automaton.states)])[0]
        masks = appended(self._table, [[self._mask(kind)] for kind in kinds])[0]
        movers = appended(
            self._table, [[state] for state in sorted(self._after, key=lambda state: len(self._after[state]))]
        )
        moves = appended(self._table, self._moves())
        self._table[KEPT:KINDS] = [first, end, *accepting, masks, by_state, *movers, *moves]
        bound = {variable: appended(self._table, found) for variable, found in self._bindings.items()}
        segments = [self._steps(kind, kept, records, bound) for kind in kinds]
        self._table[KINDS] = len(self._table)
        for number, steps in enumerate(segments, start=KINDS + 1):
            self._table[number] = appended(self._table, steps)[1]
        return AdjacentLayout(np.array(self._table, dtype=np.int64), self._memory, self._progress, indexes)

    def _how(self, step: int) -> int:
        conditions = self._conditions.get(step, ())
        if not conditions:
            return ALL
        operator = self._tests[conditions[0]].operator
        if len(conditions) > 1 or operator in (PAIRS, DIFFERENT):
            return SCAN
        return POINT if operator == EQUAL else PREFIX

    def _index(self, step: int) -> Index | None:
        """The index that a step uses."""
        if self._how(step) not in (PREFIX, POINT):
            return None
        condition = self._conditions[step][0]
        return Index(self._automaton.steps[step].source, self._numbers[condition], self._tests[condition].operator)

    def _index_record(self, number: int, index: Index) -> list[int]:
        self._memory += self._longest * self._planes
        return [self._memory - self._longest * self._planes, number, index.operator == EQUAL]

    def _kept_record(self, state: int, records: Mapping[Index, int]) -> list[int]:
        """Together the records of indexes of one state follow each other, as steps are asked for by state."""
        own = [
            [self._table[place + i] for i in range(INDEX_RECORD)]
            for index, place in records.items()
            if index.state == state
        ]
        scanned = any(self._how(n) == SCAN and self._automaton.steps[n].source == state for n in self._conditions)
        listed = scanned or state in self._after
        record = [
            self._progress,
            self._progress + 1,
            self._memory,
            self._progress + 2,
            listed,
            *appended(self._table, own),
        ]
        room = self._longest * (
            1 + sum(state in after for after in self._after.values())
        )  # one row of each for an event
        self._memory += room * self._planes
        self._progress += 2 + room
        return record

    def _mask(self, letters: Iterable[int]) -> int:
        return sum(self._bits.get(letter, 0) for letter in letters)

    def _moves(self) -> list[list[int]]:
        known = self._automaton.negation_letters
        found = [
            [new, move.negation, self._mask(known[move.negation]), self._mask(move.letters), move.source, move.target]
            for new, moves in enumerate((self._automaton.moves, self._automaton.new_moves))
            for move in moves
        ]
        return sorted(found, key=lambda record: record[MOVE_NEGATION])

    def _steps(
        self,
        kind: frozenset[int],
        kept: Mapping[int, int],
        records: Mapping[Index, int],
        bound: Mapping[int, tuple[int, int]],
    ) -> list[list[int]]:
        """The steps and ties of events of a kind."""
        automaton, planes = self._automaton, self._planes
        found = [(n, step) for n, step in enumerate(automaton.steps) if step.letter in kind]
        steps = []
        for number, step in found:
            conditions = self._conditions.get(number, ())
            index = self._index(number)
            tests = appended(self._table, [[self._tests[c].operator, self._numbers[c]] for c in conditions])
            steps.append([
                0, step.source * planes, step.target * planes, *bound.get(step.variable, (0, 0)),
                kept.get(step.target, NONE),
                self._how(number), NONE if index is None else records[index], kept.get(step.source, NONE), *tests,
            ])  # fmt: skip
        for step in automaton.ties:
            if step.letter in kind:
                places = step.source * planes, step.target * planes, *bound.get(step.variable, (0, 0))
                steps.append([1, *places, kept.get(step.target, NONE), ALL, NONE, NONE, 0, 0])
        return steps
