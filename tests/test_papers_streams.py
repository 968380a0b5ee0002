"""The worked examples of the papers that have a stream, against the oracle."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.streams import count, events, found, program, query


def counts_by_last_event(clauses: str, stream: str) -> dict[str, int]:
    """The papers' intermediate counts: how many matches end in each event."""
    return dict(Counter(match.rsplit(" ", 1)[-1] for match in found(clauses, stream)))


# ---- Sharon ----------------------------------------------------------------------------------------------------------

SHARON = "a1 a2 b2 c3 b4 b5 d6 c7 d8"


def test_sharon_example_1_counts_three_sequences_when_b4_arrives() -> None:
    """a2 and b2 share a time stamp, and do not precede one another."""
    assert found("SEQ(A, B)", "a1 a2 b2 b4") == {"a1 b2", "a1 b4", "a2 b4"}
    assert count("SEQ(A, B)", "a1 a2 b2 b4") == 3


def test_sharon_example_2_when_b5_arrives_the_matches_of_a1_have_expired() -> None:
    """Five in all; a window of length four that slides by one lets a1 expire."""
    assert count("SEQ(A, B)", "a1 a2 b2 b4 b5") == 5
    windows = oracle.evaluate(query("SEQ(A, B) WITHIN 4 s SLIDE 1 s", "COUNT(*) AS n"), events("a1 a2 b2 b4 b5"))["q"]
    assert {row["window_start"]: row["n"] for row in windows} == {-1: 1, 0: 1, 1: 3, 2: 2}


def test_sharon_example_3_combines_the_counts_of_a_b_and_c_d() -> None:
    """One match of (A, B) before c3, and two of (c3, D); five before c7, and one of (c7, D)."""
    matches = found("SEQ(A, B, C, D)", SHARON)
    assert Counter("c3" in match for match in matches) == {True: 2, False: 5}
    assert count("SEQ(A, B, C, D)", SHARON) == 7


# ---- HAMLET ----------------------------------------------------------------------------------------------------------

HAMLET = "a1 a2 c2 b3(x=1) b4(x=3) b5(x=2) b6(x=4)"


def test_hamlet_running_example_doubles_with_every_b() -> None:
    assert counts_by_last_event("SEQ(A, B+)", HAMLET) == {"b3": 2, "b4": 4, "b5": 8, "b6": 16}
    assert counts_by_last_event("SEQ(C, B+)", HAMLET) == {"b3": 1, "b4": 2, "b5": 4, "b6": 8}


def test_hamlet_composed_expression_when_the_edge_from_b4_to_b5_does_not_hold_for_q2() -> None:
    """count(b6, Q) = 4x + z: 16 for q1 (x = 2, z = 8), and 6 for q2 (x = 1, z = 2)."""
    q1 = counts_by_last_event("SEQ(A, B+)", HAMLET)
    q2 = counts_by_last_event("SEQ(C, B+) WHERE B.x > PREV(B).x", HAMLET)
    assert (q1["b5"], q1["b6"]) == (8, 16)
    assert (q2["b5"], q2["b6"]) == (2, 6)


# ---- Gloria ----------------------------------------------------------------------------------------------------------

GLORIA = "c0 a1 b2 a3 b4 d5"


def test_gloria_example_3_1_counts_four_trends_of_q1() -> None:
    assert counts_by_last_event("SEQ(C, SEQ(A, B)+, D)", GLORIA) == {"d5": 4}


def test_gloria_example_3_2_b2_and_b4_end_trends_of_q2() -> None:
    """b2's expression is evaluated to 1; d5 sums those of b2 and b4 to 4."""
    assert counts_by_last_event("SEQ(C, SEQ(A, B)+)", GLORIA) == {"b2": 1, "b4": 3}


def test_gloria_example_3_1_intermediate_aggregates() -> None:
    """a1 has one predecessor for each query and a3 two: six propagations for q1 and q2, the cost in eq. 2's example."""
    ends_in_a = counts_by_last_event("SEQ(C, SEQ(A, B)*, A)", GLORIA)
    assert ends_in_a == {"a1": 1, "a3": 2}
    assert 2 * sum(ends_in_a.values()) == 6


def test_gloria_example_2_4_nested_kleene() -> None:
    assert count("SEQ(A, B)+", "a1 b2 a3 b4") == 4
    assert count("SEQ(C, SEQ(A, B)+)+", "c1 a2 b3 c4 a5 b6") == 6
    assert count("SEQ(SEQ(C, SEQ(A, B)+)+, E)", "c1 a2 b3 c4 a5 b6 e7") == 6


def test_gloria_a_bare_query_of_the_workload_files_runs_as_it_is() -> None:
    text = """
    STREAM stocks (ts TIMESTAMP, symbol STRING, open DOUBLE, vol BIGINT, open_level INT)
    EVENT TIME ts EVENT TYPE symbol;

    q0
    RETURN T1.open_level, AVG(T1.open)
    PATTERN SEQ(SEQ(T1,SEQ(T2,T3,T4)+,T5)+, T6,T7)
    WHERE T1.vol > 100
    GROUP-BY T1.open_level
    WITHIN 15 min SLIDE 5 min
    """
    stream: list[dict[str, object]] = [
        {"ts": minute(i), "symbol": symbol, "open": float(i), "vol": 101, "open_level": 7}
        for i, symbol in enumerate(
            ["T1", "T2", "T3", "T4", "T2", "T3", "T4", "T5", "T1", "T2", "T3", "T4", "T5", "T6", "T7"]
        )
    ]
    rows = oracle.evaluate(program(text), stream)["q0"]
    # From T1 at 0 to T5 at 7 there are 5 runs of the inner pattern, to T5 at 12 there are 18; from T1 at 8 there is 1;
    # and 5 · 1 of both rounds. So 28 matches have the T1 at 0 and 6 the one at 8; only one lies in the window that
    # begins at 5.
    assert {row["window_start"]: row["avg(open)"] for row in rows} == {minute(0): (28 * 0 + 6 * 8) / 34, minute(5): 8.0}
    assert {row["open_level"] for row in rows} == {7}


def minute(number: int) -> datetime:
    return datetime(2024, 1, 1, 0, number, tzinfo=UTC)


# ---- MOTTO: the rewrites, on random streams --------------------------------------------------------------------------

STREAMS = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 5)), max_size=6).map(
    lambda pairs: " ".join(f"{kind}{time}{chr(39) * i}" for i, (kind, time) in enumerate(pairs))
)


@given(STREAMS)
def test_motto_example_1_a_subsequence_is_shared_with_an_order_filter(stream: str) -> None:
    """SEQ(E1, E2, E3) = CONJ({E1, E3} & E2) with the filter E1.ts < E2.ts < E3.ts."""
    assert found("AND(SEQ(A, C), B) WHERE A.at < B.at AND B.at < C.at", stream) == found("SEQ(A, B, C)", stream)


@given(STREAMS)
def test_motto_table_1_seq_is_an_order_filter_over_conj(stream: str) -> None:
    assert found("AND(A, B) WHERE A.at < B.at", stream) == found("SEQ(A, B)", stream)


@given(STREAMS)
def test_motto_table_1_conj_is_a_completeness_filter_over_disj(stream: str) -> None:
    assert {match for match in found("SOME(A, B)", stream) if " " in match} == found("AND(A, B)", stream)


@given(STREAMS)
def test_motto_example_2_decomposition_joins_what_its_sub_queries_found(stream: str) -> None:
    assert found("SEQ(SEQ(A, B), SEQ(C, D))", stream) == found("SEQ(A, B, C, D)", stream)
    assert found("AND(AND(A, B), C)", stream) == found("AND(A, B, C)", stream)


def test_motto_negation_is_nowhere_in_the_window_whatever_the_order() -> None:
    """MOTTO's NEG is `AND(…, NOT E)`, not the positional `SEQ(…, NOT E, …)`."""
    assert count("AND(SEQ(A, C), NOT B) WITHIN 10 s", "b1 a2 c3") == 0
    assert count("SEQ(A, NOT B, C) WITHIN 10 s", "b1 a2 c3") == 1
