"""From queries and a cost model to a sharing plan."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .benefit import benefit, profitable, spans, workload_cost
from .candidates import sharable
from .expansion import expand
from .finder import find
from .graph import conflict_graph, gwmin
from .refinement import refine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .benefit import CostModel, PatternPart
    from .candidates import Candidate, Query


@dataclass(frozen=True, slots=True)
class SharonBudget:
    """How much may be tried: counted, not timed, so that a plan does not depend on the machine."""

    steps: int = 200_000
    """Pairs of plans compared, in each of the two searches: about a tenth of a second."""
    options: int = 4
    """Options per candidate. More are not always better: where the steps do not suffice, they mislead the greedy
    plan.
    """
    vertices: int = 3000
    """Candidates and options in the expanded graph."""


@dataclass(frozen=True, slots=True)
class SharingPlan:
    """What is shared: patterns with the places where each is used, no two at the same position of a query."""

    shared: tuple[Candidate, ...]
    score: float
    """The sum of the benefits (equation 9)."""
    cost: float
    """The workload under this plan, at most `unshared`."""
    unshared: float
    """The workload without sharing."""
    candidates: tuple[Candidate, ...]
    """All that could be shared, with or without benefit."""
    complete: bool
    """Did the steps suffice to compare all valid plans of the candidates and of the options within the budget?"""
    steps: int

    def cuts(self, query: str) -> tuple[PatternPart, ...]:
        """The parts of a query that are shared, in order."""
        return tuple(sorted(span for c in self.shared for span in spans(c, query)))


def share(queries: Sequence[Query], model: CostModel, budget: SharonBudget | None = None) -> SharingPlan:
    """The best plan found for a workload; the same for the same input, and never worse than not sharing.

    The graph is searched as it is and expanded by options: the second contains the first, but within a budget the
    smaller one may come out better. Both plans, the greedy ones and the empty one are refined, and the one with the
    lowest cost wins.

    >>> from .benefit import PaperModel
    >>> from .candidates import Query
    >>> plan = share([Query("q", ("A", "B", "C")), Query("r", ("A", "B", "D"))], PaperModel({"A": 9, "B": 9}))
    >>> [(c.pattern, c.queries) for c in plan.shared], plan.unshared, plan.cost
    ([(('A', 'B'), ('q', 'r'))], 342.0, 182.0)
    >>> plan.cuts("q")
    ((0, 2),)
    """
    budget = budget or SharonBudget()
    by_name = {q.name: q for q in queries}
    candidates = sharable(queries)
    worthwhile = [c for c in (profitable(c, by_name, model) for c in candidates) if c.shared]
    whole = [c for c in worthwhile if benefit(c.disjoint(), by_name, model) > 0]
    original = tuple(c.disjoint() for c in whole)
    expanded = expand(whole, budget.options, budget.vertices)
    attempts = [_attempt(original, by_name, model, budget.steps)]
    if expanded != original:
        attempts.append(_attempt(expanded, by_name, model, budget.steps))
    found = dict.fromkeys([(), *(plan for attempt in attempts for plan in attempt.plans)])
    plans = [(), *(refine(plan, worthwhile, queries, model) for plan in found)]
    best = min(plans, key=lambda plan: workload_cost(queries, plan, model))
    return SharingPlan(
        best,
        math.fsum(benefit(c, by_name, model) for c in best),
        workload_cost(queries, best, model),
        workload_cost(queries, (), model),
        candidates,
        attempts[-1].optimal,
        sum(attempt.steps for attempt in attempts),
    )


@dataclass(frozen=True, slots=True)
class _Attempt:
    plans: tuple[tuple[Candidate, ...], ...]
    optimal: bool
    steps: int


def _attempt(candidates: Sequence[Candidate], queries: Mapping[str, Query], model: CostModel, steps: int) -> _Attempt:
    """The finder's plan and the greedy one over these candidates, without those that have no benefit."""
    weighed = [(c, benefit(c, queries, model)) for c in candidates]
    beneficial = [(c, weight) for c, weight in weighed if weight > 0]  # definition 5
    graph = conflict_graph([c for c, _ in beneficial], [weight for _, weight in beneficial])
    found = find(graph, steps)
    plans = tuple(tuple(beneficial[v][0] for v in plan) for plan in (found.plan, gwmin(graph)))
    return _Attempt(plans, found.optimal, found.steps)
