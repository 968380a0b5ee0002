"""A stream against its floor, and against one call a group; and how it fares over a longer time.

The floor is the same streaming job with an operator that keeps and answers nothing: read, watermark, letters, shuffle, sink. The
other way to write it is one call of the operator, and one value of state, for each group: here the same program with as many
buckets as there are groups and more. Everything runs in one session, over the same files, a micro-batch each; the first micro-batch,
which starts workers and compiles, does not count. Only ratios are worth reporting.

    python bench/stream.py
    python bench/stream.py --events 400000 --groups 10000 --batches 8
    python bench/stream.py --soak 20       # minutes at a steady rate; a table of time and state over time
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cepc.api import check_text
from cepc.codegen.compiling import job_of
from cepc.running.spark import local_session
from cepc_runtime.spark.streaming.operator import Answering, Step
from cepc_runtime.spark.streaming.query import Continuous
from cepc_runtime.spark.streaming.run import start, trigger_of, wait

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from cepc_runtime.spark.streaming.query import Streamed
    from cepc_runtime.spark.streaming.run import Running

PROGRAM = """STREAM events (at TIMESTAMP, kind STRING, account BIGINT, amount DOUBLE)
EVENT TIME at WATERMARK 5 SECONDS EVENT TYPE kind IN ('A', 'B', 'C', 'D');
QUERY trends RETURN account, CAST(COUNT(*) AS DOUBLE) AS n, SUM(b.amount) AS total PATTERN SEQ(A a, B+ b, C c)
  WHERE b.amount > 50 GROUP BY account WITHIN 2 MINUTES SLIDE 30 SECONDS;
QUERY pairs RETURN account, a.at AS since, c.amount PATTERN SEQ(A a, C c) WHERE [account] AND a.amount > 80 AND c.amount > 80
  WITHIN 10 SECONDS;
"""
SECONDS = 60
"""Of event time in a file."""
AHEAD = 1 << 50
"""The events' times are made up: none is ahead of the clock."""


def streamed() -> Streamed:
    checked = check_text(PROGRAM)
    assert checked.program is not None
    namespace: dict[str, Any] = {"__name__": "job"}
    exec(job_of(checked.program, checked.sources).text, namespace)
    (found,) = namespace["STREAMED"]
    return found  # type: ignore[no-any-return]


def events(batch: int, count: int, groups: int) -> pa.Table:
    """A minute of events: out of order by up to five seconds, some late, some twice; half of the groups are silent in it."""
    chance = np.random.default_rng(batch)
    late = np.where(chance.random(count) < 0.001, 600.0, 0.0)
    seconds = (batch + np.arange(count) / count) * SECONDS - chance.uniform(0, 5, count) - late
    accounts = chance.integers(0, max(groups // 2, 1), count) * 2 + batch % 2
    table = pa.table({
        "at": pa.array((seconds * 1e6).astype(np.int64) + 10**15, pa.timestamp("us", "UTC")),
        "kind": pa.array(list("ABCD")).take(pa.array(chance.integers(0, 4, count))),
        "account": pa.array(accounts),
        "amount": pa.array(np.round(chance.uniform(0, 100, count), 2)),
    })  # fmt: skip
    return pa.concat_tables([table, table.slice(0, count // 200)])


def put(folder: Path, batch: int, table: pa.Table) -> None:
    """A file that is there all at once."""
    path = folder / f"{batch:06d}.parquet"
    pq.write_table(table, path.with_suffix(".part"))
    os.utime(path.with_suffix(".part"), (1_000_000 + batch, 1_000_000 + batch))
    path.with_suffix(".part").rename(path)


def discard(query: str, rows: DataFrame, batch: int) -> None:  # noqa: ARG001
    rows.write.format("noop").mode("overwrite").save()


def begin(
    spark: SparkSession,
    source: Path,
    checkpoint: Path | str,
    buckets: int,
    trigger: str,
    kind: type[Continuous] = Continuous,
) -> Running:
    made = streamed()
    what = kind(made, made.stream.queries, buckets, AHEAD)
    return start(what, _read(spark, source), str(checkpoint), discard, trigger_of(trigger))


def run(spark: SparkSession, source: Path, buckets: int, kind: type[Continuous] = Continuous) -> float:
    """Milliseconds a micro-batch with events, without the first."""
    lines: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as checkpoint:
        wait([begin(spark, source, checkpoint, buckets, "available-now", kind)], lines.append)
    counted = [line["ms"] for line in lines if line["rows"]][1:]
    return float(sum(counted) / len(counted))


def _read(spark: SparkSession, source: Path) -> DataFrame:
    schema = streamed().stream.schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(source))


class Idle(Answering):
    """Reads no event, keeps no state, says nothing."""

    def step(self, bucket: int, data: bytes | None, blobs: Any, watermark: int) -> Step:  # noqa: ARG002
        return Step(None, [], None)


class Floor(Continuous):
    """The same job with an operator that does nothing."""

    def answering(self, fingerprint: str) -> Answering:
        real = super().answering(fingerprint)
        return Idle(real.plan_text, real.classes, real.fingerprint)


def compare(spark: SparkSession, source: Path, groups: int) -> None:
    ours, floor = run(spark, source, 16), run(spark, source, 16, Floor)
    print(
        f"{groups:,} groups in 16 buckets: {ours / floor:.2f} times the floor ({ours:.0f} ms and {floor:.0f} ms a micro-batch)",
        flush=True,
    )
    for buckets in (4, 64, 256):
        print(f"  {buckets} buckets: {run(spark, source, buckets) / ours:.2f} times as long", flush=True)
    print(f"  a bucket for each group, nearly: {run(spark, source, 4 * groups) / ours:.1f} times as long", flush=True)


def soak(spark: SparkSession, folder: Path, minutes: float, count: int, groups: int) -> None:
    """A file every ten seconds; what each micro-batch took and what the state held, at ten times."""
    lines: list[dict[str, Any]] = []
    running = begin(spark, folder / "in", folder / "checkpoint", 16, "1 second")
    begun, batch = time.monotonic(), 0
    while time.monotonic() < begun + minutes * 60:
        put(folder / "in", batch, events(batch, count, groups))
        batch += 1
        time.sleep(10 + random.uniform(-1, 1))
        running.report(lines.append)
    running.query.stop()
    busy = [line for line in lines if line["rows"]]
    print("batch       ms   state rows   state bytes   late")
    for line in busy[:: max(len(busy) // 10, 1)]:
        print(f"{line['batch']:5} {line['ms']:8} {line['state_rows']:12,} {line['state_bytes']:13,} {line['late']:6}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=20_000, help="in a micro-batch")
    parser.add_argument("--groups", type=int, default=1_000)
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--soak", type=float, metavar="MINUTES")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
        spark = local_session()
        stack.callback(spark.stop)
        spark.conf.set("spark.sql.shuffle.partitions", "2")
        folder = Path(directory)
        (folder / "in").mkdir()
        if given.soak:
            soak(spark, folder, given.soak, given.events, given.groups)
            return 0
        for batch in range(given.batches):
            put(folder / "in", batch, events(batch, given.events, given.groups))
        compare(spark, folder / "in", given.groups)
    return 0


if __name__ == "__main__":
    sys.exit(main())
