"""The lightest path through the graph (§5.3), and what the paper's search lacks to find it."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .graph import GloriaGraph
    from .template import Link

SWEEPS: Final = 100

GraphPath = dict[int, int]
"""For each pool the number of its node."""


@dataclass(frozen=True, slots=True)
class FoundPath:
    """A path; `cases` are those of algorithm 1, one for each part of the graph, `exact`: no path through the graph is
    lighter.
    """

    path: GraphPath
    cases: tuple[int, ...]
    exact: bool


def search(graph: GloriaGraph, steps: int, compared: int = 300_000) -> FoundPath:
    """The lightest path.

    Cases 1 and 2 of algorithm 1 are exact. In case 3 the algorithm keeps one path for each node, which need not contain
    the lightest where ways part more than once; then pools are eliminated one by one, at most `steps` sums being
    compared in a part of the graph, and if these do not suffice, algorithm 1's path is improved pool by pool. Algorithm
    1 looks at the whole part for each of its nodes; where that are more than `compared` pools, not sharing is improved.
    """
    path, cases, exact = unshared(graph), [], True
    for part in parts(graph):
        cases.append(case_of(graph, part))
        found = path_search(graph, part) if cases[-1] < 3 else eliminate(graph, part, steps)
        if found is None:
            nodes = sum(len(graph.pools[pool].nodes) for pool in part)
            begin = path_search(graph, part) if nodes * len(part) <= compared else dict.fromkeys(part, 0)
            found, exact = improved(graph, begin), False
        path |= found
    return FoundPath(path, tuple(cases), exact)


def parts(graph: GloriaGraph) -> list[list[int]]:
    """The pools where there is something to decide, those apart that do not depend on each other."""
    template = graph.template
    seen: set[int] = set()
    found = []
    for pool, p in enumerate(template.pools):
        if p.trivial or pool in seen:
            continue
        part = [pool]
        seen.add(pool)
        for at in part:
            beside = [*(link.before for link in template.before[at]), *(link.after for link in template.after[at])]
            for other in beside:
                if other not in seen and not template.pools[other].trivial:
                    seen.add(other)
                    part.append(other)
        found.append(sorted(part))
    return found


def case_of(graph: GloriaGraph, part: Sequence[int]) -> int:
    """1: all ways lead to one end. 2: several ends but one path. 3: several ends and several paths."""
    if all(graph.closed[pool] for pool in part):
        return 1
    return 2 if all(len(graph.pools[pool].nodes) == 1 for pool in part) else 3


def path_search(graph: GloriaGraph, part: Sequence[int]) -> GraphPath:
    """Algorithm 1, for one part of the graph.

    In case 1 every node knows the best way to it, and the best last node has the path. In case 3 edges are reversed and
    pruned again, so that a node knows one way from all starts and one to all ends, and the best of these paths is
    taken.
    """
    case = case_of(graph, part)
    best: GraphPath = dict.fromkeys(part, 0)
    if case == 2:
        return best
    onward = None if case == 1 else _reversed(graph, part)
    weight = weight_of(graph, best)
    for pool in part[-1:] if case == 1 else part:  # the last pool of a closed part is its end
        for node in range(len(graph.pools[pool].nodes)):
            path = dict.fromkeys(part, 0) | _through(graph, pool, node, onward)
            if (w := weight_of(graph, path)) < weight:
                best, weight = path, w
    return best


def _reversed(graph: GloriaGraph, part: Sequence[int]) -> dict[int, list[dict[Link, int]]]:
    """For each node and each link on, the node after it that is nearest to the ends (n.d_e)."""
    to_ends: dict[int, list[float]] = {}
    onward: dict[int, list[dict[Link, int]]] = {}
    for pool in reversed(part):
        to_ends[pool], onward[pool] = [], []
        for node in range(len(graph.pools[pool].nodes)):
            ways, least = {}, []
            for link in graph.template.after[pool]:
                if link.after in onward:
                    weights, distance = graph.pools[link.after].weights, to_ends[link.after]
                    costs = [w + weights[m] + distance[m] for m, w in enumerate(graph.edges[link][node])]
                    ways[link] = min(range(len(costs)), key=costs.__getitem__)
                    least.append(costs[ways[link]])
            to_ends[pool].append(sum(least))
            onward[pool].append(ways)
    return onward


def _through(graph: GloriaGraph, pool: int, node: int, onward: Mapping[int, list[dict[Link, int]]] | None) -> GraphPath:
    """The path of a node: back to the starts by its best ways, and with `onward` also to the ends."""
    path = {pool: node}
    stack = [pool]
    while stack:
        at = stack.pop()
        steps = [(link.before, graph.pools[at].best[path[at]][i]) for i, link in enumerate(graph.template.before[at])]
        if onward is not None:
            steps += [(link.after, onward_node) for link, onward_node in onward[at][path[at]].items()]
        for other, other_node in steps:
            if other not in path and not graph.template.pools[other].trivial:
                path[other] = other_node
                stack.append(other)
    return path


def unshared(graph: GloriaGraph) -> GraphPath:
    """Not sharing anywhere: the first node of each pool."""
    return dict.fromkeys(range(len(graph.pools)), 0)


def weight_of(graph: GloriaGraph, path: Mapping[int, int]) -> float:
    """What the pools of a path weigh, and the edges between them; infinite if one is missing."""
    weights = [graph.pools[pool].weights[node] for pool, node in path.items()]
    for pool, node in path.items():
        after = (link for link in graph.template.after[pool] if link.after in path)
        weights += (graph.edges[link][node][path[link.after]] for link in after)
    return math.fsum(weights)


# ---- beyond algorithm 1 ----------------------------------------------------------------------------------------------

WeightTable = dict[tuple[int, ...], float]


@dataclass(slots=True)
class _Factor:
    """Weights that depend on the nodes of these pools; a choice that is not in the table is impossible."""

    pools: tuple[int, ...]
    table: WeightTable


def eliminate(graph: GloriaGraph, part: Sequence[int], steps: int) -> GraphPath | None:
    """The lightest path, exactly: again and again a pool is replaced by the best node of it for each choice of nodes
    beside it.

    The pool that has the smallest such table goes next. None if the sums to be compared are more than `steps`, or the
    pairs of pools, which are looked at to find their order.
    """
    if len(part) ** 2 > steps:
        return None
    choices = {pool: len(graph.pools[pool].nodes) for pool in part}
    order = _order(graph, choices, steps)
    if order is None:
        return None
    factors = _factors(graph, choices)
    best: list[dict[tuple[int, ...], int]] = []
    for pool, around in order:
        mine = [f for f in factors if pool in f.pools]
        factors = [f for f in factors if pool not in f.pools]
        table, chosen = _eliminated(pool, around, mine, choices)
        factors.append(_Factor(around, table))
        best.append(chosen)
    path: GraphPath = {}
    for (pool, around), chosen in zip(reversed(order), reversed(best), strict=True):
        path[pool] = chosen[tuple(path[n] for n in around)]
    return path


def _order(graph: GloriaGraph, choices: Mapping[int, int], steps: int) -> list[tuple[int, tuple[int, ...]]] | None:
    """In which order pools go, each with those beside it by then."""
    beside: dict[int, set[int]] = {pool: set() for pool in choices}
    for pool in choices:
        for link in graph.template.after[pool]:
            if link.after in choices:
                beside[pool].add(link.after)
                beside[link.after].add(pool)
    order = []
    while beside:
        pool = min(beside, key=lambda p: (math.prod(choices[n] for n in beside[p]) * choices[p], p))
        around = tuple(sorted(beside.pop(pool)))
        steps -= math.prod(choices[n] for n in around) * choices[pool]
        if steps < 0:
            return None
        for n in around:
            beside[n] |= set(around) - {n}
            beside[n].discard(pool)
        order.append((pool, around))
    return order


def _factors(graph: GloriaGraph, choices: Mapping[int, int]) -> list[_Factor]:
    factors = []
    for pool in choices:
        factors.append(_Factor((pool,), {(n,): w for n, w in enumerate(graph.pools[pool].weights)}))
        for link in graph.template.after[pool]:
            if link.after in choices:
                edges = graph.edges[link]
                table: WeightTable = {
                    (n, m): w for n, row in enumerate(edges) for m, w in enumerate(row) if w < math.inf
                }
                factors.append(_Factor((pool, link.after), table))
    return factors


def _eliminated(
    pool: int, around: tuple[int, ...], factors: Iterable[_Factor], choices: Mapping[int, int]
) -> tuple[WeightTable, dict[tuple[int, ...], int]]:
    table: WeightTable = {}
    chosen: dict[tuple[int, ...], int] = {}
    position = {p: i for i, p in enumerate((*around, pool))}
    looked_up = [(f.table, [position[p] for p in f.pools]) for f in factors]
    for key in product(*(range(choices[p]) for p in around)):
        for node in range(choices[pool]):
            whole = (*key, node)
            total = 0.0
            for weights, places in looked_up:
                weight = weights.get(tuple([whole[i] for i in places]))
                if weight is None:
                    break
                total += weight
            else:
                if total < table.get(key, math.inf):
                    table[key], chosen[key] = total, node
    return table, chosen


def improved(graph: GloriaGraph, path: GraphPath) -> GraphPath:
    """The path with single nodes exchanged for better ones, sweep by sweep until nothing changes (or what changes are
    the last digits of sums).
    """
    path = dict(path)
    for _ in range(SWEEPS):
        changed = False
        for pool in path:
            costs = [_local(graph, path, pool, node) for node in range(len(graph.pools[pool].nodes))]
            least = min(range(len(costs)), key=costs.__getitem__)
            if costs[least] < costs[path[pool]]:
                path[pool], changed = least, True
        if not changed:
            break
    return path


def _local(graph: GloriaGraph, path: Mapping[int, int], pool: int, node: int) -> float:
    """What depends on the choice for one pool."""
    template = graph.template
    before = (graph.edges[k][path[k.before]][node] for k in template.before[pool] if k.before in path)
    after = (graph.edges[k][node][path[k.after]] for k in template.after[pool] if k.after in path)
    return math.fsum([graph.pools[pool].weights[node], *before, *after])
