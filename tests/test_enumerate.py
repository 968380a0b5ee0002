"""Enumeration over plans written by hand: which matches there are, whatever the block."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepc_runtime.enumerate.arranged import arrange_for
from cepc_runtime.enumerate.block import MatchBlock, concatenate
from cepc_runtime.enumerate.budget import MatchBudget, TooManyPartialMatchesError, WhyListed, budget_of
from cepc_runtime.enumerate.search import Search, SearchMeans
from cepc_runtime.events.letters import classify
from cepc_runtime.plan.after import SkipFor, SkipPastLast, SkipTo, SkipToNext
from cepc_runtime.plan.automaton import Automaton, Step
from cepc_runtime.plan.positions import Acceptance, Guard
from cepc_runtime.plan.query import Measure
from cepc_runtime.plan.select import SelectAny, SelectContiguous, SelectNext
from cepc_runtime.sql.aggregate_functions import AVG, COUNT, MAX, MIN, SUM
from cepc_runtime.sql.evaluate import EvaluationError
from cepc_runtime.sql.expression import Field
from cepc_runtime.sql.types import INT
from tests.positions import Query, aggregate, condition, edges, no, pattern, positions, reading

if TYPE_CHECKING:
    from cepc_runtime.plan.after import AfterMatchSkip
    from cepc_runtime.plan.select import Select

SEQ = pattern("0 A 1, 1 B 2", "2")
RUN = pattern("0 A 1, 1 A 1", "1")
"""A+"""
ABC = pattern("0 A 1, 1 B 2, 2 C 3", "3")


# ---- blocks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("undecided", "together"),
    [
        ([None, [0, 2]], [0, 0, 0, 2]),
        ([[1, 0], None], [1, 0, 0, 0]),
        ([None, None], None),
        ([[1, 0], [2, 0]], [1, 0, 2, 0]),
    ],
)
def test_what_could_not_be_evaluated_is_remembered_beside_rows_of_which_everything_could(
    undecided: list[list[int] | None], together: list[int] | None
) -> None:
    """Portions of one level: AFTER MATCH lost what the second could not evaluate, or stopped in a traceback."""
    two = np.arange(2)
    blocks = [
        MatchBlock(
            0, None, two, two.astype(np.int32), two, two, two, undecided=None if bits is None else np.array(bits)
        )
        for bits in undecided
    ]
    found = concatenate(blocks)
    assert found.position.tolist() == [0, 1, 0, 1]
    assert (None if found.undecided is None else found.undecided.tolist()) == together


# ---- steps, ties, bounds ---------------------------------------------------------------------------------------------


def test_a_step_leads_to_every_later_event() -> None:
    assert Query(SEQ).found("a1 b2 a3 b4") == ["a1 b2", "a1 b4", "a3 b4"]


def test_events_of_one_instant_do_not_precede_one_another() -> None:
    assert Query(SEQ).found("a1 b1 b2") == ["a1 b2"]


def test_a_match_is_shorter_than_its_bound() -> None:
    assert Query(SEQ, within=3).found("a1 b3 b4") == ["a1 b3"]
    assert Query(SEQ, within=None).found("a1 b3 b9") == ["a1 b3", "a1 b9"]


def test_groups_are_apart() -> None:
    query = Query(SEQ, partition=("g",))
    assert query.found("a1(g=1) a1'(g=2) b2(g=2) b3(g=1) b4") == ["a1 b3", "a1' b2"]


def test_null_is_a_group() -> None:
    assert Query(SEQ, partition=("g",)).found("a1 b2 b3(g=1)") == ["a1 b2"]


def test_no_event_at_all() -> None:
    assert Query(SEQ).found("") == []


def test_a_repetition_takes_every_subset() -> None:
    assert Query(RUN).found("a1 a2 a3") == ["a1", "a1 a2", "a1 a2 a3", "a1 a3", "a2", "a2 a3", "a3"]


def test_alternatives() -> None:
    either = pattern("0 A 1, 0 B 2, 1 C 3, 2 C 3", "3")
    assert Query(either).found("a1 b2 c3") == ["a1 c3", "b2 c3"]


def test_a_tie_reads_on_in_the_same_instant_only() -> None:
    both = pattern("0 A 1, 0 B 2, 1 B 3, 1 ~B 3, 2 A 3, 2 ~A 3", "3")
    assert Query(both).found("a1 b1 b2") == ["a1 b1", "a1 b2"]
    assert Query(both).found("b1 b1'") == []


def test_two_of_a_type_in_any_order_count_once() -> None:
    both = pattern("0 A 1, 1 A 2, 1 ~A 2", "2")
    assert Query(both).found("a1 a1' a2") == ["a1 a1'", "a1 a2", "a1' a2"]


# ---- conditions ------------------------------------------------------------------------------------------------------


def test_a_condition_over_two_variables() -> None:
    assert Query(SEQ, (condition("A.x < B.x"),)).found("a1(x=2) b2(x=1) b3(x=3)") == ["a1 b3"]


def test_a_null_condition_does_not_hold() -> None:
    assert Query(SEQ, (condition("A.x < B.x"),)).found("a1(x=2) b2") == []


def test_a_condition_with_an_unbound_variable_holds() -> None:
    optional = pattern("0 A 1, 0 B 2, 1 B 2", "2")
    assert Query(optional, (condition("A.x < B.x"),)).found("a1(x=2) b2(x=1)") == ["b2"]


def test_a_condition_may_be_on_what_all_events_share_too() -> None:
    stream = "a1(g=1, x=4) a1'(g=2, x=4) b2(g=1, x=2) b2'(g=2, x=2)"
    assert Query(SEQ, (condition("A.x / B.x > g"),), partition=("g",)).found(stream) == ["a1 b2"]


def test_a_list_is_compared_event_by_event() -> None:
    lists = pattern("0 A 1, 1 A 1, 1 B 2, 2 B 2", "2")
    found = Query(lists, (condition("A.x < B.x"),)).found("a1(x=1) a2(x=3) b3(x=2) b4(x=4)")
    assert found == ["a1 a2 b4", "a1 b3", "a1 b3 b4", "a1 b4", "a2 b4"]


def test_prev_is_of_the_event_before_of_the_same_variable() -> None:
    found = Query(RUN, (condition("A.x > prev A.x"),)).found("a1(x=2) a2(x=1) a3(x=3)")
    assert found == ["a1", "a1 a3", "a2", "a2 a3", "a3"]


def test_prev_passes_over_events_of_the_same_instant() -> None:
    three = pattern("0 A 1, 1 A 2, 2 ~A 3", "3")
    assert Query(three, (condition("A.x > prev A.x"),)).found("a1(x=1) a2(x=3) a2'(x=2)") == ["a1 a2' a2"]


def test_first_is_known_at_once_and_last_at_the_end() -> None:
    stream = "a1(x=2) a2(x=1) a3(x=3)"
    assert Query(RUN, (condition("A.x >= first A.x"),)).found(stream) == ["a1", "a1 a3", "a2", "a2 a3", "a3"]
    assert Query(RUN, (condition("last A.x > first A.x"),)).found(stream) == ["a1 a2 a3", "a1 a3", "a2 a3"]


def test_last_of_a_variable_that_ends_before() -> None:
    query = Query(pattern("0 A 1, 1 A 1, 1 B 2", "2"), (condition("B.x > last A.x"),))
    assert query.found("a1(x=5) a2(x=1) b3(x=2)") == ["a1 a2 b3", "a2 b3"]


def test_a_scope_sees_one_of_its_matches_at_a_time() -> None:
    legs = (
        *edges("0 A 1", scopes=(0,), enters=(0,)),
        *edges("1 B 2", scopes=(0,)),
        *edges("2 A 1", scopes=(0,), enters=(0,)),
    )
    query = Query(positions(legs, (Acceptance(2),)), (condition("A.x < B.x", scope=0),))
    assert query.found("a1(x=1) b2(x=2) a3(x=5) b4(x=9)") == ["a1 b2", "a1 b2 a3 b4", "a1 b4", "a3 b4"]
    assert query.found("a1(x=1) b2(x=2) a3(x=5) b4(x=4)") == ["a1 b2", "a1 b4"]


def test_what_fails_in_a_tuple_that_another_condition_excludes_is_no_error() -> None:
    failing, other = condition("A.y / B.y > 1"), condition("A.x < B.x")
    stream = "a1(x=2, y=4.0) b2(x=1, y=0.0) b3(x=3, y=2.0)"
    assert Query(SEQ, (failing, other)).found(stream) == ["a1 b3"]
    later = condition("B.y > C.y")  # decides when the failing tuple has long been read
    assert Query(ABC, (failing, later)).found(f"{stream} c4(y=1.0)") == ["a1 b3 c4"]
    with pytest.raises(EvaluationError):
        Query(SEQ, (failing,)).found(stream)


def test_what_fails_in_a_match_that_is_never_complete_is_no_error() -> None:
    assert Query(ABC, (condition("A.y / B.y > 1"),)).found("a1(y=1.0) b2(y=0.0)") == []


# ---- negation --------------------------------------------------------------------------------------------------------


def test_nothing_forbidden_strictly_between() -> None:
    query = Query(pattern("0 A 1, 1 B!0 2", "2", no("0 C 1")))
    assert query.found("a1 c2 b3") == []
    assert query.found("a1 c1 c3 b3 b4") == ["a1 b3"]


def test_a_leading_gap_starts_where_the_bound_does() -> None:
    query = Query(pattern("0 A!0 1, 1 B 2", "2", no("0 C 1")), within=5)
    assert query.found("c1 a4 b5") == []
    assert query.found("c1 a4 b6") == ["a4 b6"]
    assert query.found("c4 a4 b6") == ["a4 b6"]


def test_a_trailing_gap_ends_where_the_bound_does() -> None:
    query = Query(pattern("0 A 1, 1 B 2", "2!0", no("0 C 1")), within=5)
    assert query.found("a1 b2 c5") == []
    assert query.found("a1 b2 c6") == ["a1 b2"]


def test_not_within_has_its_own_end() -> None:
    trailing = Query(pattern("0 A 1", "1!0", no("0 C 1", within=3)), within=2)
    assert trailing.found("a1 c3") == []
    assert trailing.found("a1 c4") == ["a1"]
    between = Query(pattern("0 A 1, 1 B!0 2", "2", no("0 C 1", within=3)))
    assert between.found("a1 c3 b9") == []
    assert between.found("a1 c4 b9") == ["a1 b9"]


def test_nowhere_in_the_window() -> None:
    query = Query(pattern("0 A 1, 1 B 2", "2!0", no("0 C 1", window_wide=True)), within=5)
    assert [query.found(f"a4 b5 c{at}") for at in (0, 1, 4, 5, 8, 9)] == [["a4 b5"], [], [], [], [], ["a4 b5"]]


def test_a_negated_sequence_lies_in_the_gap_with_all_its_events() -> None:
    query = Query(pattern("0 A 1, 1 B!0 2", "2", no("0 C 1, 1 D 2", "2")))
    assert query.found("a1 c2 d3 b4") == []
    assert query.found("a1 d2 c3 b4") == ["a1 b4"]
    assert query.found("c1 a2 d3 b4") == ["a2 b4"]


def test_one_derivation_is_enough() -> None:
    query = Query(pattern("0 A 1, 1 B!0 2, 1 B!1 2", "2", no("0 C 1"), no("0 D 1"), ambiguous=True))
    assert query.found("a1 c2 b3") == ["a1 b3"]
    assert query.found("a1 c2 d2 b3") == []


def test_the_gap_of_a_track_is_between_events_of_that_track() -> None:
    both = (
        replace(edges("0 A 1")[0], tracks=(0, 1)),
        *edges("1 D 2"),
        replace(edges("2 B!0/1 3")[0], tracks=(0, 1)),
    )
    query = Query(positions(both, (Acceptance(3),), (no("0 C 1"),), tracks=2))
    assert query.found("a1 c2 d3 b4") == []
    assert query.found("a1 d3 b4") == ["a1 d3 b4"]


def test_a_condition_between_negated_and_other_events() -> None:
    query = Query(pattern("0 A 1, 1 B!0 2", "2", no("0 C 1")), (condition("C.x > A.x", negation=0),))
    assert query.found("a1(x=2) c2(x=1) b3") == ["a1 b3"]
    assert query.found("a1(x=2) c2(x=1) c2'(x=3) b3") == []


def test_what_forbids_is_compared_with_every_event() -> None:
    query = Query(pattern("0 A 1, 1 A 1, 1 B!0 2", "2", no("0 C 1")), (condition("C.x > A.x", negation=0),))
    assert query.found("a1(x=1) a2(x=5) c3(x=2) b4") == ["a1 a2 b4", "a2 b4"]


def test_a_condition_among_negated_events() -> None:
    query = Query(pattern("0 A 1, 1 B!0 2", "2", no("0 C 1, 1 D 2", "2")), (condition("C.x < D.x", negation=0),))
    assert query.found("a1 c2(x=2) d3(x=1) b4") == ["a1 b4"]
    assert query.found("a1 c2(x=2) d3(x=3) b4") == []


def test_a_scope_asks_its_own_match_about_what_it_forbids() -> None:
    legs = (
        *edges("0 A 1", scopes=(0,), enters=(0,)),
        *edges("1 B 2", scopes=(0,), guards=(Guard(0, scopes=((0, "current"),)),)),
        *edges("2 A 1", scopes=(0,), enters=(0,)),
    )
    query = Query(positions(legs, (Acceptance(2),), (no("0 C 1"),)), (condition("C.x > A.x", scope=0, negation=0),))
    assert query.found("a1(x=1) b2 a3(x=9) c4(x=5) b5") == ["a1 b2", "a1 b2 a3 b5", "a3 b5"]


# ---- several derivations ---------------------------------------------------------------------------------------------

TWICE = pattern("0 A 1, 1 A 1, 1 A 2, 2 A 2", "2", ambiguous=True)
"""SEQ(A+, A+)"""


def test_several_derivations_are_one_match() -> None:
    assert Query(TWICE).found("a1 a2 a3") == ["a1 a2", "a1 a2 a3", "a1 a3", "a2 a3"]


def test_derivations_that_nothing_tells_apart_are_followed_once() -> None:
    again = pattern("0 A 1, 1 A 1, 1 A 2, 2 A 2, 2 A 1", "2", ambiguous=True)  # SEQ(A+, A+)+
    query = Query(again, more=aggregate(Measure(COUNT, None, None)), within=20)
    stream = " ".join(f"a{i}" for i in range(12))
    table = query.table(stream, limit=2 * 2**12)
    assert table.column("m0").to_pylist() == [2**12 - 1 - 12]


# ---- selection -------------------------------------------------------------------------------------------------------

PREFIXES = Automaton(4, ("A", "B", "C"), (Step(0, 1, 0, 0), Step(1, 2, 1, 1), Step(2, 3, 2, 2)), (3,))
PREFIXES_OF_TWO = Automaton(3, ("A", "B"), (Step(0, 1, 0, 0), Step(1, 2, 1, 1)), (2,))


def test_next_takes_the_first_event_that_goes_on() -> None:
    query = Query(ABC, more={"select": SelectNext(PREFIXES)})
    assert query.found("a1 a2 d3 b4 b5 c6 c7") == ["a1 b4 c6", "a2 b4 c6"]
    assert query.found("a1 b2 b2' c3") == ["a1 b2 c3", "a1 b2' c3"]


def test_next_skips_what_its_conditions_exclude() -> None:
    query = Query(ABC, (condition("A.x < B.x"),), more={"select": SelectNext(PREFIXES)})
    assert query.found("a1(x=3) b2(x=1) b3(x=4) b4(x=5) c5") == ["a1 b3 c5"]


def test_next_is_stopped_by_what_a_not_forbids_all_the_same() -> None:
    guarded = pattern("0 A 1, 1 B!0 2", "2", no("0 C 1"))
    query = Query(guarded, more={"select": SelectNext(PREFIXES_OF_TWO)})
    assert query.found("a1 c2 b3 a4 b5") == ["a4 b5"]


def test_contiguous_skips_nothing() -> None:
    query = Query(ABC, more={"select": SelectContiguous()})
    assert query.found("a1 b2 c3 a4 d5 b6 c7") == ["a1 b2 c3"]
    assert query.found("a1 b2 b2' c3") == ["a1 b2 c3", "a1 b2' c3"]


GREEDY, RELUCTANT = pattern("0 A 1, 1 A 1, 1 B 2", "2"), pattern("0 A 1, 1 B 2, 1 A 1", "2")
SKIPS = {
    SkipToNext(): ["a1 a2 a3 b4", "a2 a3 b4", "a3 b4", "a5 b6"],
    SkipPastLast(): ["a1 a2 a3 b4", "a5 b6"],
    SkipTo("FIRST", ("B",)): ["a1 a2 a3 b4", "a5 b6"],
    SkipTo("LAST", ("A",)): ["a1 a2 a3 b4", "a3 b4", "a5 b6"],
    SkipTo("LAST", ("A", "B")): ["a1 a2 a3 b4", "a5 b6"],
    SkipTo("FIRST", ("B", "C")): ["a1 a2 a3 b4", "a5 b6"],
    SkipFor(1): ["a1 a2 a3 b4", "a5 b6"],
    SkipFor(2): ["a1 a2 a3 b4"],
    SkipFor(2**62): ["a1 a2 a3 b4"],
}


@pytest.mark.parametrize(("after", "expected"), SKIPS.items())
@pytest.mark.parametrize("block", [1, 2, 100])
def test_after_a_match(after: AfterMatchSkip, expected: list[str], block: int) -> None:
    query = Query(GREEDY, more={"select": SelectContiguous(), "after": after})
    assert query.found("a1 a2 a3 b4 a5 b6 a7", block) == expected


def test_the_preferred_match_of_each_first_event() -> None:
    more = {"select": SelectNext(PREFIXES_OF_TWO), "after": SkipPastLast()}
    optional = pattern("0 A 1, 1 B 2", "1, 2")
    assert Query(optional, more=more).found("a1 b2 a3") == ["a1 b2", "a3"]
    stopping = replace(optional, acceptances=tuple(replace(a, rank=-1) for a in optional.acceptances))
    assert Query(stopping, more=more).found("a1 b2 a3") == ["a1", "a3"]


def test_no_more_first_events_are_tried_at_once_than_a_block_holds() -> None:
    plan = Query(
        pattern("0 A 1, 1 B 2", "2"), more={"select": SelectNext(PREFIXES_OF_TWO), "after": SkipToNext()}
    ).plan()
    source = reading(" ".join([*(f"a{i}" for i in range(12)), "b12"]))
    arranged = arrange_for(source, classify(source, plan.letters), plan.stream, plan.queries)
    found = [len(matches) for matches in arranged.enumerator(plan.queries[0], block=4).matches()]
    assert found == [4, 4, 4]


def test_after_a_match_the_budget_is_asked_before_many_candidates_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    monkeypatch.setattr(MatchBudget, "spend", lambda _budget, **spent: tried.append(spent["tried"]))
    query = Query(GREEDY, (condition("A.x >= first A.x"),), more={"select": SelectAny(), "after": SkipToNext()})
    matches = query.found(" ".join([*(f"a{i}(x=1)" for i in range(7)), "b9(x=1)"]), 2)
    assert len(matches) == 7
    assert sum(tried) > 100
    assert max(tried) <= 8


def test_what_is_preferred_must_stand() -> None:
    query = Query(
        pattern("0 A 1, 1 B 2", "1, 2!0", no("0 C 1")),
        more={"select": SelectNext(PREFIXES_OF_TWO), "after": SkipPastLast()},
    )
    assert query.found("a1 b2 c3") == ["a1"]
    assert query.found("a1 b2") == ["a1 b2"]


# ---- blocks ----------------------------------------------------------------------------------------------------------

STREAMS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 6), st.integers(0, 2), st.integers(0, 3)), max_size=9
).map(lambda found: " ".join(f"{k}{at}{chr(39) * i}(g={g}, x={x})" for i, (k, at, g, x) in enumerate(found)))


@given(stream=STREAMS, block=st.integers(1, 5))
def test_blocks_of_any_size_give_the_same_matches(stream: str, block: int) -> None:
    for query in (
        Query(pattern("0 A 1, 1 B 2, 2 B 2, 2 C 3", "2, 3"), (condition("A.x <= B.x"), condition("B.x >= prev B.x"))),
        Query(TWICE, (condition("A.x >= first A.x"),), partition=("g",)),
        Query(pattern("0 A 1, 1 B!0 2", "2!1", no("0 C 1"), no("0 C 1")), (), within=4),
    ):
        assert query.found(stream, block) == query.found(stream)


@given(stream=STREAMS)
def test_a_sequence_is_what_brute_force_finds(stream: str) -> None:
    source = reading(stream).table.to_pylist()
    expected = []
    for a in source:
        for b, c in combinations(sorted(source, key=lambda e: e["at"]), 2):
            kinds = (a["kind"], b["kind"], c["kind"])
            if kinds == ("A", "B", "C") and a["at"] < b["at"] < c["at"] < a["at"] + 4 and a["x"] < c["x"]:
                expected.append(f"{a['name']} {b['name']} {c['name']}")
    assert Query(ABC, (condition("A.x < C.x"),), within=4).found(stream) == sorted(expected)


def test_a_block_never_grows_beyond_its_limit() -> None:
    plan = Query(pattern("0 A 1, 1 A 1", "1")).plan()
    source = reading(" ".join(f"a{i}" for i in range(12)))
    enumerator = arrange_for(source, classify(source, plan.letters), plan.stream, plan.queries).enumerator(
        plan.queries[0]
    )
    for merging in (False, True):
        search = Search(enumerator.extension, SearchMeans(MatchBudget(WhyListed("q"), None), 16), merging)
        sizes = [len(block) for block in search.blocks(enumerator.everywhere())]
        assert max(sizes) <= 16 + 8
        assert sum(sizes) == 2**12 - 1


# ---- aggregate queries -----------------------------------------------------------------------------------------------


def test_too_many_partial_matches_name_query_and_condition() -> None:
    query = Query(RUN, (condition("A.x >= first A.x"),), more=aggregate(Measure(COUNT, None, None)))
    with pytest.raises(
        TooManyPartialMatchesError, match=r"query q: more than 1,000 partial matches .* A\.x >= first A\.x"
    ):
        query.table(" ".join(f"a{i}(x={i})" for i in range(40)), limit=1000)


@pytest.mark.parametrize(
    ("conditions", "select", "why"),
    [
        (
            (),
            SelectContiguous(),
            r"had to be enumerated for SELECT CONTIGUOUS; a shorter WITHIN, a condition on single events, or",
        ),
        (
            ("A.x > prev A.x",),
            SelectNext(Automaton(2, ("A",), (Step(0, 1, 0, 0), Step(1, 1, 0, 0)), (1,))),
            r"had to be enumerated to check the condition A\.x > prev A\.x with SELECT NEXT; ",
        ),
        (
            (),
            SelectAny(),
            r"had to be enumerated; a shorter WITHIN, a condition on single events or between neighbours, or",
        ),
    ],
)
def test_too_many_partial_matches_name_what_had_them_enumerated(
    conditions: tuple[str, ...], select: Select, why: str
) -> None:
    more = aggregate(Measure(COUNT, None, None), select=select)
    query = Query(RUN, tuple(condition(c) for c in conditions), more=more)
    with pytest.raises(TooManyPartialMatchesError, match=why):
        query.table(" ".join(f"a{i}(x={i})" for i in range(40)), limit=10)


@pytest.mark.parametrize(
    ("after", "cure"),
    [
        (
            SkipToNext(),
            "; AFTER MATCH SKIP PAST LAST EVENT, a bound such as `{1,100}` in place of `+`, a shorter WITHIN ",
        ),
        (SkipPastLast(), "; a bound such as `{1,100}` in place of `+`, a shorter WITHIN "),
    ],
)
def test_a_match_that_is_too_long_has_the_cures_that_are_left(after: AfterMatchSkip, cure: str) -> None:
    query = Query(RUN, more={"select": SelectContiguous(), "after": after})
    with pytest.raises(TooManyPartialMatchesError, match=re.escape(cure)):
        budget_of(query.plan().queries[0], 10).spend(tried=0, partial=11)


def test_a_match_counts_in_every_window_that_holds_it() -> None:
    more = aggregate(Measure(COUNT, None, None), Measure(SUM, "B", Field(None, "x", "each", INT)), slide=2)
    query = Query(SEQ, (condition("A.x < B.x"),), within=4, more=more)
    rows = query.table("a3(x=1) b3' b5(x=2) b6(x=3) a7(x=1) b7' b8(x=0) b9(x=4)").to_pylist()
    assert sorted(tuple(row.values()) for row in rows) == [(1, 2, 2, 6), (1, 4, 6, 10)]
    sliding = replace(query, within=6)
    rows = sliding.table("a3(x=1) b5(x=2) b6(x=3)").to_pylist()
    assert sorted(tuple(row.values()) for row in rows) == [(1, 2, 0, 6), (2, 5, 2, 8)]


def test_a_window_is_what_a_trailing_gap_ends_with() -> None:
    guarded = pattern("0 A 1", "1!0", no("0 C 1"))
    query = Query(guarded, within=4, more=aggregate(Measure(COUNT, None, None), slide=2))
    rows = query.table("a3 c5").to_pylist()
    assert [(row["m0"], row["window_start"]) for row in rows] == [(1, 0)]


def test_groups_are_coarser_than_partitions() -> None:
    x = Field(None, "x", "each", INT)
    more = aggregate(
        Measure(COUNT, None, None),
        Measure(MIN, "B", x),
        Measure(MAX, "B", x),
        Measure(AVG, "A", x),
        Measure(COUNT, "B", x),
    )
    query = Query(SEQ, within=None, partition=("g",), more=more)
    rows = query.table("a1(g=1, x=1) b2(g=1, x=7) a3(g=2, x=2) b4(g=2) b5(g=2, x=5) a6(g=3)").to_pylist()
    assert [tuple(row.values()) for row in rows] == [(3, 5, 7, 5 / 3, 2, None, None)]


def test_no_match_is_no_row() -> None:
    table = Query(SEQ, within=4, more=aggregate(Measure(COUNT, None, None), slide=2)).table("b1 a2")
    assert table.num_rows == 0
    assert table.column_names == ["m0", "window_start", "window_end"]
