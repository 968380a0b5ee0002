"""The rows of a query as events in jobs of Spark: rows are the oracle's, and each query runs once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from cepc.cli import cepc
from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.streaming.running import flush_all, wait
from cepc_runtime.spark.streaming.source import read_stream
from cepc_runtime.sql.types import to_arrow
from tests.equivalence import ABOUT, answered, same
from tests.generated_jobs import names_of_job
from tests.programs import cases
from tests.properties import NOTHING, Seen, hold
from tests.rows_as_events import counted, over, rows_as_events, table_of
from tests.several_streams import compile_text
from tests.spark_programs import loaded, rows_in, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from random import Random

    from pyspark.sql import DataFrame, SparkSession

    from tests.programs import Case

pytestmark = pytest.mark.spark


def check(spark: SparkSession, case: Case, chance: Random) -> Seen:
    compiled = compile_text(case.text)
    expected = answered(case, compiled)
    if expected is None:
        return NOTHING
    events = spark.createDataFrame(table_of(case, compiled))
    job = loaded(case.text)
    names = [query.name for query in compiled.program.queries]
    asked = names if chance.random() < 0.6 else chance.sample(names, chance.randint(1, len(names)))
    if chance.random() < 0.5:
        found = {name: rows_in(table) for name, table in job.tables(spark, events, asked).items()}
    else:
        found = {name: rows_of(frame) for name, frame in job.build(spark, events, asked).items()}
    spark.catalog.clearCache()
    assert {*found} == {*asked}
    for name in asked:
        assert same(found[name], expected[name].rows, ABOUT), (name, found[name], expected[name].rows)
        counted(over(compiled, name), len(expected[name].rows))
    return Seen.of(case, {name: one for name, one in expected.items() if over(compiled, name) == "events"})


def test_rows_of_a_batch_are_the_oracles(spark: SparkSession) -> None:
    make = rows_as_events(cases())
    hold("Spark: rows as events", make, lambda case, chance: check(spark, case, chance), cases=4, tested=2)


PROGRAM = """STREAM s (at TIMESTAMP, k INT, x INT, p STRUCT<y: INT>, kind STRING)
EVENT TIME at EVENT TYPE kind IN ('A', 'B');
QUERY pairs RETURN MATCH k, A.p, COLLECT(b.x) AS xs, LAST(b.x) AS `odd name` PATTERN SEQ(A, B{1,2} b) WHERE [k]
SELECT NEXT WITHIN 10 s;
QUERY single RETURN k, COUNT(*) AS n, SUM(A.x) AS total PATTERN A GROUP BY k WITHIN 10 s SLIDE 5 s;
STREAM found (first AS p.y) FROM QUERY pairs;
STREAM counts EVENT TIME window_start FROM QUERY single;
QUERY again RETURN MATCH f.first, f.`odd name` + g.`odd name` AS sum, f.xs, g.p PATTERN SEQ(found f, found g)
WHERE [k] WITHIN 1 HOUR;
QUERY mixed RETURN k, COUNT(*) AS n PATTERN SEQ(counts c, NOT found n, s.B b) WHERE c.n > 0 GROUP BY k
WITHIN 1 HOUR SLIDE 30 MINUTES;
"""
ROWS = [(0, 1, 1, "A"), (1, 1, 2, "B"), (2, 2, 3, "A"), (3, 1, 4, "A"), (4, 2, 5, "B"), (8, 1, 6, "B"), (30, 1, 7, "A")]


@pytest.fixture
def given() -> pa.Table:
    stream = compile_text(PROGRAM).program.stream("s")
    start = datetime(2026, 3, 2, 10, tzinfo=UTC)
    rows = [
        {"at": start + timedelta(seconds=at), "k": k, "x": x, "p": {"y": 10 * x}, "kind": kind}
        for at, k, x, kind in ROWS
    ]
    return pa.Table.from_pylist(rows, schema=pa.schema([(n, to_arrow(type_)) for n, type_ in stream.input.columns]))


def counting(spark: SparkSession, table: pa.Table) -> tuple[DataFrame, Any]:
    """The events, and how many of them were read so far."""
    frame, read = spark.createDataFrame(table), spark.sparkContext.accumulator(0)

    def each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            read.add(batch.num_rows)
            yield batch

    return frame.mapInArrow(each, frame.schema), read


@pytest.mark.long
@pytest.mark.parametrize("queries", [None, ["again"], ["pairs", "again"]], ids=["all", "the last", "the first, too"])
def test_a_query_whose_rows_are_events_runs_once(
    queries: list[str] | None, spark: SparkSession, given: pa.Table
) -> None:
    here = compile_text(PROGRAM)
    job = loaded(PROGRAM)
    wanted = queries or list(job_names())
    expected = {name: table.to_pylist() for name, table in local(given).items() if name in wanted}
    events, read = counting(spark, given)
    found = job.tables(spark, events, queries)
    assert {name: sorted(rows_in(table), key=str) for name, table in found.items()} == {
        name: sorted(rows, key=str) for name, rows in expected.items()
    }
    alone = 1 if queries else 2  # `mixed` reads the events, too
    assert read.value == alone * given.num_rows, here.program.queries
    events, read = counting(spark, given)
    frames = job.build(spark, events, queries)
    assert all(same(rows_of(frames[name]), expected[name], ABOUT) for name in wanted)
    assert read.value == alone * given.num_rows
    spark.catalog.clearCache()


def job_names() -> Iterator[str]:
    yield from (query.name for query in compile_text(PROGRAM).program.queries)


def local(given: pa.Table) -> dict[str, pa.Table]:
    from cepc.running.given import read_given
    from cepc.running.local import run

    program = compile_text(PROGRAM).program
    return run(program, lambda stream, plan: read_given(given, plan, stream.input), {}).tables


def test_some_matches_of_a_query_over_rows_are_shown(spark: SparkSession, given: pa.Table) -> None:
    job = names_of_job(PROGRAM)["JOB"]
    row, *_ = job.matches(spark, "again", spark.createDataFrame(given)).collect()
    assert {event["odd name"] for event in row["events"]} <= {2, 6}
    spark.catalog.clearCache()


@pytest.mark.long
def test_the_queries_over_events_of_such_a_program_are_a_stream(
    spark: SparkSession, given: pa.Table, tmp_path: Path
) -> None:
    job = names_of_job(PROGRAM)["JOB"]
    (tmp_path / "in").mkdir()
    pq.write_table(given, tmp_path / "in" / "events.parquet")
    (source,) = {one.name: one for stream in job.streams for one in stream.sources if one.query is None}.values()
    events = read_stream(spark, source, "parquet", str(tmp_path / "in"), {})
    found: list[dict[str, Any]] = []

    def sink(query: str, rows: DataFrame, _batch: int) -> None:
        assert query == "pairs"
        found.extend(rows_of(rows))

    running = job.stream(spark, str(tmp_path / "checkpoint"), sink, events, ["pairs"], trigger="available-now")
    wait(running, lambda _line: None)
    flush_all(running, lambda _line: None)
    assert same(found, local(given)["pairs"].to_pylist(), ABOUT)


def test_events_are_not_given_for_rows(spark: SparkSession, given: pa.Table) -> None:
    events = {name: spark.createDataFrame(given) for name in ("s", "found")}
    with pytest.raises(JobError, match="the events of stream found are the rows of the query pairs"):
        loaded(PROGRAM).build(spark, events)


def test_the_job_writes_rows_of_all_queries(spark: SparkSession, given: pa.Table, tmp_path: Path) -> None:
    from cepc_runtime.spark.files import Files

    job = names_of_job(PROGRAM)["JOB"]
    job.write(spark, spark.createDataFrame(given), None, None, Files(str(tmp_path / "out"), "parquet"))
    for name, table in local(given).items():
        found = rows_of(spark.read.parquet(str(tmp_path / "out" / name)))
        assert same(found, table.to_pylist(), ABOUT), name
    spark.catalog.clearCache()


@pytest.mark.long
def test_the_spark_engine_says_why_a_query_over_rows_has_none(spark: SparkSession, tmp_path: Path) -> None:
    del spark  # it is that of the command, too
    (tmp_path / "p.cep").write_text(PROGRAM)
    (tmp_path / "e.jsonl").write_text('{"at": "2026-01-01T00:00:00Z", "k": 1, "x": 1, "kind": "B"}\n')
    called = ["run", str(tmp_path / "p.cep"), "--engine", "spark", "--events", str(tmp_path / "e.jsonl")]
    done = CliRunner().invoke(cepc, called)
    assert done.exit_code == 0, done.output
    assert "`again` has no rows: `pairs`, whose rows are its events, has none" in done.output, done.output
