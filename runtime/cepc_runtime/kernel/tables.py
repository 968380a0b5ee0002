"""The kernel's table: the automata of a sharing class as records in one array of integers, and the memory in which they run.

A record is given by where it starts in the table, its fields by their offsets, below. `X` and `X_END` say where the records of
a list start and end. One array instead of many, because each array
that a compiled function is handed costs time, to compile it and to call it.

Every query has a *region* of memory: for each row (a state, or a copy) its planes, for each plane its window slots; window k is
in slot k mod `SLOTS`. Memory holds three times the regions: what stands; what the instant at hand adds; and what one of its
events adds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from .program import UNBOUND, Program, program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from ..columns import Ints
    from ..plan import Automaton, Move, QueryPlan, Step
    from .planes import QueryPlanes, ValueKey

    Numbers = npt.NDArray[np.float64 | np.int64]

# The segments of kind k, what its events do to each query, are from table[k] to table[k + 1].
QUERY: Final = 0
STARTS: Final = 1  # it does something to a query of which only the start row is not empty
OPERATIONS: Final = 2  # in an instant of one event
OPERATIONS_END: Final = 3
TIES: Final = 4  # in an instant of several
TIES_END: Final = 5
SEEN: Final = 6  # the letters of negations that the kind has
SEEN_END: Final = 7
KILLS: Final = 8
SEGMENT: Final = 9

PROGRESS: Final = 0  # where its progress is in the state
WITHIN: Final = 1
SLIDE: Final = 2  # 0: one window over everything
SLOTS: Final = 3
ADDITIVE: Final = 4  # numbers of additive planes in a row
STRIDE: Final = 5  # numbers in a row
REGION: Final = 6
REGION_END: Final = 7  # of the states; copies follow
ACCEPTING: Final = 8  # rows in memory
ACCEPTING_END: Final = 9
NEGATIONS: Final = 10
NEGATIONS_END: Final = 11
NUMBER: Final = 12
QUERY_RECORD: Final = 13

# A tie reads what stood before the instant (CODE 0) or what earlier events of the instant added (CODE 1).
CODE: Final = 0
SOURCE: Final = 1
TARGET: Final = 2
BINDINGS: Final = 3
BINDINGS_END: Final = 4
OPERATION: Final = 5

PLANE: Final = 0  # where in a row
VALUE: Final = 1  # a row of the values' matrix
LEAST: Final = 2
BINDING: Final = 3

NEGATION: Final = 0  # where its letters are in the state
BITS: Final = 1
LETTERS: Final = 2

SEEN_LETTERS: Final = 0  # where the letters seen are in the state
MOVES: Final = 1
MOVES_END: Final = 2
NEGATION_RECORD: Final = 3

WHEN: Final = 0  # the letters of the negation
NEW: Final = 1  # applies to what the instant added
FROM: Final = 2
TO: Final = 3  # -1: dropped
MOVE: Final = 4

# ---- the state: counters, then the progress of each query in the group at hand, then the letters seen of each negation
GROUP: Final = 0
LAST_TOUCHED: Final = 1  # a list of the queries touched in the group, NONE at its end
DONE: Final = 2  # row operations
EMITTED: Final = 3  # rows in the buffer
EMITTED_VALUES: Final = 4
COUNTERS: Final = 5

TOUCHED: Final = 0
TOUCHED_BEFORE: Final = 1  # the query before it in the list
OPEN: Final = 2  # the first open window
OPEN_END: Final = 3
CHANGE: Final = 4  # the first tick at which other windows are open
WAITING: Final = 5  # minus the events of the instant at hand that are to come
KILLED: Final = 6
PROGRESS_RECORD: Final = 7

NONE: Final = -1


class State(NamedTuple):
    """What changes while the kernel runs. The numbers are floats, or integers modulo 2**64 (modulo.py)."""

    memory: Numbers
    progress: Ints


@dataclass(frozen=True)
class Layout:
    """The table; how long memory and progress are; the most rows and values that closing all windows can emit."""

    table: Ints
    memory: int
    progress: int
    rows: int
    values: int


def slots_of(within: int | None, slide: int | None) -> int:
    """How many windows can be open at once."""
    return 1 if within is None else -(-within // (slide or within))


def new_state(layout: Layout, dtype: type[np.float64 | np.int64] = np.float64) -> State:
    progress = np.zeros(layout.progress, dtype=np.int64)
    progress[GROUP] = progress[LAST_TOUCHED] = NONE
    return State(np.zeros(3 * layout.memory, dtype), progress)


def build(
    queries: Sequence[QueryPlan],
    planes: Sequence[QueryPlanes],
    kinds: Sequence[frozenset[int]],
    index: Mapping[ValueKey, int],
) -> Layout:
    """The table of the queries (each with an automaton, and its planes) for events of these kinds. `index` finds the rows of values."""
    return _Builder(queries, planes, kinds, index).layout()


@dataclass
class _Query:
    """One query while the table is built."""

    plan: QueryPlan
    automaton: Automaton
    planes: QueryPlanes
    slots: int
    record: int
    region: int
    programs: dict[frozenset[int], Program]
    bindings: dict[int, tuple[int, int]] = field(default_factory=dict)  # by variable
    negations: dict[int, tuple[int, list[int]]] = field(
        default_factory=dict
    )  # by number: where in the state, the letters

    @property
    def stride(self) -> int:
        return self.planes.count * self.slots

    @property
    def rows(self) -> int:
        return max([self.automaton.states, *(p.rows for p in self.programs.values())])

    def row(self, state: int) -> int:
        return self.region + state * self.stride


class _Builder:
    def __init__(
        self,
        plans: Sequence[QueryPlan],
        planes: Sequence[QueryPlanes],
        kinds: Sequence[frozenset[int]],
        index: Mapping[ValueKey, int],
    ) -> None:
        self._index = index
        self._table = [0] * (len(kinds) + 1 + QUERY_RECORD * len(plans))
        self._memory = 0
        self._progress = COUNTERS + PROGRESS_RECORD * len(plans)
        self._queries: list[_Query] = []
        for number, (plan, own) in enumerate(zip(plans, planes, strict=True)):
            self._add_query(plan, own, kinds, len(kinds) + 1 + number * QUERY_RECORD)
        segments = [
            [self._segment(query, there) for query in self._queries if (there := kind & query.automaton.letters)]
            for kind in kinds
        ]
        self._table[0] = len(self._table)
        for number, of_kind in enumerate(segments):
            self._table[number + 1] = self._append(of_kind)[1]

    def layout(self) -> Layout:
        return Layout(
            np.array(self._table, dtype=np.int64),
            self._memory,
            self._progress,
            sum(query.slots for query in self._queries),
            sum(query.stride for query in self._queries),
        )

    def _append(self, records: Sequence[Sequence[int]]) -> tuple[int, int]:
        """Where the records start and end."""
        start = len(self._table)
        for record in records:
            self._table += record
        return start, len(self._table)

    def _add_query(self, plan: QueryPlan, planes: QueryPlanes, kinds: Sequence[frozenset[int]], record: int) -> None:
        automaton = plan.automaton
        assert automaton is not None
        there = {kind & automaton.letters for kind in kinds}
        programs = {letters: program(automaton, letters) for letters in there}
        number, slots = len(self._queries), slots_of(plan.within, plan.slide)
        query = _Query(plan, automaton, planes, slots, record, self._memory, programs)
        self._memory += query.rows * query.stride
        self._queries.append(query)
        for variable in range(len(automaton.variables)):
            query.bindings[variable] = self._append(self._bindings(query, variable))
        accepting = self._append([[query.row(state)] for state in automaton.accepting])
        negations = self._append(
            [self._negation(query, *found) for found in sorted(automaton.negation_letters.items())]
        )
        self._table[record : record + QUERY_RECORD] = [
            COUNTERS + PROGRESS_RECORD * number, plan.within or 0, 0 if plan.within is None else plan.slide or plan.within,
            slots, planes.additive * slots, query.stride, query.region, query.row(automaton.states), *accepting, *negations,
            number,
        ]  # fmt: skip

    def _bindings(self, query: _Query, variable: int) -> list[list[int]]:
        bindings = []
        for p, plane in enumerate(query.planes.planes, start=1):
            if plane.variable == variable:
                value = self._index[plane.value]
                bindings.append([p * query.slots, value, not plane.additive])
        return bindings

    def _negation(self, query: _Query, negation: int, letters: frozenset[int]) -> list[int]:
        if len(letters) > 62:
            raise ValueError("a negation of more than 62 letters")
        order = sorted(letters)
        moves = [
            self._move(query, move, order, new)
            for new, found in enumerate((query.automaton.moves, query.automaton.new_moves))
            for move in found
            if move.negation == negation
        ]
        query.negations[negation] = self._progress, order
        self._progress += 1
        return [self._progress - 1, *self._append(moves)]

    def _move(self, query: _Query, move: Move, order: list[int], new: int) -> list[int]:
        return [
            _bits(move.letters, order),
            new,
            query.row(move.source),
            query.row(move.target) if move.target >= 0 else NONE,
        ]

    def _segment(self, query: _Query, letters: frozenset[int]) -> list[int]:
        found = query.programs[letters]
        operations = [
            [o.code, query.row(o.source), query.row(o.target), *(query.bindings[o.variable] if o.variable != UNBOUND else (0, 0))]
            for o in found.operations
        ]  # fmt: skip
        ties = [
            self._tie(query, step, code)
            for code, steps in enumerate((query.automaton.steps, query.automaton.ties))
            for step in steps
            if step.letter in letters
        ]
        seen = [
            [place, bits]
            for place, order in query.negations.values()
            if (bits := _bits([letter for letter in order if letter in letters], order))
        ]
        kills = bool(letters & set(query.automaton.kills))
        lists = [place for records in (operations, ties, seen) for place in self._append(records)]
        return [query.record, found.starts, *lists, kills]

    def _tie(self, query: _Query, step: Step, code: int) -> list[int]:
        return [code, query.row(step.source), query.row(step.target), *query.bindings[step.variable]]


def _bits(letters: Sequence[int], order: Sequence[int]) -> int:
    return sum(1 << order.index(letter) for letter in set(letters))
