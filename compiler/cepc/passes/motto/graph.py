"""The sharing graph: queries and interesting sub-queries as vertices, ways to compute one from another as edges
(§V).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .derivation import Derivation, derive, embedding, leaf_places
from .interesting import interesting
from .patterns import Pattern, SubQuery, inside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import networkx as nx

    from .cost import CostModel
    from .patterns import LeafTest, Operand, Query

ROOT = -1
"""The paper's virtual ground, from which everything can be computed from events alone."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How large the graph may become."""

    pairs: int = 30_000
    """Pairs of patterns that are compared."""
    sub_queries: int = 800
    """Vertices that are no queries."""


@dataclass(frozen=True)
class SharingGraph:
    """Vertex i is `vertices[i]`; those below `required` must be computed. The edges carry `cost`."""

    vertices: tuple[SubQuery, ...]
    required: int
    derivations: Mapping[tuple[int, int], Derivation]
    edges: nx.DiGraph


def required(asked: SubQuery) -> Iterator[SubQuery]:
    """What a query is divided into (§IV-D), inner sub-queries first."""
    for inner in asked.inner():
        yield from required(inner)
    yield asked


def sharing_graph(queries: Sequence[Query], model: CostModel, limits: Limits) -> SharingGraph:
    """The graph of a workload. Edges that cost no less than computing from events alone are left out."""
    import networkx as nx  # slow to import, and most programs need none

    needed = tuple(dict.fromkeys(part for q in queries for part in required(q.asks)))
    optional = [s for s in sub_queries(needed, limits) if s not in needed]
    vertices = (*needed, *optional[: limits.sub_queries])
    index = _Index(v.pattern for v in vertices)
    derivations: dict[tuple[int, int], Derivation] = {}
    edges = nx.DiGraph()
    for i, result in enumerate(vertices):
        alone = Derivation(result)
        derivations[ROOT, i] = alone
        most = model.cost(alone)
        edges.add_edge(ROOT, i, cost=most)
        for j in index.inside(result.pattern):
            found = derive(vertices[j], result)
            if found is None:
                continue
            cost = model.cost(found)
            if cost < most:
                derivations[j, i] = found
                edges.add_edge(j, i, cost=cost)
    return SharingGraph(vertices, len(needed), derivations, edges)


def sub_queries(needed: Sequence[SubQuery], limits: Limits) -> tuple[SubQuery, ...]:
    """The interesting sub-queries of a workload: common parts, in the windows and under the conditions of those that
    have them, and queries without what must be absent.
    """
    found: dict[SubQuery, None] = {}
    for part in (s for s in needed if s.absent):
        found[replace(part, absent=frozenset())] = None
    known = set(needed)
    index = _Index(s.pattern for s in needed)
    for pattern in common_patterns([s.pattern for s in needed], limits):
        for variant in _variants(pattern, [needed[i] for i in index.around(pattern)]):
            if all(inner in known for inner in variant.inner()):
                found[variant] = None
    return tuple(found)


def common_patterns(patterns: Iterable[Pattern], limits: Limits) -> tuple[Pattern, ...]:
    """The patterns and what any two of them have in common, and so on for what is found."""
    found = list(dict.fromkeys(patterns))
    seen = set(found)
    index = _Index(found)
    most = len(found) + limits.sub_queries
    pairs = 0
    i = 0
    while i < len(found):
        least = 2 if len(set(found[i].operands)) == len(found[i].operands) else 1
        for j in index.meeting(found[i], least):
            if j >= i:
                break
            if pairs >= limits.pairs or len(found) >= most:
                return tuple(found)
            pairs += 1
            for pattern in interesting(found[i], found[j]):
                if pattern not in seen:
                    seen.add(pattern)
                    found.append(pattern)
                    index.add(pattern)
        i += 1
    return tuple(found)


def _variants(pattern: Pattern, needed: Sequence[SubQuery]) -> Iterator[SubQuery]:
    """The pattern for any two of the sub-queries that have it: in the larger window, under the conditions of both."""
    profiles: defaultdict[tuple[int | None, frozenset[LeafTest]], int] = defaultdict(int)
    for whole in needed:
        places = embedding(pattern, whole.pattern)
        if places is not None:
            leaf = leaf_places(pattern, whole.pattern, places) if whole.conditions else ()
            profiles[whole.window, inside(whole.conditions, leaf)] += 1
    for (window, conditions), count in profiles.items():
        if count > 1:
            yield SubQuery(pattern, window, conditions)
    for (window, conditions), (other, more) in combinations(profiles, 2):
        yield SubQuery(pattern, None if window is None or other is None else max(window, other), conditions & more)
    if len(profiles) > 2:
        windows = [window for window, _ in profiles]
        widest = None if None in windows else max(w for w in windows if w is not None)
        yield SubQuery(pattern, widest, frozenset.intersection(*(c for _, c in profiles)))


class _Index:
    """Patterns by their operands: what a pattern has nothing in common with is not looked at. Patterns are numbered as
    they are added, and found in that order.
    """

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._operands: list[frozenset[Operand]] = []
        self._with: defaultdict[Operand, list[int]] = defaultdict(list)
        self._first: defaultdict[Operand, list[int]] = defaultdict(list)  # each pattern once
        for pattern in patterns:
            self.add(pattern)

    def add(self, pattern: Pattern) -> None:
        number, operands = len(self._operands), frozenset(pattern.operands)
        self._operands.append(operands)
        self._first[pattern.operands[0]].append(number)
        for operand in operands:
            self._with[operand].append(number)

    def inside(self, pattern: Pattern) -> list[int]:
        """Those whose operands it has."""
        operands = frozenset(pattern.operands)
        return sorted(i for o in operands for i in self._first.get(o, ()) if self._operands[i] <= operands)

    def around(self, pattern: Pattern) -> list[int]:
        """Those that have its operands."""
        operands = frozenset(pattern.operands)
        rarest = min((self._with.get(o, []) for o in operands), key=len)
        return [i for i in rarest if operands <= self._operands[i]]

    def meeting(self, pattern: Pattern, least: int) -> list[int]:
        """Those that have so many operands in common with it."""
        times = Counter(i for o in frozenset(pattern.operands) for i in self._with.get(o, ()))
        return sorted(i for i, common in times.items() if common >= least)
