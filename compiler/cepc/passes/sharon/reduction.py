"""Which candidates need no search (§5): those that no optimal plan has, and those that every optimal plan has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .graph import guarantee

if TYPE_CHECKING:
    from .graph import ConflictGraph, Vertices


@dataclass(frozen=True, slots=True)
class Reduced:
    """What is left to search, the vertices that are in the plan anyway, and those that are out."""

    graph: ConflictGraph
    free: Vertices
    ridden: Vertices


def score_max(graph: ConflictGraph, vertex: int) -> float:
    """The most that a plan with this vertex can score: itself and all that it does not exclude (equation 11).

    >>> from .graph import graph_of
    >>> score_max(graph_of([6, 4, 3], [(0, 1)]), 0)
    9.0
    """
    return graph.weight(graph.weights.keys() - graph.conflicts[vertex])


def reduce_graph(graph: ConflictGraph) -> Reduced:
    """Without the conflict-ridden (definition 13) and the conflict-free (definition 14) vertices; weights are positive.

    An optimal plan of what is left, with the free vertices, is an optimal plan of the whole. Not algorithm 2 to the
    letter: it takes free vertices out of the graph and then compares the Score_max of the rest, which no longer has
    their weight, with the guarantee, which does. On the paper's own figure 4 that drops p2 and p4 of the optimum. So
    free vertices leave at the end, and the guarantee is taken again whenever vertices have gone, which only raises it.

    >>> from .graph import graph_of
    >>> reduced = reduce_graph(graph_of([9, 1, 3], [(0, 1)]))
    >>> reduced.free, reduced.ridden, reduced.graph.weights
    ((0, 2), (1,), {})
    """
    kept = graph
    while ridden := _ridden(kept):
        kept = kept.only(kept.weights.keys() - ridden)
    free = tuple(v for v in kept.weights if not kept.conflicts[v])
    gone = tuple(v for v in graph.weights if v not in kept.weights)
    return Reduced(kept.only(kept.weights.keys() - set(free)), free, gone)


def _ridden(graph: ConflictGraph) -> set[int]:
    least = guarantee(graph)  # equation 12
    total = graph.weight(graph.weights)
    # total − the neighbours is Score_max but for rounding: cheap, so it only chooses which vertices are looked at.
    suspects = [v for v, n in graph.conflicts.items() if n and total - graph.weight(n) < least * (1 + 1e-9)]
    return {v for v in suspects if score_max(graph, v) < least}
