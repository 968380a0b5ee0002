"""The command line of a job as a stream: sources, sinks, and what is said when something is wrong with them."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.json
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import cepc
from cepc.api import check_text
from cepc.codegen.compiling import job_of
from cepc.java import spark_environment
from cepc_runtime.spark import whole_job
from cepc_runtime.spark.job import Memory, read_stream
from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.streaming.outputs import SINKS
from cepc_runtime.spark.streaming.terms import Folders, Terms
from cepc_runtime.spark.streaming.writing import Writing
from tests.equivalence import ABOUT, same

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cepc_runtime.spark.streaming.sinks import Target

pytestmark = pytest.mark.spark

PROGRAM = """STREAM s (at BIGINT, kind STRING, k STRING, x INT) EVENT TIME at UNIT s WATERMARK 5 SECONDS
EVENT TYPE kind IN ('A', 'B');
QUERY rises RETURN k, COUNT(*) AS n PATTERN SEQ(A+ a, B) GROUP BY k WITHIN 10 s;
QUERY pairs WITH (severity = 'high', owner = 'us') RETURN k, a.x, b.x AS y, LABEL(owner) PATTERN SEQ(A a, B b) WHERE [k] WITHIN 3 s;
"""
SCHEMA = pa.schema([("at", pa.int64()), ("kind", pa.string()), ("k", pa.string()), ("x", pa.int32())])
EVENTS: list[dict[str, Any]] = [
    {"at": second, "kind": "AAB"[second % 3], "k": "xy"[second % 2], "x": second} for second in range(40)
]
BAD = {
    '{"at": 3, "kind": "A", "x": "seven"}': "column x is not int",
    "no JSON": "it is not JSON",
    "[1]": "it is not a JSON object",
}


def expected(events: Sequence[dict[str, Any]] = EVENTS) -> dict[str, Any]:
    return cepc.compile(PROGRAM).run(pa.Table.from_pylist(list(events), schema=SCHEMA))


def job_text(program: str = PROGRAM) -> str:
    checked = check_text(program, "job.cep")
    assert checked.program is not None, checked.text()
    return job_of(checked.program, checked.sources).text


AS_STREAM = ("--mode", "stream", "--trigger", "available-now", "--buckets", "2")


def submit(
    folder: Path,
    *arguments: str,
    jars: Sequence[Path] = (),
    conf: Sequence[str] = (),
    mode: Sequence[str] = AS_STREAM,
    program: str = PROGRAM,
) -> subprocess.CompletedProcess[str]:
    """The job as a user starts it; spark-submit puts what a job says on standard error on its standard output."""
    (folder / "job.py").write_text(job_text(program))
    command = [
        str(Path(sys.executable).with_name("spark-submit")), "--master", "local[2]", "--conf", "spark.ui.enabled=false",
        "--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1",
        "--conf", "spark.sql.shuffle.partitions=2", *(["--jars", ",".join(map(str, jars))] if jars else []),
        *(part for one in conf for part in ("--conf", one)), str(folder / "job.py"), *mode, *arguments,
    ]  # fmt: skip
    environment = {**os.environ, **spark_environment(), "PYSPARK_PYTHON": sys.executable}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400, check=False)


def progress(said: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in said.splitlines() if line.startswith('{"stream"')]


@pytest.fixture
def run(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """The job's `main`, in the session of the tests: it stays."""
    assert spark.version
    monkeypatch.setattr(SparkSession, "stop", lambda _: None)

    def call(*arguments: str, program: str = PROGRAM, trigger: str = "available-now") -> int:
        namespace: dict[str, Any] = {"__name__": "job"}
        exec(compile(job_text(program), "job", "exec"), namespace)
        fixed = ["--mode", "stream", "--checkpoint", str(tmp_path / "c"), "--buckets", "2", "--trigger", trigger]
        status: int = namespace["main"]([*fixed, *arguments])
        return status

    return call


def put(path: Path, events: Sequence[dict[str, Any]], schema: pa.Schema = SCHEMA) -> str:
    """A file of events in a directory; the directory."""
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(events), schema=schema), path)
    else:
        path.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    return str(path.parent)


def rows(folder: Path, form: str, schema: pa.Schema) -> list[dict[str, Any]]:
    """What a sink of files has of a query."""
    files = [str(file) for file in sorted(folder.glob("batch=*/part-*")) if file.stat().st_size]
    types = pyarrow.csv.ConvertOptions(column_types=schema, strings_can_be_null=True)  # nothing in a file tells them
    format_ = ds.CsvFileFormat(convert_options=types) if form == "csv" else form
    table = ds.dataset(files, format=format_).to_table()
    missing = [field for field in schema if field.name not in table.column_names]  # JSON has no nulls
    for field in missing:
        table = table.append_column(field, pa.nulls(table.num_rows, field.type))
    found: list[dict[str, Any]] = table.select(schema.names).cast(schema).to_pylist()
    return found


# ---- patterns of patterns --------------------------------------------------------------------------------------------


RISES = """QUERY rises RETURN k, a.x, b.x AS y PATTERN SEQ(A a, A b) WHERE [k] AND b.x > a.x
SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 6 s;
"""
TWICE = """QUERY twice RETURN MATCH k, r.x, s.y PATTERN SEQ(rises r, rises s) WHERE [k] SELECT NEXT WITHIN 12 s;
"""
STREAM = PROGRAM[: PROGRAM.index("QUERY")]


@pytest.mark.long  # six runs of two streams
def test_rows_that_one_job_wrote_are_events_of_another_and_none_is_late(
    run: Callable[..., int], tmp_path: Path
) -> None:
    """As docs/streaming.md says: the STREAM of the second has a WATERMARK as long as the first query's WITHIN."""
    events = [event | {"kind": "A", "k": "xy"[event["at"] % 5 % 2], "x": 7 * event["at"] % 11} for event in EVENTS]
    for at, k in ((2, "long"), (3, "short"), (4, "short"), (8, "long")):  # the short one ends first, and comes later
        events[at] |= {"k": k, "x": at}
    rows_of_rises = "STREAM rises (k STRING, x INT, y INT, match_start BIGINT, match_end BIGINT)"
    second = f"{rows_of_rises} EVENT TIME match_end UNIT s WATERMARK 6 SECONDS;\n{TWICE}"
    (tmp_path / "out" / "rises").mkdir(parents=True)  # the first job makes it with its first rows
    last = 2
    for number in range(last + 1):
        folder = put(tmp_path / "in" / f"{number}.parquet", events[number * 14 : number * 14 + 14])
        flush = ["--flush"] if number == last else []
        assert run("--input", folder, "--output", str(tmp_path / "out"), *flush, program=f"{STREAM}{RISES}") == 0
        made = ["--input", str(tmp_path / "out" / "rises"), "--output", str(tmp_path / "more")]
        others = ["--checkpoint", str(tmp_path / "other"), "--late", str(tmp_path / "late"), *flush]
        assert run(*made, *others, program=second) == 0
    whole = f"{STREAM}{RISES}STREAM found FROM QUERY rises;\n{TWICE.replace('rises', 'found')}"
    wanted = cepc.compile(whole).run(pa.Table.from_pylist(events, schema=SCHEMA))["twice"]
    assert wanted.num_rows > 4
    assert same(rows(tmp_path / "more" / "twice", "parquet", wanted.schema), wanted.to_pylist(), ABOUT)
    assert not list(tmp_path.glob("late/*/batch=*"))


# ---- sinks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    ["parquet", *(pytest.param(form, marks=pytest.mark.long) for form in ("csv", "orc", "json"))],
)
def test_files_of_every_format_have_the_rows_of_a_batch(run: Any, tmp_path: Path, form: str) -> None:
    source = put(tmp_path / "in" / "0.parquet", EVENTS)
    assert run("--input", source, "--output", str(tmp_path / "out"), "--output-format", form, "--flush") == 0
    for query, table in expected().items():
        assert table.num_rows
        assert same(rows(tmp_path / "out" / query, form, table.schema), table.to_pylist(), ABOUT), query
        batches = [len(list(batch.glob("part-*"))) for batch in (tmp_path / "out" / query).glob("batch=*")]
        assert set(batches) == {1}  # one file each, of however many buckets


@pytest.mark.long  # several starts of a stream
def test_a_sink_that_is_listed_is_written_to_with_nothing_else_changed(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source, noted = put(tmp_path / "in" / "0.parquet", EVENTS), Memory()
    opened: list[Target] = []

    def notes(target: Target) -> Memory:
        opened.append(target)
        return noted

    monkeypatch.setitem(SINKS, "notes", notes)
    arguments = ("--input", source, "--output", "here", "--output-option", "colour=red", "--flush", "--output-format")
    assert run(*arguments, "notes") == 0
    assert [(target.to, target.options) for target in opened] == [("here", {"colour": "red"})]
    for query, table in expected().items():
        assert same(noted.table(query).to_pylist(), table.to_pylist(), ABOUT), query
    with pytest.raises(SystemExit):
        run(*arguments, "avro")
    assert (
        "avro is not for a stream: parquet, orc, json, csv, delta, kafka, notes, or `stream`" in capsys.readouterr().err
    )


@pytest.mark.long
def test_a_source_without_files_is_flushed_without_rows_and_may_have_some_later(
    run: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    arguments = ("--input", str(tmp_path / "in"), "--format", "parquet", "--output", str(tmp_path / "out"), "--flush")
    assert run(*arguments) == 0
    assert progress(capfd.readouterr().err) == [{"stream": "s", "flush": True, "out": {"rises": 0, "pairs": 0}}]
    put(tmp_path / "in" / "0.parquet", EVENTS)
    assert run(*arguments) == 0
    for query, table in expected().items():
        assert same(rows(tmp_path / "out" / query, "parquet", table.schema), table.to_pylist()), query


@pytest.mark.long
def test_the_console_shows_the_rows_of_each_micro_batch(
    run: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run("--input", put(tmp_path / "in" / "0.parquet", EVENTS), "--flush") == 0
    said = capfd.readouterr().out
    assert "rises, batch 1" in said
    assert "pairs, at the end" in said
    assert sum(
        line.startswith("|") and "window_start" not in line and "match_start" not in line for line in said.splitlines()
    ) == sum(table.num_rows for table in expected().values())


@pytest.mark.long
def test_rows_can_be_kept_in_memory_and_any_function_is_a_sink(spark: SparkSession, tmp_path: Path) -> None:
    source = put(tmp_path / "in" / "0.parquet", EVENTS)
    namespace: dict[str, Any] = {"__name__": "job"}
    exec(job_text(), namespace)
    memory = Memory()
    assert memory.table("rises") is None
    events = read_stream(spark, namespace["S"], "parquet", source, {})
    (running,) = namespace["stream"](
        spark, str(tmp_path / "c"), memory, events=events, queries=["rises"], trigger="available-now", buckets=2
    )
    running.query.awaitTermination()
    running.flush(lambda _: None)
    wanted = expected()["rises"]
    assert same(memory.table("rises").cast(wanted.schema).to_pylist(), wanted.to_pylist(), ABOUT)


def test_a_stream_begun_in_python_has_the_terms_of_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Terms] = []
    monkeypatch.setattr(whole_job, "run_stream", lambda *given: found.append(given[3]))
    namespace: dict[str, Any] = {"__name__": "job"}
    exec(job_text(), namespace)
    namespace["stream"](None, "c", Memory())
    namespace["stream"](None, "c", Memory(), late="l", dead="d", buckets=2, ahead=timedelta(seconds=1.5))
    assert found == [
        Terms(Folders("c"), "10 seconds", None, 86_400_000, False),
        Terms(Folders("c", "l", "d"), "10 seconds", 2, 1500, False),
    ]


# ---- records that are no events --------------------------------------------------------------------------------------


@pytest.mark.long  # spark-submit
def test_a_submitted_job_sets_records_apart_that_are_no_events(tmp_path: Path) -> None:
    source = put(tmp_path / "in" / "0.json", EVENTS)
    (tmp_path / "in" / "1.json").write_text("\n".join(BAD))
    ended = submit(
        tmp_path, "--checkpoint", str(tmp_path / "c"), "--input", source, "--format", "json",
        "--output", str(tmp_path / "out"),
        "--dead", str(tmp_path / "dead"), "--flush",
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr[-3000:]
    for query, table in expected().items():
        assert same(rows(tmp_path / "out" / query, "parquet", table.schema), table.to_pylist(), ABOUT), query
    lines = [line for line in progress(ended.stdout) if "flush" not in line]
    assert "Exception" not in ended.stdout + ended.stderr  # as Spark logs where it looks for what is not there yet
    assert sum(line["malformed"] for line in lines) == len(BAD)
    assert sum(line["without_time"] for line in lines) == 0
    assert all(line["labels"] == {"pairs": {"severity": "high", "owner": "us"}} for line in lines)
    written = [json.loads(line) for file in (tmp_path / "dead" / "s").glob("*/part-*") for line in file.open()]
    assert {line["record"]: line["reason"] for line in written} == BAD
    assert {Path(line["file"]).name for line in written} == {"1.json"}


@pytest.mark.long  # several starts of a stream
def test_without_a_place_for_it_such_a_record_stops_the_job_and_nothing_is_lost(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    lines = ["at,kind,k,x", *(f"{e['at']},{e['kind']},{e['k']},{e['x']}" for e in EVENTS), "7,A,x,seven", "8,A,x"]
    (tmp_path / "in" / "0.csv").write_text("\n".join(lines))
    arguments = ("--input", str(tmp_path / "in"), "--format", "csv", "--output", str(tmp_path / "out"))
    assert run(*arguments) == 1
    said = capsys.readouterr().err
    assert "error: a record of stream s is no event: " in said
    assert "a value is not of its declared type, or values are missing or too many" in said
    assert "0.csv" in said
    assert "--dead DIR writes such records there and goes on" in said
    assert run(*arguments, "--dead", str(tmp_path / "dead"), "--flush") == 0
    for query, table in expected().items():
        assert same(rows(tmp_path / "out" / query, "parquet", table.schema), table.to_pylist(), ABOUT), query
    assert len([line for file in (tmp_path / "dead" / "s").glob("*/part-*") for line in file.open()]) == 2


TYPED = """STREAM s (at TIMESTAMP, kind STRING, x DECIMAL(10, 2)) EVENT TIME at EVENT TYPE kind;
QUERY q RETURN MATCH A.at, A.x PATTERN A WITHIN 1 MINUTE;
"""
TEXTS = {"right": ("2026-03-02 10:00:00", "1.5"), "a comma": ("2026-03-02 10:00:01", "1,5"), "today": ("10:00:00", "2")}


@pytest.mark.long
@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_text_of_which_spark_makes_another_value_is_no_event(run: Any, tmp_path: Path, form: str) -> None:
    (tmp_path / "in").mkdir()
    lines = [f'"{at}",A,"{x}"' for at, x in TEXTS.values()]
    if form == "json":
        lines = [json.dumps({"at": at, "kind": "A", "x": x}) for at, x in TEXTS.values()]
    (tmp_path / "in" / f"0.{form}").write_text("\n".join([*(["at,kind,x"] if form == "csv" else []), *lines]))
    arguments = ["--input", str(tmp_path / "in"), "--format", form, "--output", str(tmp_path / "out"), "--flush"]
    assert run(*arguments, "--dead", str(tmp_path / "dead"), program=TYPED) == 0
    (found,) = ds.dataset(sorted(map(str, tmp_path.glob("out/q/*/part-*")))).to_table().to_pylist()
    assert (found["at"], found["x"]) == (datetime(2026, 3, 2, 10, tzinfo=UTC), Decimal("1.50"))
    dead = [json.loads(line) for file in (tmp_path / "dead" / "s").glob("*/part-*") for line in file.open()]
    assert len(dead) == 2
    assert ["1,5" in one["record"] or "10:00:00" in one["record"] for one in dead] == [True, True]


def test_decimal_commas_are_refused_before_a_stream_begins(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = put(tmp_path / "in" / "0.csv", [])
    arguments = ["--input", source, "--format", "csv", "--output", str(tmp_path / "out"), "--option", "decimal=,"]
    assert run(*arguments) == 1
    assert "has numbers with decimal commas, which Spark does not read" in capsys.readouterr().err


# ---- what is wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_checkpoint_of_another_program_is_refused(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = put(tmp_path / "in" / "0.parquet", EVENTS)
    assert run("--input", source, "--output", str(tmp_path / "out")) == 0
    assert (
        run("--input", source, "--output", str(tmp_path / "out"), program=PROGRAM.replace("WITHIN 3 s", "WITHIN 4 s"))
        == 1
    )
    assert "is the checkpoint of another program: query pairs is not what it was" in capsys.readouterr().err


@pytest.mark.long  # several starts of a stream
def test_a_file_of_another_schema_stops_the_job_and_is_named(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = put(tmp_path / "in" / "0.parquet", EVENTS)
    assert run("--input", source, "--output", str(tmp_path / "out")) == 0
    texts = [{**event, "x": "many"} for event in EVENTS]
    put(tmp_path / "in" / "1.parquet", texts, pa.schema([*list(SCHEMA)[:3], ("x", pa.string())]))
    os.utime(tmp_path / "in" / "0.parquet", (1, 1))
    assert run("--input", source, "--output", str(tmp_path / "out")) == 1
    said = capsys.readouterr().err
    assert "1.parquet" in said or "column x: expected int, found string" in said


@pytest.mark.long  # several starts of a stream
def test_a_job_that_was_killed_before_its_first_micro_batch_was_done_goes_on_with_its_own_rows_alone(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--input", put(tmp_path / "in" / "0.parquet", EVENTS), "--output", str(tmp_path / "out")]

    def fail(*_: object) -> None:
        raise JobError("all rows are written")

    with monkeypatch.context() as amid:
        amid.setattr(Writing, "_summary", fail)
        assert run(*arguments) == 1
    assert run(*arguments) == 0
    assert list((tmp_path / "out").glob("*/batch=*"))
    shutil.rmtree(tmp_path / "c")
    assert run(*arguments) == 1
    assert "has rows of another checkpoint" in capsys.readouterr().err


@pytest.mark.long  # several starts of a stream
@pytest.mark.parametrize("form", ["json", "parquet"])
def test_files_are_read_whatever_their_times_are(run: Any, tmp_path: Path, form: str) -> None:
    arguments = ["--format", form, "--output", str(tmp_path / "out"), "--input"]
    source = put(tmp_path / "in" / f"0.{form}", EVENTS[:20])
    os.utime(tmp_path / "in" / f"0.{form}", (1 << 32, 1 << 32))
    assert run(*arguments, source) == 0
    put(tmp_path / "in" / f"1.{form}", EVENTS[20:30])
    put(tmp_path / "in" / f"2.{form}", EVENTS[30:])
    os.utime(tmp_path / "in" / f"2.{form}", (1, 1))
    assert run(*arguments, source, "--flush") == 0
    for query, table in expected().items():
        assert same(rows(tmp_path / "out" / query, "parquet", table.schema), table.to_pylist(), ABOUT), query


@pytest.mark.long  # several starts of a stream
def test_a_folder_that_was_renamed_is_read_on_when_the_user_says_that_its_files_are_the_same(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = put(tmp_path / "in" / "0.json", EVENTS[:20])
    arguments = ["--format", "json", "--output", str(tmp_path / "out"), "--input"]
    assert run(*arguments, source) == 0
    (tmp_path / "in").rename(tmp_path / "new")
    put(tmp_path / "new" / "1.json", EVENTS[20:])
    assert run(*arguments, str(tmp_path / "new")) == 1
    assert f"and this run reads file:{tmp_path}/new: if the files" in capsys.readouterr().err
    assert run(*arguments, f"{tmp_path}/n[e]w/*.json", "--option", "filenameonly=true", "--flush") == 0
    for query, table in expected().items():
        assert same(rows(tmp_path / "out" / query, "parquet", table.schema), table.to_pylist(), ABOUT), query


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--format kafka", "no Kafka is named: write --option kafka.bootstrap.servers=HOST:PORT"),
        ("--format kafka --input t --option kafka.bootstrap.servers=127.0.0.1:1",
         "no broker of kafka.bootstrap.servers answers (127.0.0.1:1: Connection refused)"),
        ("--format kafka --input t --option kafka.bootstrap.servers=here", "answers (here: not HOST:PORT)"),
        ("--input x --output t --output-format kafka", "write --output-option kafka.bootstrap.servers=HOST:PORT"),
        ("--input x --output t --output-format delta", "Spark has no Delta by itself"),
        ("--format kafka --input t --avro none.avsc", "--avro none.avsc: No such file"),
        ("--input nowhere", "the events of stream s cannot be read"),
        ("--input x --output /dev/null", "error: --output /dev/null: /dev/null/_may_be_written cannot be written: "),
        ("--input x --late /dev/null/x", "; name a directory in which this user may write"),
        ("--input x --dead /proc/x", "error: --dead /proc/x: "),
    ],
)  # fmt: skip
def test_what_cannot_be_reached_is_said_at_once(
    run: Any, capsys: pytest.CaptureFixture[str], arguments: str, said: str
) -> None:
    assert run(*arguments.split()) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "packages"),
    [
        ([], "org.apache.spark:spark-sql-kafka-0-10_2.13:{0}"),
        (["--avro"], "org.apache.spark:spark-sql-kafka-0-10_2.13:{0},org.apache.spark:spark-avro_2.13:{0}"),
    ],
)
def test_the_packages_that_kafka_needs_are_named(
    run: Any, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], packages: str
) -> None:
    (tmp_path / "schema").write_text("{}")
    with socket.create_server(("127.0.0.1", 0)) as server:
        given = [
            "--format",
            "kafka",
            "--input",
            "t",
            "--option",
            f"kafka.bootstrap.servers=127.0.0.1:{server.getsockname()[1]}",
        ]
        assert run(*given, *(f"--avro={tmp_path / 'schema'}" for _ in more)) == 1
    assert f"run the job with spark-submit --packages {packages.format(spark.version)}\n" in capsys.readouterr().err
