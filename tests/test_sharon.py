"""Sharon's algorithms: the paper's traffic example by its numbers, and properties on random graphs and workloads."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepc.passes.sharon import Candidate, Occurrence, PaperModel, Query, SharonBudget, share
from cepc.passes.sharon.benefit import benefit, profitable, workload_cost
from cepc.passes.sharon.candidates import sharable
from cepc.passes.sharon.expansion import conflict_causes, expand, options
from cepc.passes.sharon.finder import ScoredPlans, find, next_level, search
from cepc.passes.sharon.graph import ConflictGraph, conflict_graph, graph_of, guarantee, gwmin
from cepc.passes.sharon.reduction import reduce_graph, score_max
from cepc.passes.sharon.refinement import fill, settle

if TYPE_CHECKING:
    from collections.abc import Collection

ROOT = Path(__file__).parent.parent

OAK, MAIN, STATE, WEST, PARK, ELM = "OakSt", "MainSt", "StateSt", "WestSt", "ParkAve", "ElmSt"

# Figure 1 is lost. These are the shortest patterns with the sub-patterns of table 1.
TRAFFIC = [
    Query("q1", (OAK, MAIN, STATE)),
    Query("q2", (OAK, MAIN, WEST)),
    Query("q3", (PARK, OAK, MAIN)),
    Query("q4", (PARK, OAK, MAIN, WEST)),
    Query("q5", (MAIN, STATE)),
    Query("q6", (ELM, PARK)),
    Query("q7", (ELM, PARK)),
]
TABLE_1 = {
    "p1": ((OAK, MAIN), ("q1", "q2", "q3", "q4")),
    "p2": ((PARK, OAK), ("q3", "q4")),
    "p3": ((PARK, OAK, MAIN), ("q3", "q4")),
    "p4": ((MAIN, WEST), ("q2", "q4")),
    "p5": ((OAK, MAIN, WEST), ("q2", "q4")),
    "p6": ((MAIN, STATE), ("q1", "q5")),
    "p7": ((ELM, PARK), ("q6", "q7")),
}
FIGURE_4 = [25, 9, 12, 15, 20, 8, 18]  # the weights of p1 to p7
P1, P2, P3, P4, P5, P6, P7 = range(7)


def traffic_candidates() -> list[Candidate]:
    """In the order p1 to p7."""
    by_pattern = {c.pattern: c for c in sharable(TRAFFIC)}
    return [by_pattern[pattern] for pattern, _ in TABLE_1.values()]


def traffic_graph() -> ConflictGraph:
    return conflict_graph(traffic_candidates(), FIGURE_4)


def independent(graph: ConflictGraph, vertices: Collection[int]) -> bool:
    """Is the plan valid (definition 7)?"""
    return all(graph.conflicts[v].isdisjoint(vertices) for v in vertices)


def exhaustive(graph: ConflictGraph) -> float:
    """The weight of an optimal plan, by looking at every set of vertices."""
    vertices = list(graph.weights)
    plans = (plan for size in range(len(vertices) + 1) for plan in combinations(vertices, size))
    return max(graph.weight(plan) for plan in plans if independent(graph, plan))


# --- the paper's example


def test_the_candidates_are_those_of_table_1() -> None:
    assert {(c.pattern, c.queries) for c in sharable(TRAFFIC)} == set(TABLE_1.values())


def test_the_graph_has_the_degrees_of_figure_4() -> None:
    assert [len(n) for n in traffic_graph().conflicts.values()] == [5, 3, 4, 3, 4, 1, 0]


def test_the_guarantee_of_example_7() -> None:
    assert guarantee(traffic_graph()) == pytest.approx(38.57, abs=0.005)


def test_p3_is_ridden_and_p7_is_free() -> None:
    graph = traffic_graph()
    assert score_max(graph, P3) == 38
    reduced = reduce_graph(graph)
    assert (reduced.ridden, reduced.free) == ((P3,), (P7,))
    assert tuple(reduced.graph.weights) == (P1, P2, P4, P5, P6)


def test_algorithm_2_to_the_letter_would_drop_the_optimum() -> None:
    """It takes p7 out of the graph, and then p2 and p4 fall below the guarantee, which still counts p7."""
    rest = traffic_graph().only([P1, P2, P4, P5, P6])
    assert score_max(rest, P2) == score_max(rest, P4) == 32 < guarantee(traffic_graph())


def test_ten_valid_plans_remain() -> None:
    reduced = reduce_graph(traffic_graph()).graph
    singles: ScoredPlans = [((v,), w) for v, w in reduced.weights.items()]
    pairs = next_level(reduced, singles)
    triples = next_level(reduced, pairs)
    assert [len(singles), len(pairs), len(triples), len(next_level(reduced, triples))] == [5, 4, 1, 0]
    assert search(reduced, steps=100).plans == 10


def test_the_optimum_and_the_greedy_plan_of_example_12() -> None:
    graph = traffic_graph()
    found = find(graph, steps=100)
    assert (found.plan, found.weight, found.optimal) == ((P2, P4, P6, P7), 50, True)
    assert gwmin(graph) == (P1, P7)
    assert graph.weight(gwmin(graph)) == 43


def test_the_plans_of_example_5() -> None:
    graph = traffic_graph()
    assert independent(graph, (P2, P4))
    assert graph.weight((P2, P4)) == 24 < graph.weight((P1,)) == 25
    assert not independent(graph, (P1, P2))


def test_the_options_of_p1() -> None:
    """Example 14 drops q3, q4 for p2 and p3; example 13 keeps q1, q3, which settles the conflicts with p4 and p5."""
    p1, *others = traffic_candidates()
    found = [option.queries for option in options(p1, conflict_causes([p1, *others])[0])]
    assert found[:3] == [("q1", "q2"), ("q1", "q3"), ("q2", "q3", "q4")]
    # Every query of p1 is contested: all sets of two and three of them.
    assert set(found) == {q for size in (2, 3) for q in combinations(("q1", "q2", "q3", "q4"), size)}


def test_only_p1_has_options() -> None:
    """Example 15: the other candidates have two queries and cannot lose one."""
    expanded = expand(traffic_candidates(), per_candidate=100, vertices=1000)
    assert {c.pattern for c in expanded[7:]} == {(OAK, MAIN)}
    assert len(expanded) == 7 + 10


def test_options_of_one_pattern_conflict_even_without_a_common_query() -> None:
    """Figure 12, conflicts within sets: a pattern is computed once."""
    (p1,) = traffic_candidates()[:1]
    halves = [Candidate(p1.pattern, p1.occurrences[:2]), Candidate(p1.pattern, p1.occurrences[2:])]
    assert conflict_graph(halves, [1, 1]).conflicts == {0: {1}, 1: {0}}


# --- positions instead of definition 6, and types that occur more than once


def test_a_pattern_strictly_inside_another_conflicts_with_it() -> None:
    found = sharable([Query(name, ("A", "B", "C", "D")) for name in "qr"])
    at = {c.pattern: v for v, c in enumerate(found)}
    conflicts = conflict_graph(found, [1.0] * len(found)).conflicts
    assert at["B", "C"] in conflicts[at["A", "B", "C", "D"]]
    assert at["C", "D"] not in conflicts[at["A", "B"]]


def test_equal_ends_that_stand_apart_do_not_conflict() -> None:
    """A suffix of one is a prefix of the other (definition 6), but in both queries they take up other positions."""
    queries = [Query("q", ("A", "B", "X", "B", "C")), Query("r", ("A", "B", "Y", "B", "C"))]
    assert [c.pattern for c in sharable(queries)] == [("A", "B"), ("B", "C")]
    assert find(conflict_graph(sharable(queries), [1, 1]), 10).weight == 2


def test_a_pattern_may_occur_several_times_in_a_query() -> None:
    (found,) = (c for c in sharable([Query("q", ("A", "B", "A", "B")), Query("r", ("A", "B"))]) if len(c.pattern) == 2)
    assert found.occurrences == (Occurrence("q", 0), Occurrence("q", 2), Occurrence("r", 0))


def test_occurrences_in_one_query_only_are_not_shared() -> None:
    assert sharable([Query("q", ("A", "B", "A", "B")), Query("r", ("B", "A"))]) != ()
    assert sharable([Query("q", ("A", "A", "A")), Query("r", ("A",))]) == ()


def test_an_option_may_take_a_later_occurrence() -> None:
    (found,) = sharable([Query("q", ("A", "A", "A", "B")), Query("r", ("A", "A"))])
    assert [c.occurrences[0].start for c in options(found, ())] == [1]


def test_a_pattern_used_twice_in_a_query_is_cut_out_twice() -> None:
    """Two parts of the other method: one shared pattern, two STARTs to combine."""
    queries = [Query("q", ("A", "B", "A", "B")), Query("r", ("A", "B"))]
    (found,) = (c for c in sharable(queries) if len(c.pattern) == 2)
    model = PaperModel({"A": 2, "B": 3})
    assert workload_cost(queries, (), model) == 2 * 10 + 2 * 5
    assert workload_cost(queries, (found,), model) == 2 * 5 + 2 * 2


def test_names_are_unique_and_patterns_not_empty() -> None:
    with pytest.raises(ValueError, match="same name"):
        sharable([Query("q", ("A", "B")), Query("q", ("A", "B"))])
    with pytest.raises(ValueError, match="empty"):
        Query("q", ())


# --- benefit


def test_the_benefit_by_the_equations() -> None:
    """Equations 2, 4, 5, 7 and 8 written out for one query with a prefix and a suffix and one with neither."""
    rates = {"X": 2, "A": 3, "B": 5, "Y": 7}
    queries = {"q": Query("q", ("X", "A", "B", "Y")), "r": Query("r", ("A", "B"))}
    (ab,) = sharable(list(queries.values()))
    non_shared = 2 * (2 + 3 + 5 + 7) + 3 * (3 + 5)
    shared = 3 * (3 + 5) + (2 * 2 + 7 * 7) + 2 * 3 * 7
    assert benefit(ab, queries, PaperModel(rates)) == non_shared - shared


def test_identical_queries_are_shared_as_a_whole() -> None:
    plan = share([Query("q", ("A", "B", "C")), Query("r", ("A", "B", "C"))], PaperModel())
    assert [c.pattern for c in plan.shared] == [("A", "B", "C")]
    assert plan.cuts("q") == plan.cuts("r") == ((0, 3),)
    assert (plan.unshared, plan.cost) == (6, 3)


def test_nothing_is_shared_where_nothing_is_common() -> None:
    plan = share([Query("q", ("A", "B")), Query("r", ("B", "A"))], PaperModel())
    assert (plan.shared, plan.candidates, plan.cost) == ((), (), plan.unshared)
    assert share([], PaperModel()).shared == ()


def test_nothing_is_shared_where_combining_costs_more() -> None:
    """The suffix has many START events; the paper calls the candidate non-beneficial (definition 5)."""
    plan = share([Query("q", ("A", "B", "C")), Query("r", ("A", "B", "D"))], PaperModel({"C": 50, "D": 50}))
    assert len(plan.candidates) == 1
    assert plan.shared == ()


def test_a_query_with_a_loss_does_not_spoil_the_others() -> None:
    queries = [Query("q", ("A", "B")), Query("r", ("A", "B")), Query("s", ("A", "B", "C"))]
    model = PaperModel({"C": 50})
    (found,) = sharable(queries)
    assert benefit(found, {q.name: q for q in queries}, model) < 0
    assert [c.queries for c in share(queries, model).shared] == [("q", "r")]


def test_benefits_do_not_add_up_so_the_cost_decides() -> None:
    """Each pattern alone saves; together they cut both queries into parts whose combination costs more."""
    pattern = ("A", "B", "M", "C", "D")
    queries = [Query("q", pattern), Query("r", ("A", "B", "N", "C", "D"))]
    model = PaperModel({"A": 10, "B": 10, "M": 1, "N": 1, "C": 8, "D": 8})
    ab, cd = sharable(queries)
    unshared = workload_cost(queries, (), model)
    saved_by = [unshared - workload_cost(queries, plan, model) for plan in ([ab], [cd], [ab, cd])]
    by_name = {q.name: q for q in queries}
    assert saved_by[:2] == [benefit(ab, by_name, model), benefit(cd, by_name, model)]
    assert saved_by[2] != sum(saved_by[:2])
    assert share(queries, model).cost == min(unshared, *(unshared - s for s in saved_by))


# --- properties


@st.composite
def graphs(draw: st.DrawFn) -> ConflictGraph:
    """At most nine vertices, with whole numbers as weights, whose sums are exact."""
    weights = draw(st.lists(st.integers(1, 30), max_size=9))
    pairs = list(combinations(range(len(weights)), 2))
    return graph_of(weights, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])


@st.composite
def workloads(draw: st.DrawFn) -> list[Query]:
    """Few types, so that patterns meet, and types repeat in them."""
    patterns = st.lists(st.sampled_from("ABCD"), min_size=1, max_size=6).map(tuple)
    return [Query(f"q{i}", p) for i, p in enumerate(draw(st.lists(patterns, max_size=6)))]


MODELS = st.dictionaries(st.sampled_from("ABCD"), st.integers(0, 40)).map(PaperModel)


@given(graphs())
def test_the_plan_weighs_as_much_as_exhaustive_search_finds(graph: ConflictGraph) -> None:
    found = find(graph, steps=10**6)
    assert found.optimal
    assert independent(graph, found.plan)
    assert found.weight == graph.weight(found.plan) == exhaustive(graph)


@given(graphs())
def test_the_search_alone_is_exhaustive(graph: ConflictGraph) -> None:
    """Without reduction and components: algorithm 4 meets every valid plan once."""
    found = search(graph, steps=10**6)
    vertices = list(graph.weights)
    valid = sum(independent(graph, p) for size in range(1, 10) for p in combinations(vertices, size))
    assert (found.plans, found.weight) == (valid, exhaustive(graph))


@given(graphs())
def test_reduction_keeps_an_optimum(graph: ConflictGraph) -> None:
    reduced = reduce_graph(graph)
    assert exhaustive(reduced.graph) + graph.weight(reduced.free) == exhaustive(graph)


@given(graphs())
def test_the_greedy_plan_is_valid_and_keeps_its_guarantee(graph: ConflictGraph) -> None:
    greedy = gwmin(graph)
    assert independent(graph, greedy)
    assert graph.weight(greedy) >= guarantee(graph) - 1e-9


@given(graphs())
def test_the_greedy_plan_is_that_of_algorithm_8(graph: ConflictGraph) -> None:
    """The heap against the loop of the paper."""
    left, chosen = set(graph.weights), []
    while left:
        best = max(sorted(left), key=lambda v: graph.weights[v] / (len(graph.conflicts[v] & left) + 1))
        chosen.append(best)
        left -= graph.conflicts[best] | {best}
    assert gwmin(graph) == tuple(sorted(chosen))


@given(graphs(), st.integers(0, 60))
def test_a_short_budget_gives_the_greedy_plan_or_better(graph: ConflictGraph, steps: int) -> None:
    found = find(graph, steps)
    assert found == find(graph, steps)
    assert found.steps <= steps
    assert independent(graph, found.plan)
    assert graph.weight(gwmin(graph)) <= found.weight <= exhaustive(graph)
    if found.optimal:
        assert found.weight == exhaustive(graph)


def test_without_a_budget_the_plan_is_the_greedy_one() -> None:
    found = find(traffic_graph(), steps=0)
    assert (found.plan, found.optimal, found.steps) == ((P1, P7), False, 0)


@given(workloads())
def test_vertices_conflict_where_positions_meet(queries: list[Query]) -> None:
    candidates = [c.disjoint() for c in sharable(queries)]
    taken = [{slot for o in c.occurrences for slot in c.slots(o)} for c in candidates]
    conflicts = conflict_graph(candidates, [1.0] * len(candidates)).conflicts
    for (a, slots), (b, others) in combinations(enumerate(taken), 2):
        assert (b in conflicts[a]) == (a in conflicts[b]) == bool(slots & others)


@given(workloads())
def test_candidates_occur_where_they_say(queries: list[Query]) -> None:
    by_name = {q.name: q.pattern for q in queries}
    for c in sharable(queries):
        assert len(c.pattern) > 1
        assert c.shared
        assert all(by_name[o.query][o.start :][: len(c.pattern)] == c.pattern for o in c.occurrences)


@given(workloads(), st.integers(0, 8), st.integers(0, 40))
def test_options_are_new_valid_and_within_limits(queries: list[Query], per_candidate: int, vertices: int) -> None:
    candidates = sharable(queries)
    expanded = expand(candidates, per_candidate, vertices)
    assert expanded[: len(candidates)] == tuple(c.disjoint() for c in candidates)
    assert len(expanded) <= max(vertices, len(candidates))
    assert len(set(expanded)) == len(expanded)
    whole = {c.pattern: set(c.occurrences) for c in candidates}
    for option in expanded:
        assert set(option.occurrences) <= whole[option.pattern]
        assert option == option.disjoint()
    for option in expanded[len(candidates) :]:
        assert option.shared


@given(
    workloads(),
    MODELS,
    st.sampled_from([SharonBudget(), SharonBudget(steps=0), SharonBudget(options=0), SharonBudget(5, 3, 10)]),
)
def test_no_plan_is_worse_than_not_sharing(queries: list[Query], model: PaperModel, budget: SharonBudget) -> None:
    plan = share(queries, model, budget)
    assert plan.cost <= plan.unshared
    assert plan.unshared == workload_cost(queries, (), model)
    assert plan.cost == workload_cost(queries, plan.shared, model)
    assert plan == share(queries, model, budget)
    assert independent(conflict_graph(plan.shared, [1.0] * len(plan.shared)), range(len(plan.shared)))
    assert len({c.pattern for c in plan.shared}) == len(plan.shared)
    for query in queries:
        cuts = plan.cuts(query.name)
        assert all(a[1] <= b[0] for a, b in pairwise(cuts))


@given(workloads(), MODELS)
def test_refining_never_costs(queries: list[Query], model: PaperModel) -> None:
    """Even a plan of the worst choice: every candidate that fits, the longest patterns last."""
    candidates = sharable(queries)
    graph = conflict_graph([c.disjoint() for c in candidates], [1.0] * len(candidates))
    plan: list[int] = []
    for v in sorted(graph.weights, key=lambda v: len(candidates[v].pattern)):
        if independent(graph, [*plan, v]):
            plan.append(v)
    shared = tuple(candidates[v].disjoint() for v in plan)
    costs = [workload_cost(queries, shared, model)]
    settled = settle(shared, queries, model)
    for refined in (settled, fill(settled, candidates, queries, model)):
        costs.append(workload_cost(queries, refined, model))
        assert independent(conflict_graph(refined, [1.0] * len(refined)), range(len(refined)))
    assert costs == sorted(costs, reverse=True)


@given(workloads(), MODELS)
def test_filling_an_empty_plan_never_costs(queries: list[Query], model: PaperModel) -> None:
    filled = fill((), sharable(queries), queries, model)
    assert workload_cost(queries, filled, model) <= workload_cost(queries, (), model)


def test_settling_drops_what_costs_more_than_it_saves() -> None:
    queries = [Query("q", ("A", "B", "C")), Query("r", ("A", "B", "D")), Query("s", ("X", "Y")), Query("t", ("X", "Y"))]
    ab, xy = sharable(queries)
    assert settle((ab, xy), queries, PaperModel({"C": 50, "D": 50})) == (xy,)
    assert settle((ab, xy), queries, PaperModel({"A": 50})) == (ab, xy)


@pytest.mark.parametrize("unit", [0.001, 1, 1000])
def test_filling_does_not_depend_on_the_unit_of_time(unit: float) -> None:
    """Two patterns that save as much as each other."""
    inner = {"q": ("A", "B", "E"), "r": ("A", "B", "F"), "s": ("C", "D", "E"), "t": ("C", "D", "F")}
    queries = [Query(name, types) for name, types in inner.items()]
    model = PaperModel({**dict.fromkeys("ABCD", 50 * unit), **dict.fromkeys("EF", unit)})
    filled = fill((), sharable(queries), queries, model)
    assert sorted(candidate.pattern for candidate in filled) == [("A", "B"), ("C", "D")]


def test_filling_makes_the_option_that_fits() -> None:
    """p2 is taken in q3 and q4: p1 is left with q1 and q2."""
    candidates = traffic_candidates()
    model = PaperModel({OAK: 4, MAIN: 3, STATE: 1, WEST: 1, PARK: 5})
    plan = fill((candidates[P2],), candidates[:1], TRAFFIC, model)
    assert {c.pattern: c.queries for c in plan} == {(PARK, OAK): ("q3", "q4"), (OAK, MAIN): ("q1", "q2")}


@given(workloads(), MODELS)
def test_a_query_that_is_dropped_at_once_would_only_cost(queries: list[Query], model: PaperModel) -> None:
    by_name = {q.name: q for q in queries}
    for candidate in sharable(queries):
        kept = profitable(candidate, by_name, model)
        if kept.occurrences:
            assert benefit(kept.disjoint(), by_name, model) >= benefit(candidate.disjoint(), by_name, model)


def test_the_plan_does_not_depend_on_the_hash_seed() -> None:
    """Strings hash differently in every process; nothing may follow the order of a set of them."""
    program = (
        "from tests.test_sharon import TRAFFIC\n"
        "from cepc.passes.sharon import *\n"
        "print(share(TRAFFIC, PaperModel({'OakSt': 3, 'MainSt': 2}), SharonBudget(steps=40)))"
    )
    environments = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    printed = {subprocess.check_output([sys.executable, "-c", program], env=e, cwd=ROOT) for e in environments}
    assert len(printed) == 1
