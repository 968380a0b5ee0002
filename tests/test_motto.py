"""MOTTO's algorithms: the paper's examples by their numbers, and the planner against brute force."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from itertools import combinations, product
from math import isclose
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepc.passes.motto import (
    EngineModel,
    LeafTest,
    Limits,
    MottoBudget,
    PaperModel,
    Pattern,
    PatternStatistics,
    Query,
    SubQuery,
    pattern_of,
    share,
)
from cepc.passes.motto.derivation import Derivation, derive
from cepc.passes.motto.graph import ROOT, common_patterns, sharing_graph
from cepc.passes.motto.interesting import interesting
from cepc.passes.motto.steiner import steiner_tree
from cepc.passes.motto.suffix import SuffixAutomaton, common_substrings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cepc.passes.motto import CostModel
    from cepc.passes.motto.patterns import Operand, OperatorName

ROOT_FOLDER = Path(__file__).parent.parent


def made(operator: OperatorName, *operands: Operand) -> Pattern:
    pattern = pattern_of(operator, operands)
    assert isinstance(pattern, Pattern)
    return pattern


def seq(*operands: Operand) -> Pattern:
    return made("SEQ", *operands)


def conj(*operands: Operand) -> Pattern:
    return made("AND", *operands)


def disj(*operands: Operand) -> Pattern:
    return made("SOME", *operands)


def workload(*patterns: Pattern, window: int = 10) -> list[Query]:
    return [Query(f"q{i}", SubQuery(p, window)) for i, p in enumerate(patterns, 1)]


# --- the paper's examples: the first of two patterns is the paper's first


INTERESTING = {
    "example 1: all of q2 is merged into q1": (seq(1, 2, 3), seq(1, 3), {seq(1, 3)}),
    "example 2": (seq(1, 2, 4), seq(2, 4, 3), {seq(2, 4)}),
    "example 3": (seq(1, 2, 3, 5, 6, 7, 8), seq(1, 3, 6, 5, 7, 8), {seq(1, 3, 5), seq(1, 3, 6), seq(7, 8)}),
    "example 4": (seq(1, 2, 3, 5), seq(1, 3, 4), {seq(1, 3)}),
    "example 5": (seq(1, 3), conj(1, 3), {conj(1, 3)}),
    "example 6": (conj(1, 2, 4), seq(1, 2, 3), {conj(1, 2)}),
    "table III, iterations 1 and 5": (disj(4, 5), conj(2, 3), set()),
    "table III, iteration 3": (conj(2, 3), conj(2, 3), {conj(2, 3)}),
    "table III, iteration 6": (seq(1, disj(4, 5), conj(2, 3)), seq(1, conj(2, 3)), {seq(1, conj(2, 3))}),
    "figure 11: q1 and q3": (seq(1, 2, 3), seq(1, 2, 4), {seq(1, 2)}),
    "SEQ and DISJ are one filter more apart": (seq(1, 2, 3), disj(1, 2, 4), {disj(1, 2)}),
    "SEQ and OR have no common operator": (seq(1, 2), made("OR", 1, 2), set()),
    "one operand is nothing to share": (seq(1, 2), seq(1, 3), set()),
}


@pytest.mark.parametrize(("left", "right", "expected"), INTERESTING.values(), ids=INTERESTING)
def test_interesting_sub_queries(left: Pattern, right: Pattern, expected: set[Pattern]) -> None:
    assert set(interesting(left, right)) == expected
    assert set(interesting(right, left)) == expected


NESTED = {
    "q11": (seq(1, disj(4, 5), conj(2, 3)), [disj(4, 5), conj(2, 3), seq(1, disj(4, 5), conj(2, 3))]),
    "q12": (seq(1, conj(2, 3)), [conj(2, 3), seq(1, conj(2, 3))]),
}


def divide(pattern: Pattern) -> Iterator[Pattern]:
    """The pattern's sub-queries without nesting, inner ones first (definition 2 and table II)."""
    for operand in pattern.operands:
        if isinstance(operand, Pattern):
            yield from divide(operand)
    yield pattern


@pytest.mark.parametrize(("pattern", "parts"), NESTED.values(), ids=NESTED)
def test_nested_queries_are_divided_as_in_table_2(pattern: Pattern, parts: list[Pattern]) -> None:
    assert list(divide(pattern)) == parts


def test_nested_queries_share_their_inner_and_their_outer_part() -> None:
    """Table III: of all pairs of the divided queries two have something in common."""
    plan = share(workload(NESTED["q11"][0], NESTED["q12"][0]), PaperModel(PatternStatistics(default_rate=0.05)))
    outer = SubQuery(seq(1, conj(2, 3)), 10)
    assert [(str(d.result.pattern), d.source) for d in plan.derivations] == [
        ("SOME(4, 5)", None),
        ("AND(2, 3)", None),
        ("SEQ(1, AND(2, 3))", None),
        ("SEQ(1, SOME(4, 5), AND(2, 3))", outer),
    ]


def derivation(source: SubQuery, result: SubQuery) -> tuple[tuple[int, ...], tuple[str, ...], tuple[int, ...]] | None:
    found = derive(source, result)
    return None if found is None else (found.places, found.filters, found.rest)


def test_example_1_merges_a_subsequence_and_example_4_a_sub_query_of_both() -> None:
    assert derivation(SubQuery(seq(1, 3), 10), SubQuery(seq(1, 2, 3), 10)) == ((0, 2), (), (1,))
    plan = share(workload(seq(1, 2, 3, 5), seq(1, 3, 4)), EngineModel(PatternStatistics({2: 2.0}, default_rate=0.1)))
    part = SubQuery(seq(1, 3), 10)
    assert [(str(d.result.pattern), d.source, d.places) for d in plan.derivations] == [
        ("SEQ(1, 3)", None, ()),
        ("SEQ(1, 3, 4)", part, (0, 1)),
        ("SEQ(1, 2, 3, 5)", part, (0, 2)),
    ]


def test_example_5_takes_the_sequence_from_the_conjunction_by_a_filter() -> None:
    assert derivation(SubQuery(conj(1, 3), 10), SubQuery(seq(3, 1), 10)) == ((1, 0), ("order",), ())
    assert derivation(SubQuery(disj(1, 3), 10), SubQuery(seq(3, 1), 10)) == ((1, 0), ("order", "complete"), ())
    assert derivation(SubQuery(disj(1, 3), 10), SubQuery(conj(1, 3), 10)) == ((0, 1), ("complete",), ())
    assert derivation(SubQuery(seq(1, 3), 10), SubQuery(conj(1, 3), 10)) is None
    cost = PaperModel().cost
    filtered = derive(SubQuery(conj(1, 3), 10), SubQuery(seq(1, 3), 10))
    assert filtered is not None
    assert cost(filtered) == pytest.approx(0.1 * 2 * 10)  # Cost(q2 | q5) = Cost(filter_sc): CONJ has 2 · 10 matches


def test_a_sequence_of_three_costs_its_events_and_what_is_made_of_them_from_left_to_right() -> None:
    """Three events a tick; in the ten ticks after one come ten of the second, and half of all pairs of these and ten of
    the third.
    """
    assert PaperModel().cost(Derivation(SubQuery(seq(1, 2, 3), 10))) == pytest.approx(3 + 10 + 10 * 10 / 2)


def test_example_6_shares_a_conjunction_between_a_sequence_and_a_conjunction() -> None:
    model = PaperModel(PatternStatistics({1: 0.5, 2: 0.5, 3: 5.0, 4: 5.0}))
    plan = share(workload(conj(1, 2, 4), seq(1, 2, 3)), model)
    assert SubQuery(conj(1, 2), 10) in plan.candidates
    found = derive(SubQuery(conj(1, 2), 10), SubQuery(seq(1, 2, 3), 10))
    assert found is not None
    assert (found.filters, found.rest) == (("order",), (2,))


def test_example_8_has_the_sub_queries_of_figure_12() -> None:
    """q1 … q5 of figure 11. The weights of figure 12 are not printed; what it connects is."""
    patterns = seq(1, 2, 3), seq(1, 3), seq(1, 2, 4), seq(2, 4, 3), conj(1, 3)
    assert {seq(1, 2), seq(2, 4)} <= set(common_patterns(patterns, Limits()))
    plan = share(workload(*patterns), PaperModel(PatternStatistics(default_rate=0.3)))
    assert plan.optimal
    assert plan.cost < plan.unshared
    sources = {str(d.result.pattern): d.source and str(d.source.pattern) for d in plan.derivations}
    assert sources["SEQ(1, 3)"] == "AND(1, 3)"  # operator transformation


def test_windows_are_shared_by_mark_points() -> None:
    """Case 1: the source's window is larger. Case 2: it is smaller, so a larger one is computed and filtered for
    both.
    """
    narrow, wide = SubQuery(seq(1, 3), 10), SubQuery(seq(1, 3), 20)
    assert derivation(wide, narrow) == ((0, 1), ("span",), ())
    assert derivation(narrow, wide) is None
    assert derivation(wide, SubQuery(seq(1, 2, 3), 10)) == ((0, 2), ("span",), (1,))
    assert derivation(narrow, SubQuery(seq(1, 2, 3), 20)) is None
    assert derivation(SubQuery(seq(1, 3), None), wide) == ((0, 1), ("span",), ())
    asked = [Query("s", narrow), Query("b", SubQuery(seq(1, 2, 3), 11))]
    plan = share(asked, EngineModel(PatternStatistics({1: 0.1, 3: 0.1, 2: 9.0})))
    extended = SubQuery(seq(1, 3), 11)
    assert [d.source for d in plan.derivations] == [None, extended, extended]


def test_what_must_be_absent_is_looked_for_last() -> None:
    """NEG is a filter over the whole match, because the window in which it looks is that of the match."""
    bare, without = SubQuery(seq(1, 2), 10), SubQuery(seq(1, 2), 10, absent=frozenset({5}))
    assert derivation(bare, without) == ((0, 1), ("absent",), ())
    assert derivation(without, bare) is None
    assert derivation(without, SubQuery(seq(1, 2, 3), 10, absent=frozenset({5}))) is None
    assert derivation(bare, SubQuery(seq(1, 2, 3), 10, absent=frozenset({5}))) == ((0, 1), ("absent",), (2,))
    asked = [Query(f"q{i}", SubQuery(seq(1, 2), 10, absent=frozenset({i}))) for i in (5, 6, 7)]
    steps = share(asked, EngineModel()).derivations
    assert [(d.source, d.filters) for d in steps] == [(None, ()), *[(bare, ("absent",))] * 3]


def test_a_part_is_shared_under_the_conditions_of_all_who_use_it() -> None:
    rising = LeafTest((0, 1), "x < x")
    left = SubQuery(seq(1, 2, 3), 10, frozenset({rising, LeafTest((1, 2), "y = y")}))
    right = SubQuery(seq(4, 1, 2), 10, frozenset({LeafTest((1, 2), "x < x")}))
    plan = share([Query("l", left), Query("r", right)], EngineModel())
    assert SubQuery(seq(1, 2), 10, frozenset({rising})) in plan.candidates
    assert derivation(SubQuery(seq(1, 2), 10, frozenset({rising})), left) == ((0, 1), (), (2,))
    assert derivation(SubQuery(seq(1, 2), 10), left) == ((0, 1), ("conditions",), (2,))
    assert derivation(left, SubQuery(seq(1, 2, 3, 4), 10)) is None


def test_equal_queries_are_computed_once() -> None:
    plan = share(workload(seq(1, 2), seq(1, 2), conj(2, 1), conj(1, 2)), EngineModel())
    assert len(plan.derivations) == 2


def test_nothing_in_common_is_nothing_shared() -> None:
    plan = share(workload(seq(1, 2), seq(3, 4)), EngineModel())
    assert not plan.shared
    assert plan.candidates == ()
    assert plan.cost == plan.unshared


# --- common substrings


words = st.text("abc", max_size=8)


def substrings(text: str) -> set[str]:
    return {text[i:j] for i in range(len(text)) for j in range(i + 1, len(text) + 1)}


@given(words, words)
def test_the_automaton_finds_the_longest_substring_that_ends_at_each_place(left: str, right: str) -> None:
    longest = [
        max((n for n in range(end + 1) if right[end - n : end] in substrings(left) | {""}), default=0)
        for end in range(1, len(right) + 1)
    ]
    assert SuffixAutomaton(left).longest(right) == longest


SHORT_WORDS = ["".join(letters) for length in range(7) for letters in product("ab", repeat=length)]


@pytest.mark.parametrize("length", range(7))
def test_the_automaton_keeps_apart_what_ends_in_different_places(length: int) -> None:
    """Of every word of two letters. A state is a set of places, so there are neither more nor fewer; where a state has
    been split, the ways of all shorter substrings lead to its copy, or a substring of other places would be taken for a
    longer one.
    """
    for word in (word for word in SHORT_WORDS if len(word) == length):
        parts = substrings(word)
        automaton = SuffixAutomaton(word)
        for text in (text for text in SHORT_WORDS if len(text) == 6):
            longest = [next((n for n in range(end, 0, -1) if text[end - n : end] in parts), 0) for end in range(1, 7)]
            assert automaton.longest(text) == longest, (word, text)
        ends = {tuple(i for i in range(len(word) + 1) if word[:i].endswith(part)) for part in parts}
        assert len(automaton._states) == len(ends) + 1, word


@given(words, words)
def test_common_substrings_are_all_that_can_be_made_no_longer(left: str, right: str) -> None:
    found = {right[start:stop] for start, stop in common_substrings(left, right)}
    common = substrings(left) & substrings(right)
    assert found <= common
    assert common == {part for whole in found for part in substrings(whole)}


def test_the_automaton_is_linear() -> None:
    assert len(SuffixAutomaton("abcbc" * 400)._states) <= 2 * 2000


# --- the planner


@st.composite
def graphs(draw: st.DrawFn) -> tuple[nx.DiGraph, list[int]]:
    """An acyclic graph with edges from the root 0 to all, and its terminals."""
    count = draw(st.integers(1, 8))
    costs = st.integers(0, 12)
    graph = nx.DiGraph()
    for v in range(1, count + 1):
        graph.add_edge(0, v, cost=draw(st.integers(1, 20)))
        for u in range(1, v):
            if draw(st.booleans()):
                graph.add_edge(u, v, cost=draw(costs))
    return graph, draw(st.lists(st.integers(1, count), min_size=1, unique=True))


def brute_force(graph: nx.DiGraph, root: int, terminals: Sequence[int]) -> float:
    """The least cost over all sets of optional vertices."""
    optional = [v for v in graph if v != root and v not in terminals]
    trees = (set(terminals) | set(more) for n in range(len(optional) + 1) for more in combinations(optional, n))
    costs = (
        sum(
            min(float(data["cost"]) for u, _, data in graph.in_edges(v, data=True) if u == root or u in tree)
            for v in tree
        )
        for tree in trees
    )
    return min(costs)


@given(graphs())
def test_branch_and_bound_finds_a_minimum_tree(case: tuple[nx.DiGraph, list[int]]) -> None:
    graph, terminals = case
    tree = steiner_tree(graph, 0, terminals, steps=10**7)
    assert tree.optimal
    assert set(terminals) <= set(tree.parents)
    assert isclose(tree.cost, sum(graph[u][v]["cost"] for v, u in tree.parents.items()))
    assert isclose(tree.cost, brute_force(graph, 0, terminals), abs_tol=1e-9)


def large_graphs() -> Iterator[tuple[nx.DiGraph, list[int]]]:
    """Twelve graphs with 8 terminals and 2^16 sets of optional vertices each, and their terminals."""
    for seed in range(12):
        chance = Random(seed)
        graph = nx.DiGraph()
        for v in range(1, 25):
            graph.add_edge(0, v, cost=chance.randint(5, 30))
            graph.add_edges_from((u, v, {"cost": chance.randint(0, 12)}) for u in range(1, v) if chance.random() < 0.4)
        yield graph, sorted(chance.sample(range(1, 25), 8))


def test_branch_and_bound_looks_at_few_trees() -> None:
    """It decides first on the vertex that could save most, and no more below a bound that is not better than what is
    known.
    """
    trees = [steiner_tree(graph, 0, terminals, steps=10**6) for graph, terminals in large_graphs()]
    assert all(tree.optimal for tree in trees)
    assert sum(tree.steps for tree in trees) < 12_000


def test_a_search_without_steps_finds_trees_that_are_hardly_dearer() -> None:
    """Those of the greedy search and of annealing, 599 here; the root's own edges alone are 1602."""
    best, found = (
        sum(steiner_tree(graph, 0, terminals, steps).cost for graph, terminals in large_graphs())
        for steps in (10**6, 1)
    )
    assert best == 594
    assert found <= best * 1.01


@given(graphs())
def test_annealing_finds_a_tree_that_is_no_worse_than_none(case: tuple[nx.DiGraph, list[int]]) -> None:
    graph, terminals = case
    tree = steiner_tree(graph, 0, terminals, steps=1)
    assert set(terminals) <= set(tree.parents)
    assert tree.cost <= sum(graph[0][v]["cost"] for v in terminals)
    assert tree.parents == steiner_tree(graph, 0, terminals, steps=1).parents


letters = st.integers(0, 4)


@st.composite
def patterns(draw: st.DrawFn, depth: int = 1) -> Pattern:
    operand = st.one_of(letters, letters, patterns(depth=depth - 1)) if depth else letters
    operator: OperatorName = draw(st.sampled_from(("SEQ", "SEQ", "SEQ", "AND", "AND", "SOME", "OR")))
    operands = draw(st.lists(operand, min_size=2, max_size=4))
    return made(operator, *operands)


@st.composite
def workloads(draw: st.DrawFn) -> list[Query]:
    asked = st.builds(
        SubQuery,
        patterns(),
        st.sampled_from((None, 5, 5, 8)),
        absent=st.sampled_from((frozenset[int](), frozenset[int](), frozenset({4}))),
    )
    return [Query(f"q{i}", a) for i, a in enumerate(draw(st.lists(asked, min_size=1, max_size=4)))]


@st.composite
def models(draw: st.DrawFn) -> CostModel:
    rates = draw(st.dictionaries(letters, st.sampled_from((0.0, 0.01, 0.3, 2.0))))
    statistics = PatternStatistics(rates, 0.5, horizon=20.0)
    return PaperModel(statistics) if draw(st.booleans()) else EngineModel(statistics)


@given(workloads(), models())
def test_no_plan_is_worse_than_not_sharing(queries: list[Query], model: CostModel) -> None:
    for steps in (1, 100_000):
        plan = share(queries, model, MottoBudget(steps=steps))
        assert plan.cost <= plan.unshared * (1 + 1e-9)
        assert isclose(plan.cost, sum(map(model.cost, plan.derivations)), rel_tol=1e-9)


@given(workloads(), models())
def test_the_exact_plan_is_the_best_of_the_graph(queries: list[Query], model: CostModel) -> None:
    graph = sharing_graph(queries, model, Limits(sub_queries=8))
    plan = share(queries, model, MottoBudget(limits=Limits(sub_queries=8)))
    assert plan.optimal
    assert isclose(plan.cost, brute_force(graph.edges, ROOT, list(range(graph.required))), rel_tol=1e-9)


@given(workloads(), models())
def test_a_plan_computes_everything_before_it_is_used(queries: list[Query], model: CostModel) -> None:
    plan = share(queries, model)
    done: set[SubQuery] = set()
    for step in plan.derivations:
        assert set(step.inputs) <= done
        assert step.result not in done
        done.add(step.result)
    assert set(plan.answers) == {q.name for q in queries}
    assert set(plan.answers.values()) <= done


@dataclass(frozen=True)
class Constant:
    """A model under which nothing is ever gained."""

    def cost(self, derivation: Derivation) -> float:  # noqa: ARG002
        return 1.0


def test_a_model_without_gains_leaves_the_queries_alone() -> None:
    plan = share(workload(seq(1, 2, 3), seq(1, 2, 4)), Constant())
    assert [d.source for d in plan.derivations] == [None, None]
    assert plan.cost == plan.unshared == 2.0


PROGRAM = """
from cepc.passes.motto import *
import random
chance = random.Random(3)
queries = [
    Query(f"q{i}", SubQuery(pattern_of(chance.choice(["SEQ", "AND"]), chance.sample(range(8), 4)), chance.choice([5, 9])))
    for i in range(12)
]
plan = share(queries, EngineModel(PatternStatistics(default_rate=0.4)), MottoBudget(steps=2000))
print([(str(d.result), str(d.source), d.places) for d in plan.derivations], plan.cost, plan.steps)
"""


def test_the_same_input_gives_the_same_plan_in_every_process() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT_FOLDER,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(found) == 1
    assert "SEQ" in found.pop()
