"""The template of a workload (§2.2): all transitions of all queries, gathered into pools in an order.

Sets of queries are bit sets: bit i is query i of the workload.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import field, replace
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .places import write

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from .places import WrittenPlaces
    from .query import Query, Type

QueryMask = int


def bits(mask: QueryMask) -> Iterator[int]:
    """The queries of a bit set, ascending.

    >>> list(bits(0b1010))
    [1, 3]
    """
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


@dataclass(frozen=True, slots=True)
class Transition:
    """tran(E_i, E_j), and the queries that have it. `cycle` is an index into the pool's cycles."""

    source: Type
    target: Type
    queries: QueryMask
    cycle: int | None = None


@dataclass(frozen=True, slots=True)
class KleenePart:
    """One Kleene sub-pattern, flat or nested, and the queries that contain it."""

    types: tuple[Type, ...]
    queries: QueryMask


@dataclass(frozen=True, slots=True)
class Pool:
    """The transitions for which one sharing plan is chosen (definition 4.1).

    Outside of Kleene operators that is one transition. Inside, it is a whole Kleene sub-graph (§6), since its plan is
    consistent (lemma 6.1): that of an outermost Kleene sub-pattern together with all others that share a part of it.
    """

    transitions: tuple[Transition, ...]
    cycles: tuple[KleenePart, ...]
    queries: QueryMask
    begins: Mapping[Type, QueryMask]
    """Which queries begin at a source of the pool."""
    finishes: Mapping[Type, QueryMask]
    """Which queries end at a target of the pool."""

    @property
    def kleene(self) -> bool:
        return bool(self.cycles)

    @property
    def types(self) -> tuple[Type, ...]:
        """Where a Q-set can begin with snapshots of its own: at E_i, or at each type of a Kleene sub-pattern."""
        if not self.kleene:
            return (self.transitions[0].source,)
        return tuple(dict.fromkeys(t for part in self.cycles for t in part.types))

    @property
    def trivial(self) -> bool:
        """One query alone: there is nothing to decide."""
        return not self.queries & (self.queries - 1)


@dataclass(frozen=True, slots=True)
class Link:
    """Two consecutive pools (definition 4.1), the type between them, and the queries that go this way."""

    before: int
    after: int
    type: Type
    queries: QueryMask


@dataclass(frozen=True, slots=True)
class Template:
    """Pools in an order in which every link leads onwards. `starts` are the types that queries begin with."""

    queries: tuple[Query, ...]
    patterns: tuple[WrittenPlaces, ...]
    pools: tuple[Pool, ...]
    links: tuple[Link, ...]
    starts: tuple[tuple[Type, QueryMask], ...]
    before: tuple[tuple[Link, ...], ...] = field(init=False)
    after: tuple[tuple[Link, ...], ...] = field(init=False)

    def __post_init__(self) -> None:
        before: list[list[Link]] = [[] for _ in self.pools]
        after: list[list[Link]] = [[] for _ in self.pools]
        for link in self.links:
            if link.before >= link.after:
                raise ValueError("a link leads back")
            before[link.after].append(link)
            after[link.before].append(link)
        object.__setattr__(self, "before", tuple(map(tuple, before)))
        object.__setattr__(self, "after", tuple(map(tuple, after)))


def template_of(queries: Sequence[Query], steps: int | None = None) -> Template:
    """The template of a workload; queries without places, or of the same name, are the caller's mistake.

    Transitions of different queries can form a circle that no Kleene operator makes: (A, B, C), (B, C, A), (C, A, B).
    Pools have no order then, so a query that would close such a circle gets pools of its own, which it shares with
    others that did not fit either. Once more than `steps` pools were looked at for circles, those that are left share
    with none, unless all of their links were there already.

    >>> from cepc_grammar.pattern import Repeat, Seq
    >>> from ..pattern import Event
    >>> from .query import Query
    >>> a, b, c = (Event(i, "v") for i in range(3))
    >>> template = template_of([Query("q", Seq((a, b, c))), Query("r", Seq((a, Repeat(b, 1, None))))])
    >>> [[(t.source.letters, t.target.letters, t.queries) for t in pool.transitions] for pool in template.pools]
    [[((0,), (1,), 3)], [((1,), (2,), 1)], [((1,), (1,), 2)]]
    """
    if len({q.name for q in queries}) < len(queries):
        raise ValueError("two queries have the same name")
    patterns = _numbered([write(q.pattern, q.name) for q in queries])
    gathered = [_gather(patterns, layer) for layer in _layers(patterns, steps)]
    pools: list[Pool] = []
    links: list[Link] = []
    for pool_map, link_map in gathered:
        numbers = {key: len(pools) + i for i, key in enumerate(_in_order(pool_map, link_map))}
        pools += (pool_map[key].freeze() for key in numbers)
        links += (Link(numbers[a], numbers[b], kind, mask) for (a, b, kind), mask in link_map.items())
    starts: defaultdict[Type, QueryMask] = defaultdict(int)
    for number, pattern in enumerate(patterns):
        for place in pattern.starts:
            starts[pattern.types[place]] |= 1 << number
    ordered = sorted(links, key=lambda link: (link.before, link.after, link.type))
    return Template(tuple(queries), patterns, tuple(pools), tuple(ordered), tuple(sorted(starts.items())))


def _numbered(patterns: Sequence[WrittenPlaces]) -> tuple[WrittenPlaces, ...]:
    """With a number for each shape, as trees are slow keys."""
    numbers: dict[Hashable, int] = {}
    return tuple(
        replace(w, cycles=tuple(replace(c, shape=numbers.setdefault(c.shape, len(numbers))) for c in w.cycles))
        for w in patterns
    )


# ---- pools by key ----------------------------------------------------------------------------------------------------

PoolKey = tuple["Hashable", ...]
_Links = dict[tuple[PoolKey, PoolKey, "Type"], QueryMask]


@dataclass(slots=True)
class _Growing:
    """A pool while queries are added to it. Cycles by shape, transitions by what makes them the same."""

    cycles: dict[Hashable, tuple[tuple[Type, ...], QueryMask]] = field(default_factory=dict)
    transitions: dict[Hashable, tuple[Type, Type, Hashable, QueryMask]] = field(default_factory=dict)
    begins: dict[Type, QueryMask] = field(default_factory=dict)
    finishes: dict[Type, QueryMask] = field(default_factory=dict)

    def freeze(self) -> Pool:
        shapes = {shape: i for i, shape in enumerate(self.cycles)}
        transitions = tuple(
            Transition(source, target, mask, None if shape is None else shapes[shape])
            for source, target, shape, mask in self.transitions.values()
        )
        queries = 0
        for transition in transitions:
            queries |= transition.queries
        return Pool(
            transitions,
            tuple(KleenePart(types, mask) for types, mask in self.cycles.values()),
            queries,
            self.begins,
            self.finishes,
        )


def _gather(patterns: Sequence[WrittenPlaces], numbers: Sequence[int]) -> tuple[dict[PoolKey, _Growing], _Links]:
    clusters = _clusters([patterns[n] for n in numbers])
    pools: dict[PoolKey, _Growing] = {}
    links: _Links = {}
    for number in numbers:
        _add(patterns[number], 1 << number, clusters, pools, links)
    return pools, links


def _add(
    pattern: WrittenPlaces,
    bit: QueryMask,
    clusters: Mapping[Hashable, int],
    pools: dict[PoolKey, _Growing],
    links: _Links,
) -> None:
    types, cycles = pattern.types, pattern.cycles
    keys = [_pool_key(pattern, number, clusters) for number in range(len(pattern.steps))]
    into: defaultdict[int, dict[PoolKey, None]] = defaultdict(dict)
    for step, key in zip(pattern.steps, keys, strict=True):
        into[step.target][key] = None
        pool = pools.setdefault(key, _Growing())
        source, target = types[step.source], types[step.target]
        cycle = None if step.cycle is None else cycles[step.cycle]
        shape = None if cycle is None else cycle.shape
        _, _, _, mask = pool.transitions.get((source, target, step.ways, shape), (source, target, shape, 0))
        pool.transitions[source, target, step.ways, shape] = (source, target, shape, mask | bit)
        while cycle is not None:
            _, mask = pool.cycles.get(cycle.shape, (cycle.types, 0))
            pool.cycles[cycle.shape] = (cycle.types, mask | bit)
            cycle = None if cycle.outer is None else cycles[cycle.outer]
        if step.source in pattern.starts:
            pool.begins[source] = pool.begins.get(source, 0) | bit
        if step.target in pattern.ends:
            pool.finishes[target] = pool.finishes.get(target, 0) | bit
    for step, key in zip(pattern.steps, keys, strict=True):
        for before in into[step.source]:
            if before != key:
                link = (before, key, types[step.source])
                links[link] = links.get(link, 0) | bit


def _pool_key(pattern: WrittenPlaces, number: int, clusters: Mapping[Hashable, int]) -> PoolKey:
    step = pattern.steps[number]
    if step.cycle is None:
        return pattern.types[step.source], pattern.types[step.target], step.ways
    return ("+", clusters[pattern.cycles[step.cycle].shape])


def _clusters(patterns: Sequence[WrittenPlaces]) -> dict[Hashable, int]:
    """A number for each shape: the same for Kleene sub-patterns of which one contains the other, and so on."""
    parent: dict[Hashable, Hashable] = {}

    def root(shape: Hashable) -> Hashable:
        while parent[shape] != shape:
            shape = parent[shape]
        return shape

    for pattern in patterns:
        for number, cycle in enumerate(pattern.cycles):
            parent.setdefault(cycle.shape, cycle.shape)
            outer = pattern.cycles[pattern.outermost(number)].shape
            parent.setdefault(outer, outer)
            parent[root(cycle.shape)] = root(outer)
    roots: dict[Hashable, int] = {}
    return {shape: roots.setdefault(root(shape), len(roots)) for shape in parent}


# ---- their order -----------------------------------------------------------------------------------------------------


def _layers(patterns: Sequence[WrittenPlaces], steps: int | None) -> Iterator[tuple[int, ...]]:
    """The queries in groups whose pools can be put in order, as many as possible in the first."""
    left = list(range(len(patterns)))
    seen = 0
    while left:
        if steps is not None and seen > steps:
            yield from ((number,) for number in left)
            return
        clusters = _clusters([patterns[n] for n in left])
        order = _Order()
        most = None if steps is None else steps - seen
        fit = [n for n in left if _fits(patterns[n], clusters, order, most)]
        # A query can even close a circle by itself, if others join two of its Kleene sub-patterns: alone it cannot.
        layer = fit or left[:1]
        yield tuple(layer)
        seen += order.seen
        gone = set(layer)
        left = [n for n in left if n not in gone]


@dataclass(slots=True)
class _Order:
    """Which pools come directly after and before which; `seen` counts those that were looked at for a way."""

    after: defaultdict[PoolKey, set[PoolKey]] = field(default_factory=lambda: defaultdict(set))
    before: defaultdict[PoolKey, set[PoolKey]] = field(default_factory=lambda: defaultdict(set))
    seen: int = 0

    def add(self, before: PoolKey, after: PoolKey) -> None:
        self.after[before].add(after)
        self.before[after].add(before)

    def remove(self, before: PoolKey, after: PoolKey) -> None:
        self.after[before].discard(after)
        self.before[after].discard(before)

    def leads(self, start: PoolKey, goal: PoolKey) -> bool:
        """Is there a way from one pool to another? Looked for from both ends, as one of them often has few ways."""
        ways = (({start}, [start], self.after), ({goal}, [goal], self.before))
        while ways[0][1] and ways[1][1]:
            for (seen, stack, onward), (met, _, _) in (ways, ways[::-1]):
                if stack:
                    pool = stack.pop()
                    if pool in met:
                        return True
                    more = onward.get(pool, set()) - seen
                    self.seen += 1 + len(more)
                    seen |= more
                    stack.extend(more)
        return bool(ways[0][0] & ways[1][0])


def _fits(pattern: WrittenPlaces, clusters: Mapping[Hashable, int], order: _Order, most: int | None) -> bool:
    """Adds the query's links to the order, unless they would close a circle, or so many pools were looked at."""
    links: _Links = {}
    _add(pattern, 1, clusters, {}, links)
    added: list[tuple[PoolKey, PoolKey]] = []
    for before, after, _ in links:
        if after in order.after[before]:
            continue
        if (most is not None and order.seen > most) or order.leads(after, before):
            for link in added:
                order.remove(*link)
            return False
        order.add(before, after)
        added.append((before, after))
    return True


def _in_order(pools: Mapping[PoolKey, _Growing], links: _Links) -> list[PoolKey]:
    """Topological; among pools that could come next, the one seen first."""
    onward: defaultdict[PoolKey, dict[PoolKey, None]] = defaultdict(dict)
    for before, after, _ in links:
        onward[before][after] = None
    waiting = dict.fromkeys(pools, 0)
    for following in onward.values():
        for key in following:
            waiting[key] += 1
    ready = [key for key in pools if not waiting[key]]
    for key in ready:
        for after in onward[key]:
            waiting[after] -= 1
            if not waiting[after]:
                ready.append(after)
    return ready
