"""Patterns over several streams: rows are the oracle's, in this process on any number of threads and in little memory."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from click.testing import CliRunner

from cepc.cli import cepc
from cepc.errors import RunError
from cepc.running.given import read_given
from cepc.running.local import run
from cepc_runtime.parts.resources import ONE_THREAD, Resources
from cepc_runtime.sql.types import to_arrow
from tests import oracle
from tests.equivalence import ABOUT, Refused, same
from tests.in_process import PARTS, hold_to, rows_of
from tests.programs import beside_itself, between_neighbours, cases
from tests.properties import ENOUGH, NOTHING, Seen, hold
from tests.several_streams import Compiled, answered, compile_text, tables, two_streams
from tests.test_beside import beside

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random
    from typing import Any

    from cepc import model
    from cepc.reading.read import Read
    from cepc_runtime.plan.stream import StreamPlan
    from tests.programs import Case, Make

MIXED: Counter[str] = Counter()
"""How many queries were over one stream, and over both, and how many rows they had."""


def compare(case: Case, _chance: Random, resources: Resources = ONE_THREAD) -> Seen:
    compiled = compile_text(case.text)
    expected = answered(case, compiled)
    found = rows_of(compiled, tables(case, compiled), resources)
    if expected is None:
        return NOTHING

    def compared(query: str, rows: int) -> None:
        (stream,) = (one.stream for one in compiled.program.queries if one.name == query)
        over = "both" if compiled.program.stream(stream).members else "one"
        MIXED[f"queries over {over}"] += 1
        MIXED[f"rows of queries over {over}"] += rows

    hold_to(expected, found, compiled, compared)
    return Seen.of(case, expected)


TWO = """STREAM two (at BIGINT, k INT, x INT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'C');
STREAM one (then BIGINT, k BIGINT, x TINYINT, y INT) EVENT TIME then UNIT s;
"""


def given(rows: dict[str, list[dict[str, Any]]], text: str) -> tuple[Compiled, dict[str, pa.Table]]:
    compiled = compile_text(TWO + text)
    return compiled, {
        stream.name: pa.Table.from_pylist(
            rows[stream.name], schema=pa.schema([(name, to_arrow(type_)) for name, type_ in stream.input.columns])
        )
        for stream in compiled.program.streams
    }


ROWS: dict[str, list[dict[str, Any]]] = {
    "two": [
        {"at": 1, "k": 7, "x": 1, "kind": "A"},
        {"at": 3, "k": 7, "x": 100, "kind": "A"},
        {"at": 3, "k": 7, "x": 3, "kind": "C"},
        {"at": None, "k": 7, "x": 3, "kind": "C"},
        {"at": 9, "k": 7, "x": 3, "kind": None},
    ],
    "one": [
        {"then": 3, "k": 7, "x": 100, "y": 5},
        {"then": 5, "k": 8, "x": 1, "y": 6},
        {"then": None, "k": 8, "x": 1, "y": 6},
    ],
}


def test_each_stream_is_read_once_whatever_queries_want_it_and_what_is_dropped_is_counted_once() -> None:
    text = """QUERY alone RETURN COUNT(*) AS n PATTERN C WITHIN 10 s SLIDE 5 s;
    QUERY both RETURN MATCH A.x AS a, one.y PATTERN SEQ(A, one) WHERE [k] WITHIN 10 s;
    QUERY typed RETURN MATCH * PATTERN SEQ(A, NOT C, one) WITHIN 10 s;"""
    compiled, tables_of = given(ROWS, text)
    asked: list[tuple[str, set[str]]] = []

    def load(stream: model.Stream, plan: StreamPlan) -> Read:
        asked.append((stream.name, set(plan.raw_types or ())))
        return read_given(tables_of[stream.name], plan, stream.input)

    report = run(compiled.program, load, {})
    assert asked == [("two", {"A", "C"}), ("one", set())]
    assert (report.read, report.without_time, report.without_type) == (8, 2, 1)
    assert report.tables["both"].select(["a", "y"]).to_pylist() == [{"a": 1, "y": 5}]


def test_a_query_beside_one_over_both_may_ask_for_the_event_before() -> None:
    text = """QUERY both RETURN MATCH A.x AS a, one.y PATTERN SEQ(A, one) WHERE [k] WITHIN 10 s;
    QUERY alone RETURN MATCH C.x AS c PATTERN C WHERE [k] AND LAG(C.x) = 1 WITHIN 10 s;"""
    compiled, tables_of = given(ROWS, text)
    report = run(compiled.program, lambda stream, plan: read_given(tables_of[stream.name], plan, stream.input), {})
    assert report.tables["alone"].select(["c"]).to_pylist() == [{"c": 3}]


BESIDE = [
    ("of another stream", "A a", "LEAD(a.x) = 100", [3]),
    ("of another stream, before", "one o", "LAG(o.x) = 100 AND LAG(o.x, 2) = 3", [3]),
    ("ties have the order of the streams", "one o", "o.then = 3 AND LEAD(o.x) = 1", [3]),
    ("in the type that all have in common", "one o", "LAG(o.x) + CAST(28 AS TINYINT) = 128", [3, 5]),
    ("null where the stream has no such column", "one o", "LAG(o.y) IS NULL", [3]),
    ("of events that agree", "one o", "[k] AND LAG(o.x) IS NULL", [5]),
    ("of the query's streams alone", "C c", "LEAD(c.x) = 100 AND LEAD(c.x, 2) IS NULL", [3]),
]


@pytest.mark.parametrize(("title", "pattern", "where", "times"), BESIDE, ids=[title for title, *_ in BESIDE])
def test_the_event_beside_one_is_of_any_of_the_streams(title: str, pattern: str, where: str, times: list[int]) -> None:
    variable = pattern[-1]
    streams = "" if variable == "c" else " FROM two, one"
    time = "o.then" if variable == "o" else f"{variable}.at"
    text = f"QUERY q RETURN MATCH {time} AS t PATTERN {pattern}{streams} WHERE {where} WITHIN 1 s;"
    assert sorted(row["t"] for row in run_text(TWO + text, ROWS)["q"]) == times, title


def test_a_column_that_stands_apart_is_not_asked_of_the_event_beside_one() -> None:
    text = USERS + "QUERY q RETURN MATCH u.x AS x PATTERN SEQ(users u, orders o) WHERE LAG(o.id) = 'a' WITHIN 1 HOUR;"
    with pytest.raises(Refused, match="E0335 LAG over several streams"):
        compile_text(text)
    computed = text.replace("id STRING, x", "id STRING, number AS id, x").replace("o.id", "o.number")
    assert compile_text(computed).program.queries


CANONICAL = [
    ("the stream that is declared first", "AND(A a, one o)", "[(3, 'two'), (3, 'one')]"),
    ("before the values of columns", "AND(C c, one o)", "[(3, 'two'), (3, 'one')]"),
]


@pytest.mark.parametrize(("title", "pattern", "expected"), CANONICAL, ids=[title for title, *_ in CANONICAL])
def test_events_that_tie_stand_in_the_order_of_the_streams(title: str, pattern: str, expected: str) -> None:
    compiled, tables_of = given(ROWS, f"QUERY q RETURN MATCH * PATTERN {pattern} WITHIN 1 s;")
    report = run(compiled.program, lambda stream, plan: read_given(tables_of[stream.name], plan, stream.input), {})
    found = [[(e["at"] or e["then"], e["stream"]) for e in row["events"]] for row in report.tables["q"].to_pylist()]
    assert [str(one) for one in found] == [expected], title


VALUES = [
    ("its own type", "one.x + 27", 127, 6),
    ("the type of its own stream, which is too small", "one.x + CAST(28 AS TINYINT)", None, 0),
    ("the wider type of what all share", "k", 7, 6),
    ("an event of any stream", "e.x + 28", 128, 6),
    ("null where the stream has no such column", "e.kind", None, 6),
]


@pytest.mark.parametrize(("title", "expression", "value", "rows"), VALUES, ids=[title for title, *_ in VALUES])
def test_a_column_is_that_of_the_stream_of_its_variable(title: str, expression: str, value: object, rows: int) -> None:
    pattern = "SEQ(A, ANY e)" if expression.startswith("e.") else "SEQ(A, one)"
    text = f"QUERY q RETURN MATCH {expression} AS v PATTERN {pattern} FROM two, one WHERE [k] WITHIN 10 s;"
    compiled, tables_of = given({**ROWS, "two": ROWS["two"][:1]}, text)

    def found() -> list[Any]:
        load = lambda stream, plan: read_given(tables_of[stream.name], plan, stream.input)  # noqa: E731
        return [row["v"] for row in run(compiled.program, load, {}).tables["q"].to_pylist()]

    if rows:
        assert found() == [value], title
    else:
        with pytest.raises(RunError):
            found()


DOTTED = """STREAM a (at TIMESTAMP, x {one}, `b.x` STRING, s STRUCT<t: INT>) EVENT TIME at;
STREAM b (at TIMESTAMP, x {other}{more}, s STRUCT<t: INT>) EVENT TIME at;
"""
APART = [
    ("one stream's own", "INT", "STRING", ", y INT"),
    ("one stream's own, with types the other way around", "STRING", "INT", ""),
    ("both streams' own", "INT", "STRING", ", `b.x` STRING"),
    ("both streams', apart itself", "INT", "STRING", ", `b.x` INT"),
]


@pytest.mark.parametrize(("title", "one", "other", "more"), APART, ids=[title for title, *_ in APART])
def test_a_column_that_stands_apart_is_none_with_a_dot_in_its_name(title: str, one: str, other: str, more: str) -> None:
    text = DOTTED.format(one=one, other=other, more=more)
    text += """QUERY whole RETURN MATCH * PATTERN SEQ(a u, b v) WITHIN 1 HOUR;
    QUERY each RETURN MATCH u.x AS ux, u.`b.x` AS ubx, v.x AS vx PATTERN SEQ(a u, b v) WHERE u.x IS NOT NULL
    AND v.x IS NOT NULL WITHIN 1 HOUR;
    QUERY field RETURN MATCH s.t AS t PATTERN SEQ(a u, b v) WHERE [s.t] WITHIN 1 HOUR;"""
    value = {"INT": 7, "STRING": "seven"}
    at = datetime(2026, 3, 2, 10, tzinfo=UTC)
    own: dict[str, Any] = {"at": at, "x": value[one], "b.x": "dotted", "s": {"t": 3}}
    others: dict[str, Any] = {"at": at + timedelta(seconds=1), "x": value[other], "s": {"t": 3}}
    others |= {"b.x": 5 if "INT" in more else "too"} if "b.x" in more else {}
    found = run_text(text, {"a": [own], "b": [others]})
    assert found["each"] == [{"ux": own["x"], "ubx": "dotted", "vx": others["x"]}], title
    assert found["field"] == [{"t": 3}]
    first, second = found["whole"][0]["events"]
    assert "dotted" in first.values(), first
    assert {first["a.x"], second["b.x'"]} == {own["x"], others["x"]}, (first, second)
    assert (first["b.x'"], second["a.x"]) == (None, None)


USERS = """STREAM users (at TIMESTAMP, users STRUCT<id: INT>, id INT, x INT) EVENT TIME at;
STREAM orders (at TIMESTAMP, users STRUCT<id: INT>, id STRING, x INT) EVENT TIME at;
"""


def test_a_field_of_a_struct_that_is_called_like_a_stream_is_one() -> None:
    text = (
        USERS
        + """QUERY q RETURN MATCH o.id AS o, users.id AS g PATTERN SEQ(users u, orders o) WHERE [users.id] WITHIN 1 HOUR;
    QUERY whole RETURN MATCH * PATTERN SEQ(users u, orders o) WHERE [users.id] WITHIN 1 HOUR;"""
    )
    at = datetime(2026, 3, 2, 10, tzinfo=UTC)
    found = run_text(text, {
        "users": [{"at": at, "users": {"id": 1}, "id": 5, "x": 0}],
        "orders": [{"at": at + timedelta(seconds=n), "users": {"id": n}, "id": f"o{n}", "x": 0} for n in (1, 2)],
    })  # fmt: skip
    assert found["q"] == [{"o": "o1", "g": 1}]
    assert found["whole"][0]["events"][0]["users.id'"] == 5


NOT_NAMES = [
    ("in [ ]", "SEQ(users u, orders o)", "[`users.id`]", "E0204"),
    ("of ANY", "SEQ(users u, ANY e)", "e.`users.id` = 1", "E0204"),
    ("of a stream", "SEQ(users u, orders o)", "u.`users.id` = 1", "E0204"),
    ("as it is shown", "SEQ(users u, ANY e)", "e.`users.id'` = 1", "E0204"),
    ("as it is kept", "SEQ(users u, ANY e)", "e.`.id OF (users)` = 1", "E0204"),
    ("without its stream, of ANY", "SEQ(users u, ANY e)", "e.id = 1", "E0227"),
    ("without its stream", "SEQ(users u, orders o)", "id = 1", "E0227"),
]


@pytest.mark.parametrize(("title", "pattern", "where", "code"), NOT_NAMES, ids=[title for title, *_ in NOT_NAMES])
def test_no_program_can_name_a_column_that_stands_apart(title: str, pattern: str, where: str, code: str) -> None:
    text = USERS + f"QUERY q RETURN MATCH u.x AS x PATTERN {pattern} FROM users, orders WHERE {where} WITHIN 1 HOUR;"
    with pytest.raises(Refused, match=code):
        assert compile_text(text) is None, title


SAID = """STREAM a (at TIMESTAMP, kind STRING, k INT, x INT) EVENT TIME at EVENT TYPE kind IN ('P', 'Q');
STREAM b (then TIMESTAMP, kind STRING, k TINYINT, x STRING) EVENT TIME then EVENT TYPE kind IN ('R', 'Q');
EVENT Big AS P WHERE x > 1000;
QUERY local RETURN MATCH k, R.x AS x PATTERN SEQ(P, R) WHERE [k] AND P.x > 1000 AND R.x LIKE 'z%' WITHIN 1 HOUR;
QUERY joint RETURN MATCH LAST(R.x) AS x PATTERN SEQ(P, R+) WHERE LENGTH(R.x) > P.x AND R.x > PREV(R).x WITHIN 1 HOUR;
QUERY derived RETURN k, MIN(R.k) AS n, MAX(Big.x) AS m PATTERN SEQ(Big, R) GROUP BY k HAVING MAX(Big.x) > 7
WITHIN 1 HOUR SLIDE 1 HOUR;
QUERY plain RETURN MATCH P.x PATTERN SEQ(P, R) WITHIN 1 HOUR;
"""
AWAY = [
    (
        "conditions fail",
        "10:00:01",
        "P",
        "10:00:02",
        "R",
        "`P.x > 1000` is not true for the only `a.P` event; `x` is always 7",
    ),
    ("nothing has a time", None, "P", None, "R", "the event time is null in all 2 events"),
    ("the first has no time", None, "P", "10:00:02", "R", "the event time is null in the only `a.P` event"),
    ("nothing has a type", "10:00:01", None, "10:00:02", None, "the event type is null in all 2 events"),
    ("times are one", "10:00:01", "P", "10:00:01", "R", "`ORDER BY` a column that all its streams have gives it one"),
]


@pytest.mark.parametrize(("title", "first", "kind", "second", "other", "said"), AWAY, ids=[title for title, *_ in AWAY])
def test_what_is_said_has_the_names_of_the_program(
    title: str, first: str | None, kind: str | None, second: str | None, other: str | None, said: str, tmp_path: Path
) -> None:
    at, then = (None if time is None else f"2026-03-02 {time}" for time in (first, second))
    (tmp_path / "a.jsonl").write_text(json.dumps({"at": at, "kind": kind, "k": 1, "x": 7}))
    (tmp_path / "b.jsonl").write_text(json.dumps({"then": then, "kind": other, "k": 1, "x": "o1"}))
    program = str(tmp_path / "p.cep")
    (tmp_path / "p.cep").write_text(SAID)
    events = [f"--events={name}={tmp_path / name}.jsonl" for name in "ab"]
    calls = [["run", program, *events], ["explain", program]]
    calls += [["why", program, *events, "--query", query] for query in ("local", "joint", "derived", "plain")]
    done = [CliRunner().invoke(cepc, call) for call in calls]
    assert [one.exit_code for one in done] == [0] * len(calls), done
    whole = "\n".join(one.output for one in done)
    assert said in whole, (title, whole)
    for internal in (" OF (", "`.", " .time", " .type", "P.a.x", "R.b.x", "Big.a.x"):
        assert internal not in whole, (internal, whole)


def run_text(text: str, rows: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """The results, without times, which are the oracle's."""
    compiled = compile_text(text)
    tables_of = {
        stream.name: pa.Table.from_pylist(
            rows[stream.name], schema=pa.schema([(name, to_arrow(type_)) for name, type_ in stream.input.columns])
        )
        for stream in compiled.program.streams
    }
    report = run(compiled.program, lambda stream, plan: read_given(tables_of[stream.name], plan, stream.input), {})
    found = {name: table.to_pylist() for name, table in report.tables.items()}
    expected = oracle.answers(compiled.tree, rows)
    for name, of_query in found.items():
        assert same(of_query, expected[name].rows, ABOUT), (name, of_query, expected[name].rows)
    edges = ("match_start", "match_end")
    return {name: [{k: v for k, v in row.items() if k not in edges} for row in rows] for name, rows in found.items()}


@pytest.mark.parametrize("form", ["text", "json", "html", "svg", "dot"])
def test_an_explanation_says_whose_events_a_query_sees(form: str, tmp_path: Path) -> None:
    path = tmp_path / "two.cep"
    path.write_text(TWO + "QUERY q RETURN k, COUNT(*) AS n PATTERN SEQ(A, one) GROUP BY k WITHIN 10 s SLIDE 5 s;")
    found = CliRunner().invoke(cepc, ["explain", str(path), "--format", form])
    assert found.exit_code == 0, found.output
    assert "two+one" in found.output or form == "svg"


KINDS: dict[str, Make] = {
    "aggregates": cases(match=False, select="ANY"),
    "matches": cases(match=True, select="ANY"),
    "conditions between neighbours": between_neighbours,
    "SELECT NEXT and CONTIGUOUS": cases(match=False, select="CONTIGUOUS", pairs=False),
    "AFTER MATCH": cases(match=True, select="NEXT", after=True),
    "AFTER MATCH with CONTIGUOUS": cases(match=True, select="CONTIGUOUS", after=True),
    "named patterns": beside_itself,
    "LAG and LEAD": beside,
    "several queries": cases(size=3),
}


def in_parts(case: Case, chance: Random) -> Seen:
    """On several threads, or in so little memory that events go to disk."""
    return compare(case, chance, chance.choice(PARTS))


def test_rows_are_the_same_on_several_threads_and_in_little_memory() -> None:
    hold("two streams: threads and memory", two_streams(cases(size=2)), in_parts)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_two_streams_are_the_oracles(kind: str) -> None:
    hold(f"two streams: {kind}", two_streams(KINDS[kind]), compare)
    both, one = MIXED["queries over both"], MIXED["queries over one"]
    assert both + one < 4 * ENOUGH or both > one, MIXED  # of a dozen, half of them are over one now and then
