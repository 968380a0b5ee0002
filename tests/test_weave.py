"""Weave: F1 counts what a bit set counts, and WeaveShare's groups never cost more than no groups."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from cepc.passes.weave.edges import Edges, add, common, count, edges_of, rate, union
from cepc.passes.weave.share import PaperModel, share, unshared
from cepc.passes.weave.windows import PeriodicWindow, Progression, pane_edges
from tests.properties import portion
from tests.weave_baselines import bitset_edges, closed_formula, least_cost

EXAMPLE_2 = [PeriodicWindow(s, s) for s in (2, 3, 4, 5, 6)]
EXAMPLE_4 = [
    PeriodicWindow(3, 3),
    PeriodicWindow(5, 4),
    PeriodicWindow(10, 6),
    PeriodicWindow(9, 9),
]  # fragments (3, 1) and (2, 4)

windows = st.builds(PeriodicWindow, st.integers(1, 40), st.integers(1, 24), st.integers(0, 30))
whole = st.builds(lambda slide, times: PeriodicWindow(slide * times, slide), st.integers(1, 30), st.integers(1, 4))
rates = st.builds(Fraction, st.integers(0, 40), st.integers(1, 8))


def test_examples_2_and_3_have_44_edges() -> None:
    assert bitset_edges(EXAMPLE_2) == (44, 60)
    assert count(edges_of(EXAMPLE_2)) == 44
    assert closed_formula([p for w in EXAMPLE_2 for p in pane_edges(w)]) == (87, 70, 36, 10, 1)


def test_examples_4_and_6_have_27_edges() -> None:
    assert bitset_edges(EXAMPLE_4) == (27, 36)
    assert count(edges_of(EXAMPLE_4)) == 27
    assert edges_of(EXAMPLE_4).slide == 36


def test_example_4_marks_12_then_24_then_27_then_27_edges() -> None:
    edges, marked = Edges(), []
    for window in EXAMPLE_4:
        edges = add(edges, window)
        marked.append(rate(edges) * 36)
    assert marked == [12, 24, 27, 27]


def test_example_6_counts_the_term_that_the_paper_crosses_out() -> None:
    assert closed_formula([p for w in EXAMPLE_4 for p in pane_edges(w)]) == (46, 26, 8, 1, 0, 0)
    crossed_out = common(Progression(3, 0), Progression(4, 0))
    assert crossed_out == Progression(12, 0)
    assert 26 - 36 // crossed_out.slide == 23


@settings(max_examples=portion(2000))
@given(st.lists(windows, min_size=1, max_size=5))
def test_f1_is_the_bit_set_with_fragments_and_shifts(chosen: list[PeriodicWindow]) -> None:
    edges = edges_of(chosen)
    assert (count(edges), edges.slide) == bitset_edges(chosen)


@settings(max_examples=portion(1000))
@given(st.lists(whole, min_size=1, max_size=6))
def test_f1_is_the_bit_set_without_fragments(chosen: list[PeriodicWindow]) -> None:
    edges = edges_of(chosen)
    assert (count(edges), edges.slide) == bitset_edges(chosen)


@given(st.lists(windows, min_size=1, max_size=3))
def test_the_collapsed_formula_is_the_printed_one(chosen: list[PeriodicWindow]) -> None:
    elements = closed_formula([p for w in chosen for p in pane_edges(w)])
    assert sum(e if i % 2 == 0 else -e for i, e in enumerate(elements)) == count(edges_of(chosen))


@given(st.lists(windows, max_size=4), st.lists(windows, max_size=3))
def test_a_union_counts_as_the_windows_of_both_and_in_any_order(
    some: list[PeriodicWindow], others: list[PeriodicWindow]
) -> None:
    joined, back, at_once = (
        union(edges_of(some), edges_of(others)),
        union(edges_of(others), edges_of(some)),
        edges_of(some + others),
    )
    assert (rate(joined), joined.slide) == (rate(back), back.slide) == (rate(at_once), at_once.slide)


def test_coprime_slides_stay_apart() -> None:
    primes = [n for n in range(2, 1000) if all(n % d for d in range(2, n))]
    edges = edges_of([PeriodicWindow(p, p) for p in primes])
    assert sum(len(f.free) for f in edges.factors) == 2 * len(primes)  # 2^168 groups in the formula as printed


@settings(max_examples=portion(300))
@given(st.lists(windows, max_size=9), rates)
def test_sharing_never_costs_more_than_not_sharing(chosen: list[PeriodicWindow], input_rate: Fraction) -> None:
    plan = share(chosen, PaperModel(input_rate))
    assert plan.cost <= unshared(chosen, PaperModel(input_rate)).cost
    assert sorted(q for tree in plan.trees for q in tree.queries) == list(range(len(chosen)))
    assert plan.unknown == 0


@given(st.lists(windows, min_size=1, max_size=5), rates)
def test_the_greedy_grouping_is_never_cheaper_than_the_exact_one(
    chosen: list[PeriodicWindow], input_rate: Fraction
) -> None:
    model = PaperModel(input_rate)
    greedy = share(chosen, model)
    assert least_cost(chosen, model) <= greedy.cost
    for tree in greedy.trees:
        assert tree.edge_rate == rate(edges_of(chosen[q] for q in tree.queries))


def test_nothing_is_shared_where_reading_events_is_free() -> None:
    assert len(share([PeriodicWindow(4, 2), PeriodicWindow(9, 3)], PaperModel(Fraction(0))).trees) == 2


def test_those_that_save_most_are_joined_first() -> None:
    """The first pair that saves anything is another one, and leads to a dearer grouping."""
    plan = share(
        [PeriodicWindow(7, 5), PeriodicWindow(10, 9), PeriodicWindow(7, 7), PeriodicWindow(9, 9)],
        PaperModel(Fraction(1)),
    )
    assert ([tree.queries for tree in plan.trees], plan.cost) == ([(0, 2), (1, 3)], Fraction(433, 105))


def test_everything_is_shared_where_reading_events_is_dear() -> None:
    assert [t.queries for t in share(EXAMPLE_4, PaperModel(Fraction(1000))).trees] == [(0, 1, 2, 3)]


def test_a_thousand_queries_of_equal_edges_are_one_tree() -> None:
    assert len(share([PeriodicWindow(5 * (i + 1), 5) for i in range(1000)], PaperModel(Fraction(1))).trees) == 1


def test_pairs_with_too_many_terms_are_left_apart_and_counted() -> None:
    primes = [n for n in range(3, 60) if all(n % d for d in range(2, n))]
    chosen, model = [PeriodicWindow(2 * p, 2 * p) for p in primes], PaperModel(Fraction(10**6))
    plan = share(chosen, model)
    assert plan.unknown > 0
    assert 1 < len(plan.trees) < len(chosen)
    assert plan.cost < unshared(chosen, model).cost
