"""MOTTO's rewrites keep the meaning: every way to compute a sub-query from another, against the oracle.

A small executor carries out derivations literally, one nested loop for each operand, on random streams. It knows
nothing of plans or costs: each derivation of a sharing graph is fed with what the oracle says its inputs match.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from hypothesis import example, given
from hypothesis import strategies as st

from cepc.passes.motto import (
    EngineModel,
    LeafTest,
    Limits,
    PaperModel,
    Pattern,
    PatternStatistics,
    Query,
    SubQuery,
    share,
)
from cepc.passes.motto.derivation import leaf_places
from cepc.passes.motto.graph import ROOT, sharing_graph
from cepc.passes.motto.patterns import extents, leaves
from tests import oracle
from tests.streams import program
from tests.test_motto import patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cepc.passes.motto import Derivation
    from cepc.passes.motto.patterns import Operand

HEADER = """
STREAM s (at BIGINT, kind STRING, x INT) EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'B', 'C', 'D');
EVENT Big AS A WHERE x > 1;
"""
LETTERS = ("A", "B", "C", "D", "Big")  # an event of the last is one of the first too
TESTS: dict[str, tuple[str, Callable[[int, int], bool]]] = {
    "rises": ("{0}.x < {1}.x", lambda a, b: a < b),
    "equal": ("{0}.x = {1}.x", lambda a, b: a == b),
}

Match = tuple[int | None, ...]
"""For each leaf of a pattern its event, by its place in the stream."""
Row = dict[str, Any]


# --- what the oracle says


def text_of(operand: Operand, names: Iterator[str]) -> str:
    if isinstance(operand, Pattern):
        return f"{operand.operator}({', '.join(text_of(o, names) for o in operand.operands)})"
    return f"{LETTERS[operand]} {next(names)}"


def query_text(asked: SubQuery) -> str:
    """Variable v0 is the first leaf, and so on; n0 … are absent."""
    pattern = text_of(asked.pattern, (f"v{i}" for i in range(99)))
    for i, letter in enumerate(sorted(asked.absent)):
        pattern = f"AND({pattern}, NOT {LETTERS[letter]} n{i})"
    where = [TESTS[str(c.test)][0].format(*(f"v{leaf}" for leaf in c.leaves)) for c in asked.conditions]
    clause = f" WHERE {' AND '.join(sorted(where))}" if where else ""
    window = "UNBOUNDED" if asked.window is None else f"{asked.window} s"
    return f"QUERY q RETURN MATCH * PATTERN {pattern}{clause} WITHIN {window};"


def by_oracle(asked: SubQuery, rows: list[Row]) -> frozenset[Match]:
    found = oracle.matches(program(HEADER + query_text(asked)), "q", rows)
    count = len(leaves(asked.pattern))
    return frozenset(
        tuple(next((e for e, v in match if v == f"v{leaf}"), None) for leaf in range(count)) for match in found
    )


# --- what a derivation says


@dataclass(frozen=True)
class Events:
    rows: Sequence[Row]

    def at(self, event: int) -> int:
        return int(self.rows[event]["at"])

    def of(self, letter: int) -> list[Match]:
        kind = "A" if letter == 4 else LETTERS[letter]
        return [(i,) for i, r in enumerate(self.rows) if r["kind"] == kind and (letter != 4 or r["x"] > 1)]

    def times(self, match: Match) -> list[int]:
        return [self.at(e) for e in match if e is not None]

    def fits(self, match: Match, window: int | None) -> bool:
        times = self.times(match)
        return window is None or max(times) - min(times) < window

    def lacks(self, match: Match, letter: int, window: int | None) -> bool:
        return all(not self.fits((*match, *event), window) for event in self.of(letter))


def computed(derivation: Derivation, results: Mapping[SubQuery, frozenset[Match]], events: Events) -> frozenset[Match]:
    """The result of a derivation, given those of its inputs."""
    asked = derivation.result
    where = extents(asked.pattern)
    empty: Match = (None,) * len(leaves(asked.pattern))
    inner = dict(
        zip([i for i, o in enumerate(asked.pattern.operands) if isinstance(o, Pattern)], asked.inner(), strict=True)
    )
    rows = [empty]
    if derivation.source is not None:
        leaf = leaf_places(derivation.source.pattern, asked.pattern, derivation.places)
        rows = [_put(empty, leaf, match) for match in sorted(results[derivation.source], key=str)]
        rows = [row for row in rows if _passes(derivation, row, events)]
    for i in derivation.rest:
        operand = asked.pattern.operands[i]
        found = events.of(operand) if isinstance(operand, int) else sorted(results[inner[i]], key=str)
        put = partial(_put, leaves=tuple(where[i]))
        match asked.pattern.operator:
            case "SEQ" | "AND":
                rows = [put(row, match=m) for row, m in product(rows, found) if not set(row) & set(m) - {None}]
            case "OR":
                rows = [*rows, *(put(empty, match=m) for m in found)]
            case "SOME":
                kept = [*rows, empty] if derivation.source is not None and i == derivation.rest[0] else rows
                rows = [
                    *kept,
                    *(put(row, match=m) for row, m in product(kept, found) if not set(row) & set(m) - {None}),
                ]
    return frozenset(row for row in rows if row != empty and _joined(derivation, row, events))


def _joined(derivation: Derivation, row: Match, events: Events) -> bool:
    """What joining the rest looks at: no more, so that a filter that a derivation should have named is missed."""
    asked, given = derivation.result, set(derivation.places)
    alone = derivation.source is None
    parts = list(enumerate(_parts(asked.pattern, row)))
    pairs = [(a, b) for (i, a), (j, b) in combinations(parts, 2) if alone or i not in given or j not in given]
    known = {leaf for i in given for leaf in extents(asked.pattern)[i]}
    return (
        ((not alone and not derivation.rest) or events.fits(row, asked.window))
        and (asked.pattern.operator != "SEQ" or all(_ordered(a, b, events) for a, b in pairs))
        and all(_holds(c, row, events) for c in asked.conditions if alone or not set(c.leaves) <= known)
        and all(
            events.lacks(row, letter, asked.window)
            for letter in asked.absent
            if alone or "absent" in derivation.filters
        )
    )


def _put(row: Match, leaves: Sequence[int], match: Match) -> Match:
    bound = dict(zip(leaves, match, strict=True))
    return tuple(bound.get(i, event) for i, event in enumerate(row))


def _parts(pattern: Pattern, row: Match) -> list[Match]:
    return [tuple(row[leaf] for leaf in extent) for extent in extents(pattern)]


def _ordered(left: Match, right: Match, events: Events) -> bool:
    earlier, later = events.times(left), events.times(right)
    return not earlier or not later or max(earlier) < min(later)


def _holds(condition: LeafTest, row: Match, events: Events) -> bool:
    bound = [row[leaf] for leaf in condition.leaves]
    values = [events.rows[e]["x"] for e in bound if e is not None]
    return len(values) < len(bound) or TESTS[str(condition.test)][1](*values)


def _passes(derivation: Derivation, row: Match, events: Events) -> bool:
    """Only the filters that it names, where they can be told from the source's events alone."""
    asked = derivation.result
    parts = [_parts(asked.pattern, row)[i] for i in sorted(derivation.places)]
    bound = sum(1 for part in parts if any(event is not None for event in part))
    known = {leaf for i in derivation.places for leaf in extents(asked.pattern)[i]}
    for name in derivation.filters:
        match name:
            case "order" if not all(_ordered(a, b, events) for a, b in combinations(parts, 2)):
                return False
            case "complete" if bound < len(parts):
                return False
            case "one" if bound != 1:
                return False
            case "span" if not events.fits(row, asked.window):
                return False
            case "conditions" if not all(_holds(c, row, events) for c in asked.conditions if set(c.leaves) <= known):
                return False
    return True


# --- the properties


rows = st.lists(
    st.fixed_dictionaries(
        {"at": st.integers(0, 9), "kind": st.sampled_from("AAABBCD"), "x": st.sampled_from((0, 1, 2, 3))}
    ),
    max_size=7,
)


@st.composite
def asked(draw: st.DrawFn) -> SubQuery:
    pattern = draw(patterns())
    while len(leaves(pattern)) > 5:
        pattern = draw(patterns(depth=0))
    conditions = set()
    if draw(st.integers(0, 2)) == 0:
        pair = draw(st.lists(st.integers(0, len(leaves(pattern)) - 1), min_size=2, max_size=2, unique=True))
        conditions.add(LeafTest(tuple(pair), draw(st.sampled_from(sorted(TESTS)))))
    absent = draw(st.sampled_from((frozenset[int](), frozenset[int](), frozenset({3}))))
    window = draw(st.sampled_from((None, 3, 6, 6)))
    return SubQuery(pattern, window, frozenset(conditions), absent)


@st.composite
def workloads(draw: st.DrawFn) -> list[Query]:
    found = draw(st.lists(asked(), min_size=2, max_size=3))
    return [Query(f"q{i}", a) for i, a in enumerate(found)]


@dataclass(frozen=True)
class Eager:
    """A model under which every derivation is better than none, so that none is left out of the graph."""

    def cost(self, derivation: Derivation) -> float:
        return 1.0 if derivation.source else 100.0


ONE_OR_SOME = [Query("q", SubQuery(Pattern(op, (0, 1)), 5)) for op in ("OR", "SOME")]
A_B = [{"at": 0, "kind": "A", "x": 0}, {"at": 1, "kind": "B", "x": 0}]


@given(workloads(), rows)
@example(ONE_OR_SOME, A_B)
def test_every_derivation_gives_what_its_result_means(queries: list[Query], rows: list[Row]) -> None:
    graph = sharing_graph(queries, Eager(), Limits(sub_queries=12))
    truth = {vertex: by_oracle(vertex, rows) for vertex in graph.vertices}
    for (source, vertex), derivation in graph.derivations.items():
        assert set(derivation.inputs) <= set(graph.vertices)
        found = computed(derivation, truth, Events(rows))
        assert found == truth[graph.vertices[vertex]], (source == ROOT, str(derivation.source), str(derivation.result))


@given(workloads(), rows, st.sampled_from((0.01, 0.3, 2.0)))
def test_a_plan_answers_every_query(queries: list[Query], rows: list[Row], rate: float) -> None:
    statistics = PatternStatistics({0: rate}, default_rate=0.3, horizon=10)
    for model in (PaperModel(statistics), EngineModel(statistics), Eager()):
        plan = share(queries, model)
        results: dict[SubQuery, frozenset[Match]] = {}
        for derivation in plan.derivations:
            results[derivation.result] = computed(derivation, results, Events(rows))
        for query in queries:
            assert results[plan.answers[query.name]] == by_oracle(query.asks, rows)
