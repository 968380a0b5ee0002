"""WeaveShare: which queries are aggregated from one sequence of panes, greedily (F1, section 2).

Trees start with one query each (those of equal edges at once), and the pair that saves most is joined, until none
saves. A pair's saving is bounded before its edges are counted, as a union has at least the edges of each part; few
pairs are ever counted.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from cepc.passes.weave.edges import Edges, TooManyTerms, edges_of, rate, union
from cepc.passes.weave.windows import PeriodicWindow, Progression, overlap, pane_edges
from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class CostModel(Protocol):
    """What one tree costs in a tick, from its edges per tick and the sum of its queries' overlap factors.

    It must not fall when edges are added, and two trees of the same edges must cost at least what they cost as one.
    """

    def __call__(self, edge_rate: Fraction, overlaps: int) -> Fraction: ...


@dataclass(frozen=True, slots=True)
class PaperModel:
    """Equation 1, C = mλ + Σ E·Ω, of which a tree pays λ + E·Ω; λ in events per tick.

    >>> PaperModel(Fraction(10))(Fraction(1, 2), 3)
    Fraction(23, 2)
    """

    input_rate: Fraction

    def __call__(self, edge_rate: Fraction, overlaps: int) -> Fraction:
        return self.input_rate + edge_rate * overlaps


@dataclass(frozen=True, slots=True)
class Tree:
    """Queries, by their indices, that share panes."""

    queries: tuple[int, ...]
    edge_rate: Fraction
    overlaps: int
    cost: Fraction


@dataclass(frozen=True, slots=True)
class Forest:
    """Disjoint trees of all queries, ordered by first query; `unknown` pairs had too many terms to be counted and were
    left apart.
    """

    trees: tuple[Tree, ...]
    unknown: int = 0

    @property
    def cost(self) -> Fraction:
        return sum((tree.cost for tree in self.trees), start=Fraction(0))


@dataclass(frozen=True, slots=True)
class _Grown:
    tree: Tree
    edges: Edges


def share(windows: Sequence[PeriodicWindow], model: CostModel) -> Forest:
    """The greedy grouping; never dearer than `unshared`. Among equal savings the first queries win.

    >>> windows = [PeriodicWindow(*w) for w in ((6, 2), (8, 4), (28, 7))]  # example 1 and a stranger
    >>> plan = share(windows, PaperModel(Fraction(2)))
    >>> [tree.queries for tree in plan.trees]
    [(0, 1), (2,)]
    """
    alive = dict(enumerate(_seeds(windows, model)))
    # Entries are (−saving, is it counted, pair); a bound is replaced by what it bounds when it comes first.
    heap = [entry for a in alive for b in alive if a < b for entry in _bound(alive, a, b, model)]
    heapq.heapify(heap)
    unknown, fresh = 0, len(alive)
    while heap:
        _, counted, a, b = heapq.heappop(heap)
        if a not in alive or b not in alive:
            continue
        try:
            joined = _join(alive[a], alive[b], model)
        except TooManyTerms:
            unknown += 1
            continue
        if not counted:
            saving = alive[a].tree.cost + alive[b].tree.cost - joined.tree.cost
            if saving > 0:
                heapq.heappush(heap, (-saving, True, a, b))
            continue
        del alive[a], alive[b]
        alive[fresh] = joined
        for other in alive:
            for entry in _bound(alive, other, fresh, model) if other != fresh else ():
                heapq.heappush(heap, entry)
        fresh += 1
    return Forest(tuple(sorted((g.tree for g in alive.values()), key=lambda tree: tree.queries)), unknown)


def unshared(windows: Sequence[PeriodicWindow], model: CostModel) -> Forest:
    """Every query with panes of its own.

    >>> unshared([PeriodicWindow(6, 2), PeriodicWindow(8, 4)], PaperModel(Fraction(2))).cost
    Fraction(6, 1)
    """
    return Forest(tuple(_grown((i,), [window], overlap(window), model).tree for i, window in enumerate(windows)))


def _seeds(windows: Sequence[PeriodicWindow], model: CostModel) -> list[_Grown]:
    """One tree for the queries of equal edges: by the model's contract no join saves more, so greedy would begin with
    them.
    """
    equal: dict[tuple[Progression, ...], list[int]] = defaultdict(list)
    edges: dict[PeriodicWindow, tuple[Progression, ...]] = {w: _essential(pane_edges(w)) for w in set(windows)}
    for i, window in enumerate(windows):
        equal[edges[window]].append(i)
    return [
        _grown(tuple(queries), [windows[queries[0]]], sum(overlap(windows[i]) for i in queries), model)
        for queries in equal.values()
    ]


def _essential(edges: tuple[Progression, ...]) -> tuple[Progression, ...]:
    """So that equal edges look equal: two fragments of the same length are a slide of half the length."""
    if len(edges) == 1:
        return edges
    (slide, first), (_, second) = sorted(edges)
    return (
        (Progression(slide // 2, first),)
        if slide == 2 * (second - first)
        else (Progression(slide, first), Progression(slide, second))
    )


def _grown(queries: tuple[int, ...], windows: Iterable[PeriodicWindow], overlaps: int, model: CostModel) -> _Grown:
    edges = edges_of(windows)
    return _Grown(_tree(queries, edges, overlaps, model), edges)


def _join(a: _Grown, b: _Grown, model: CostModel) -> _Grown:
    edges = union(a.edges, b.edges)
    queries = tuple(sorted(a.tree.queries + b.tree.queries))
    return _Grown(_tree(queries, edges, a.tree.overlaps + b.tree.overlaps, model), edges)


def _tree(queries: tuple[int, ...], edges: Edges, overlaps: int, model: CostModel) -> Tree:
    edge_rate = rate(edges)
    return Tree(queries, edge_rate, overlaps, model(edge_rate, overlaps))


def _bound(alive: dict[int, _Grown], a: int, b: int, model: CostModel) -> Iterator[tuple[Fraction, bool, int, int]]:
    """The most that joining the two could save, if that is anything."""
    first, second = alive[a].tree, alive[b].tree
    least = model(max(first.edge_rate, second.edge_rate), first.overlaps + second.overlaps)
    if least < first.cost + second.cost:
        yield least - first.cost - second.cost, False, a, b
