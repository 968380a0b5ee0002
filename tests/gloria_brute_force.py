"""Sharing plans of sequence queries by brute force: every partition of every transition's queries with every snapshot.

It shares nothing with the pass but the paper's cost rules, which are written here once more, query by query.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product

Pattern = Sequence[int]
QSet = tuple[tuple[int, ...], int | None]
Plan = dict[tuple[int, int], list[QSet]]
"""For each transition its Q-sets, single queries without a snapshot."""


def lightest(queries: Sequence[Pattern], rates: Mapping[int, float], most: int) -> float | None:
    """The weight of the best plan; None where there are more than `most` plans."""
    transitions: dict[tuple[int, int], list[int]] = {}
    for number, query in enumerate(queries):
        for pair in pairwise(query):
            transitions.setdefault(pair, []).append(number)
    plans = [list(_plans_of(pair, numbers, queries)) for pair, numbers in transitions.items()]
    if math.prod(map(len, plans)) > most:
        return None
    return min(weight(queries, rates, dict(zip(transitions, chosen, strict=True))) for chosen in product(*plans))


def _plans_of(pair: tuple[int, int], numbers: list[int], queries: Sequence[Pattern]) -> Iterator[list[QSet]]:
    before = sorted({e for n in numbers for e in queries[n][: queries[n].index(pair[1])]})
    for blocks in partitions(numbers):
        for snapshots in product(*(before if len(block) > 1 else [None] for block in blocks)):
            yield [(tuple(block), s) for block, s in zip(blocks, snapshots, strict=True)]


def partitions(items: list[int]) -> Iterator[list[list[int]]]:
    if not items:
        yield []
        return
    first, *rest = items
    for blocks in partitions(rest):
        yield [[first], *blocks]
        for i, block in enumerate(blocks):
            yield [*blocks[:i], [first, *block], *blocks[i + 1 :]]


def weight(queries: Sequence[Pattern], rates: Mapping[int, float], plan: Plan) -> float:
    """The cost rules of the paper; infinite for a plan that cannot be executed."""
    if not all(_possible(queries, plan, pair, qset) for pair, qsets in plan.items() for qset in qsets):
        return math.inf
    total = sum(rates[query[0]] for query in queries)
    for (source, target), qsets in plan.items():
        for members, snapshot in qsets:
            if len(members) == 1:
                total += rates[source] * rates[target]
            else:
                assert snapshot is not None
                total += rates[source] * (1 if snapshot == source else rates[snapshot])
    for number, query in enumerate(queries):
        for i, pair in enumerate(pairwise(query)):
            members, snapshot = _qset(plan, pair, number)
            if snapshot is not None and not _goes_on(queries, plan, number, i, snapshot):
                total += rates[pair[1]] * rates[snapshot]
    return total


def _qset(plan: Plan, pair: tuple[int, int], number: int) -> QSet:
    return next(qset for qset in plan[pair] if number in qset[0])


def _goes_on(queries: Sequence[Pattern], plan: Plan, number: int, i: int, snapshot: int) -> bool:
    onward = list(pairwise(queries[number]))[i + 1 : i + 2]
    return bool(onward) and _qset(plan, onward[0], number)[1] == snapshot


def _possible(queries: Sequence[Pattern], plan: Plan, pair: tuple[int, int], qset: QSet) -> bool:
    """Earlier snapshots come to all members from one Q-set."""
    members, snapshot = qset
    if snapshot is None or snapshot == pair[0]:
        return True
    sources = set()
    for number in members:
        i = list(queries[number]).index(pair[0])
        if i == 0:
            return False
        before = (queries[number][i - 1], pair[0])
        sources.add((before, _qset(plan, before, number)))
    return len(sources) == 1 and next(iter(sources))[1][1] == snapshot


def lightest_cycle(letters: Pattern, rates: Mapping[int, float], queries: int) -> float:
    """The weight of the best plan for equal queries `SEQ(letters)+`, also of plans that are not the same all the way
    round.
    """
    plans = [list(_plans_in_cycle(list(range(queries)), letters)) for _ in letters]
    return min(_cycle_weight([rates[e] for e in letters], chosen, queries) for chosen in product(*plans))


def _plans_in_cycle(numbers: list[int], letters: Pattern) -> Iterator[list[QSet]]:
    """Snapshots by the place of their type in the cycle."""
    for blocks in partitions(numbers):
        for snapshots in product(*(range(len(letters)) if len(block) > 1 else [None] for block in blocks)):
            yield [(tuple(block), s) for block, s in zip(blocks, snapshots, strict=True)]


def _cycle_weight(rates: Sequence[float], plan: Sequence[list[QSet]], queries: int) -> float:
    """Transition i leads from type i to the next, the last one back. Queries start at the first type and end at the
    last.
    """
    size = len(rates)
    total = rates[0] * queries
    for i, qsets in enumerate(plan):
        source, target = rates[i], rates[(i + 1) % size]
        for members, s in qsets:
            if s is None:
                total += source * target
                continue
            if s != i and (members, s) not in plan[i - 1]:
                return math.inf  # a part of a Q-set before would do, but a split never costs less
            propagated = source * (1 if s == i else rates[s])
            if s == (i + 1) % size:
                total += min(len(members) * source * target, propagated + len(members) * target * target)
                continue
            total += propagated
            ends = (i + 1) % size == size - 1
            stays = {n for other, t in plan[(i + 1) % size] if t == s for n in other}
            total += target * rates[s] * sum(ends or n not in stays for n in members)
    return total
