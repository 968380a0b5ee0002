"""Basis columns: a run of events propagated once for all lanes of a part (snapshots, in HAMLET's word), and when that
pays.

An event is *inside* a part if it adds rows of the part to rows of the part, the same in every lane. It may also read
rows outside, *entries*, that it does not change. A run is events of which none touches the part but from inside. Its
effect on each lane is one linear map: new row i = sum over d of B[i][d] * old row d, where d is a row or an entry that
is read. B comes from running the same operations on a lane of its own, whose "windows" are the d: the basis columns. So
do further planes: a sum becomes sum of B[i][d] * sum of row d + D[i][d] * count of row d, where D is the same sum on
basis columns; a minimum is the least of the minima of the rows d with B[i][d] > 0, and of L[i][d] where the count of
row d is above 0.

Whether it is exact is seen as without. Counts are sums of products of non-negative integers, and rounding is monotone:
if a factor were past 2**53, so would be its product with any count that is not 0, and all that it adds to. A final
count below 2**53 was therefore made of exact products of exact factors; a factor past it that meets a 0 adds nothing
(an infinite one is not multiplied at all). The same holds for sums of magnitudes, which bound each term of the signed
sums beside them. What ends past 2**53 is counted again in integers, with neither basis nor sharing.

An event may do something else in few of the lanes, as its condition holds for some queries only. From then on such a
lane has basis columns *of its own*: a copy of the common ones, to which its own events are done. HAMLET's snapshot at
event level is a column for what the event adds, in all lanes; here all else that the run does to the lane is gathered
once more, which takes a few numbers for an event, and only this lane's rows are applied by themselves.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

from ..cheap_dataclass import dataclass
from .effects import order, reached
from .joint import Atom, cleared, copied_to, in_place
from .lanes import LaneColumn, add_region
from .operations import LEAST, MIN_IF, MULTIPLY, SCALE, Operation, coalesced
from .shared_lanes import SharedLanes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .lanes import BoundAt, LaneMemory, LaneRegion
    from .shared_lanes import LaneState


USUAL_RUN: Final = 16

OWN: Final = 7
"""Lanes that can have basis columns of their own at a time."""


@dataclass(frozen=True)
class Costs:
    """What an operation costs beside its width: measured, some six nanoseconds against a tenth or two of one for a
    number.
    """

    operation: float = 50.0
    application: float = 1.0  # a factor for applying what a run has gathered
    own: float = 3500.0  # that a lane gets columns of its own, besides: its operations are few numbers each

    def of(self, operations: Sequence[Operation]) -> float:
        return sum(self.operation + o.width for o in operations)

    def of_own(self, basis: Basis, lane: int) -> float:
        """What it costs that a lane has columns of its own."""
        own = basis.lanes[lane]
        return self.own + self.operation * (len(basis.sections) + 2 * len(own.pieces)) + self.of(own.application)

    def usual(self, basis: Basis, kind: int) -> float:
        """What an event inside costs, in a run that is neither long nor short."""
        inside = basis.inside[kind]
        applied = (self.of(basis.reset) + self.of(basis.application)) / USUAL_RUN
        return min(self.of(inside.direct), self.of(inside.basis) + applied)


@dataclass(frozen=True)
class Inside:
    """An event that is inside: on the lanes themselves; or on the common basis columns, or on all that there are. In
    the lanes of `own` it does something else, here on the common columns: to be done on their own, `Basis.shift` on for
    each.
    """

    direct: tuple[Operation, ...]
    basis: tuple[Operation, ...]
    wide: tuple[Operation, ...]
    own: Mapping[int, tuple[Operation, ...]]


@dataclass(frozen=True)
class OwnColumns:
    """How a lane that has basis columns of its own is applied: the numbers of its rows (from where, how many) are put
    by, and taken back when all lanes have been applied; what then applies its own columns takes values from these.
    """

    pieces: tuple[tuple[int, int], ...]
    application: tuple[Operation, ...]


@dataclass(frozen=True)
class Basis:
    """How runs of a part go. `inside` are the kinds of events that go on with one, `ends` those that end it.

    A run begins with `reset`, then `ones`; at its end `application` takes the values of operations from the memory, and
    skips those that are 0. Where lanes can have columns of their own, `lanes` says how each is applied; a lane gets
    them as a copy of the `shift` numbers from each of `sections` on. From `stash` on there is room for the numbers of
    so many lanes, `room` for each.
    """

    inside: dict[int, Inside]
    ends: frozenset[int]
    reset: tuple[Operation, ...]
    ones: tuple[int, ...]
    application: tuple[Operation, ...]
    shift: int
    sections: tuple[int, ...]
    stash: int
    room: int
    lanes: tuple[OwnColumns, ...]


class _Way(NamedTuple):
    """Row or entry to row. Entries are numbered after the rows."""

    source: int
    target: int


@dataclass(frozen=True)
class Happening:
    """What a kind of event does to a component."""

    atoms: Sequence[Atom]
    emptied: Sequence[LaneState]


def inner_of(memory: LaneMemory, region: int, happenings: Mapping[int, Happening]) -> Inner | None:
    """What is inside a region, with memory for its basis columns; None if no event is inside."""
    part = _Ways(memory.regions[region])
    ways = {kind: part.ways(happening) for kind, happening in happenings.items()}
    entries = {
        (lane, way.source) for found in ways.values() if found for lane, way in found.all() if way.source >= part.rows
    }
    read = {part.entries[lane][entry - part.rows] for lane, entry in entries}
    inside = {
        kind: found
        for kind, found in ways.items()
        if found
        and found.atoms
        and not any(a.target in read for a in happenings[kind].atoms)
        and not read & {*happenings[kind].emptied}
    }
    if not any(found.common for found in inside.values()):
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
    dimensions = sorted({way.source for found in inside.values() for _, way in found.all()})
    planes = _planes(memory.regions[region], part, inside)
    rows = max(part.rows, dimensions[-1] + 1)
    differ = any(found.own for found in inside.values())
    copies = 1 + (OWN if differ else 0)
    label = count()
    own = tuple(tuple((-1 - region, next(label)) for _ in range(rows)) for _ in range(copies))
    apart: dict[LaneColumn, BoundAt] = {plane: [(plane.number, 0, 0)] for plane in planes.bound}
    add_region(memory, SharedLanes(own), [len(dimensions)] * copies, [apart] * copies)
    virtual = _Virtual(memory, own, dimensions)
    stash = memory.size
    memory.size += (copies - 1) * _room(memory.regions[region])
    return Inner(memory, memory.regions[region], part, inside, ends, planes, virtual, stash, differ)


def _room(region: LaneRegion) -> int:
    """For the numbers of a lane, of whichever has most."""
    return region.rows * max(s * (1 + len(c)) for s, c in zip(region.slots, region.columns, strict=True))


@dataclass(frozen=True)
class _Found:
    """What an event does inside a part: the ways of most lanes, and those of lanes with others; and all atoms."""

    common: frozenset[_Way]
    own: Mapping[int, frozenset[_Way]]
    atoms: Sequence[Atom]
    lanes: int

    def of(self, lane: int) -> frozenset[_Way]:
        return self.own.get(lane, self.common)

    def all(self) -> Iterator[tuple[int, _Way]]:
        return ((lane, way) for lane in range(self.lanes) for way in self.of(lane))


class _Ways:
    """The atoms of a part, as ways between its rows."""

    def __init__(self, region: LaneRegion) -> None:
        self.rows = region.rows
        self.lanes = region.part.lanes
        self.of = {place: (lane, row) for lane, places in enumerate(self.lanes) for row, place in enumerate(places)}
        self.places = set(self.of)
        self.entries: list[list[LaneState]] = [[] for _ in self.lanes]

    def ways(self, happening: Happening) -> _Found | None:
        """What happens inside; None if something is not inside, or too many lanes differ."""
        if self.places & {*happening.emptied}:
            return None
        atoms: list[Atom] = []
        lanes: Counter[tuple[int, _Way]] = Counter()
        followers: list[tuple[int, _Way]] = []
        for a in happening.atoms:
            if (way := self.way(a)) is None:
                if a.source in self.of or a.target in self.of:
                    return None
                continue
            atoms.append(a)
            if a.counts:
                lanes[way] += 1
            else:
                followers.append(way)
        if any(times > 1 for times in lanes.values()) or any(follower not in lanes for follower in followers):
            return None
        of_lane: list[set[_Way]] = [set() for _ in self.lanes]
        for lane, there in lanes:
            of_lane[lane].add(there)
        found = [frozenset(several) for several in of_lane]
        common = Counter(found).most_common(1)[0][0]
        own = {lane: ways for lane, ways in enumerate(found) if ways != common}
        return None if len(own) > min(OWN, len(found) // 2) else _Found(common, own, atoms, len(found))

    def way(self, a: Atom) -> tuple[int, _Way] | None:
        """The lane and the way of an atom; None if it is not inside."""
        if a.target not in self.of:
            return None
        lane, row = self.of[a.target]
        source = self._source(a.source, lane)
        return None if source is None else (lane, _Way(source, row))

    def _source(self, place: LaneState, lane: int) -> int | None:
        if place in self.of:
            return self.of[place][1] if self.of[place][0] == lane else None
        if place not in self.entries[lane]:
            self.entries[lane].append(place)
        return self.rows + self.entries[lane].index(place)


@dataclass(frozen=True)
class Inner:
    """What is inside a region, analysed."""

    memory: LaneMemory
    region: LaneRegion
    part: _Ways
    inside: Mapping[int, _Found]
    ends: frozenset[int]
    planes: _Planes
    virtual: _Virtual
    stash: int
    differ: bool

    def basis(self, copies: int) -> Basis:
        """The basis; what needs a copy has it `copies` further on."""
        memory, virtual = self.memory, self.virtual
        application = _Application(self)
        lanes = range(len(self.part.lanes))
        return Basis(
            {kind: self._inside(kind, found, copies) for kind, found in self.inside.items()},
            self.ends,
            tuple(cleared(memory, virtual.copies[0], 0)),
            tuple(virtual.count(d, d) for d in virtual.dimensions),
            tuple(application.operations(copies, lanes)),
            len(virtual.dimensions),
            tuple(
                at
                for place in virtual.copies[0]
                for at in (memory.count(place), *(memory.column(place, c) for c in self.planes.bound))
            ),
            self.stash,
            _room(self.region),
            tuple(self._lane(application, lane, copies) for lane in lanes) if self.differ else (),
        )

    def _lane(self, application: _Application, lane: int, copies: int) -> OwnColumns:
        found = copied_to(self.memory, self.part.lanes[lane], copies)
        return OwnColumns(tuple((o.source, o.width) for o in found), tuple(application.operations(copies, [lane])))

    def _inside(self, kind: int, found: _Found, copies: int) -> Inside:
        common = [self._basis_atom(way, self.planes.common(way, kind)) for way in sorted(found.common)]
        wide = [
            a._replace(source=places[of[a.source]], target=places[of[a.target]])
            for places in self.virtual.copies
            for of in [{place: row for row, place in enumerate(self.virtual.copies[0])}]
            for a in common
        ]
        own = {
            lane: [self._basis_atom(way, self.planes.own(lane, way, kind)) for way in sorted(ways)]
            for lane, ways in found.own.items()
        }
        return Inside(
            tuple(in_place(self.memory, found.atoms, (), copies)),
            tuple(in_place(self.memory, common, (), copies)),
            tuple(in_place(self.memory, wide, (), copies)),
            {lane: tuple(in_place(self.memory, atoms, (), copies)) for lane, atoms in own.items()},
        )

    def _basis_atom(self, way: _Way, bound: tuple[LaneColumn, ...]) -> Atom:
        places = self.virtual.copies[0]
        return Atom(places[way.source], places[way.target], True, tuple(self.planes.bound), bound)


_When = tuple[_Way, int]
"""At a way, at a kind of event."""


@dataclass
class _Planes:
    """The planes of the basis columns: `bound` says when a value is added to each of them, `own` where a lane differs;
    `of` finds for each column of each lane which it is, for those to which nothing is added none.
    """

    bound: dict[LaneColumn, set[_When]] = field(default_factory=dict)
    by_lane: list[dict[LaneColumn, LaneColumn]] = field(default_factory=list)
    own_bound: dict[tuple[int, LaneColumn], frozenset[_When]] = field(default_factory=dict)

    def common(self, way: _Way, kind: int) -> tuple[LaneColumn, ...]:
        return tuple(plane for plane, when in self.bound.items() if (way, kind) in when)

    def own(self, lane: int, way: _Way, kind: int) -> tuple[LaneColumn, ...]:
        return tuple(plane for plane in self.bound if (way, kind) in self.own_bound.get((lane, plane), ()))


def _planes(region: LaneRegion, part: _Ways, inside: Mapping[int, _Found]) -> _Planes:
    """Columns to which the same is added have one plane: where a lane differs at a kind of event, the column only need
    agree with those of other lanes at other kinds.
    """
    when: list[dict[LaneColumn, set[_When]]] = [{c: set() for c in found} for found in region.columns]
    for kind, found in inside.items():
        for a in found.atoms:
            if a.bound and (at := part.way(a)) is not None:
                for c in a.bound:
                    when[at[0]][c].add((at[1], kind))
    planes = _Planes(by_lane=[{} for _ in when])
    agreed: dict[LaneColumn, set[int]] = {}  # kinds at which some lane of the plane does as most do
    for lane, of_lane in enumerate(when):
        kinds = {kind for kind, found in inside.items() if lane not in found.own}
        for c, all_when in of_lane.items():
            if not all_when:
                continue
            usual = {w for w in all_when if w[1] in kinds}
            own = frozenset(all_when - usual)
            for plane, bound in planes.bound.items():
                both = kinds & agreed[plane]
                if (
                    (plane.value, plane.additive) == (c.value, c.additive)
                    and {w for w in bound if w[1] in both} == {w for w in usual if w[1] in both}
                    and planes.own_bound.get((lane, plane), own) == own
                ):
                    break
            else:
                plane = LaneColumn(len(planes.bound), c.value, c.additive)
                planes.bound[plane], agreed[plane] = set(), set()
            planes.bound[plane] |= usual
            agreed[plane] |= kinds
            planes.own_bound[lane, plane] = own
            planes.by_lane[lane][c] = plane
    return planes


@dataclass(frozen=True)
class _Virtual:
    """The basis columns: the common ones, and as many lanes' own as there can be."""

    memory: LaneMemory
    copies: Sequence[Sequence[LaneState]]
    dimensions: Sequence[int]

    def count(self, row: int, dimension: int) -> int:
        return self.memory.count(self.copies[0][row]) + self.dimensions.index(dimension)

    def plane(self, row: int, dimension: int, column: LaneColumn) -> int:
        return self.memory.column(self.copies[0][row], column) + self.dimensions.index(dimension)


class _Application:
    """At the end of a run: each row of the part becomes a combination of rows and entries as they stood at its
    beginning.
    """

    def __init__(self, inner: Inner) -> None:
        self._memory = inner.memory
        self._region = inner.region
        self._part = inner.part
        self._virtual = inner.virtual
        self._planes = inner.planes
        ways = dict.fromkeys(way for found in inner.inside.values() for _, way in found.all())
        reached = {d: _reachable(d, ways) for d in inner.virtual.dimensions}
        self._reads = {row: {d for d, rows in reached.items() if row in rows} for row in range(self._part.rows)}

    def operations(self, copies: int, lanes: Sequence[int]) -> list[Operation]:
        """Those of some lanes."""
        reads = self._reads
        changed = [row for row, sources in reads.items() if sources]
        found = order(changed, {row: reads[row] - {row} for row in changed})
        copied = [self._part.lanes[lane][row] for row in sorted(found.copied) for lane in lanes]
        operations = copied_to(self._memory, copied, copies)
        for row in found.rows:
            if row in reads[row]:
                operations += self._itself(row, lanes)
            for d in sorted(reads[row] - {row}):
                operations += self._other(row, d, copies * (d in found.copied), lanes)
        return operations

    def _itself(self, row: int, lanes: Sequence[int]) -> list[Operation]:
        memory, scale = self._memory, self._virtual.count(row, row)
        sums: list[Operation] = []
        values: list[Operation] = []
        counts: list[Operation] = []
        for lane in lanes:
            slots, place = self._region.slots[lane], self._part.lanes[lane][row]
            counts.append(Operation(SCALE, memory.count(place), 0, slots, scale))
            for c in self._region.columns[lane]:
                if c.additive:
                    sums.append(Operation(SCALE, memory.column(place, c), 0, slots, scale))
            values += self._valued(lane, row, row, place, 0)
        return [*coalesced(sums), *coalesced(values), *coalesced(counts)]

    def _other(self, row: int, d: int, off: int, lanes: Sequence[int]) -> list[Operation]:
        memory, factor = self._memory, self._virtual.count(row, d)
        found: list[Operation] = []
        values: list[Operation] = []
        for lane in lanes:
            slots, place, source = self._region.slots[lane], self._part.lanes[lane][row], self._source(lane, d)
            if source is None:
                continue
            found.append(Operation(MULTIPLY, memory.count(place), memory.count(source) + off, slots, factor))
            for c in self._region.columns[lane].keys() & {*memory.all_columns(source)}:
                code = MULTIPLY if c.additive else MIN_IF
                found.append(Operation(code, memory.column(place, c), memory.column(source, c) + off, slots, factor))
            values += self._valued(lane, row, d, source, off)
        return [*coalesced(found), *coalesced(values)]

    def _valued(self, lane: int, row: int, d: int, source: LaneState, off: int) -> Iterator[Operation]:
        memory, slots, place = self._memory, self._region.slots[lane], self._part.lanes[lane][row]
        for c, plane in self._planes.by_lane[lane].items():
            code = MULTIPLY if c.additive else LEAST
            value = self._virtual.plane(row, d, plane)
            yield Operation(code, memory.column(place, c), memory.count(source) + off, slots, value)

    def _source(self, lane: int, d: int) -> LaneState | None:
        """Where a row or an entry of a lane is; None if the lane has no such entry."""
        part = self._part
        if d < part.rows:
            return part.lanes[lane][d]
        return part.entries[lane][d - part.rows] if d - part.rows < len(part.entries[lane]) else None


def _reachable(start: int, ways: Iterable[_Way]) -> frozenset[int]:
    """The rows to which something of `start` comes; itself only by a way back."""
    after: dict[int, list[int]] = {}
    for way in ways:
        after.setdefault(way.source, []).append(way.target)
    return reached(after.get(start, ()), after)
