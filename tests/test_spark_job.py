"""The command line of a job on Spark: files in, directories out, and what is said when something is wrong with them."""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import cepc
from cepc_runtime.spark import paths
from cepc_runtime.spark.files import Renaming
from cepc_runtime.spark.schema import JobError
from tests.equivalence import ABOUT, same
from tests.generated_jobs import names_of_job
from tests.test_spark_cluster import utc

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.spark

PROGRAM = """STREAM s (at BIGINT, kind STRING, k STRING, x INT) EVENT TIME at UNIT s EVENT TYPE kind;
QUERY rises RETURN k, COUNT(*) AS n PATTERN SEQ(A+ a, B) GROUP BY k WITHIN 1000 s;
QUERY pairs RETURN a.k, b.x PATTERN SEQ(A a, B b) WHERE [k] WITHIN 10 s;
QUERY kinds RETURN k, SUM(A.x) AS x PATTERN A GROUP BY k WITHIN 1000 s;
"""
EVENTS: list[dict[str, Any]] = [
    {"at": 1, "kind": "A", "k": "x", "x": 1},
    {"at": 2, "kind": "B", "k": "x"},
    {"at": 3, "kind": "A", "x": 2},
    {"at": 4, "kind": "B", "k": None, "x": 3},
    {"kind": "A", "k": "x", "x": 4},
    {"at": 5, "kind": "C", "k": "y", "x": 5},
]
SCHEMA = pa.schema([("at", pa.int64()), ("kind", pa.string()), ("k", pa.string()), ("x", pa.int32())])


@pytest.fixture
def run(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """The job's `main`, in the session of the tests: it stays."""
    assert spark.version
    monkeypatch.setattr(SparkSession, "stop", lambda _: None)

    def call(*arguments: str, program: str = PROGRAM) -> int:
        status: int = names_of_job(program)["main"](list(arguments))
        return status

    return call


def rows(folder: Path) -> list[dict[str, object]]:
    return utc(ds.dataset(folder, exclude_invalid_files=True).to_table())


def write_json(path: Path, events: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    return path


def write_parquet(path: Path, events: list[dict[str, Any]], schema: pa.Schema = SCHEMA) -> Path:
    pq.write_table(pa.Table.from_pylist(events, schema=schema), path)
    return path


# ---- results ---------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("to", ["files", "console"])
@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([], None),
        ([{"at": 1, "kind": "other", "k": "x"}], None),
        ([{"kind": "A", "k": "x"}, {"at": 1, "k": "x"}], "stream s: dropped 1 without a time and 1 without a type"),
        ([{"at": 1, "kind": "B", "k": "x"}, {"kind": "A", "k": "x"}], "stream s: dropped 1 without a time"),
    ],
)
def test_events_of_which_none_takes_part_are_no_rows_and_no_error(
    run: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    events: list[dict[str, Any]],
    said: str | None,
    to: str,
) -> None:
    path, out = write_parquet(tmp_path / "events.parquet", events), tmp_path / "out"
    program = PROGRAM.partition("QUERY kinds")[0]
    assert run("--input", str(path), *(["--output", str(out)] if to == "files" else []), program=program) == 0
    assert [line for line in capsys.readouterr().err.splitlines() if "dropped" in line] == ([said] if said else [])
    if to == "files":
        assert (out / "_SUCCESS").exists()
        assert sorted(path.name for path in out.iterdir() if path.is_dir()) == ["pairs", "rises"]


LISTS = PROGRAM + "QUERY lists RETURN MATCH COLLECT(a.x) AS xs PATTERN SEQ(A+ a, B) WHERE [k] WITHIN 10 s;"


@pytest.mark.parametrize("mode", ["batch", "stream --checkpoint c"])
@pytest.mark.parametrize(
    ("queries", "cure"),
    [
        ("", "write --output-format json, or leave it out with --queries rises,pairs,kinds\n"),
        (" --queries lists", "write --output-format json\n"),
    ],
)
def test_what_csv_cannot_hold_is_said_before_spark_starts(
    capsys: pytest.CaptureFixture[str], mode: str, queries: str, cure: str
) -> None:
    main = names_of_job(LISTS)["main"]
    with pytest.raises(SystemExit) as stopped:
        main(f"--input x --mode {mode} --output o --output-format csv{queries}".split())
    assert stopped.value.code == 2
    said = f"error: query lists has the column xs, ARRAY<INT>, which CSV cannot hold: {cure}"
    assert capsys.readouterr().err.endswith(said)


def test_json_may_lack_keys_and_the_whole_output_is_marked_last(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events, out = write_json(tmp_path / "events.json", EVENTS), tmp_path / "out"
    assert run("--input", str(events), "--format", "json", "--output", str(out)) == 0
    assert capsys.readouterr().err.splitlines()[-1] == "stream s: dropped 1 without a time"
    for query, expected in cepc.compile(PROGRAM).run(events).items():
        assert expected.num_rows
        assert same(rows(out / query), expected.to_pylist(), ABOUT), query
    whole = (out / "_SUCCESS").stat().st_mtime_ns
    assert all((out / query / "_SUCCESS").stat().st_mtime_ns <= whole for query in ("rises", "pairs", "kinds"))
    assert sorted(p.name for p in out.iterdir() if not p.name.startswith(".")) == [
        "_SUCCESS",
        "kinds",
        "pairs",
        "rises",
    ]


def test_rows_of_chosen_queries_go_to_the_console_without_output(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = write_parquet(tmp_path / "events.parquet", EVENTS)
    assert run("--input", str(events), "--queries", "rises") == 0
    printed = capsys.readouterr().out
    assert printed.startswith("rises\n+----+---+")
    assert "|x   |1  |0           |1000      |" in printed
    assert "pairs" not in printed


@pytest.mark.long
@pytest.mark.parametrize(("form", "read"), [("csv", "csv"), ("CSV", "csv"), ("json", "json"), ("orc", "orc")])
def test_rows_are_written_in_the_format_asked_for(
    run: Any, spark: SparkSession, tmp_path: Path, form: str, read: str
) -> None:
    events, out = write_parquet(tmp_path / "events.parquet", EVENTS), tmp_path / "out"
    assert run("--input", str(events), "--output", str(out), "--output-format", form, "--queries", "rises") == 0
    options = {"header": "true", "inferSchema": "true"} if read == "csv" else {}
    found = spark.read.options(**options).format(read).load(str(out / "rises")).select("n", "window_start").collect()
    assert sorted(map(tuple, found)) == [(1, 0), (1, 0)]


@pytest.mark.parametrize(
    "form", ["JSON", "Csv", "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"]
)
def test_events_are_read_in_the_format_asked_for(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    path = tmp_path / "events"
    match form.lower():
        case "json":
            write_json(path, EVENTS)
        case "csv":
            path.write_text("x,k,kind,at\n1,x,A,1\n,x,B,2\n2,,A,3\n3,,B,4\n4,x,A,\n")
        case _:
            write_parquet(path, EVENTS)
    assert run("--input", str(path), "--format", form, "--queries", "kinds") == 0
    printed = capsys.readouterr()
    assert "|x   |1  |" in printed.out
    assert "stream s: dropped 1 without a time" in printed.err


COLUMNS = ("at", "local", "text", "bytes", "x")
OF_TEXTS = f"""STREAM s (at TIMESTAMP, local TIMESTAMP_NTZ, text STRING, bytes BINARY, x DOUBLE) EVENT TIME at;
QUERY one RETURN MATCH {", ".join(f"e.{name} AS {name}" for name in COLUMNS)} PATTERN ANY e WITHIN 1 SECOND;
QUERY two RETURN MATCH {", ".join(f"e.{name} AS {name}" for name in COLUMNS)} PATTERN ANY e WITHIN 1 SECOND;
"""
AS_TEXT: dict[str, tuple[str, ...]] = {
    "csv": (
        '2026-01-01T00:00:00.000001Z,2026-01-01T23:59:59.999999,"a ""b"", \\c",/wA=,1.0E-7,',
        '2026-01-01T00:00:00.000002Z,,,,,',
        '2026-01-01T00:00:00.000003Z,,"","",NaN,',
        '2026-01-01T00:00:00.000004Z,, x ,,,',
        '2026-01-01T00:00:00.000005Z,,"x\ny",,,',
    ),
    "json": (
        '"local":"2026-01-01T23:59:59.999999","text":"a \\"b\\", \\\\c","bytes":"/wA=","x":1.0E-7,',
        '{"at":"2026-01-01T00:00:00.000002Z","local":null,"text":null,"bytes":null,"x":null,',
        '{"at":"2026-01-01T00:00:00.000003Z","local":null,"text":"","bytes":"","x":"NaN",',
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", AS_TEXT)
@pytest.mark.parametrize("queries", ["one,two", "one"])
def test_rows_in_text_are_what_cepc_reads(run: Any, tmp_path: Path, form: str, queries: str) -> None:
    at, wall = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 23, 59, 59, 999_999)
    values = [
        (wall, 'a "b", \\c', b"\xff\0", 1e-7),
        (None,) * 4,
        (None, "", b"", float("nan")),
        (None, " x ", None, None),
        (None, "x\ny", None, None),
    ]
    moment = timedelta(microseconds=1)
    records = [(at + moment * number, *rest) for number, rest in enumerate(values, 1)]
    table = pa.Table.from_pylist([dict(zip(COLUMNS, record, strict=True)) for record in records])
    pq.write_table(table, tmp_path / "e.parquet")
    out = tmp_path / "out"
    arguments = ("--input", f"{tmp_path}/e.parquet", "--output", str(out), "--output-format", form)
    assert run(*arguments, "--queries", queries, program=OF_TEXTS) == 0
    lines = "".join(part.read_text() for part in (out / "one").glob("part-*"))
    assert [line for line in AS_TEXT[form] if line not in lines] == []
    expected = cepc.compile(OF_TEXTS).run(tmp_path / "e.parquet")
    for query in queries.split(","):
        wanted = expected[query].to_pylist()
        if form == "csv":  # which does not say what is base64
            wanted = [{**row, "bytes": row["bytes"] and b64encode(row["bytes"])} for row in wanted]
        again = cepc.compile(OF_TEXTS).run(out / query, query)[query]
        assert same(again.to_pylist(), wanted, ABOUT), query


ALIKE = (
    PROGRAM
    + """QUERY `falls/../x` RETURN k, COUNT(*) AS QUERY PATTERN SEQ(A, B) GROUP BY k WITHIN 1000 s;
QUERY none RETURN k, COUNT(*) AS QUERY PATTERN SEQ(C c, C d) GROUP BY k WITHIN 1000 s;
QUERY no_more RETURN k, COUNT(*) AS QUERY PATTERN SEQ(C c, C d, A) GROUP BY k WITHIN 1000 s;
QUERY other RETURN k, COUNT(*) AS n PATTERN SEQ(A, B) GROUP BY k WITHIN 1000 s;
"""
)
"""With three queries of the same columns, one of which has the name that the job gives to its own, and two of others."""


@pytest.mark.long
@pytest.mark.parametrize("form", ["parquet", "csv", "json", "orc"])
def test_queries_with_the_same_columns_are_written_by_one_job_into_their_own_directories(
    run: Any, spark: SparkSession, tmp_path: Path, form: str
) -> None:
    events, out = write_parquet(tmp_path / "events.parquet", EVENTS), tmp_path / "out"
    assert run("--input", str(events), "--output", str(out), "--output-format", form, program=ALIKE) == 0
    expected = cepc.compile(ALIKE).run(events)
    folders = dict(
        zip(expected, ("rises", "pairs", "kinds", "falls%2F..%2Fx", "none", "no_more", "other"), strict=True)
    )
    assert sorted(p.name for p in out.iterdir() if not p.name.startswith(".")) == sorted(
        [*folders.values(), "_SUCCESS"]
    )
    writes = {}
    for query, folder in folders.items():
        assert (out / folder / "_SUCCESS").exists()
        (writes[query],) = {file.name.split("-", 2)[2][:36] for file in (out / folder).glob("part-*")}
        wanted = expected[query].to_pylist()
        if form == "parquet":
            assert same(rows(out / folder), wanted, ABOUT), query
        else:
            options = {"header": "true"} if form == "csv" else {}
            found = spark.read.options(**options).format(form).load(str(out / folder)) if wanted else None
            assert found is None or (found.count(), sorted(found.columns)) == (len(wanted), sorted(wanted[0])), query
    assert expected["falls/../x"].num_rows
    assert not expected["none"].num_rows
    assert writes["none"] == writes["no_more"] != writes["falls/../x"]
    assert writes["rises"] == writes["other"]
    # Workers make files of Parquet, and one job writes those of queries with whatever columns.
    assert (writes["pairs"] == writes["rises"]) == (form == "parquet")
    assert len(set(writes.values())) == (3 if form == "parquet" else 5)


@pytest.mark.parametrize("table", ["events_of_s", "shop.events"])
def test_a_table_is_read_by_its_name_in_sparks_catalogue(
    run: Any, spark: SparkSession, tmp_path: Path, table: str
) -> None:
    events, database = spark.createDataFrame(pa.Table.from_pylist(EVENTS, schema=SCHEMA)), table.rpartition(".")[0]
    if database:
        spark.sql(f"CREATE DATABASE {database} LOCATION '{tmp_path / 'database'}'")
        events.write.saveAsTable(table)
    else:
        events.createOrReplaceTempView(table)
    try:
        out = tmp_path / "out"
        assert run("--input", table, "--format", "table", "--output", str(out), "--queries", "pairs") == 0
    finally:
        spark.sql(f"DROP DATABASE {database} CASCADE" if database else f"DROP VIEW {table}")
    expected = cepc.compile(PROGRAM).run(pa.Table.from_pylist(EVENTS, schema=SCHEMA), "pairs")["pairs"]
    assert same(rows(out / "pairs"), expected.to_pylist(), ABOUT)


def test_options_reach_the_reader(run: Any, tmp_path: Path) -> None:
    path, out = tmp_path / "events.csv", tmp_path / "out"
    path.write_text("kind;x;at;k\nA;1;1;x\nB;2;2;x\n")
    arguments = ("--input", str(path), "--format", "csv", "--option", "sep=;", "--queries", "rises")
    assert run(*arguments, "--output", str(out)) == 0
    assert [row["n"] for row in rows(out / "rises")] == [1]


# ---- what is wrong ---------------------------------------------------------------------------------------------------

OTHER = pa.schema([("at", pa.string()), ("kind", pa.string()), ("x", pa.int32())])
LONG = [{"at": i, "kind": "A", "k": "x", "x": 1} for i in range(70)] + [{"at": 99, "kind": "B", "k": "x", "x": 1}]


def bad_events(folder: Path, what: str) -> tuple[str, str]:
    """The path of the events, and its format."""
    match what:
        case "schema":
            return str(write_parquet(folder / "e.parquet", [{"at": "1", "kind": "A", "x": 1}], OTHER)), "parquet"
        case "overflow":
            return str(write_parquet(folder / "e.parquet", LONG)), "parquet"
        case "json type":
            return str(write_json(folder / "e.json", [*EVENTS, {"at": "soon", "kind": "A"}])), "json"
        case "json without":
            return str(write_json(folder / "e.json", [{"time": 1, "kind": "A"}] * 3)), "json"
        case "csv value":
            (folder / "e.csv").write_text("at,kind,k,x\n1,A,x,1\nsoon,B,x,2\n")
            return str(folder / "e.csv"), "csv"
        case "csv header":
            (folder / "e.csv").write_text("at,kind,k\n1,A,x\n")
            return str(folder / "e.csv"), "csv"
    return str(folder / "nothing"), "parquet" if what == "path" else "delta"


@pytest.mark.long
@pytest.mark.parametrize(
    ("what", "said"),
    [
        (
            "schema",
            (
                "error: the events of stream s are not what it declares: column at: expected bigint, found string;"
                " column k: expected string, found none (there are at, kind, x)"
            ),
        ),
        (
            "overflow",
            (
                "error: query rises: COUNT(*) does not fit BIGINT in the window from 0 to 1000 for k = x;"
                " CAST(COUNT(*) AS STRING) is exact at any size, TRY_COUNT(*) is null instead"
            ),
        ),
        (
            "json type",
            (
                "error: file://{path}: Cannot parse the field name 'at' and the value soon of the JSON token type VALUE_STRING"
                ' to target Spark data type "BIGINT".'
            ),
        ),
        (
            "json without",
            (
                "error: the events of stream s are not what it declares: column at: expected bigint, found none"
                " (there are kind, time)"
            ),
        ),
        ("csv value", "error: file://{path}: Malformed records are detected in record parsing: [null,B,x,2]."),
        (
            "csv header",
            (
                "error: the events of stream s are not what it declares: column x: expected int, found none"
                " (there are at, kind, k)"
            ),
        ),
        ("path", "error: the events of stream s cannot be read: Path does not exist: file:{path}."),
        ("delta", "error: the events of stream s cannot be read: Failed to find the data source: delta."),
    ],
)
def test_a_failed_job_says_why_in_one_line_and_leaves_nothing_that_looks_whole(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str, said: str
) -> None:
    path, form = bad_events(tmp_path, what)
    out = tmp_path / "out"
    assert run("--input", path, "--format", form, "--output", str(out)) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(said.format(path=path))
    assert not list(tmp_path.rglob("_SUCCESS"))
    assert not list(out.rglob("part-*"))


def test_a_query_that_fails_after_others_were_written_leaves_the_output_unmarked(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Plain aggregates are written by themselves: others may be there already when one fails."""
    events = [{"at": 1, "kind": "A", "k": "x", "x": 2**31 - 1}] * 3
    program = PROGRAM + "QUERY sums RETURN CAST(SUM(A.x) AS INT) AS x PATTERN A WITHIN 10 s;\n"
    path, out = write_parquet(tmp_path / "e.parquet", events), tmp_path / "out"
    assert run("--input", str(path), "--output", str(out), program=program) == 1
    assert "does not fit INT in the window from 0 to 10" in capsys.readouterr().err.splitlines()[-1]
    assert (out / "rises" / "_SUCCESS").exists()
    assert not (out / "_SUCCESS").exists()


@pytest.mark.parametrize("name", ["out", "out[1]", "{a}*", "a?\\b"])
@pytest.mark.parametrize("by", ["the JVM", "a client without one"])
def test_results_that_are_there_stay_as_they_are(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, by: str
) -> None:
    monkeypatch.setattr(paths, "is_remote", lambda: by != "the JVM")
    events, out = write_parquet(tmp_path / "events.parquet", EVENTS), tmp_path / name
    out.mkdir()
    assert run("--input", str(events), "--output", str(out)) == 1
    assert capsys.readouterr().err.splitlines()[-1] == f"error: {out} exists already; name a new directory"
    assert not list(out.iterdir())


def test_rows_are_moved_into_no_directory_that_is_there(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("from", "to"):
        (tmp_path / name).mkdir()
    with pytest.raises(JobError, match=f"{tmp_path}/to exists already; name a new directory"):
        Renaming(spark).moved(str(tmp_path / "from"), str(tmp_path / "to"))
    assert not list((tmp_path / "to").iterdir())
