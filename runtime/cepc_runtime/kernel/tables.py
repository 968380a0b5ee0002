"""The kernel's tables: the automata of a sharing class as arrays, and the memory in which they run.

Every query has a *region* of memory: for each row (a state, or a copy) its planes, for each plane its window slots. Window k
is in slot k mod `slots`. Rows are addressed by their offset in the region.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from .planes import QueryPlanes, ValueKey, planes_of
from .program import UNBOUND, Program, program
from .values import ONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..columns import Floats, Ints
    from ..plan import Automaton, Move, QueryPlan, Step


# A table is an array of integers with a row for each entry; these are its columns. An entry that owns others has `FIRST` and
# `END` of theirs. Rows of memory are given by where they start in all of memory (operations, ties) or in the region (the rest).

# queries
WITHIN: Final = 0
SLIDE: Final = 1  # 0: one window over everything
SLOTS: Final = 2
ADDITIVE: Final = 3  # numbers of additive planes in a row
STRIDE: Final = 4  # numbers in a row
STATES: Final = 5
REGION: Final = 6
ACCEPTING: Final = 7  # into Tables.accepting
ACCEPTING_END: Final = 8
NEGATIONS: Final = 9
NEGATIONS_END: Final = 10
QUERY_COLUMNS: Final = 11

# segments: what one kind of event does to one query
QUERY: Final = 0
STARTS: Final = 1  # does something where only the start row is not empty
OPERATIONS: Final = 2
OPERATIONS_END: Final = 3
TIES: Final = 4
TIES_END: Final = 5
SEEN: Final = 6
SEEN_END: Final = 7
KILLS: Final = 8

# operations: an instant of one event, in place. Ties: what one event of several adds, reading what stood before the instant
# (CODE 0) or what earlier events of the instant have added (CODE 1).
CODE: Final = 0
SOURCE: Final = 1
TARGET: Final = 2
BINDINGS: Final = 3
BINDINGS_END: Final = 4

# bindings: a plane that changes when an event is bound
PLANE: Final = 0  # its offset in a row
VALUE: Final = 1  # a row of the values' matrix, or ONE
LEAST: Final = 2

# seen: the letters of a negation that a segment's kind has
NEGATION: Final = 0
BITS: Final = 1

# negations own moves; a move applies when exactly its letters were seen
MOVES: Final = 0
MOVES_END: Final = 1
LETTERS: Final = 0
NEW: Final = 1  # applies to what the instant added
FROM: Final = 2
TO: Final = 3  # -1: dropped


class Tables(NamedTuple):
    """What does not change. The segments of kind k are `kinds[k]:kinds[k + 1]`."""

    kinds: Ints
    queries: Ints
    segments: Ints
    operations: Ints
    bindings: Ints
    accepting: Ints
    ties: Ints
    seen: Ints
    negations: Ints
    moves: Ints


# a query's progress in the group at hand
OPEN: Final = 0  # the first open window
OPEN_END: Final = 1
CHANGE: Final = 2  # the first tick at which other windows are open
TOUCHED: Final = 3
WAITING: Final = 4  # events of the instant at hand that are to come
KILLED: Final = 5
PROGRESS_COLUMNS: Final = 6

# counters
ACTIVE: Final = 0  # how many queries are touched in the group at hand
GROUP: Final = 1
DONE: Final = 2  # row operations
EMITTED: Final = 3  # rows in the buffer
EMITTED_VALUES: Final = 4


class State(NamedTuple):
    """What changes. `memory` are the regions; `delta` and `fresh` are as large, for instants of several events. `active` lists
    the queries touched in the group at hand; `letters` are those of each negation that the instant at hand has.
    """

    memory: Floats
    delta: Floats
    fresh: Floats
    progress: Ints
    active: Ints
    letters: Ints
    counters: Ints


@dataclass(frozen=True)
class Layout:
    """The tables, how large memory is, and the planes of each query."""

    tables: Tables
    size: int
    planes: tuple[QueryPlanes, ...]


def slots_of(within: int | None, slide: int | None) -> int:
    """How many windows can be open at once."""
    return 1 if within is None else -(-within // (slide or within))


def new_state(layout: Layout) -> State:
    queries = len(layout.planes)
    return State(
        memory=np.zeros(layout.size),
        delta=np.zeros(layout.size),
        fresh=np.zeros(layout.size),
        progress=np.zeros((queries, PROGRESS_COLUMNS), dtype=np.int64),
        active=np.zeros(queries, dtype=np.int64),
        letters=np.zeros(len(layout.tables.negations), dtype=np.int64),
        counters=np.array([0, -1, 0, 0, 0], dtype=np.int64),
    )


def build(
    queries: Sequence[QueryPlan], kinds: Sequence[frozenset[int]], index: Mapping[ValueKey, int] | None = None
) -> Layout:
    """The tables of the queries (each with an automaton) for events of these kinds. `index` finds the rows of values."""
    return _Builder(queries, kinds, index or {}).layout()


@dataclass
class _Query:
    """One query while tables are built."""

    plan: QueryPlan
    automaton: Automaton
    planes: QueryPlanes
    slots: int
    region: int = 0
    rows: int = 0
    bindings: dict[int, tuple[int, int]] = field(default_factory=dict)  # by variable
    negations: dict[int, tuple[int, list[int]]] = field(default_factory=dict)  # by number: its row, its letters
    programs: dict[frozenset[int], Program] = field(default_factory=dict)

    @property
    def stride(self) -> int:
        return self.planes.count * self.slots

    def row(self, state: int) -> int:
        return self.region + state * self.stride


class _Builder:
    """Collects the rows of all tables."""

    def __init__(self, queries: Sequence[QueryPlan], kinds: Sequence[frozenset[int]], index: Mapping[ValueKey, int]) -> None:
        self.index = index
        self.bindings: list[tuple[int, ...]] = []
        self.accepting: list[int] = []
        self.negations: list[tuple[int, ...]] = []
        self.moves: list[tuple[int, ...]] = []
        self.operations: list[tuple[int, ...]] = []
        self.ties: list[tuple[int, ...]] = []
        self.seen: list[tuple[int, ...]] = []
        self.segments: list[tuple[int, ...]] = []
        self.kinds = [0]
        self.size = 0
        self.queries = [self._query(plan, kinds) for plan in queries]
        self.rows = [self._query_row(query) for query in self.queries]
        for kind in kinds:
            for number, query in enumerate(self.queries):
                if letters := kind & query.automaton.letters:
                    self.segments.append(self._segment(number, query, letters))
            self.kinds.append(len(self.segments))

    def layout(self) -> Layout:
        tables = Tables(
            kinds=np.array(self.kinds, dtype=np.int64),
            queries=_table(self.rows, QUERY_COLUMNS),
            segments=_table(self.segments, KILLS + 1),
            operations=_table(self.operations, BINDINGS_END + 1),
            bindings=_table(self.bindings, LEAST + 1),
            accepting=np.array(self.accepting, dtype=np.int64),
            ties=_table(self.ties, BINDINGS_END + 1),
            seen=_table(self.seen, BITS + 1),
            negations=_table(self.negations, MOVES_END + 1),
            moves=_table(self.moves, TO + 1),
        )
        return Layout(tables, self.size, tuple(query.planes for query in self.queries))

    def _query(self, plan: QueryPlan, kinds: Sequence[frozenset[int]]) -> _Query:
        assert plan.automaton is not None
        query = _Query(plan, plan.automaton, planes_of(plan.automaton, plan.measures), slots_of(plan.within, plan.slide))
        query.programs = {letters: program(query.automaton, letters) for letters in {k & query.automaton.letters for k in kinds}}
        query.rows = max([query.automaton.states, *(p.rows for p in query.programs.values())])
        query.region = self.size
        self.size += query.rows * query.stride
        for variable in range(len(query.automaton.variables)):
            first = len(self.bindings)
            for p, plane in enumerate(query.planes.planes, start=1):
                if plane.variable == variable:
                    value = ONE if plane.value.role == "one" else self.index[plane.value]
                    self.bindings.append((p * query.slots, value, not plane.additive))
            query.bindings[variable] = first, len(self.bindings)
        return query

    def _query_row(self, query: _Query) -> tuple[int, ...]:
        plan = query.plan
        accepting = len(self.accepting)
        self.accepting += [state * query.stride for state in query.automaton.accepting]
        negations = len(self.negations)
        for negation, letters in sorted(query.automaton.negation_letters.items()):
            self._negation(query, negation, sorted(letters))
        slide = 0 if plan.within is None else plan.slide or plan.within
        return (
            plan.within or 0, slide, query.slots, query.planes.additive * query.slots, query.stride, query.automaton.states,
            query.region, accepting, len(self.accepting), negations, len(self.negations),
        )  # fmt: skip

    def _negation(self, query: _Query, negation: int, letters: list[int]) -> None:
        if len(letters) > 62:
            raise ValueError("a negation of more than 62 letters")
        first = len(self.moves)
        for new, moves in enumerate((query.automaton.moves, query.automaton.new_moves)):
            for move in moves:
                if move.negation == negation:
                    target = -1 if move.target < 0 else move.target * query.stride
                    self.moves.append((_bits(move.letters, letters), new, move.source * query.stride, target))
        query.negations[negation] = len(self.negations), letters
        self.negations.append((first, len(self.moves)))

    def _segment(self, number: int, query: _Query, letters: frozenset[int]) -> tuple[int, ...]:
        found = query.programs[letters]
        operations, ties, seen = len(self.operations), len(self.ties), len(self.seen)
        for o in found.operations:
            bindings = query.bindings[o.variable] if o.variable != UNBOUND else (0, 0)
            self.operations.append((o.code, query.row(o.source), query.row(o.target), *bindings))
        for code, steps in enumerate((query.automaton.steps, query.automaton.ties)):
            for step in steps:
                if step.letter in letters:
                    place = query.row(step.source), query.row(step.target)
                    self.ties.append((code, *place, *query.bindings[step.variable]))
        for place, order in query.negations.values():
            if bits := _bits([letter for letter in order if letter in letters], order):
                self.seen.append((place, bits))
        kills = bool(letters & set(query.automaton.kills))
        ends = len(self.operations), len(self.ties), len(self.seen)
        return number, found.starts, operations, ends[0], ties, ends[1], seen, ends[2], kills


def _table(rows: list[tuple[int, ...]], columns: int) -> Ints:
    return np.array(rows, dtype=np.int64).reshape(len(rows), columns)


def _bits(letters: Sequence[int], order: Sequence[int]) -> int:
    return sum(1 << order.index(letter) for letter in set(letters))
