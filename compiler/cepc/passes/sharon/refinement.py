"""From the plan with the best score to one with a lower cost: two repairs that the paper does not have.

The score adds up benefits that were estimated one by one (equation 9), which is what makes the search a search for an
independent set. But a query that shares two patterns saves its unshared cost once, and combines three parts or more.
Both repairs go by the cost of the whole workload, and neither can raise it.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from .benefit import spans, workload_cost
from .candidates import Candidate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .benefit import CostModel, PatternPart
    from .candidates import Occurrence, Pattern, Query

Plan = tuple[Candidate, ...]


def refine(plan: Plan, candidates: Sequence[Candidate], queries: Sequence[Query], model: CostModel) -> Plan:
    """The plan settled, then filled up from the candidates."""
    return fill(settle(plan, queries, model), candidates, queries, model)


def settle(plan: Plan, queries: Sequence[Query], model: CostModel) -> Plan:
    """Without candidates that cost more than they save beside the others, the most expensive first.

    >>> from .benefit import PaperModel
    >>> from .candidates import Query, sharable
    >>> workload = [Query("q", ("A", "B")), Query("r", ("A", "B"))]
    >>> settle(sharable(workload), workload, PaperModel()) == sharable(workload)
    True
    >>> settle(sharable(workload), workload, PaperModel({"A": 0}))  # saves nothing
    ()
    """
    by_name = {q.name: q for q in queries}
    users: dict[str, list[Candidate]] = {}
    for candidate in plan:
        for name in candidate.queries:
            users.setdefault(name, []).append(candidate)

    def loss(candidate: Candidate) -> float:
        """What dropping the candidate would save."""
        concerned = [by_name[name] for name in candidate.queries]
        beside = dict.fromkeys(c for q in concerned for c in users[q.name] if c != candidate)
        return workload_cost(concerned, (*beside, candidate), model) - workload_cost(concerned, beside, model)

    losses = {candidate: loss(candidate) for candidate in plan}
    while losses:
        worst = max(losses, key=lambda candidate: losses[candidate])
        if losses[worst] < 0:
            break
        del losses[worst]
        for name in worst.queries:
            users[name].remove(worst)
        losses |= {c: loss(c) for name in worst.queries for c in users[name]}
    return tuple(losses)


def fill(plan: Plan, candidates: Sequence[Candidate], queries: Sequence[Query], model: CostModel) -> Plan:
    """With what the candidates still save where the plan leaves room, the most saving first.

    An option (§7.1) is made here for the plan at hand, however many queries it has to leave out; the expansion, which
    lists options before it knows the plan, has to stop at some number of them.

    >>> from .benefit import PaperModel
    >>> from .candidates import Query, sharable
    >>> workload = [Query(name, ("A", "B")) for name in "qrs"]
    >>> (ab,) = sharable(workload)
    >>> [c.queries for c in fill((Candidate(ab.pattern, ab.occurrences[:2]),), [ab], workload, PaperModel())]
    [('q', 'r', 's')]
    """
    patterns = {q.name: q.pattern for q in queries}
    cuts: dict[str, tuple[PatternPart, ...]] = {q.name: () for q in queries}
    chosen: dict[Pattern, tuple[Occurrence, ...]] = {}

    def take(candidate: Candidate) -> None:
        chosen[candidate.pattern] = (*chosen.get(candidate.pattern, ()), *candidate.occurrences)
        for name in candidate.queries:
            cuts[name] = _merged(cuts[name], spans(candidate, name))

    def offer(candidate: Candidate) -> tuple[float, Candidate]:
        """What of the candidate fits beside the plan and pays, and how much it saves."""
        length = len(candidate.pattern)
        fits = (o for o in candidate.occurrences if _free((o.start, o.start + length), cuts[o.query]))
        option = Candidate(candidate.pattern, tuple(fits)).disjoint()
        saved = {
            name: model.query(patterns[name], cuts[name])
            - model.query(patterns[name], _merged(cuts[name], spans(option, name)))
            for name in option.queries
        }
        option = Candidate(option.pattern, tuple(o for o in option.occurrences if saved[o.query] > 0))
        total = sum(saved[name] for name in option.queries)
        if option.pattern in chosen:
            return total, option
        return (total - model.part(option.pattern) if option.shared else 0.0), option

    for candidate in plan:
        take(candidate)
    heap = [(-saving, i) for i, c in enumerate(candidates) if (saving := offer(c)[0]) > 0]
    heapq.heapify(heap)
    while heap:
        _, i = heapq.heappop(heap)
        saving, option = offer(candidates[i])
        if saving <= 0:
            continue
        if heap and -saving > heap[0][0]:  # it saves less than it did when it was put here: another may save more
            heapq.heappush(heap, (-saving, i))
        else:
            take(option)
    order = {q.name: i for i, q in enumerate(queries)}
    return tuple(
        Candidate(pattern, tuple(sorted(occurrences, key=lambda o: (order[o.query], o.start))))
        for pattern, occurrences in sorted(chosen.items())
    )


def _free(span: PatternPart, cuts: Sequence[PatternPart]) -> bool:
    return all(span[1] <= start or end <= span[0] for start, end in cuts)


def _merged(cuts: Sequence[PatternPart], more: Sequence[PatternPart]) -> tuple[PatternPart, ...]:
    return tuple(sorted((*cuts, *more)))
