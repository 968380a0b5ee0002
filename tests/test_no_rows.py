"""What is said of queries without rows: program, events, sentences."""

import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, reject

import cepc
from cepc.cli import cepc as command
from cepc.compiled_program import Compiled
from cepc.model import Query
from cepc.reading.read import Read
from cepc.running.given import read_given
from cepc.running.local import Report, run
from cepc.version import version
from cepc.why import empty
from cepc.why.empty import why_empty
from cepc.why.furthest import GroupEvent, distances, furthest
from cepc.why.looked_at import look_at
from cepc_runtime.sql.types import to_arrow
from tests.programs import Case, cases, drawn
from tests.properties import case_numbers

COLUMNS = "(at BIGINT, kind STRING, k INT, x INT, city STRING)"
STREAM = f"STREAM s {COLUMNS} EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'B', 'C', 'Login');\n"
ONE = "RETURN MATCH A.x AS a"
N = "RETURN COUNT(*) AS n"


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(events: str) -> None:
    """Events written as `5 A 7 3 Oslo`: time, type, k, x, city, with `-` for null."""
    lines = [line.split() for line in events.split(";")] if events else []
    rows = ("".join(",".join("" if cell == "-" else cell for cell in [*line, *"----"][:5]) + "\n") for line in lines)
    Path("e.csv").write_text("at,kind,k,x,city\n" + "".join(rows))


def said(program: str, events: str) -> list[str]:
    """The lines of `cepc run` about queries without rows."""
    written(events)
    Path("q.cep").write_text(program)
    result = CliRunner().invoke(command, ["run", "q.cep", "--events", "e.csv"])
    assert result.exit_code == 0, result.output
    *lines, _summary = result.stderr.splitlines()
    first = next((i for i, line in enumerate(lines) if " no rows" in line and line.startswith("`")), len(lines))
    return lines[first:]


@pytest.mark.parametrize(
    ("query", "events", "lines"),
    [
        # types
        (
            f"{ONE} PATTERN SEQ(A, Login) WITHIN 9 s", "1 A 7;2 login 7;3 login 7",
            ["no event has the type `Login`; 2 events have `login`"],
        ),
        (
            f"{ONE} PATTERN SEQ(A, Login) WITHIN 9 s", "1 A 7;2 X 7;3 X 7",
            ["no event has the type `Login`; there are `X` (2) and `A` (1)"],
        ),
        (
            f"{ONE} PATTERN SEQ(A, OR(B, C)) WITHIN 9 s", "1 A 7;2 A 8",
            ["no event has the type `B`; there are `A` (2)", "no event has the type `C`; there are `A` (2)"],
        ),
        (
            f"{ONE} PATTERN SEQ(A, B?, C) WITHIN 9 s", "1 A 7;2 A 8",
            ["no event has the type `C`; there are `A` (2)"],
        ),
        # times
        (
            f"{ONE} PATTERN SEQ(A, B) WITHIN 9 s", "1700000000000 A 7;1700000009001 B 7",
            [("the times in `at`, 1700000000000 and others, are read in seconds, in the year 55840; write "
             "`EVENT TIME at UNIT ms`")],
        ),
        (f"{ONE} PATTERN A WITHIN 9 s", "", ["there are no events"]),
        (f"{ONE} PATTERN A WITHIN 9 s", "- A 7;- B 7", ["the event time `at` is null in all 2 events"]),
        (f"{ONE} PATTERN A WITHIN 9 s", "1 - 7", ["the event type `kind` is null in all 1 event"]),
        (
            f"{ONE} PATTERN A WITHIN 9 s", "- A 7;1 - 7;2 - 7",
            [("no event has a time and a type: the event time `at` is null in 1 event, the event type `kind` in 2 "
              "with a time")],
        ),
        (f"{ONE} PATTERN SEQ(A, B) WITHIN 9 s", "- A 7;1 B 7", ["the event time `at` is null in the only `A` event"]),
        (
            f"{ONE} PATTERN SEQ(A, C) WITHIN 9 s", "- A 7;- A 7;- B 7;1 C 7",
            ["the event time `at` is null in all 2 `A` events"],
        ),
        (
            f"{ONE} PATTERN SEQ(A, C) WITHIN 9 s", "- B 7;1 B 7;1 A 7",
            ["no event has the type `C`; there are `A` (1) and `B` (1)"],
        ),
        # conditions on single events
        (
            f"{ONE} PATTERN SEQ(A, B b) WHERE b.x > 5 WITHIN 9 s", "1 A 7 9;2 B 7 5;3 B 8 2",
            ["`b.x > 5` is true for none of 2 `B` events; `x` is from 2 to 5"],
        ),
        (
            f"{ONE} PATTERN A WHERE A.city = 'Oslo' WITHIN 9 s", "1 A 7 9 oslo;2 A 7 5 oslo;3 A 8 2 Rome",
            ["`A.city = 'Oslo'` is true for none of 3 `A` events; `city` is 'oslo' or 'Rome'"],
        ),
        (
            f"{ONE} PATTERN A WHERE A.x > 5 WITHIN 9 s", "1 A 7",
            ["`A.x > 5` is not true for the only `A` event; `x` is always null"],
        ),
        (
            f"{ONE} PATTERN A WHERE A.x > 5 AND A.k > 5 WITHIN 9 s", "1 A 7 1;2 A 1 7",
            ["`A.x > 5` and `A.k > 5` is true for none of 2 `A` events"],
        ),
        # steps
        (
            f"{ONE} PATTERN SEQ(A, B, C) WITHIN 9 s", "1 C 7;2 A 7;3 B 7",
            ["after `A` and `B` in this order, which come in the events, no `C` comes; those there are come earlier"],
        ),
        (
            f"{ONE} PATTERN SEQ(A, B, C) WHERE [k] WITHIN 9 s", "1 A 7;2 B 7;3 C 8;4 A 8",
            ["there are events for the whole pattern, but none that agree on `k`",
             "after `A` and `B` in this order, which come in 1 of 2 groups of `k`, no `C` comes"],
        ),
        (
            f"{ONE} PATTERN SEQ(A, B c) WHERE [k] WITHIN 9 s", "1 A 7;2 B;3 B",
            ["`k` is null in all 2 events for `B c`, and not in others",
             "after `A`, which comes in 1 of 2 groups of `k`, no `B c` comes"],
        ),
        (
            f"{ONE} PATTERN SEQ(A, B) WITHIN 9 s", "1 A 7;1 B 7",
            [("after `A`, which comes in the events, no `B` comes; one comes at the same time, and what has one time "
             "has no order: `EVENT TIME at ORDER BY` another column gives it one")],
        ),
        (
            f"{ONE} PATTERN SEQ(A, B) WHERE B.x > 3 WITHIN 30 s", "1 B 7 5;5 A 7 0;6 B 7 1",
            [("after `A`, which comes in the events, no `B` comes that fits: `B.x > 3` is not true for the only later "
              "`B` event; `x` is always 1")],
        ),
        (
            f"{ONE} PATTERN SEQ(A, B b) WHERE [k] AND b.x > 3 WITHIN 30 s", "1 B 7 5;5 A 7 0;6 B 7 1;7 B 7 2;8 B 8 5",
            ["there are events for the whole pattern, but none that agree on `k`",
             ("after `A`, which comes in 1 of 2 groups of `k`, no `B b` comes that fits: `b.x > 3` is true for none of "
              "2 later `B` events; `x` is from 1 to 2")],
        ),
        (
            f"{ONE} PATTERN SEQ(A, B) WHERE B.x > 3 WITHIN 30 s", "1 B 7 5;5 A 7 0;5 B 7 1",
            ["after `A`, which comes in the events, no `B` comes; those there are come earlier"],
        ),
        (
            f"{N} PATTERN SEQ(A{{3}}, B) WHERE A.x > 3 WITHIN 9 s SLIDE 1 s", "1 A 7 4;2 A 7 5;3 A 7 1;2 B 7",
            [("after `A` 2 times, which come in the events, no further `A` comes that fits: `A.x > 3` is not true for "
              "the only later `A` event; `x` is always 1")],
        ),
        (
            f"{N} PATTERN SEQ(A{{3}}, B) WITHIN 9 s SLIDE 1 s", "1 A 7;2 A 7;2 B 7",
            ["after `A` 2 times, which come in the events, no further `A` comes"],
        ),
        (
            f"{ONE} PATTERN SEQ(A, B) WHERE [k] SELECT CONTIGUOUS WITHIN 9 s", "1 A;2 C;3 B",
            ["without SELECT CONTIGUOUS there would be a match: A at 1 and B at 3",
             "`k` is null in all events, which makes them one group"],
        ),
        # steps, where one event of a type that never comes would do as well
        (
            f"{ONE.replace('A.x', 'k')} PATTERN OR(C, SEQ(A, B)) WHERE [k] WITHIN 9 s", "1 A 7;2 B 8",
            ["there are events for the whole pattern, but none that agree on `k`",
             "after `A`, which comes in 1 of 2 groups of `k`, no `B` comes",
             "no event has the type `C`; there are `A` (1) and `B` (1)"],
        ),
        (
            f"{ONE.replace('A.x', 'k')} PATTERN SOME(C, SEQ(A, B)) WHERE [k] WITHIN 9 s", "1 A 7;2 B 8",
            ["there are events for the whole pattern, but none that agree on `k`",
             "after `A`, which comes in 1 of 2 groups of `k`, no `B` comes",
             "no event has the type `C`; there are `A` (1) and `B` (1)"],
        ),
        (
            f"{N} PATTERN OR(C, SEQ(A, B)) GROUP BY k WITHIN 9 s", "1 A 7;2 B 8",
            ["there are events for the whole pattern, but none that agree on `k`",
             "after `A`, which comes in 1 of 2 groups of `k`, no `B` comes",
             "no event has the type `C`; there are `A` (1) and `B` (1)"],
        ),
        (
            f"{N} PATTERN OR(C c, SEQ(B, A)) WHERE c.x > 3 WITHIN 9 s", "1 A 7;2 B 8;3 C 7 2",
            ["after `B`, which comes in the events, no `A` comes; those there are come earlier",
             "`c.x > 3` is not true for the only `C` event; `x` is always 2"],
        ),
        (
            f"{N} PATTERN OR(SEQ(C, C), SEQ(A, B, A, B)) WITHIN 9 s", "1 B 7;2 A 8",
            ["after `A`, which comes in the events, no `B` comes; those there are come earlier",
             "no event has the type `C`; there are `A` (1) and `B` (1)"],
        ),
        (
            f"{N} PATTERN OR(SEQ(C, A), SEQ(A, B)) WITHIN 9 s", "1 B 7;2 A 8",
            ["after `A`, which comes in the events, no `B` comes; those there are come earlier"],
        ),
        # windows
        (
            f"{ONE} PATTERN SEQ(A, B+) WITHIN 5 s", "1 A 7;6 B 7;11 A 7;18 B 7",
            ["WITHIN 5 seconds is too short: what completes the pattern soonest takes 5 seconds"],
        ),
        (
            f"{N} PATTERN SEQ(A, B) WITHIN 5 s WINDOW 60 s SLIDE 30 s", "1 A 7;6 B 7;11 A 7;18 B 7",
            ["WITHIN 5 seconds is too short: what completes the pattern soonest takes 5 seconds"],
        ),
        (
            f"{N} PATTERN SEQ(A, B) WITHIN 5 s WINDOW 60 s", "58 A 7;61 B 7",
            [("what completes the pattern soonest takes 3 seconds, and lies in none of the windows of 1 minute, of which "
              "one begins each 1 minute: a smaller SLIDE makes more")],
        ),
        (
            f"{N} PATTERN SEQ(A, B) WITHIN 5 s SLIDE 2 s", "3 A 7;6 B 7;9 C 7",
            [],
        ),
        (
            f"{N} PATTERN SEQ(A, B) WITHIN 10 s SLIDE 10 s", "9 A 7;11 B 7",
            [("what completes the pattern soonest takes 2 seconds, and lies in none of the windows of 10 seconds, of "
             "which one begins each 10 seconds: a smaller SLIDE makes more")],
        ),
        # HAVING
        (
            f"{N} PATTERN SEQ(A, B) HAVING n > 5 WITHIN 10 s SLIDE 10 s", "1 A 7;2 B 7;13 A 7;14 B 7;15 B 7",
            ["HAVING COUNT(*) > 5 is true for none of 2 rows; of the first: 1 > 5"],
        ),
        (
            f"{ONE} PATTERN SEQ(A, B) HAVING A.x > 5 WITHIN 10 s", "1 A 7 4;2 B 7",
            ["HAVING A.x > 5 is not true for the only row: 4 > 5"],
        ),
        # what has to be tried
        (
            f"{ONE} PATTERN SEQ(A, B) WHERE A.x < B.x WITHIN 9 s", "1 A 7 4;2 B 7 3;3 B 7 4",
            ["without the condition A.x < B.x there would be a match: A at 1 and B at 2"],
        ),
        (
            f"{ONE} PATTERN SEQ(A, NOT C, B) WHERE [k] WITHIN 9 s", "1 A 7;2 C 7;3 B 7;4 A 8;5 A 9",
            ["without NOT C there would be a match in the 1 group looked at: A at 1 and B at 3"],
        ),
        (
            f"{ONE} PATTERN SEQ(A, B) SELECT CONTIGUOUS WITHIN 9 s", "1 A 7;2 C 7;3 B 7",
            ["without SELECT CONTIGUOUS there would be a match: A at 1 and B at 3"],
        ),
        (f"{ONE} PATTERN SEQ(A, B) WITHIN 9 s", "1 A 7;2 B 7", []),
    ],
)  # fmt: skip
def test_a_query_without_rows_says_why(query: str, events: str, lines: list[str]) -> None:
    found = said(f"{STREAM}QUERY q {query};\n", events)
    first, *others = lines or [""]
    assert found == ([f"`q` has no rows: {first}", *(f"  and {other}" for other in others)] if lines else [])


def test_a_type_that_the_stream_does_not_list_is_named_too() -> None:
    found = said(f"STREAM s {COLUMNS} EVENT TIME at EVENT TYPE kind;QUERY q {ONE} PATTERN A WITHIN 9 s;", "1 a 7")
    assert found == ["`q` has no rows: no event has the type `A`; 1 event has `a`"]


def test_an_event_without_a_time_has_a_type_all_the_same() -> None:
    stream = f"STREAM s {COLUMNS} EVENT TIME at UNIT s EVENT TYPE kind;"
    Path("q.cep").write_text(f"{stream} QUERY q {ONE} PATTERN SEQ(A, B) WITHIN 9 s;")
    written("- A 7;1 B 7")
    result = CliRunner().invoke(command, ["run", "q.cep", "--events", "e.csv"])
    assert "W0713" not in result.stderr
    assert "the event time `at` is null in the only `A` event" in result.stderr


@pytest.mark.parametrize(
    ("pattern", "events", "sentence", "count"),
    [
        ("A", "1 A 7 3 abc", "there are no events: 1 bad record was passed over", "0 events read from 1 file, 1 bad"),
        (
            "A", "1 A 7 3 abc;2 B 7 3 4;3 A 7 3 x",
            "no event has the type `A`; there are `B` (1); 2 bad records were passed over", "1 event read",
        ),
        (
            "SEQ(A, B)", "- A 7 3 4;2 B 7 3 4;3 A 7 3 x",
            "the event time `at` is null in the only `A` event; 1 bad record was passed over", "2 events read",
        ),
        ("SEQ(A, B)", "1 A x 3 4;2 B 7 3 4", "no event has the type `A`; there are `B` (1); 1 bad record was", "1 event"),
    ],
)  # fmt: skip
def test_records_that_were_passed_over_are_no_events(pattern: str, events: str, sentence: str, count: str) -> None:
    columns = COLUMNS.replace(")", ", n AS CAST(city AS DOUBLE))")
    stream = f"STREAM s {columns} EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'B');"
    Path("q.cep").write_text(f"{stream} QUERY q RETURN MATCH A.n, A.k PATTERN {pattern} WITHIN 9 s;")
    written(events)
    result = CliRunner().invoke(command, ["run", "q.cep", "--events", "e.csv", "--skip-bad"])
    assert f"`q` has no rows: {sentence}" in result.stderr
    assert count in result.stderr


@pytest.mark.parametrize(
    ("unit", "time", "other"),
    [("s", 1_700_000_000_000, "ms"), ("s", 1_700_000_000_000_000, "us"), ("ms", 1_700_000_000, "s"),
     ("us", 1_700_000_000_000, "ms")],
)  # fmt: skip
def test_times_of_another_unit_are_all_that_is_said(unit: str, time: int, other: str) -> None:
    stream = STREAM.replace("UNIT s", f"UNIT {unit}")
    found = said(f"{stream}QUERY q {ONE} PATTERN SEQ(A, Login) WITHIN 9 s;", f"{time} A 7")
    assert len(found) == 1
    assert found[0].endswith(f"write `EVENT TIME at UNIT {other}`")
    assert said(f"{stream}QUERY q {ONE} PATTERN SEQ(A, Login) WITHIN 9 s;", "17 A 7") == [
        "`q` has no rows: no event has the type `Login`; there are `A` (1)"
    ], "small numbers count from something else"


def test_timestamps_in_1970_were_numbers_of_another_unit() -> None:
    stream = STREAM.replace("at BIGINT", "at TIMESTAMP").replace(" UNIT s", "")
    compiled = cepc.compile(f"{stream}QUERY q {ONE} PATTERN SEQ(A, B) WITHIN 9 s;")
    times = pa.array([1_700_000_000, 1_700_000_001], pa.timestamp("us", "UTC"))
    nothing = {n: pa.nulls(2, to_arrow(t)) for n, t in compiled.program.streams[0].input.columns}
    *_, sentence = sentences(compiled, pa.table({**nothing, "at": times, "kind": ["B", "A"]}))
    assert sentence == "the times in `at` are all in the year 1970, as if they had been made of numbers of another unit"


def test_queries_of_one_cause_are_named_together() -> None:
    queries = "".join(f"QUERY q{i} {ONE} PATTERN SEQ(A, Login) WITHIN {i + 1} s;\n" for i in range(3))
    assert said(STREAM + queries, "1 A 7;2 login 7") == [
        "`q0`, `q1` and `q2` have no rows: no event has the type `Login`; 1 event has `login`"
    ]


def test_ten_queries_say_why_and_the_others_are_counted() -> None:
    queries = "".join(f"QUERY q{i} {ONE} PATTERN A WHERE A.x > {i} WITHIN 9 s;\n" for i in range(100))
    found = said(STREAM + queries, "1 A 7;2 B 7")
    assert len(found) == 11
    assert found[9].startswith("`q9` has no rows")
    assert found[10] == "90 more queries have no rows; `cepc why` says why"


def test_a_query_says_at_most_three_things() -> None:
    wrong = " AND ".join(f"{v}.x > 5" for v in "abcde")
    query = f"QUERY q RETURN MATCH a.x PATTERN SEQ(A a, A b, A c, A d, A e) WHERE {wrong} WITHIN 9 s;"
    assert len(said(STREAM + query.replace("> 5", "> 5 + 0"), "1 A 7 1;2 A 7 2")) <= 3


def test_the_logger_says_the_same(caplog: pytest.LogCaptureFixture) -> None:
    written("1 A 7;2 login 7")
    compiled = cepc.compile(f"{STREAM}QUERY q {ONE} PATTERN SEQ(A, Login) WITHIN 9 s;")
    compiled.run("e.csv")
    assert not caplog.messages
    with caplog.at_level(logging.INFO, "cepc"):
        compiled.run("e.csv")
    assert caplog.messages == ["`q` has no rows: no event has the type `Login`; 1 event has `login`"]


LOGGED = [
    (
        "at,kind,x\n1,A,1\nno,A,2\n",
        {"skip_bad": True},
        "warning[W0717]: 1 record of `s` is no event, and was passed over",
    ),
    ("at,kind,x\n1,A,1\n,A,2\n2,,\n", {}, "dropped 1 without a time and 1 without a type of 3 events"),
]


@pytest.mark.parametrize(("text", "options", "logged"), LOGGED, ids=["a bad record", "no time and no type"])
def test_the_logger_says_what_was_passed_over(
    text: str, options: dict[str, Any], logged: str, caplog: pytest.LogCaptureFixture
) -> None:
    Path("e.csv").write_text(text)
    stream = "STREAM s (at BIGINT, kind STRING, x INT) EVENT TIME at UNIT s EVENT TYPE kind;"
    cepc.compile(f"{stream} QUERY q RETURN MATCH A.x PATTERN A WITHIN 9 s;").run("e.csv", **options)
    (message,) = caplog.messages
    assert message.startswith(logged)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_the_logger_says_that_nanoseconds_are_cut_off(caplog: pytest.LogCaptureFixture) -> None:
    frame = pd.DataFrame({"at": pd.to_datetime([1], unit="ns", utc=True), "x": [1]})
    program = "STREAM s (at TIMESTAMP, x INT) EVENT TIME at; QUERY q RETURN MATCH s.x AS x PATTERN s WITHIN 9 s;"
    assert cepc.compile(program).run(frame)["q"]["x"].tolist() == [1]
    assert caplog.messages[0].startswith("warning[W0718]: times of `at` have nanoseconds, which are cut off")


def test_cepc_why_says_it_where_no_row_is_chosen() -> None:
    written("1 A 7;2 login 7")
    Path("q.cep").write_text(f"{STREAM}QUERY q {ONE} PATTERN SEQ(Login, A) WITHIN 9 s;")
    result = CliRunner().invoke(command, ["why", "q.cep", "--events", "e.csv"])
    assert result.stdout.startswith("q: there is no row.\n\nNo event has the type `Login`; 1 event has `login`.\n\n")
    written("2 login 7")
    result = CliRunner().invoke(command, ["why", "q.cep", "--events", "e.csv"])
    assert "No event has the type `Login`; 1 event has `login`." in result.stdout
    assert " has ." not in result.stdout


def report_of(compiled: Compiled, table: pa.Table) -> Report:
    return run(compiled.program, lambda s, plan: read_given(table, plan, s.input), {})


def sentences(compiled: Compiled, table: pa.Table) -> list[str]:
    read = report_of(compiled, table).reads
    (query,) = compiled.program.queries
    return list(why_empty(compiled.program, query, read[query.stream], {}))


@pytest.mark.parametrize("by", ["command", "logger"])
def test_an_explanation_with_a_bug_takes_no_rows_away(
    by: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def wrong(*_: object) -> Iterator[str]:
        yield "a first cause"
        raise RuntimeError("\x1b[2J")

    monkeypatch.setattr(empty, "why_empty", wrong)
    written("1 A 7;2 A 7")
    program = f"{STREAM}QUERY q {ONE} PATTERN SEQ(A, B) WITHIN 9 s;QUERY r RETURN MATCH A.k PATTERN A WITHIN 9 s;"
    said = "why, cepc {version} cannot say: it has a bug (RuntimeError: \\x1b[2J). "
    said += "Please report it with the program that shows it; CEPC_DEBUG=1 prints the traceback."
    if by == "command":
        Path("q.cep").write_text(program)
        result = CliRunner().invoke(command, ["run", "q.cep", "--events", "e.csv", "--format", "jsonl"])
        assert result.exit_code == 0
        assert len(result.stdout.splitlines()) == 2
        lines = result.stderr.splitlines()
        assert lines[-1] == "2 events read from 1 file, none dropped; 2 rows of 2 queries"
    else:
        with caplog.at_level(logging.INFO, "cepc"):
            assert cepc.compile(program).run("e.csv")["r"].num_rows == 2
        lines = caplog.messages
    assert lines[:2] == ["`q` has no rows: a first cause", f"  and {said.format(version=version())}"]


def compiled_case(case: Case) -> tuple[Compiled, pa.Table]:
    try:
        compiled = cepc.compile(case.text)
    except cepc.ProgramError:
        reject()
    return compiled, table_of(compiled, case.rows)


def table_of(compiled: Compiled, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    columns = compiled.program.streams[0].input.columns
    return pa.table({n: pa.array([r.get(n) for r in rows], to_arrow(t)) for n, t in columns})


@given(drawn(cases()))
def test_what_is_certain_is_never_said_of_a_query_with_rows(case: Case) -> None:
    compiled, table = compiled_case(case)
    try:
        rows = report_of(compiled, table).tables["q"].num_rows
    except cepc.RunError:
        return
    found = sentences(compiled, table)
    certain = [sentence for sentence in found if not sentence.startswith(("HAVING", "without ", "the times in"))]
    assert not (rows and certain), certain


@given(drawn(cases()))
def test_all_beginnings_at_once_come_as_far_as_one_group_after_the_other(case: Case) -> None:
    compiled, table = compiled_case(case)
    try:
        read = report_of(compiled, table).reads["s"]
    except cepc.RunError:
        return
    (query,) = compiled.program.queries
    look_the_other_way(compiled, query, read)


def look_the_other_way(compiled: Compiled, query: Query, read: Read) -> bool:
    """Whether there was something to compare."""
    looked = look_at(compiled.program, query, read)
    if looked is None:
        return False
    reach = looked.reach(query.partition)
    events = reach.events
    letters = [looked.kinds.letters[kind] for kind in looked.kinds.of[events.order].tolist()]
    instants = np.repeat(np.arange(len(events.instant_starts) - 1), np.diff(events.instant_starts)).tolist()
    listed = [GroupEvent(i, instant, of) for i, (instant, of) in enumerate(zip(instants, letters, strict=True))]
    bounds = events.group_starts.tolist()
    groups = [listed[low:high] for low, high in pairwise(bounds)]
    least = min((furthest(looked.positions, group).missing for group in groups), default=None)
    if least is None:
        return False
    missing, found = distances(looked.positions), reach.furthest()
    assert min(missing[0], missing[found[0]] if found else missing[0]) == least
    assert reach.is_completed == (least == 0)
    begins = {edge.letter for edge in looked.positions.edges if edge.source == 0}
    assert (found is not None and found[0] > 0 and len(found[1]) > 0) == any(begins & e.letters for e in listed)
    return True


FEW: Final = 8
"""Events, at most: most queries have no rows then, and what may stand for something else is missing, too."""
STREAMS: Final = 4
WHOLE: Final = (r"  PATTERN \1", r"  PATTERN OR(D d9, \1)", r"  PATTERN OR(SEQ(C c9, D d9), \1)")
"""The pattern as it is, and beside what is shorter than most."""


def test_over_few_events_every_query_without_rows_is_explained() -> None:
    """What is said of types is compared with the events, and how far patterns come with one group after the other."""
    explained, compared, numbers = 0, 0, case_numbers()
    programs = 2 * len(numbers)
    for number in range(2 * numbers.start, 2 * numbers.stop):
        chance = Random(f"few events {number}")
        case, whole = cases(size=3)(chance), chance.choice(WHOLE)
        with suppress(cepc.ProgramError):
            compiled = cepc.compile(re.sub(r"^  PATTERN (.*)$", whole, case.text, flags=re.MULTILINE))
            for _ in range(STREAMS):
                kinds = chance.sample("ABCD", chance.randint(1, 4))
                rows = [row for row in case.rows if row["kind"] in kinds]
                rows = chance.sample(rows, min(len(rows), chance.randint(0, FEW)))
                table = table_of(compiled, rows)
                with suppress(cepc.RunError):
                    report = report_of(compiled, table)
                    for query in compiled.program.queries:
                        if not report.tables[query.name].num_rows:
                            read = report.reads[query.stream]
                            sentences = list(why_empty(compiled.program, query, read, {}))
                            assert_true(sentences, rows)
                            explained += bool(sentences)
                            compared += look_the_other_way(compiled, query, read)
    assert explained > STREAMS * programs
    assert compared > STREAMS * programs


def assert_true(sentences: list[str], rows: list[dict[str, Any]]) -> None:
    """What can be seen without a pattern: how many events there are and of which types."""
    timed = Counter(row["kind"] for row in rows if row["at"] is not None)
    for sentence in sentences:
        assert (sentence == "there are no events") == (not rows), sentences
        if sentence.startswith("no event has the type"):
            (never, _), *others = re.findall(r"`(\w+)`(?: \((\d+)\))?", sentence)
            assert all(row["kind"] != never for row in rows), sentence
            assert all(timed[name] == int(count) for name, count in others), sentence
        assert not re.search(r"\b(in|in all|of|for|and) 0 ", sentence), sentence
