"""Queries over fewer streams are planned with those over more where that changes no row: which are, and that it does
not.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from cepc.api import check_text
from cepc.cli import cepc
from cepc.codegen.compiling import job_of
from cepc.errors import RunError
from cepc.planning import lifted, plan_program
from cepc.running.given import read_given
from cepc.running.loading import of_streams
from cepc.running.local import run
from cepc.shared_plans import Options, in_streams, plan_shared
from cepc.statistics.analyze import analyze
from cepc_runtime.parts.resources import ONE_THREAD
from cepc_runtime.spark.schema import needed, sources_of
from cepc_runtime.sql.types import to_arrow
from tests.equivalence import ABOUT, same
from tests.in_process import PARTS
from tests.properties import ENOUGH, Seen, hold
from tests.several_streams import answered, beside_wider, compile_text, tables
from tests.spark_programs import loaded, rows_in, rows_of
from tests.test_several_streams import KINDS, compare

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from pyspark.sql import SparkSession

    from cepc import model
    from cepc.reading.read import Read
    from cepc_runtime.plan.stream import StreamPlan
    from tests.programs import Case
    from tests.several_streams import Compiled

STREAMS = """\
STREAM one (at BIGINT, kind STRING, k INT, s STRUCT<a: INT>, x INT) EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'B');
STREAM two (at BIGINT, kind STRING, x INT, k INT, y INT) EVENT TIME at UNIT s EVENT TYPE kind IN ('C', 'D');
STREAM only (at BIGINT, k INT, x INT) EVENT TIME at UNIT s;
"""

WIDE = "QUERY wide RETURN COUNT(*) AS n PATTERN SEQ(A a, C c) WHERE [k] WITHIN 9 SECONDS;\n"
ALL = "QUERY all RETURN COUNT(*) AS n PATTERN SEQ(A a, D d, only o) WHERE [k, x] WITHIN 9 SECONDS;\n"

COUNT = "RETURN COUNT(*) AS n"
AGREEING = f"QUERY q {COUNT} PATTERN SEQ(A a, B b) WHERE [k] WITHIN 5 SECONDS;\n"
PAST = "AFTER MATCH SKIP PAST LAST EVENT"
APART = Options(without=("lift",))

PLANNED = (
    ("over the first stream", f"{COUNT} PATTERN SEQ(A a, B b) WHERE [k]", "one+two"),
    ("over the second", f"{COUNT} PATTERN SEQ(C c, D d) WHERE [k]", "one+two"),
    ("over a stream of one type", f"{COUNT} PATTERN SEQ(only a, only b) WHERE [k, x]", "one+two+only"),
    ("grouped by the same", f"{COUNT}, SUM(a.x) AS total PATTERN SEQ(A a, B b) GROUP BY k", "one+two"),
    ("with a NOT", f"{COUNT} PATTERN SEQ(A a, NOT B b, A c) WHERE [k] AND b.x = a.x", "one+two"),
    ("matches that take the next", "RETURN MATCH a.x PATTERN SEQ(A a, B b) WHERE [k] SELECT NEXT", "one+two"),
    ("a field of a struct", f"{COUNT}, MAX(a.s.a) AS top PATTERN SEQ(A a, B b) WHERE [k]", "one+two"),
    ("canonical order, the same", f"RETURN MATCH a.x PATTERN SEQ(A a, B b) WHERE [k] SELECT NEXT {PAST}", "one+two"),
    ("canonical order, another", f"RETURN MATCH c.x PATTERN SEQ(C c, D d) WHERE [k] SELECT NEXT {PAST}", "two"),
    ("agreeing on more", f"{COUNT} PATTERN SEQ(A a, B b) WHERE [k, s]", "one"),
    ("agreeing on nothing", f"{COUNT} PATTERN SEQ(A a, B b)", "one"),
    ("of any type", f"{COUNT} FROM one PATTERN SEQ(A a, ANY b) WHERE [k]", "one"),
    ("SELECT CONTIGUOUS", f"{COUNT} PATTERN SEQ(A a, B b) WHERE [k] SELECT CONTIGUOUS", "one"),
    ("in sessions", f"{COUNT} PATTERN SEQ(A a, B b) GROUP BY k WITHIN SESSION 3 SECONDS", "one+two"),
    ("a part that is contiguous", f"{COUNT} PATTERN SEQ(A a, CONTIGUOUS(B b, A c)) WHERE [k]", "one"),
    ("the event before, of any type", f"{COUNT} PATTERN SEQ(A a, B b) WHERE [k] AND a.x > LAG(a.x)", "one"),
    ("all columns of events", "RETURN MATCH * PATTERN SEQ(A a, B b) WHERE [k]", "one"),
)


def planned_over(text: str, query: str = "q") -> str:
    program = lifted(compile_text(text).program)
    return next(q.stream for q in program.queries if q.name == query)


@pytest.mark.parametrize(("title", "query", "stream"), PLANNED, ids=[title for title, *_ in PLANNED])
def test_a_query_is_planned_with_those_that_agree_on_the_same_and_see_more(title: str, query: str, stream: str) -> None:
    assert title
    asked, select, rest = query.partition(" SELECT ")
    within = "" if "WITHIN" in asked else " WITHIN 5 SECONDS"
    assert planned_over(f"{STREAMS}{WIDE}{ALL}QUERY q {asked}{within}{select}{rest};") == stream


def test_a_query_goes_where_another_goes_that_agrees_with_it() -> None:
    three = f"QUERY three {COUNT} PATTERN SEQ(A a, C c, only o) WHERE [k] WITHIN 5 SECONDS;"
    assert [planned_over(STREAMS + WIDE + AGREEING + three, of) for of in ("wide", "q")] == ["one+two+only"] * 2


DIFFERENT = (
    ("its own ORDER BY", "one (at BIGINT, kind STRING, k INT, s STRUCT<a: INT>, x INT) EVENT TIME at UNIT s",
     "one (at BIGINT, kind STRING, k INT, s STRUCT<a: INT>, x INT) EVENT TIME at UNIT s ORDER BY x"),
    ("a column that is wider with the others", "x INT, k INT, y INT", "x INT, k BIGINT, y INT"),
)  # fmt: skip


@pytest.mark.parametrize(("title", "before", "after"), DIFFERENT, ids=[title for title, *_ in DIFFERENT])
def test_a_query_whose_events_would_be_others_is_planned_by_itself(title: str, before: str, after: str) -> None:
    assert title
    streams = STREAMS.replace(before, after)
    assert streams != STREAMS
    assert [planned_over(one + WIDE + AGREEING) for one in (STREAMS, streams)] == ["one+two", "one"]


def test_rows_are_found_before_they_are_events() -> None:
    text = f"""{STREAMS} STREAM ends FROM QUERY q;
    QUERY q RETURN k, COUNT(*) AS n PATTERN SEQ(A a, B b) GROUP BY k WITHIN 5 SECONDS;
    QUERY r {COUNT} PATTERN SEQ(A a, ends e) WHERE [k] WITHIN 5 SECONDS;
    QUERY s {COUNT} PATTERN SEQ(B a, B b) WHERE [k] WITHIN 5 SECONDS;
    """
    assert [planned_over(text, name) for name in ("q", "r", "s")] == ["one", "one+ends", "one"]
    assert [planned_over(text + WIDE, name) for name in ("q", "r", "s")] == ["one", "one+ends", "one+two"]


def test_without_the_pass_and_in_streams_of_spark_each_is_planned_over_its_own() -> None:
    program = compile_text(STREAMS + WIDE + ALL + AGREEING).program
    own, shared = ["one", "one+two", "one+two+only"], plan_shared(program)
    assert [plan.stream.name for plan in shared.plans] == ["one+two", "one+two+only"]
    assert [plan.stream.name for plan in in_streams(program, shared).plans] == own
    for options in (Options(level=0), Options(level=1), APART):
        assert [plan.stream.name for plan in plan_shared(program, options).plans] == own


def test_an_explanation_says_where_a_query_is_planned_and_what_it_keeps_as_a_stream(tmp_path: Path) -> None:
    (tmp_path / "p.cep").write_text(STREAMS + WIDE + AGREEING)
    shown = CliRunner().invoke(cepc, ["explain", str(tmp_path / "p.cep")]).output
    alone = CliRunner().invoke(cepc, ["explain", "--no-pass", "lift", str(tmp_path / "p.cep")]).output
    assert "lift: q: planned with those that see more than one, but for streams of Spark's" in shown
    assert "lift:" not in alone

    def kept(text: str) -> list[str]:
        return [line for line in text.splitlines() if "an event takes" in line or "of them in one pane" in line]

    assert len(kept(shown)) == 4
    assert kept(shown) == kept(alone)


# ---- rows ------------------------------------------------------------------------------------------------------------

RESOURCES = (*(ONE_THREAD,) * 6, *PARTS)
"""On one thread, on several, and in so little memory that events go to disk, which takes long."""

MOVING = (
    "aggregates",
    "matches",
    "conditions between neighbours",
    "AFTER MATCH",
    "named patterns",
    "several queries",
)
"""Kinds of queries of which many are planned over more streams; of others all see events of other types."""


def wanted_of_streams(program: model.CheckedProgram) -> dict[str, StreamPlan]:
    """What is read of each stream: a value that is read by nobody is not looked at."""
    return of_streams(program, [plan.stream for plan in plan_program(program).plans])


def found_by(case: Case, compiled: Compiled, options: Options) -> dict[str, tuple[pa.Schema, str]] | None:
    """The columns of each query, and its rows in order, as Python writes them; None where some have no value."""
    given = tables(case, compiled)

    def load(stream: model.Stream, plan: StreamPlan) -> Read:
        return read_given(given[stream.name], plan, stream.input)

    try:
        found = run(compiled.program, load, {}, options=options).tables
    except RunError:
        return None
    return {name: (table.schema, repr(table.to_pylist())) for name, table in found.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_queries_beside_wider_ones_are_the_oracles(kind: str) -> None:
    moved: Counter[str] = Counter()

    def check(case: Case, chance: Random) -> Seen:
        compiled = compile_text(case.text)
        seen, expected = compare(case, chance, chance.choice(RESOURCES)), answered(case, compiled)
        assert found_by(case, compiled, Options()) == found_by(case, compiled, APART)
        assert wanted_of_streams(lifted(compiled.program)) == wanted_of_streams(compiled.program)
        for query, planned in zip(compiled.program.queries, lifted(compiled.program).queries, strict=True):
            if query.stream != planned.stream:
                moved["queries"] += 1
                moved["rows"] += 0 if expected is None else len(expected[query.name].rows)
        return seen

    moving = kind in MOVING
    name = f"two streams, beside wider: {kind}"
    tally = hold(name, beside_wider(KINDS[kind]), check, cases=None if moving else 16)
    if moving and tally.drawn > 2 * ENOUGH:
        assert moved["queries"] > 1, moved
        assert moved["rows"] > 5 * moved["queries"], moved


def test_events_that_tie_stand_in_the_order_of_their_own_stream() -> None:
    streams = STREAMS.replace(
        "two (at BIGINT, kind STRING, x INT, k INT, y INT)", "two (at BIGINT, kind STRING, y INT, x INT, k INT)"
    )
    query = f"QUERY q RETURN MATCH c.x PATTERN SEQ(C c, D d) WHERE [k] SELECT NEXT {PAST} WITHIN 5 SECONDS;"
    program = compile_text(streams + WIDE + query).program
    columns: dict[str, list[Any]] = {
        "at": [1, 1, 2],
        "kind": ["C", "C", "D"],
        "y": [1, 2, 0],
        "x": [8, 7, 0],
        "k": [1, 1, 1],
    }
    one: dict[str, list[Any]] = {"at": [1], "kind": ["A"], "k": [1], "s": [None], "x": [1]}
    given = {"one": table_of(program, "one", one), "two": table_of(program, "two", columns)}
    report = run(program, lambda stream, plan: read_given(given[stream.name], plan, stream.input), {})
    assert report.tables["q"].column("x").to_pylist() == [8]


def test_a_bad_value_that_only_another_query_would_read_is_nothing_to_a_query(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("at,kind,k,s,x\n1,A,1,,5\n3,B,1,,7\n")
    (tmp_path / "two.csv").write_text("at,kind,x,k,y\n2,C,no,1,bad\n")
    streams = STREAMS.replace("s STRUCT<a: INT>", "s STRING")
    last = f"QUERY q RETURN MATCH a.x PATTERN SEQ(A a, B b) WHERE [k] SELECT NEXT {PAST} WITHIN 5 SECONDS;"
    (tmp_path / "p.cep").write_text(streams + WIDE + last)
    assert planned_over(streams + WIDE + last) == "one+two"
    events = [f"--events={name}={tmp_path / name}.csv" for name in ("one", "two")]
    result = CliRunner().invoke(cepc, ["run", str(tmp_path / "p.cep"), *events])
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["query"], row.get("n"), row.get("x")) for row in rows] == [("wide", 1, None), ("q", None, 5)]


def test_statistics_are_of_queries_as_they_are_planned() -> None:
    program = compile_text(STREAMS + WIDE + AGREEING.replace("[k]", "[k] AND a.x > 5")).program
    columns = {"at": [*range(10)], "kind": ["A"] * 10, "k": [1] * 10, "s": [None] * 10, "x": [*range(10)]}
    given = {
        "one": table_of(program, "one", columns),
        "two": table_of(program, "two", {name: [] for name in ("at", "kind", "x", "k", "y")}),
    }
    found = analyze(program, lambda stream, plan: read_given(given[stream.name], plan, stream.input), {})
    (plan,) = plan_program(lifted(program)).plans
    assert [found["one+two"].selectivity(letter) for letter in plan.letters if letter.conditions] == [4 / 10]


def table_of(program: model.CheckedProgram, stream: str, columns: dict[str, list[Any]]) -> pa.Table:
    schema = pa.schema([(name, to_arrow(type_)) for name, type_ in program.stream(stream).input.columns])
    return pa.table(columns, schema=schema)


def test_a_job_reads_for_a_query_only_what_it_sees_and_streams_each_by_itself() -> None:
    checked = check_text(STREAMS + WIDE + AGREEING, "p.cep")
    assert checked.program is not None
    job: dict[str, Any] = {"__name__": "job"}
    exec(compile(job_of(checked.program, checked.sources).text, "job", "exec"), job)
    parts, streamed = job["JOB"].streams, [one.stream.name for one in job["JOB"].streamed]
    assert [stream.name for stream in parts] == ["one+two"]
    assert streamed == ["one", "one+two"]
    read = {name: [one.name for one in sources_of(needed(parts, [name]))] for name in ("q", "wide")}
    assert read == {"q": ["one"], "wide": ["one", "two"]}


def test_a_job_reads_no_column_of_a_stream_for_a_query_that_does_not_see_it() -> None:
    last = f"QUERY q RETURN MATCH a.x PATTERN SEQ(A a, B b) WHERE [k] SELECT NEXT {PAST} WITHIN 5 SECONDS;"
    (wide,) = loaded(STREAMS + WIDE + last).streams.values()
    of_two = dict(next(member.columns for member in wide.members if member.stream.name == "two"))
    assert (of_two["x"], of_two["y"], of_two["k"]) == ("CAST(NULL AS INT)", "CAST(NULL AS INT)", "`k`")


@pytest.mark.spark
def test_rows_of_a_job_are_those_of_queries_by_themselves(spark: SparkSession) -> None:
    events = {
        "one": [(at, "AB"[at % 2], at // 2 % 2, at % 5) for at in range(200)],
        "two": [(at, "CD"[at % 2], at % 5, at // 2 % 2) for at in range(200)],
    }
    frames = {
        "one": spark.createDataFrame(events["one"], "at BIGINT, kind STRING, k INT, x INT").selectExpr(
            "*", "CAST(NULL AS STRUCT<a: INT>) AS s"
        ),
        "two": spark.createDataFrame(events["two"], "at BIGINT, kind STRING, x INT, k INT").selectExpr("*", "1 AS y"),
    }
    grouped = AGREEING.replace(COUNT, f"{COUNT}, SUM(a.x) AS total").replace("WHERE [k]", "GROUP BY k")
    text = STREAMS + WIDE + grouped
    together, apart = (loaded(text, Options(seconds=None, without=off)) for off in ((), APART.without))
    assert ([*together.streams], [*apart.streams]) == (["one+two"], ["one", "one+two"])
    rows = {name: rows_in(table) for name, table in apart.tables(spark, frames).items()}
    assert len(rows["q"]) > 30
    found = {name: rows_in(table) for name, table in together.tables(spark, frames).items()}
    alone = {name: rows_of(frame) for name, frame in together.build(spark, {"one": frames["one"]}, ["q"]).items()}
    for name, of in (*found.items(), *alone.items()):
        assert same(of, rows[name], ABOUT), name
