"""Patterns over several streams in jobs of Spark: rows are the oracle's, of a batch and of a stream."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.streaming.running import flush_all, wait
from cepc_runtime.spark.streaming.source import read_stream
from cepc_runtime.sql.types import to_arrow
from tests import oracle
from tests.equivalence import ABOUT, same
from tests.generated_jobs import names_of_job
from tests.programs import cases, streamed
from tests.properties import NOTHING, Seen, hold
from tests.several_streams import answered, by_stream, compile_text, tables, two_streams
from tests.spark_programs import loaded, rows_in, rows_of

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from pyspark.sql import DataFrame, SparkSession

    from tests.programs import Case

pytestmark = pytest.mark.spark


def test_rows_of_a_batch_are_the_oracles(spark: SparkSession) -> None:
    def check(case: Case, chance: Random) -> Seen:
        compiled = compile_text(case.text)
        expected = answered(case, compiled)
        if expected is None:
            return NOTHING
        events = {name: spark.createDataFrame(table) for name, table in tables(case, compiled).items()}
        job = loaded(case.text)
        given = {name: events[name] for name in job.sources}
        if chance.random() < 0.5:
            found = {name: rows_in(table) for name, table in job.tables(spark, given).items()}
        else:
            found = {name: rows_of(frame) for name, frame in job.build(spark, given).items()}
        spark.catalog.clearCache()
        for name, answer in expected.items():
            assert same(found[name], answer.rows, ABOUT), (name, found[name], answer.rows)
        return Seen.of(case, expected)

    hold("Spark: two streams", two_streams(cases(size=4)), check, cases=3)


def put(folder: Path, number: int, table: pa.Table) -> None:
    """A file of events; files are taken by their times."""
    folder.mkdir(exist_ok=True, parents=True)
    path = folder / f"{number}.parquet"
    pq.write_table(table, path)
    os.utime(path, (1_000_000 + number, 1_000_000 + number))


class Job:
    """A job over files of two streams that come one by one; `two` comes later than `one` by so many files."""

    def __init__(self, spark: SparkSession, folder: Path, text: str) -> None:
        self.spark, self.folder = spark, folder
        self.job = names_of_job(text)["JOB"]
        self.found: dict[str, dict[int, list[dict[str, Any]]]] = {}
        self.lines: list[dict[str, Any]] = []

    def put(self, number: int, name: str, table: pa.Table) -> None:
        put(self.folder / name, number, table)

    def sink(self, query: str, rows: DataFrame, batch: int) -> None:
        self.found.setdefault(query, {})[batch] = rows_of(rows)

    def run(self, *, flush: bool = False) -> None:
        sources = {source.name: source for part in self.job.parts for source in part.stream.sources}
        events = {
            name: read_stream(self.spark, source, "parquet", str(self.folder / name), {"maxFilesPerTrigger": "1"})
            for name, source in sources.items()
        }
        checkpoint, late = str(self.folder / "checkpoint"), str(self.folder / "late")
        running = self.job.stream(
            self.spark, checkpoint, self.sink, events, trigger="available-now", late=late, buckets=2
        )
        wait(running, self.lines.append)
        if flush:
            flush_all(running, self.lines.append)

    def rows(self, query: str) -> list[dict[str, Any]]:
        return [row for rows in self.found.get(query, {}).values() for row in rows]


APART = """STREAM a (at TIMESTAMP, x INT, `b.x` STRING, s STRUCT<t: INT>) EVENT TIME at;
STREAM b (then TIMESTAMP, x STRING, s STRUCT<t: INT>) EVENT TIME then;
QUERY whole RETURN MATCH * PATTERN SEQ(a u, b v) WITHIN 1 HOUR;
QUERY each RETURN MATCH s.t AS t, u.x AS ux, u.`b.x` AS ubx, v.x AS vx PATTERN SEQ(a u, b v) WHERE [s.t] AND u.x > 1
AND v.x LIKE 'o%' AND LENGTH(v.x) <> u.x WITHIN 1 HOUR;
QUERY counts RETURN s.t, COUNT(*) AS n, MAX(u.x) AS x, MIN(v.x) AS y PATTERN SEQ(a u, b+ v) WHERE v.x <> 'two'
GROUP BY s.t WITHIN 1 HOUR SLIDE 1 HOUR;
QUERY before RETURN MATCH v.x AS x PATTERN b v FROM a, b WHERE [s.t] AND LAG(v.s.t) = 3 AND LAG(v.s.t, 3) IS NULL
WITHIN 1 HOUR;
"""


@pytest.mark.long
@pytest.mark.parametrize("streaming", [False, True], ids=["batch", "stream"])
def test_columns_that_stand_apart_are_none_with_a_dot_in_their_names(
    streaming: bool, spark: SparkSession, tmp_path: Path
) -> None:
    start = datetime(2026, 3, 2, 10, tzinfo=UTC)
    rows: dict[str, list[dict[str, Any]]] = {
        "a": [{"at": start, "x": 7, "b.x": "dotted", "s": {"t": 3}}],
        "b": [
            {"then": start + timedelta(seconds=n), "x": x, "s": {"t": 3}} for n, x in enumerate(("one", "two", "o"), 1)
        ],
    }
    compiled = compile_text(APART)
    events = {
        stream.name: pa.Table.from_pylist(
            rows[stream.name], schema=pa.schema([(name, to_arrow(type_)) for name, type_ in stream.input.columns])
        )
        for stream in compiled.program.streams
    }
    if streaming:
        job = Job(spark, tmp_path, APART)
        for name, table in events.items():
            job.put(0, name, table)
        job.run(flush=True)
        found = {name: job.rows(name) for name in ("whole", "each", "counts", "before")}
    else:
        frames = {name: spark.createDataFrame(table) for name, table in events.items()}
        found = {name: rows_in(table) for name, table in loaded(APART).tables(spark, frames).items()}
    for name, answer in oracle.answers(compiled.tree, rows).items():
        assert answer.rows, name
        assert same(found[name], answer.rows, ABOUT), (name, found[name], answer.rows)


LATE = """STREAM one (at BIGINT, k INT, x INT) EVENT TIME at UNIT s WATERMARK 10 SECONDS;
STREAM two (then BIGINT, k BIGINT) EVENT TIME then UNIT s WATERMARK 5 SECONDS;
QUERY q RETURN MATCH k, o.x, o.at, t.then PATTERN SEQ(one o, two t) WHERE [k] WITHIN 100 SECONDS;
QUERY n RETURN COUNT(*) AS n PATTERN SEQ(one o, two t) WITHIN 100 SECONDS;
"""


@pytest.mark.long
def test_the_watermark_is_the_least_of_those_of_the_streams(spark: SparkSession, tmp_path: Path) -> None:
    job = Job(spark, tmp_path, LATE)

    def come(number: int, one: list[tuple[int, int, int]], two: list[tuple[int, int]]) -> None:
        at, k, x = zip(*one, strict=True)
        job.put(
            number, "one", pa.table({"at": pa.array(at), "k": pa.array(k, pa.int32()), "x": pa.array(x, pa.int32())})
        )
        job.put(number, "two", pa.table(dict(zip(("then", "k"), map(pa.array, zip(*two, strict=True)), strict=True))))

    come(0, [(1, 7, 1), (200, 7, 2)], [(50, 7), (60, 7)])
    come(1, [(210, 7, 9)], [(61, 7)])
    come(2, [(54, 7, 3), (56, 7, 4)], [(70, 7), (54, 7)])  # from 55 on, which is 60 - 5 and less than 200 - 10
    job.run()
    job.run(flush=True)
    found = sorted((row["x"], row["at"], row["then"]) for row in job.rows("q"))
    assert found == [*((1, 1, then) for then in (50, 60, 61, 70)), *((4, 56, then) for then in (60, 61, 70))]
    assert sum(row["n"] for row in job.rows("n")) == 7
    assert sum(line.get("late", 0) for line in job.lines) == 4  # two events, each for two queries of other keys
    late = [json.loads(line)["event"] for file in (tmp_path / "late").rglob("part-*") for line in file.open()]
    assert [(row[".time"], row.get("k", 7)) for row in late] == [(54, 7)] * 4


@pytest.mark.long
def test_a_later_file_of_either_stream_is_looked_at(spark: SparkSession, tmp_path: Path) -> None:
    job = Job(spark, tmp_path, LATE)
    job.put(0, "one", pa.table({"at": [1], "k": pa.array([7], pa.int32()), "x": pa.array([1], pa.int32())}))
    job.put(0, "two", pa.table({"then": [1], "k": [7]}))
    job.run()
    job.put(1, "two", pa.table({"then": [1], "k": ["seven"]}))
    with pytest.raises(JobError, match=r"stream two.*column k"):
        job.run()


PARTS = 3


def _part(at: Any, cuts: list[Any]) -> int:
    return sum(at is not None and at >= cut for cut in cuts)


@pytest.mark.long
def test_rows_of_a_stream_are_the_oracles_with_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    """The second stream comes late by a file: the watermark is the least, and nothing is late by it."""

    def check(case: Case, chance: Random) -> Seen:
        compiled = compile_text(case.text)
        expected = answered(case, compiled)
        if expected is None:
            return NOTHING
        folder = tmp_path / f"{chance.random()}"
        job = Job(spark, folder, case.text)
        whole, rows = tables(case, compiled), by_stream(case)
        times = sorted({row["at"] for row in case.rows if row["at"] is not None})
        cuts = [times[len(times) * part // PARTS] for part in range(1, PARTS)]
        for number in range(PARTS + 1):
            for name, behind in (("one", 0), ("two", 1)):
                part = number - behind
                places = [i for i, row in enumerate(rows[name]) if _part(row["at"], cuts) == part]
                job.put(number, name, whole[name].take(pa.array(places, pa.int64())))
            if number == 1:
                job.run()
        job.run(flush=True)
        for name, answer in expected.items():
            assert same(job.rows(name), answer.rows, ABOUT), (name, job.rows(name), answer.rows)
        assert sum(line.get("late", 0) for line in job.lines) == 0
        return Seen.of(case, expected)

    hold("Spark: a stream of two", streamed(two_streams(cases(size=3))), check, cases=1, tested=0)
