"""`cepc explain FILE`: what a program means and what its queries share."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING

import pytest

from cepc.api import check_text
from cepc.explaining import as_dot, as_html, as_json, as_text
from cepc.explaining.explanation import Explanation, explain
from cepc.shared_plans import Options, plan_shared

if TYPE_CHECKING:
    from cepc.model import CheckedProgram

STREAM = "STREAM s (kind STRING, ts TIMESTAMP, x INT) EVENT TIME ts EVENT TYPE kind;"
TWO = (
    "QUERY q RETURN COUNT(*) PATTERN SEQ(A, B+, C) WITHIN 10 min SLIDE 5 min;"
    "QUERY r RETURN COUNT(*) PATTERN SEQ(A, B+, D) WITHIN 10 min SLIDE 5 min;"
)


def explained(queries: str, options: Options | None = None) -> tuple[CheckedProgram, Explanation]:
    program = check_text(f"{STREAM}\n{queries}", "t.cep").program
    assert program is not None
    (found,) = explain(program, plan_shared(program, options or Options()))
    return program, found


def text(queries: str, options: Options | None = None) -> str:
    program, found = explained(queries, options)
    return as_text.to_text(program, [found])


SHOWN = [
    ("kept once        q, r: start, A, B", "what is kept once"),
    ("automaton        start → A", "the automaton"),
    ("                 B → B, C", "a state's ways on"),
    ("                 matches end in C", "where matches end"),
    (": 0.62 of that", "what sharing saves"),
]


@pytest.mark.parametrize("line", [line for line, _ in SHOWN], ids=[name for _, name in SHOWN])
def test_the_text_says(line: str) -> None:
    assert line in text(TWO)


@pytest.mark.parametrize("condition", ["x > 60", "x > 2147483648", "length(kind) > 60"])
def test_conditions_have_numbers_as_people_write_them(condition: str) -> None:
    stream = STREAM.replace("x INT", "x BIGINT")
    program = check_text(
        f"{stream} EVENT E AS A WHERE {condition}; QUERY q RETURN MATCH * PATTERN E WITHIN 1 s;"
    ).program
    assert program is not None
    assert condition in as_text.to_text(program, explain(program, plan_shared(program, Options())))


def test_without_sharing_it_says_so() -> None:
    shown = text(TWO, Options(0))
    assert "nothing          every query is evaluated by itself" in shown
    assert "kept once" not in shown


LISTED = [
    ("SEQ(A, B, C) WHERE A.x < C.x", "A.x < C.x is between no neighbours"),
    ("SEQ(A, NOT B, C) WHERE A.x < B.x", "A.x < B.x is about what NOT forbids"),
    ("SEQ(A, B) WHERE A.x < B.x SELECT NEXT", "A.x < B.x decides which events SELECT NEXT may skip"),
    (
        "SEQ(A, NOT B WITHIN 1 min)",
        "a NOT cannot be watched while counting: NOT … WITHIN ends its gap at a time of its own",
    ),
]


@pytest.mark.parametrize(("clauses", "reason"), LISTED, ids=[reason for _, reason in LISTED])
def test_the_text_says_why_matches_are_listed(clauses: str, reason: str) -> None:
    shown = text(f"QUERY q RETURN COUNT(*) PATTERN {clauses} WITHIN 9 min;")
    assert f"strategy         its matches are listed one by one, because {reason}\n" in shown


def test_that_a_match_query_lists_its_matches_needs_no_reason() -> None:
    shown = text("QUERY q RETURN MATCH * PATTERN SEQ(A, B+) WITHIN 9 min;")
    assert "strategy         its matches are listed one by one\n" in shown


PLAIN = "QUERY q RETURN COUNT(*) PATTERN A WITHIN 9 min;"
SHARING = "".join(
    f"QUERY {q} RETURN MATCH * PATTERN SEQ(A, B, {t}) WITHIN 9 min;" for q, t in (("qC", "C"), ("rD", "D"))
)
STRATEGIES = [
    (TWO, 0, "count", "its matches are counted, and none is made: its conditions are on single events", None),
    (
        "QUERY q RETURN COUNT(*) PATTERN SEQ(A, B) WHERE A.x < B.x WITHIN 9 min;",
        0, "count neighbours", "its matches are counted, and none is made: A.x < B.x is between neighbours", None,
    ),
    ("QUERY q RETURN MATCH * PATTERN SEQ(A, B) WITHIN 9 min;", 0, "join", "its matches are joined, part by part", None),
    (SHARING, 1, "join", "its matches are joined, with qC, from those of parts of their patterns", None),
    (
        PLAIN, 0, "count", "its matches are counted, and none is made: its conditions are on single events",
        "Spark's own functions aggregate its events: a match is a single event, and the results are the same to the last bit",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("queries", "number", "way", "said", "batch"), STRATEGIES)
def test_the_strategy_of_a_query_is_said_with_its_reason(
    queries: str, number: int, way: str, said: str, batch: str | None
) -> None:
    program, found = explained(queries)
    data = json.loads(as_json.to_json([found]))["streams"][0]["executions"][number]
    assert data["strategy"]["way"] == way
    assert data["strategy"]["reason"]["kind"] == found.executions[number].strategy.reason.kind
    for shown in (as_text.to_text(program, [found]), html.unescape(as_html.to_html(program, [found], {}))):
        assert said in shown
        assert ("in Spark's batch" in shown) == (batch is not None)
        assert batch is None or batch in shown


OBSTACLES = [
    ("WITHIN 9 min SLIDE 3 min", "r would share all with q if its window were 10 minutes sliding by 5 minutes"),
    (
        "WITHIN 10 min SLIDE 5 min OFFSET 1 min",
        "r would share all with q if its window were 10 minutes sliding by 5 minutes",
    ),
    ("WHERE [x] WITHIN 10 min SLIDE 5 min", "r would share all with q if its events agreed on nothing"),
    ("WHERE B.x > 1 WITHIN 10 min SLIDE 5 min", "r would share all with q if B had the same conditions"),
    (
        "WHERE [x] AND A.x > 1 AND C.x < 0 WITHIN 5 min",
        (
            "r would share all with q if its window were 10 minutes sliding by 5 minutes and its events agreed on nothing"
            " and A, C had the same conditions"
        ),
    ),
    ("SELECT NEXT WITHIN 10 min SLIDE 5 min", "r would share all with q if its matches were chosen by SELECT ANY"),
    (
        "WHERE A.x < C.x WITHIN 10 min SLIDE 5 min",
        "r would share all with q if neither had its matches listed one by one",
    ),
]


@pytest.mark.parametrize(("clauses", "sentence"), OBSTACLES)
def test_what_prevented_more_sharing_is_said(clauses: str, sentence: str) -> None:
    queries = TWO.split(";")[0] + f"; QUERY r RETURN COUNT(*) PATTERN SEQ(A, B+, C) {clauses};"
    assert explained(queries)[1].obstacles == (sentence,)


def test_queries_that_share_all_lack_nothing() -> None:
    for offset in ("", " OFFSET 5 min", " OFFSET -1 h"):  # whole slides
        query = f"QUERY r RETURN SUM(A.x) AS sum PATTERN SEQ(A, B+, C) WITHIN 10 min SLIDE 5 min{offset};"
        assert explained(f"{TWO.split(';')[0]}; {query}")[1].obstacles == ()


def test_labels_are_said_and_change_nothing_that_is_shared() -> None:
    queries = [
        f"QUERY q{i}{{}} RETURN SUM(A.x) AS s{{}} PATTERN SEQ(A, B+, C) WITHIN 10 min SLIDE 5 min;" for i in (1, 2)
    ]
    _, plain = explained("".join(query.format("", "") for query in queries))
    labels = (" WITH (severity = 'high', owner = 'all of us')", ", LABEL(owner) AS o"), (" WITH (owner = 'them')", "")
    program, found = explained("".join(query.format(*own) for query, own in zip(queries, labels, strict=True)))
    assert "labels           severity = 'high'\n                   owner = 'all of us'" in as_text.to_text(
        program, [found]
    )
    assert (found.parts, found.together) == (plain.parts, plain.together)
    assert plain.parts
    told = json.loads(as_json.to_json([found]))["streams"][0]["executions"]
    assert [one["labels"] for one in told] == [{"severity": "high", "owner": "all of us"}, {"owner": "them"}]


def test_numbers_of_matches_are_said_with_what_a_stream_remembers() -> None:
    query = "QUERY q RETURN MATCH MATCH_NUMBER() AS n PATTERN A WHERE [x] SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 1 h;"
    program, found = explained(query)
    text = as_text.to_text(program, [found])
    assert "returns          n BIGINT: MATCH_NUMBER()\n" in text
    assert "each partition that had a match is remembered for good, in 12 bytes at most" in text


def test_sessions_are_said_and_what_a_stream_keeps_of_them() -> None:
    program, found = explained("QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B) GROUP BY x WITHIN SESSION 90 s;")
    text = as_text.to_text(program, [found])
    assert "window           the sessions of each group, which end when no event has come for 90 seconds\n" in text
    assert "is kept until its session is over, 90 seconds after the last one of it\n" in text


def test_the_offset_of_windows_is_said() -> None:
    program, found = explained("QUERY q RETURN COUNT(*) PATTERN SEQ(A, B+, C) WITHIN 10 min SLIDE 5 min OFFSET -1 min;")
    text = as_text.to_text(program, [found])
    assert "window           10 minutes long, a new one every 5 minutes, offset by 4 minutes" in text


def test_as_json_it_is_data() -> None:
    (stream,) = json.loads(as_json.to_json([explained(TWO)[1]]))["streams"]
    assert stream["parts"][0] == {
        "how": "kept once", "queries": ["q", "r"], "states": ["start", "A", "B"], "members": [["start", "A", "B"]] * 2,
    }  # fmt: skip
    assert stream["together"]["operations"] < stream["alone"]["operations"]
    assert [e["query"] for e in stream["executions"]] == ["q", "r"]


KEPT = [
    ("RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 10 min SLIDE 5 min", [
        "an event takes 36 bytes at most, and is kept 10 minutes",
        "2 or more of them in one pane of 5 minutes become 32 bytes, kept 10 minutes",
    ]),
    ("RETURN a.x AS x PATTERN SEQ(A a, B) WITHIN 10 min", ["an event takes 40 bytes at most, and is kept 10 minutes"]),
    ("RETURN COUNT(*) PATTERN SEQ(A, NOT C, B) WITHIN 10 min", ["an event takes 36 bytes at most, and is kept 10 minutes"]),
    ("RETURN a.x AS x PATTERN SEQ(A a, NOT B WITHIN 10 min) WITHIN 1 h", [
        "an event takes 40 bytes at most, and is kept less than 70 minutes",
    ]),
    ("RETURN a.x AS x PATTERN SEQ(A a, B) SELECT NEXT AFTER MATCH SKIP FOR 2 h WITHIN 10 min", [
        "an event takes 41 bytes at most, and is kept 10 minutes, or until it is known that no match has it",
        "after a match its partition is remembered for 2 hours, in 8 bytes at most",
    ]),
    ("RETURN a.x AS x PATTERN SEQ(A a, B) SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT WITHIN 10 min", [
        "an event takes 41 bytes at most, and is kept 10 minutes, or until it is known that no match has it",
    ]),
    ("RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN UNBOUNDED", ["cannot be one, for its window has no end"]),
    ("RETURN COUNT(*) PATTERN A WHERE LEAD(A.x) > 1 WITHIN 10 min", ["cannot be one, for it has LEAD"]),
    ("RETURN a.x AS x PATTERN SEQ(A a, B b) WHERE b.x > LAG(b.x, 3) WITHIN 10 min", [
        "an event takes 44 bytes at most, and is kept 10 minutes",
        "what each partition had last is remembered for good, in 12 bytes at most",
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("query", "lines"), KEPT)
def test_what_a_query_keeps_as_a_stream_is_said_before_it_runs(query: str, lines: list[str]) -> None:
    program, found = explained(f"QUERY q {query};")
    shown = as_text.to_text(program, [found])
    page = as_html.to_html(program, [found], {"t.cep": ""}, "")
    assert f"as a stream      {lines[0]}" in shown
    (data,) = json.loads(as_json.to_json([found]))["streams"][0]["executions"]
    assert data["keeps"] == lines
    assert all(line in shown and line in page for line in lines)
    assert (data["state"] is None) == ("UNBOUNDED" in query or "LEAD" in query)


def test_as_a_graph_what_is_kept_once_is_one_node() -> None:
    dot = as_dot.to_dot([explained(TWO)[1]])
    assert dot.count('[label="B", fillcolor=') == 1
    assert dot.count('"s/q/B" -> "s/q/B"') == 1
    assert '"s/q/B" -> "s/r/D";' in dot
    assert dot.startswith("digraph")
    assert dot.count("{") == dot.count("}")


def test_names_in_a_graph_are_quoted() -> None:
    _, found = explained('QUERY `a "b" \\` RETURN COUNT(*) PATTERN A WITHIN 1 min;')
    assert '[label="a \\"b\\" \\\\\\nWITHIN 1 minute", shape=oval]' in as_dot.to_dot([found])


def test_the_same_program_is_explained_the_same() -> None:
    options = Options(seconds=None)
    assert text(TWO, options) == text(TWO, options)
