"""Which states of which queries lie together: the plan's sharing, for the queries at hand.

A *place* is a query (by its number) and a state. A *lane* is a place for each row of a part; the lanes of a part lie
side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..plan.automaton import Automaton
    from ..plan.sharing import SharedStates
    from ..plan.strategy import CountedQuery

LaneState = tuple[int, int]
Lane = tuple[LaneState, ...]


@dataclass(frozen=True)
class SharedLanes:
    """Lanes of equally many rows. `basis`: runs of events may be propagated on basis columns."""

    lanes: tuple[Lane, ...]
    basis: bool = False


@dataclass(frozen=True)
class Sharing:
    """`leader` says for every place which one is kept for it, mostly itself; every place that is kept is in one part.

    A *unit* is queries with kept places in common, which go from window to window together; a *component* is units of
    which some lie side by side. Both are numbers of queries.
    """

    leader: dict[LaneState, LaneState]
    parts: tuple[SharedLanes, ...]
    units: tuple[tuple[int, ...], ...]
    components: tuple[tuple[int, ...], ...]


def sharing_of(queries: Sequence[CountedQuery], shared: Sequence[SharedStates]) -> Sharing:
    """The sharing of these queries, each with an automaton. What is about others is left out."""
    numbers = {query.name: number for number, query in enumerate(queries)}
    leader = {(n, s): (n, s) for n, query in enumerate(queries) for s in range(_automaton(query).states)}
    stand_in: dict[tuple[str, int], LaneState] = {}  # for a first member that is left out
    for part in shared:
        if part.equal:
            _lead(queries, part, numbers, leader, stand_in)
    parts = [*_parts(shared, numbers, leader, stand_in)]
    taken = {place for part in parts for lane in part.lanes for place in lane}
    for n, query in enumerate(queries):
        own = [(n, s) for s in range(_automaton(query).states)]
        if rest := tuple(place for place in own if leader[place] == place and place not in taken):
            parts.append(SharedLanes((rest,)))
    units = _joined(len(queries), ([place[0], led[0]] for place, led in leader.items()))
    beside = ([place[0] for lane in part.lanes for place in lane] for part in parts)
    return Sharing(leader, tuple(parts), units, _joined(len(queries), [*units, *beside]))


def _automaton(query: CountedQuery) -> Automaton:
    return query.automaton


def _lead(
    queries: Sequence[CountedQuery],
    part: SharedStates,
    numbers: dict[str, int],
    leader: dict[LaneState, LaneState],
    stand_in: dict[tuple[str, int], LaneState],
) -> None:
    """Note which places are kept for others.

    Where a negation moves or empties these states they lie side by side instead: in an instant of several events that
    is done query by query, and would be done twice.
    """
    members = {numbers[m.query]: m.states for m in part.members if m.query in numbers}
    if not members:
        return
    first, states = next(iter(members.items()))
    for place, state in zip(part.members[0].states, states, strict=True):
        stand_in[part.members[0].query, place] = first, state
    if any(_negated(_automaton(queries[n]), own) for n, own in members.items()):
        return
    for n, own in members.items():
        if queries[n].window != queries[first].window:
            raise ValueError(f"queries {queries[n].name} and {queries[first].name} do not have the same windows")
        leader.update({(n, state): (first, led) for state, led in zip(own, states, strict=True)})


def _negated(automaton: Automaton, states: tuple[int, ...]) -> bool:
    moves = (*automaton.moves, *automaton.new_moves)
    return bool(automaton.kills) or any({m.source, m.target} & set(states) for m in moves)


def _parts(
    shared: Iterable[SharedStates],
    numbers: dict[str, int],
    leader: dict[LaneState, LaneState],
    stand_in: dict[tuple[str, int], LaneState],
) -> Iterator[SharedLanes]:
    for part in shared:
        if part.equal:
            continue
        lanes = []
        for member in part.members:
            known = {s: (numbers[member.query], s) for s in member.states} if member.query in numbers else {}
            lane = [known.get(s) or stand_in.get((member.query, s)) for s in member.states]
            places = tuple(leader[place] for place in lane if place is not None)
            if len(places) == len(lane) and len({n for n, _ in places}) == 1:
                lanes.append(places)
        if len(lanes) > 1 or (lanes and part.basis):
            yield SharedLanes(tuple(lanes), part.basis)


def _joined(count: int, together: Iterable[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """The classes of the numbers below `count`, of which some are together."""
    root = list(range(count))

    def find(n: int) -> int:
        while root[n] != n:
            root[n] = n = root[root[n]]
        return n

    for numbers in together:
        for n in numbers:
            a, b = find(numbers[0]), find(n)
            root[max(a, b)] = min(a, b)
    classes: dict[int, list[int]] = {}
    for n in range(count):
        classes.setdefault(find(n), []).append(n)
    return tuple(map(tuple, classes.values()))
