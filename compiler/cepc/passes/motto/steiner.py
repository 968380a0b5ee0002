"""The minimum directed Steiner tree of an acyclic graph: exact by branch and bound, else by simulated annealing (§V-B).

Every vertex hangs on one other, so the tree is given by which of the optional (Steiner) vertices are in it: each vertex
takes the cheapest of its ways from those that are. That is a facility location problem, in which what is opened is a
customer too, and its bound is good: the dual ascent of Erlenkotter, "A dual-based procedure for uncapacitated facility
location", 1978, with the cheapest way to each optional vertex as the cost of opening it.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import networkx as nx

_CLOSE = 1e-9  # of the cost: less than that is rounding


@dataclass(frozen=True, slots=True)
class SteinerTree:
    """For each vertex of the tree, but for the root, the one that it hangs on."""

    parents: Mapping[int, int]
    cost: float
    optimal: bool
    steps: int


def steiner_tree(graph: nx.DiGraph, root: int, terminals: Collection[int], steps: int, seed: int = 0) -> SteinerTree:
    """The tree from the root to all terminals with the least sum of `cost` over its edges, in an acyclic graph.

    The root has an edge to every vertex. Each connected part is searched for `steps` steps (edges looked at) and, where
    these do not suffice, annealed for as many.

    >>> import networkx
    >>> graph = networkx.DiGraph()
    >>> graph.add_weighted_edges_from([(0, 1, 3), (0, 2, 4), (0, 3, 4), (1, 2, 1), (1, 3, 1)], weight="cost")
    >>> steiner_tree(graph, 0, [2, 3], 1000).parents
    {1: 0, 2: 1, 3: 1}
    """
    import networkx as nx  # slow to import, and most programs need none

    kept = _useful(graph, root, frozenset(terminals))
    parents: dict[int, int] = {}
    costs: list[float] = []
    optimal, done = True, 0
    without_root = kept.subgraph(v for v in kept if v != root).to_undirected(as_view=True)
    for component in sorted(map(sorted, nx.connected_components(without_root))):
        ways = {v: {u: data["cost"] for u, _, data in kept.in_edges(v, data=True)} for v in component}
        search = _Search(_Part(root, ways, [v for v in component if v in terminals]), steps)
        chosen = search.run()
        if not search.complete:
            chosen = search.annealed(random.Random(seed))
        tree = search.part.parents(chosen)
        parents |= tree
        costs.append(math.fsum(ways[v][u] for v, u in tree.items()))
        optimal, done = optimal and search.complete, done + search.steps
    return SteinerTree(dict(sorted(parents.items())), math.fsum(costs), optimal, done)


def _useful(graph: nx.DiGraph, root: int, terminals: frozenset[int]) -> nx.DiGraph:
    """The graph without optional vertices that save less than they cost, and edges that are no cheaper than others
    that are always there: an optimal tree needs none of them.
    """
    kept = graph.copy()
    waiting = [v for v in kept if v != root and v not in terminals]
    base: dict[int, float] = {}
    for v in (v for v in graph if v != root):
        ways = sorted((data["cost"], u) for u, _, data in kept.in_edges(v, data=True))
        cheapest = next(way for way in ways if way[1] == root or way[1] in terminals)
        base[v] = cheapest[0]
        kept.remove_edges_from([(u, v) for cost, u in ways if cost >= cheapest[0] and u != cheapest[1]])
    while waiting:
        opening = {v: min(data["cost"] for *_, data in kept.in_edges(v, data=True)) for v in waiting}
        useless = [v for v in waiting if _saving(kept, v, base) <= opening[v]]
        if not useless:
            break
        kept.remove_nodes_from(useless)
        gone = set(useless)
        waiting = [v for v in waiting if v not in gone]
    return kept


def _saving(graph: nx.DiGraph, vertex: int, base: Mapping[int, float]) -> float:
    """The most that the tree can save by having this vertex, its own cost left aside."""
    return math.fsum(base[v] - data["cost"] for _, v, data in graph.out_edges(vertex, data=True))


class _Part:
    """A connected part of the graph: for each vertex its ways, the vertex that it may hang on and the cost."""

    def __init__(self, root: int, ways: Mapping[int, Mapping[int, float]], terminals: Sequence[int]) -> None:
        self.root, self.terminals = root, terminals
        self.always = frozenset({*terminals, root})
        self.ways = ways
        self.sources = {v: self._to_the_first_that_is_always_there(from_) for v, from_ in ways.items()}
        self.users: dict[int, list[int]] = {v: [] for v in ways}
        for v, from_ in ways.items():
            for u in from_:
                if u != root:
                    self.users[u].append(v)
        self.optional = [v for v in ways if v not in self.always]
        self.edges = sum(map(len, ways.values()))

    def _to_the_first_that_is_always_there(self, ways: Mapping[int, float]) -> list[tuple[float, int]]:
        """The ways to a vertex, the cheapest first; what is dearer than the last is never taken."""
        ordered = sorted((cost, u) for u, cost in ways.items())
        last = next(place for place, (_, u) in enumerate(ordered) if u in self.always)
        return ordered[: last + 1]

    def way(self, vertex: int, chosen: Collection[int]) -> tuple[float, int]:
        """The cheapest way to a vertex from what is in the tree."""
        sources = self.sources[vertex]
        for way in sources:
            if way[1] in chosen:
                return way
        return sources[-1]

    def cost(self, chosen: Collection[int]) -> float:
        return math.fsum(self.way(v, chosen)[0] for v in (*self.terminals, *chosen))

    def parents(self, chosen: Collection[int]) -> dict[int, int]:
        return {v: self.way(v, chosen)[1] for v in (*self.terminals, *chosen)}

    def change(self, vertex: int, chosen: set[int]) -> float:
        """What the tree costs more with an optional vertex than without it; it may be in `chosen` or not."""
        without = chosen - {vertex}
        less = []
        for v in self.users[vertex]:
            if v in self.always or v in without:
                own, other = self.ways[v][vertex], self.way(v, without)[0]
                if own < other:
                    less.append(own - other)
        return self.way(vertex, without)[0] + math.fsum(less)


class _Search:
    def __init__(self, part: _Part, steps: int) -> None:
        self.part, self._limit = part, steps
        self.steps = 0
        self.complete = True
        self._best = self._greedy()
        self._least = part.cost(self._best)

    def run(self) -> frozenset[int]:
        """Depth first over which optional vertices are in the tree and which are not; the best set found."""
        waiting: list[tuple[frozenset[int], frozenset[int]]] = [(frozenset(), frozenset())]
        while waiting:
            if self.steps >= self._limit:
                self.complete = False
                break
            chosen, out = waiting.pop()
            self.steps += self.part.edges
            self._offer(chosen)
            bound, gains = self._bound(chosen, out)
            if bound >= self._least - _CLOSE * max(1.0, abs(self._least)) * 1e-3 or not gains:
                continue
            vertex = max(gains, key=lambda v: (gains[v], -v))
            waiting.append((chosen, out | {vertex}))
            waiting.append((chosen | {vertex}, out))
        return self._best

    def annealed(self, chance: random.Random) -> frozenset[int]:
        """The best set found by random changes, the fewer that cost more the colder it is; begins with the best
        known.
        """
        part = self.part
        if not part.optional:
            return self._best
        chosen = set(self._best)
        cost = self._least
        hot = max(1e-12, self._least / max(1, len(part.terminals)) / 4)
        rounds = self._limit * len(part.optional) // (8 * part.edges)
        for i in range(rounds):
            heat = hot * math.exp(-9 * i / rounds)
            vertex = chance.choice(part.optional)
            more = part.change(vertex, chosen)
            rise = -more if vertex in chosen else more
            if rise <= 0 or chance.random() < math.exp(-rise / heat):
                chosen ^= {vertex}
                cost += rise
                if cost < self._least:
                    self._offer(frozenset(chosen))
        self.steps += rounds * 8 * part.edges // len(part.optional)
        self._offer(frozenset(self._without_useless(chosen)))
        return self._best

    def _offer(self, chosen: frozenset[int]) -> None:
        cost = self.part.cost(chosen)
        if cost < self._least:
            self._best, self._least = chosen, cost

    def _greedy(self) -> frozenset[int]:
        """Vertices taken as long as one saves more than it costs, the most saving first."""
        part, chosen = self.part, set[int]()
        left = set(part.optional)
        while left:
            self.steps += part.edges
            changes = {v: part.change(v, chosen) for v in sorted(left)}
            best = min(changes, key=lambda v: (changes[v], v))
            if changes[best] >= 0:
                break
            chosen.add(best)
            left = {v for v in left if changes[v] < 0 or self._may_help(v)} - {best}
        return frozenset(self._without_useless(chosen))

    def _may_help(self, vertex: int) -> bool:
        """Whether others could make it worth while: it can be made of an optional vertex."""
        return any(u not in self.part.always for _, u in self.part.sources[vertex])

    def _without_useless(self, chosen: set[int]) -> set[int]:
        chosen = set(chosen)
        while True:
            useless = [v for v in sorted(chosen) if self.part.change(v, chosen) >= 0]
            if not useless:
                return chosen
            chosen.remove(useless[0])

    def _bound(self, chosen: frozenset[int], out: frozenset[int]) -> tuple[float, dict[int, float]]:
        """What every tree with the chosen vertices and without those that are out costs at least, and for each free
        vertex what it could save, if anything.

        The dual ascent raises what each customer pays as long as no free vertex would be paid more than it costs.
        """
        part = self.part
        free = [v for v in part.optional if v not in chosen and v not in out]
        customers = (*part.terminals, *chosen)
        slack = {v: next(cost for cost, u in part.sources[v] if u not in out) for v in free}
        levels: dict[int, list[tuple[float, int]]] = {}
        pays: dict[int, float] = {}
        most: dict[int, float] = {}
        gains = dict.fromkeys(free, 0.0)
        for v in customers:
            most[v] = part.way(v, chosen)[0]
            levels[v] = [(cost, u) for cost, u in part.sources[v] if u in slack and cost < most[v]]
            pays[v] = levels[v][0][0] if levels[v] else most[v]
            for cost, u in levels[v]:
                gains[u] += most[v] - cost
        for u in free:  # what is made of a free vertex may itself be made more cheaply of another
            for v in part.users[u]:
                if v in slack:
                    gains[u] += max(0.0, part.way(v, chosen)[0] - part.ways[v][u])
        rising = True
        while rising:
            rising = False
            for v in sorted(customers, key=lambda v: len(levels[v])):
                if pays[v] >= most[v]:
                    continue
                paid = [u for cost, u in levels[v] if cost <= pays[v]]
                above = next((cost for cost, _ in levels[v] if cost > pays[v]), most[v])
                rise = min([above - pays[v], *(slack[u] for u in paid)])
                if rise > 0:
                    pays[v] += rise
                    for u in paid:
                        slack[u] -= rise
                    rising = True
        bound = math.fsum(pays.values())
        return bound, {u: gain for u, gain in gains.items() if gain > 0}
