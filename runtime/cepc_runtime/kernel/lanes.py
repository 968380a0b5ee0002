"""Where the numbers of a state stand in memory.

A part has a region of memory with a row for each of its rows; a row has a section for each lane's counts, then for each
of its additive planes, then for its minimum planes; a section has a number for each window slot, and window k is in
slot k mod slots. Sections of lanes to which the same value is added at the same steps are neighbours, so that one
operation serves them all.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from ..cheap_dataclass import dataclass
from ..events.letters import kinds_that_satisfy, readers_of
from ..plan.automaton import DROPPED
from .effects import effect, reached

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..plan.automaton import Automaton
    from ..plan.strategy import CountedQuery
    from .effects import Effect
    from .planes import QueryPlanes, ValueKey
    from .shared_lanes import LaneState, SharedLanes, Sharing


BoundAt = list[tuple[int, int, int]]
"""Row, row, kind of event."""


class LaneColumn(NamedTuple):
    """A plane of a place, by a number that is unique among those of its unit. `value` is a row of the values'
    matrix.
    """

    number: int
    value: int
    additive: bool


@dataclass(frozen=True)
class KernelQuery:
    """A query as the kernel sees it: what it does at events of each kind that concerns it, the columns of its planes,
    and for each state those that are not empty in all its partial matches: of a variable that some may have bound.
    """

    plan: CountedQuery
    automaton: Automaton
    planes: QueryPlanes
    slots: int
    effects: dict[int, Effect]
    columns: tuple[LaneColumn, ...]
    carried: tuple[frozenset[LaneColumn], ...]

    def bound(self, variable: int) -> list[LaneColumn]:
        """The columns to which an event adds that is bound to the variable."""
        return [c for c, plane in zip(self.columns, self.planes.planes, strict=True) if plane.variable == variable]


def queries_of(
    plans: Sequence[CountedQuery],
    planes: Sequence[QueryPlanes],
    kinds: Sequence[frozenset[int]],
    index: Mapping[ValueKey, int],
    sharing: Sharing,
) -> list[KernelQuery]:
    """The queries, for events of these kinds. `index` finds the rows of values."""
    kept = Counter(sharing.leader.values())
    joined = {place for place, times in kept.items() if times > 1}
    columns: dict[int, tuple[LaneColumn, ...]] = {}
    for unit in sharing.units:
        known: dict[tuple[int, bool, frozenset[object]], list[LaneColumn]] = {}
        for n in unit:
            columns[n] = _columns(n, plans[n], planes[n], index, sharing, joined, known)
    readers = readers_of(kinds)
    found = []
    for n, (plan, own) in enumerate(zip(plans, planes, strict=True)):
        automaton = plan.automaton
        letters = automaton.letters
        own_kinds = {k: kinds[k] & letters for k in kinds_that_satisfy(letters, readers)}
        distinct = {there: effect(automaton, there) for there in own_kinds.values()}
        effects = {k: distinct[there] for k, there in own_kinds.items()}
        carried = _carried(automaton, own, columns[n])
        found.append(KernelQuery(plan, automaton, own, plan.window.open_at_once, effects, columns[n], carried))
    return found


def _carried(
    automaton: Automaton, planes: QueryPlanes, columns: Sequence[LaneColumn]
) -> tuple[frozenset[LaneColumn], ...]:
    steps = (*automaton.steps, *automaton.ties)
    moves = [move for move in (*automaton.moves, *automaton.new_moves) if move.target != DROPPED]
    after: dict[int, set[int]] = {}
    for source, target in [*((s.source, s.target) for s in steps), *((m.source, m.target) for m in moves)]:
        after.setdefault(source, set()).add(target)
    binding: dict[int, frozenset[int]] = {
        variable: reached({step.target for step in steps if step.variable == variable}, after)
        for variable in {plane.variable for plane in planes.planes}
    }
    of = [(column, binding[plane.variable]) for column, plane in zip(columns, planes.planes, strict=True)]
    return tuple(frozenset(c for c, states in of if state in states) for state in range(automaton.states))


def _columns(
    n: int,
    plan: CountedQuery,
    planes: QueryPlanes,
    index: Mapping[ValueKey, int],
    sharing: Sharing,
    joined: set[LaneState],
    known: dict[tuple[int, bool, frozenset[object]], list[LaneColumn]],
) -> tuple[LaneColumn, ...]:
    """The columns of a query: where places are kept together, planes to which the same is added have the same
    column.
    """
    automaton = plan.automaton
    taken: Counter[object] = Counter()
    found = []
    for plane in planes.planes:
        steps = frozenset(
            (source if source in joined else None, target, step.letter)
            for step in (*automaton.steps, *automaton.ties)
            if step.variable == plane.variable
            and (target := sharing.leader[n, step.target]) in joined
            and (source := sharing.leader[n, step.source])
        )
        key = index[plane.value], plane.additive, steps
        alike = known.setdefault(key, [])
        if taken[key] == len(alike):
            alike.append(LaneColumn(sum(map(len, known.values())), index[plane.value], plane.additive))
        found.append(alike[taken[key]])
        taken[key] += 1
    return tuple(found)


@dataclass
class LaneRegion:
    """The memory of a part: `counts[l]` and `columns[l]` say where the sections of a lane begin in a row."""

    part: SharedLanes
    start: int
    slots: tuple[int, ...]
    counts: tuple[int, ...]
    columns: tuple[dict[LaneColumn, int], ...]
    additive: int
    width: int

    @property
    def rows(self) -> int:
        return len(self.part.lanes[0])


@dataclass
class LaneMemory:
    """All regions. `at` finds the region, lane and row of a place that is kept."""

    queries: Sequence[KernelQuery]
    sharing: Sharing
    regions: list[LaneRegion] = field(default_factory=list)
    at: dict[LaneState, tuple[int, int, int]] = field(default_factory=dict)
    owners: dict[tuple[LaneState, LaneColumn | None], int] = field(default_factory=dict)
    size: int = 0

    def place(self, query: int, state: int) -> LaneState:
        return self.sharing.leader[query, state]

    def row(self, place: LaneState) -> int:
        region, _, row = self.at[place]
        return self.regions[region].start + row * self.regions[region].width

    def count(self, place: LaneState) -> int:
        """Where the counts of a place begin."""
        region, lane, _ = self.at[place]
        return self.row(place) + self.regions[region].counts[lane]

    def column(self, place: LaneState, column: LaneColumn) -> int:
        region, lane, _ = self.at[place]
        return self.row(place) + self.regions[region].columns[lane][column]

    def all_columns(self, place: LaneState) -> Iterable[LaneColumn]:
        region, lane, _ = self.at[place]
        return self.regions[region].columns[lane]

    def slots(self, place: LaneState) -> int:
        region, lane, _ = self.at[place]
        return self.regions[region].slots[lane]


def memory_of(queries: Sequence[KernelQuery], sharing: Sharing) -> LaneMemory:
    memory = LaneMemory(queries, sharing)
    followers: dict[LaneState, list[int]] = {}
    for (n, _), place in sharing.leader.items():
        followers.setdefault(place, []).append(n)
    for place, own in followers.items():
        memory.owners[place, None] = place[0]
        for n in sorted(own, key=lambda n: (n != place[0], n)):
            for column in queries[n].columns:
                memory.owners.setdefault((place, column), n)
    for part in sharing.parts:
        bound = [
            {
                c: _bindings(queries, sharing, lane, c, memory.owners) if len(part.lanes) > 1 else []
                for c in _all(queries, lane, followers)
            }
            for lane in part.lanes
        ]
        add_region(memory, part, [queries[lane[0][0]].slots for lane in part.lanes], bound)
    return memory


def _all(
    queries: Sequence[KernelQuery], lane: Sequence[LaneState], followers: Mapping[LaneState, Sequence[int]]
) -> list[LaneColumn]:
    """The columns of a lane: those of all queries for which some of its places are kept."""
    return list(dict.fromkeys(c for place in lane for n in sorted(followers[place]) for c in queries[n].columns))


def _bindings(
    queries: Sequence[KernelQuery],
    sharing: Sharing,
    lane: Sequence[LaneState],
    column: LaneColumn,
    owners: Mapping[tuple[LaneState, LaneColumn | None], int],
) -> BoundAt:
    """At which kinds of events, from which row (-1: another part's) to which, the value is added to a column of the
    lane.
    """
    rows = {place: i for i, place in enumerate(lane)}
    own = {owners[place, column] for place in lane if (place, column) in owners}
    return sorted(
        (rows.get(sharing.leader[n, read.source], -1), rows[target], kind)
        for n in own
        for kind, found in queries[n].effects.items()
        for read in found.reads
        if (target := sharing.leader[n, read.target]) in rows
        and owners.get((target, column)) == n
        and column in queries[n].bound(read.variable)
    )


def add_region(
    memory: LaneMemory, part: SharedLanes, slots: Sequence[int], bound: Sequence[Mapping[LaneColumn, BoundAt]]
) -> LaneRegion:
    """Give a part its memory. `bound` has for each lane its columns, and when values are added to them."""

    def alike(lane: int, column: LaneColumn) -> tuple[bool, int, BoundAt]:
        return not column.additive, column.value, bound[lane][column]

    def signature(lane: int) -> list[tuple[bool, int, BoundAt]]:
        return sorted(alike(lane, column) for column in bound[lane])

    lanes = sorted(range(len(part.lanes)), key=signature)
    counts = [0] * len(lanes)
    columns: list[dict[LaneColumn, int]] = [{} for _ in lanes]
    width = 0
    for lane in lanes:
        counts[lane] = width
        width += slots[lane]
    sections = sorted(
        ((alike(lane, column), place, lane, column) for place, lane in enumerate(lanes) for column in bound[lane]),
        key=lambda section: section[:2],
    )
    additive = width + sum(slots[lane] for _, _, lane, column in sections if column.additive)
    for _, _, lane, column in sections:
        columns[lane][column] = width
        width += slots[lane]
    region = LaneRegion(part, memory.size, tuple(slots), tuple(counts), tuple(columns), additive, width)
    for lane, places in enumerate(part.lanes):
        for row, place in enumerate(places):
            memory.at[place] = len(memory.regions), lane, row
    memory.regions.append(region)
    memory.size += width * len(part.lanes[0])
    return region
