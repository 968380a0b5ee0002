"""What is right and may surprise; and programs without a stream, which are checked as far as they can be."""

import pytest

import cepc
from tests.resolving import STREAM, checked, codes, query_text

OVERFLOWS = [
    ("COUNT(*) over a repetition without bound", "SEQ(A, B+)", "COUNT(*) AS n", "", ["W0401"]),
    ("COUNT of events", "SEQ(A, B*)", "COUNT(A) AS n", "", ["W0401"]),
    ("within an expression", "SEQ(A, B{2,})", "COUNT(*) + 1 AS n", "", ["W0401"]),
    ("cast to a larger type", "SEQ(A, B+)", "CAST(COUNT(*) AS DECIMAL(38,0)) AS n", "", []),
    ("TRY_COUNT", "SEQ(A, B+)", "TRY_COUNT(*) AS n", "", []),
    ("bounded", "SEQ(A, B{1,9})", "COUNT(*) AS n", "", []),
    ("only inside NOT", "SEQ(A, NOT SEQ(B, C+), D)", "COUNT(*) AS n", "", []),
    ("only in parts that skip none", "SEQ(CONTIGUOUS(A+, B), NEXT(C, D+))", "COUNT(*) AS n", "", []),
    ("around such a part", "CONTIGUOUS(A, B)+", "COUNT(*) AS n", "", ["W0401"]),
    ("SELECT NEXT", "SEQ(A, B+)", "COUNT(*) AS n", "SELECT NEXT", []),
    ("without a COUNT", "SEQ(A, B+)", "MAX(A.x) AS n", "", []),
    ("a match query", "SEQ(A, B+)", "MATCH COUNT(*) AS n", "", []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("title", "pattern", "returns", "clauses", "expected"), OVERFLOWS, ids=[t for t, *_ in OVERFLOWS]
)
def test_counts_that_can_pass_bigint(title: str, pattern: str, returns: str, clauses: str, expected: list[str]) -> None:
    within = "9 s" if "MATCH" in returns else "9 s SLIDE 1 s"
    assert codes(query_text(pattern, returns=returns, clauses=clauses, within=within)) == expected, title


def test_a_condition_of_a_derived_event_is_warned_about_once() -> None:
    other = "STREAM t (at TIMESTAMP, kind STRING, g INT) EVENT TIME at EVENT TYPE kind IN ('A');"
    derived, query = "EVENT F AS A WHERE g RLIKE '[';", "QUERY q FROM s RETURN MATCH * PATTERN F WITHIN 9 s;"
    assert codes(STREAM + derived) == ["W0304"]
    assert codes(STREAM + STREAM.replace("STREAM s", "STREAM t") + derived + query) == ["W0304"]
    assert codes(STREAM + other + derived + query) == ["W0304"]


def test_an_overflow_is_told_once_a_file() -> None:
    query = "QUERY {} RETURN COUNT(*) AS n PATTERN SEQ(A, B+) WITHIN 9 s SLIDE 1 s;"
    assert codes(STREAM + query.format("q") + query.format("r")) == ["W0401"]
    files = {"a.cep": query.format("r")}
    assert codes("IMPORT './a.cep';" + STREAM + query.format("q"), files) == ["W0401", "W0401"]


ENUMERATIONS = [
    ("neighbours", "SEQ(A a, B b, C)", "a.x < b.x", []),
    ("not neighbours", "SEQ(A a, B, C c)", "a.x < c.x", ["W0402"]),
    ("neighbours only when the one between is absent", "SEQ(A a, B?, C c)", "a.x < c.x", ["W0402"]),
    ("three variables", "SEQ(A a, B b, C c)", "a.x < b.x + c.x", ["W0402"]),
    ("PREV of a run", "SEQ(A+ a, B)", "a.x > PREV(a).x", []),
    ("PREV with others between", "SEQ(A a, B)+", "a.x > PREV(a).x", ["W0402"]),
    ("LAST before the next", "SEQ(A+ a, B b)", "b.x > LAST(a).x", []),
    ("all of a list", "SEQ(A+ a, B b)", "b.x > a.x", ["W0402"]),
    ("FIRST behind the one before", "SEQ(A a, B+ b)", "FIRST(b).x > a.x", []),
    ("operands of an AND", "AND(A a, B b)", "a.x < b.x", ["W0402"]),
    ("inside NOT", "SEQ(A a, NOT B b, C)", "b.x > a.x", ["W0402"]),
    ("a test", "SEQ(A a, B, C c)", "a.x > 3 AND c.x > 3", []),
    ("[ ]", "SEQ(A a, B, C c)", "[k]", []),
]  # fmt: skip


@pytest.mark.parametrize(("title", "pattern", "where", "expected"), ENUMERATIONS, ids=[t for t, *_ in ENUMERATIONS])
def test_conditions_that_need_enumeration(title: str, pattern: str, where: str, expected: list[str]) -> None:
    assert codes(query_text(pattern, clauses=f"WHERE {where}")) == expected, title
    assert codes(query_text(pattern, clauses=f"WHERE {where}", returns="MATCH *", within="9 s")) == [], (
        "match queries enumerate"
    )


def test_a_condition_of_a_named_pattern_is_told_once() -> None:
    before = "PATTERN t AS SEQ(A a, B, C c) WHERE a.x < c.x;"
    assert codes(query_text("SEQ(t v, t w)", before=before)) == ["W0402"]


WINDOWS = [
    ("no SLIDE", "SEQ(A, B)", "9 s", ["W0502"]),
    ("no SLIDE, one event in a match", "OR(A, B)", "9 s", ["W0502"]),
    ("one event", "A", "9 s", []),
    ("one event, repeated", "A{1,2}", "9 s", ["W0502"]),
    ("SLIDE longer than WITHIN", "SEQ(A, B)", "9 s SLIDE 1 MINUTE", ["W0501"]),
    ("SLIDE as long as WITHIN", "SEQ(A, B)", "60 s SLIDE 1 MINUTE", []),
    ("UNBOUNDED", "SEQ(A, B)", "UNBOUNDED", []),
]  # fmt: skip


@pytest.mark.parametrize(("title", "pattern", "within", "expected"), WINDOWS, ids=[t for t, *_ in WINDOWS])
def test_windows_that_leave_matches_out(title: str, pattern: str, within: str, expected: list[str]) -> None:
    assert codes(query_text(pattern, within=within)) == expected, title


@pytest.mark.parametrize("quantifier", ["+", "*", "?", "{2}", "{2,3}"])
def test_a_quantifier_on_not_says_nothing_and_the_pattern_is_right(quantifier: str) -> None:
    assert codes(query_text(f"SEQ(A, (NOT B){quantifier}, C)")) == ["W0403"]


@pytest.mark.parametrize(
    ("where", "cure"),
    [
        ("a.x > LAST(a.x, 1)", "write `PREV(a).x`, which is of the event of `a` before each one"),
        ("a.x > 0 AND a.x - LAST(a, 2).x > 1", "write `PREV(a, 2).x`, which"),
        ("a.x > LAST(a).x", None),
        ("b.x > LAST(a, 1).x", None),
        ("LAST(a, 1).x > FIRST(a).x", None),
        ("a.x > PREV(a, 2).x", None),
    ],
)
def test_each_event_beside_one_before_the_last_is_told_of_prev(where: str, cure: str | None) -> None:
    found = checked(query_text("SEQ(A+ a, B b)", clauses=f"WHERE {where}", returns="MATCH *", within="9 s")).diagnostics
    assert [(d.code, d.hint.startswith(cure or "")) for d in found] == ([] if cure is None else [("W0404", True)])
    inside = f"PATTERN p AS SEQ(A+ a, B b) WHERE {where};"
    assert codes(query_text("p", before=inside, returns="MATCH *", within="9 s")) == [d.code for d in found]


def test_group_by_of_one_events_attribute() -> None:
    assert codes(query_text("SEQ(A a, B)", clauses="GROUP BY a.k")) == ["W0503"]


# ---- without a stream ------------------------------------------------------------------------------------------------

GLORIA = """q0
RETURN T1.open_level, AVG(T1.open)
PATTERN SEQ(SEQ(T1,SEQ(T2,T3,T4)+,T5)+, T6,T7)
WHERE T1.vol > 100
GROUP-BY T1.open_level
WITHIN 15 min SLIDE 5 min

q1
RETURN T1.open_level, COUNT(*)
PATTERN SEQ(T1, T2)
GROUP-BY T1.open_level
WITHIN 15 min SLIDE 5 min
"""


def test_a_workload_file_of_the_papers_checks_without_errors() -> None:
    found = checked(GLORIA)
    assert found.program is None
    assert sorted(d.code for d in found.diagnostics) == ["W0503", "W0503", "W0601"]


def test_with_a_stream_beside_it_it_is_a_program() -> None:
    stream = "STREAM stocks (at TIMESTAMP, kind STRING, open DOUBLE, vol INT, open_level INT) EVENT TIME at EVENT TYPE kind;\n"
    found = checked(stream + GLORIA)
    assert found.program is not None
    assert [q.name for q in found.program.queries] == ["q0", "q1"]


def test_a_library_needs_no_stream() -> None:
    assert codes("PATTERN rise(T, c) AS T+ up WHERE up.c > PREV(up).c; EVENT Big AS A WHERE x > 1;") == []


WITHOUT = [
    ("an unknown variable", "SEQ(A, B b)", "SUM(b.x) AS n", "WHERE c.x > 1", ["E0203"]),
    ("a type that has an alias", "SEQ(A, B b)", "SUM(B.x) AS n", "", ["E0203"]),
    ("a bare column", "SEQ(A, B b)", "SUM(A.x) AS n", "WHERE x > 1", ["E0220"]),
    ("a variable alone", "SEQ(A, B b)", "SUM(A.x) AS n", "WHERE A > b", ["E0221", "E0221"]),
    ("a column that makes no groups", "SEQ(A, B b)", "x, SUM(A.x) AS n", "WHERE [x]", ["E0503"]),
    ("a bare column in an aggregate", "SEQ(A, B b)", "SUM(x) AS n", "", ["E0220"]),
    ("the pattern", "SEQ(A*, AND(B, NOT C))", "COUNT(*) AS n", "", ["E0404"]),
    ("two NOTs", "SEQ(A, NOT B, C, NOT D)", "COUNT(*) AS n", "WHERE B.x > D.x", ["E0411"]),
    ("HAVING a result column", "SEQ(A, B b)", "k, SUM(A.x) AS n", "GROUP BY k HAVING n > 1 AND k > 1", []),
    ("event types that differ only in case", "SEQ(A u, a v)", "COUNT(u) AS n", "", ["E0206"]),
]  # fmt: skip


@pytest.mark.parametrize(("title", "pattern", "returns", "clauses", "expected"), WITHOUT, ids=[t for t, *_ in WITHOUT])
def test_what_needs_no_columns_is_checked(
    title: str, pattern: str, returns: str, clauses: str, expected: list[str]
) -> None:
    text = query_text(pattern, returns=returns, clauses=clauses).replace(STREAM, "")
    assert [c for c in codes(text) if c != "W0601"] == expected, title


@pytest.mark.parametrize(
    ("unit", "within", "cure"),
    [
        ("us", "20 MINUTES", "add SLIDE: `WITHIN 20 MINUTES SLIDE 5 MINUTES`, say"),
        ("s", "10 SECONDS", "add SLIDE: `WITHIN 10 SECONDS SLIDE 5 SECONDS`, say"),
        ("s", "15 MINUTES", "add SLIDE: `WITHIN 15 MINUTES SLIDE 5 MINUTES`, say"),
        ("s", "1 HOUR", "add SLIDE: `WITHIN 1 HOUR SLIDE 15 MINUTES`, say"),
        ("s", "0.5 HOURS", "add SLIDE: `WITHIN 0.5 HOURS SLIDE 15 MINUTES`, say"),
        ("ms", "1 SECOND", "add SLIDE: `WITHIN 1 SECOND SLIDE 250 MILLISECONDS`, say"),
        ("s", "1 SECOND", "add SLIDE"),
    ],
)
def test_the_slide_that_is_proposed_is_a_part_of_the_query_s_within(unit: str, within: str, cure: str) -> None:
    found = cepc.check(
        f"STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT {unit} EVENT TYPE kind IN ('A', 'B');"
        f"QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN {within};"
    )
    assert [d.hint for d in found.diagnostics if d.code == "W0502"] == [cure]
