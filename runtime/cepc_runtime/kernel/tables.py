"""The kernel's table, built: the automata of a partition class as records in one array of integers, and the memory they
run in.

What stands where in memory is said in lanes.py, what stands where in a record in records.py. The loop knows blocks
(what a kind of event does to a component), units (what goes from window to window together) and outputs (what is
emitted for a query). Memory is held three times: what stands; what the instant at hand adds; and what one of its events
adds.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ..cheap_dataclass import dataclass
from ..events.letters import kinds_that_satisfy, readers_of
from ..plan.automaton import DROPPED
from ..plan.windows import Sliding
from ..record_table import appended
from ..results.fewest import fewest
from .basis import OWN, Costs, Happening, inner_of
from .joint import Atom, added, atoms_of, cleared, copied_to, emptied_by, in_place, merged, tied
from .lanes import memory_of, queries_of
from .operations import batches
from .records import (
    AT_INSTANT,
    BATCH,
    COUNTER,
    GATE,
    KIND,
    NONE,
    PROGRESS,
    PROGRESSION,
    RUN_PROGRESS,
    SECTION,
    TOGETHER,
    UNIT,
)
from .shared_lanes import sharing_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from ..numbers.columns import Ints
    from ..plan.automaton import Move
    from ..plan.sharing import SharedStates
    from ..plan.strategy import CountedQuery
    from .basis import Basis, Inside
    from .lanes import KernelQuery, LaneColumn
    from .operations import Operation
    from .planes import QueryPlanes, ValueKey
    from .shared_lanes import LaneState

    FloatsOrInts = npt.NDArray[np.float64 | np.int64]

_LIMIT: Final = 1 << 60

MEMBERS: Final = 4
"""Units that a band has at least."""


class KernelState(NamedTuple):
    """What changes while the kernel runs. The numbers are floats, or integers modulo 2**64 (modulo.py)."""

    memory: FloatsOrInts
    progress: Ints


@dataclass(frozen=True)
class KernelLayout:
    """The table; how long memory and progress are, and where in memory no value is infinity; the most rows and values
    that closing all windows can emit.
    """

    table: Ints
    memory: int
    infinite: Ints
    progress: int
    rows: int
    values: int


def new_state(layout: KernelLayout, dtype: type[np.float64 | np.int64] = np.float64) -> KernelState:
    progress = np.zeros(layout.progress, dtype=np.int64)
    progress[COUNTER.group] = progress[COUNTER.last_touched] = NONE
    memory = np.zeros(3 * layout.memory, dtype)
    for part in range(3 if len(layout.infinite) else 0):
        memory[layout.infinite + part * layout.memory] = np.inf
    return KernelState(memory, progress)


def build(
    queries: Sequence[CountedQuery],
    planes: Sequence[QueryPlanes],
    kinds: Sequence[frozenset[int]],
    index: Mapping[ValueKey, int],
    shared: Sequence[SharedStates] = (),
    costs: Costs | None = None,
    ties: bool = True,
) -> KernelLayout:
    """The table of the queries (each with an automaton, and its planes) for events of these kinds. `index` finds the
    rows of values. Without `ties` there is no instant of several events.
    """
    return _Builder(queries, planes, kinds, index, shared, costs or Costs(), ties).layout()


@dataclass
class _Component:
    """A component while the table is built. `inside` says where a basis' records of kinds are."""

    queries: tuple[int, ...]
    units: list[int]
    happenings: dict[int, Happening]  # of the first of the kinds that are alike to it
    alike: dict[int, int]  # that first one, of every kind that concerns it
    blocks: dict[int, list[int]] = field(default_factory=dict)
    alone: dict[int, list[Operation]] = field(default_factory=dict)  # what its blocks do, in place
    band: int = NONE
    bases: list[tuple[int, Basis]] = field(default_factory=list)  # with their regions
    records: list[int] = field(default_factory=list)
    inside: list[dict[int, int]] = field(default_factory=list)
    record: int = 0


class _Builder:
    def __init__(
        self,
        plans: Sequence[CountedQuery],
        planes: Sequence[QueryPlanes],
        kinds: Sequence[frozenset[int]],
        index: Mapping[ValueKey, int],
        shared: Sequence[SharedStates],
        costs: Costs,
        ties: bool,
    ) -> None:
        self._kinds = kinds
        self._readers = readers_of(kinds)
        self._ties = ties
        self._costs = costs
        self._sharing = sharing_of(plans, shared)
        self._queries = queries_of(plans, planes, kinds, index, self._sharing)
        self._memory = memory_of(self._queries, self._sharing)
        self._table = [0] * (len(kinds) + 1) * len(KIND)
        self._progress = len(COUNTER)
        self._unit_of = {n: u for u, unit in enumerate(self._sharing.units) for n in unit}
        self._places: list[list[LaneState]] = [[] for _ in self._sharing.units]
        for place in self._memory.at:
            self._places[self._unit_of[place[0]]].append(place)
        self._guarded = [any(_negates(self._queries[n]) for n in unit) for unit in self._sharing.units]
        self._letters: dict[int, list[tuple[int, list[int]]]] = {}  # by query: where negations' are in the state, which
        components = [self._component(queries) for queries in self._sharing.components]
        self._add_bases(components)
        self._second = self._memory.size
        self._units = [self._reserve(len(UNIT)) for _ in self._sharing.units]
        for component in components:
            self._fill(component)
        concerned: list[list[_Component]] = [[] for _ in kinds]
        for component in components:
            for kind in component.alike:
                concerned[kind].append(component)
        self._add_bands(components)
        self._add_kinds(concerned)

    def layout(self) -> KernelLayout:
        infinite = [
            at
            for region in self._memory.regions
            for row in range(region.start, region.start + region.rows * region.width, region.width)
            for at in range(row + region.additive, row + region.width)
        ]
        return KernelLayout(
            np.array(self._table, dtype=np.int64),
            self._second,
            np.array(infinite, dtype=np.int64),
            self._progress,
            sum(query.slots for query in self._queries),
            sum(query.slots * query.planes.count for query in self._queries),
        )

    # ---- lists

    def _reserve(self, size: int) -> int:
        return appended(self._table, [[0] * size])[0]

    def _state(self, size: int) -> int:
        """A place in the state for so many numbers."""
        self._progress += size
        return self._progress - size

    def _listed(self, operations: Sequence[Operation]) -> tuple[int, int, int]:
        """Where operations start and end, and how many numbers they change."""
        return *appended(self._table, operations), sum(o.width for o in operations)

    # ---- components

    def _component(self, queries: tuple[int, ...]) -> _Component:
        letters = frozenset().union(*(self._queries[n].automaton.letters for n in queries))
        first: dict[frozenset[int], int] = {}
        kinds = kinds_that_satisfy(letters, self._readers)
        alike = {k: first.setdefault(self._kinds[k] & letters, k) for k in kinds}
        found: dict[int, Happening] = {}
        for kind in first.values():
            if own := [n for n in queries if kind in self._queries[n].effects]:
                atoms = [a for n in own for a in atoms_of(self._memory, n, kind)]
                emptied = [place for n in own for place in emptied_by(self._memory, n, kind)]
                found[kind] = Happening([a for a in atoms if a.counts or a.columns or a.bound], emptied)
        return _Component(queries, list(dict.fromkeys(self._unit_of[n] for n in queries)), found, alike)

    def _add_bases(self, components: Sequence[_Component]) -> None:
        """Basis columns get their memory first: their operations need to know how large all of it is."""
        memory = self._memory
        of = {n: component for component in components for n in component.queries}
        found = []
        for number, region in enumerate(tuple(memory.regions)):
            if region.part.basis:
                component = of[region.part.lanes[0][0][0]]
                if (inner := inner_of(memory, number, component.happenings)) is not None:
                    found.append((component, number, inner))
        for component, number, inner in found:
            component.bases.append((number, inner.basis(2 * memory.size)))

    def _fill(self, component: _Component) -> None:
        """The records of a component and of its units."""
        for _, basis in component.bases:
            component.inside.append({kind: self._inside(inside, basis) for kind, inside in basis.inside.items()})
            component.records.append(self._basis(basis, component.inside[-1], component.alike))
        for unit in component.units:
            bases = [
                [record]
                for (region, _), record in zip(component.bases, component.records, strict=True)
                if any(self._unit_of[lane[0][0]] == unit for lane in self._memory.regions[region].part.lanes)
            ]
            negations = [found for n in self._sharing.units[unit] for found in self._negations(n)]
            merges = self._places[unit] if self._guarded[unit] else ()
            record = self._unit([unit], bases, negations, merges)
            self._table[self._units[unit] : self._units[unit] + len(UNIT)] = record
        guarded = appended(self._table, ([self._units[u]] for u in component.units if self._guarded[u]))
        records = appended(self._table, ([record] for record in component.records))
        component.record = appended(self._table, [[self._state(len(AT_INSTANT)), *guarded, *records]])[0]

    def _basis(self, basis: Basis, inside: Mapping[int, int], alike: Mapping[int, int]) -> int:
        meaning = {first: inside.get(first, NONE if first in basis.ends else 0) for first in alike.values()}
        ahead, _ = appended(self._table, ([meaning[alike[k]] if k in alike else 0] for k in range(len(self._kinds))))
        reset = self._listed(basis.reset)
        ones = appended(self._table, ([place] for place in basis.ones))
        application = self._listed(basis.application)[:2]
        cost = self._costs.application * (self._costs.of(basis.reset) + self._costs.of(basis.application))
        sections = appended(self._table, ([at] for at in basis.sections))
        own = [[*appended(self._table, o.pieces), *self._listed(o.application)[:2]] for o in basis.lanes]
        lanes, _ = appended(self._table, own)
        record = [
            self._state(RUN_PROGRESS),
            ahead,
            *reset,
            *ones,
            *application,
            _whole(cost),
            *sections,
            basis.shift,
            basis.stash,
            basis.room,
            lanes,
        ]
        return appended(self._table, [record])[0]

    def _inside(self, inside: Inside, basis: Basis) -> int:
        lists = [self._listed(operations) for operations in (inside.direct, inside.basis, inside.wide)]
        differing = appended(
            self._table, [[lane, *self._listed(operations)] for lane, operations in inside.own.items()]
        )
        gain = self._costs.of(inside.direct) - self._costs.of(inside.basis)
        gain -= sum(self._costs.of_own(basis, lane) for lane in inside.own)
        if inside.own:  # it is done on each lane's own columns by itself; half of what there can be are in use
            gain -= OWN / 2 * self._costs.of(inside.basis)
        return appended(self._table, [[at for found in lists for at in found] + [*differing, _whole(gain)]])[0]

    # ---- units

    def _unit(
        self,
        units: Sequence[int],
        bases: Sequence[Sequence[int]] = (),
        negations: Sequence[Sequence[int]] = (),
        merges: Sequence[LaneState] = (),
    ) -> list[int]:
        """The record of a unit, or of several with the same windows as one. To the places of `merges` an instant adds
        at its end alone.
        """
        memory, numbers = self._memory, [n for unit in units for n in self._sharing.units[unit]]
        window, places = self._queries[numbers[0]].plan.window, [place for u in units for place in self._places[u]]
        slots = self._queries[numbers[0]].slots
        sections: dict[
            tuple[bool, int, LaneColumn | None], list[int]
        ] = {}  # by region and lane, the rows one after the other
        for place in places:
            region, lane, _ = memory.at[place]
            of = region << 32 | lane
            sections.setdefault((True, of, None), []).append(memory.count(place))
            for c in memory.all_columns(place):
                sections.setdefault((c.additive, of, c), []).append(memory.column(place, c))
        lists = [
            _progressions([found for (additive, _, _), found in sections.items() if additive]),
            _progressions([found for (additive, _, _), found in sections.items() if not additive]),
            [[at] for at in dict.fromkeys(memory.count(memory.place(n, 0)) for n in numbers)],
            [self._output(n) for n in numbers],
            bases,
            negations,
        ]
        at_end = [*merged(memory, merges, self._second, 0), *cleared(memory, merges, self._second)]
        ends = [place for records in lists for place in appended(self._table, records)]
        return [
            self._state(len(PROGRESS)),
            *((window.begin(0), window.end(0), window.slide) if isinstance(window, Sliding) else (0, 0, 0)),
            slots, *ends, *self._listed(at_end),
        ]  # fmt: skip

    def _output(self, n: int) -> list[int]:
        memory, query = self._memory, self._queries[n]
        accepting = [memory.place(n, state) for state in query.automaton.accepting]
        counts = [memory.count(place) for place in accepting]
        columns = [memory.column(place, c) for c in query.columns for place in accepting]
        places = appended(self._table, [counts, columns])[0]
        return [n, len(accepting), query.planes.count, query.planes.additive, fewest(query.plan), places]

    def _negations(self, n: int) -> list[list[int]]:
        return [self._negation(n, *found) for found in sorted(self._queries[n].automaton.negation_letters.items())]

    def _negation(self, n: int, negation: int, letters: frozenset[int]) -> list[int]:
        if len(letters) > 62:
            raise ValueError("a negation of more than 62 letters")
        automaton, order = self._queries[n].automaton, sorted(letters)
        moves = [
            self._move(n, move, order, new)
            for new, found in enumerate((automaton.moves, automaton.new_moves))
            for move in found
            if move.negation == negation
        ]
        seen = self._state(1)
        self._letters.setdefault(n, []).append((seen, order))
        return [seen, *appended(self._table, moves)]

    def _move(self, n: int, move: Move, order: list[int], new: int) -> list[int]:
        memory, at, third = self._memory, new * self._second, 2 * self._second
        source = memory.place(n, move.source)
        taken = [o._replace(source=o.source + at) for o in copied_to(memory, [source], third)]
        taken += cleared(memory, [source], at)
        put: list[Operation] = []
        if move.target != DROPPED:
            columns = self._queries[n].columns
            put = added(memory, [(Atom(source, memory.place(n, move.target), True, columns, ()), third, at)])
        return [_bits(move.letters, order), new, *appended(self._table, taken), *appended(self._table, put)]

    def _batches(self, does: Iterable[Sequence[Operation]]) -> tuple[int, int]:
        start = len(self._table)
        for batch, pairs in batches(does):
            self._table += [*batch, len(self._table) + len(BATCH) + len(pairs), *pairs]
        return start, len(self._table)

    # ---- bands

    def _add_bands(self, components: Sequence[_Component]) -> None:
        """Units with the same windows, each alone in its component, are a band if there are enough of them."""
        alike: dict[tuple[int, ...], list[_Component]] = {}
        for component in components:
            if not component.bases and len(component.units) == 1:
                unit = self._units[component.units[0]]
                windows = tuple(self._table[unit + UNIT.begin : unit + UNIT.slots + 1])
                alike.setdefault(windows, []).append(component)
        for own in alike.values():
            if len(own) >= MEMBERS:
                band = self._band([component.units[0] for component in own])
                for component in own:
                    component.band = band

    def _band(self, units: Sequence[int]) -> int:
        members = appended(self._table, ([self._units[unit]] for unit in units))
        unit = appended(self._table, [self._unit(units)])[0]
        return appended(self._table, [[self._state(len(TOGETHER)), unit, *members]])[0]

    # ---- blocks

    def _add_kinds(self, concerned: Sequence[Sequence[_Component]]) -> None:
        """The blocks of all kinds, those of one band one after the other, and what says where they are."""
        found = [self._blocks_by_band(kind, components) for kind, components in enumerate(concerned)]
        heads: list[list[int]] = []
        sections: list[tuple[int, int, tuple[int, int]]] = []
        for kind, of_kind in enumerate(found):
            heads.append([len(self._table), len(sections)])
            for band, blocks in of_kind.items():
                sections.append((kind, band, appended(self._table, blocks)))
        heads.append([len(self._table), len(sections)])
        records = [self._section(concerned[kind], kind, band, blocks) for kind, band, blocks in sections]
        first, _ = appended(self._table, records)
        self._table[: len(heads) * len(KIND)] = [
            at for blocks, section in heads for at in (blocks, first + section * len(SECTION))
        ]

    def _blocks_by_band(self, kind: int, components: Sequence[_Component]) -> dict[int, list[list[int]]]:
        found: dict[int, list[list[int]]] = {}
        for component in components:
            found.setdefault(component.band, []).append(self._block_of(component, component.alike[kind]))
        return found

    def _section(self, components: Sequence[_Component], kind: int, band: int, blocks: tuple[int, int]) -> list[int]:
        if band == NONE:
            return [band, *blocks, 0, 0, 0, 0]
        does = [c.alone[c.alike[kind]] for c in components if c.band == band]
        return [band, *blocks, *self._batches(does), sum(map(len, does)), sum(o.width for own in does for o in own)]

    def _block_of(self, component: _Component, kind: int) -> list[int]:
        """The block of a kind, the same one for all kinds that are alike to the component."""
        if kind not in component.blocks:
            component.blocks[kind] = self._block(component, kind)
        return component.blocks[kind]

    def _block(self, component: _Component, kind: int) -> list[int]:
        memory, happening, letters = self._memory, component.happenings[kind], self._kinds[kind]
        concerned = [n for n in component.queries if kind in self._queries[n].effects]
        starts: dict[int, bool] = {}
        for n in concerned:
            unit = self._unit_of[n]
            starts[unit] = starts.get(unit, False) or self._queries[n].effects[kind].starts
        inside = {region for region, basis in component.bases if kind in basis.inside}
        rest = [a for a in happening.atoms if memory.at[a.target][0] not in inside]
        runs = [
            [record, found.get(kind, NONE)]
            for (_, basis), record, found in zip(component.bases, component.records, component.inside, strict=True)
            if kind in basis.inside or kind in basis.ends
        ]
        tied_operations, changed = tied(memory, concerned if self._ties else (), letters, self._second)
        loose = [place for place in changed if not self._guarded[self._unit_of[place[0]]]]
        settled = [*merged(memory, loose, self._second, 0), *cleared(memory, loose, self._second)]
        seen = [
            [place, bits]
            for n in concerned
            for place, order in self._letters.get(n, ())
            if (bits := _bits([letter for letter in order if letter in letters], order))
        ]
        killed = [n for n in concerned if letters & set(self._queries[n].automaton.kills)]
        first = next(iter(starts))
        gated = len(component.units) > 1 or bool(component.bases)
        others = [self._other(unit, begins, happening) for unit, begins in starts.items()] if gated else []
        alone = in_place(memory, rest, happening.emptied, 2 * self._second)
        component.alone[kind] = alone
        cost = self._costs.of(alone) + sum(self._costs.usual(b, kind) for _, b in component.bases if kind in b.inside)
        unit = self._units[first]
        record = [
            component.record,
            *appended(self._table, others),
            *appended(self._table, runs),
            *self._listed(tied_operations),
            *self._listed(settled),
            *appended(self._table, seen),
            *appended(self._table, ([self._units[self._unit_of[n]]] for n in killed)),
            _whole(cost),
        ]  # fmt: skip
        return [
            self._state(len(GATE)) if gated else NONE,
            unit, self._table[unit + UNIT.progress], starts[first],
            *self._listed(alone),
            appended(self._table, [record])[0],
        ]  # fmt: skip

    def _other(self, unit: int, starts: bool, happening: Happening) -> list[int]:
        """What an event does to one of several units, if few are touched."""
        atoms = [a for a in happening.atoms if self._unit_of[a.target[0]] == unit]
        emptied = [place for place in happening.emptied if self._unit_of[place[0]] == unit]
        operations = in_place(self._memory, atoms, emptied, 2 * self._second)
        return [self._units[unit], starts, *self._listed(operations), _whole(self._costs.of(operations))]


def _negates(query: KernelQuery) -> bool:
    return bool(query.automaton.moves or query.automaton.new_moves or query.automaton.kills)


def _whole(cost: float) -> int:
    return int(max(-_LIMIT, min(_LIMIT, cost)))


def _progressions(sections: Sequence[Sequence[int]]) -> list[list[int]]:
    """Places as few arithmetic progressions: the first, the step, how many. A section's are one already."""
    found: list[list[int]] = []
    for place in sorted(place for section in sections for place in section):
        if found and found[-1][PROGRESSION.times] == 1:
            found[-1][PROGRESSION.step], found[-1][PROGRESSION.times] = place - found[-1][PROGRESSION.first], 2
        elif (
            found and place == found[-1][PROGRESSION.first] + found[-1][PROGRESSION.step] * found[-1][PROGRESSION.times]
        ):
            found[-1][PROGRESSION.times] += 1
        else:
            found.append([place, 0, 1])
    if len(found) <= len(sections):
        return found
    return [progression for section in sections for progression in _progressions([section])]


def _bits(letters: Sequence[int], order: Sequence[int]) -> int:
    return sum(1 << order.index(letter) for letter in set(letters))
