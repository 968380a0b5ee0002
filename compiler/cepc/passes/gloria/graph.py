"""The GLORIA graph, built pool by pool and pruned on the way (§5.1, §5.2)."""

from __future__ import annotations

import math
from dataclasses import field
from enum import Enum
from itertools import product
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .nodes import Breadth, Generator
from .query import Type
from .weights import ALONE, Weigher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .cost import CostModel
    from .template import Link, Template
    from .weights import Node


class Pruning(Enum):
    """NONE is the paper's NoPrune. PRINTED prunes nodes by lemma 5.11 as it stands, SAFE only where no optimum can be
    lost.
    """

    NONE = "none"
    PRINTED = "printed"
    SAFE = "safe"


@dataclass(frozen=True, slots=True)
class GloriaBudget:
    """How much may be tried: counted, not timed, so that a plan does not depend on the machine."""

    nodes: int = 60
    """Nodes that a pool keeps; those with the least distance from the start stay."""
    combinations: int = 400
    """Combinations of plans of several pools before a pool that nodes are generated from."""
    candidates: int = 300
    """Nodes that are generated for a pool, from the nearest nodes before it first."""
    steps: int = 300_000
    """Sums compared in the search for a path through the whole graph."""
    breadth: Breadth = field(default_factory=Breadth)
    qsets: int = 300_000
    """Pairs of Q-sets compared to weigh edges, after which pools do not share; pools looked at to put them in order,
    and pools on the paths that algorithm 1 compares.
    """


UNLIMITED = 10**9


@dataclass(slots=True)
class PoolNodes:
    """The nodes of one pool. All lists are by node.

    `distance` is n.d_s (equation 5), which does not contain the node's own weight; `best` has, for each link into the
    pool, the node before it with which the distance is reached.
    """

    nodes: list[Node]
    weights: list[float]
    distance: list[float]
    best: list[tuple[int, ...]]

    def through(self, node: int) -> float:
        return self.distance[node] + self.weights[node]

    def only(self, kept: Sequence[int]) -> PoolNodes:
        return PoolNodes(
            [self.nodes[i] for i in kept],
            [self.weights[i] for i in kept],
            [self.distance[i] for i in kept],
            [self.best[i] for i in kept],
        )


EdgeWeights = list[list[float]]
"""Weights by node before and node after; infinite where there is no edge."""


@dataclass(slots=True)
class GloriaGraph:
    """`generated` and `weighed` count the nodes and edges looked at, `exact` says that no budget was reached."""

    template: Template
    weigher: Weigher
    pools: list[PoolNodes] = field(default_factory=list)
    edges: dict[Link, EdgeWeights] = field(default_factory=dict)
    closed: list[bool] = field(default_factory=list)
    generated: int = 0
    weighed: int = 0
    spent: int = 0
    exact: bool = True

    @property
    def node_count(self) -> int:
        return sum(len(pool.nodes) for pool in self.pools)

    @property
    def edge_count(self) -> int:
        return sum(1 for edges in self.edges.values() for row in edges for weight in row if weight < math.inf)


def build(template: Template, model: CostModel, budget: GloriaBudget, pruning: Pruning = Pruning.SAFE) -> GloriaGraph:
    """The graph of a workload.

    A pool is *closed* if every way on from the pools before it leads through it. The distance to its nodes is then the
    weight of real partial plans, and all but the best way to each node can go (edge pruning). Where it is not closed,
    choosing another node before it would change what others after that pay, so edges stay.
    """
    graph = GloriaGraph(template, Weigher(template, model, budget.breadth.splits))
    for number in range(len(template.pools)):
        graph.closed.append(_closed(graph, number))
        candidates = _candidates(graph, number, budget, pruning)
        graph.generated += len(candidates.nodes)
        kept = _kept(graph, number, candidates, budget, pruning)
        graph.pools.append(candidates.only(kept))
        for i, link in enumerate(template.before[number]):
            rows = graph.edges[link]
            if pruning is not Pruning.NONE and graph.closed[number]:
                best = [candidates.best[m][i] for m in kept]
                graph.edges[link] = [
                    [row[m] if b == n else math.inf for m, b in zip(kept, best, strict=True)]
                    for n, row in enumerate(rows)
                ]
            else:
                graph.edges[link] = [[row[m] for m in kept] for row in rows]
    return graph


def _closed(graph: GloriaGraph, number: int) -> bool:
    """Pools of one query do not count: they have one node, which nothing depends on."""
    template = graph.template
    if template.pools[number].trivial:
        return True
    for link in template.before[number]:
        if template.pools[link.before].trivial:
            continue
        onward = {after.after for after in template.after[link.before] if not template.pools[after.after].trivial}
        if not graph.closed[link.before] or onward != {number}:
            return False
        if sum(1 for other in template.before[number] if other.before == link.before) > 1:
            return False
    return True


def _candidates(graph: GloriaGraph, number: int, budget: GloriaBudget, pruning: Pruning) -> PoolNodes:
    """All nodes of a pool, weighed, with the edges into them."""
    template, weigher = graph.template, graph.weigher
    pool, links = template.pools[number], template.before[number]
    over = pruning is not Pruning.NONE and graph.spent > budget.qsets
    if over and not pool.trivial:
        graph.exact = False
    nodes = [ALONE] if pool.trivial or over else _generated(graph, number, budget, pruning)
    several = sum(1 + len(node) for node in nodes)
    graph.spent += several
    weights = []
    leaving = [link for link in template.after[number] if template.pools[link.after].trivial]
    for node in nodes:
        onward = math.fsum(weigher.between(link, node, ALONE) for link in leaving)
        weights.append(weigher.inside(pool, node) + onward)
    distance = [weigher.starts_of(pool)] * len(nodes)
    best: list[tuple[int, ...]] = [()] * len(nodes)
    for link in links:
        before = graph.pools[link.before]
        # What edges into a pool of one query weigh has been added to the node before.
        edges = [[0.0 if pool.trivial else weigher.between(link, n, m) for m in nodes] for n in before.nodes]
        graph.edges[link] = edges
        graph.weighed += len(edges) * len(nodes)
        graph.spent += 0 if pool.trivial else several * sum(1 + len(node) for node in before.nodes)
        through = [before.through(n) for n in range(len(before.nodes))]
        for m in range(len(nodes)):
            n = min(range(len(edges)), key=lambda n, m=m: through[n] + edges[n][m])  # type: ignore[misc]
            distance[m] += through[n] + edges[n][m]
            best[m] += (n,)
    reachable = [m for m in range(len(nodes)) if distance[m] < math.inf]
    for link in links:
        graph.edges[link] = [[row[m] for m in reachable] for row in graph.edges[link]]
    return PoolNodes(nodes, weights, distance, best).only(reachable)


def _generated(graph: GloriaGraph, number: int, budget: GloriaBudget, pruning: Pruning) -> list[Node]:
    links = graph.template.before[number]
    generator = Generator(graph.template, number, graph.weigher.model, budget.breadth)
    incoming = []
    for i, link in enumerate(links):
        before = graph.pools[link.before]
        order = sorted(range(len(before.nodes)), key=before.through)
        incoming.append(list(generator.parts(i, (before.nodes[n] for n in order))))
    most = UNLIMITED if pruning is Pruning.NONE else budget.combinations
    while math.prod(map(len, incoming)) > most:  # the pool with most plans loses its worst
        max(incoming, key=len).pop()
        graph.exact = False
    found: dict[Node, None] = {ALONE: None}
    limit = UNLIMITED if pruning is Pruning.NONE else budget.candidates
    for parts in product(*incoming):
        if len(found) >= limit:
            graph.exact = False
            break
        found |= generator.generate(parts)
    return list(found)


# ---- pruning ---------------------------------------------------------------------------------------------------------


def _kept(graph: GloriaGraph, number: int, candidates: PoolNodes, budget: GloriaBudget, pruning: Pruning) -> list[int]:
    """The nodes that stay, in their order; not sharing, the first, always stays."""
    if pruning is Pruning.NONE:
        return list(range(len(candidates.nodes)))
    comparable: dict[tuple[int, ...], list[int]] = {}
    for m, node in enumerate(candidates.nodes):
        comparable.setdefault(tuple(qset for qset, _ in node), []).append(m)  # definition 5.9
    kept: list[int] = []
    for group in comparable.values():
        left: list[int] = []
        for m in sorted(group, key=lambda m: _reached(graph, number, candidates, m, pruning)):
            if not any(_prunes(graph, number, candidates, k, m, pruning) for k in left):
                left.append(m)
        kept += left
    if len(kept) > budget.nodes:
        graph.exact = False
        kept = sorted(kept, key=lambda m: (bool(candidates.nodes[m]), candidates.through(m)))[: budget.nodes]
    return sorted(kept)


def _reached(graph: GloriaGraph, number: int, candidates: PoolNodes, m: int, pruning: Pruning) -> tuple[float, float]:
    """n.d_s, which of a Kleene sub-graph is that of its last node (equation 6); among equals, few snapshots first."""
    length = math.fsum(graph.weigher.model.length(snapshot) for _, snapshot in candidates.nodes[m])
    if pruning is Pruning.PRINTED and not graph.template.pools[number].kleene:
        return candidates.distance[m], length
    return candidates.through(m), length


def _prunes(graph: GloriaGraph, number: int, candidates: PoolNodes, k: int, m: int, pruning: Pruning) -> bool:
    """The node pruning principle: is node k, with the same Q-sets, never worse than m?

    As printed: its snapshots are fewer and it is nearer to the start. That is not enough. What a node costs itself is
    not in d_s, and it is less with snapshots of the very type it starts from. A Kleene sub-pattern that is left at the
    type of its snapshots needs no evaluation. And the distance says little where a pool is not closed.
    """
    model = graph.weigher.model
    pairs = list(zip(candidates.nodes[k], candidates.nodes[m], strict=True))
    if any(model.length(a) > model.length(b) for (_, a), (_, b) in pairs):
        return False
    nearer = (_reached(graph, number, candidates, i, pruning)[0] for i in (k, m))
    if pruning is Pruning.PRINTED:
        return next(nearer) <= next(nearer)
    left_at = {link.type for link in graph.template.after[number]}
    if graph.template.pools[number].kleene:
        for (_, a), (_, b) in pairs:
            if isinstance(b, Type) and b in left_at and a != b:
                return False
    if graph.closed[number]:
        return next(nearer) <= next(nearer)
    more = candidates.weights[k] - candidates.weights[m]
    for link in graph.template.before[number]:
        more += max((row[k] - row[m] for row in graph.edges[link] if row[m] < math.inf), default=0.0)
    return more <= 0
