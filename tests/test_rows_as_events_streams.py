"""Rows of queries as events in a stream of Spark's: the rows of all queries are those of a batch, each once."""

from __future__ import annotations

import json
import os
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cepc
from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.streaming.run import wait
from cepc_runtime.spark.streaming.sinks import Directories
from tests.equivalence import ABOUT, same
from tests.generated_jobs import names_of_job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = """STREAM logins (at TIMESTAMP, kind STRING, account BIGINT, address STRING, cost DECIMAL(9, 2))
EVENT TIME at WATERMARK 20 SECONDS
EVENT TYPE kind IN ('Failed', 'Changed');

QUERY bursts RETURN MATCH account, FIRST(f).address AS address, SUM(f.cost) AS cost
  PATTERN Failed{3} f WHERE [account] SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 1 MINUTE;
QUERY minutes RETURN account, COUNT(*) AS n, SUM(f.cost) AS cost PATTERN Failed f GROUP BY account WITHIN 1 MINUTE;

STREAM alarms (network AS SUBSTRING(address, 1, 2), side AS IF(network = '10', 'Inside', IF(network = '77', 'Outside', NULL)))
EVENT TYPE side IN ('Inside', 'Outside') FROM QUERY bursts;

QUERY attacked RETURN MATCH account, a.address AS began, b.match_end AS again
  PATTERN SEQ(Inside a, NOT Changed, Outside b) WHERE [account] WITHIN 10 MINUTES;
QUERY pairs RETURN MATCH account, a.cost, b.cost AS more PATTERN SEQ(Inside a, Inside b) WHERE [account] AND a.cost <= b.cost
  SELECT NEXT WITHIN 5 MINUTES;
QUERY by_network RETURN network, COUNT(*) AS bursts, MAX(a.cost) AS most PATTERN OR(Inside a, Outside) GROUP BY network
  WITHIN 5 MINUTES SLIDE 1 MINUTE;

STREAM totals FROM QUERY by_network;
QUERY rising RETURN MATCH network, a.bursts, b.bursts AS more PATTERN SEQ(totals a, totals b)
  WHERE [network] AND b.bursts > a.bursts SELECT CONTIGUOUS WITHIN 2 MINUTES;

STREAM busy EVENT TIME window_start FROM QUERY minutes;
QUERY busier RETURN MATCH account, MAX(b.n) AS most, COUNT(b) AS minutes PATTERN busy{2,} b
  WHERE [account] AND COALESCE(b.n >= PREV(b).n, TRUE) SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 10 MINUTES;
"""
START = datetime(1969, 12, 31, 23, 47, tzinfo=UTC)
SCHEMA = pa.schema([
    ("at", pa.timestamp("us", "UTC")), ("kind", pa.string()), ("account", pa.int64()), ("address", pa.string()),
    ("cost", pa.decimal128(9, 2)),
])  # fmt: skip


def events(count: int = 1_500, seed: int = 11) -> list[dict[str, Any]]:
    """Half an hour of logins, up to 20 seconds out of order."""
    from decimal import Decimal

    chance = random.Random(seed)
    rows = []
    for _ in range(count):
        account = chance.choice((2**60 + 1, 2**60 + 2, 3, 4, 5, None))
        rows.append({
            "at": START + timedelta(milliseconds=chance.randrange(1_800_000)),
            "kind": chance.choice(("Failed",) * 8 + ("Changed", "Other", None)),
            "account": account,
            "address": chance.choice(("10.0.0.1", "10.0.0.2", "77.1.0.2", "9.9.9.9", None)),
            "cost": chance.choice((Decimal("1.50"), Decimal("-0.25"), None)),
        })  # fmt: skip
    return sorted(rows, key=lambda row: row["at"] + timedelta(seconds=chance.uniform(0, 20)))


def put(folder: Path, number: int, rows: list[dict[str, Any]]) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / f"{number}.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path)
    os.utime(path, (1_000_000 + number, 1_000_000 + number))


class Job:
    def __init__(self, spark: SparkSession, folder: Path, text: str = PROGRAM) -> None:
        self.spark, self.folder, self.job = spark, folder, names_of_job(text)["JOB"]
        self.lines: list[dict[str, Any]] = []

    def run(self, flush: bool = False, by_spark: bool = False, queries: list[str] | None = None) -> None:
        source = self.spark.readStream.schema(self.job.streams[0].schema).option("maxFilesPerTrigger", "1")
        sink = Directories(str(self.folder / "out"), "parquet", {"compression": "snappy"} if by_spark else {})
        (running,) = self.job.stream(
            self.spark, str(self.folder / "checkpoint"), sink, source.parquet(str(self.folder / "in")), queries,
            trigger="available-now", buckets=3, late=str(self.folder / "late"),
        )  # fmt: skip
        wait([running], self.lines.append)
        if flush:
            running.flush(self.lines.append)

    def rows(self, query: str, schema: pa.Schema) -> list[dict[str, Any]]:
        table = pq.read_table(self.folder / "out" / query)
        found: list[dict[str, Any]] = table.drop_columns(["batch"]).cast(schema).to_pylist()
        return found


@pytest.mark.parametrize("by_spark", [False, pytest.param(True, marks=pytest.mark.long)])
def test_rows_are_those_of_a_batch_each_once(spark: SparkSession, tmp_path: Path, by_spark: bool) -> None:
    rows = events()
    for number in range(3):
        put(tmp_path / "in", number, rows[number * 400 : (number + 1) * 400])
    job = Job(spark, tmp_path)
    job.run(by_spark=by_spark)
    put(tmp_path / "in", 3, [*rows[1200:], {**rows[0], "kind": "Failed", "account": 3}])  # which is late
    job.run(flush=True, by_spark=by_spark)

    expected = cepc.compile(PROGRAM).run(pa.Table.from_pylist(rows, schema=SCHEMA))
    for query, table in expected.items():
        print(query, table.num_rows)
        assert table.num_rows, query
        assert same(job.rows(query, table.schema), table.to_pylist(), ABOUT), query
    out = [line["out"] for line in job.lines]
    assert {query: sum(one[query] for one in out) for query in expected} == {q: t.num_rows for q, t in expected.items()}
    assert any(one["rising"] for one in out[:-1]) and any(one["attacked"] for one in out[:-1])
    late = [json.loads(line) for file in (tmp_path / "late").rglob("part-*") for line in file.read_text().splitlines()]
    assert {one["reason"] for one in late} == {"late"} and sum(line.get("late", 0) for line in job.lines) == len(late)
    assert all("cost" in one["event"] and "account" in one["event"] for one in late)
