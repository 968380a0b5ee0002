"""Gloria's algorithms: the paper's examples by their numbers, and properties on random workloads."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cepc.passes.gloria import (
    PAPER,
    BasisColumns,
    Breadth,
    EngineModel,
    GloriaBudget,
    Optimizer,
    PaperModel,
    Query,
    Type,
    WrittenPlace,
    alignments,
    share,
)
from cepc.passes.gloria.cost import CostModel, Members
from cepc.passes.gloria.graph import GloriaGraph, Pruning, build
from cepc.passes.gloria.nodes import Generator, options_of
from cepc.passes.gloria.places import write
from cepc.passes.gloria.search import GraphPath, eliminate, parts, path_search, search
from cepc.passes.gloria.template import Template, bits, template_of
from cepc.passes.gloria.weights import ALONE, Node, Weigher
from cepc.passes.pattern import Event, PlannedPattern, events
from cepc_grammar.pattern import And, Not, Or, Repeat, Seq
from cepc_runtime.plan.sharing import Member, SharedStates
from tests.gloria_brute_force import lightest, lightest_cycle
from tests.properties import portion

ROOT = Path(__file__).parent.parent
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letter(name: str) -> int:
    return ALPHABET.index(name)


def kind(name: str) -> Type:
    return Type((letter(name),))


def event(name: str) -> Event:
    return Event(letter(name), name.lower())


def seq(*elements: str | PlannedPattern) -> PlannedPattern:
    """`seq("AB", plus(...))`: each letter of a text is one event."""
    found: list[PlannedPattern] = []
    for e in elements:
        found += [event(name) for name in e] if isinstance(e, str) else [e]
    return found[0] if len(found) == 1 else Seq(tuple(found))


def plus(*elements: str | PlannedPattern) -> PlannedPattern:
    return Repeat(seq(*elements), 1, None)


def queries(*patterns: str | PlannedPattern, columns: int = 1) -> list[Query]:
    return [Query(f"q{i}", seq(p), columns) for i, p in enumerate(patterns, 1)]


def rates(**by_name: float) -> dict[int, float]:
    return {letter(name): rate for name, rate in by_name.items()}


def mask(*numbers: int) -> int:
    """Of queries numbered from 1, as the paper does."""
    return sum(1 << (n - 1) for n in numbers)


def node(*qsets: tuple[tuple[int, ...], str]) -> Node:
    return tuple((mask(*numbers), kind(snapshot)) for numbers, snapshot in qsets)


def pool_named(template: Template, name: str) -> int:
    """The pool that has this transition."""
    pair = (kind(name[0]), kind(name[1]))
    (found,) = (i for i, p in enumerate(template.pools) if pair in {(t.source, t.target) for t in p.transitions})
    return found


def plan_of(graph: GloriaGraph, path: GraphPath) -> dict[int, Node]:
    return {pool: graph.pools[pool].nodes[n] for pool, n in path.items()}


def lightest_path(graph: GloriaGraph) -> float:
    return graph.weigher.total(plan_of(graph, search(graph, 10**7).path))


# --- examples 4.2, 5.6 and 5.7: figure 5, figure 7 and table 3

FIGURE_5 = queries("FABCD", "ABCD", "ECD")
RATES = rates(F=10, A=5, B=10, C=12, D=4, E=3)
TABLE_3: dict[str, tuple[str, Node, float]] = {
    "n1": ("FA", ALONE, 10),
    "n2": ("AB", node(((1, 2), "A")), 65),
    "n3": ("AB", ALONE, 65),
    "n4": ("BC", node(((1, 2), "A")), 70),
    "n5": ("BC", node(((1, 2), "B")), 165),
    "n6": ("BC", ALONE, 165),
    "n7": ("EC", ALONE, 3),
    "n8": ("CD", node(((1, 2), "A")), 159),
    "n10": ("CD", node(((1, 2), "C")), 279),
    "n11": ("CD", ALONE, 444),
    "n12": ("CD", node(((1, 2, 3), "C")), 279),
}


def figure_5(pruning: Pruning = Pruning.SAFE) -> GloriaGraph:
    return build(template_of(FIGURE_5), PaperModel(RATES), GloriaBudget(breadth=PAPER), pruning)


def nodes_of(graph: GloriaGraph) -> dict[tuple[str, Node], float]:
    """Every node with its d_s."""
    return {
        (ALPHABET[t.source.letters[0]] + ALPHABET[t.target.letters[0]], n): distance
        for pool, candidates in zip(graph.template.pools, graph.pools, strict=True)
        for t in pool.transitions
        for n, distance in zip(candidates.nodes, candidates.distance, strict=True)
    }


def test_the_distances_of_table_3() -> None:
    """Every node of figure 7, whether a principle makes it or not: over the nodes before it, the least sum of edges
    (equation 5).
    """
    template = template_of(FIGURE_5)
    weigher = Weigher(template, PaperModel(RATES), splits=False)
    distance: dict[tuple[int, Node], float] = {}
    for name, nodes, _ in TABLE_3.values():
        number = pool_named(template, name)
        total = weigher.starts_of(template.pools[number])
        for link in template.before[number]:
            before = [
                (n, d + weigher.inside(template.pools[p], n)) for (p, n), d in distance.items() if p == link.before
            ]
            total += min(d + weigher.between(link, n, nodes) for n, d in before)
        distance[number, nodes] = total
    assert list(distance.values()) == [d for _, _, d in TABLE_3.values()]


def test_both_ways_into_n5() -> None:
    """Example 5.7: 170 from n2, 165 from n3."""
    template = template_of(FIGURE_5)
    weigher = Weigher(template, PaperModel(RATES))
    before, after = pool_named(template, "AB"), pool_named(template, "BC")
    (link,) = template.before[after]
    weights = [
        65 + weigher.inside(template.pools[before], n) + weigher.between(link, n, TABLE_3["n5"][1])
        for n in (TABLE_3["n2"][1], TABLE_3["n3"][1])
    ]
    assert weights == [170, 165]


def test_the_pruned_graph_of_figure_7b() -> None:
    kept = {TABLE_3[n][:2]: TABLE_3[n][2] for n in ["n1", "n2", "n3", "n4", "n6", "n7", "n8", "n11", "n12"]}
    assert nodes_of(figure_5()) == kept == nodes_of(figure_5(Pruning.PRINTED))
    graph = figure_5()
    assert (graph.node_count, graph.edge_count) == (9, 10)
    assert (graph.generated, graph.weighed) == (10, 17)  # of all nodes and edges that were looked at


def test_the_unpruned_graph_has_n5_and_n9_too() -> None:
    """But not n10, which local snapshots of C, more frequent than A, would make against principle 2."""
    extra = nodes_of(figure_5(Pruning.NONE)).keys() - nodes_of(figure_5()).keys()
    assert extra == {("BC", node(((1, 2), "B"))), ("CD", node(((1, 2), "B")))}


@pytest.mark.parametrize("pruning", Pruning)
def test_the_optimum_passes_n8_and_weighs_307(pruning: Pruning) -> None:
    graph = figure_5(pruning)
    found = search(graph, 10**6)
    assert found.cases == (1,)  # one end node
    plan = plan_of(graph, found.path)
    assert plan[pool_named(graph.template, "CD")] == TABLE_3["n8"][1]
    assert graph.weigher.total(plan) == 307


def test_the_edge_from_n11_to_the_end() -> None:
    template = template_of(FIGURE_5)
    assert Weigher(template, PaperModel(RATES)).inside(template.pools[pool_named(template, "CD")], ALONE) == 144


def test_the_greedy_plan_of_figure_5_is_the_optimum_too() -> None:
    assert share(FIGURE_5, PaperModel(RATES), GloriaBudget(breadth=PAPER), Optimizer.GREEDY).weight == 307


# --- examples 2.5 to 3.2


def test_example_2_5_the_whole_kleene_part_is_shared() -> None:
    """q1 = R (P T)+ D, q2 = A R (P T)+ D, q3 = A R (P T)+ C: plan 1 of figure 2 needs all three from R on."""
    workload = queries(seq("R", plus("PT"), "D"), seq("AR", plus("PT"), "D"), seq("AR", plus("PT"), "C"))
    plan = share(workload, EngineModel(default=100))
    named = {(s.queries, tuple(place.event for place in s.members[0][1:])) for s in plan.shared}
    assert named == {
        (("q1", "q2", "q3"), (0, 1)),
        (("q1", "q2", "q3"), (1, 2)),
        (("q1", "q2", "q3"), (2, 1)),
        (("q1", "q2"), (2, 3)),
        (("q2", "q3"), (0, 1)),
    }


def test_equation_2_counts_12_where_example_3_1_counts_6() -> None:
    """One C, two A, two B: the equation pairs every A with every B, also with those that come later."""
    model = PaperModel(rates(C=1, A=2, B=2))
    two = Members(2, 2)
    assert model.alone(kind("C"), kind("A"), two) + model.alone(kind("B"), kind("A"), two) == 12


def test_example_3_2_needs_3_propagations_with_snapshots_of_c() -> None:
    model = PaperModel(rates(C=1, A=2, B=2))
    two = Members(2, 2)
    assert model.shared(kind("C"), kind("A"), kind("C"), two) + model.shared(kind("B"), kind("A"), kind("C"), two) == 3


# --- examples 5.3 to 5.5: node generation


def generated(breadth: Breadth, **rate: float) -> set[Node]:
    """What a node with (1, 2)^X and (3, 4)^Y makes of the next pool, tran(J, K)."""
    template = template_of(queries("XIJK", "XIJK", "YIJK", "YIJK"))
    number = pool_named(template, "JK")
    generator = Generator(template, number, PaperModel(rates(**rate), default=1), breadth)
    return set(generator.generate([node(((1, 2), "X"), ((3, 4), "Y"))]))


def test_the_principles_make_the_nodes_of_figure_6() -> None:
    reuse = node(((1, 2), "X"), ((3, 4), "Y"))
    local = node(((1, 2), "X"), ((3, 4), "J"))
    merging = node(((1, 2, 3, 4), "J"))
    assert generated(PAPER, X=3, Y=9, J=5) == {reuse, local, merging, ALONE}


def test_no_local_snapshots_of_a_more_frequent_type() -> None:
    assert generated(PAPER, X=3, Y=9, J=10) == {node(((1, 2), "X"), ((3, 4), "Y")), node(((1, 2, 3, 4), "J")), ALONE}


def test_only_some_are_merged_where_few_come_in() -> None:
    template = template_of(queries("ABC", "ABC", "ABC"))
    made = Generator(template, pool_named(template, "AB"), PaperModel(), Breadth()).generate([])
    shared = {tuple(tuple(bits(qset)) for qset, _ in n) for n in made}
    assert shared == {(), ((0, 1, 2),), ((0, 1),), ((0, 2),), ((1, 2),)}


def test_a_query_that_starts_here_cannot_go_on_with_earlier_snapshots() -> None:
    template = template_of(queries("ABC", "ABC", "BC"))
    made = Generator(template, pool_named(template, "BC"), PaperModel(rates(A=1, B=9)), Breadth()).generate(
        [node(((1, 2), "A"))]
    )
    assert node(((1, 2), "A")) in made
    assert node(((1, 2, 3), "A")) not in made
    assert node(((1, 2, 3), "B")) in made


def test_several_predecessors_must_agree() -> None:
    """C comes after A or B. What is carried on must be the same Q-set with the same snapshots both ways."""
    either = seq("X", Or((event("A"), event("B"))), "CD")
    template = template_of(queries(either, either))
    number = pool_named(template, "CD")
    assert len(template.before[number]) == 2
    generator = Generator(template, number, PaperModel(rates(A=2, B=3, C=9)), Breadth())
    assert node(((1, 2), "X")) in generator.generate([node(((1, 2), "X"))] * 2)
    mixed = generator.generate([node(((1, 2), "A")), node(((1, 2), "B"))])
    assert set(mixed) == {ALONE, node(((1, 2), "C"))}


# --- examples 6.2 to 6.5: Kleene

A_B = plus("AB")
NESTED = plus("C", A_B, "D")


def kleene_graph(patterns: list[PlannedPattern], pruning: Pruning, breadth: Breadth = PAPER) -> GloriaGraph:
    return build(template_of(queries(*patterns)), PaperModel(RATES), GloriaBudget(breadth=breadth), pruning)


def test_the_paths_of_example_6_2() -> None:
    graph = kleene_graph([seq(A_B, "E"), seq(A_B, "E")], Pruning.NONE)
    candidates = graph.pools[0]
    weights = {n: graph.weigher.inside(graph.template.pools[0], n) for n in candidates.nodes}
    assert weights == {node(((1, 2), "A")): 105, node(((1, 2), "B")): 110, ALONE: 200}
    # Example 6.3: with the 10 of the common start, d_s of equation 6.
    assert sorted(candidates.through(n) for n in range(3)) == [115, 120, 210]


def test_p2_is_pruned_in_example_6_3() -> None:
    kept = kleene_graph([seq(A_B, "E"), seq(A_B, "E")], Pruning.PRINTED).pools[0].nodes
    assert kept == [ALONE, node(((1, 2), "A"))]


def test_lemma_5_11_as_printed_loses_the_optimum_behind_a_kleene_sub_pattern() -> None:
    """The same with few events after it: where the pattern is left at B, snapshots of B need no evaluation. So P2 stays
    here.
    """
    few = PaperModel(RATES | rates(E=1))
    template = template_of(queries(seq(A_B, "E"), seq(A_B, "E")))
    weights = [lightest_path(build(template, few, GloriaBudget(breadth=PAPER), pruning)) for pruning in Pruning]
    assert dict(zip(Pruning, weights, strict=True)) == {Pruning.NONE: 150, Pruning.SAFE: 150, Pruning.PRINTED: 175}


def test_the_ranking_of_example_6_5() -> None:
    """P1 to P4 have snapshots of C, A, B, D; the printed weights cannot be had from the printed edges."""
    template = template_of(queries(*[seq(NESTED, "E")] * 4))
    weigher = Weigher(template, PaperModel(RATES))
    everyone = (1, 2, 3, 4)
    paths = {f"P{i}": node((everyone, s)) for i, s in enumerate("CABD", 1)} | {"P5": ALONE}
    weights = {name: weigher.inside(template.pools[0], n) for name, n in paths.items()}
    assert sorted(weights, key=weights.__getitem__) == ["P4", "P2", "P3", "P1", "P5"]
    assert weights == {"P1": 504, "P2": 285, "P3": 380, "P4": 216, "P5": 992}


def test_p1_to_p3_are_pruned_in_example_6_5() -> None:
    kept = kleene_graph([seq(NESTED, "E")] * 4, Pruning.PRINTED).pools[0].nodes
    assert kept == [ALONE, node(((1, 2, 3, 4), "D"))]


def test_only_some_of_the_queries_share_a_kleene_sub_pattern() -> None:
    """In the paper all three share it or none (§6), so the Q-set of q1 and q2, with snapshots of the rare C, ends
    before it.
    """
    workload = queries(seq("C", A_B, "DE"), seq("C", A_B, "DE"), A_B)
    model = PaperModel(rates(A=5, B=5, C=1, D=50, E=20))
    paper, ours = (share(workload, model, GloriaBudget(breadth=b)) for b in (PAPER, Breadth()))
    assert {s.queries for s in paper.shared} == {("q1", "q2", "q3"), ("q1", "q2")}
    assert {(s.queries, s.snapshot) for s in ours.shared} == {(("q1", "q2"), kind("C"))}
    assert (paper.weight, ours.weight) == (552, 163)


def test_example_2_4_an_inner_kleene_sub_pattern_is_shared_by_all_and_the_outer_by_two() -> None:
    outer = plus("C", A_B)
    workload = queries(A_B, outer, seq(outer, "E"))
    plan = share(workload, PaperModel(rates(A=2, B=9, C=30, E=3)))
    assert {(s.queries, s.snapshot) for s in plan.shared} == {
        (("q1", "q2", "q3"), kind("A")),
        (("q2", "q3"), kind("A")),
    }
    assert len([s for s in plan.shared if len(s.queries) == 3]) == 2  # A to B and back
    assert plan.weight < plan.unshared


def test_q_sets_of_an_inner_and_an_outer_kleene_sub_pattern_become_one_and_no_query_is_in_two() -> None:
    """Two queries have the inner one alone, two the outer one; where both pairs have snapshots of A they are one Q-set
    of the inner.
    """
    outer = plus("C", A_B)
    template = template_of(queries(seq("X", A_B, "D"), seq("X", A_B, "D"), seq("X", outer, "E"), seq("X", outer, "E")))
    graph = build(template, PaperModel(), GloriaBudget(), Pruning.NONE)
    kleene = [number for number, pool in enumerate(template.pools) if len(pool.cycles) > 1]
    nodes = {frozenset(n) for number in kleene for n in graph.pools[number].nodes}
    a, b = kind("A"), kind("B")
    assert frozenset({(mask(1, 2, 3, 4), a)}) in nodes
    assert frozenset({(mask(1, 2), a), (mask(3, 4), b)}) in nodes
    for qsets in nodes:
        assert (
            sum(qset.bit_count() for qset, _ in qsets)
            == mask(*{1 + q for qset, _ in qsets for q in bits(qset)}).bit_count()
        )


def test_a_sequence_does_not_join_a_kleene_sub_pattern() -> None:
    """q3 has the transition from A to B, but not the way back: its Q-set is another (lemma 6.1)."""
    plan = share(queries(seq(A_B, "E"), seq(A_B, "E"), "ABE"), PaperModel(rates(A=5, B=10)))
    inner = [s for s in plan.shared if "q3" not in s.queries]
    assert {s.queries for s in inner} >= {("q1", "q2")}
    assert not [s for s in plan.shared if "q3" in s.queries and s.members[0][1:] == (WrittenPlace(0), WrittenPlace(1))]


def test_earlier_snapshots_are_kept_through_a_kleene_sub_pattern() -> None:
    """§6 omits it: X is rare, so its snapshots are best everywhere."""
    workload = queries(*[seq("XY", A_B, "E")] * 3)
    plan = share(workload, PaperModel(rates(X=1, Y=20, A=20, B=20, E=20)))
    assert {s.snapshot for s in plan.shared} == {kind("X")}
    assert len(plan.shared) == 5
    assert (
        plan.weight
        < share(workload, PaperModel(rates(X=1, Y=20, A=20, B=20, E=20)), GloriaBudget(breadth=PAPER)).weight
    )


# --- the template


@pytest.mark.parametrize(
    ("pattern", "transitions"),
    [
        (seq("ABC"), "AB BC"),
        (seq("A", plus("B"), "C"), "AB BB BC"),
        (seq("A", Repeat(event("B"), 0, None), "C"), "AB AC BB BC"),
        (seq("A", Repeat(event("B"), 0, 1), "C"), "AB AC BC"),
        (seq("A", Or((event("B"), event("C"))), "D"), "AB AC BD CD"),
        (plus("C", A_B, "D"), "AB BA BD CA DC"),
        (seq("A", Repeat(event("B"), 2, 3), "C"), "AB BB BB BC BC"),
        (seq("A", Repeat(event("B"), 2, None)), "AB BB BB"),
        (seq("A", Not(event("B")), "C"), "AC"),
        (seq("A", And((event("B"), event("C"))), "D"), "AB BD"),
    ],
)
def test_the_transitions_of_a_pattern(pattern: PlannedPattern, transitions: str) -> None:
    written = write(pattern, "q")
    names = [ALPHABET[t.letters[0]] for t in written.types]
    assert sorted(names[s.source] + names[s.target] for s in written.steps) == transitions.split()


def test_a_guarded_transition_is_another() -> None:
    plan = share(queries("ABCDE", "ABCDE", seq("A", Not(event("X")), "BCDE")), EngineModel())
    first = [s.queries for s in plan.shared if s.members[0][1:] == (WrittenPlace(0), WrittenPlace(1))]
    assert first == [("q1", "q2")]
    assert ("q1", "q2", "q3") in {s.queries for s in plan.shared}


def test_an_and_is_not_shared_but_what_is_beside_it_is() -> None:
    both: PlannedPattern = And((event("B"), event("C")))
    plan = share(queries(seq("XYZ", both), seq("XYZ", both)), EngineModel())
    assert [s.members[0][1:] for s in plan.shared] == [
        (WrittenPlace(0), WrittenPlace(1)),
        (WrittenPlace(1), WrittenPlace(2)),
    ]


def test_the_second_place_of_a_letter_corresponds_to_the_second() -> None:
    plan = share(queries("ABAB", "ABAC"), EngineModel())
    assert [(s.members[0][1:], s.members[1][1:]) for s in plan.shared] == [
        ((WrittenPlace(0), WrittenPlace(1)),) * 2,
        ((WrittenPlace(1), WrittenPlace(2)),) * 2,
    ]


def test_a_circle_that_no_kleene_operator_makes_is_cut() -> None:
    template = template_of(queries("ABC", "BCA", "CAB"))
    assert all(link.before < link.after for link in template.links)
    assert sorted(p.queries for p in template.pools) == [mask(1), mask(2), mask(1, 2), mask(3), mask(3)]


def test_copies_of_an_and_are_types_of_their_own_and_make_no_circle() -> None:
    """(AND AND){2}: with one type for both copies the step from the second AND back to the first would be a circle."""
    both: PlannedPattern = And((event("B"), event("C")))
    template = template_of(queries(seq(Repeat(seq(both, both), 0, 2), "A"), "A"))
    assert len(set(template.patterns[0].types)) == 5
    assert all(link.before < link.after for link in template.links)


def test_a_query_whose_two_kleene_sub_patterns_another_joins_stands_alone() -> None:
    """q2 has both inside one; q1 goes from one through X to the other and would come back to its own pool."""
    second = plus("DE")
    template = template_of(queries(seq(A_B, "X", second), plus(A_B, second)))
    assert all(link.before < link.after for link in template.links)
    assert sum(t.queries.bit_count() for p in template.pools for t in p.transitions) == 2 + 2 + 2 + 6


def test_a_query_of_one_event_costs_its_start() -> None:
    plan = share(queries("A", "A"), PaperModel(rates(A=7)))
    assert (plan.shared, plan.weight) == ((), 14)


def test_two_queries_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="same name"):
        template_of([Query("q", seq("AB")), Query("q", seq("AC"))])


# --- the search

PARTED = queries("DH", "CDH", "BDG", "CDG", "BDG")
PARTED_RATES = rates(D=3, H=1, C=2, B=3, G=1)


def test_case_2_is_one_path() -> None:
    """Two ends, but a budget of one node for each pool."""
    found = search(build(template_of(PARTED), PaperModel(PARTED_RATES), GloriaBudget(nodes=1)), 10**6)
    assert (found.cases, set(found.path.values())) == ((2,), {0})


def test_algorithm_1_can_miss_the_optimum_in_case_3() -> None:
    """Two ways into D and two out of it: each node knows one path, and the lightest is none of them."""
    graph = build(template_of(PARTED), PaperModel(PARTED_RATES), GloriaBudget())
    found = search(graph, 10**6)
    assert found.cases == (3,)
    whole = plan_of(graph, found.path)
    for part in parts(graph):
        whole |= plan_of(graph, path_search(graph, part))
    assert graph.weigher.total(plan_of(graph, found.path)) == 52
    assert graph.weigher.total(whole) == 54


@pytest.mark.parametrize(
    ("words", "rate", "weight"),
    [
        (("CGH", "BCDG", "BCDG", "BCGH"), rates(B=1, C=1, D=5, G=2, H=1), 21),
        (("BCD", "DGH", "DH", "BCDG", "BCDH", "BDG"), rates(B=1, C=2, D=3, G=1, H=2), 48),
        (("BCDH", "CDGH", "CGH", "BDGH", "BCGH"), rates(B=4, C=3, D=4, G=3, H=5), 198),
    ],
)
def test_algorithm_1_looks_for_the_nearest_end_in_case_3(
    words: tuple[str, ...], rate: dict[int, float], weight: float
) -> None:
    """There its path is the lightest."""
    graph = build(template_of(queries(*words)), PaperModel(rate), GloriaBudget())
    found = search(graph, 10**6)
    assert 3 in found.cases
    whole = plan_of(graph, found.path)
    assert graph.weigher.total(whole) == weight
    for part in parts(graph):
        whole |= plan_of(graph, path_search(graph, part))
    assert graph.weigher.total(whole) == weight


def test_without_steps_the_path_of_algorithm_1_is_improved() -> None:
    graph = build(template_of(PARTED), PaperModel(PARTED_RATES), GloriaBudget())
    found = search(graph, 0)
    assert not found.exact
    assert graph.weigher.total(plan_of(graph, found.path)) <= 54


def every_path(graph: GloriaGraph) -> float | None:
    """The lightest path by looking at all of them."""
    sizes = [range(len(candidates.nodes)) for candidates in graph.pools]
    if math.prod(map(len, sizes)) > 3000:
        return None
    return min(graph.weigher.total(plan_of(graph, dict(enumerate(path)))) for path in product(*sizes))


# --- random workloads

LETTERS = 6


@st.composite
def patterns(draw: st.DrawFn) -> PlannedPattern:
    """A part of A … F, mostly in order, some of it optional or under Kleene operators, perhaps with a private end."""
    first = draw(st.integers(0, 2))
    last = draw(st.integers(first + 2, LETTERS))
    elements: list[PlannedPattern] = [Event(i, "v") for i in range(first, last)]
    if draw(st.integers(0, 3)) == 0:
        elements[:2] = reversed(elements[:2])
    for _ in range(draw(st.integers(0, 2))):
        i = draw(st.integers(0, len(elements) - 1))
        j = draw(st.integers(i + 1, min(i + 3, len(elements))))
        elements[i:j] = [Repeat(Seq(tuple(elements[i:j])), 1, None)]
    if draw(st.integers(0, 4)) == 0:
        elements[0] = Repeat(elements[0], 0, 1)
    if draw(st.integers(0, 5)) == 0:
        elements.insert(1, Or((Event(20, "v"), Event(21, "v"))))
    if draw(st.booleans()) or len(elements) == 1:
        elements.append(Event(LETTERS + draw(st.integers(0, 2)), "v"))
    return Seq(tuple(elements))


@st.composite
def workloads(draw: st.DrawFn, most: int = 5) -> list[Query]:
    pool = draw(st.lists(patterns(), min_size=1, max_size=3))  # few patterns, so that something can be shared
    count = draw(st.integers(2, most))
    return [Query(f"q{i}", draw(st.sampled_from(pool)), draw(st.sampled_from([1, 10, 100]))) for i in range(count)]


some_rates = st.dictionaries(st.integers(0, 8), st.sampled_from([1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 100.0]))


@st.composite
def models(draw: st.DrawFn) -> CostModel:
    found = draw(some_rates)
    made: list[CostModel] = [PaperModel(found), EngineModel(found), EngineModel(found, operation=0.5, addition=1)]
    return draw(st.sampled_from(made))


breadths = st.sampled_from([PAPER, Breadth(), Breadth(4, 0, splits=False)])


@given(workloads(), models(), breadths, st.sampled_from(Optimizer))
def test_no_plan_is_worse_than_not_sharing(
    workload: list[Query], model: CostModel, breadth: Breadth, optimizer: Optimizer
) -> None:
    plan = share(workload, model, GloriaBudget(nodes=8, steps=2000, breadth=breadth), optimizer)
    assert plan.weight <= plan.unshared
    assert bool(plan.shared) == (plan.weight < plan.unshared)


@given(workloads(4), models(), breadths)
def test_pruning_keeps_the_optimum_of_the_whole_graph(
    workload: list[Query], model: CostModel, breadth: Breadth
) -> None:
    template = template_of(workload)
    budget = GloriaBudget(10**6, 10**6, 10**6, 10**7, breadth)
    pruned, whole = (build(template, model, budget, p) for p in (Pruning.SAFE, Pruning.NONE))
    assert pruned.node_count <= whole.node_count
    assert search(whole, 10**7).exact
    assert lightest_path(pruned) == pytest.approx(lightest_path(whole))


@settings(max_examples=portion(50))
@given(workloads(3), models(), breadths)
def test_the_search_finds_the_lightest_of_all_paths(workload: list[Query], model: CostModel, breadth: Breadth) -> None:
    graph = build(template_of(workload), model, GloriaBudget(breadth=breadth), Pruning.NONE)
    best = every_path(graph)
    assume(best is not None)
    assert best is not None
    assert lightest_path(graph) == pytest.approx(best)


@given(workloads(4), models())
def test_cases_1_and_2_of_algorithm_1_are_exact(workload: list[Query], model: CostModel) -> None:
    graph = build(template_of(workload), model, GloriaBudget())
    for part, case in zip(parts(graph), search(graph, 10**7).cases, strict=True):
        exact = eliminate(graph, part, 10**7)
        assert exact is not None
        if case < 3:
            rest = dict.fromkeys(range(len(graph.pools)), ALONE)
            found, best = (
                graph.weigher.total(rest | plan_of(graph, path)) for path in (path_search(graph, part), exact)
            )
            assert found == pytest.approx(best)


sequences = st.lists(st.tuples(st.integers(0, 1), st.integers(3, 5), st.booleans()), min_size=2, max_size=4)


@settings(max_examples=portion(60))
@given(sequences, st.lists(st.sampled_from([1, 2, 3, 5, 8, 13, 30]), min_size=9, max_size=9))
def test_sequences_get_the_best_of_all_sharing_plans(parts_of: list[tuple[int, int, bool]], rate: list[int]) -> None:
    """By all partitions, all snapshots (definition 2.6), not by the principles. With all ways of merging lemma 5.2
    holds.
    """
    letters = [[*range(first, last), *([5 + i] if tail else [])] for i, (first, last, tail) in enumerate(parts_of)]
    by_letter = {i: float(r) for i, r in enumerate(rate)}
    best = lightest(letters, by_letter, most=20_000)
    assume(best is not None)
    workload = [Query(f"q{i}", Seq(tuple(Event(e, "v") for e in p))) for i, p in enumerate(letters)]
    assert share(workload, PaperModel(by_letter), GloriaBudget(breadth=Breadth(groups=4))).weight == best


@settings(max_examples=portion(60))
@given(st.lists(st.sampled_from([1, 2, 3, 5, 8, 13, 30]), min_size=1, max_size=3), st.integers(2, 3))
def test_a_kleene_sub_graph_gets_the_best_of_all_plans(rate: list[int], count: int) -> None:
    """Where all queries start with it, the paper claims the optimum (§6.2). It is that of inconsistent plans too (lemma
    6.1).
    """
    by_letter = {i: float(r) for i, r in enumerate(rate)}
    pattern: PlannedPattern = Repeat(Seq(tuple(Event(i, "v") for i in by_letter)), 1, None)
    best = lightest_cycle(list(by_letter), by_letter, count)
    for breadth in (PAPER, Breadth()):
        plan = share(
            [Query(f"q{i}", pattern) for i in range(count)], PaperModel(by_letter), GloriaBudget(breadth=breadth)
        )
        assert plan.weight == best


def test_merging_all_is_not_always_best() -> None:
    """Principle 3 merges all Q-sets. Here q2 had better stay out of the Q-set that q1 and q3 form at A."""
    texts = ["ABCD", "ACD", "ABCDE"]
    model = PaperModel(rates(A=5, B=30, C=2, D=3, E=13))
    paper, ours = (share(queries(*texts), model, GloriaBudget(breadth=b)).weight for b in (PAPER, Breadth()))
    assert (paper, ours) == (259, 257)
    assert lightest([[letter(e) for e in text] for text in texts], model.rates, most=10**6) == 257


@given(workloads(), models())
def test_states_that_correspond_do_so_once_and_read_the_same_letter(workload: list[Query], model: CostModel) -> None:
    plan = share(workload, model)
    found = alignments(plan.shared)
    letters = {(q.name, i): e.letter for q in workload for i, e in enumerate(events(q.pattern))}
    places = [(query, place) for a in found for query, row in a.members for place in row]
    assert len(places) == len(set(places))
    row_of: dict[tuple[str, WrittenPlace], tuple[int, int]] = {}
    for number, a in enumerate(found):
        SharedStates(tuple(Member(query, tuple(range(len(row)))) for query, row in a.members), basis=a.basis)
        for i, row in enumerate(zip(*(row for _, row in a.members), strict=True)):
            assert len({letters[q, p.event] for (q, _), p in zip(a.members, row, strict=True)}) == 1
            row_of |= {(query, place): (number, i) for (query, _), place in zip(a.members, row, strict=True)}
    for shared in plan.shared:
        assert len({row_of[query, source] for query, source, _ in shared.members}) == 1
        assert len({row_of[query, target] for query, _, target in shared.members}) == 1


@given(workloads(3), models())
def test_the_same_workload_in_another_order_weighs_the_same(workload: list[Query], model: CostModel) -> None:
    budget = GloriaBudget(10**6, 10**6, 10**6, 10**7, Breadth(groups=3, futures=0))
    there, back = share(workload, model, budget), share(workload[::-1], model, budget)
    assert there.unshared == pytest.approx(back.unshared)
    assume(len(template_of(workload).pools) == len(template_of(workload[::-1]).pools))
    assert there.weight == pytest.approx(back.weight)


# --- the engine's costs


def test_the_engine_shares_a_row_operation_wherever_it_can() -> None:
    plan = share(queries("ABC", "ABD", columns=10), EngineModel(default=100, operation=6, addition=0.3))
    assert [(s.queries, s.snapshot) for s in plan.shared] == [(("q1", "q2"), None)]
    assert plan.unshared - plan.weight == pytest.approx(600)  # one operation less for each of 100 events of B


def test_a_basis_pays_for_many_columns_and_long_runs() -> None:
    patterns: list[PlannedPattern] = [seq("X", A_B, "Y")] * 10
    model = EngineModel(rates(X=1, Y=1, A=1000, B=1000))
    few, many = share(queries(*patterns[:2]), model), share(queries(*patterns, columns=100), model)
    assert not [s for s in few.shared if isinstance(s.snapshot, BasisColumns)]
    assert {s.members[0][1:] for s in many.shared if isinstance(s.snapshot, BasisColumns)} == {
        (WrittenPlace(1), WrittenPlace(2)),
        (WrittenPlace(2), WrittenPlace(1)),
    }
    assert [a.basis for a in alignments(many.shared)].count(True) == 1
    often = EngineModel(rates(X=1000, Y=1000, A=1000, B=1000))
    assert not [s for s in share(queries(*patterns, columns=100), often).shared if isinstance(s.snapshot, BasisColumns)]


RUNS: dict[str, tuple[PlannedPattern, dict[str, float]]] = {
    "what comes before": (seq("X", A_B), {"AB": 3}),
    "what comes just before": (seq("XY", A_B), {"AB": 7}),
    "what comes after": (seq(A_B, "Y"), {"AB": 7}),
    "what comes just after": (seq(A_B, "YX"), {"AB": 7}),
    "both": (seq("X", A_B, "Y"), {"AB": 10}),
    "each of two that may come after": (seq("X", A_B, Or((event("Y"), event("Z")))), {"AB": 110}),
    "each of two that may come before": (seq("X", Repeat(event("Z"), 0, 1), A_B), {"AB": 103}),
    "what comes between the runs of an inner loop": (seq("X", plus("C", A_B), "Y"), {"AB": 40 + 7, "CAB": 3 + 7}),
    "what leads back to an inner loop": (seq("X", plus(A_B, "C"), "Y"), {"AB": 3 + 40, "ABC": 3 + 7}),
    "nothing": (A_B, {"AB": 0}),
    "each of its own events at most": (seq("X", plus("EF"), "Y"), {"EF": 3}),
}


@pytest.mark.parametrize(("pattern", "expected"), RUNS.values(), ids=RUNS)
def test_runs_of_a_kleene_sub_pattern_end_with(pattern: PlannedPattern, expected: dict[str, float]) -> None:
    """What a basis costs depends on it."""
    model = EngineModel(rates(A=1000, B=2000, C=40, E=1, F=2, X=3, Y=7, Z=100))
    template = template_of(queries(pattern, pattern))
    options = [option for number in range(len(template.pools)) for option in options_of(template, number, model)]
    bases = [option.snapshot for option in options if isinstance(option.snapshot, BasisColumns)]
    assert {"".join(ALPHABET[t.letters[0]] for t in basis.types): basis.runs for basis in bases} == expected


@pytest.mark.parametrize("model", [PaperModel, EngineModel])
def test_a_negative_rate_is_refused(model: type[PaperModel] | type[EngineModel]) -> None:
    with pytest.raises(ValueError, match="negative"):
        model({0: -1.0})


# --- the same everywhere


def test_a_plan_does_not_depend_on_the_hash_seed() -> None:
    script = """
from bench.gloria_workloads import workload
from cepc.passes.gloria import PaperModel, share
made = workload(30, 3, shared=6, whole=False)
print(share(made.queries, PaperModel(made.rates)))
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
