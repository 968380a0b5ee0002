"""The Sharon graph (§4) and the greedy algorithm for it (appendix B).

Vertices are numbers, so that the algorithms on the graph know nothing of queries. Sums are taken by `fsum`, which
rounds once: a sum of more positive terms is never smaller, and the pruning compares such sums.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

    from .candidates import Candidate

Vertices = tuple[int, ...]
"""A set of vertices in ascending order."""


@dataclass(frozen=True, slots=True)
class ConflictGraph:
    """Weighted vertices, and for each its neighbours; symmetric, and no vertex is its own neighbour."""

    weights: Mapping[int, float]
    conflicts: Mapping[int, frozenset[int]]

    def weight(self, vertices: Iterable[int]) -> float:
        """The score of a plan (equation 9)."""
        return math.fsum(self.weights[v] for v in vertices)

    def only(self, vertices: Collection[int]) -> ConflictGraph:
        """The graph of some vertices and the conflicts among them; vertices keep their numbers."""
        kept = frozenset(vertices)
        if len(kept) == len(self.weights):
            return self
        return ConflictGraph(
            {v: self.weights[v] for v in sorted(kept)}, {v: self.conflicts[v] & kept for v in sorted(kept)}
        )

    def components(self) -> tuple[ConflictGraph, ...]:
        """The connected parts, each by its smallest vertex: a plan of the whole is a plan of each.

        >>> [list(part.weights) for part in graph_of([1, 1, 1], [(0, 2)]).components()]
        [[0, 2], [1]]
        """
        parts: list[ConflictGraph] = []
        left = dict.fromkeys(self.weights)
        while left:
            reached = {next(iter(left))}
            frontier = list(reached)
            while frontier:
                new = self.conflicts[frontier.pop()] - reached
                reached |= new
                frontier += new
            for v in reached:
                del left[v]
            parts.append(self.only(reached))
        return tuple(parts)


def graph_of(weights: Sequence[float], edges: Iterable[tuple[int, int]]) -> ConflictGraph:
    """The graph of vertices 0, 1, … with these weights.

    >>> graph_of([5, 4, 3], [(0, 1)]).conflicts
    {0: frozenset({1}), 1: frozenset({0}), 2: frozenset()}
    """
    neighbours: dict[int, set[int]] = {v: set() for v in range(len(weights))}
    for a, b in edges:
        neighbours[a].add(b)
        neighbours[b].add(a)
    return ConflictGraph(dict(enumerate(weights)), {v: frozenset(n) for v, n in neighbours.items()})


def conflict_graph(candidates: Sequence[Candidate], weights: Sequence[float]) -> ConflictGraph:
    """The Sharon graph (definition 10, algorithm 1): vertex i is candidate i, an edge is a conflict.

    Two candidates conflict if they take up the same position of the same query. Definition 6 asks instead for a suffix
    of one pattern that is a prefix of the other; it misses (B, C) inside (A, B, C, D), and it sees a conflict between
    two occurrences of like patterns that stand apart. Options of one pattern always conflict (§7.1, figure 12): a
    pattern is computed once.

    >>> from .candidates import Query, sharable
    >>> found = sharable([Query(name, ("A", "B", "C")) for name in "qr"])
    >>> [c.pattern for c in found]
    [('A', 'B'), ('A', 'B', 'C'), ('B', 'C')]
    >>> [sorted(n) for n in conflict_graph(found, [1, 1, 1]).conflicts.values()]
    [[1, 2], [0, 2], [0, 1]]
    """
    together: defaultdict[Hashable, set[int]] = defaultdict(set)
    for v, candidate in enumerate(candidates):
        together[candidate.pattern].add(v)
        for occurrence in candidate.occurrences:
            for slot in candidate.slots(occurrence):
                together[slot].add(v)
    # The same vertices meet at many positions; their pairs are needed once.
    cliques = {frozenset(vertices) for vertices in together.values()}
    return graph_of(weights, (pair for clique in cliques for pair in combinations(clique, 2)))


def guarantee(graph: ConflictGraph) -> float:
    """The weight that GWMIN reaches at least (equation 10).

    >>> guarantee(graph_of([6, 4, 3], [(0, 1)]))
    8.0
    """
    return math.fsum(w / (len(graph.conflicts[v]) + 1) for v, w in graph.weights.items())


def gwmin(graph: ConflictGraph) -> Vertices:
    """The greedy plan (algorithm 8): again and again the vertex with the most weight / (degree + 1), without its
    neighbours.

    Among equals the smallest vertex. Degrees only fall, so a vertex's ratio only rises, and an entry of the heap that
    is out of date is found later than the entry that replaced it: by then the vertex is gone.

    >>> gwmin(graph_of([3, 4, 3], [(0, 1), (1, 2)]))
    (0, 2)
    """
    degree = {v: len(n) for v, n in graph.conflicts.items()}
    heap = [(-w / (degree[v] + 1), v) for v, w in graph.weights.items()]
    heapq.heapify(heap)
    left = set(graph.weights)
    chosen: list[int] = []
    while left:
        _, v = heapq.heappop(heap)
        if v not in left:
            continue
        chosen.append(v)
        removed = (graph.conflicts[v] | {v}) & left
        left -= removed
        touched = {u for r in removed for u in graph.conflicts[r] & left}
        for u in touched:
            degree[u] = len(graph.conflicts[u] & left)
            heapq.heappush(heap, (-graph.weights[u] / (degree[u] + 1), u))
    return tuple(sorted(chosen))
