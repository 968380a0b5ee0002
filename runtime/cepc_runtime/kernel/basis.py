"""Basis columns: a run of events propagated once for all lanes of a part (snapshots, in HAMLET's word), and when that pays.

An event is *inside* a part if it adds rows of the part to rows of the part, the same in every lane. It may also read rows outside,
*entries*, that it does not change. A run is events of which none touches the part but from inside. Its effect on each lane is one
linear map: new row i = sum over d of B[i][d] * old row d, where d is a row or an entry that is read. B comes from running the same
operations on a lane of its own, whose "windows" are the d: the basis columns. So do further planes: a sum becomes
sum of B[i][d] * sum of row d + D[i][d] * count of row d, where D is the same sum on basis columns; a minimum is the least of the
minima of the rows d with B[i][d] > 0, and of L[i][d] where the count of row d is above 0.

Whether it is exact is seen as without. Counts are sums of products of non-negative integers, and rounding is monotone: if a
factor were past 2**53, so would be its product with any count that is not 0, and all that it adds to. A final count below 2**53 was
therefore made of exact products of exact factors; a factor past it that meets a 0 adds nothing (an infinite one is not
multiplied at all). The same holds for sums of magnitudes, which bound each term of the signed sums beside them. What
ends past 2**53 is counted again in integers, with neither basis nor sharing.

An event that is inside for some lanes only, as its condition holds for some queries, ends the run: an own basis column for what
differs (HAMLET's snapshot at event level) would cost the application to the row it reads, and one more column for the rest of the
run; with the few rows that run inside parts, applying all and beginning anew costs about the same.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from .joint import Atom, cleared, in_place
from .lanes import Column, add_region
from .operations import COPY, LEAST, MIN_IF, MULTIPLY, SCALE, Operation, coalesced
from .program import order
from .sharing import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .lanes import Memory, Region
    from .sharing import Place


USUAL_RUN: Final = 16


@dataclass(frozen=True)
class Costs:
    """What an operation costs beside its width: measured, some six nanoseconds against a fifth of one for a number."""

    operation: float = 30.0
    application: float = 1.0  # a factor for applying what a run has gathered

    def of(self, operations: Sequence[Operation]) -> float:
        return sum(self.operation + o.width for o in operations)

    def usual(self, basis: Basis, kind: int) -> float:
        """What an event inside costs, in a run that is neither long nor short."""
        inside = basis.inside[kind]
        applied = (self.of(basis.reset) + self.of(basis.application)) / USUAL_RUN
        return min(self.of(inside.direct), self.of(inside.basis) + applied)


@dataclass(frozen=True)
class Inside:
    """An event that is inside: on the lanes themselves, or on the basis columns."""

    direct: tuple[Operation, ...]
    basis: tuple[Operation, ...]


@dataclass(frozen=True)
class Basis:
    """How runs of a part go. `inside` are the kinds of events that go on with one, `ends` those that end it.

    A run begins with `reset`, then `ones`; at its end `application` takes the values of operations from the memory, and
    skips those that are 0.
    """

    inside: dict[int, Inside]
    ends: frozenset[int]
    reset: tuple[Operation, ...]
    ones: tuple[int, ...]
    application: tuple[Operation, ...]


class _Way(NamedTuple):
    """Row or entry to row. Entries are numbered after the rows."""

    source: int
    target: int


@dataclass(frozen=True)
class Happening:
    """What a kind of event does to a component."""

    atoms: Sequence[Atom]
    emptied: Sequence[Place]


def inner_of(memory: Memory, region: int, happenings: Mapping[int, Happening]) -> Inner | None:
    """What is inside a region, with memory for its basis columns; None if no event is inside."""
    part = _Ways(memory.regions[region])
    ways = {kind: part.ways(happening) for kind, happening in happenings.items()}
    entries = {way.source for found in ways.values() for way in found or () if way.source >= part.rows}
    read = {places[entry - part.rows] for places in part.entries for entry in entries}
    inside = {
        kind: found
        for kind, found in ways.items()
        if found
        and not any(a.target in read for a in happenings[kind].atoms)
        and not read & {*happenings[kind].emptied}
    }
    if not inside:
        return None
    touching = read | part.places
    ends = frozenset(
        kind
        for kind, happening in happenings.items()
        if kind not in inside
        and (
            any(a.target in touching or a.source in part.places for a in happening.atoms)
            or touching & {*happening.emptied}
        )
    )
    ways_inside = dict.fromkeys(way for of_kind in inside.values() for way in of_kind)
    dimensions = sorted({way.source for way in ways_inside})
    planes, at = _planes(memory.regions[region], part, inside)
    own = tuple((-1 - region, row) for row in range(max(part.rows, dimensions[-1] + 1)))
    add_region(memory, Part((own,)), [len(dimensions)], [{column: [] for column in planes.values()}])
    virtual = _Virtual(memory, own, dimensions)
    return Inner(memory, memory.regions[region], part, inside, ends, planes, at, virtual)


class _Ways:
    """The atoms of a part, as ways between its rows."""

    def __init__(self, region: Region) -> None:
        self.rows = region.rows
        self.lanes = region.part.lanes
        self.of = {place: (lane, row) for lane, places in enumerate(self.lanes) for row, place in enumerate(places)}
        self.places = set(self.of)
        self.entries: list[list[Place]] = [[] for _ in self.lanes]

    def ways(self, happening: Happening) -> dict[_Way, list[Atom]] | None:
        """The ways inside with their atoms; None if something is not inside."""
        if self.places & {*happening.emptied}:
            return None
        found: dict[_Way, list[Atom]] = {}
        lanes: Counter[tuple[_Way, int]] = Counter()
        followers: list[tuple[_Way, int]] = []
        for a in happening.atoms:
            if a.target not in self.of:
                if a.source in self.of:
                    return None
                continue
            lane, row = self.of[a.target]
            source = self._source(a.source, lane)
            if source is None:
                return None
            way = _Way(source, row)
            found.setdefault(way, []).append(a)
            if a.counts:
                lanes[way, lane] += 1
            else:
                followers.append((way, lane))
        alike = all(lanes[way, lane] == 1 for way in found for lane in range(len(self.lanes)))
        return found if alike and all(follower in lanes for follower in followers) else None

    def _source(self, place: Place, lane: int) -> int | None:
        if place in self.of:
            return self.of[place][1] if self.of[place][0] == lane else None
        if place not in self.entries[lane]:
            self.entries[lane].append(place)
        return self.rows + self.entries[lane].index(place)


@dataclass(frozen=True)
class Inner:
    """What is inside a region, analysed."""

    memory: Memory
    region: Region
    part: _Ways
    inside: Mapping[int, Mapping[_Way, Sequence[Atom]]]
    ends: frozenset[int]
    planes: Mapping[_Key, Column]
    at: Sequence[Mapping[Column, _Key]]
    virtual: _Virtual

    def basis(self, copies: int) -> Basis:
        """The basis; what needs a copy has it `copies` further on."""
        own = self.virtual.places
        return Basis(
            {kind: self._inside(kind, copies) for kind in self.inside},
            self.ends,
            tuple(cleared(self.memory, own, 0)),
            tuple(self.virtual.count(d, d) for d in self.virtual.dimensions),
            tuple(_Application(self).operations(copies)),
        )

    def _inside(self, kind: int, copies: int) -> Inside:
        own, columns = self.virtual.places, tuple(self.planes.values())
        direct = [a for found in self.inside[kind].values() for a in found]
        basis = [
            Atom(own[source], own[target], True, columns, self._bound(source, target, kind))
            for source, target in self.inside[kind]
        ]
        return Inside(tuple(in_place(self.memory, direct, (), copies)), tuple(in_place(self.memory, basis, (), copies)))

    def _bound(self, source: int, target: int, kind: int) -> tuple[Column, ...]:
        return tuple(column for key, column in self.planes.items() if (source, target, kind) in key[2])


_Key = tuple[bool, int, frozenset[tuple[int, int, int]]]
"""Planes to which the same is added: additive, the value, and at which ways of which kinds."""


def _planes(
    region: Region, part: _Ways, inside: Mapping[int, Mapping[_Way, Sequence[Atom]]]
) -> tuple[dict[_Key, Column], list[dict[Column, _Key]]]:
    """The planes of the basis columns, and for each column of each lane which it is; for those to which nothing is added, none."""
    bound: list[dict[Column, set[tuple[int, int, int]]]] = [{c: set() for c in found} for found in region.columns]
    for kind, found in inside.items():
        for way, atoms in found.items():
            for a in atoms:
                for c in a.bound:
                    bound[part.of[a.target][0]][c].add((way.source, way.target, kind))
    keys: list[dict[Column, _Key]] = [
        {c: (c.additive, c.value, frozenset(when)) for c, when in of_lane.items() if when} for of_lane in bound
    ]
    distinct = dict.fromkeys(key for of_lane in keys for key in of_lane.values())
    return {key: Column(i, key[1], key[0]) for i, key in enumerate(distinct)}, keys


@dataclass(frozen=True)
class _Virtual:
    """The lane of the basis columns."""

    memory: Memory
    places: Sequence[Place]
    dimensions: Sequence[int]

    def count(self, row: int, dimension: int) -> int:
        return self.memory.count(self.places[row]) + self.dimensions.index(dimension)

    def plane(self, row: int, dimension: int, column: Column) -> int:
        return self.memory.column(self.places[row], column) + self.dimensions.index(dimension)


class _Application:
    """At the end of a run: each row of the part becomes a combination of rows and entries as they stood at its beginning."""

    def __init__(self, inner: Inner) -> None:
        self._memory = inner.memory
        self._region = inner.region
        self._part = inner.part
        self._virtual = inner.virtual
        self._planes = inner.planes
        self._at = inner.at
        ways = dict.fromkeys(way for found in inner.inside.values() for way in found)
        self._reached = {d: _reachable(d, ways) for d in inner.virtual.dimensions}

    def operations(self, copies: int) -> list[Operation]:
        reads = {row: {d for d, rows in self._reached.items() if row in rows} for row in range(self._part.rows)}
        changed = [row for row, sources in reads.items() if sources]
        found = order(changed, {row: reads[row] - {row} for row in changed})
        start, width = self._region.start, self._region.width
        operations = [
            Operation(COPY, start + row * width + copies, start + row * width, width) for row in sorted(found.copied)
        ]
        for row in found.rows:
            if row in reads[row]:
                operations += self._itself(row)
            for d in sorted(reads[row] - {row}):
                operations += self._other(row, d, copies * (d in found.copied))
        return operations

    def _itself(self, row: int) -> list[Operation]:
        memory, scale = self._memory, self._virtual.count(row, row)
        sums: list[Operation] = []
        values: list[Operation] = []
        counts: list[Operation] = []
        for lane, places in enumerate(self._part.lanes):
            slots, place = self._region.slots[lane], places[row]
            counts.append(Operation(SCALE, memory.count(place), 0, slots, scale))
            for c in self._region.columns[lane]:
                if c.additive:
                    sums.append(Operation(SCALE, memory.column(place, c), 0, slots, scale))
            values += self._valued(lane, row, row, place, 0)
        return [*coalesced(sums), *coalesced(values), *coalesced(counts)]

    def _other(self, row: int, d: int, off: int) -> list[Operation]:
        memory, factor = self._memory, self._virtual.count(row, d)
        found: list[Operation] = []
        values: list[Operation] = []
        for lane, places in enumerate(self._part.lanes):
            slots, place = self._region.slots[lane], places[row]
            source = self._source(lane, d)
            found.append(Operation(MULTIPLY, memory.count(place), memory.count(source) + off, slots, factor))
            for c in self._region.columns[lane].keys() & {*memory.all_columns(source)}:
                code = MULTIPLY if c.additive else MIN_IF
                found.append(Operation(code, memory.column(place, c), memory.column(source, c) + off, slots, factor))
            values += self._valued(lane, row, d, source, off)
        return [*coalesced(found), *coalesced(values)]

    def _valued(self, lane: int, row: int, d: int, source: Place, off: int) -> Iterator[Operation]:
        memory, slots, place = self._memory, self._region.slots[lane], self._part.lanes[lane][row]
        for c, key in self._at[lane].items():
            code = MULTIPLY if c.additive else LEAST
            value = self._virtual.plane(row, d, self._planes[key])
            yield Operation(code, memory.column(place, c), memory.count(source) + off, slots, value)

    def _source(self, lane: int, d: int) -> Place:
        part = self._part
        return part.lanes[lane][d] if d < part.rows else part.entries[lane][d - part.rows]


def _reachable(start: int, ways: Iterable[_Way]) -> set[int]:
    """The rows to which something of `start` comes; itself only by a way back."""
    after: dict[int, list[int]] = {}
    for way in ways:
        after.setdefault(way.source, []).append(way.target)
    found: set[int] = set()
    waiting = [start]
    while waiting:
        for target in after.get(waiting.pop(), ()):
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found
