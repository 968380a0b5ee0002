"""The rows of a query as events: rows are the oracle's, in this process on any number of threads and in little memory."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import cepc as cepc_api
from cepc.cli import cepc
from cepc.errors import DataError, RunError
from cepc.running.given import read_given
from cepc.running.local import choose, run
from cepc.why.no_rows import no_rows
from cepc_runtime.parts.resources import ONE_THREAD, Resources
from tests import in_process
from tests.equivalence import ABOUT, answered, same
from tests.in_process import PARTS, hold_to
from tests.programs import Case, between_neighbours, cases
from tests.properties import NOTHING, Seen, hold
from tests.rows_as_events import COMPARED, counted, over, rows_as_events, table_of
from tests.several_streams import compile_text

if TYPE_CHECKING:
    from random import Random

    from cepc import model
    from cepc.reading.read import Read
    from cepc.running.local import Report
    from cepc_runtime.plan.stream import StreamPlan
    from tests.several_streams import Compiled


def moment(seconds: int) -> datetime:
    return datetime(2026, 3, 2, 10, tzinfo=UTC) + timedelta(seconds=seconds)


def rows_of(
    case: Case, compiled: Compiled, resources: Resources = ONE_THREAD
) -> dict[str, list[dict[str, Any]]] | None:
    (stream,) = (stream for stream in compiled.program.streams if stream.query is None)
    return in_process.rows_of(compiled, {stream.name: table_of(case, compiled)}, resources, (RunError, DataError))


def compare(case: Case, _chance: Random, resources: Resources = ONE_THREAD) -> Seen:
    compiled = compile_text(case.text)
    expected = answered(case, compiled)
    found = rows_of(case, compiled, resources)
    if expected is None:
        return NOTHING
    hold_to(expected, found, compiled, lambda query, rows: counted(over(compiled, query), rows))
    return Seen.of(case, {name: one for name, one in expected.items() if over(compiled, name) == "events"})


KINDS = {
    "aggregates": cases(match=False),
    "matches": cases(match=True, select="ANY"),
    "AFTER MATCH": cases(match=True, select="NEXT", after=True),
    "conditions between neighbours": between_neighbours,
}


def in_parts(case: Case, chance: Random) -> Seen:
    """On several threads, or in so little memory that events go to disk."""
    return compare(case, chance, chance.choice(PARTS))


S = """STREAM s (at TIMESTAMP, k INT, x INT, p STRUCT<y: INT>, kind STRING)
EVENT TIME at EVENT TYPE kind IN ('A', 'B');
"""
NUMBERED = S.replace("at TIMESTAMP", "at BIGINT").replace("EVENT TIME at", "EVENT TIME at UNIT ms")
DAYS = S.replace("at TIMESTAMP", "at DATE")
EVENTS = [
    (0, 1, 1, "A"),
    (1, 1, 2, "B"),
    (2, 2, 3, "A"),
    (3, 1, 4, "A"),
    (4, 2, 5, "B"),
    (8, 1, 6, "B"),
    (30, 1, 7, "A"),
]
MEANT = [
    (
        "whatever the order of the text",
        S + "STREAM u FROM QUERY r; STREAM t FROM QUERY q;"
        "QUERY top RETURN COUNT(*) AS n PATTERN u WITHIN UNBOUNDED;"
        "QUERY r RETURN MATCH a.k AS k PATTERN SEQ(t a, t b) WITHIN 1 h; QUERY q RETURN MATCH A.k AS k PATTERN A WITHIN 1 h;",
        [{"n": 6, "window_start": None, "window_end": None}],
    ),
    (
        "a stream that is called like its query, and names that no word is",
        S + "QUERY t RETURN MATCH k, SUM(v.x) AS x, COUNT(v) PATTERN A+ v WHERE [k] WITHIN 4 s; STREAM t FROM QUERY t;"
        "STREAM `odd; name` (`a b` AS `count(v)` + 1) FROM QUERY t;"
        "QUERY r RETURN MATCH a.`count(v)` AS n, b.`a b` PATTERN SEQ(t a, `odd; name` b) WITHIN 1 h;"
        "QUERY top RETURN COUNT(*) AS n, SUM(`odd; name`.`a b`) AS m PATTERN `odd; name` WITHIN UNBOUNDED;",
        [{"n": 5, "m": 11, "window_start": None, "window_end": None}],
    ),
    (
        "rows that are alike are as many events",
        S
        + "QUERY q RETURN MATCH k PATTERN AND(A, B) WHERE [k] WITHIN 1 MINUTE; STREAM t EVENT TIME match_start FROM QUERY q;"
        "QUERY r RETURN COUNT(*) AS n PATTERN t WITHIN UNBOUNDED;",
        [{"n": 7, "window_start": None, "window_end": None}],
    ),
    (
        "a row without a time is no event",
        S + "QUERY q RETURN k, MAX(b.at) AS last PATTERN SEQ(A, B? b) GROUP BY k WITHIN UNBOUNDED HAVING COUNT(*) > 0;"
        "QUERY lone RETURN x, MAX(b.at) AS last PATTERN SEQ(A a, B? b) WHERE a.x > 6 GROUP BY x WITHIN UNBOUNDED;"
        "STREAM t EVENT TIME last FROM QUERY lone; QUERY r RETURN COUNT(*) AS n PATTERN t WITHIN UNBOUNDED;",
        [],
    ),
    (
        "a time of the query's events has their unit",
        NUMBERED + "QUERY q RETURN MATCH k PATTERN SEQ(A, B) WHERE [k] WITHIN 3 ms; STREAM t FROM QUERY q;"
        "QUERY r RETURN MATCH a.k AS k, b.k AS other PATTERN SEQ(t a, t b) WITHIN 4 ms;",
        [{"k": 1, "other": 2, "match_start": 1, "match_end": 4}],
    ),
    (
        "days",
        DAYS + "QUERY q RETURN MATCH k PATTERN SEQ(A, B) WHERE [k] WITHIN 3 DAYS; STREAM t FROM QUERY q;"
        "QUERY r RETURN k, COUNT(*) AS n PATTERN t GROUP BY k WITHIN 30 DAYS SLIDE 30 DAYS;",
        [
            {"k": 1, "n": 1, "window_start": date(1970, 1, 1), "window_end": date(1970, 1, 31)},
            {"k": 2, "n": 1, "window_start": date(1970, 1, 1), "window_end": date(1970, 1, 31)},
        ],
    ),
    (
        "types and ties of its own",
        NUMBERED + "QUERY q RETURN MATCH A.k AS k, A.x AS `the x`, A.p PATTERN A WITHIN 3 ms;"
        "STREAM t (kind AS CASE WHEN `the x` > 3 THEN 'Much' ELSE 'Few' END, y AS p.y) EVENT TIME k UNIT ms ORDER BY y "
        "EVENT TYPE kind IN ('Much', 'Few') FROM QUERY q; EVENT Most AS Much WHERE `the x` > 6;"
        "QUERY r RETURN MATCH f.`the x` AS f, m.y, f.p AS p PATTERN SEQ(Few f, Most m) WITHIN 1 s;"
        "QUERY s RETURN MATCH COLLECT(m.y) AS ys PATTERN SEQ(Few, ANY+ m) FROM t SELECT CONTIGUOUS WITHIN 1 s;",
        [],
    ),
    (
        "events of a match",
        S + "QUERY q RETURN MATCH * PATTERN SEQ(A, B) WHERE [k] SELECT NEXT WITHIN 3 s; STREAM t FROM QUERY q;"
        "QUERY r RETURN MATCH a.events AS events PATTERN SEQ(t a, t b) SELECT NEXT WITHIN 1 h;",
        [
            {
                "events": [
                    {"variable": "A", "at": moment(0), "k": 1, "x": 1, "p": {"y": 10}, "kind": "A"},
                    {"variable": "B", "at": moment(1), "k": 1, "x": 2, "p": {"y": 20}, "kind": "B"},
                ],
                "match_start": moment(1),
                "match_end": moment(4),
            }
        ],
    ),
]


def events_of(program: str) -> list[dict[str, Any]]:
    time = (lambda at: date(1970, 1, 1 + at)) if "at DATE" in program else int if "at BIGINT" in program else moment
    return [{"at": time(at), "k": k, "x": x, "p": {"y": 10 * x}, "kind": kind} for at, k, x, kind in EVENTS]


@pytest.mark.parametrize(("title", "text", "expected"), MEANT, ids=[title for title, *_ in MEANT])
def test_rows_of_queries_over_rows(title: str, text: str, expected: list[dict[str, Any]]) -> None:
    case = Case(text, tuple(events_of(text)))
    compiled = compile_text(text)
    answers, found = answered(case, compiled), rows_of(case, compiled)
    assert answers is not None
    assert found is not None
    assert all(same(found[name], answer.rows, ABOUT) for name, answer in answers.items()), title
    name = next(name for name in ("top", "r") if name in found)
    if expected or title.startswith("a row without"):
        assert found[name] == expected, title
    else:
        assert found[name], title


def test_rows_without_a_time_are_counted_and_rows_are_not_among_what_was_read() -> None:
    text = next(text for title, text, _ in MEANT if title == "a row without a time is no event")
    report = reported(text)
    assert (report.read, report.without_time) == (7, 1)
    assert "dropped 1 without a time" in report.dropped


def reported(text: str, queries: list[str] | None = None) -> Report:
    compiled = compile_text(text)
    table = table_of(Case(text, tuple(events_of(text))), compiled)
    return run(choose(compiled.program, queries), lambda stream, plan: read_given(table, plan, stream.input), {})


CHAIN = (
    S
    + """QUERY q RETURN MATCH k, A.x AS x PATTERN SEQ(A, B) WHERE [k] WITHIN 10 s;
STREAM t FROM QUERY q;
QUERY r RETURN MATCH a.x AS x, b.x AS y PATTERN SEQ(t a, t b) WITHIN 1 h;
QUERY mixed RETURN MATCH a.x AS x, v.x AS y PATTERN SEQ(t a, s.A v) WITHIN 1 h;
STREAM unused FROM QUERY r;
QUERY of_unused RETURN COUNT(*) AS n PATTERN unused WITHIN UNBOUNDED;
"""
)


def test_a_query_runs_for_those_that_look_at_its_rows_and_they_are_not_shown() -> None:
    report = reported(CHAIN, ["r"])
    assert [*report.tables] == ["r"]
    assert report.tables["r"].num_rows > 0
    assert [workload.plan.stream.name for workload in report.workloads] == ["s", "t"]


def test_what_is_read_for_several_queries_is_read_once() -> None:
    compiled, asked = compile_text(CHAIN), list[str]()
    table = table_of(Case(CHAIN, tuple(events_of(CHAIN))), compiled)

    def load(stream: model.Stream, plan: StreamPlan) -> Read:
        asked.append(stream.name)
        return read_given(table, plan, stream.input)

    run(choose(compiled.program, ["mixed"]), load, {})
    assert asked == ["s"]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "p.cep").write_text(CHAIN)
    rows = (json.dumps({**row, "at": row["at"].isoformat()}) for row in events_of(CHAIN))
    (tmp_path / "s.jsonl").write_text("\n".join(rows))
    return str(tmp_path / "p.cep"), str(tmp_path / "s.jsonl")


SAID = [
    ("why", ["why", "--query", "r"], "a (t)  x = 1"),
    ("why, of both", ["why", "--query", "mixed"], "v (s.A)"),
    ("statistics", ["analyze"], "stream t: "),
    ("an explanation", ["explain"], "source           the rows of the query q"),
    ("a stream of Spark's", ["explain"], "as a stream      an event takes"),
    ("a graph", ["explain", "--format", "dot"], '"s/q" -> "t/r/start" [label="t", style=dotted];'),
    ("a picture", ["explain", "--format", "svg"], "stream s+t: t has the rows of q"),
    ("a page", ["explain", "--format", "html"], "<h2>t: the rows of q</h2>"),
    ("a query by itself", ["run", "--query", "of_unused"], "1 row of 1 query"),
]


@pytest.mark.parametrize(("title", "call", "said"), SAID, ids=[title for title, *_ in SAID])
def test_commands_know_whose_rows_events_are(title: str, call: list[str], said: str, files: tuple[str, str]) -> None:
    program, events = files
    command, *options = call
    given = [] if command == "explain" else ["--events", "-", "--input-format", "json"]
    done = CliRunner().invoke(cepc, [command, program, *options, *given], input=Path(events).read_text())
    assert done.exit_code == 0, done.output
    assert said in done.output, (title, done.output)


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_events_are_not_given_for_rows(engine: str, files: tuple[str, str]) -> None:
    program, events = files
    given = ["--events", f"s={events}", "--events", f"t={events}", "--engine", engine]
    done = CliRunner().invoke(cepc, ["run", program, *given])
    assert done.exit_code == 2
    assert f"the events of `t` are the rows of the query `q`: leave `--events t={events}` out" in done.output


def test_events_are_not_given_for_rows_from_python() -> None:
    with pytest.raises(ValueError, match="the events of `t` are the rows of the query `q`: leave them out"):
        cepc_api.compile(CHAIN).run({"s": None, "t": None})


def test_a_row_of_which_a_column_cannot_be_computed_ends_the_run_on_any_number_of_threads() -> None:
    text = CHAIN.replace("STREAM t FROM", "STREAM t (y AS CAST(CONCAT('a', x) AS INT)) FROM")
    compiled = compile_text(text.replace("b.x AS y", "b.y AS y"))
    table = table_of(Case(text, tuple(events_of(text))), compiled)
    found = []
    for resources in (ONE_THREAD, Resources(threads=3, few=1)):
        with pytest.raises(DataError) as error:
            run(compiled.program, lambda stream, plan: read_given(table, plan, stream.input), {}, resources=resources)
        found.append(str(error.value))
    assert found[0] == found[1]
    assert "the column `y` of `t` cannot be computed of record 1" in found[0]
    assert "--skip-bad" not in found[0]


def test_why_a_query_over_rows_has_none() -> None:
    text = S + "QUERY q RETURN MATCH B.k AS k PATTERN SEQ(B, A v, A w) WITHIN 1 s; STREAM t FROM QUERY q;"
    text += "QUERY r RETURN MATCH a.k AS k PATTERN SEQ(t a, t b) WITHIN 1 h;"
    lines = no_rows(reported(text), {})
    assert "`r` has no rows: `q`, whose rows are its events, has none" in lines


def test_rows_are_the_same_on_several_threads_and_in_little_memory() -> None:
    hold("rows as events: threads and memory", rows_as_events(cases()), in_parts)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_queries_over_rows_are_the_oracles(kind: str) -> None:
    COMPARED.clear()
    # The oracle gives up some of the first cases after ten seconds.
    hold(f"rows as events: {kind}", rows_as_events(KINDS[kind]), compare, first=5)
    assert COMPARED["queries over rows with rows"] + COMPARED["queries over both with rows"] > 0, COMPARED
