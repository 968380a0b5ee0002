"""The sharing plan finder (§6): valid plans by levels of their size, within a budget, else the greedy plan."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .graph import gwmin
from .reduction import reduce_graph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .graph import ConflictGraph, Vertices

ScoredPlans = list[tuple["Vertices", float]]
"""Valid plans of one size, each with its score, in lexicographic order."""


@dataclass(frozen=True, slots=True)
class FoundPlan:
    """A valid plan, its weight, whether it is known to be optimal, and the steps that were taken to find it."""

    plan: Vertices
    weight: float
    optimal: bool
    steps: int
    plans: int
    """How many valid plans were looked at."""


def find(graph: ConflictGraph, steps: int) -> FoundPlan:
    """The best plan of a graph with positive weights; where the budget does not suffice, GWMIN's or a better one seen.

    A step is one pair of plans compared, so the same graph and budget give the same plan everywhere. The paper counts
    seconds and searches the whole graph at once. Here every connected component is reduced and searched by itself,
    small ones first: the plans of one then do not multiply with those of another, and one that is too large for the
    budget leaves the others optimal.

    >>> from .graph import graph_of
    >>> find(graph_of([6, 4, 3, 1], [(0, 1), (0, 2)]), steps=100)
    FoundPlan(plan=(1, 2, 3), weight=8.0, optimal=True, steps=3, plans=4)
    >>> find(graph_of([6, 4, 3, 1], [(0, 1), (0, 2)]), steps=0).optimal
    False
    """
    chosen: list[int] = []
    hard: list[ConflictGraph] = []
    for component in graph.components():
        reduced = reduce_graph(component)
        chosen += reduced.free
        hard += reduced.graph.components()
    left, plans, optimal = steps, 0, True
    for component in sorted(hard, key=lambda part: len(part.weights)):
        found = search(component, left)
        chosen += found.plan
        left -= found.steps
        plans += found.plans
        optimal = optimal and found.optimal
    plan = tuple(sorted(chosen))
    if not optimal:  # greedy by components is not always the better one: reduction changes the degrees
        plan = max(plan, gwmin(graph), key=graph.weight)
    return FoundPlan(plan, graph.weight(plan), optimal, steps - left, plans)


def search(graph: ConflictGraph, steps: int) -> FoundPlan:
    """The level-wise search (algorithm 4) of a graph as it is."""
    greedy = gwmin(graph)
    best, best_weight = greedy, graph.weight(greedy)
    level: ScoredPlans = [((v,), w) for v, w in sorted(graph.weights.items())]
    taken = plans = 0
    while level:
        plans += len(level)
        plan, _ = max(level, key=lambda entry: entry[1])
        if (weight := graph.weight(plan)) > best_weight:
            best, best_weight = plan, weight
        needed = sum(len(siblings) * (len(siblings) - 1) // 2 for siblings in _families(level))
        if taken + needed > steps:
            return FoundPlan(best, best_weight, False, taken, plans)
        taken += needed
        level = next_level(graph, level)
    return FoundPlan(best, best_weight, True, taken, plans)


def next_level(graph: ConflictGraph, level: ScoredPlans) -> ScoredPlans:
    """All valid plans of one candidate more (algorithm 3).

    By lemma 6 two plans that differ in their last candidate only make a valid plan if these two do not conflict. Plans
    of one beginning stand together, so only these are paired.

    >>> from .graph import graph_of
    >>> next_level(graph_of([5, 4, 3], [(0, 1), (0, 2)]), [((0,), 5), ((1,), 4), ((2,), 3)])
    [((1, 2), 7)]
    """
    weights, conflicts = graph.weights, graph.conflicts
    children: ScoredPlans = []
    for siblings in _families(level):
        for i, (plan, weight) in enumerate(siblings):
            excluded = conflicts[plan[-1]]
            children += [
                ((*plan, last), weight + weights[last]) for (*_, last), _ in siblings[i + 1 :] if last not in excluded
            ]
    return children


def _families(level: ScoredPlans) -> Iterator[ScoredPlans]:
    """The plans that differ in their last candidate only."""
    return (list(family) for _, family in groupby(level, key=lambda entry: entry[0][:-1]))
