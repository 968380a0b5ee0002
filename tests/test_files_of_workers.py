"""Files of Parquet that workers make: whoever reads them finds what Spark's own would have."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import cepc
from cepc.codegen.compiling import job_of
from cepc_runtime.plan.as_json import from_text_of_plan
from cepc_runtime.spark import files, main, parquet_packing
from cepc_runtime.spark.forms import END, IN_ROWS, Carried, InFiles, Parquet, parquet_form
from cepc_runtime.spark.parquet_packing import ParquetPacking
from cepc_runtime.spark.query_results import table_from
from cepc_runtime.spark.rows import layout_of
from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.settings import OF_OUTPUT
from tests.generated_jobs import names_of_job

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cepc_runtime.spark.forms import Form

TYPES = {
    "kind": pa.string(), "k": pa.int64(), "yes": pa.bool_(), "tiny": pa.int8(), "small": pa.int16(), "n": pa.int32(),
    "f": pa.float32(), "x": pa.float64(), "short": pa.decimal128(9, 2), "long": pa.decimal128(38, 10),
    "day": pa.date32(), "then": pa.timestamp("us", "UTC"), "bytes": pa.binary(),
}  # fmt: skip
STREAM = """STREAM s (at TIMESTAMP, kind STRING, k BIGINT, yes BOOLEAN, tiny TINYINT, small SMALLINT, n INT, f FLOAT,
  x DOUBLE, short DECIMAL(9, 2), long DECIMAL(38, 10), day DATE, then TIMESTAMP, bytes BINARY)
EVENT TIME at EVENT TYPE kind IN ('A', 'B');
"""
PROGRAM = f"""{STREAM}
QUERY every RETURN {", ".join(f"a.{name} AS {name}" for name in TYPES)} PATTERN A a WITHIN 1 SECOND;
QUERY lists RETURN MATCH k, COLLECT(a.then) AS times, COLLECT(a.short) AS prices PATTERN SEQ(A+ a, B b) WHERE [k]
  WITHIN 1 MINUTE;
QUERY events RETURN MATCH * PATTERN SEQ(A a, B b) WHERE [k] AND b.n > 1 WITHIN 1 MINUTE;
QUERY steps RETURN EACH *, COUNT(*) AS of_match, RUNNING SUM(a.long) AS so_far PATTERN SEQ(A+ a, B b) WHERE [k]
  WITHIN 1 MINUTE;
QUERY counts RETURN k, COUNT(*) AS n, SUM(a.x) AS x, AVG(a.short) AS price PATTERN SEQ(A a, B) GROUP BY k
  WITHIN 1 MINUTE SLIDE 30 SECONDS;
QUERY together RETURN COUNT(*) AS n PATTERN SEQ(A a, B) WHERE [k] WITHIN 1 MINUTE SLIDE 30 SECONDS;
QUERY singles RETURN k, COUNT(*) AS n PATTERN A GROUP BY k WITHIN 1 MINUTE;
QUERY none RETURN k, COUNT(*) AS n, SUM(a.x) AS x, AVG(a.short) AS price PATTERN SEQ(A a, A b, A c, A d, A e, A f, A g) GROUP BY k
  WITHIN 1 MINUTE SLIDE 30 SECONDS;
"""
MADE = ("every", "lists", "events", "steps", "counts")
"""The queries whose rows workers have as they are written."""


def events() -> pa.Table:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    times = [start, datetime(1, 1, 1, tzinfo=UTC), datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC), None]
    days = [date(1, 1, 1), None, date(9999, 12, 31)]
    return pa.Table.from_pylist(
        [
            {
                "at": start + timedelta(seconds=i), "kind": "AAB"[i % 3], "k": i % 7, "yes": [True, False, None][i % 3],
                "tiny": i - 100, "small": -i, "n": i % 4, "f": i / 3, "x": [0.1, float("nan"), -0.0, None][i % 4],
                "short": Decimal(i) / 100, "long": Decimal(10) ** 20 + Decimal(i) / 3, "day": days[i % 3],
                "then": times[i % 4], "bytes": [b"", b"PAR1\0\xff\n", None][i % 3],
            }
            for i in range(180)
        ],
        schema=pa.schema({"at": pa.timestamp("us", "UTC"), **TYPES}),
    )  # fmt: skip


def write(spark: SparkSession, table: pa.Table, program: str, out: Path) -> Path:
    source = out.with_suffix(".events")
    pq.write_table(table, source)
    names_of_job(program)["JOB"].write(
        spark, spark.read.parquet(str(source)), None, None, files.Files(str(out), "parquet")
    )
    return out


def parts(folder: Path) -> list[pq.ParquetFile]:
    return [pq.ParquetFile(path) for path in sorted(folder.glob("part-*"))]


def makers(folder: Path) -> set[str]:
    return {part.metadata.created_by.partition(" ")[0] for part in parts(folder)}


def physical(folder: Path) -> set[tuple[str, str]]:
    """The columns, and how their values are written."""
    columns = [part.schema.column(i) for part in parts(folder) for i in range(len(part.schema))]
    return {
        (column.path, column.physical_type) for column in columns if "DECIMAL" not in str(column.logical_type).upper()
    }


def carried(*about: Any) -> Form:
    form = parquet_form(*about)
    assert isinstance(form, InFiles)
    return replace(form, where=Carried())


@pytest.fixture
def settings(spark: SparkSession) -> Iterator[dict[str, str]]:
    """What a test puts here the session says until the test is over; it has to `say` it."""
    found: dict[str, str] = {}
    yield found
    for name in found:
        spark.conf.unset(name)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("said", "ending", "where"),
    [
        ({}, ".snappy.parquet", "carried"),
        pytest.param(
            {"compression.codec": "zstd", "outputTimestampType": "TIMESTAMP_MICROS"},
            ".zstd.parquet",
            "placed",
            marks=pytest.mark.long,
        ),
    ],
)
def test_what_workers_write_is_what_spark_writes(
    spark: SparkSession,
    tmp_path: Path,
    settings: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    said: dict[str, str],
    ending: str,
    where: str,
) -> None:
    if where == "carried":  # as on a cluster
        monkeypatch.setattr(files, "parquet_form", carried)
    for name, value in said.items():
        settings[f"spark.sql.parquet.{name}"] = value
        spark.conf.set(f"spark.sql.parquet.{name}", value)
    ours = write(spark, events(), PROGRAM, tmp_path / "ours")
    monkeypatch.setattr(files, "parquet_form", lambda *_: IN_ROWS)
    theirs = write(spark, events(), PROGRAM, tmp_path / "theirs")
    assert {path.name for path in ours.iterdir()} == {path.name for path in theirs.iterdir()}
    compared = 0
    for query in cepc.compile(PROGRAM).run(events()):
        assert makers(ours / query) == {"parquet-cpp-arrow" if query in MADE else "parquet-mr"}, query
        assert makers(theirs / query) == {"parquet-mr"}
        assert (ours / query / "_SUCCESS").exists()
        assert all(path.name.endswith(ending) for path in (ours / query).glob("part-*")), query
        assert physical(ours / query) == physical(theirs / query)
        found, wanted = (spark.read.parquet(str(at / query)) for at in (ours, theirs))
        assert found.schema == wanted.schema
        given, expected = (sorted(map(repr, table_from(frame).to_pylist())) for frame in (found, wanted))
        assert given == expected, query
        compared += len(given)
    assert compared > 400
    assert not list(tmp_path.glob("*/_unfinished"))


WITH_LOCAL = """STREAM s (at TIMESTAMP, kind STRING, local TIMESTAMP_NTZ) EVENT TIME at EVENT TYPE kind;
QUERY q RETURN MATCH a.local AS local PATTERN A a WITHIN 1 SECOND;
"""
PLAIN = """STREAM s (at TIMESTAMP, kind STRING, local TIMESTAMP_NTZ) EVENT TIME at EVENT TYPE kind;
QUERY q RETURN MATCH a.kind AS kind PATTERN A a WITHIN 1 SECOND;
"""
WORKERS, SPARK = "parquet-cpp-arrow", "parquet-mr"


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize(
    ("program", "setting", "value", "maker"),
    [
        (PLAIN, "spark.sql.parquet.compression.codec", "none", WORKERS),
        (PLAIN, "spark.sql.parquet.compression.codec", "lz4", SPARK),
        (PLAIN, "spark.sql.parquet.writeLegacyFormat", "TRUE", SPARK),
        (PLAIN, "spark.sql.files.maxRecordsPerFile", "5", SPARK),
        (PLAIN, "spark.sql.parquet.int96RebaseModeInWrite", "legacy", SPARK),
        (PLAIN, "parquet.bloom.filter.enabled", "true", SPARK),
        (PLAIN, "spark.sql.parquet.outputTimestampType", "TIMESTAMP_MILLIS", SPARK),
        (WITH_LOCAL, "spark.sql.parquet.outputTimestampType", "INT96", SPARK),
        (WITH_LOCAL, "spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS", WORKERS),
    ],
)
def test_what_workers_cannot_do_as_spark_was_told_spark_does(
    spark: SparkSession, tmp_path: Path, settings: dict[str, str], program: str, setting: str, value: str, maker: str
) -> None:
    settings[setting] = value
    spark.conf.set(setting, value)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    table = pa.table({"at": pa.array([at], pa.timestamp("us", "UTC")), "kind": ["A"], "local": [datetime(1, 2, 3)]})
    out = write(spark, table, program, tmp_path / "out")
    assert makers(out / "q") == {maker}
    assert spark.read.parquet(str(out / "q")).count() == 1


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize(("is_said", "physical_type"), [(False, "INT64"), (True, "INT96")])
def test_a_job_writes_times_as_numbers_unless_who_starts_it_says_how(
    spark: SparkSession,
    tmp_path: Path,
    settings: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    is_said: bool,
    physical_type: str,
) -> None:
    """In a row group of such files the least and the greatest time are known."""
    (name,) = OF_OUTPUT
    settings[name] = "of this test"  # and then the session's own
    spark.conf.unset(name)
    assert not main._is_said(spark, name)
    assert main._is_said(spark, "spark.app.name")
    if is_said:
        monkeypatch.setattr(main, "_is_said", lambda *_: True)
    monkeypatch.setattr(SparkSession, "stop", lambda _: None)
    pq.write_table(events(), tmp_path / "events.parquet")
    words = [
        "--input",
        str(tmp_path / "events.parquet"),
        "--output",
        str(tmp_path / "out"),
        "--queries",
        "counts,together",
    ]
    assert names_of_job(PROGRAM)["main"](words) == 0
    for query in ("counts", "together"):  # by workers and by Spark
        times = {column for column in physical(tmp_path / "out" / query) if column[0] in ("window_start", "window_end")}
        assert times == {("window_start", physical_type), ("window_end", physical_type)}
        for file in parts(tmp_path / "out" / query):
            column = file.metadata.row_group(0).column(file.schema_arrow.get_field_index("window_start"))
            assert bool(column.statistics and column.statistics.has_min_max) == (not is_said)


@pytest.mark.spark
def test_an_error_of_a_query_leaves_no_directory_that_is_complete(spark: SparkSession, tmp_path: Path) -> None:
    wrong = "QUERY q RETURN MATCH 1 DIV a.n AS n PATTERN SEQ(A a, B) WHERE [k] WITHIN 1 MINUTE;"
    with pytest.raises(Exception, match=r"division by zero in `1 DIV a.n`"):
        write(spark, events(), STREAM + wrong, tmp_path / "out")
    assert not list(tmp_path.glob("out/**/_SUCCESS"))


@pytest.mark.spark
def test_an_output_that_cannot_be_made_is_one_sentence(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(JobError, match=r"out: Not a directory: .*; name a directory in which this user may write"):
        write(spark, events(), FEW, tmp_path / "out")


# ---- in a worker -----------------------------------------------------------------------------------------------------

FEW = f"{STREAM}QUERY q RETURN MATCH a.k AS k, a.x AS x PATTERN A a WITHIN 1 SECOND;"
MANY = FEW + "QUERY r RETURN MATCH a.x AS x PATTERN A a WITHIN 1 SECOND;"


def put(found: dict[str, list[pa.Table]], batch: pa.RecordBatch) -> None:
    """The tables of the files in the batch, beside those of the same query."""
    for row in batch.to_pylist():
        assert row["error"] is None
        found[row["query"]].append(pq.read_table(pa.BufferReader(row["file"] + END)))


@pytest.mark.parametrize(
    ("limits", "files_of_each"),
    [
        ({}, 1),
        ({"GROUP": 100}, 1),
        ({"PENDING": 1000}, 1),
        ({"GROUP": 100, "FILE_BYTES": 2000}, 10),
        ({"GROUP": 100, "FILES_BYTES": 6000}, 2),
    ],
)
def test_a_file_is_whole_when_it_is_large_or_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch, limits: dict[str, int], files_of_each: int
) -> None:
    for name, value in limits.items():
        monkeypatch.setattr(parquet_packing, name, value)
    compiled = cepc.compile(MANY)
    names: dict[str, Any] = {"__name__": "job"}
    exec(compile(job_of(compiled.program, compiled.checked.sources).text, "job", "exec"), names)
    plan = from_text_of_plan(names["S_PLAN"])
    packing = ParquetPacking(plan, layout_of(plan), InFiles(Parquet("snappy", "INT96", "4.0.0"), Carried()))
    found: dict[str, list[pa.Table]] = {"0": [], "1": []}
    times = pa.array(np.arange(2000) * 1_000_000, pa.timestamp("us", "UTC"))
    values = {"k": np.arange(2000), "x": np.random.default_rng(1).random(2000)}
    table = pa.table({**values, "match_start": times, "match_end": times})
    columns = {0: table.column_names, 1: ["x", "match_start", "match_end"]}
    for start in range(0, 2000, 50):
        for number, own in columns.items():
            for batch in packing.rows(number, [table.slice(start, 50).select(own)]):
                put(found, batch)
    for batch in packing.rest():
        put(found, batch)
    for number, own in columns.items():
        parts = found[str(number)]
        assert (len(parts) == 1) == (files_of_each == 1)
        assert len(parts) >= files_of_each
        assert sorted(value.as_py() for part in parts for value in part["x"]) == sorted(values["x"].tolist())
        assert all(part.column_names == own for part in parts)
