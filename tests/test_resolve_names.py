"""Names: declarations, imports, derived events, named patterns with parameters."""

import pytest

from tests.resolving import STREAM, checked, codes, query_text, resolved, show_pattern, show_variables

OTHER = "STREAM t (at TIMESTAMP, x INT) EVENT TIME at;"
RISE = "PATTERN rise(T, c) AS T+ up WHERE up.c > PREV(up).c;"

WRONG = [
    ("an unknown type", "SEQ(A, E)", "", ["E0201"]),
    ("a type in another case", "SEQ(A, b)", "", ["E0201"]),
    ("a type derived from an unknown one", "A", "EVENT Big AS E WHERE x > 1;", ["E0201"]),
    ("its use is not reported again", "SEQ(A, Big b)", "EVENT Big AS E WHERE x > 1;", ["E0201"]),
    ("events derived in a circle", "SEQ(F, G)", "EVENT F AS G WHERE x > 1; EVENT G AS F WHERE x > 1;", ["E0211"]),
    ("an event derived from itself", "A", "EVENT F AS F WHERE x > 1;", ["E0211"]),
    ("a derived event's condition over another event", "A", "EVENT F AS A WHERE B.x > 1;", ["E0222"]),
    ("a derived event's condition with an unknown column", "SEQ(F, A)", "EVENT F AS A WHERE z > 1;", ["E0204"]),
    ("a derived event's condition that is a number", "F", "EVENT F AS A WHERE x;", ["E0304"]),
    ("a derived event twice", "F", "EVENT F AS A WHERE x > 1; EVENT F AS B WHERE x > 1;", ["E0205"]),
    ("a derived event named like a type", "A", "EVENT B AS A WHERE x > 1;", ["E0205"]),
    ("a derived event that differs from a type in case", "A", "EVENT b AS A WHERE x > 1;", ["E0206"]),
    ("a pattern twice", "t", "PATTERN t AS A; PATTERN t AS B;", ["E0205"]),
    ("patterns that differ in case", "t", "PATTERN t AS A; PATTERN T AS B;", ["E0206"]),
    ("a pattern named like a type", "C", "PATTERN B AS A;", ["E0218"]),
    ("a pattern named like a derived event", "C", "EVENT F AS A WHERE x > 1; PATTERN F AS A;", ["E0218"]),
    ("a pattern that differs from a type in case", "C", "PATTERN b AS A;", ["E0206"]),
    ("patterns in a circle", "t", "PATTERN t AS SEQ(A, u); PATTERN u AS OR(B, t);", ["E0212"]),
    ("a circle that nobody uses", "A", "PATTERN t AS SEQ(A, t);", ["E0212"]),
    ("a circle closed by an argument", "f(f)", "PATTERN f(P) AS SEQ(A, P(P));", ["E0212"]),
    ("an unknown type in a named pattern", "SEQ(t v, t w)", "PATTERN t AS SEQ(A, E);", ["E0201"]),
    ("an unknown type in an unused pattern", "A", "PATTERN t AS SEQ(A, E);", ["E0201"]),
    ("an unknown variable in an unused pattern", "A", "PATTERN t AS SEQ(A a, B) WHERE z.x > 1;", ["E0203"]),
    ("an unknown column in an unused pattern", "A", "PATTERN t AS SEQ(A a, B) WHERE a.z > 1;", ["E0204"]),
    ("an unknown variable in an unused one with parameters", "A", "PATTERN t(T) AS T a WHERE z.x > 1;", ["E0203"]),
    ("an argument for a type", "SEQ(A(x), B)", "", ["E0202"]),
    ("an unknown pattern with arguments", "SEQ(rize(A, x), B)", RISE, ["E0202"]),
    ("too few arguments", "rise(A)", RISE, ["E0214"]),
    ("too many arguments", "rise(A, x, y)", RISE, ["E0214"]),
    ("no arguments", "rise", RISE, ["E0214"]),
    ("arguments for a pattern without parameters", "t(A)", "PATTERN t AS A;", ["E0214"]),
    ("empty parentheses for a pattern without parameters", "t()", "PATTERN t AS A;", ["E0214"]),
    ("a number as a type", "rise(1, x)", RISE, ["E0215"]),
    ("a number as a column", "rise(A, 1)", RISE, ["E0215"]),
    ("an unknown type as an argument", "rise(E, x)", RISE, ["E0201"]),
    ("an unknown column as an argument", "rise(A, z)", RISE, ["E0204"]),
    ("a parameter twice", "t(A, A)", "PATTERN t(T, T) AS T;", ["E0205"]),
    ("a parameter that is not used", "t(A, x)", "PATTERN t(T, c) AS T;", ["E0216"]),
    ("an alias like a parameter", "t(A, x)", "PATTERN t(T, c) AS T c WHERE c.x > 1;", ["E0219"]),
    ("a query as an operand", "SEQ(q, A)", "", ["E0217"]),
    ("an alias that is a listed type", "SEQ(A B, C)", "", ["E0213"]),
    ("an alias that is a pattern in use", "SEQ(A t, t)", "PATTERN t AS SEQ(B, C);", ["E0213"]),
    ("an alias that is a pattern not in use", "SEQ(A t, B)", "PATTERN t AS SEQ(B, C);", ["E0213"]),
    ("an alias of a pattern that is another, not in use", "SEQ(A, t u)", "PATTERN t AS SEQ(B, C); PATTERN u AS B;", ["E0213"]),
    ("an alias of a pattern and of an event", "SEQ(A w, t w)", "PATTERN t AS SEQ(B, C);", ["E0213"]),
    ("an alias of a pattern that is a type", "SEQ(A, t A)", "PATTERN t AS SEQ(B, C);", ["E0213"]),
    ("`[ ]` in a named pattern", "t", "PATTERN t AS SEQ(B, C) WHERE [k];", ["E0413"]),
    ("two queries of one name", "A", "QUERY q RETURN MATCH * PATTERN A WITHIN 1 s;", ["E0205"]),
    ("two queries that differ in case", "A", "QUERY Q RETURN MATCH * PATTERN A WITHIN 1 s;", ["E0206"]),
]  # fmt: skip

TWO_STREAMS = """
STREAM s (at TIMESTAMP, kind STRING, x INT) EVENT TIME at EVENT TYPE kind IN ('A', 'B');
STREAM t (at BIGINT, kind STRING, x BOOLEAN, y INT, z INT) EVENT TIME at EVENT TYPE kind IN ('A', 'C');
EVENT Huge AS Big WHERE y > 3;
PATTERN far AS SEQ(B, Big);
"""
DERIVED_OVER_TWO = [
    ("right for the other stream", "y > 1", "Big", ["E0204"]),
    ("of events of any type", "Big.y > 1", "OfAny", ["E0204"]),
    ("of a type that is wrong for this stream", "x = 1", "Huge", ["E0204"]),
    ("under NOT", "y > 1", "SEQ(B, NOT Big, A)", ["E0204"]),
    ("in a named pattern", "y > 1", "far", ["E0204"]),
    ("another type of column", "x", "Big", ["E0304"]),
    ("two conditions", "y > 1 AND z > 1", "Big", ["E0204", "E0204"]),
    ("right for both", "x IS NULL", "Big", []),
    ("wrong for a stream that no query of it has", "y > 1", "B", []),
]


@pytest.mark.parametrize(
    ("title", "where", "pattern", "expected"), DERIVED_OVER_TWO, ids=[t for t, *_ in DERIVED_OVER_TWO]
)
def test_a_derived_event_is_right_for_the_stream_of_each_query(
    title: str, where: str, pattern: str, expected: list[str]
) -> None:
    declared = f"{TWO_STREAMS} EVENT Big AS A WHERE {where}; EVENT OfAny AS ANY WHERE z > 1;"
    found = checked(f"{declared} QUERY q FROM s RETURN MATCH * PATTERN {pattern} WITHIN 1 s;")
    assert sorted(d.code for d in found.diagnostics if d.severity == "error") == expected, title
    assert all("the stream `s`" in d.others[-1].label for d in found.diagnostics if d.severity == "error")
    assert expected or (found.program is not None and len(found.program.queries) == 1)


RIGHT = [
    ("a derived event on a derived event", "SEQ(G, A)", "EVENT F AS A WHERE x > 1; EVENT G AS F WHERE y > 1;"),
    ("a derived event of any type", "SEQ(F, A)", "EVENT F AS ANY WHERE x > 1;"),
    ("a derived event's own name, and its base's, before a column", "F", "EVENT F AS A WHERE A.x > F.y;"),
    ("an alias like its own type", "SEQ(A A, B)", ""),
    ("an alias like its own pattern", "SEQ(A, t t)", "PATTERN t AS SEQ(B, C);"),
    ("a pattern as an argument", "twice(t)", "PATTERN twice(P) AS SEQ(P v, P w); PATTERN t AS SEQ(B, C);"),
    ("a value as an argument", "t(A, -1)", "PATTERN t(T, low) AS T WHERE T.x > low;"),
    ("a parameter that is a shared column", "t(k)", "PATTERN t(c) AS A WHERE c > 1;"),
]


@pytest.mark.parametrize(("title", "pattern", "before", "expected"), WRONG, ids=[t for t, *_ in WRONG])
def test_a_wrong_name_has_its_code(title: str, pattern: str, before: str, expected: list[str]) -> None:
    assert (
        codes(query_text(pattern, returns="k, TRY_COUNT(*) AS n", clauses="GROUP BY k", before=before)) == expected
    ), title


@pytest.mark.parametrize(("title", "pattern", "before"), RIGHT, ids=[t for t, *_ in RIGHT])
def test_right_names_have_none(title: str, pattern: str, before: str) -> None:
    assert codes(query_text(pattern, returns="k, TRY_COUNT(*) AS n", clauses="GROUP BY k", before=before)) == [], title


def test_types_without_a_list_are_any_names_that_do_not_differ_only_in_case() -> None:
    stream = "STREAM s (at TIMESTAMP, kind STRING, x INT) EVENT TIME at EVENT TYPE kind;"
    query = "QUERY {} RETURN SUM({}.x) AS n PATTERN SEQ({}, Z) WITHIN 2 s SLIDE 1 s;"
    assert codes(stream + query.format("q", "A", "A") + query.format("r", "A", "A")) == []
    assert codes(stream + query.format("q", "A", "A") + query.format("r", "a", "a")) == ["E0206"]


def test_a_derived_event_tests_all_that_it_builds_on() -> None:
    query = resolved("SEQ(G, D)", before="EVENT F AS A WHERE x > 1 AND y > 2; EVENT G AS F WHERE k > 3;")
    assert show_variables(query) == "G:A[(x > 1) (y > 2) (k > 3)] D:D"


def test_variables_of_a_named_pattern_come_as_if_written_in_place_or_with_its_alias_before() -> None:
    trip = "PATTERN trip AS SEQ(A a, B);"
    assert show_variables(resolved("SEQ(trip, C)", before=trip)) == "a:A B:B C:C"
    assert show_variables(resolved("SEQ(trip v, trip w)", before=trip)) == "v.a:A v.B:B w.a:A w.B:B"
    assert show_variables(resolved("SEQ(trip, trip)", before=trip)) == "a*:A B*:B"
    deep = trip + "PATTERN two AS SEQ(trip t, C) WHERE t.a.x > C.x;"
    assert (
        show_pattern(resolved("SEQ(two w, D)", before=deep).pattern)
        == "SEQ(two:SEQ(SEQ(w.t.a, w.t.B), w.C)[(w.t.a.x > w.C.x)], D)"
    )


def test_parameters_stand_for_types_columns_and_values() -> None:
    query = resolved("rise(A, x) r", before=RISE)
    assert show_pattern(query.pattern) == "rise:r.up{1,}[(r.up.x > PREV(r.up).x)]"
    above = "PATTERN above(T, c, low) AS SEQ(T, B b) WHERE T.c > low AND b.c > T.c;"
    assert show_pattern(resolved("above(A, y, 3)", before=above).pattern) == "above:SEQ(A[(y > 3)], b)[(b.y > A.y)]"


def test_types_say_which_streams_a_query_is_about() -> None:
    query = "QUERY q RETURN TRY_COUNT(*) AS n PATTERN {} {} WITHIN 2 s SLIDE 1 s;"

    def found(pattern: str, clause: str = "") -> list[str]:
        return codes(STREAM + OTHER + query.format(pattern, clause))

    assert found("SEQ(A, B)") == found("SEQ(t a, t b)") == found("SEQ(A, t)") == found("SEQ(s.A, t.t)") == []
    assert found("SEQ(A, B)", "FROM u") == found("SEQ(u.A, B)") == ["E0207"]
    assert found("SEQ(A, t)", "FROM s") == found("SEQ(A, E)") == ["E0201"]
    assert found("SEQ(A, t)", "FROM t, s") == found("SEQ(A, ANY e)", "FROM s, t") == []
    assert found("SEQ(ANY e, ANY f)") == ["E0208"]


def test_a_stream_is_no_type_where_its_events_have_types() -> None:
    query = "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(s a, t b) WITHIN 2 s SLIDE 1 s;"
    first, *_ = checked(STREAM + OTHER + query).diagnostics
    assert (first.code, first.title) == ("E0201", "the stream `s` is no event type")
    assert first.hint.startswith("write one of them, or some of them in `OR(…)`: `s.A`, `s.B`")
    assert codes(STREAM + OTHER + query.replace("s a", "s.A a")) == []


def test_a_derived_event_belongs_to_the_streams_that_have_its_base() -> None:
    derived = "EVENT Big AS t WHERE x > 1; EVENT F AS A WHERE k > 1;"
    query = "QUERY q RETURN MAX(b.x) AS n PATTERN SEQ({} a, {} b) FROM {} WITHIN 2 s SLIDE 1 s;"
    assert codes(STREAM + OTHER + derived + query.format("Big", "t", "t")) == []
    assert codes(STREAM + OTHER + derived + query.format("F", "A", "s")) == []
    assert codes(STREAM + OTHER + derived + query.format("F", "t", "t")) == ["E0201"]


# ---- imports ---------------------------------------------------------------------------------------------------------


def test_a_file_is_read_relative_to_the_importing_one_and_once() -> None:
    files = {"lib/a.cep": "IMPORT './b.cep'; PATTERN t AS SEQ(A, u);", "lib/b.cep": "PATTERN u AS SEQ(B, C);"}
    text = query_text("t", before="IMPORT './lib/a.cep'; IMPORT 'lib/../lib/b.cep';")
    found = checked(text, files)
    assert [d.code for d in found.diagnostics] == []
    assert [s.name for s in found.sources] == ["lib/a.cep", "lib/b.cep"]


def test_an_alias_in_a_module_may_be_a_pattern_of_who_imports_it() -> None:
    files = {"a.cep": "PATTERN t AS SEQ(A u, B);"}
    assert checked(query_text("t", before="IMPORT './a.cep'; PATTERN u AS SEQ(B, C);"), files).diagnostics == ()


def test_what_is_wrong_in_an_imported_file_is_reported_there() -> None:
    found = checked("IMPORT './a.cep';" + STREAM, {"a.cep": "PATTERN t AS SEQ(A, E); PATTERN u AS SEQ(;"})
    assert [(d.code, d.span.source) for d in found.diagnostics] == [("E0101", "a.cep"), ("E0201", "a.cep")]


@pytest.mark.parametrize(
    ("text", "files", "expected"),
    [
        ("IMPORT './none.cep';", {}, ["E0209"]),
        ("IMPORT std.none;", {}, ["E0209"]),
        ("IMPORT none;", {}, ["E0209"]),
        ("IMPORT './a.cep'; PATTERN t AS A;", {"a.cep": "PATTERN t AS B;"}, ["E0205"]),
        ("IMPORT './a.cep';", {"a.cep": "IMPORT './main.cep';"}, ["E0210"]),
        ("IMPORT './main.cep';", {}, ["E0210"]),
        ("IMPORT './a.cep'; IMPORT './a.cep';", {"a.cep": "PATTERN t AS B;"}, []),
        ("IMPORT std.time;", {}, []),
    ],
)
def test_imports(text: str, files: dict[str, str], expected: list[str]) -> None:
    assert codes(text, files) == expected


# ---- nothing is reported twice ---------------------------------------------------------------------------------------


def test_names_declared_in_statements_with_syntax_errors_are_not_unknown() -> None:
    broken = "PATTERN t AS SEQ(A,; EVENT `Far A` AS A WHERE; "
    found = codes(query_text("SEQ(t w, `Far A`, A)", clauses="WHERE w.a.x > 1 AND z.x > 2", before=broken))
    assert found == []
    assert codes(broken + "STREAM s (at TIMESTAMP; QUERY q RETURN SUM(A.x) AS n PATTERN A WITHIN 1 s SLIDE 1 s;") == []


@pytest.mark.unhurried
def test_a_doubling_pattern_is_refused_in_no_time() -> None:
    doubling = "PATTERN p0 AS A;" + "".join(f"PATTERN p{i} AS SEQ(p{i - 1}, p{i - 1});" for i in range(1, 60))
    assert codes(query_text("p59", before=doubling)) == ["E0417"]
    deep = "PATTERN p0 AS A;" + "".join(f"PATTERN p{i} AS SEQ(p{i - 1}, A);" for i in range(1, 400))
    assert codes(query_text("p399", before=deep)) == ["E0417"]
