"""From a workload and a cost model to a plan: which sub-queries are computed, each from what."""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .derivation import Derivation
from .graph import ROOT, Limits, required, sharing_graph
from .patterns import Pattern
from .steiner import steiner_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .cost import CostModel
    from .patterns import Operand, Query, SubQuery

_LEVEL = {"SOME": 0, "AND": 1, "OR": 1, "SEQ": 2}


@dataclass(frozen=True, slots=True)
class MottoBudget:
    """How much may be tried: counted, not timed, so that a plan does not depend on the machine."""

    steps: int = 2_000_000
    """Edges of the sharing graph looked at, in each of its connected parts, by branch and bound; then as many by
    annealing if these did not suffice.
    """
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class MottoPlan:
    """The jumbo query plan: `derivations` in an order in which the inputs of each come before it."""

    derivations: tuple[Derivation, ...]
    answers: Mapping[str, SubQuery]
    """For each query what it asks, which is the result of one of the derivations."""
    cost: float
    """At most `unshared`."""
    unshared: float
    """Every query by itself."""
    optimal: bool
    """Is it the least cost of the graph? Else the budget of steps was used up."""
    steps: int
    candidates: tuple[SubQuery, ...]
    """The interesting sub-queries, chosen or not."""

    @property
    def derived(self) -> dict[SubQuery, Derivation]:
        """The derivation of each result."""
        return {derivation.result: derivation for derivation in self.derivations}

    @property
    def shared(self) -> tuple[SubQuery, ...]:
        """What more than one derivation takes as input, or a query and a derivation."""
        uses: dict[SubQuery, int] = dict.fromkeys((d.result for d in self.derivations), 0)
        for asked in self.answers.values():
            uses[asked] += 1
        for derivation in self.derivations:
            for source in derivation.inputs:
                uses[source] += 1
        return tuple(s for s, n in uses.items() if n > 1)


def share(queries: Sequence[Query], model: CostModel, budget: MottoBudget | None = None) -> MottoPlan:
    """The best plan found for queries of one stream and one partition; the same for the same input.

    >>> from .cost import PaperModel, PatternStatistics
    >>> from .patterns import Query, SubQuery, pattern_of
    >>> rare = PaperModel(PatternStatistics(default_rate=0.1))
    >>> asked = [SubQuery(pattern_of("SEQ", letters), 10) for letters in ((1, 2, 4), (2, 4, 3), (2, 4))]
    >>> plan = share([Query(f"q{i}", a) for i, a in enumerate(asked)], rare)
    >>> [(str(d.result), str(d.source)) for d in plan.derivations if d.source]
    [('SEQ(1, 2, 4) within 10', 'SEQ(2, 4) within 10'), ('SEQ(2, 4, 3) within 10', 'SEQ(2, 4) within 10')]
    """
    budget = budget or MottoBudget()
    if len({q.name for q in queries}) != len(queries):
        raise ValueError("two queries have one name")
    graph = sharing_graph(queries, model, budget.limits)
    tree = steiner_tree(graph.edges, ROOT, range(graph.required), budget.steps)
    chosen = [graph.derivations[u, v] for v, u in tree.parents.items()]
    alone: dict[SubQuery, float] = {}
    for part in (p for q in queries for p in required(q.asks)):
        if part not in alone:
            alone[part] = model.cost(Derivation(part))
    return MottoPlan(
        tuple(sorted(chosen, key=lambda d: _rank(d.result))),
        {q.name: q.asks for q in queries},
        tree.cost,
        math.fsum(alone[p] for q in queries for p in required(q.asks)),
        tree.optimal,
        tree.steps,
        graph.vertices[graph.required :],
    )


def _rank(asked: SubQuery) -> tuple[float, ...]:
    """Greater than the rank of everything that it can be computed from."""
    pattern = asked.pattern
    counts = len(pattern.operands), _LEVEL[pattern.operator]
    return (_depth(pattern), *counts, -asked.reach, len(asked.conditions), len(asked.absent))


def _depth(operand: Operand) -> int:
    return 1 + max(map(_depth, operand.operands)) if isinstance(operand, Pattern) else 0
