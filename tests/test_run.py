"""`cepc run` and `cepc.compile(…).run(…)` from end to end, on events small enough to count by hand."""

import io
import json
import os
import re
import subprocess
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from pyarrow import compute, dataset

import cepc
from cepc.cli import cepc as command

STREAM = """\
STREAM rides (at TIMESTAMP, kind STRING, driver BIGINT, district STRING, minutes DOUBLE)
EVENT TIME at
EVENT TYPE kind IN ('Pickup', 'Travel', 'Delivery', 'Cancel');
"""
DELIVERED = """\
QUERY delivered
  RETURN   district, COUNT(*) AS trips, SUM(Travel.minutes) AS minutes
  PATTERN  SEQ(Pickup, Travel+, Delivery)
  WHERE    [driver]
  GROUP BY district
  WITHIN   1 HOUR SLIDE 30 MINUTES;
"""
CANCELLED = """\
QUERY cancelled
  RETURN  Pickup.driver AS driver, Cancel.at AS at
  PATTERN SEQ(Pickup, Cancel)
  WHERE   [driver]
  WITHIN  1 HOUR;
"""
PROGRAM = STREAM + DELIVERED + CANCELLED

# Driver 7 has two travels (three trends), driver 8 one (one trend) and a cancellation.
EVENTS = [
    ("10:35", "Pickup", 7, "north", None),
    ("10:40", "Travel", 7, "north", 2.5),
    ("10:45", "Travel", 7, "north", 4.0),
    ("10:50", "Delivery", 7, "north", None),
    ("10:31", "Pickup", 8, "south", None),
    ("10:36", "Travel", 8, "south", 1.0),
    ("10:37", "Delivery", 8, "south", None),
    ("10:59", "Cancel", 8, "south", None),
    (None, "Cancel", 8, "south", None),
    ("10:59", None, 8, "south", None),
]
MINUTES = 2.5 + 4.0 + 6.5  # of the trends {t1}, {t2}, {t1, t2}
WINDOWS = [("10:00", "11:00"), ("10:30", "11:30")]


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rides.cep").write_text(PROGRAM)
    write_events("rides.jsonl")


def time(clock: str | None) -> str | None:
    return clock and f"2026-01-31T{clock}:00Z"


def rows(events: Any = EVENTS) -> list[dict[str, Any]]:
    names = ("at", "kind", "driver", "district", "minutes")
    return [dict(zip(names, (time(at), *rest), strict=True)) for at, *rest in events]


def write_events(name: str, events: Any = EVENTS) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows(events)))


def table() -> pa.Table:
    frame = pa.Table.from_pylist(rows())
    at = pa.array([r["at"] and r["at"].removesuffix("Z") for r in rows()]).cast(pa.timestamp("us"))
    return frame.set_column(0, "at", at.view(pa.timestamp("us", "UTC")))


def run(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(command, ["run", *arguments], input=stdin)


def expected_delivered() -> list[dict[str, Any]]:
    return [
        {"query": "delivered", "district": district, "trips": trips, "minutes": minutes,
         "window_start": time(start), "window_end": time(end)}
        for start, end in WINDOWS
        for district, trips, minutes in (("north", 3, MINUTES), ("south", 1, 1.0))
    ]  # fmt: skip


def expected_cancelled() -> list[dict[str, Any]]:
    return [
        {
            "query": "cancelled",
            "driver": 8,
            "at": time("10:59"),
            "match_start": time("10:31"),
            "match_end": time("10:59"),
        }
    ]


def objects(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


# ---- rows ------------------------------------------------------------------------------------------------------------


def test_rows_of_all_queries_as_json_lines_and_a_summary() -> None:
    result = run("rides.cep", "--events", "rides.jsonl")
    assert result.exit_code == 0, result.stderr
    assert objects(result) == expected_delivered() + expected_cancelled()
    assert result.stderr.splitlines()[-1] == (
        "10 events read from 1 file, dropped 1 without a time and 1 without a type; 5 rows of 2 queries"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are texts elsewhere")
def test_a_file_whose_name_is_no_text_is_read_like_any_other() -> None:
    Path("odd").mkdir()
    odd = os.fsdecode(b"odd/\xff.jsonl")
    Path("rides.jsonl").rename(odd)
    for given in (odd, "odd"):
        result = run("rides.cep", "--events", given)
        assert objects(result) == expected_delivered() + expected_cancelled()
    begun = CliRunner().invoke(command, ["init", odd])
    assert "its name is no text in UTF-8" in begun.stderr
    assert "give it another name" in begun.stderr


def test_a_query_can_be_chosen_and_cut() -> None:
    result = run("rides.cep", "--events", "rides.jsonl", "--query", "delivered", "--limit", "1")
    assert objects(result) == expected_delivered()[:1]
    assert result.stderr.splitlines()[-1].endswith("4 rows of 1 query, 1 of them written")


def test_a_table_for_people() -> None:
    result = run(
        "rides.cep", "--events", "rides.jsonl", "--format", "table", "--query", "cancelled", "--query", "delivered"
    )
    assert result.stdout.splitlines() == [
        "delivered  4 rows",
        "district   trips   minutes   window_start          window_end",
        "─" * 70,
        "north          3      13.0   2026-01-31 10:00:00   2026-01-31 11:00:00",
        "south          1       1.0   2026-01-31 10:00:00   2026-01-31 11:00:00",
        "north          3      13.0   2026-01-31 10:30:00   2026-01-31 11:30:00",
        "south          1       1.0   2026-01-31 10:30:00   2026-01-31 11:30:00",
        "",
        "cancelled  1 row",
        "driver   at                    match_start           match_end",
        "─" * 72,
        "     8   2026-01-31 10:59:00   2026-01-31 10:31:00   2026-01-31 10:59:00",
    ]


def test_csv_of_one_query() -> None:
    result = run("rides.cep", "--events", "rides.jsonl", "--format", "csv", "--query", "cancelled")
    assert result.stdout.splitlines() == [
        "driver,at,match_start,match_end",
        "8,2026-01-31T10:59:00Z,2026-01-31T10:31:00Z,2026-01-31T10:59:00Z",
    ]


@pytest.mark.parametrize("form", [None, "parquet", "csv", "jsonl"])
def test_a_file_for_each_query(form: str | None) -> None:
    result = run("rides.cep", "--events", "rides.jsonl", "--output", "out", *(["--format", form] if form else []))
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines()[-1].endswith("5 rows of 2 queries in out")
    suffix = form or "parquet"
    assert sorted(p.name for p in Path("out").iterdir()) == [f"cancelled.{suffix}", f"delivered.{suffix}"]
    if suffix == "parquet":
        assert pq.read_table("out/delivered.parquet").column("trips").to_pylist() == [3, 1, 3, 1]


def test_events_from_standard_input_from_a_directory_and_from_where_the_stream_says() -> None:
    expected = expected_delivered() + expected_cancelled()
    assert objects(run("rides.cep", "--events", "-", stdin=Path("rides.jsonl").read_bytes())) == expected
    for i, event in enumerate(EVENTS):
        write_events(f"data/part-{i}.jsonl", [event])
    assert objects(run("rides.cep", "--events", "data")) == expected
    source = PROGRAM.replace("'Cancel');", "'Cancel')\nFROM JSON 'data';")
    Path("from.cep").write_text(source)
    assert objects(run("from.cep")) == expected
    # Not from here, but from where the program is.
    Path("elsewhere/data").mkdir(parents=True)
    write_events("elsewhere/data/x.json", EVENTS[4:5] + EVENTS[7:8])
    Path("elsewhere/from.cep").write_text(source.replace("'data'", "'data/x.json'"))
    assert objects(run("elsewhere/from.cep")) == expected_cancelled()
    # The command line overrides it.
    assert objects(run("from.cep", "--events", "elsewhere/data/x.json")) == expected_cancelled()


def test_several_files_are_one_program_and_programs_come_from_standard_input() -> None:
    Path("stream.cep").write_text(STREAM)
    result = run("stream.cep", "-", "--events", "rides.jsonl", stdin=CANCELLED)
    assert objects(result) == expected_cancelled()


def test_two_streams_are_named() -> None:
    other = STREAM.replace("STREAM rides", "STREAM bikes")
    queries = CANCELLED.replace("RETURN", "FROM rides RETURN") + (
        CANCELLED.replace("QUERY cancelled", "QUERY bike").replace("RETURN", "FROM bikes RETURN")
    )
    Path("two.cep").write_text(STREAM + other + queries)
    result = run("two.cep", "--events", "rides.jsonl")
    assert result.exit_code == 2
    cure = "`--events rides=rides.jsonl` and `--events bikes=PATH`"
    assert f"the queries read `rides` and `bikes`: write {cure}" in result.stderr
    for arguments, said in (
        (["--events", "rides=rides.jsonl"], "help: name them: `--events bikes=PATH`, a Parquet, CSV"),
        (["--events", "rides=rides.jsonl", "--events", "cars=rides.jsonl"],
         "no query reads a stream `cars`; the queries read `rides` and `bikes`"),
        (["--events", "rides=rides.jsonl", "--events", "bike=-"], "no query reads a stream `bike`; did you mean `bikes`?"),
        (["--events", "rides.jsonl", "--engine", "spark"], "write `--events rides=rides.jsonl`"),
        (["--events", "rides=rides.jsonl", "--events", "b.csv"], "write `--events bikes=b.csv`\n"),
    ):  # fmt: skip
        result = run("two.cep", *arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert said in result.stderr
    write_events("bikes.jsonl", [])
    result = run("two.cep", "--events", "rides=rides.jsonl", "--events", "bikes=bikes.jsonl")
    assert objects(result) == expected_cancelled()
    assert result.stderr.splitlines()[-1].startswith("10 events read from 2 files")
    # One stream's query needs one stream's events, and leaves those of others alone.
    of_both = ("--events", "rides=rides.jsonl", "--events", "bikes=nothing.jsonl")
    result = run("two.cep", *of_both, "--query", "cancelled")
    assert objects(result) == expected_cancelled()
    assert result.stderr.splitlines()[-1].startswith("10 events read from 1 file")
    assert (
        "no query reads a stream `cars`"
        in run("two.cep", *of_both, "--events", "cars=-", "--query", "cancelled").stderr
    )
    assert objects(run("two.cep", "--events", "rides.jsonl", "--query", "cancelled")) == expected_cancelled()


@pytest.mark.parametrize(
    ("type_", "unit", "values", "start"),
    [
        ("BIGINT", " UNIT ms", [1_000, 2_000], 0),
        ("INT", "", [1, 2], 0),
        ("DATE", "", ["2026-01-02", "2026-01-03"], "2026-01-02"),
        ("TIMESTAMP_NTZ", "", ["2026-01-31T10:00:00", "2026-01-31T10:00:01"], "2026-01-27T00:00:00"),
    ],
)
def test_window_columns_have_the_type_of_the_event_time(type_: str, unit: str, values: list[Any], start: Any) -> None:
    Path("t.cep").write_text(
        f"STREAM s (t {type_}, kind STRING) EVENT TIME t{unit} EVENT TYPE kind IN ('A', 'B');\n"
        "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 5 DAYS SLIDE 5 DAYS;"
    )
    lines = (json.dumps({"t": t, "kind": k}) for t, k in zip(values, "AB", strict=True))
    Path("t.jsonl").write_text("\n".join(lines))
    (row,) = objects(run("t.cep", "--events", "t.jsonl"))
    assert (row["n"], row["window_start"]) == (1, start)


def test_an_empty_file_has_no_rows() -> None:
    Path("empty.csv").write_text("")
    result = run("rides.cep", "--events", "empty.csv")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines()[-1] == "0 events read from 1 file, none dropped; 0 rows of 2 queries"


def test_rows_that_no_pattern_can_use_are_left_out_but_counted() -> None:
    more = [("10:32", "Cancel", 7, "north", None), (None, "Cancel", 9, "north", None)]
    write_events("rides.jsonl", EVENTS + more)
    result = run("rides.cep", "--events", "rides.jsonl", "--query", "delivered")
    assert objects(result) == expected_delivered()
    assert "12 events read from 1 file, dropped 2 without a time and 1 without a type" in result.stderr


# ---- what goes wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["rides.cep"], 2, "error[E0705]: no events are named for the stream `rides`"),
        (["rides.cep"], 2, "name them: `--events PATH`, a Parquet, CSV, JSON lines, ORC or Avro file"),
        (["nowhere.cep", "--events", "rides.jsonl"], 2, "error[E0001]"),
        (["rides.cep", "--events", "ride.jsonl"], 2, "did you mean `rides.jsonl`?"),
        (["rides.cep", "--events", "rides.jsonl", "--query", "deliverd"], 2, "there is no query `deliverd`; did you mean `delivered`?"),
        (["rides.cep", "--events", "rides.jsonl", "--query", "zzz"], 2, "there are `delivered`, `cancelled`"),
        (["rides.cep", "--events", "rides.jsonl", "--query", "delivered, cancelled"], 2,
         "there is no query `delivered, cancelled`; name each by itself, `delivered` and `cancelled`"),
        (["rides.cep", "--events", "rides.jsonl", "--format", "csv"], 2, "choose one with --query, or give --output DIR"),
        (["rides.cep", "--events", "rides.jsonl", "--format", "parquet"], 2, "--format parquet requires --output DIR"),
        (["rides.cep", "--events", "rides.jsonl", "--format", "table", "--output", "x"], 2,
         "--format table is for a terminal; with --output choose jsonl, csv or parquet"),
        (["rides.cep", "--events", "rides.jsonl", "--output", "rides.cep"], 2, "error[E0008]: the results cannot be written"),
        (["rides.cep", "--events", "rides.jsonl", "--events", "rides.jsonl"], 2, "the events of `rides` are named twice"),
        (["rides.cep", "--events", "-", "--engine", "spark"], 2, "the events at `-` are a pipe, which Spark does not read"),
        (["rides.cep", "--events", "pipe", "--engine", "spark"], 2, "leave `--engine spark` out, or write them to a file first"),
        (["rides.cep", "--events", "x=rides.jsonl"], 2, "no query reads a stream `x`; the queries read `rides`"),
        (["rides.cep", "--events", "rids=-"], 2, "no query reads a stream `rids`; did you mean `rides`?"),
        (["rides.cep", "--events", "rides.jsonl", "--events", "x=none.jsonl"], 2,
         "no query reads a stream `x`: leave `--events x=none.jsonl` out"),
        (["rides.cep", "--events", "rids=none.jsonl", "--events", "rides=rides.jsonl"], 2,
         "no query reads a stream `rids`: leave `--events rids=none.jsonl` out"),
        (["rides.cep", "--events", "x=none.jsonl"], 2, "error[E0701]: there are no events at `x=none.jsonl`"),
        (["rides.cep", "--events", "rides.jsonl", "--limit", "-1"], 2, "-1 is not in the range"),
        (["rides.cep", "--events", "rides.jsonl", "--engine", "flink"], 2, "'flink' is not"),
        (["kafka.cep"], 2, "error[E0705]: FROM KAFKA is read by Spark alone"),
        (["wrong.cep", "--events", "rides.jsonl"], 1, "did you mean `Travel`?"),
        (["queries.cep", "--events", "rides.jsonl"], 1, "error[E0805]: there is nothing to run: the program has no STREAM"),
        (["stream.cep", "--events", "rides.jsonl"], 1, "error[E0805]: there is nothing to run: the program has no QUERY"),
        (["rides.cep", "--events", "rides.csv"], 1, "error[E0706]: the events have no column `driver`"),
        (["divide.cep", "--events", "rides.jsonl"], 1, "error[E0804]: division by zero in"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_on_standard_error(arguments: list[str], status: int, said: str) -> None:
    Path("wrong.cep").write_text(PROGRAM.replace("Travel+", "Travle+"))
    Path("queries.cep").write_text(DELIVERED)
    Path("stream.cep").write_text(STREAM)
    Path("kafka.cep").write_text(PROGRAM.replace("'Cancel');", "'Cancel') FROM KAFKA 'broker';"))
    Path("divide.cep").write_text(
        PROGRAM.replace("[driver]\n  GROUP", "[driver] AND 1 / (Travel.minutes - 1) > 0\n  GROUP")
    )
    Path("rides.csv").write_text("at,kind,district,minutes\n")
    os.mkfifo("pipe")
    result = run(*arguments)
    assert said in result.stderr
    assert (result.exit_code, result.stdout) == (status, "")


def test_a_count_that_does_not_fit_is_an_error_with_its_group_and_window_and_the_cures_help() -> None:
    many: list[Any] = [("10:30", "Pickup", 7, "north", None)]
    many += [(f"10:{31 + i // 60}:{i % 60:02}", "Travel", 7, "north", 1.0) for i in range(70)]
    events = [{**row, "at": row["at"].replace(":00Z", "Z") if i else row["at"]} for i, row in enumerate(rows(many))]
    events.append(rows([("10:50", "Delivery", 7, "north", None)])[0])
    Path("many.jsonl").write_text("".join(json.dumps(row) + "\n" for row in events))
    plain = STREAM + DELIVERED.replace(", SUM(Travel.minutes) AS minutes", "")
    for count, value in (
        ("COUNT(*)", None),
        ("CAST(COUNT(*) AS STRING)", str(2**70 - 1)),
        ("CAST(COUNT(*) AS DECIMAL(38,0))", 2**70 - 1),
        ("TRY_COUNT(*)", "null"),
    ):
        Path("many.cep").write_text(plain.replace("COUNT(*)", count))
        result = run("many.cep", "--events", "many.jsonl")
        if value is None:
            assert result.exit_code == 1
            assert "error[E0802]: COUNT(*) of `delivered` does not fit BIGINT" in result.stderr
            assert (
                "in the window from 2026-01-31T10:00:00Z to 2026-01-31T11:00:00Z, for district = north" in result.stderr
            )
            assert "CAST(COUNT(*) AS STRING) is exact at any size" in result.stderr
            assert "--> many.cep:5:22" in result.stderr
        else:
            assert [row["trips"] for row in objects(result)] == [None if value == "null" else value] * 2


@pytest.mark.parametrize(
    ("shown", "having", "code", "cure", "cured"),
    [
        ("SUM(B.x) + 1", "", "E0802", "CAST(SUM(B.x) AS DOUBLE) is approximate at any size, TRY_SUM(B.x) is null instead", None),
        ("3 / COUNT(*)", "", "E0802", "CAST(COUNT(*) AS DOUBLE) is approximate at any size", None),
        ("COALESCE(COUNT(*), 0)", "", "E0802", "CAST(COUNT(*) AS DOUBLE) is approximate at any size", None),
        ("MAX(B.x)", "HAVING SQRT(COUNT(*)) > 3", "E0802", "CAST(COUNT(*) AS DOUBLE) is approximate at any size", None),
        ("'n' || COUNT(*)", "", "E0802", "CAST(COUNT(*) AS STRING) is exact at any size", None),
        ("CAST(COUNT(*) AS STRING) + 1", "", "E0804", "CAST(COUNT(*) AS DOUBLE) is a number", "CAST(COUNT(*) AS STRING)"),
        ("COALESCE(CAST(COUNT(*) AS STRING), 0)", "", "E0804", "CAST(COUNT(*) AS DOUBLE) is a number", "CAST(COUNT(*) AS STRING)"),
        ("TRY_CAST(SUM(B.x) AS STRING) * 2", "", "E0804", "TRY_CAST(SUM(B.x) AS DOUBLE) is a number", "TRY_CAST(SUM(B.x) AS STRING)"),
    ],
)  # fmt: skip
def test_the_cure_of_what_does_not_fit_works_where_the_aggregate_stands(
    shown: str, having: str, code: str, cure: str, cured: str | None
) -> None:
    stream = "STREAM s (at BIGINT, kind STRING, x INT) EVENT TIME at EVENT TYPE kind IN ('A', 'B');\n"
    query = f"QUERY q RETURN {shown} AS n PATTERN SEQ(A, B+) {having} WITHIN 1000 s;"
    Path("many.csv").write_text("at,kind,x\n0,A,1\n" + "".join(f"{i},B,{i}\n" for i in range(1, 140)))
    Path("many.cep").write_text(stream + query)
    failed = run("many.cep", "--events", "many.csv")
    assert f"error[{code}]" in failed.stderr
    assert f"help: {cure}" in failed.stderr
    named = cure.split(" is ")[0]
    written = cured or re.sub(r" AS \w+\)$", "", named.removeprefix("CAST("))
    assert cured is None or f"cannot be read as BIGINT in `{cured}`" in failed.stderr
    Path("many.cep").write_text(stream + query.replace(written, named))
    assert run("many.cep", "--events", "many.csv").exit_code == 0


@pytest.mark.parametrize("counted", ["COUNT(*) AS c", "MATCH k"])
@pytest.mark.parametrize(
    ("condition", "failed"),
    [
        ("A.n + B.n > 3", "A.n + B.n"),
        ("A.n < B.n + A.n", "B.n + A.n"),
        ("A.n + 5 < B.n", "A.n + 5"),
        ("B.n < A.n + 5", "A.n + 5"),
    ],
)
def test_what_fails_between_two_events_is_shown_where_it_stands(counted: str, condition: str, failed: str) -> None:
    after = " AFTER MATCH SKIP PAST LAST EVENT" if counted == "MATCH k" else ""
    select = f"SELECT NEXT{after}" if after else ""
    Path("large.csv").write_text(f"at,kind,k,n\n1,A,1,{2**63 - 1}\n2,B,1,1\n")
    Path("large.cep").write_text(
        "STREAM s (at BIGINT, kind STRING, k INT, n BIGINT) EVENT TIME at EVENT TYPE kind IN ('A', 'B');\n"
        f"QUERY q RETURN {counted} PATTERN SEQ(A, B)\nWHERE [k] AND {condition}\n{select} WITHIN 9 s;"
    )
    said = run("large.cep", "--events", "large.csv").stderr
    assert "error[E0804]: BIGINT overflow in" in said
    assert "earlier" not in said
    assert "later" not in said
    column = f"WHERE [k] AND {condition}".index(failed) + 1
    assert f"--> large.cep:3:{column}\n" in said


def test_texts_in_what_fails_between_two_events_stay_as_they_are() -> None:
    Path("texts.csv").write_text("at,kind,k,n\n1,A,1,1\n2,B,1,1\n")
    Path("texts.cep").write_text(
        "STREAM s (at BIGINT, kind STRING, k INT, n BIGINT) EVENT TIME at EVENT TYPE kind IN ('A', 'B');\n"
        "QUERY q RETURN COUNT(*) AS c PATTERN SEQ(A, B)\n"
        "WHERE [k] AND CAST(CONCAT('it''s later.', STRING(A.n)) AS BIGINT) < B.n WITHIN 9 s;"
    )
    said = run("texts.cep", "--events", "texts.csv").stderr
    assert "cannot be read as BIGINT in `CAST(concat('it\\'s later.', CAST(n AS STRING)) AS BIGINT)`" in said


def test_the_cure_of_an_average_that_does_not_fit_works() -> None:
    stream = "STREAM s (at BIGINT, kind STRING, z DECIMAL(38, 37)) EVENT TIME at EVENT TYPE kind IN ('A');\n"
    query = "QUERY q RETURN {} AS n PATTERN A WITHIN 1000 s;"
    Path("large.csv").write_text("at,kind,z\n1,A,9\n2,A,8\n")
    Path("large.cep").write_text(stream + query.format("AVG(A.z)"))
    failed = run("large.cep", "--events", "large.csv")
    assert "help: AVG(CAST(A.z AS DOUBLE)) is approximate at any size" in failed.stderr
    Path("large.cep").write_text(stream + query.format("AVG(CAST(A.z AS DOUBLE))"))
    assert [row["n"] for row in objects(run("large.cep", "--events", "large.csv"))] == [8.5]


def test_too_many_partial_matches_are_an_error_that_names_the_condition(monkeypatch: pytest.MonkeyPatch) -> None:
    from cepc_runtime.enumerate.budget import MatchBudget

    made = MatchBudget.__init__
    monkeypatch.setattr(MatchBudget, "__init__", lambda self, query, _limit, *why: made(self, query, 3, *why))
    condition = "Pickup.driver + Travel.driver + Delivery.driver > 0"
    Path("pairs.cep").write_text(STREAM + DELIVERED.replace("[driver]", condition))
    result = run("pairs.cep", "--events", "rides.jsonl")
    assert result.exit_code == 1, result.output
    assert "error[E0803]: `delivered` has too many partial matches" in result.stderr
    assert condition in result.stderr


@pytest.mark.parametrize("bound", ["COUNT(t) <= 3", "COUNT(t) < 4"])
def test_a_bound_of_all_events_has_a_cure_with_the_same_rows(bound: str) -> None:
    stream = "STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'B');\n"
    query = "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A{many} t, B) {where}WITHIN UNBOUNDED;"
    events = pa.table({"at": range(13), "kind": ["A"] * 12 + ["B"]})
    whole = cepc.compile(stream + query.format(many="+", where=f"WHERE {bound} "))
    with pytest.raises(cepc.RunError) as error:
        whole.run(events, most=200)
    for said in (str(error.value), str(whole.warnings)):
        assert "a quantifier has the bound without listing: `{1,3}` in place of `+`" in said
    expected = whole.run(events, most=1_000)["q"].to_pylist()  # of 4,095 that A+ has
    assert [row["n"] for row in expected] == [12 + 66 + 220]
    cure = cepc.compile(stream + query.format(many="{1,3}", where=""))
    assert cure.run(events, most=1)["q"].to_pylist() == expected


def test_warnings_do_not_fail_and_come_without_a_count() -> None:
    text = (STREAM + CANCELLED).replace(" IN ('Pickup', 'Travel', 'Delivery', 'Cancel')", "")
    Path("open.cep").write_text(text.replace("Cancel)", "Cancl)").replace("Cancel.at", "Cancl.at"))
    result = run("open.cep", "--events", "rides.jsonl")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "warning[W0713]: no event has the type `Cancl`" in result.stderr
    assert "did you mean `Cancel`?" in result.stderr
    assert "no errors" not in result.stderr


def test_a_failed_run_leaves_the_results_of_the_one_before() -> None:
    assert run("rides.cep", "--events", "rides.jsonl", "--output", "out").exit_code == 0
    before = Path("out/delivered.parquet").read_bytes()
    Path("rides.jsonl").write_text("{}")
    assert run("rides.cep", "--events", "rides.jsonl", "--output", "out").exit_code == 1
    assert Path("out/delivered.parquet").read_bytes() == before


def test_an_edge_of_a_window_that_is_no_time_is_an_error() -> None:
    Path("t.cep").write_text(
        "STREAM s (t INT, kind STRING) EVENT TIME t EVENT TYPE kind IN ('A', 'B');\n"
        "QUERY good RETURN COUNT(*) AS n PATTERN SEQ(B) WITHIN 10 SECONDS SLIDE 10 SECONDS;\n"
        "QUERY bad RETURN COUNT(*) AS n PATTERN SEQ(A) WITHIN 10 SECONDS SLIDE 10 SECONDS;"
    )
    Path("t.csv").write_text("t,kind\n0,B\n2147483647,A\n")
    result = run("t.cep", "--events", "t.csv")
    assert result.exit_code == 1
    assert "error[E0808]: an edge of a window of `bad` is no INT" in result.stderr
    assert "--> t.cep:3:1" in result.stderr


@pytest.mark.parametrize("tick", [2**63 - 1, -(2**63)])
def test_windows_do_not_wrap_where_matches_are_listed(tick: int) -> None:
    Path("t.cep").write_text(
        "STREAM s (t BIGINT, kind STRING, x INT) EVENT TIME t EVENT TYPE kind;\n"
        "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, C, B) WHERE A.x < B.x WITHIN 10 SECONDS SLIDE 5 SECONDS;"
    )
    Path("t.csv").write_text(f"t,kind,x\n{tick},A,1\n0,B,2\n1,C,2\n")
    result = run("t.cep", "--events", "t.csv")
    assert result.exit_code == 1
    assert "error[E0808]: an edge of a window of `q` is no BIGINT" in result.stderr
    assert "look for events with a wrong time" in result.stderr


def test_standard_output_may_be_closed_or_full() -> None:
    for target, status in ((">&-", 0), ("> /dev/full", 2)):
        script = f"{sys.executable} -m cepc run rides.cep --events rides.jsonl {target}"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=120)
        assert done.returncode == status, done.stderr
        assert "bug" not in done.stderr
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr


# ---- at a terminal ---------------------------------------------------------------------------------------------------


def terminal(*arguments: str, **environment: str) -> str:
    """What a terminal gets of a run."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "cepc", "run", *arguments],
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, **environment},
    )
    os.close(theirs)
    seen = b""
    try:
        while piece := os.read(ours, 65536):
            seen += piece
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    assert process.wait(timeout=120) == 0, seen.decode()
    return seen.decode()


def test_a_terminal_gets_a_table() -> None:
    seen = terminal("rides.cep", "--events", "rides.jsonl", "--query", "cancelled", TERM="xterm", COLUMNS="100")
    assert "\x1b[" in seen
    assert "cancelled" in seen
    assert "2026-01-31 10:59:00" in seen
    assert "{" not in seen
    plain = terminal("rides.cep", "--events", "rides.jsonl", "--query", "cancelled", NO_COLOR="1", COLUMNS="100")
    assert "\x1b[3" not in plain


# ---- from Python -----------------------------------------------------------------------------------------------------


def test_from_python_on_a_table_a_path_and_a_stream_of_batches() -> None:
    compiled = cepc.compile(PROGRAM)
    assert compiled.queries == ("delivered", "cancelled")
    for events in (table(), "rides.jsonl", Path("rides.jsonl"), table().to_reader()):
        found = compiled.run(events)
        assert list(found) == ["delivered", "cancelled"]
        assert found["delivered"].column("trips").to_pylist() == [3, 1, 3, 1]
        assert found["cancelled"].column_names == ["driver", "at", "match_start", "match_end"]
    assert list(compiled.run({"rides": table()}, "cancelled")) == ["cancelled"]
    assert list(compiled.run(table(), ["cancelled"])) == ["cancelled"]


@pytest.mark.parametrize(
    ("type_", "values", "inside"),
    [("STRING", ["a", None, "a"], pa.string_view()), ("BINARY", [b"a", b"b", None], pa.binary_view())],
)
def test_from_python_dictionaries_of_views_are_read_as_polars_has_categories(
    type_: str, values: list[Any], inside: Any
) -> None:
    plain = pa.array(values).dictionary_encode()
    column = pa.DictionaryArray.from_arrays(plain.indices, plain.dictionary.cast(inside))
    found = cepc.compile(ONE.format("x", type_)).run(pa.table({"t": pa.array([1, 2, 3], pa.int32()), "x": column}))["q"]
    assert found["x"].to_pylist() == values


def test_from_python_a_program_is_a_text_or_files() -> None:
    Path("stream.cep").write_text(STREAM)
    Path("query.cep").write_text(CANCELLED)
    for programs in ((STREAM, CANCELLED), ("stream.cep", "query.cep"), (Path("stream.cep"), "query.cep")):
        assert cepc.compile(*programs).queries == ("cancelled",)
    Path("query.txt").write_text(STREAM + CANCELLED)
    assert cepc.compile("query.txt").queries == ("cancelled",)
    with pytest.raises(cepc.ProgramError, match=r"is a SQL text(?s:.*)`cepc.sql\(spark, text\)`"):
        cepc.compile("clauses.sql")
    with pytest.raises(ValueError, match="give texts or files, not both"):
        cepc.compile("stream.cep", CANCELLED)


def test_from_python_what_pandas_reads_from_csv_has_times_and_decimals() -> None:
    text = "at,kind,price\n2026-03-02 10:00:00,A,\n2026-03-02 10:01:00,A,30\n2026-03-02 10:03:00,A,80.1\n"
    program = """STREAM s (at TIMESTAMP, kind STRING, price DECIMAL(10,2)) EVENT TIME at EVENT TYPE kind;
QUERY q RETURN MATCH a.price PATTERN A a WITHIN 1 s;"""
    found = cepc.compile(program).run(pd.read_csv(io.StringIO(text)))["q"]
    assert found["price"].tolist() == [None, Decimal("30.00"), Decimal("80.10")]
    for wrong, said in (
        (text + "never,A,1\n", "`never` is no TIMESTAMP for `at`"),
        (text + "2026-03-03,A,0.123\n", "`0.123` is no DECIMAL"),
    ):
        with pytest.raises(cepc.DataError, match=said):
            cepc.compile(program).run(pd.read_csv(io.StringIO(wrong)))


def test_from_python_frames_give_frames() -> None:
    frame = table().to_pandas()
    assert frame["driver"].dtype == "int64"
    frame["driver"] = frame["driver"].astype("float64")  # as pandas does where one is missing
    found = cepc.compile(PROGRAM).run(frame)
    assert isinstance(found["delivered"], pd.DataFrame)
    assert found["delivered"]["trips"].tolist() == [3, 1, 3, 1]
    assert found["delivered"]["minutes"].tolist() == [MINUTES, 1.0] * 2
    assert str(found["delivered"]["window_start"].dtype) == "datetime64[us, UTC]"
    naive = frame.assign(at=frame["at"].dt.tz_localize(None))
    assert cepc.compile(PROGRAM).run(naive)["cancelled"]["driver"].tolist() == [8]


def test_from_python_integers_with_nulls_stay_integers_and_small_ones_are_made_of_large() -> None:
    program = """
    STREAM s (t INT, kind STRING, x BIGINT) EVENT TIME t EVENT TYPE kind IN ('A');
    QUERY q RETURN A.x AS x PATTERN SEQ(A) WITHIN 1 SECOND;
    """
    frame = pd.DataFrame({"t": [1, 2], "kind": ["A", "A"], "x": pd.array([2**62 + 1, None], "Int64")})
    found = cepc.compile(program).run(frame)["q"]
    assert found["x"].tolist() == [2**62 + 1, pd.NA]
    assert found["x"].dtype == "Int64"
    with pytest.raises(cepc.DataError, match="the column `t` is "):
        cepc.compile(program).run(frame.assign(t=[1, 2**40]))
    with pytest.raises(cepc.DataError, match="the column `x` is "):
        cepc.compile(program).run(frame.assign(x=[1.5, 2.0]))
    with pytest.raises(cepc.DataError, match="no column `kind`"):
        cepc.compile(program).run(frame.drop(columns="kind"))


def test_from_python_integers_beside_nulls_in_arrays_and_structs_are_exact_in_frames() -> None:
    program = """
    STREAM s (at TIMESTAMP, kind STRING, id BIGINT) EVENT TIME at EVENT TYPE kind IN ('A', 'B');
    QUERY ids RETURN MATCH COLLECT(B.id) AS ids PATTERN SEQ(A, B{2}) WITHIN 1 MINUTE;
    QUERY whole RETURN MATCH * PATTERN SEQ(A, B{2}) WITHIN 1 MINUTE;
    """
    frame = pd.DataFrame({
        "at": pd.to_datetime(["2026-03-02 10:00:01", "2026-03-02 10:00:02", "2026-03-02 10:00:03"], utc=True),
        "kind": ["A", "B", "B"],
        "id": pd.array([None, 2**53 + 1, None], "Int64"),
    })  # fmt: skip
    found = cepc.compile(program).run(frame)
    (row,) = found["ids"].to_dict("records")
    assert row["ids"] == [2**53 + 1, None]
    (events,) = found["whole"]["events"]
    assert [event["id"] for event in events] == [None, 2**53 + 1, None]


@pytest.mark.parametrize(
    ("type_", "values", "said", "hint"),
    [
        ("INT", [1.5, 1, 1], "is DOUBLE with values such as `1.5`, and INT is expected",
         "declare it as DOUBLE, if that is what is meant, or change the data"),
        ("TINYINT", [1, 2, 300], "is BIGINT with values such as `300`, and TINYINT is expected", "declare it as BIGINT,"),
        ("STRING", ["a", 1, None], "is of Python's `str` and `int`, and STRING is expected",
         "make all of its values STRING: `frame['x'] = frame['x'].astype('string')`"),
        ("INT", [1, "a", 2.5], "is of Python's `int`, `str` and `float`, and INT is expected", "make all of its values INT in the frame"),
        ("INT", [1j, 2j, 3j], "is of Python's `complex`", "make all of its values INT"),
        ("FLOAT", [1e300, 1.0, None], "is DOUBLE with values such as `1e+300`, and FLOAT is expected", "declare it as DOUBLE,"),
        ("BIGINT", pd.array([2**64 - 1, 1, None], "UInt64"), "is DECIMAL(20,0), and BIGINT is expected", "declare it as DECIMAL(20,0),"),
        ("DOUBLE", pd.array([2**64 - 1, 1, 0], "uint64"), "is DECIMAL(20,0), and DOUBLE is expected", "declare it as DECIMAL(20,0),"),
        ("BIGINT", [2**70, 1, None], "is DECIMAL(38,0), and BIGINT is expected", "declare it as DECIMAL(38,0),"),
        ("ARRAY<INT>", [[1, 2**40], [], None], "is ARRAY<BIGINT>, and ARRAY<INT> is expected", "declare it as ARRAY<BIGINT>,"),
        ("ARRAY<FLOAT>", [[1.5, 1e300], [], None], "is ARRAY<DOUBLE>, and ARRAY<FLOAT> is expected", "declare it as ARRAY<DOUBLE>,"),
        ("ARRAY<DOUBLE>", [[2**53 + 1], [], None], "is ARRAY<BIGINT>, and ARRAY<DOUBLE> is expected", "declare it as ARRAY<BIGINT>,"),
        ("ARRAY<DECIMAL(3,1)>", [[1.55], [], None], "is ARRAY<DOUBLE>, and ARRAY<DECIMAL(3,1)> is", "declare it as ARRAY<DOUBLE>,"),
        ("INT", np.array([1.5, 1, 1], "float16"), "is FLOAT with values such as `1.5`, and INT is", "declare it as FLOAT,"),
        ("STRUCT<a: INT>", [{"a": 1.5}, {}, None], "is STRUCT<`a`: DOUBLE>, and", "declare it as STRUCT<`a`: DOUBLE>,"),
        ("MAP<STRING, INT>", [{"a": 1.5}, {}, None], "is MAP<STRING, DOUBLE>, and", "declare it as MAP<STRING, DOUBLE>,"),
        ("MAP<STRING, INT>", [{"a": 1}, 5, None], "is of Python's `dict` and `int`", "make all of its values dicts from STRING to INT in the frame"),
        ("MAP<STRING, INT>", [5, {"a": 1}, None], "is of Python's `int` and `dict`", "make all of its values dicts from STRING to INT in the frame"),
        ("ARRAY<MAP<STRING, INT>>", [[{"a": 1.5}], [], None], "is ARRAY<MAP<STRING, DOUBLE>>, and", "declare it as ARRAY<MAP<STRING, DOUBLE>>,"),
        ("INT", [2**300, 1, None], "is of Python's `int`, and INT is expected", "make all of its values INT"),
        ("STRING", ["a\ud800", "b", None], "is STRING with values that are no UTF-8 text, and STRING is expected",
         "replace what is no character: `frame['x'] = frame['x'].str.encode('utf-8', 'replace').str.decode('utf-8')`"),
        ("ARRAY<STRING>", [["\ud800"], [], None], "is STRING with values that are no UTF-8 text", "replace what is no character in"),
    ],
)  # fmt: skip
def test_from_python_a_column_of_a_frame_of_another_type_has_a_cure(
    type_: str, values: list[Any], said: str, hint: str
) -> None:
    program = f"STREAM s (t INT, x {type_}) EVENT TIME t UNIT s; QUERY q RETURN MATCH s.x AS x PATTERN s WITHIN 1 s;"
    frame = pd.DataFrame({"t": [1, 2, 3], "x": values})
    with pytest.raises(cepc.DataError) as caught:
        cepc.compile(program).run(frame)
    assert f"error[E0707]: the column `x` {said}" in str(caught.value)
    assert f"help: {hint}" in str(caught.value)
    if "encode" in hint:
        frame["x"] = frame["x"].str.encode("utf-8", "replace").str.decode("utf-8")
        assert cepc.compile(program).run(frame)["q"]["x"].tolist() == ["a?", "b", None]
    if "astype" in hint:
        frame["x"] = frame["x"].astype("string")
        assert cepc.compile(program).run(frame)["q"]["x"].tolist() == ["a", "1", None]


ONE = "STREAM s (t INT, `{0}` {1}) EVENT TIME t UNIT s; QUERY q RETURN MATCH s.`{0}` AS x PATTERN s WITHIN 1 s;"


@pytest.mark.parametrize(
    ("name", "type_", "values", "expected"),
    [
        ("x", "DECIMAL(38,0)", [2**70, None], [Decimal(2**70), None]),
        ("x", "FLOAT", [0.5, float("inf")], [0.5, float("inf")]),
        (0, "BIGINT", [7, 8], [7, 8]),
        ("x", "ARRAY<INT>", [[1, None], None], [[1, None], None]),
        ("x", "STRUCT<a: TINYINT>", [{"a": 1, "b": 2}, None], [{"a": 1}, None]),
        ("x", "MAP<STRING, INT>", [{"a": 1, "b": None}, None], [[("a", 1), ("b", None)], None]),
        ("x", "MAP<STRING, INT>", [[("a", 1)], []], [[("a", 1)], []]),
        ("x", "MAP<STRING, INT>", [{}, None], [[], None]),
        ("x", "MAP<STRING, INT>", [None, None], [None, None]),
        ("x", "MAP<STRING, INT>", [{"a": None}, {}], [[("a", None)], []]),
        ("x", "MAP<STRING, ARRAY<INT>>", [{"a": [1]}, {}], [[("a", [1])], []]),
        ("x", "ARRAY<DOUBLE>", [[1, None], None], [[1.0, None], None]),
        ("x", "ARRAY<DOUBLE>", [[0.5], [2**53]], [[0.5], [2.0**53]]),
        ("x", "ARRAY<FLOAT>", [[1.5, None], []], [[1.5, None], []]),
        ("x", "ARRAY<FLOAT>", pd.Series([np.array([1.5], "float16"), None]), [[1.5], None]),
        ("x", "ARRAY<DECIMAL(10,2)>", [[1.5, 2], None], [[Decimal("1.50"), Decimal("2.00")], None]),
        ("x", "ARRAY<ARRAY<DOUBLE>>", [[[1], None], []], [[[1.0], None], []]),
        ("x", "STRUCT<a: DOUBLE, b: STRING>", [{"a": 1, "b": "c"}, None], [{"a": 1.0, "b": "c"}, None]),
        ("x", "MAP<STRING, DOUBLE>", [{"a": 1}, {"b": None}], [[("a", 1.0)], [("b", None)]]),
        ("x", "MAP<INT, ARRAY<FLOAT>>", [{1: [2]}, None], [[(1, [2.0])], None]),
        ("x", "DOUBLE", pd.array([1, 2], "float16"), [1.0, 2.0]),
        ("x", "FLOAT", np.array([1.5, np.inf], "float16"), [1.5, np.inf]),
        ("x", "INT", np.array([1, 2], "float16"), [1, 2]),
        ("x", "DOUBLE", pd.arrays.SparseArray(np.array([1.5, 0.0])), [1.5, 0.0]),
        ("x", "INT", pd.arrays.SparseArray(np.array([0, 1])), [0, 1]),
        ("x", "DECIMAL(10,2)", [0, 30], [Decimal("0.00"), Decimal("30.00")]),
        ("x", "DECIMAL(30,2)", [2**70, None], [Decimal(2**70), None]),
        ("x", "DECIMAL(10,2)", [Decimal("1.5000"), None], [Decimal("1.50"), None]),
        ("x", "BIGINT", pd.Categorical([7, 8]), [7, 8]),
        ("x", "SMALLINT", pd.Categorical([7.0, 8.0]), [7, 8]),
        ("x", "DOUBLE", pd.Categorical([7, 8]), [7.0, 8.0]),
        ("x", "STRING", pd.Categorical(["a", None]), ["a", None]),
        ("x", "DECIMAL(10,2)", pd.Categorical([0, 30]), [Decimal("0.00"), Decimal("30.00")]),
        ("x", "DECIMAL(10,2)", pd.Categorical([None, 30]), [None, Decimal("30.00")]),
        ("x", "ARRAY<MAP<STRING, INT>>", [[{"a": 1}, None, {}], None], [[[("a", 1)], None, []], None]),
        ("x", "ARRAY<MAP<STRING, INT>>", [[[("a", 1)]], []], [[[("a", 1)]], []]),
        ("x", "ARRAY<MAP<STRING, INT>>", [[], None], [[], None]),
        ("x", "ARRAY<MAP<STRING, INT>>", pd.Series([np.array([{"a": 1}], object), None]), [[[("a", 1)]], None]),
        ("x", "MAP<STRING, MAP<INT, DECIMAL(5,2)>>", [{"a": {1: 2.5}}, {"b": {}}], [[("a", [(1, Decimal("2.50"))])], [("b", [])]]),
        ("x", "STRUCT<m: MAP<STRING, DOUBLE>, n: INT>", [{"m": {"a": 1}}, {"n": 2}], [{"m": [("a", 1.0)], "n": None}, {"m": None, "n": 2}]),
        ("x", "STRUCT<m: MAP<STRING, INT>>", [{"m": {"a": 1}, "other": "b"}, np.nan], [{"m": [("a", 1)]}, None]),
    ],
)  # fmt: skip
def test_from_python_columns_of_a_frame_that_fit(name: Any, type_: str, values: Any, expected: list[Any]) -> None:
    found = cepc.compile(ONE.format(name, type_)).run(pd.DataFrame({"t": [1, 2], name: values}))["q"]
    assert found["x"].tolist() == expected


@pytest.mark.parametrize("type_", ["STRING", "TIMESTAMP", "BOOLEAN", "DECIMAL(9,2)", "ARRAY<INT>", "MAP<STRING, INT>"])
def test_from_python_a_column_without_values_which_pandas_takes_for_floats_is_of_any_type(type_: str) -> None:
    read = pd.read_csv(io.StringIO("t,x\n1,\n2,\n"))
    assert read["x"].dtype == "float64"
    compiled = cepc.compile(ONE.format("x", type_))
    assert compiled.run(read)["q"]["x"].isna().tolist() == [True, True]
    for nothing in (read[:0], pd.DataFrame({"t": [], "x": []}), pd.DataFrame(columns=["t", "x"])):
        assert compiled.run(nothing)["q"].empty


@pytest.mark.parametrize("value", [Decimal("Infinity"), Decimal("-Infinity")])
def test_from_python_an_infinite_decimal_is_none(value: Decimal) -> None:
    frame = pd.DataFrame({"t": [1, 2], "x": [Decimal("1.5"), value]})
    with pytest.raises(cepc.DataError, match=rf"error\[E0711\]: `{value}` is no DECIMAL\(9,2\) for `x`"):
        cepc.compile(ONE.format("x", "DECIMAL(9,2)")).run(frame)
    with pytest.raises(
        cepc.DataError, match=r"(?s)is of Python's `Decimal`, and DOUBLE is.*make all of its values DOUBLE"
    ):
        cepc.compile(ONE.format("x", "DOUBLE")).run(frame)


@pytest.mark.parametrize("type_", ["TINYINT", "INT", "BIGINT", "FLOAT", "DOUBLE"])
def test_unsigned_numbers_are_whatever_they_fit(type_: str) -> None:
    for kind in ("uint8", "uint32", "uint64", "UInt64"):
        frame = pd.DataFrame({"t": [1, 2], "x": pd.array([0, 127], kind)})
        found = cepc.compile(ONE.format("x", type_)).run(frame)["q"]
        assert found["x"].tolist() == [0, 127]


@pytest.mark.parametrize(
    ("type_", "values", "expected"),
    [
        ("DATE", pa.array([date(2026, 1, 31), None], pa.date64()), [date(2026, 1, 31), None]),
        ("DOUBLE", pa.array([np.float16(1.5), None], pa.float16()), [1.5, None]),
        ("FLOAT", pa.array([np.float16(-2), None], pa.float16()), [-2.0, None]),
        ("STRING", compute.run_end_encode(pa.array(["a", None])), ["a", None]),
        ("BIGINT", compute.run_end_encode(pa.array([7, 7])), [7, 7]),
    ],
    ids=str,
)
def test_from_python_columns_of_a_table_in_types_that_arrow_alone_has(
    type_: str, values: pa.Array, expected: list[Any]
) -> None:
    table = pa.table({"t": pa.array([1, 2], pa.int32()), "x": values})
    for given in (table, pa.concat_tables([table[:1], table[1:]]), table.to_reader()):
        assert cepc.compile(ONE.format("x", type_)).run(given)["q"].column("x").to_pylist() == expected


def test_an_index_with_a_name_is_a_column() -> None:
    plain = pd.DataFrame({"t": [1, 2, 9], "x": [5, 6, 7]})
    expected = cepc.compile(ONE.format("x", "INT")).run(plain)["q"]
    for frame in (plain.set_index("t"), plain.set_index(["t", "x"]), plain.set_index(["x"]).sort_index()):
        pd.testing.assert_frame_equal(cepc.compile(ONE.format("x", "INT")).run(frame)["q"], expected)
    assert "t BIGINT" in " ".join(cepc.stream_of(plain.set_index("t")).split())
    with pytest.raises(cepc.DataError, match="the events have no column `t`"):
        cepc.compile(ONE.format("x", "INT")).run(plain.set_index("t").rename_axis(None))


def test_from_python_a_column_of_a_frame_that_occurs_twice_is_refused_as_in_a_table() -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=["t", "x", "x"])
    with pytest.raises(cepc.DataError, match=r"error\[E0709\]: the column `x` occurs twice"):
        cepc.compile(ONE.format("x", "INT")).run(frame)


def test_from_python_what_is_wrong_is_raised() -> None:
    with pytest.raises(cepc.ProgramError) as program:
        cepc.compile(PROGRAM.replace("Travel+", "Travle+"))
    assert "did you mean `Travel`?" in str(program.value)
    assert {d.code for d in program.value.diagnostics} == {
        d.code for d in cepc.check(PROGRAM.replace("Travel+", "Travle+")).diagnostics
    }
    with pytest.raises(cepc.ProgramError, match="has no STREAM"):
        cepc.compile(CANCELLED)
    with pytest.raises(cepc.ProgramError, match="there is no file"):
        cepc.compile("nowhere.cep")
    compiled = cepc.compile(PROGRAM)
    with pytest.raises(cepc.DataError, match="the events have no column `at`"):
        compiled.run(table().drop_columns("at"))
    with pytest.raises(cepc.DataError, match="the column `driver` is STRING"):
        compiled.run(table().set_column(2, "driver", pa.array(["x"] * len(EVENTS))))
    with pytest.raises(cepc.DataError, match="no events are named") as none:
        compiled.run()
    assert "help: pass them: `run(events)`, a pyarrow table, a pandas frame, or the path of a Parquet" in str(
        none.value
    )
    other = "STREAM b (at TIMESTAMP) EVENT TIME at; QUERY q RETURN MATCH b.at FROM b PATTERN b WITHIN 1 s;"
    both = cepc.compile(PROGRAM.replace("RETURN ", "FROM rides RETURN ") + other)
    with pytest.raises(cepc.DataError, match="no events are named") as one:
        both.run({"rides": table()})
    assert "help: pass them: `run({'b': events, …})`, a pyarrow table" in str(one.value)
    with pytest.raises(ValueError, match="there is no query `deliverd`; did you mean `delivered`"):
        compiled.run(table(), "deliverd")
    with pytest.raises(ValueError, match="no query is asked for: name some of `delivered`, `cancelled`, or give None"):
        compiled.run(table(), [])
    with pytest.raises(ValueError, match="`most` is one at least"):
        compiled.run(table(), most=0)
    other = STREAM.replace("STREAM rides", "STREAM bikes") + CANCELLED.replace("QUERY cancelled", "QUERY bike").replace(
        "RETURN", "FROM bikes RETURN"
    )
    both = cepc.compile(STREAM + CANCELLED.replace("RETURN", "FROM rides RETURN") + other)
    assert both.run({"rides": table(), "bikes": 3}, "cancelled")["cancelled"].num_rows == len(expected_cancelled())
    with pytest.raises(ValueError, match="no query reads a stream `bikes`"):
        compiled.run({"bikes": table()})
    with pytest.raises(TypeError, match="not list"):
        compiled.run([1, 2])


class OneColumn:
    """As a Series of polars has Arrow's interface."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.chunked_array([[1, 2]]).__arrow_c_stream__(requested_schema)


class OfAnotherType:
    """As polars offers Arrow integers of 128 bits."""

    def __arrow_c_stream__(self, _requested_schema: object = None) -> object:
        raise pa.ArrowInvalid("Invalid or unsupported format string: '_pli128'")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"events": {"t": [1], "x": [1]}}, "reads a stream `t`; there are s; a dict maps streams to their events: `pandas"),
        ({"events": {"x": [1]}}, "`pandas.DataFrame(…)` makes events of columns, as `pyarrow.table(…)` does"),
        ({"events": {"s": {"t": [1], "x": [1]}}}, "not dict: `pandas.DataFrame(…)` makes events of columns"),
        ({"events": [{"t": 1, "x": 1}]}, "not list: `pyarrow.Table.from_pylist(events)` is a table with a row for each"),
        ({"events": ({"t": one, "x": 1} for one in [1])}, "not generator: `pyarrow.Table.from_pylist([*events])` is"),
        ({"events": pa.table({"t": [1], "x": [1]}).to_batches()}, "not list: `pyarrow.Table.from_batches(events)` is"),
        ({"events": dataset.dataset(pa.table({"t": [1]}))}, "`compiled.run(events.to_table())` reads it first"),
        ({"events": pd.DataFrame({"t": [1], "x": [1]}).to_records()}, "not recarray: `pandas.DataFrame(events)` is a frame"),
        ({"events": ["a.csv", "b.csv"]}, "not list: one path is taken, and a directory stands for all files in it"),
        ({"events": (Path("a.csv"),)}, "not tuple: one path is taken"),
        ({"events": {"other": {"t": [1]}}}, "no query reads a stream `other`; there are s"),
        ({"events": OneColumn()}, "events are a table, and OneColumn is one column"),
        ({"events": OfAnotherType()}, "it has a column of a type that Arrow does not have; convert it"),
        ({"threads": "x"}, "`threads` is a whole number, and not 'x'"),
        ({"threads": 1.5}, "`threads` is a whole number, and not 1.5"),
        ({"most": "9"}, "`most` is a whole number, and not '9'"),
    ],
)  # fmt: skip
def test_from_python_what_is_given_otherwise_is_told_how(given: dict[str, Any], said: str) -> None:
    compiled = cepc.compile(ONE.format("x", "INT"))
    with pytest.raises((TypeError, ValueError)) as caught:
        compiled.run(**given)
    assert f"{said}|" in f"{caught.value}|" if said.endswith("are s") else said in str(caught.value)
    columns = pd.DataFrame({"t": [1], "x": [1]})
    assert len(compiled.run({"s": columns})["q"]) == len(compiled.run(pd.DataFrame([{"t": 1, "x": 1}]))["q"]) == 1


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (["a.cep", "b.cep"], "not list: give each as an argument of its own, `cepc.compile(*programs)`"),
        (("a.cep",), "not tuple: give each as an argument of its own"),
        (b"", "not bytes: `program.decode()` makes a text of it"),
        (None, "a program is a text or a path; not NoneType"),
    ],
)
def test_from_python_what_is_no_program_is_told(program: Any, said: str) -> None:
    with pytest.raises(TypeError) as caught:
        cepc.compile(program)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (pd.DataFrame({"x": [1]}, pd.to_datetime([1])), "the index of the frame has times: `frame.rename_axis('t')`"),
        (pd.DataFrame({"x": [1]}), "name the column that says when an event happened, here and in EVENT TIME"),
        (pd.DataFrame({"t ": [1], "x": [1]}), "blanks around its name: take them out, or write `t `, in backquotes"),
        (pd.DataFrame({"t": pd.to_datetime([1])}), "take `x` out of the STREAM, and out of all that uses it"),
    ],
    ids=["times in an index without a name", "no times", "blanks", "another column"],
)
def test_from_python_the_cure_of_a_missing_column_is_of_what_it_is(frame: pd.DataFrame, said: str) -> None:
    compiled = cepc.compile(ONE.format("x", "INT").replace("t INT", "t TIMESTAMP").replace("UNIT s", ""))
    with pytest.raises(cepc.DataError) as caught:
        compiled.run(frame)
    assert said in caught.value.diagnostics[0].hint
    if "rename_axis" in said:
        assert len(compiled.run(frame.rename_axis("t"))["q"]) == 1


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("at", "name the column that says when an event happened, here and in EVENT TIME"),
        ("kind", "name the column that says of which type an event is, here and in EVENT TYPE"),
        (
            "price",
            "if the events have it by another name, write that wherever it is used; if they have none, take `price` out",
        ),
        ("person", "take `person` out of the STREAM, and out of all that uses it"),
        ("cents", "take `cents` out of the STREAM, and out of all that uses it"),
        ("other", "if the events have none, take `other` out of the STREAM"),
    ],
)
def test_a_missing_column_is_told_what_it_is_for(missing: str, said: str) -> None:
    columns = {"at": "TIMESTAMP", "kind": "STRING", "person": "INT", "price": "INT", "cents": "INT", "other": "INT"}
    declared = ", ".join(f"{name} {type_}" for name, type_ in columns.items())
    compiled = cepc.compile(
        f"STREAM s ({declared}, euros AS cents / 100) EVENT TIME at EVENT TYPE kind;"
        "QUERY q RETURN MATCH A.price PATTERN SEQ(A, B) WHERE [person] WITHIN 1 h;"
    )
    names = [name for name in columns if name != missing]
    Path("e.csv").write_text(",".join(names) + "\n")
    empty = pd.DataFrame({name: [] for name in names})
    for events in ("e.csv", empty, pa.table({name: pa.nulls(0) for name in names})):
        with pytest.raises(cepc.DataError) as caught:
            compiled.run(events)
        assert caught.value.diagnostics[0].hint.startswith(said.partition("take")[0] or "if the events have it")
        assert said in caught.value.diagnostics[0].hint


SHOWN = "t;x\n1;2\n"
TOO_MANY = "QUERY q RETURN MATCH COUNT(*) AS n PATTERN s+ WITHIN 1 DAY;"


@pytest.mark.parametrize(
    ("name", "content", "given", "said"),
    [
        ("e.csv", "t,x\n1,a\n", {}, "`run(…, skip_bad=True)` passes over records that are no events, `dead='FILE'` writes"),
        ("e.csv", SHOWN, {}, "the columns seem to be separated by `;`: `OPTIONS (delimiter = ';')` after FROM"),
        ("e.csv", SHOWN.encode("utf-16"), {}, "add `OPTIONS (encoding = 'UTF-16')` after FROM"),
        ("events", "t,x\n1,2\n", {}, "it looks like CSV: add `FROM csv 'PATH'` to the STREAM, and call `run` without a path"),
        ("e.parquet", "t,x\n1,2\n", {}, "FROM in the STREAM names another format: `csv`, `json`, `orc` or `avro`"),
        ("e.csv", "t,x\n1,2\n", {"dead": "e.csv"}, "name a file outside of the events"),
        ("e.csv", "t,x\n" + "1,2\n2,3\n3,4\n" * 20, {"most": 2}, "; `most=10000` lets the run go on for longer"),
    ],
)  # fmt: skip
def test_from_python_the_cures_are_arguments_and_clauses_and_no_options_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str | bytes, given: dict[str, Any], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    program = ONE.format("x", "INT")
    program = program[: program.index("QUERY")] + TOO_MANY if "most" in given else program
    with pytest.raises(cepc.CepcError) as caught:
        cepc.compile(program).run(name, **given)
    text = str(caught.value).replace("-->", "")
    assert said in text
    assert "--" not in text


@pytest.mark.parametrize("session", [None, "spark"])
def test_from_python_sql_without_a_session_says_how_to_begin_one(session: object) -> None:
    with pytest.raises(TypeError, match=r"a session of Spark.*`cepc.sql\(cepc.spark_session\(\), text\)` begins one"):
        cepc.sql(session, "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY at PATTERN (A) DEFINE A AS A.x > 1)")


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("SUM(s.x)", "declare the column of its type, or write `TRY_CAST(x AS DOUBLE)`, which is null there"),
        ("SUM(TRY_CAST(s.x AS DOUBLE))", ""),
        ("SUM(CAST(s.x AS INT))", "TRY_CAST gives null there"),
    ],
)
def test_the_cure_of_a_text_that_is_no_number_is_of_a_cast_only_where_one_is_written(returned: str, said: str) -> None:
    program = ONE.format("x", "STRING").replace("MATCH s.`x`", returned)
    events = pa.table({"t": pa.array([1, 2], pa.int32()), "x": ["1", "one"]})
    if not said:
        assert cepc.compile(program).run(events)["q"].column("x").to_pylist() == [1.0, None]
        return
    with pytest.raises(cepc.RunError, match="'one' cannot be read as") as caught:
        cepc.compile(program).run(events)
    assert caught.value.diagnostics[0].hint == said


def test_from_python_exact_numbers() -> None:
    program = """
    STREAM s (t INT, kind STRING, x DECIMAL(38,2)) EVENT TIME t EVENT TYPE kind IN ('A');
    QUERY q RETURN A.x AS x PATTERN SEQ(A) WITHIN 1 SECOND;
    """
    value = Decimal("123456789012345678901234567890123456.78")
    events = pa.table({"t": pa.array([1], pa.int32()), "kind": ["A"], "x": pa.array([value], pa.decimal128(38, 2))})
    assert cepc.compile(program).run(events)["q"].column("x").to_pylist() == [value]


def test_importing_cepc_imports_nothing_heavy() -> None:
    probe = (
        "import sys, cepc; cepc.compile('STREAM s (t INT) EVENT TIME t; QUERY q RETURN COUNT(*) AS n PATTERN SEQ(s) WITHIN 1 s;')\n"
        "heavy = {'pyspark', 'numpy', 'pandas', 'pyarrow', 'numba', 'rich'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_run_of_few_events_imports_only_what_it_needs() -> None:
    """A count that no busy machine changes: pandas, which pyarrow would import, is a quarter of such a run."""
    probe = (
        "import sys; from cepc.cli import main\n"
        "sys.argv = ['cepc', 'run', 'rides.cep', '--events', 'rides.jsonl', '--query', 'delivered']\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "assert 'pyarrow' in sys.modules\n"
        "heavy = {'pyspark', 'pandas', 'numba', 'networkx', 'rich', 'cepc.why.empty', 'cepc_runtime.kernel.adjacent',"
        " 'cepc_runtime.enumerate.listing'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"set -o pipefail; {sys.executable} -m cepc run rides.cep --events rides.jsonl | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 141), done.stderr
    assert "Traceback" not in done.stderr


def test_results_are_utf8_whatever_the_locale() -> None:
    write_events("rides.jsonl", [(a, k, d, "Köln" if p else p, m) for a, k, d, p, m in EVENTS])
    done = subprocess.run(
        [sys.executable, "-m", "cepc", "run", "rides.cep", "--events", "rides.jsonl", "--query", "delivered"],
        capture_output=True, env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}, timeout=120,
    )  # fmt: skip
    first = json.loads(io.BytesIO(done.stdout).readline())
    assert first["district"] == "Köln", done.stderr


def test_what_only_spark_computes_is_said_with_where_it_is_computed() -> None:
    stream = "STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind;"
    compiled = cepc.compile(f"{stream} QUERY q RETURN MATCH A.at PATTERN A WHERE SOUNDEX(A.kind) = 'A' WITHIN 9 s;")
    with pytest.raises(cepc.RunError) as caught:
        compiled.run(pa.table({"at": [1], "kind": ["A"]}))
    said = str(caught.value)
    assert "error[E0804]: only Spark has the function `soundex`, called in `soundex(kind)`" in said
    assert (
        "= help: run it there: `cepc run --engine spark`, `compiled.spark(events)` in Python, or the job that" in said
    )
    assert "`cepc functions` lists the functions that every engine has" in " ".join(said.split())
    assert "note:" not in said


def test_a_pattern_that_only_spark_knows_is_not_said_to_be_a_function() -> None:
    stream = "STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind;"
    compiled = cepc.compile(f"{stream} QUERY q RETURN MATCH A.at PATTERN A WHERE A.kind RLIKE '(?x)a b' WITHIN 9 s;")
    with pytest.raises(cepc.RunError, match="only Spark knows the pattern of `rlike`, called in `kind RLIKE"):
        compiled.run(pa.table({"at": [1], "kind": ["A"]}))


FOR_SPARK = {
    "in a condition": "MATCH A.at PATTERN A WHERE SOUNDEX(A.kind) = 'A'",
    "in a condition on each of several": "MATCH COUNT(A) AS n PATTERN SEQ(A+, B) WHERE SOUNDEX(A.kind) = 'A'",
    "of what NOT forbids": "MATCH A.at PATTERN SEQ(A, NOT B b, C) WHERE SOUNDEX(b.kind) = 'A'",
}


@pytest.mark.parametrize("where", FOR_SPARK)
def test_what_only_spark_computes_is_said_before_events_are_read(where: str) -> None:
    stream = "STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind;"
    compiled = cepc.compile(f"{stream} QUERY q RETURN {FOR_SPARK[where]} WITHIN 9 s;")
    with pytest.raises(cepc.RunError, match="only Spark has the function `soundex`"):
        compiled.run("no such file.csv")
