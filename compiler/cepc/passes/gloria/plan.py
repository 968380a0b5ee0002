"""From queries and a cost model to a sharing plan."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .graph import GloriaBudget, Pruning, build
from .greedy import greedy
from .search import search
from .template import bits, template_of
from .weights import Weigher, several

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .cost import CostModel, Snapshot
    from .query import Query, Type, WrittenPlace
    from .template import Template
    from .weights import Node


class Optimizer(Enum):
    GLORIA = "gloria"
    UNPRUNED = "unpruned"
    GREEDY = "greedy"


@dataclass(frozen=True, slots=True)
class SharedTransition:
    """A transition that a Q-set shares: for each member its query and the places that it leads from and to."""

    members: tuple[tuple[str, WrittenPlace, WrittenPlace], ...]
    snapshot: Snapshot
    source: Type
    target: Type

    @property
    def queries(self) -> tuple[str, ...]:
        return tuple(query for query, _, _ in self.members)


@dataclass(frozen=True, slots=True)
class GloriaPlan:
    """A workload sharing plan (definition 2.7): what is not in `shared` is not shared."""

    shared: tuple[SharedTransition, ...]
    weight: float
    """The workload under this plan, at most `unshared`."""
    unshared: float
    exact: bool
    """No path through the graph is lighter: no budget was reached."""
    cases: tuple[int, ...]
    """Those of algorithm 1, for each part of the graph."""
    nodes: int
    edges: int
    """Of the graph when it was searched; `generated` and `weighed` before pruning."""
    generated: int
    weighed: int


def share(
    queries: Sequence[Query],
    model: CostModel,
    budget: GloriaBudget | None = None,
    optimizer: Optimizer = Optimizer.GLORIA,
) -> GloriaPlan:
    """The lightest plan found for a workload; the same for the same input, and never worse than not sharing.

    >>> from cepc_grammar.pattern import Seq
    >>> from ..pattern import Event
    >>> from .cost import PaperModel
    >>> from .query import Query
    >>> a, b, c, d, e = (Event(i, "v") for i in range(5))
    >>> workload = [Query("q", Seq((a, b, c, d))), Query("r", Seq((a, b, c, e)))]
    >>> plan = share(workload, PaperModel({0: 3, 1: 9, 2: 9}))
    >>> for s in plan.shared:
    ...     print(s.queries, [place.event for place in s.members[0][1:]], "snapshots:", s.snapshot.letters[0])
    ('q', 'r') [0, 1] snapshots: 0
    ('q', 'r') [1, 2] snapshots: 0
    >>> plan.unshared, plan.weight
    (240.0, 108.0)
    """
    budget = budget or GloriaBudget()
    template = template_of(queries, budget.qsets)
    weigher = Weigher(template, model)
    unshared = weigher.total({})
    exact, cases, counts = True, tuple[int, ...](), (len(template.pools), len(template.links)) * 2
    if optimizer is Optimizer.GREEDY:
        nodes: Mapping[int, Node] = greedy(template, model)
        exact = False
    else:
        pruning = Pruning.SAFE if optimizer is Optimizer.GLORIA else Pruning.NONE
        graph = build(template, model, budget, pruning)
        found = search(graph, budget.steps, budget.qsets)
        nodes = {pool: graph.pools[pool].nodes[node] for pool, node in found.path.items()}
        exact, cases = graph.exact and found.exact, found.cases
        counts = (graph.node_count, graph.edge_count, graph.generated, graph.weighed)
    weight = weigher.total(nodes)
    if weight >= unshared:
        nodes, weight = {}, unshared
    return GloriaPlan(tuple(_shared(template, nodes)), weight, unshared, exact, cases, *counts)


def _shared(template: Template, plan: Mapping[int, Node]) -> Iterator[SharedTransition]:
    places = [
        {(w.types[s.source], w.types[s.target]): (w.places[s.source], w.places[s.target]) for s in w.steps}
        for w in template.patterns
    ]
    for number, node in sorted(plan.items()):
        for t in template.pools[number].transitions:
            for qset, snapshot in node:
                if several(together := qset & t.queries):
                    members = ((template.queries[q].name, *places[q][t.source, t.target]) for q in bits(together))
                    yield SharedTransition(tuple(members), snapshot, t.source, t.target)
