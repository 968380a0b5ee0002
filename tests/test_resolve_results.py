"""Kinds of queries, result columns, HAVING, windows, SELECT and AFTER MATCH."""

import pytest

from cepc.api import check_text
from cepc_runtime.plan.after import SkipFor, SkipTo
from cepc_runtime.plan.windows import MatchBound, Sessions, Sliding, Unbounded, Window
from tests.resolving import codes, query_text, resolved, show

KINDS = [
    ("COUNT(*) AS n", "aggregate"),
    ("k, MAX(a.x) + 1 AS m", "aggregate"),
    ("CAST(COUNT(*) AS STRING) AS n", "aggregate"),
    ("TRY_COUNT(*) AS n", "aggregate"),
    ("MATCH COUNT(*) AS n", "match"),
    ("a.x", "match"),
    ("k", "match"),
    ("FIRST(b.x)", "match"),
    ("COLLECT(b.x) AS xs", "match"),
    ("MATCH *", "match"),
]


@pytest.mark.parametrize(("returns", "kind"), KINDS, ids=[r for r, _ in KINDS])
def test_an_aggregate_without_match_makes_an_aggregate_query(returns: str, kind: str) -> None:
    query = resolved("SEQ(A a, B{1,2} b)", returns=returns, clauses="GROUP BY k", within="9 s")
    assert query.kind == kind


def test_output_columns_have_names_and_grouping_attributes_are_bare() -> None:
    query = resolved("SEQ(A a, B b)", returns="a.k, b.g AS h, COUNT(*), SUM(a.x)", clauses="GROUP BY a.k, g")
    assert [(o.name, show(o.expression)) for o in query.outputs] == [
        ("k", "k"), ("h", "g"), ("count(1)", "COUNT(*)"), ("sum(x)", "SUM(a.x)"),
    ]  # fmt: skip


def test_having_knows_result_columns_and_grouping_attributes() -> None:
    clauses = "GROUP BY k HAVING n > 3 AND a.k = 1 AND MAX(a.x) > n"
    query = resolved("SEQ(A a, B)", returns="MIN(a.x) AS n", clauses=clauses)
    assert query.having is not None
    assert show(query.having) == "and((MIN(a.x) > 3), (k = 1), (MAX(a.x) > MIN(a.x)))"


def test_a_match_query_returns_columns_of_single_variables_and_aggregates_of_lists() -> None:
    query = resolved(
        "SEQ(A a, B+ b)", returns="MATCH a.x, g, AVG(b.y) AS m", clauses="WHERE [g] HAVING AVG(b.y) < 9", within="9 s"
    )
    assert [(o.name, show(o.expression)) for o in query.outputs] == [("x", "a.x"), ("g", "g"), ("m", "AVG(b.y)")]


def test_match_star_returns_the_events() -> None:
    query = resolved("SEQ(A, B)", returns="MATCH *", within="9 s")
    assert (query.returns_events, query.outputs) == (True, ())


WINDOWS = [
    ("COUNT(*) AS n", "9 s SLIDE 3 s", Sliding(9_000_000, 3_000_000)),
    ("COUNT(*) AS n", "9 s", Sliding(9_000_000, 9_000_000)),
    ("COUNT(*) AS n", "1.5 MINUTES SLIDE 1 ms", Sliding(90_000_000, 1_000)),
    ("COUNT(*) AS n", "9 s OFFSET 0 s", Sliding(9_000_000, 9_000_000)),
    ("COUNT(*) AS n", "1 DAY OFFSET 2 HOURS", Sliding(86_400_000_000, 86_400_000_000, 7_200_000_000)),
    ("COUNT(*) AS n", "1 DAY OFFSET -2 HOURS", Sliding(86_400_000_000, 86_400_000_000, 79_200_000_000)),
    ("COUNT(*) AS n", "9 s SLIDE 3 s OFFSET 2.5 s", Sliding(9_000_000, 3_000_000, 2_500_000)),
    ("COUNT(*) AS n", "9 s SLIDE 3 s OFFSET 1 h", Sliding(9_000_000, 3_000_000)),
    ("COUNT(*) AS n", "9 s SLIDE 3 s OFFSET -100000000000 WEEKS", Sliding(9_000_000, 3_000_000)),
    ("COUNT(*) AS n", "UNBOUNDED", Unbounded()),
    ("COUNT(*) AS n", "SESSION 1.5 MINUTES", Sessions(90_000_000)),
    ("MATCH *", "1 WEEK", MatchBound(604_800_000_000)),
    ("MATCH *", "UNBOUNDED", Unbounded()),
]


@pytest.mark.parametrize(("returns", "within", "expected"), WINDOWS)
def test_windows_in_ticks(returns: str, within: str, expected: Window) -> None:
    window = resolved("SEQ(A, B)", returns=returns, within=within).window
    assert window == expected


def test_an_offset_is_in_the_ticks_of_the_event_time() -> None:
    def window(time: str, within: str) -> Window:
        stream = f"STREAM s (at {time.split()[0]}) EVENT TIME at {' '.join(time.split()[1:])};"
        checked = check_text(f"{stream} QUERY q RETURN COUNT(*) AS n PATTERN s WITHIN {within};", "q.cep").program
        assert checked is not None
        return checked.queries[0].window

    assert window("BIGINT UNIT ms", "1 s OFFSET -300 ms") == Sliding(1000, 1000, 700)
    assert window("INT UNIT s", "1 h OFFSET 5 min") == Sliding(3600, 3600, 300)
    assert window("DATE", "1 WEEK OFFSET 4 DAYS") == Sliding(7, 7, 4)


RESULTS = [
    ("two columns of one name", "COUNT(*) AS n, MAX(a.x) AS n", "", ["E0501"]),
    ("two columns that differ only in case", "COUNT(*) AS n, MAX(a.x) AS N", "", ["E0501"]),
    ("two columns that Spark names alike", "MATCH a.x, c.x", "", ["E0501"]),
    ("a reserved name", "COUNT(*) AS window_end", "", ["E0502"]),
    ("a name reserved in match queries", "MATCH a.x AS match_start", "", ["E0502"]),
    ("an attribute that makes no groups", "k, COUNT(*) AS n", "WHERE [k]", ["E0503"]),
    ("an event's column outside an aggregate", "a.x, COUNT(*) AS n", "", ["E0503"]),
    ("an unknown column outside", "z, COUNT(*) AS n", "", ["E0204"]),
    ("a column that comes by itself", "window_start, COUNT(*) AS n", "", ["E0204"]),
    ("a bare column in an aggregate", "SUM(x) AS n", "", ["E0220"]),
    ("a bare column in a match query", "MATCH x", "", ["E0220"]),
    ("a negated variable", "COUNT(d) AS n, MAX(d.x) AS m", "", ["E0412", "E0412"]),
    ("a negated variable in HAVING", "MATCH a.x", "HAVING d.x > 1", ["E0412"]),
    ("a list variable in a match query", "MATCH b.x", "", ["E0319"]),
    ("an unknown variable", "COUNT(z) AS n", "", ["E0203"]),
    ("DISTINCT", "COUNT(DISTINCT a.x) AS n", "", ["E0312"]),
    ("DISTINCT in what is of one event", "MATCH MIN_BY(DISTINCT b.x, b.x) AS n", "", ["E0312"]),
    ("DISTINCT of events", "MATCH COUNT(DISTINCT b) AS n", "", ["E0328"]),
    ("MIN_BY without a second argument", "MATCH MIN_BY(b.x) AS n", "", ["E0302"]),
    ("MIN_BY of two variables", "MATCH MIN_BY(a.x, b.x) AS n", "", ["E0314"]),
    ("MIN_BY with a constant", "MATCH MIN_BY(b.x, 1) AS n", "", ["E0316"]),
    ("MIN_BY over all matches", "MIN_BY(b.x, b.x) AS n, COUNT(*) AS m", "", ["E0311"]),
    ("star and more", "MATCH *, a.x", "", ["E0504"]),
    ("star without MATCH", "*", "", ["E0504"]),
    ("HAVING an unknown name", "COUNT(*) AS n", "HAVING o > 1", ["E0204"]),
    ("HAVING a column that is wrong itself", "MAX(a.z) AS n", "HAVING n > 1", ["E0204"]),
    ("HAVING a number", "COUNT(*) AS n", "HAVING n", ["E0304"]),
    ("every wrong column", "MAX(a.z) AS m, MAX(z.x) AS n, a.x", "", ["E0203", "E0204", "E0503"]),
    ("AFTER MATCH in an aggregate query", "COUNT(*) AS n", "SELECT NEXT AFTER MATCH SKIP TO NEXT EVENT", ["E0511"]),
    ("AFTER MATCH under SELECT ANY", "MATCH *", "AFTER MATCH SKIP TO NEXT EVENT", ["E0511"]),
    ("SKIP TO an unknown variable", "MATCH *", "SELECT NEXT AFTER MATCH SKIP TO LAST z", ["E0203"]),
    ("SKIP TO a column", "MATCH *", "SELECT NEXT AFTER MATCH SKIP TO LAST a.x", ["E0203"]),
    ("SKIP TO a negated variable", "MATCH *", "SELECT NEXT AFTER MATCH SKIP TO FIRST d", ["E0412"]),
]  # fmt: skip


EDGES = "STREAM s (at TIMESTAMP, kind STRING, window_end INT, match_start INT) EVENT TIME at EVENT TYPE kind IN ('A');"
CALLED_LIKE_EDGES = [
    ("a group", "window_end, COUNT(*) AS n", "GROUP BY window_end", ["E0502"]),
    ("a group of one variable", "A.window_end, COUNT(*) AS n", "GROUP BY window_end", ["E0502"]),
    ("a group under another name", "window_end AS w, COUNT(*) AS n", "GROUP BY window_end", []),
    ("a group that is not returned", "COUNT(*) AS n", "GROUP BY window_end HAVING window_end > 1", []),
    ("a group that a match's edge is called like", "match_start, COUNT(*) AS n", "GROUP BY match_start", []),
    ("a column of an event", "MATCH A.match_start", "", ["E0502"]),
    ("a cast of one", "MATCH CAST(A.match_start AS BIGINT)", "", ["E0502"]),
    ("a column of an event under another name", "MATCH A.match_start AS m", "", []),
    ("a column that all events agree on", "MATCH match_start", "WHERE [match_start]", ["E0502"]),
    ("a column that a window's edge is called like", "MATCH A.window_end", "", []),
    ("all events", "MATCH *", "WHERE [match_start]", []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("title", "returns", "clauses", "expected"), CALLED_LIKE_EDGES, ids=[t for t, *_ in CALLED_LIKE_EDGES]
)
def test_columns_called_like_those_that_every_result_has(
    title: str, returns: str, clauses: str, expected: list[str]
) -> None:
    text = f"{EDGES} QUERY q RETURN {returns} PATTERN A {clauses} WITHIN UNBOUNDED;"
    assert [c for c in codes(text) if c[0] == "E"] == expected, title


@pytest.mark.parametrize(("title", "returns", "clauses", "expected"), RESULTS, ids=[t for t, *_ in RESULTS])
def test_wrong_results(title: str, returns: str, clauses: str, expected: list[str]) -> None:
    within = "9 s" if "MATCH" in returns + clauses or returns == "*" else "9 s SLIDE 1 s"
    text = query_text("SEQ(A a, NOT D d, B{1,2} b, C c)", returns=returns, clauses=clauses, within=within)
    assert [c for c in codes(text) if c[0] == "E"] == expected, title


@pytest.mark.parametrize(
    ("returns", "clauses", "said"),
    [
        ("k, x, kind, COUNT(*) AS n", "", ["GROUP BY k, x, kind"] * 3),
        ("k, kind, x + 1 AS y, COUNT(*) AS n", "GROUP BY k", ["GROUP BY k, kind, x"] * 2),
        ("x, MAX(a.y) AS y, COUNT(*) AS n", "HAVING kind = 'A'", ["GROUP BY x", "GROUP BY x, kind"]),
    ],
)
def test_the_cure_of_a_column_that_makes_no_groups_has_all_such_columns(
    returns: str, clauses: str, said: list[str]
) -> None:
    text = query_text("SEQ(A a, C c)", returns=returns, clauses=clauses, within="9 s SLIDE 1 s")
    errors = [one for one in check_text(text).errors if one.code == "E0503"]
    assert [one.hint for one in errors] == [
        f"aggregate it, or add `{one}`: all events of a match then agree on it" for one in said
    ]
    if not clauses:
        assert check_text(text.replace("WITHIN", f"{said[0]} WITHIN")).ok


WRONG_WINDOWS = [
    ("SLIDE in a match query", "MATCH *", "9 s SLIDE 1 s", ["E0505"]),
    ("SLIDE with an aggregate that is refused", "skewness(A.x) AS n", "9 s SLIDE 1 s", ["E0311"]),
    ("UNBOUNDED with SLIDE", "COUNT(*) AS n", "UNBOUNDED SLIDE 1 s", ["E0506"]),
    ("OFFSET in a match query", "MATCH *", "9 s OFFSET 1 s", ["E0505"]),
    ("SLIDE and OFFSET in a match query", "MATCH *", "9 s SLIDE 1 s OFFSET 1 s", ["E0505", "E0505"]),
    ("OFFSET with an aggregate that is refused", "skewness(A.x) AS n", "9 s OFFSET 1 s", ["E0311", "W0502"]),
    ("UNBOUNDED with OFFSET", "COUNT(*) AS n", "UNBOUNDED OFFSET 1 s", ["E0506"]),
    ("an OFFSET in months", "COUNT(*) AS n", "9 s SLIDE 1 s OFFSET 1 MONTH", ["E0508"]),
    ("an OFFSET finer than a microsecond", "COUNT(*) AS n", "9 s SLIDE 1 s OFFSET -1e-7 s", ["E0509"]),
    ("an OFFSET of too many digits", "COUNT(*) AS n", f"9 s SLIDE 1 s OFFSET -{'9' * 70} s", ["E0510"]),
    ("a window of 0", "COUNT(*) AS n", "0 s SLIDE 1 s", ["E0507"]),
    ("a slide of 0", "COUNT(*) AS n", "1 s SLIDE 0 s", ["E0507"]),
    ("months and years", "COUNT(*) AS n", "1 YEAR SLIDE 1 MONTH", ["E0508", "E0508"]),
    ("finer than a microsecond", "COUNT(*) AS n", "1.0000001 s SLIDE 1 s", ["E0509"]),
    ("longer than 64 bits", "COUNT(*) AS n", "1e12 WEEKS SLIDE 1 s", ["E0510"]),
    ("an exponent that no computer can write out", "COUNT(*) AS n", "1e999999999 s SLIDE 1e-999999999 s", ["E0510", "E0510"]),
    ("more digits than a number has", "COUNT(*) AS n", f"{'9' * 5000} s SLIDE 1 s", ["E0510"]),
]  # fmt: skip


@pytest.mark.parametrize(("title", "returns", "within", "expected"), WRONG_WINDOWS, ids=[t for t, *_ in WRONG_WINDOWS])
def test_wrong_windows(title: str, returns: str, within: str, expected: list[str]) -> None:
    assert codes(query_text("SEQ(A, B)", returns=returns, within=within)) == expected, title


def test_after_match_keeps_reluctant_marks_and_the_variable_to_skip_to() -> None:
    clauses = "SELECT CONTIGUOUS AFTER MATCH SKIP TO LAST w.a"
    query = resolved("SEQ(t w, B+?)", returns="MATCH *", clauses=clauses, within="9 s", before="PATTERN t AS A+ a;")
    assert (query.select, query.after) == ("CONTIGUOUS", SkipTo("LAST", ("w.a",)))
    assert codes(query_text("SOME(A, B)", returns="MATCH *", clauses=clauses.replace("w.a", "A"), within="9 s")) == [
        "E0416"
    ]


@pytest.mark.parametrize(
    ("length", "event_time", "expected"),
    [
        ("1 HOUR", "TIMESTAMP", 3_600_000_000),
        ("1 HOUR", "BIGINT", 3_600),
        ("2 DAYS", "DATE", 2),
        ("0 s", "TIMESTAMP", "E0507"),
        ("1 MONTH", "TIMESTAMP", "E0508"),
        ("1 HOUR", "DATE", "E0509"),
        ("500 ms", "BIGINT", "E0509"),
        ("1e12 WEEKS", "TIMESTAMP", "E0510"),
    ],
)
def test_how_long_skip_for_is(length: str, event_time: str, expected: int | str) -> None:
    text = (
        f"STREAM s (at {event_time}, kind STRING) EVENT TIME at EVENT TYPE kind IN ('A');\n"
        f"QUERY q RETURN MATCH * PATTERN A SELECT NEXT AFTER MATCH SKIP FOR {length} WITHIN 10 DAYS;"
    )
    found = check_text(text)
    errors = [d.code for d in found.diagnostics]
    said = [] if found.program is None else [query.after for query in found.program.queries]
    assert [*errors, *said] == [SkipFor(expected) if isinstance(expected, int) else expected]


@pytest.mark.parametrize(
    ("written", "cured"),
    [
        ("SELECT NEXT AFTER MATCH SKIP FOR 0 HOURS", "SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT"),
        ("SELECT NEXT AFTER MATCH SKIP FOR 1e12 WEEKS", "SELECT NEXT AFTER MATCH SKIP FOR 100000 DAYS"),
        ("AFTER MATCH SKIP FOR 1 HOUR", "SELECT NEXT AFTER MATCH SKIP FOR 1 HOUR"),
    ],
)
def test_the_cure_of_a_wrong_skip_for_works(written: str, cured: str) -> None:
    (wrong,) = check_text(query_text("SEQ(A, B)", returns="MATCH *", clauses=written, within="9 s")).diagnostics
    said = cured.removeprefix("SELECT NEXT ") if "NEXT" in written else "SELECT NEXT"
    assert said.removeprefix("AFTER MATCH ") in (wrong.hint or "")
    assert codes(query_text("SEQ(A, B)", returns="MATCH *", clauses=cured, within="9 s")) == []


def test_an_unknown_attribute_of_group_by_is_reported_once() -> None:
    assert codes(query_text("SEQ(A, B)", returns="z, COUNT(*) AS n", clauses="GROUP BY z HAVING z > 1")) == ["E0204"]
