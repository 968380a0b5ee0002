"""Jobs as streams on Spark: rows are those of a batch, once each, however the stream is stopped and started."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import threading
import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F  # noqa: N812

import cepc
from cepc_runtime.spark.errors import sentence
from cepc_runtime.spark.files import UNFINISHED, Renaming
from cepc_runtime.spark.footers import footers
from cepc_runtime.spark.query_results import table_from
from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.settings import MOST
from cepc_runtime.spark.streaming import checkpoint, starting, state_path
from cepc_runtime.spark.streaming.ending import SIGNALS
from cepc_runtime.spark.streaming.how_written import how_written
from cepc_runtime.spark.streaming.lease import LOOK, NAME
from cepc_runtime.spark.streaming.link_writes import OfLink
from cepc_runtime.spark.streaming.made_files import file_of
from cepc_runtime.spark.streaming.query import continuous
from cepc_runtime.spark.streaming.running import wait
from cepc_runtime.spark.streaming.same_files import folders_read
from cepc_runtime.spark.streaming.sinks import Directories
from cepc_runtime.spark.streaming.source import read_stream
from cepc_runtime.spark.streaming.spread import keys, spark_hash
from cepc_runtime.spark.streaming.starting import start, stream
from cepc_runtime.spark.streaming.store import HadoopStore, StoreError
from cepc_runtime.spark.streaming.tells import OF_A_BUCKET
from cepc_runtime.spark.streaming.terms import DAY, EVERY, Folders, Terms
from cepc_runtime.spark.streaming.told import told
from cepc_runtime.spark.streaming.writing import Writing
from tests.equivalence import ABOUT, same
from tests.faults import spark as faults
from tests.faults.driver import descendants, end
from tests.faults.work import work
from tests.generated_jobs import names_of_job

if TYPE_CHECKING:
    import signal
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from cepc_runtime.plan.physical import PhysicalPlan
    from cepc_runtime.spark.forms import FileKind
    from cepc_runtime.spark.streaming.query import Continuous, Streamed
    from cepc_runtime.spark.streaming.running import Running
    from cepc_runtime.spark.streaming.sinks import Sink

pytestmark = pytest.mark.spark

PROGRAM = """STREAM rides (at TIMESTAMP, kind STRING, driver BIGINT, district STRING, fare DECIMAL(9, 2), note STRING)
EVENT TIME at WATERMARK 20 SECONDS
EVENT TYPE kind IN ('Pickup', 'Travel', 'Drop', 'Cancel');
QUERY counted RETURN district, COUNT(*) AS n, SUM(t.fare) AS fare PATTERN SEQ(Pickup, Travel+ t, Drop)
  WHERE [driver] GROUP BY district WITHIN 1 MINUTE SLIDE 30 SECONDS;
QUERY plain RETURN COUNT(*) AS n, MAX(Travel.fare) AS most PATTERN Travel WITHIN 1 MINUTE OFFSET 25 SECONDS;
QUERY listed RETURN driver, p.at AS since, t.fare PATTERN SEQ(Pickup p, Travel t) WHERE [driver] WITHIN 10 SECONDS;
QUERY absent RETURN p.at AS since PATTERN SEQ(Pickup p, NOT Drop WITHIN 45 SECONDS) WHERE [driver] WITHIN 1 MINUTE;
QUERY visits RETURN driver, COUNT(*) AS n, SUM(t.fare) AS fare PATTERN SEQ(Pickup, Travel+ t) WHERE t.note = 'x'
  GROUP BY driver WITHIN SESSION 7 SECONDS;
QUERY runs RETURN MATCH driver, COUNT(t) AS travels, MATCH_NUMBER() AS run PATTERN Travel+ t WHERE [driver]
  SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 30 SECONDS;
QUERY steps RETURN EACH driver, at, VARIABLE() AS step, fare, RUNNING SUM(t.fare) AS so_far, MATCH_NUMBER() AS run
  PATTERN SEQ(Pickup, Travel+ t) WHERE [driver]
  SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 30 SECONDS;
QUERY spent RETURN MATCH driver, COUNT(t) AS travels, FIRST(t.at, 1) AS second PATTERN Travel{2,} t
  WHERE [driver] AND SUM(t.fare) > 1 AND COUNT(t) % 2 = 0 AND COALESCE(LAST(t, 1).fare < LAST(t).fare, TRUE)
  SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 30 SECONDS;
QUERY quiet RETURN MATCH driver, p.at AS since PATTERN SEQ(Pickup p, Travel) WHERE [driver]
  SELECT NEXT AFTER MATCH SKIP FOR 90 SECONDS WITHIN 30 SECONDS;
"""
START = datetime(1969, 12, 31, 23, 57, tzinfo=UTC)  # Spark's own watermark begins in 1970
SCHEMA = pa.schema(
    [("at", pa.timestamp("us", "UTC")), ("kind", pa.string()), ("driver", pa.int64()), ("district", pa.string()),
     ("fare", pa.decimal128(9, 2)), ("note", pa.string())]
)  # fmt: skip


def events() -> list[dict[str, Any]]:
    """Ten minutes of rides; integers that pandas would spoil, nulls, and rows that are no events."""
    chance = random.Random(7)
    rows = []
    for _ in range(900):
        driver = chance.choice((2**60 + 1, 2**60 + 2, 3, 4, 5, 6, 7, None))
        rows.append({
            "at": START + timedelta(milliseconds=chance.randrange(600_000)) if chance.random() > 0.01 else None,
            "kind": chance.choice(("Pickup", "Travel", "Travel", "Drop", "Cancel", "Other", None)),
            "driver": driver,
            "district": ("n", "s", None)[(driver or 0) % 3],
            "fare": chance.choice((Decimal("1.50"), Decimal("-0.25"), None)),
            "note": "x",
        })  # fmt: skip
    return sorted(rows, key=lambda row: (row["at"] or START) + timedelta(seconds=chance.uniform(0, 20)))


def terms_in(checkpoint: str, trigger: str = EVERY, buckets: int | None = None) -> Terms:
    return Terms(Folders(checkpoint), trigger, buckets, DAY, change=False)


def streamed(text: str) -> Streamed:
    (found,) = (part.streamed for part in names_of_job(text)["JOB"].parts)
    return found  # type: ignore[no-any-return]


def put(folder: Path, number: int, rows: list[dict[str, Any]], schema: pa.Schema = SCHEMA) -> None:
    """A file of events; files are taken by their times."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{number}.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)
    os.utime(path, (1_000_000 + number, 1_000_000 + number))


def written(folder: Path, query: str, schema: pa.Schema) -> list[dict[str, Any]]:
    """The rows of a query, of all micro-batches."""
    table = pq.read_table(folder / query)
    found: list[dict[str, Any]] = table.drop_columns(["batch"]).cast(schema).to_pylist()
    return found


class Job:
    """The program over files that come one by one, each a micro-batch."""

    def __init__(
        self, spark: SparkSession, folder: Path, text: str = PROGRAM, buckets: int = 3, leaving_out: str = ""
    ) -> None:
        self.spark, self.folder, self.streamed = spark, folder, streamed(text)
        queries = [name for name in self.streamed.stream.queries if name != leaving_out]
        self.what: Continuous = continuous(self.streamed, queries, buckets, 86_400_000)
        self.sink = Directories(str(folder / "out"), "parquet")
        self.lines: list[dict[str, Any]] = []

    def events(self) -> DataFrame:
        stream, place = self.streamed.stream, str(self.folder / "in")
        return read_stream(self.spark, stream, "parquet", place, {"maxFilesPerTrigger": "1"})

    def start(self, sink: Sink, events: DataFrame | None = None) -> Running:
        frame = self.events() if events is None else events
        folders = Folders(str(self.folder / "checkpoint"), str(self.folder / "late"))
        events_of = {self.streamed.stream.name: frame}
        return start(self.what, events_of, folders, sink, {"availableNow": True})

    def run(self, flush: bool = False) -> None:
        running = self.start(self.sink)
        wait([running], self.lines.append)
        if flush:
            running.flush(self.lines.append)

    def by_spark(self) -> Job:
        """The same, where Spark writes the rows: it is told more of Parquet than we know to do."""
        self.sink = Directories(str(self.folder / "out"), "parquet", {"compression": "snappy"})
        return self

    def makers(self, query: str) -> set[str]:
        """Of the files of a query."""
        files = (self.folder / "out" / query).glob("batch=*/*.parquet")
        return {pq.ParquetFile(file).metadata.created_by.partition(" ")[0] for file in files}

    def rows(self, query: str, schema: pa.Schema) -> list[dict[str, Any]]:
        return written(self.folder / "out", query, schema)


@pytest.mark.parametrize("by_spark", [False, pytest.param(True, marks=pytest.mark.long)])
def test_rows_are_those_of_a_batch_each_once(spark: SparkSession, tmp_path: Path, by_spark: bool) -> None:
    rows, settings = events(), dict(spark.conf.getAll)
    for number in range(3):
        put(tmp_path / "in", number, rows[number * 300 : (number + 1) * 300])
    job = Job(spark, tmp_path).by_spark() if by_spark else Job(spark, tmp_path)
    job.run()
    # Another process goes on from the checkpoint. An event is years ahead, and one comes minutes late.
    ahead = {**rows[0], "at": datetime(2400, 1, 1, tzinfo=UTC), "kind": "Travel"}
    late = {**rows[0], "at": START, "kind": "Travel"}
    put(tmp_path / "in", 3, [ahead, late])
    job.run(flush=True)
    assert dict(spark.conf.getAll) == settings

    expected = cepc.compile(PROGRAM).run(pa.Table.from_pylist(rows, schema=SCHEMA))
    for query, table in expected.items():
        assert table.num_rows
        assert same(job.rows(query, table.schema), table.to_pylist(), ABOUT), query
        assert job.makers(query) == {"parquet-mr" if by_spark else "parquet-cpp-arrow"}

    lines = [line for line in job.lines if "flush" not in line]
    assert [line["batch"] for line in lines] == list(range(len(lines)))
    assert sum(line["rows"] for line in lines) == 902
    assert sum(line["without_time"] for line in lines) == sum(row["at"] is None for row in rows)
    assert sum(sum(line["out"].values()) for line in job.lines) == sum(t.num_rows for t in expected.values())
    assert lines[0]["watermark"] is None
    assert lines[-1]["watermark"] < "1970-01-01T00:08"  # not of the year 2400
    reasons = [json.loads(row.value) for row in spark.read.text(str(tmp_path / "late")).collect()]
    assert {(r["reason"], r["event"]["at"][:10]) for r in reasons} == {
        ("late", "1969-12-31"), ("ahead of the clock", "2400-01-01"),
    }  # fmt: skip
    assert sum(line["late"] + line["ahead"] for line in lines) == len(reasons)
    with pytest.raises(JobError, match="was ended by --flush"):
        job.run()


LAGS = f"""{PROGRAM.partition("QUERY")[0]}
QUERY dearer RETURN MATCH driver, t.at AS since PATTERN Travel t
  WHERE [driver] AND t.note = 'x' AND t.fare > LAG(t.fare) WITHIN 1 SECOND;
QUERY again RETURN district, COUNT(*) AS n PATTERN Drop d WHERE [driver] AND LAG(d.kind) = 'Other' GROUP BY district
  WITHIN 1 MINUTE;
QUERY jumps RETURN MATCH driver, p.at AS since, COUNT(t) AS n PATTERN SEQ(Pickup p, Travel+ t)
  WHERE [driver] AND LAG(t.at, 2) <= p.at SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 30 SECONDS;
QUERY plain RETURN COUNT(*) AS n PATTERN Travel WITHIN 1 MINUTE;
QUERY ahead RETURN COUNT(*) AS n PATTERN Travel WHERE LEAD(Travel.fare) > 1 WITHIN 1 MINUTE;
"""


@pytest.mark.long
def test_what_was_before_an_event_is_known_over_micro_batches_and_restarts(spark: SparkSession, tmp_path: Path) -> None:
    """Queries with LAG, beside one without and one that is left out."""
    rows = events()
    for number in range(2):
        put(tmp_path / "in", number, rows[number * 300 : (number + 1) * 300])
    Job(spark, tmp_path, LAGS, leaving_out="ahead").run()
    put(tmp_path / "in", 2, rows[600:])
    job = Job(spark, tmp_path, LAGS, leaving_out="ahead")
    job.run(flush=True)
    expected = cepc.compile(LAGS).run(pa.Table.from_pylist(rows, schema=SCHEMA))
    for query in job.what.queries:
        assert expected[query].num_rows
        assert same(job.rows(query, expected[query].schema), expected[query].to_pylist(), ABOUT), query


@pytest.mark.long
@pytest.mark.parametrize("written_by", ["workers", "Spark"])
def test_rows_and_late_events_of_more_than_a_driver_shall_hold_are_written_by_others(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written_by: str
) -> None:
    """More than a MB of each, of one bucket, beside a few rows. On a cluster it is Spark that has them."""
    by_driver, made_of = list[tuple[int, int]](), file_of

    def made(kind: FileKind, plan: PhysicalPlan, number: int, tables: Sequence[pa.Table]) -> Any:
        by_driver.append((number, sum(table.num_rows for table in tables)))
        return made_of(kind, plan, number, tables)

    monkeypatch.setattr(f"{OfLink.__module__}.file_of", made)
    monkeypatch.setattr(f"{OfLink.__module__}.text_file", lambda _: pytest.fail("by the driver"))
    text = """STREAM rides (at TIMESTAMP, kind STRING, driver BIGINT, note STRING)
    EVENT TIME at WATERMARK 1 SECOND EVENT TYPE kind IN ('Pickup', 'Travel', 'Drop');
    QUERY many RETURN MATCH t.note, t.driver PATTERN Travel t WITHIN 1 SECOND;
    QUERY few RETURN MATCH COUNT(*) AS n PATTERN SEQ(Pickup p, Drop d) WITHIN 1 SECOND;
    """
    notes = [f"{number:0250}" for number in range(6000)]
    pairs = [{"at": START + timedelta(milliseconds=n), "kind": kind} for n, kind in enumerate(("Pickup", "Drop"))]
    moments = [START + timedelta(seconds=100, microseconds=number) for number in range(len(notes))]
    many = [
        {"at": at, "kind": "Travel", "driver": number % 9, "note": note}
        for number, (at, note) in enumerate(zip(moments, notes, strict=True))
    ]
    put(tmp_path / "in", 0, pairs)
    put(tmp_path / "in", 1, many)
    for number in (2, 3):  # what a micro-batch says of the watermark holds two later
        put(tmp_path / "in", number, [{**many[-1], "at": START + timedelta(seconds=100 * number)}])
    put(tmp_path / "in", 4, many)
    if written_by == "Spark":
        monkeypatch.setattr(f"{how_written.__module__}.is_one_machine", lambda _: False)
    brought = list[int]()

    def heard(blobs: DataFrame) -> pa.Table:
        found = table_from(blobs)
        brought.append(found.nbytes)
        return found

    monkeypatch.setattr(f"{told.__module__}.table_from", heard)
    job = Job(spark, tmp_path, text, 1)
    job.run(flush=True)
    found = pq.read_table(tmp_path / "out" / "many")
    assert Counter(found.column("note").to_pylist()) == {**dict.fromkeys(notes, 1), notes[-1]: 3}
    assert pq.read_table(tmp_path / "out" / "few").column("n").to_pylist() == [2]
    lost = [json.loads(row.value)["event"]["note"] for row in spark.read.text(str(tmp_path / "late")).collect()]
    assert sorted(lost) == notes
    assert sorted(by_driver) == [(0, 1), (0, 1), (1, 1)]  # of micro-batches with a row each
    assert not list((tmp_path / "out" / "_unfinished").glob("*"))
    assert 0 < max(brought) < OF_A_BUCKET
    makers = {"workers": {"parquet-cpp-arrow"}, "Spark": {"parquet-cpp-arrow", "parquet-mr"}}
    assert job.makers("many") == makers[written_by]
    assert job.makers("few") == {"parquet-cpp-arrow"}


@pytest.mark.long  # without Spark: test_state.py
def test_a_program_that_was_compiled_again_with_queries_in_another_order_goes_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    """And with another query, which is not run; so classes, letters and columns have other numbers."""
    rows = events()
    for number in range(2):
        put(tmp_path / "in", number, rows[number * 300 : (number + 1) * 300])
    first = Job(spark, tmp_path)
    first.run()
    put(tmp_path / "in", 2, rows[600:])
    head, *queries = PROGRAM.split("QUERY ")
    more = "more RETURN MATCH d.note AS note PATTERN SEQ(Drop d, Cancel c) WHERE c.fare > 0 WITHIN 5 SECONDS;\n"
    again = Job(spark, tmp_path, "QUERY ".join([head, more, *reversed(queries)]), leaving_out="more")
    assert [query.name for query in again.what.plan.queries] == [q.name for q in reversed(first.what.plan.queries)]
    assert again.streamed.letters != first.streamed.letters
    again.run(flush=True)
    expected = cepc.compile(PROGRAM).run(pa.Table.from_pylist(rows, schema=SCHEMA))
    for query, table in expected.items():
        assert table.num_rows
        assert same(again.rows(query, table.schema), table.to_pylist(), ABOUT), query


def test_buckets_have_keys_that_spark_spreads_evenly(spark: SparkSession) -> None:
    table = spark.createDataFrame([(key,) for key in keys(32)], "key INT")
    assert all(spark_hash(row.key) == row.hash for row in table.select("key", F.hash("key").alias("hash")).collect())
    parts = table.repartition(8, "key").groupBy(F.spark_partition_id()).count().collect()
    assert [part["count"] for part in parts] == [4] * 8


@pytest.mark.long
def test_spark_generates_no_code_in_a_micro_batch_like_those_before(spark: SparkSession, tmp_path: Path) -> None:
    for minute in range(7):
        moments = [START + timedelta(minutes=minute, seconds=second) for second in range(0, 60, 10)]
        put(tmp_path / "in", minute, [{**events()[0], "at": at, "kind": "Travel"} for at in moments])
    what = continuous(streamed(PROGRAM), ["plain"], 2, 86_400_000)
    frame = read_stream(spark, what.streamed.stream, "parquet", str(tmp_path / "in"), {"maxFilesPerTrigger": "1"})
    jvm: Any = spark._jvm
    times = jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME()
    generated: list[int] = []

    def count(_query: str, rows: DataFrame, _batch: int) -> None:
        assert rows.count()
        generated.append(times.getCount())

    events_of = {what.streamed.stream.name: frame}
    wait([start(what, events_of, Folders(str(tmp_path / "checkpoint")), count, {"availableNow": True})], lambda _: None)
    assert len(generated) >= 6
    assert generated[2] == generated[4]  # the last micro-batch has no events


SMALL = PROGRAM.partition("QUERY absent")[0]


@pytest.mark.long
def test_a_job_that_was_killed_while_it_wrote_its_first_offsets_begins(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "in", 0, events()[:300])
    job, offsets = Job(spark, tmp_path, SMALL), tmp_path / "checkpoint" / "offsets"
    offsets.mkdir(parents=True)
    for name in (".0.24e6e1a0.tmp", "..0.24e6e1a0.tmp.crc"):  # Spark wants this directory to be empty
        (offsets / name).write_text("v1\n")
    job.run()
    assert sum(line["rows"] for line in job.lines) == 300


@pytest.mark.long
def test_queries_are_written_at_once_and_one_that_fails_stops_the_stream_when_the_others_are_written(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = events()[:600]
    put(tmp_path / "in", 0, rows)
    job, write, together = Job(spark, tmp_path, SMALL).by_spark(), Directories.__call__, threading.Barrier(3)

    def fail_after_the_others(sink: Directories, query: str, found: DataFrame, batch: int) -> None:
        if query == "plain":
            together.wait(60)
            raise JobError("no room for plain")
        write(sink, query, found, batch)
        together.wait(60)

    with monkeypatch.context() as amid:
        amid.setattr(Directories, "__call__", fail_after_the_others)
        with pytest.raises(JobError, match="no room for plain"):
            job.run(flush=True)
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"counted", "listed"}
    job.run(flush=True)
    expected = cepc.compile(SMALL).run(pa.Table.from_pylist(rows, schema=SCHEMA))
    for query, table in expected.items():
        assert table.num_rows
        assert same(job.rows(query, table.schema), table.to_pylist(), ABOUT), query


@pytest.mark.long
def test_a_stream_that_is_stopped_amid_a_write_keeps_its_checkpoint_until_the_write_is_over(
    spark: SparkSession, tmp_path: Path
) -> None:
    put(tmp_path / "in", 0, events()[:600])
    job, amid, go_on = Job(spark, tmp_path, SMALL), threading.Event(), threading.Event()

    def slow(*_: object) -> None:
        amid.set()
        go_on.wait(60)

    running = job.start(slow)
    lease = tmp_path / "checkpoint" / NAME
    assert amid.wait(60)
    stopping = threading.Thread(target=running.stop)
    stopping.start()
    while running.query.isActive:
        time.sleep(0.1)
    time.sleep(1.5 * LOOK)
    assert lease.exists()
    assert stopping.is_alive()
    go_on.set()
    stopping.join(60)
    assert not lease.exists()


@pytest.mark.long  # several starts of a stream
def test_a_flush_that_was_cut_short_is_finished_before_anything_else_and_doubles_no_row(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = events()[:600]
    put(tmp_path / "in", 0, rows)
    job = Job(spark, tmp_path, SMALL)
    job.run()
    with monkeypatch.context() as amid:
        amid.setattr(Writing, "_summary", _interrupt)  # all rows are written
        with pytest.raises(KeyboardInterrupt):
            job.run(flush=True)
    shutil.rmtree(tmp_path / "out" / "plain" / "batch=-1")  # as where it was written last
    # An event that closes all windows, whose rows are in batch=-1.
    put(tmp_path / "in", 1, [{**rows[0], "at": START + timedelta(hours=1), "kind": "Travel"}])
    with pytest.raises(JobError, match=r"was being ended by --flush when its job stopped: the rest .* is written now"):
        job.run()
    expected = cepc.compile(SMALL).run(pa.Table.from_pylist(rows, schema=SCHEMA))
    for query, table in expected.items():
        assert table.num_rows
        assert same(job.rows(query, table.schema), table.to_pylist(), ABOUT), query
    with pytest.raises(JobError, match="was ended by --flush"):
        job.run()


@pytest.mark.long
@pytest.mark.parametrize(("place", "name"), [("my ck%20[1]", "rides"), ("ck", "`S t/é`")])
def test_a_checkpoint_whose_name_is_another_in_a_url_is_flushed_to_the_end(
    spark: SparkSession, tmp_path: Path, place: str, name: str
) -> None:
    rows = events()[:300]
    put(tmp_path / "in", 0, rows)
    one = streamed(SMALL.replace("STREAM rides", f"STREAM {name}"))
    frame = read_stream(spark, one.stream, "parquet", str(tmp_path / "in"), {})
    terms = terms_in(str(tmp_path / place), "available-now", 2)
    (running,) = stream(spark, [one], Directories(str(tmp_path / "out"), "parquet"), terms, frame)
    wait([running], lambda _: None)
    running.flush(lambda _: None)
    for query, table in cepc.compile(SMALL).run(pa.Table.from_pylist(rows, schema=SCHEMA)).items():
        assert table.num_rows
        found = pq.read_table(tmp_path / "out" / query).drop_columns(["batch"]).cast(table.schema)
        assert same(found.to_pylist(), table.to_pylist(), ABOUT), query
    with pytest.raises(checkpoint.Ended):
        stream(spark, [one], Directories(str(tmp_path / "out"), "parquet"), terms, frame)


@pytest.mark.parametrize(
    ("place", "name", "cure"),
    [
        ("my ck", "rides", "name another --checkpoint"),
        ("ck", "`S t`", "give the stream of S t a name of letters, digits and _"),
    ],
)
def test_a_cluster_begins_no_checkpoint_whose_state_a_flush_could_not_find(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, name: str, cure: str
) -> None:
    put(tmp_path / "in", 0, events()[:1])
    one = streamed(SMALL.replace("STREAM rides", f"STREAM {name}"))
    frame = read_stream(spark, one.stream, "parquet", str(tmp_path / "in"), {})
    monkeypatch.setattr(state_path, "cores_of", lambda _: None)
    with pytest.raises(JobError, match=cure):
        stream(spark, [one], Directories(str(tmp_path / "out"), "parquet"), terms_in(str(tmp_path / place)), frame)
    assert not (tmp_path / place).exists()


@pytest.mark.parametrize("place", ["{}/ck/rides", "file:{}/ck/rides", "file://{}/ck/rides", "ck/rides"])
def test_a_cluster_reads_the_state_below_a_plain_name_however_it_is_written(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(state_path, "cores_of", lambda _: None)
    folder = place.format(tmp_path)
    state_path.check_readable(spark, folder)
    with state_path.readable(spark, folder) as found:
        assert found == folder


ALIKE = (
    PROGRAM.partition("QUERY")[0]
    + "".join(
        f"QUERY {name} RETURN district, COUNT(*) AS n PATTERN {pattern} GROUP BY district WITHIN 1 MINUTE;\n"
        for name, pattern in {
            "one": "SEQ(Pickup, Drop)",
            "two": "SEQ(Pickup, Travel)",
            "`a/b`": "Travel",
            "no": "SEQ(Drop{30})",
        }.items()
    )
    + "QUERY other RETURN COUNT(*) AS m PATTERN SEQ(Pickup, Drop) WITHIN 1 MINUTE;"
)


@pytest.mark.long
def test_queries_with_the_same_columns_are_written_by_one_job_also_where_a_kill_left_half_of_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = events()
    for number in range(2):
        put(tmp_path / "in", number, rows[number * 450 : (number + 1) * 450])
    job = Job(spark, tmp_path, ALIKE).by_spark()

    def killed_amid(moves: Renaming, source: str, target: str) -> bool:
        if "/two/" in target:
            raise OSError("killed")
        return moved(moves, source, target)

    moved = Renaming.moved
    with monkeypatch.context() as amid:
        amid.setattr(Renaming, "moved", killed_amid)
        amid.setattr(Renaming, "removed", lambda *_: None)  # nor is anything tidied up
        with pytest.raises(Exception, match="killed"):
            job.run()
    assert [path.name for path in (tmp_path / "out" / UNFINISHED / "one").glob("query=*")]
    assert not (tmp_path / "out" / "two").exists()
    job.run(flush=True)
    expected = cepc.compile(ALIKE).run(pa.Table.from_pylist(rows, schema=SCHEMA))
    writes: dict[str, set[tuple[str, str]]] = {}
    for query, table in expected.items():
        if query == "no":
            assert not table.num_rows
            assert not (tmp_path / "out" / query).exists()
            continue
        folder = "a%2Fb" if query == "a/b" else query
        assert same(job.rows(folder, table.schema), table.to_pylist(), ABOUT), query
        files = [*(tmp_path / "out" / folder).glob("batch=*/part-*")]
        writes[query] = {(file.parent.name, file.name.split("-", 2)[2][:36]) for file in files}
        assert all((file.parent / "_SUCCESS").exists() for file in files)
    assert len(writes["one"] & writes["two"] & writes["a/b"]) > 1
    assert not writes["one"] & writes["other"]
    assert not [*(tmp_path / "out" / UNFINISHED).iterdir()]


def test_a_run_finishes_the_flush_of_all_streams_and_is_refused_where_some_were_ended_before(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "in", 0, events()[:1])
    streams = [
        streamed(SMALL),
        streamed(f"{SMALL.partition('QUERY')[0]}QUERY other RETURN COUNT(*) AS n PATTERN Drop WITHIN 9 s;"),
    ]
    streams[1] = replace(streams[1], stream=replace(streams[1].stream, name="trips"))
    frames = {s.stream.name: read_stream(spark, s.stream, "parquet", str(tmp_path / "in"), {}) for s in streams}
    over, left = {"rides", "trips"}, {"trips"}  # a flush was killed between the two
    begun: list[tuple[str, set[str]]] = []

    def start(what: Continuous, *given: Any) -> str:
        name, tell, together = what.streamed.stream.name, *given[4:6]
        begun.append((name, {*together}))
        if name in left:
            tell({"stream": name})
        if name in over:
            raise checkpoint.Ended(f"{name} was ended by --flush")
        return name

    def run_all(finish: Any) -> Any:
        sink, terms = Directories(str(tmp_path / "o"), "parquet"), terms_in(str(tmp_path / "c"))
        return stream(spark, streams, sink, terms, frames, finish=finish)

    monkeypatch.setattr(starting, "start", start)
    monkeypatch.setattr(checkpoint, "ended", lambda *_: frozenset(over))
    told: list[Any] = []
    assert run_all(told.append) == []
    assert told == [{"stream": "trips"}]
    assert begun == [("rides", over), ("trips", over)]
    with pytest.raises(checkpoint.Ended, match="rides was ended"):
        run_all(None)
    left.clear()
    with pytest.raises(checkpoint.Ended, match=r"rides was ended by --flush$"):
        run_all(told.append)
    over.remove("trips")  # which was never to be ended
    begun.clear()
    with pytest.raises(checkpoint.Ended, match="rides was ended by --flush; --queries other runs the others"):
        run_all(told.append)
    assert begun == [("rides", {"rides"})]


def test_what_of_a_checkpoint_a_run_leaves_out_was_ended_and_its_flush_is_finished_for_the_others(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "in", 0, events()[:1])
    rides = streamed(SMALL)
    trips = streamed(f"{SMALL.partition('QUERY')[0]}QUERY other RETURN COUNT(*) AS n PATTERN Drop WITHIN 9 s;")
    trips = replace(trips, stream=replace(trips.stream, name="trips"))
    frames = {
        name: read_stream(spark, rides.stream, "parquet", str(tmp_path / "in"), {}) for name in ("rides", "trips")
    }
    store, folder, ours = HadoopStore(spark), f"{tmp_path}/c/rides", continuous(rides, ["plain"], 2, 86_400_000)
    checkpoint.claim(store, folder, ours)
    file = tmp_path / "c" / "rides" / checkpoint.FILE
    file.write_text(file.read_text().replace(f'"format": {checkpoint.FORMAT}', '"format": 0'))
    for log in ("offsets", "commits"):
        (tmp_path / "c" / "rides" / log).mkdir()
        (tmp_path / "c" / "rides" / log / "0").touch()
    begun: list[tuple[str, set[str]]] = []

    def start(what: Continuous, *given: Any) -> None:
        begun.append((what.streamed.stream.name, {*given[5]}))
        if given[5]:
            raise checkpoint.Ended("it is finished")

    monkeypatch.setattr(starting, "start", start)

    def run_some(streams: list[Streamed], queries: list[str]) -> None:
        sink, terms = Directories(str(tmp_path / "o"), "parquet"), terms_in(f"{tmp_path}/c")
        own = {one.stream.name: frames[one.stream.name] for one in streams}
        stream(spark, streams, sink, terms, own if queries != ["other"] else {"trips": frames["trips"]}, queries)

    with pytest.raises(JobError, match=r"c is the checkpoint of another program: stream rides is gone[.]"):
        run_some([trips], ["other"])
    with pytest.raises(JobError, match=r"those of stream rides are not among .* Add plain to --queries"):
        run_some([rides, trips], ["other"])
    with pytest.raises(JobError, match=r"c/rides is the checkpoint of another program: .* written in format 0"):
        run_some([trips, rides], ["plain", "other"])
    assert begun == []  # nor did the stream that is new
    checkpoint.claim(store, f"{tmp_path}/d/rides", ours)
    (tmp_path / "d" / "rides" / checkpoint.FILE).rename(file)
    run_some([trips, rides], ["plain", "other"])  # a stream more begins, when the others have
    assert begun == [("rides", set()), ("trips", set())]
    begun.clear()
    checkpoint.flush(store, folder, lambda batch: batch, lambda batch: batch, ["rides", "trips"])
    with pytest.raises(checkpoint.Ended, match="it is finished"):
        run_some([rides, trips], ["other"])
    assert begun == [("trips", {"rides", "trips"})]


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.long
def test_a_value_that_does_not_fit_stops_the_stream_with_one_sentence(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        {"at": START + timedelta(milliseconds=500 * s), "kind": "Travel", "driver": 1, "district": "n"}
        for s in range(64)
    ]
    put(tmp_path / "in", 0, rows)
    text = PROGRAM.partition("QUERY")[0] + "QUERY trends RETURN COUNT(*) AS n PATTERN Travel+ t WITHIN 2 MINUTES;"
    job = Job(spark, tmp_path, text)
    put(tmp_path / "in", 1, [{**rows[0], "at": START + timedelta(hours=1)}])
    with pytest.raises(Exception, match="COUNT") as failure:
        job.run()
    assert sentence(failure.value).startswith(
        "query trends: COUNT(*) does not fit BIGINT in the window from 1969-12-31 23:56"
    )


@pytest.mark.long
def test_matches_without_end_stop_the_stream_in_the_first_step_that_decides_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The first micro-batch has no watermark yet, so nothing is listed in it; the second asks for all, in each
    bucket.
    """
    text = (
        PROGRAM[: PROGRAM.index("QUERY")]
        + "QUERY q RETURN MATCH COUNT(t) AS n PATTERN Travel+ t WHERE [driver] WITHIN 1 HOUR;"
    )
    rows = [
        {"at": START + timedelta(seconds=second), "kind": "Travel", "driver": driver}
        for second in (*range(40), 9000)
        for driver in range(4)
    ]
    put(tmp_path / "in", 0, rows)
    spark.conf.set(MOST, "1000")
    try:
        job = Job(spark, tmp_path, text, buckets=2)
        started = time.monotonic()
        with pytest.raises(JobError) as failure:  # by the driver, which is told why
            job.run()
    finally:
        spark.conf.unset(MOST)
    assert time.monotonic() - started < 300  # on busy cores it took 55
    assert [line["batch"] for line in job.lines] == [0]
    assert re.match(r"query q: more than (1,800|2,600) partial matches had to be enumerated; ", sentence(failure.value))


def test_files_without_a_declared_column_are_refused_before_the_stream_begins(
    spark: SparkSession, tmp_path: Path
) -> None:
    pq.write_table(
        pa.table({"at": pa.array([0], pa.timestamp("us", "UTC")), "kind": ["Travel"]}), tmp_path / "0.parquet"
    )
    with pytest.raises(JobError, match="column driver: expected bigint, found none"):
        read_stream(spark, streamed(PROGRAM).stream, "parquet", str(tmp_path), {})


@pytest.mark.long
@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"driver": pa.array([1], pa.int32())}, None),
        ({"driver": pa.array([1.5])}, "column driver: expected bigint, found double"),
        ({"driver": None}, "column driver: expected bigint, found none"),
    ],
)
def test_each_file_that_comes_is_looked_at_before_its_events_are_believed(
    spark: SparkSession, tmp_path: Path, other: dict[str, Any], said: str | None
) -> None:
    put(tmp_path / "in", 0, events()[:3])
    job, table = Job(spark, tmp_path), pa.Table.from_pylist(events()[3:4], schema=SCHEMA)
    for name, column in other.items():
        table = table.drop_columns([name]) if column is None else table.drop_columns([name]).append_column(name, column)
    beginning = job.events()
    pq.write_table(table, tmp_path / "in" / "1.parquet")
    if said is not None:
        running = job.start(Directories(str(tmp_path / "out"), "parquet"), beginning)
        with pytest.raises(JobError, match=rf"in {tmp_path}/in/1.parquet: {said}.*put a file with the declared"):
            wait([running], job.lines.append)
        put(tmp_path / "in", 1, events()[3:4])
    job.run()
    assert [line["rows"] for line in job.lines] == [3, 1]


def test_a_stream_reads_a_directory(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "in", 0, events()[:1])
    with pytest.raises(JobError, match=r"in/0.parquet is a file, .*: name the directory that files come to"):
        read_stream(spark, streamed(PROGRAM).stream, "parquet", str(tmp_path / "in" / "0.parquet"), {})


ALARMS = """QUERY bursts RETURN MATCH driver, COUNT(t) AS travels PATTERN Travel{2,} t WHERE [driver]
  SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT WITHIN 40 SECONDS;
STREAM bursting FROM QUERY bursts;
QUERY again RETURN MATCH driver, b.travels AS first, c.travels AS second PATTERN SEQ(bursting b, bursting c)
  WHERE [driver] WITHIN 5 MINUTES;
"""


@pytest.mark.long
def test_over_a_streaming_dataframe_the_rows_of_queries_are_some(spark: SparkSession, tmp_path: Path) -> None:
    """Also of a query over the rows of another; each with a checkpoint of its own, on which it is begun twice."""
    rows = [*events(), {**dict.fromkeys(SCHEMA.names), "at": START + timedelta(hours=5), "kind": "Cancel"}]
    compiled = cepc.compile(PROGRAM + ALARMS)
    asked = ["counted", "steps", "again"]
    expected = compiled.run(pa.Table.from_pylist(rows, SCHEMA), asked)
    reader = spark.readStream.schema(streamed(PROGRAM).stream.schema).option("maxFilesPerTrigger", 1)
    for number, part in enumerate((rows[:400], rows[400:700], rows[700:])):
        put(tmp_path / "in", number, part)
        if number == 1:  # the second time there are two
            continue
        for name, frame in compiled.spark(reader.parquet(str(tmp_path / "in")), asked).items():
            writer = frame.writeStream.option("checkpointLocation", str(tmp_path / "c" / name))
            writer.trigger(availableNow=True).start(str(tmp_path / name), format="parquet").awaitTermination()
    for name in asked:
        found = pq.read_table(tmp_path / name).cast(expected[name].schema).to_pylist()
        assert same(found, expected[name].to_pylist(), ABOUT), name
        assert len(found) > 20, name


TWO = """STREAM a (at TIMESTAMP) EVENT TIME at; STREAM b (at TIMESTAMP) EVENT TIME at;
QUERY q RETURN COUNT(*) AS n PATTERN SEQ(a, b) WITHIN 1 MINUTE;
"""


def test_streaming_and_other_dataframes_are_not_mixed(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "in", 0, events()[:1])
    compiled = cepc.compile(TWO)
    batch = spark.read.schema("at TIMESTAMP").parquet(str(tmp_path / "in"))
    stream = spark.readStream.schema("at TIMESTAMP").parquet(str(tmp_path / "in"))
    assert all(frame.isStreaming for frame in compiled.spark({"a": stream, "b": stream}).values())
    with pytest.raises(cepc.RunError, match=r"the events of stream b are not streaming: read them by spark.readStream"):
        compiled.spark({"a": stream, "b": batch})
    with pytest.raises(JobError, match=r"the events of stream a are streaming: `stream` of a job answers its queries"):
        names_of_job(TWO)["JOB"].build(spark, {"a": stream, "b": batch})


def test_events_of_a_batch_are_no_stream(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "in", 0, events()[:1])
    with pytest.raises(JobError, match=r"the events of stream rides are not streaming: read them by spark.readStream"):
        names_of_job(PROGRAM)["JOB"].stream(spark, str(tmp_path / "c"), print, spark.read.parquet(str(tmp_path / "in")))


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"buckets": 0}, "buckets=0: write a whole number from 1 on"),
        ({"buckets": -3}, "buckets=-3: write a whole number from 1 on"),
        ({"buckets": "8"}, "buckets='8': write a whole number from 1 on"),
        ({"ahead": 5}, r"ahead=5: write a timedelta, timedelta\(hours=1\), say"),
    ],
)
def test_terms_that_are_none_are_said(spark: SparkSession, tmp_path: Path, terms: dict[str, Any], said: str) -> None:
    with pytest.raises(JobError, match=said):
        names_of_job(PROGRAM)["JOB"].stream(spark, str(tmp_path), print, **terms)


def test_files_that_spark_would_read_again_and_again_stop_the_stream_before_their_events_are_taken(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A name that is a pattern to Spark brings all files of its micro-batch once more. Without what was planned with it
    each is read once.
    """
    job, rows = Job(spark, tmp_path), events()[:6]

    def run() -> None:
        frame = read_stream(spark, job.streamed.stream, "json", str(tmp_path / "in"), {})
        wait([job.start(job.sink, frame)], job.lines.append)

    def put_lines(name: str, rows: list[dict[str, Any]]) -> None:
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / name).write_text("".join(json.dumps(row, default=str) + "\n" for row in rows))

    put_lines("0.json", rows[:1])
    run()
    put_lines("a{1}.json", rows[1:3])
    run()  # alone it is read once
    put_lines("1.json", rows[3:5])
    put_lines("b[1].json", rows[5:])
    with pytest.raises(JobError, match=rf"in its whole name, as file:\S*{tmp_path}/in/b\[1\].json has: ") as failure:
        run()
    (tmp_path / "in" / "b[1].json").rename(tmp_path / "in" / "b1.json")
    for file in re.findall(r"(?:delete | and )(/[^\s,]+)", str(failure.value)):
        (tmp_path / file).unlink()
    run()
    assert [line["rows"] for line in job.lines if line["rows"]] == [1, 2, 3]


def test_spark_is_asked_once_for_the_columns_that_many_files_have(spark: SparkSession, tmp_path: Path) -> None:
    for place, table in enumerate([pa.table({"a": [1]}), pa.table({"a": [2]}), pa.table({"a": ["x"]})]):
        pq.write_table(table, tmp_path / f"{place}.parquet")
    files = [str(tmp_path / f"{place}.parquet") for place in range(3)]
    integer, text = footers(spark, "parquet", files)
    assert [(one.file, one.schema.simpleString()) for one in (integer, text)] == [
        (files[0], "struct<a:bigint>"),
        (files[2], "struct<a:string>"),
    ]
    assert footers(spark, "parquet", files, {integer.text}) == [text]


FAR = PROGRAM.replace("QUERY listed", "EVENT Far AS Travel WHERE fare > 1;\nQUERY listed")
CHANGED = {
    "query counted is not what it was": PROGRAM.replace("SLIDE 30 SECONDS", "SLIDE 20 SECONDS", 1),
    "query plain is not what it was": PROGRAM.replace("OFFSET 25 SECONDS", "OFFSET 35 SECONDS"),
    "query listed is not what it was": FAR.replace("SEQ(Pickup p, Travel t)", "SEQ(Pickup p, Far t)"),
    "query other is new; query plain is gone": PROGRAM.replace("QUERY plain", "QUERY other"),
    "another program: ORDER BY was none and is fare. Run": PROGRAM.replace("TIME at", "TIME at ORDER BY fare"),
}


def test_the_checkpoint_of_another_program_is_refused_with_what_changed(spark: SparkSession, tmp_path: Path) -> None:
    folder = str(tmp_path / "checkpoint")
    checkpoint.claim(HadoopStore(spark), folder, Job(spark, tmp_path, buckets=4).what)
    checkpoint.claim(HadoopStore(spark), folder, Job(spark, tmp_path).what)  # nothing has been run with it yet
    (tmp_path / "checkpoint" / "offsets" / "0").mkdir(parents=True)
    same_queries = PROGRAM.replace("WATERMARK 20 SECONDS", "WATERMARK 1 MINUTE").replace("QUERY", "-- a comment\nQUERY")
    same_queries = same_queries.replace("OFFSET 25 SECONDS", "OFFSET -35 SECONDS")
    checkpoint.claim(HadoopStore(spark), folder, Job(spark, tmp_path, same_queries).what)
    for said, text in CHANGED.items():
        with pytest.raises(JobError) as failure:
            checkpoint.claim(HadoopStore(spark), folder, Job(spark, tmp_path, text).what)
        assert said in str(failure.value)
    with pytest.raises(JobError, match="it has 3 buckets, write --buckets 3"):
        checkpoint.claim(HadoopStore(spark), folder, Job(spark, tmp_path, buckets=4).what)
    (tmp_path / "foreign" / "offsets" / "0").mkdir(parents=True)
    with pytest.raises(JobError, match="it is another streaming query's and no checkpoint of a job of cepc's"):
        checkpoint.claim(HadoopStore(spark), str(tmp_path / "foreign"), Job(spark, tmp_path).what)


def test_the_files_of_a_checkpoint_are_made_once_replaced_as_a_whole_and_listed(
    spark: SparkSession, tmp_path: Path
) -> None:
    store, path = HadoopStore(spark), f"{tmp_path}/cepc/lease.json"
    assert store.read(path) is None
    assert store.names(f"{tmp_path}/cepc") == []
    assert store.create(path, "ä 1")
    assert not store.create(path, "2")
    assert store.read(path) == "ä 1"
    store.replace(path, "3")
    store.replace(f"{tmp_path}/cepc/program.json", "4")
    assert store.read(f"file:{path}") == "3"
    assert store.names(f"{tmp_path}/cepc") == [
        "lease.json",
        "program.json",
    ]  # and no file of check sums, or half written
    store.delete(path)
    store.delete(path)
    assert store.read(path) is None
    (tmp_path / "a %20é").touch()
    (tmp_path / ".hidden").touch()
    (tmp_path / "cepc" / "b %20").touch()
    assert store.empty_files(str(tmp_path)) == store.empty_files(f"file:{tmp_path}/") == ["a %20é", "cepc/b %20"]
    assert store.empty_files(f"{tmp_path}/none") == []
    assert [store.exists(f"file://{tmp_path}/{name}") for name in ("a %20é", "a  é", "cepc")] == [True, False, True]
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=f"{tmp_path}/file/program.json cannot be written: "):
        store.replace(f"{tmp_path}/file/program.json", "5")


def test_the_folders_that_a_stream_reads_are_known_unless_names_alone_tell_its_files(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream_of = streamed(PROGRAM).stream
    for name in ("in [1]", "b"):
        put(tmp_path / name, 0, events()[:1])

    def read(path: str, **options: str) -> DataFrame:
        return read_stream(spark, stream_of, "parquet", f"{tmp_path}/{path}", options)

    both = [f"file:{tmp_path}/in [1]", f"file:{tmp_path}"]
    assert folders_read(read(r"in \[1\]").union(read("?"))) == both
    assert folders_read(read("b", FILENAMEONLY="false")) == []
    assert folders_read(spark.readStream.format("rate").load()) == []


def test_a_window_without_an_end_is_refused() -> None:
    text = PROGRAM.replace("WITHIN 1 MINUTE OFFSET 25 SECONDS", "WITHIN UNBOUNDED")
    found = streamed(text)
    with pytest.raises(
        JobError, match=r"query plain has WITHIN UNBOUNDED.*--queries counted,listed,absent,visits,runs"
    ):
        continuous(found, found.stream.queries, 3, 0)


def test_what_stands_behind_an_event_is_not_known_in_a_stream() -> None:
    other = "QUERY other RETURN COUNT(*) AS n PATTERN Travel WHERE LEAD(Travel.fare) > 1 WITHIN 1 MINUTE;"
    found = streamed(PROGRAM + other)
    with pytest.raises(
        JobError, match=r"query other has LEAD, which is for batches.*--queries counted,.*steps,spent,quiet$"
    ):
        continuous(found, found.stream.queries, 3, 0)
    continuous(found, [name for name in found.stream.queries if name != "other"], 3, 0)


def test_every_event_moves_the_watermark_and_no_filter_stands_before_it(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    job = Job(spark, tmp_path)
    frame = read_stream(spark, job.streamed.stream, "parquet", str(tmp_path / "in"), {})
    job.what.told({job.streamed.stream.name: frame}).explain()
    after, mark, before = capsys.readouterr().out.partition("EventTimeWatermark")
    assert mark
    assert "Filter" in after
    assert "Filter" not in before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--mode stream", "--mode stream requires --checkpoint DIR"),
        ("--mode stream --checkpoint c --flush", "write --trigger available-now"),
        ("--mode stream --checkpoint c --buckets 0", "write a number from 1 on"),
        ("--mode stream --checkpoint c --ahead soon", "write a time such as"),
        ("--mode stream --checkpoint c --trigger often", "write available-now, or a time"),
        (
            "--mode stream --checkpoint c --output o --output-format avro",
            "avro is not for a stream: parquet, orc, json",
        ),
        ("--mode stream --checkpoint c --avro s.avsc", "--avro is for --format kafka"),
        ("--dead d", "--dead is for --mode stream"),
        ("--output-option a=b", "--output-option is for --mode stream"),
        ("--output-format json", "--output-format is for rows that are written: add --output DIR, or leave it out"),
        ("--mode stream --checkpoint c --output-format parquet", "add --output DIR, or leave it out to print them"),
        (
            "--mode stream --checkpoint c --output-format kafka",
            "--output-format is for rows that are written: add --output TOPIC",
        ),
        (
            "--mode stream --checkpoint c --output-option a=b",
            "--output-option is for rows that are written: add --output",
        ),
        (
            "--format rides=json",
            "write json instead of rides=json, for all streams: where their formats differ, the",
        ),
        ("--checkpoint c", "--checkpoint is for --mode stream"),
        ("--trigger 10_seconds", "--trigger is for --mode stream"),
        ("--ahead 0_days", "--ahead is for --mode stream"),
        ("--change", "--change is for --mode stream"),
        ("--flush", "--flush is for --mode stream"),
        ("--output out:1", "--output out:1 would be read as a URL, for its colon: write ./out:1"),
        ("--input in:1", "--input in:1 would be read as a URL, for its colon: write ./in:1"),
        ("--input rides=in:1 --format csv", "--input in:1 would be read as a URL"),
        ("--output :/a", "write ./:/a"),
        ("--mode stream --checkpoint c:1/a", "--checkpoint c:1/a would be read as a URL, for its colon: write ./c:1/a"),
        ("--mode stream --checkpoint c --late l:1", "write ./l:1"),
        ("--mode stream --checkpoint c --dead d_d:/1", "write ./d_d:/1"),
        ("--mode stream --checkpoint c --late d --dead d", "--late d and of --dead d would be mixed in"),
        ("--mode stream --checkpoint c --late d --dead ./x/../d/", "give --late another directory"),
        ("--mode stream --checkpoint /c --dead file:///c", "in /c/rides: give --dead another directory"),
        ("--mode stream --checkpoint s3a://h/c --late s3a://h//c", "in s3a://h/c/rides: give --late another directory"),
        ("--mode stream --checkpoint c --late o/runs --output o", "o/runs/rides and"),
        ("--mode stream --checkpoint o/runs --output o", "give --output another directory"),
    ],
)
def test_a_wrong_command_is_said_before_spark_starts(
    arguments: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main = names_of_job(PROGRAM)["main"]
    with pytest.raises(SystemExit) as stopped:
        main(
            [
                *([] if "--input" in arguments else ["--input", "x"]),
                *(word.replace("0_", "0 ") for word in arguments.split()),
            ]
        )
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.long  # starts of Spark of its own
def test_streams_of_a_job_that_is_killed_go_on_where_they_were(tmp_path: Path) -> None:
    told = faults.run(tmp_path, faults=4, files=4, streams=3)
    assert told.wrong == []
    assert told.faults.total() >= 4


@pytest.mark.long  # starts of Spark of its own
def test_a_second_job_and_a_flush_are_kept_off_a_checkpoint_until_its_job_has_ended(tmp_path: Path) -> None:
    works = {"s": work(4, 1, keys=20)}
    faults.prepare(tmp_path, works)
    first = faults.begin(tmp_path, works, arguments=("--trigger", "1 second"))
    leased = tmp_path / "checkpoint" / "s" / "cepc" / "lease.json"
    while first.poll() is None and not leased.exists():
        time.sleep(0.1)
    code, said = faults.finished(faults.begin(tmp_path, works))
    assert code == 1
    assert f"error: another job runs on the checkpoint {tmp_path}/checkpoint/s: process {first.pid} on " in said
    assert "end that job first, or name another directory as --checkpoint" in said
    assert not list(tmp_path.glob("out/*/batch=-1"))
    for process in [*descendants(first.pid), first.pid]:
        end(process)
    first.communicate()
    assert leased.exists()
    code, said = faults.finished(faults.begin(tmp_path, works))
    assert code == 0, said
    assert not leased.exists()
    assert faults.wrong(tmp_path, works) == []


@pytest.mark.long  # starts of Spark of its own
@pytest.mark.parametrize("number", SIGNALS)
def test_a_stream_that_is_told_to_end_says_so_gives_its_checkpoint_back_and_goes_on(
    tmp_path: Path, number: signal.Signals
) -> None:
    works = {"s": work(4, 1, keys=20)}
    faults.prepare(tmp_path, works)
    job = faults.begin(tmp_path, works, arguments=("--trigger", "1 second"))
    while job.poll() is None and not (tmp_path / "checkpoint" / "s" / "commits" / "0").exists():
        time.sleep(0.1)
    job.send_signal(number)
    code, said = faults.finished(job)
    sentence = "interrupted: the same command goes on from the checkpoint"
    assert (code, said.splitlines()[-1]) == (128 + number, sentence), said
    assert "Traceback" not in said
    assert not (tmp_path / "checkpoint" / "s" / "cepc" / "lease.json").exists()
    code, said = faults.finished(faults.begin(tmp_path, works))
    assert code == 0, said
    assert faults.wrong(tmp_path, works) == []
