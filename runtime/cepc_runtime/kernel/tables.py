"""The kernel's tables: the automata of a sharing class as arrays, and the memory in which they run.

Every query has a *region* of memory: for each row (a state, or a copy) its planes, for each plane its window slots. Window k
is in slot k mod `slots`. Rows are addressed by their offset in the region.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .planes import QueryPlanes, ValueKey, planes_of
from .program import UNBOUND, Program, program
from .values import ONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..columns import Floats, Ints
    from ..plan import Automaton, Move, QueryPlan, Step


class Tables(NamedTuple):
    """What does not change. Entries i of a family are `start[i]:start[i + 1]` of its arrays.

    A query: `within`, `slide` (0: one window over everything), `slots`, `additive` and `stride` (numbers of additive planes
    and of all planes in a row, times slots), `rows`, `region`, accepting rows, bindings by variable.
    A segment is what one kind of event does to one query: operations for an instant of one event, `tie_*` for more.
    """

    within: Ints
    slide: Ints
    slots: Ints
    additive: Ints
    stride: Ints
    states: Ints
    region: Ints
    accepting_start: Ints
    accepting: Ints
    # kinds and segments
    segment_start: Ints
    segment_query: Ints
    segment_starts: Ints
    operation_start: Ints
    operation_code: Ints
    operation_source: Ints
    operation_target: Ints
    operation_variable: Ints
    # bindings: for each (query, variable), the planes that a bound event changes
    binding_start: Ints
    binding_plane: Ints  # the offset of the plane in a row
    binding_value: Ints  # a row of the values' matrix, or ONE
    binding_least: Ints
    # instants of several events: what one of them adds, by steps (reading what stood) and ties (reading what was added)
    tie_start: Ints
    tie_new: Ints
    tie_source: Ints
    tie_target: Ints
    tie_variable: Ints
    tie_kills: Ints
    seen_start: Ints  # which negations' letters a segment's kind has
    seen_negation: Ints
    seen_bits: Ints
    negation_start: Ints  # the negations of a query
    move_start: Ints  # the moves of a negation
    move_bits: Ints
    move_new: Ints
    move_source: Ints
    move_target: Ints  # -1: dropped


class State(NamedTuple):
    """What changes. `memory` are the regions; `delta` and `fresh` are as large, for instants of several events.

    `first:end` are a query's open windows and `change` is the first tick at which they are others. `active` lists the queries
    touched in the group at hand. `counters`: active queries, the group at hand, row operations done.
    """

    memory: Floats
    delta: Floats
    fresh: Floats
    first: Ints
    end: Ints
    change: Ints
    touched: Ints
    active: Ints
    waiting: Ints
    killed: Ints
    seen: Ints
    counters: Ints


@dataclass(frozen=True)
class Layout:
    """How the tables relate to the queries: `queries[i]` is query i's planes."""

    tables: Tables
    planes: tuple[QueryPlanes, ...]


UNLIMITED = np.iinfo(np.int64).max


def slots_of(within: int | None, slide: int | None) -> int:
    """How many windows can be open at once."""
    return 1 if within is None else -(-within // (slide or within))


def new_state(layout: Layout) -> State:
    t = layout.tables
    queries, size = len(t.slots), int(t.region[-1])

    def zeros(length: int) -> Ints:
        return np.zeros(length, dtype=np.int64)

    return State(
        np.zeros(size), np.zeros(size), np.zeros(size),
        zeros(queries), zeros(queries), zeros(queries), zeros(queries), zeros(queries), zeros(queries), zeros(queries),
        zeros(len(t.move_start)), np.array([0, -1, 0], dtype=np.int64),
    )  # fmt: skip


def build(
    queries: Sequence[QueryPlan], kinds: Sequence[frozenset[int]], index: Mapping[ValueKey, int] | None = None
) -> Layout:
    """The tables of the queries (each with an automaton) for events of these kinds. `index` finds the rows of values."""
    builder = _Builder(queries, index or {})
    for kind in kinds:
        builder.add_kind(kind)
    return builder.finish()


class _Family:
    """Entries of one family: arrays of equal length, and where each owner's entries start."""

    def __init__(self, width: int) -> None:
        self.starts = [0]
        self.columns: list[list[int]] = [[] for _ in range(width)]

    def add(self, *entry: int) -> None:
        for column, value in zip(self.columns, entry, strict=True):
            column.append(value)

    def close(self) -> None:
        self.starts.append(len(self.columns[0]))

    def arrays(self) -> list[Ints]:
        return [np.array(c, dtype=np.int64) for c in (self.starts, *self.columns)]


class _Query:
    """One query while tables are built."""

    def __init__(self, plan: QueryPlan, first_binding: int) -> None:
        assert plan.automaton is not None
        self.automaton: Automaton = plan.automaton
        self.planes = planes_of(plan.automaton, plan.measures)
        self.slots = slots_of(plan.within, plan.slide)
        self.stride = self.planes.count * self.slots
        self.first_binding = first_binding
        self.rows = plan.automaton.states
        self.programs: dict[frozenset[int], Program] = {}
        a = plan.automaton
        steps = {s.letter for s in (*a.steps, *a.ties)}
        moves = {letter for m in (*a.moves, *a.new_moves) for letter in m.letters}
        self.letters = frozenset(steps | moves | set(a.kills))

    def program(self, letters: frozenset[int]) -> Program:
        found = self.programs.get(letters)
        if found is None:
            found = self.programs[letters] = program(self.automaton, letters)
            self.rows = max(self.rows, found.rows)
        return found

    def variable(self, local: int) -> int:
        """The number of a variable among all bindings; UNBOUND where a bound event changes no plane."""
        bound = any(plane.variable == local for plane in self.planes.planes)
        return self.first_binding + local if local != UNBOUND and bound else UNBOUND


class _Builder:
    def __init__(self, plans: Sequence[QueryPlan], index: Mapping[ValueKey, int]) -> None:
        self.plans = plans
        self.queries: list[_Query] = []
        self.bindings = _Family(3)
        for plan in plans:
            query = _Query(plan, len(self.bindings.starts) - 1)
            self.queries.append(query)
            self._bind(query, index)
        self.segments = _Family(2)
        self.operations = _Family(4)
        self.ties = _Family(4)
        self.seen = _Family(2)
        self.kills: list[int] = []
        self.accepting = _Family(1)
        self.moves = _Family(4)
        self.negations: list[dict[int, tuple[int, list[int]]]] = []  # number: its number here, its letters
        self.negation_starts = [0]
        for query in self.queries:
            self._accept(query)
            self._negate(query)

    def _bind(self, query: _Query, index: Mapping[ValueKey, int]) -> None:
        for variable in range(len(query.automaton.variables)):
            for p, plane in enumerate(query.planes.planes, start=1):
                if plane.variable == variable:
                    value = ONE if plane.value.role == "one" else index[plane.value]
                    self.bindings.add(p * query.slots, value, not plane.additive)
            self.bindings.close()

    def _accept(self, query: _Query) -> None:
        for state in query.automaton.accepting:
            self.accepting.add(state * query.stride)
        self.accepting.close()

    def _negate(self, query: _Query) -> None:
        automaton = query.automaton
        numbers: dict[int, tuple[int, list[int]]] = {}
        for negation, letters in sorted(automaton.negation_letters.items()):
            if len(letters) > 62:
                raise ValueError("a negation of more than 62 letters")
            numbers[negation] = len(self.moves.starts) - 1, sorted(letters)
            for new, moves in enumerate((automaton.moves, automaton.new_moves)):
                for move in moves:
                    if move.negation == negation:
                        self._move(query, move, numbers[negation][1], new)
            self.moves.close()
        self.negations.append(numbers)
        self.negation_starts.append(len(self.moves.starts) - 1)

    def _move(self, query: _Query, move: Move, letters: list[int], new: int) -> None:
        target = -1 if move.target < 0 else move.target * query.stride
        self.moves.add(_bits(move.letters, letters), new, move.source * query.stride, target)

    def add_kind(self, kind: frozenset[int]) -> None:
        for number, query in enumerate(self.queries):
            if letters := kind & query.letters:
                self._segment(number, query, letters)
        self.segments.close()

    def _segment(self, number: int, query: _Query, letters: frozenset[int]) -> None:
        found = query.program(letters)
        self.segments.add(number, found.starts)
        for o in found.operations:
            self.operations.add(o.code, o.source * query.stride, o.target * query.stride, query.variable(o.variable))
        self.operations.close()
        for new, steps in enumerate((query.automaton.steps, query.automaton.ties)):
            for step in steps:
                if step.letter in letters:
                    self._tie(query, step, new)
        self.ties.close()
        self.kills.append(bool(letters & set(query.automaton.kills)))
        for place, order in self.negations[number].values():
            if bits := _bits([letter for letter in order if letter in letters], order):
                self.seen.add(place, bits)
        self.seen.close()

    def _tie(self, query: _Query, step: Step, new: int) -> None:
        self.ties.add(new, step.source * query.stride, step.target * query.stride, query.variable(step.variable))

    def finish(self) -> Layout:
        sizes = [q.rows * q.stride for q in self.queries]

        def each(values: list[int]) -> Ints:
            return np.array(values, dtype=np.int64)

        tables = Tables(
            within=each([p.within or 0 for p in self.plans]),
            slide=each([0 if p.within is None else p.slide or p.within for p in self.plans]),
            slots=each([q.slots for q in self.queries]),
            additive=each([q.planes.additive * q.slots for q in self.queries]),
            stride=each([q.stride for q in self.queries]),
            states=each([q.automaton.states for q in self.queries]),
            region=np.cumsum([0, *sizes], dtype=np.int64),
            **_named(self.accepting, "accepting_start", "accepting"),
            **_named(self.segments, "segment_start", "segment_query", "segment_starts"),
            **_named(
                self.operations, "operation_start", "operation_code", "operation_source", "operation_target",
                "operation_variable",
            ),
            **_named(self.bindings, "binding_start", "binding_plane", "binding_value", "binding_least"),
            **_named(self.ties, "tie_start", "tie_new", "tie_source", "tie_target", "tie_variable"),
            tie_kills=each(self.kills),
            **_named(self.seen, "seen_start", "seen_negation", "seen_bits"),
            negation_start=each(self.negation_starts),
            **_named(self.moves, "move_start", "move_bits", "move_new", "move_source", "move_target"),
        )  # fmt: skip
        return Layout(tables, tuple(q.planes for q in self.queries))


def _named(family: _Family, *names: str) -> dict[str, Ints]:
    return dict(zip(names, family.arrays(), strict=True))


def _bits(letters: Sequence[int], order: Sequence[int]) -> int:
    return sum(1 << order.index(letter) for letter in set(letters))
