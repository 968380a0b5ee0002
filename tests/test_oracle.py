"""The oracle against docs/language.md, sentence by sentence. Expected values are worked out by hand."""

from __future__ import annotations

import pytest

from tests import oracle
from tests.streams import count, events, found, query

NOTHING: set[str] = set()


def case(clauses: str, stream: str, *expected: str) -> object:
    return pytest.param(clauses, stream, set(expected), id=f"{clauses} over {stream}")


# ---- the forms -------------------------------------------------------------------------------------------------------

FORMS = [
    case("A", "a1 b2 a3", "a1", "a3"),
    case("A e", "a1 b2", "e=a1"),
    case("A+", "a1 a2", "a1", "a2", "a1 a2"),
    case("A+ e", "a1 a2", "e=a1", "e=a2", "e=a1 e=a2"),
    case("ANY e", "a1 z2", "e=a1", "e=z2"),
    case("SEQ(A, B)", "b0 a1 b2 a3 b4", "a1 b2", "a1 b4", "a3 b4"),
    case("(A, B)", "a1 b2", "a1 b2"),
    case("SEQ(A, B)", "a1 b1", *NOTHING),
    case("SEQ(A+, B)", "a1 b2 a3 b4", "a1 b2", "a1 b4", "a3 b4", "a1 a3 b4"),
    case("SEQ(A*, B)", "a1 a2 b3", "b3", "a1 b3", "a2 b3", "a1 a2 b3"),
    case("SEQ(A?, B)", "a1 a2 b3", "b3", "a1 b3", "a2 b3"),
    case("A{2}", "a1 a2 a3", "a1 a2", "a1 a3", "a2 a3"),
    case("A{2,3}", "a1 a2 a3", "a1 a2", "a1 a3", "a2 a3", "a1 a2 a3"),
    case("A{2,}", "a1 a2 a3", "a1 a2", "a1 a3", "a2 a3", "a1 a2 a3"),
    case("A{1,2}", "a1 a2 a3", "a1", "a2", "a3", "a1 a2", "a1 a3", "a2 a3"),
    case("SEQ(A, B{0,1}, C)", "a1 b2 b3 c4", "a1 c4", "a1 b2 c4", "a1 b3 c4"),
    case("SEQ(A?, B?){2}", "a1 b2", "a1", "b2", "a1 b2"),
    case("SEQ(A?, B?){2}", "b1 a2", "b1", "a2", "b1 a2"),
    case("SEQ(A, B)+", "a1 b2 a3 b4", "a1 b2", "a1 b4", "a3 b4", "a1 b2 a3 b4"),
    case("SEQ(A, B)+", "a1 a2 b3 b4", "a1 b3", "a1 b4", "a2 b3", "a2 b4"),
    case(
        "SEQ(C, SEQ(A, B)+)+",
        "c1 a2 b3 c4 a5 b6",
        "c1 a2 b3",
        "c1 a2 b6",
        "c1 a5 b6",
        "c4 a5 b6",
        "c1 a2 b3 a5 b6",
        "c1 a2 b3 c4 a5 b6",
    ),
    case("AND(A, B)", "b1 a2", "b1 a2"),
    case("AND(A, B)", "a1 b1", "a1 b1"),
    case("AND(SEQ(A, B), C)", "a1 c2 b3", "a1 c2 b3"),
    case("AND(SEQ(A, B), C)", "a1 c1 b2 c2'", "a1 c1 b2", "a1 b2 c2'"),
    case("AND(SEQ(A, B), C)", "a1 b1 c2", *NOTHING),
    case("AND(A+, B)", "a1 b2 a3", "a1 b2", "b2 a3", "a1 b2 a3"),
    case("SEQ(AND(A, B), C)", "a1 b3 c2 c4", "a1 b3 c4"),
    case("SEQ(AND(A, B), C)", "a1 b2 c2", *NOTHING),
    case("AND(A, B)+", "a1 b2 b3 a4", "a1 b2", "a1 b3", "b2 a4", "b3 a4", "a1 b2 b3 a4"),
    case("AND(A, B)+", "a1 b2 a2 b3", "a1 b2", "a1 b3", "b2 a2", "a2 b3"),
    case("AND(A, B?)", "a1 b2", "a1", "a1 b2"),
    case("OR(A, B)", "a1 b2", "a1", "b2"),
    case("SEQ(OR(A, SEQ(B, C)), D)", "a1 b2 c3 d4", "a1 d4", "b2 c3 d4"),
    case("SOME(A, B)", "a1 b2", "a1", "b2", "a1 b2"),
    case("SOME(A, B, C)", "c1 b1 a1", "a1", "b1", "c1", "b1 a1", "c1 a1", "c1 b1", "c1 b1 a1"),
    case("CONTIGUOUS(A, B)", "a1 c2 b3 a4 b5", "a4 b5"),
    case("CONTIGUOUS(A, B)", "a1 c1 b2", "a1 b2"),
    case("SEQ(CONTIGUOUS(A, B), C)", "a1 b2 d3 c4 b5 c6", "a1 b2 c4", "a1 b2 c6"),
    case("AND(CONTIGUOUS(A, B), C)", "a1 c2 b3", *NOTHING),
    case("NEXT(A, B+)", "a1 c2 b3 b4", "a1 b3", "a1 b3 b4"),
    case("NEXT(OR(SEQ(A, B), SEQ(A, C)))", "a1 c2 b3", "a1 c2"),
    case("SEQ(NEXT(A, B), C)", "a1 b2 b3 c4 c5", "a1 b2 c4", "a1 b2 c5"),
    case("SOME(A+, B)", "a1 b2 a3", "a1", "b2", "a3", "a1 b2", "b2 a3", "a1 a3", "a1 b2 a3"),
]


@pytest.mark.parametrize(("clauses", "stream", "expected"), FORMS)
def test_a_form_matches_what_the_table_of_patterns_says(clauses: str, stream: str, expected: set[str]) -> None:
    assert found(clauses, stream) == expected


WHAT_COUNTS_AS_ONE_MATCH = [
    case("(A+)+", "a1 a2 a3", "a1", "a2", "a3", "a1 a2", "a1 a3", "a2 a3", "a1 a2 a3"),
    case("SEQ(A+, A+)", "a1 a2 a3", "a1 a2", "a1 a3", "a2 a3", "a1 a2 a3"),
    case("SEQ(A+ x, A+ y)", "a1 a2 a3", "x=a1 y=a2", "x=a1 y=a3", "x=a2 y=a3", "x=a1 x=a2 y=a3", "x=a1 y=a2 y=a3"),
    case("AND(A, A)", "a1 a2", "a1 a2"),
    case("AND(A x, A y)", "a1 a2", "x=a1 y=a2", "y=a1 x=a2"),
    case("OR(SEQ(A, B), SEQ(A, B+))", "a1 b2", "a1 b2"),
    case("AND(A, A)", "a1 a1'", "a1 a1'"),
    case("AND(A, A)", "a1", *NOTHING),
]


@pytest.mark.parametrize(("clauses", "stream", "expected"), WHAT_COUNTS_AS_ONE_MATCH)
def test_a_match_is_a_set_of_events_each_bound_to_one_variable(clauses: str, stream: str, expected: set[str]) -> None:
    assert found(clauses, stream) == expected
    assert count(clauses, stream) == len(expected)


TIME = [
    case("SEQ(A, A)", "a1 a1' a2", "a1 a2", "a1' a2"),
    case("A+", "a1 a1'", "a1", "a1'"),
    case("A{2}", "a1 a1'", *NOTHING),
]


@pytest.mark.parametrize(("clauses", "stream", "expected"), TIME)
def test_events_that_tie_never_precede_one_another(clauses: str, stream: str, expected: set[str]) -> None:
    assert found(clauses, stream) == expected


# ---- negation --------------------------------------------------------------------------------------------------------

BETWEEN = [
    case("SEQ(A, NOT C, B)", "a1 c2 b3", *NOTHING),
    case("SEQ(A, NOT C, B)", "a1 b2 c3", "a1 b2"),
    case("SEQ(A, NOT C, B)", "c0 a1 b2", "a1 b2"),
    case("SEQ(A, NOT C, B)", "a1 c1 c3 b3", "a1 b3"),
    case("SEQ(A, NOT C, B)", "a1 c2 a3 b4", "a3 b4"),
    case("SEQ(A, NOT C, NOT D, B)", "a1 d2 b3", *NOTHING),
    case("SEQ(A, NOT C, NOT D, B)", "a1 c2 b3", *NOTHING),
    case("SEQ(A, NOT C, NOT D, B)", "a1 e2 b3", "a1 b3"),
    case("SEQ(A, NOT OR(C, D), B)", "a1 d2 b3", *NOTHING),
    case("SEQ(A, NOT SEQ(C, D), B)", "a1 c2 d3 b4", *NOTHING),
    case("SEQ(A, NOT SEQ(C, D), B)", "a1 d2 c3 b4", "a1 b4"),
    case("SEQ(A, NOT SEQ(C, D), B)", "a1 c2 d2 b4", "a1 b4"),
    case("SEQ(A, NOT SEQ(C, D), B)", "a1 c1 d2 b4", "a1 b4"),
    case("SEQ(A, NOT SEQ(C, D), B)", "a1 c2 d4 b4", "a1 b4"),
    case("SEQ(A, SEQ(NOT C, B))", "a1 c2 b3", *NOTHING),
    case("SEQ(SEQ(A, NOT C), B)", "a1 c2 b3", *NOTHING),
    case("SEQ(A, NOT C, B?, D)", "a1 b2 c3 d4", "a1 b2 d4"),
    case("SEQ(A, B?, NOT C, D)", "a1 b2 c3 d4", *NOTHING),
    case("SEQ(A, B?, NOT C, D)", "a1 c2 b3 d4", "a1 b3 d4"),
    case("SEQ(A, NOT C, B?, NOT D, E)", "a1 d2 e3", *NOTHING),
    case("SEQ(A, NOT C, B)+", "a1 b2 c3 a4 b5", "a1 b2", "a4 b5", "a1 b2 a4 b5"),
    case("SEQ(A, SEQ(B, NOT C)+, D)", "a1 b2 c3 b4 d5", "a1 b4 d5"),
    case("SEQ(A, SEQ(NOT C, B)+, D)", "a1 b2 c3 b4 d5", "a1 b2 d5"),
    case("AND(SEQ(A, NOT C, B), D)", "a1 d2 b3 c4", "a1 d2 b3"),
    case("AND(SEQ(A, NOT C, B), D)", "a1 c2 d3 b4", *NOTHING),
    case("SEQ(AND(A, B), NOT C, D)", "a1 c2 b3 d4", "a1 b3 d4"),
    case("SEQ(AND(A, B), NOT C, D)", "a1 b2 c3 d4", *NOTHING),
    case("SEQ(D, NOT C, AND(A, B))", "d1 a2 c3 b4", "d1 a2 b4"),
    case("SEQ(A, OR(NOT C, NOT D), B)", "a1 c2 b3", "a1 b3"),
    case("SEQ(A, OR(NOT C, NOT D), B)", "a1 c2 d2 b3", *NOTHING),
]

A_DERIVATION_THAT_STANDS = [
    case("SEQ(A+, NOT C, A+)", "a1 c2 a3 a4", "a1 a3 a4", "a3 a4"),
    case("OR(SEQ(A, NOT C, B), SEQ(A, NOT D, B))", "a1 c2 b3", "a1 b3"),
    case("OR(SEQ(A, NOT C, B), SEQ(A, NOT D, B))", "a1 c2 d2 b3", *NOTHING),
]

EDGES_OF_A_MATCH_QUERY = [
    case("SEQ(A, NOT C) WITHIN 10 s", "a1 c10", *NOTHING),
    case("SEQ(A, NOT C) WITHIN 10 s", "a1 c11", "a1"),
    case("SEQ(A, NOT C) WITHIN 10 s", "c0 a1 c1'", "a1"),
    case("SEQ(A, B, NOT C) WITHIN 10 s", "a1 b5 c10", *NOTHING),
    case("SEQ(A, B, NOT C) WITHIN 10 s", "a1 c3 b5 c11", "a1 b5"),
    case("SEQ(NOT C, A) WITHIN 10 s", "c1 a10", *NOTHING),
    case("SEQ(NOT C, A) WITHIN 10 s", "c1 a11", "a11"),
    case("SEQ(NOT C, A, B) WITHIN 10 s", "c1 a5 b10", *NOTHING),
    case("SEQ(NOT C, A, B) WITHIN 10 s", "c1 a5 b11", "a5 b11"),
    case("SEQ(NOT SEQ(C, D), A) WITHIN 10 s", "c1 d2 a11", "a11"),
    case("SEQ(NOT SEQ(C, D), A) WITHIN 10 s", "c2 d3 a11", *NOTHING),
    case("AND(A, B, NOT C) WITHIN 10 s", "a5 b7 c14", *NOTHING),
    case("AND(A, B, NOT C) WITHIN 10 s", "a5 b7 c15", "a5 b7"),
    case("AND(A, B, NOT C) WITHIN 10 s", "c-2 b5 a7", *NOTHING),
    case("AND(A, B, NOT C) WITHIN 10 s", "c-3 b5 a7", "b5 a7"),
    case("AND(A, B, NOT C) WITHIN 10 s", "a5 c6 b7", *NOTHING),
    case("AND(A, B, NOT C) WITHIN 10 s", "a5 b5 c5", *NOTHING),
    case("AND(A, NOT SEQ(C, D)) WITHIN 10 s", "c1 a2 d3", *NOTHING),
    case("AND(A, NOT SEQ(C, D)) WITHIN 10 s", "d1 a2 c3", "a2"),
    case("AND(SEQ(A, NOT C), B) WITHIN 10 s", "c1 b2 a3", "b2 a3"),
    case("AND(SEQ(A, NOT C), B) WITHIN 10 s", "a1 b2 c3", *NOTHING),
    case("SEQ(A, NOT C) WITHIN UNBOUNDED", "a1 c1000", *NOTHING),
    case("SEQ(A, NOT C, NOT D) WITHIN 10 s", "a1 d5", *NOTHING),
]

WITHIN_A_TIME_OF_ITS_OWN = [
    case("SEQ(A, NOT C WITHIN 3 s)", "a1 c3", *NOTHING),
    case("SEQ(A, NOT C WITHIN 3 s)", "a1 c4", "a1"),
    case("SEQ(A, NOT C WITHIN 3 s)", "c0 a1 c1'", "a1"),
    case("SEQ(A, NOT C WITHIN 30 s) WITHIN 2 s", "a1 c20", *NOTHING),
    case("SEQ(A, B, NOT C WITHIN 3 s) WITHIN 20 s", "a1 c3 b5 c8", "a1 b5"),
    case("SEQ(A, B, NOT C WITHIN 3 s) WITHIN 20 s", "a1 b5 c7", *NOTHING),
    case("SEQ(A, NOT SEQ(C, D) WITHIN 3 s)", "a1 c2 d3", *NOTHING),
    case("SEQ(A, NOT SEQ(C, D) WITHIN 3 s)", "a1 c2 d4", "a1"),
    case("SEQ(A, NOT C WITHIN 3 s, B)", "a1 c3 b7", *NOTHING),
    case("SEQ(A, NOT C WITHIN 3 s, B)", "a1 c4 b7", "a1 b7"),
    case("SEQ(A, NOT C WITHIN 9 s, B)", "a1 b3 c4", "a1 b3"),
    case("SEQ(A, NOT C WITHIN 3 s, NOT D, B)", "a1 c4 b7", "a1 b7"),
    case("SEQ(A, NOT C WITHIN 3 s, NOT D, B)", "a1 d4 b7", *NOTHING),
]


@pytest.mark.parametrize(
    ("clauses", "stream", "expected"),
    BETWEEN + A_DERIVATION_THAT_STANDS + EDGES_OF_A_MATCH_QUERY + WITHIN_A_TIME_OF_ITS_OWN,
)
def test_nothing_negated_lies_in_its_gap(clauses: str, stream: str, expected: set[str]) -> None:
    assert found(clauses, stream) == expected


NEGATED_VARIABLES = [
    case("SEQ(A, NOT C, B) WHERE C.x > 3", "a1 c2(x=3) b3", "a1 b3"),
    case("SEQ(A, NOT C, B) WHERE C.x > 3", "a1 c2(x=4) b3", *NOTHING),
    case("SEQ(A, NOT C, B) WHERE C.x > 3", "a1 c2 b3", "a1 b3"),
    case("SEQ(A, NOT C c, B) WHERE c.x > A.x AND c.x < B.x", "a1(x=1) c2(x=2) b3(x=3)", *NOTHING),
    case("SEQ(A, NOT C c, B) WHERE c.x > A.x AND c.x < B.x", "a1(x=1) c2(x=5) b3(x=3)", "a1 b3"),
    case("SEQ(A, NOT C c, B) WHERE c.x > A.x AND c.x < B.x", "a1(x=1) c2(x=5) c2'(x=2) b3(x=3)", *NOTHING),
    case("SEQ(A, NOT C c, B) WHERE c.x > A.x", "a1 c2(x=5) b3", "a1 b3"),
    case("SEQ(A+, NOT C c, B) WHERE c.x > A.x", "a1(x=1) a2(x=5) c3(x=3) b4", "a2 b4", "a1 a2 b4"),
    case("SEQ(A?, NOT C c, B) WHERE c.x > A.x", "c2(x=3) b4", *NOTHING),
    case("SEQ(A, NOT C, B) WHERE [g]", "a1(g=1) c2(g=2) b3(g=1)", "a1 b3"),
    case("SEQ(A, NOT C, B) WHERE [g]", "a1(g=1) c2(g=1) b3(g=1)", *NOTHING),
    case("SEQ(A, NOT C, B) WHERE [g]", "a1 c2 b3", *NOTHING),
    case("SEQ(A, NOT C, B) GROUP BY g", "a1(g=1) c2(g=2) b3(g=1)", "a1 b3"),
    case("SEQ(A, NOT SEQ(C c, D d), B) WHERE c.x < d.x", "a1 c2(x=3) d3(x=2) b4", "a1 b4"),
    case("SEQ(A, NOT SEQ(C c, D d), B) WHERE c.x < d.x", "a1 c2(x=1) d3(x=2) b4", *NOTHING),
    case("SEQ(A, NOT OR(C c, D d), B) WHERE c.x > 1 AND d.x > 5", "a1 d2(x=2) b4", "a1 b4"),
    case("SEQ(A, NOT OR(C c, D d), B) WHERE c.x > 1 AND d.x > 5", "a1 c2(x=2) b4", *NOTHING),
    case("SEQ(A, NOT A c, B)", "a1 a2 b3", "a2 b3"),
    case("SEQ(A a, NOT A c, B) WHERE c.x > a.x", "a1(x=5) a2(x=3) b3", "a=a1 b3", "a=a2 b3"),
    case("SEQ(A+, NOT C c, B) WHERE c.x > LAST(A).x", "a1(x=9) a2(x=5) c3(x=6) b4", "a1 b4"),
]


@pytest.mark.parametrize(("clauses", "stream", "expected"), NEGATED_VARIABLES)
def test_what_is_negated_forbids_when_its_conditions_are_true(clauses: str, stream: str, expected: set[str]) -> None:
    assert found(clauses, stream) == expected


# ---- selection and after a match -------------------------------------------------------------------------------------

NEXT = [
    case("SEQ(A, B) SELECT NEXT", "a1 a2 b3 b4", "a1 b3", "a2 b3"),
    case("SEQ(A, B) SELECT NEXT", "a1 c2 b3", "a1 b3"),
    case("A+ SELECT NEXT", "a1 b2 a3 a4", "a1", "a3", "a4", "a1 a3", "a3 a4", "a1 a3 a4"),
    case("SEQ(A+, B) SELECT NEXT", "a1 a2 b3", "a2 b3", "a1 a2 b3"),
    case("SEQ(A, B?, C) SELECT NEXT", "a1 b2 c3", "a1 b2 c3"),
    case("SEQ(A, C) SELECT NEXT", "a1 b2 c3", "a1 c3"),
    case("SEQ(A, B) WHERE B.x > A.x SELECT NEXT", "a1(x=5) b2(x=3) b3(x=7)", "a1 b3"),
    case("SEQ(A, B) WHERE B.x > 5 SELECT NEXT", "a1 b2(x=3) b3(x=7)", "a1 b3"),
    case("SEQ(A, B, C) WHERE C.x > B.x SELECT NEXT", "a1 b2(x=9) b3(x=1) c4(x=5)", *NOTHING),
    case("SEQ(A, NOT D, B, C) SELECT NEXT", "a1 d2 b3 c4", *NOTHING),
    case("SEQ(A, NOT D, B, C) SELECT NEXT", "a1 b2 d3 b4 c5", "a1 b2 c5"),
    case("SEQ(A, NOT D, B) SELECT NEXT", "a1 d2 b3 b4", *NOTHING),
    case("SEQ(A, B) SELECT NEXT WITHIN 3 s", "a1 b2 b3", "a1 b2"),
    case("SEQ(A, B) WHERE [g] SELECT NEXT", "a1(g=1) b2(g=2) b3(g=1)", "a1 b3"),
    case("SEQ(A, B) GROUP BY g SELECT NEXT", "a1(g=1) b2(g=2) b3(g=1)", "a1 b3"),
    case("AND(A, B) SELECT NEXT", "a1 a2 b3 b4", "a1 b3", "a2 b3"),
    case("AND(A, B) SELECT NEXT", "b1 b2 a3", "b1 a3", "b2 a3"),
    case("SEQ(A, B) SELECT NEXT", "a1 b2 b2'", "a1 b2", "a1 b2'"),
    case("SEQ(A, SEQ(B, C)+, D) SELECT NEXT", "a1 b2 c3 b4 d5", *NOTHING),
    case("SEQ(A, SEQ(B, C)+, D) SELECT NEXT", "a1 b2 c3 c4 d5", "a1 b2 c3 d5"),
    case("SEQ(A, OR(B, C), D) SELECT NEXT", "a1 c2 b3 d4", "a1 c2 d4"),
    case("A+ WHERE A.x > PREV(A).x SELECT NEXT", "a1(x=1) a2(x=0) a3(x=2)", "a1", "a2", "a3", "a1 a3", "a2 a3"),
    case("SEQ(A+ a, A b) SELECT NEXT", "a1 a2 a3", "a=a1 b=a2", "a=a2 b=a3", "a=a1 a=a2 b=a3"),
]

CONTIGUOUS = [
    case("SEQ(A, B) SELECT CONTIGUOUS", "a1 a2 b3 b4", "a2 b3"),
    case("SEQ(A, B) SELECT CONTIGUOUS", "a1 c2 b3", *NOTHING),
    case("SEQ(A, B) SELECT CONTIGUOUS", "a1 z2 b3", *NOTHING),
    case("SEQ(A, B) SELECT CONTIGUOUS", "a1 c1 c3 b3", "a1 b3"),
    case("SEQ(A, B) WHERE [g] SELECT CONTIGUOUS", "a1(g=1) c2(g=2) b3(g=1)", "a1 b3"),
    case("A+ SELECT CONTIGUOUS", "a1 a2 b3 a4", "a1", "a2", "a4", "a1 a2"),
    case("AND(A, B) SELECT CONTIGUOUS", "b1 a2 c3 b4", "b1 a2"),
    case("SEQ(A, B) WHERE B.x > 5 SELECT CONTIGUOUS", "a1 b2(x=3) b3(x=7)", *NOTHING),
]


@pytest.mark.parametrize(("clauses", "stream", "expected"), NEXT + CONTIGUOUS)
def test_selection_says_what_a_match_may_skip(clauses: str, stream: str, expected: set[str]) -> None:
    assert found(clauses, stream) == expected


def test_an_event_without_a_type_is_no_event_to_be_skipped() -> None:
    stream: list[dict[str, object]] = [*events("a1 b3"), {"at": 2, "kind": None}]
    assert len(oracle.matches(query("SEQ(A, B) SELECT CONTIGUOUS"), "q", stream)) == 1


PAST_LAST = "SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT"
TO_NEXT = "SELECT CONTIGUOUS AFTER MATCH SKIP TO NEXT EVENT"
FOR = "SELECT NEXT AFTER MATCH SKIP FOR"

AFTER_MATCH = [
    case(f"A+ {PAST_LAST}", "a1 a2 a3 b4 a5", "a1 a2 a3", "a5"),
    case(f"A+ {TO_NEXT}", "a1 a2 a3 b4", "a1 a2 a3", "a2 a3", "a3"),
    case(f"A+? {PAST_LAST}", "a1 a2", "a1", "a2"),
    case(f"SEQ(A+?, B) {PAST_LAST}", "a1 a2 b3", "a1 a2 b3"),
    case(f"SEQ(A+, A? z) {PAST_LAST}", "a1 a2 a3", "a1 a2 a3"),
    case(f"SEQ(A+?, A? z) {PAST_LAST}", "a1 a2 a3", "a1 z=a2", "a3"),
    case(f"SEQ(A, A?? z) {PAST_LAST}", "a1 a2", "a1", "a2"),
    case(f"A{{1,2}} {PAST_LAST}", "a1 a2 a3", "a1 a2", "a3"),
    case(f"A{{1,2}}? {PAST_LAST}", "a1 a2 a3", "a1", "a2", "a3"),
    case(f"SEQ(A, B*) {PAST_LAST}", "a1 b2 b3 c4", "a1 b2 b3"),
    case(f"SEQ(A, B*?) {PAST_LAST}", "a1 b2 b3 c4", "a1"),
    case(f"OR(SEQ(A, B), A) {PAST_LAST}", "a1 b2", "a1 b2"),
    case(f"OR(A, SEQ(A, B)) {PAST_LAST}", "a1 b2", "a1"),
    case(f"OR(SEQ(A, B, C), SEQ(A, B)) {PAST_LAST}", "a1 b2 d3", "a1 b2"),
    case(f"OR(SEQ(A, B, C), SEQ(A, B)) WHERE C.x > 1 {PAST_LAST}", "a1 b2 c3(x=0)", "a1 b2"),
    case(f"AND(A x, A y) {PAST_LAST}", "a1 a2", "x=a1 y=a2"),
    case(f"AND(A x, A y, A z) WHERE x.x > y.x {PAST_LAST}", "a1(x=1) a2(x=2) a3(x=3)", "y=a1 x=a2 z=a3"),
    case(f"AND(A x, A y, A z) WHERE x.x > y.x AND z.x < 3 {PAST_LAST}", "a1(x=1) a2(x=2) a3(x=3)", "y=a1 z=a2 x=a3"),
    case(f"AND(A x, A y, A z) WHERE x.x > z.x AND x.x > 1 {PAST_LAST}", "a1(x=1) a2(x=2) a3(x=3)", "y=a1 z=a2 x=a3"),
    case(f"AND(A+ x, A y) {PAST_LAST}", "a1 a2 a3", "x=a1 x=a2 y=a3"),
    case(f"AND(A+? x, A y) {PAST_LAST}", "a1 a2 a3", "x=a1 y=a2"),
    case(f"AND(A+? x, B y) {PAST_LAST}", "a1 b2 a3", "x=a1 y=b2"),
    case(f"AND(A+ x, B y) {PAST_LAST}", "a1 b2 a3", "x=a1 y=b2 x=a3"),
    case("SEQ(A, B+) SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT", "a1 b2 a3 b4 a5 b6", "a1 b2 b4 b6"),
    case("SEQ(A, B) SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT", "a1 a2 b3 b4 a5 b6", "a1 b3", "a5 b6"),
    case("SEQ(A, B) SELECT NEXT AFTER MATCH SKIP TO NEXT EVENT", "a1 a2 b3 b4", "a1 b3", "a2 b3"),
    case("SEQ(A+, B) SELECT CONTIGUOUS AFTER MATCH SKIP TO LAST A", "a1 a2 a3 b4", "a1 a2 a3 b4", "a3 b4"),
    case("SEQ(A+, B) SELECT CONTIGUOUS AFTER MATCH SKIP TO FIRST A", "a1 a2 b3", "a1 a2 b3", "a2 b3"),
    case("SEQ(A, B+, A z) SELECT CONTIGUOUS AFTER MATCH SKIP TO FIRST z", "a1 b2 a3 b4 a5", "a1 b2 z=a3", "a3 b4 z=a5"),
    case("SEQ(A, B?) SELECT CONTIGUOUS AFTER MATCH SKIP TO FIRST B", "a1 a2 b3 a4", "a1", "a2 b3", "a4"),
    case(
        "SEQ(A, B) WHERE [g] SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT",
        "a1(g=1) a2(g=2) b3(g=1) b4(g=2)",
        "a1 b3",
        "a2 b4",
    ),
    case("A+ SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT WITHIN 2 s", "a1 a2 a3", "a1 a2", "a3"),
    case("SEQ(A, NOT C) SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 5 s", "a1 a2 c6", "a1"),
    case(f"SEQ(A, B) {PAST_LAST}", "a1 a1' b2", "a1 b2"),
    case(f"SEQ(A, B) {TO_NEXT}", "a1 a1' b2", "a1 b2"),
    case(f"SEQ(A, B) WHERE A.x > 1 {TO_NEXT}", "a1 a1'(x=2) b2", "a1' b2"),
    case(f"SEQ(A, B) {TO_NEXT}", "a1 b2(x=2) b2'(x=1)", "a1 b2'"),
    case(f"A {FOR} 1 s", "a1 a1' a2 a3", "a1", "a2", "a3"),
    case(f"A {FOR} 2 s", "a1 a2 a3 a4 a5 a7", "a1", "a3", "a5", "a7"),
    case(f"A {FOR} 2500 ms", "a1 a2 a3 a4 a5", "a1", "a4"),
    case(f"SEQ(A, B) {FOR} 3 s", "a1 b2 a4 b5 a6 b7", "a1 b2", "a6 b7"),
    case(f"SEQ(A, B) {FOR} 3 s", "a1 b3 a4 a6 b7", "a1 b3", "a6 b7"),
    case(f"SEQ(A, B) {FOR} 3 s WITHIN 3 s", "a1 b3 a5 a6 b8 a9 a11 b12", "a1 b3", "a6 b8", "a11 b12"),
    case(f"AND(A, B) {FOR} 2 s", "b1 a2 a3 b4 a4 b5 a6", "b1 a2", "b4 a4"),
    case(f"SEQ(A, B+?) {FOR} 1 s", "a1 b2 b3 a4 b5", "a1 b2", "a4 b5"),
    case("SEQ(A, B) SELECT CONTIGUOUS AFTER MATCH SKIP FOR 3 s", "a1 b2 a3 b4 a5 c6 b7 a8 b9", "a1 b2", "a8 b9"),
    case("SEQ(NOT C, A) SELECT NEXT AFTER MATCH SKIP FOR 3 s WITHIN 4 s", "a1 c2 a4 a6", "a1", "a6"),
    case("SEQ(A, NOT C WITHIN 2 s) SELECT NEXT AFTER MATCH SKIP FOR 2 s", "a1 a2 a3 c4 a5", "a1", "a5"),
    case(f"A WHERE [g] {FOR} 2 s", "a1(g=1) a2(g=2) a2(g=1) a3(g=1) a3(g=2) a4(g=2)", "a1", "a2", "a3", "a4"),
]


@pytest.mark.parametrize(("clauses", "stream", "expected"), AFTER_MATCH)
def test_after_a_match_one_match_for_each_first_event(clauses: str, stream: str, expected: set[str]) -> None:
    assert found(clauses, stream) == expected


# ---- conditions ------------------------------------------------------------------------------------------------------

CONDITIONS = [
    case("SEQ(A, B) WHERE [g]", "a1(g=1) b2(g=2) b3(g=1) a4 b5", "a1 b3", "a4 b5"),
    case("SEQ(A, B) WHERE [g, y]", "a1(g=1, y=nan) b2(g=1, y=nan) b3(g=1, y=0.5)", "a1 b2"),
    case("SEQ(A, B) WHERE [y]", "a1(y=0.0) b2(y=-0.0)", "a1 b2"),
    case("SEQ(A, B) WHERE [g] AND g > 1", "a1(g=1) b2(g=1) a3(g=2) b4(g=2)", "a3 b4"),
    case("A+ WHERE A.x > 1", "a1(x=1) a2(x=2) a3", "a2"),
    case("A+ WHERE A.x > 1 OR A.x IS NULL", "a1(x=1) a2(x=2) a3", "a2", "a3", "a2 a3"),
    case("SEQ(A+, B) WHERE A.x < B.x", "a1(x=1) a2(x=5) b3(x=3)", "a1 b3"),
    case("SEQ(A+, B) WHERE A.x < B.x", "a1 b3(x=3)", *NOTHING),
    case("SEQ(A?, B) WHERE A.x < B.x", "a1(x=9) b3(x=3)", "b3"),
    case("SEQ(A?, B) WHERE A.x < B.x AND B.x > 5", "a1(x=9) b3(x=3)", *NOTHING),
    case("SEQ(A?, B) WHERE COALESCE(A.x, 0) > B.x", "b3(x=3)", "b3"),
    case("SEQ(A?, B) WHERE (A.x IS NULL AND B.x = 4)", "b3(x=3)", *NOTHING),
    case("A+ WHERE A.x > PREV(A).x", "a1(x=2) a2(x=1) a3(x=3)", "a1", "a2", "a3", "a1 a3", "a2 a3"),
    case("AND(A, A) WHERE A.x > PREV(A).x", "a1(x=2) a1'(x=1)", "a1 a1'"),
    case("SEQ(A{2}, B) WHERE A.x > PREV(A).x", "a1 a2(x=2) b3", *NOTHING),
    case("SEQ(A+ u, A+ v) WHERE v.x > LAST(u).x", "a1(x=9) a2(x=1) a3(x=5)", "u=a2 v=a3", "u=a1 u=a2 v=a3"),
    case("SEQ(A+, B) WHERE FIRST(A).x = 1 AND LAST(A).x = 2", "a1(x=1) a2(x=3) a3(x=2) b4", "a1 a3 b4", "a1 a2 a3 b4"),
    case("A+ WHERE A.x <= LAST(A).x", "a1(x=1) a2(x=3) a3(x=2)", "a1", "a2", "a3", "a1 a2", "a1 a3"),
    case("A WHERE 1 = 1", "a1", "a1"),
    case("A WHERE 1 = 2", "a1", *NOTHING),
    case("A WHERE NULL", "a1", *NOTHING),
    case("A WHERE A.y = A.y", "a1(y=nan) a2", "a1"),
    case("A WHERE A.y > 1e300", "a1(y=nan) a2(y=1.5)", "a1"),
    case("EVENT Big AS A WHERE x > 5; QUERY SEQ(Big, B)", "a1(x=6) a2(x=5) a3 b4", "Big=a1 b4"),
    case("EVENT Huge AS Big WHERE x > 9; EVENT Big AS A WHERE x > 5; QUERY Huge", "a1(x=6) a2(x=10)", "Huge=a2"),
    case(
        "EVENT Big AS A WHERE A.x > 5; QUERY AND(Big, A)",
        "a1(x=6) a2(x=6) a3",
        "Big=a1 a2",
        "a1 Big=a2",
        "Big=a1 a3",
        "Big=a2 a3",
    ),
    case("EVENT Big AS A WHERE x > 5; QUERY SEQ(A, NOT Big, B)", "a1 a2(x=6) b3", "a2 b3"),
    case("EVENT Big AS ANY WHERE x > 5; QUERY SEQ(Big, B)", "a1(x=6) z2(x=7) a3 b4(x=5)", "Big=a1 b4", "Big=z2 b4"),
    case("EVENT Huge AS Big WHERE x > 9; EVENT Big AS ANY WHERE x > 5; QUERY Huge", "a1(x=6) b2(x=10)", "Huge=b2"),
]


@pytest.mark.parametrize(("clauses", "stream", "expected"), CONDITIONS)
def test_a_condition_holds_for_every_tuple_of_the_events_bound(clauses: str, stream: str, expected: set[str]) -> None:
    assert found(clauses, stream) == expected


LEG = "PATTERN leg AS SEQ(A p, B t) WHERE p.x < t.x; QUERY "
RISE = "PATTERN rise(T, n) AS T+ up WHERE up.n > PREV(up).n; QUERY "
FREE = "PATTERN free AS SEQ(A a, NOT C c, B b) WHERE c.x > a.x; QUERY "

NAMED_PATTERNS = [
    case(LEG + "leg", "a1(x=1) b2(x=2) b3(x=0)", "p=a1 t=b2"),
    case(LEG + "leg+", "a1(x=1) b2(x=2) a3(x=5) b4(x=6)", "p=a1 t=b2", "p=a1 t=b4", "p=a3 t=b4", "p=a1 t=b2 p=a3 t=b4"),
    case(LEG + "leg+ WHERE p.x < t.x", "a1(x=1) b2(x=2) a3(x=5) b4(x=6)", "p=a1 t=b2", "p=a1 t=b4", "p=a3 t=b4"),
    case(
        LEG + "SEQ(leg u, leg v) WHERE u.p.x = v.p.x", "a1(x=1) b2(x=2) a3(x=1) b4(x=6)", "u.p=a1 u.t=b2 v.p=a3 v.t=b4"
    ),
    case(LEG + "SEQ(leg, A p)", "a1(x=1) b2(x=2) a3", "p=a1 t=b2 p=a3"),
    case(LEG + "SEQ(C, leg?)", "c1 a2(x=3) b3(x=1)", "c1"),
    case(RISE + "rise(A, x)", "a1(x=1) a2(x=0) a3(x=2)", "up=a1", "up=a2", "up=a3", "up=a1 up=a3", "up=a2 up=a3"),
    case(RISE + "SEQ(rise(A, x) r, rise(B, y) s)", "a1(x=1) b2(y=1.5) b3(y=0.5)", "r.up=a1 s.up=b2", "r.up=a1 s.up=b3"),
    case(RISE + "rise(A, x){2} WHERE up.x < 9", "a1(x=5) a2(x=4) a3(x=9)", "up=a1 up=a2"),
    case("PATTERN over(n, k) AS A WHERE A.n > k; QUERY over(x, -2)", "a1(x=-3) a2(x=-1)", "a2"),
    case(
        "PATTERN in_step AS SEQ(A, B) WHERE [g]; QUERY in_step+",
        "a1(g=1) b2(g=1) a3(g=2) b4(g=2)",
        "a1 b2",
        "a3 b4",
        "a1 b2 a3 b4",
    ),
    case("PATTERN two(P) AS SEQ(P, P); QUERY two(A)", "a1 a2", "a1 a2"),
    case(
        "PATTERN pair AS SEQ(A, B); PATTERN pairs AS SEQ(pair u, C); QUERY pairs w",
        "a1 b2 c3",
        "w.u.A=a1 w.u.B=b2 w.C=c3",
    ),
    case(FREE + "free", "a1(x=3) c2(x=4) b3", *NOTHING),
    case(FREE + "free", "a1(x=3) c2(x=2) b3", "a=a1 b=b3"),
    case(FREE + "free{2}", "a1(x=1) b2 a3(x=9) c4(x=5) b5", "a=a1 b=b2 a=a3 b=b5"),
    case(FREE + "free{2}", "a1(x=1) b2 a3(x=4) c4(x=5) b5", *NOTHING),
    case(FREE + "free WHERE c.y > 1", "a1(x=3) c2(x=4) b3", "a=a1 b=b3"),
    case("PATTERN late AS SEQ(A, NOT C); QUERY SEQ(late, B)", "a1 c2 b3", *NOTHING),
    case("PATTERN c2 AS SEQ(C c, D d) WHERE c.x < d.x; QUERY SEQ(A, NOT c2, B)", "a1 c2(x=1) d3(x=0) b4", "a1 b4"),
    case("PATTERN c2 AS SEQ(C c, D d) WHERE c.x < d.x; QUERY SEQ(A, NOT c2, B)", "a1 c2(x=1) d3(x=2) b4", *NOTHING),
    case(LEG + "leg+ SELECT NEXT", "a1(x=5) b2(x=2) b3(x=6) a4(x=9) b5(x=8)", "p=a1 t=b3"),
]


@pytest.mark.parametrize(("clauses", "stream", "expected"), NAMED_PATTERNS)
def test_the_conditions_of_a_named_pattern_hold_within_each_of_its_matches(
    clauses: str, stream: str, expected: set[str]
) -> None:
    assert found(clauses, stream) == expected
