"""One group of four million events on two cores against one: the time is cut into panes, found by several tasks, and multiplied in
order.

Each number of cores has a Spark of its own, tied to so many processors, JVM and Python workers together; both read the same files,
and time is that of the clock, medians after a first run. The rows are those of the local engine, which cuts nothing.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench.gains.measured import COUNT, HEADER, same_rows
from bench.gains.report import Report, few
from bench.plots import Panel

import cepc
from cepc.codegen.compiling import job_of, load
from cepc.planning import plan_program
from cepc_runtime.execute import execute

HOURS = 10
FILES = 8
PATTERNS = ("SEQ(A, B, C)", "SEQ(A, B, C, D)", "SEQ(B, D)", "SEQ(D, C, A)")


def program() -> str:
    return HEADER + "\n".join(
        f"QUERY q{i} RETURN {COUNT}, SUM({pattern[4]}.x) AS s PATTERN {pattern} WITHIN 10 min SLIDE 5 min;"
        for i, pattern in enumerate(PATTERNS)
    )


def generate(folder: Path, events: int) -> None:
    chance = np.random.default_rng(1)
    table = pa.table(
        {
            "at": pa.array(np.arange(events) * (HOURS * 3_600_000) // events),
            "kind": pa.array(list("ABCD")).take(pa.array(chance.integers(0, 4, events))),
            "x": pa.array(chance.integers(0, 100, events).astype(float)),
            "g": pa.array(np.zeros(events, dtype=np.int32)),
        }
    )
    for part in range(FILES):
        pq.write_table(table.slice(part * events // FILES, events // FILES), folder / f"{part}.parquet")


def run(folder: Path, cores: int, rounds: int) -> list[float]:
    """The seconds of each round; the first has started workers, and its rows have been compared."""
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:cores]))
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master(f"local[{cores}]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.driver.memory", "2g")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    compiled = cepc.compile(program())
    job = load(job_of(compiled.program, compiled.checked.sources))

    def rows() -> dict[str, Any]:
        spark.catalog.clearCache()
        return {q: frame.toArrow() for q, frame in job.build(spark, spark.read.parquet(str(folder)), None).items()}

    (plan,) = plan_program(compiled.program).plans
    same_rows(execute(plan, pq.read_table(folder)).tables, rows())
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        rows()
        seconds.append(time.perf_counter() - start)
    spark.stop()
    return seconds


def measured(events: int, rounds: int) -> dict[int, float]:
    """Median seconds by the number of cores."""
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder), events)
        found = {}
        for cores in (1, 2):
            command = [sys.executable, "-m", "bench.gains.hot", folder, str(cores), str(rounds)]
            told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            found[cores] = statistics.median(json.loads(told.splitlines()[-1]))
    return found


def report(quick: bool) -> Report:
    rows, gains = [], list[tuple[float, float]]()
    for events in (20_000,) if quick else (1_000_000, 4_000_000):
        found = measured(events, 1 if quick else 2)
        rows.append([f"{events:,}", few(found[1]), few(found[2]), few(found[1] / found[2])])
        gains.append((events / 1e6, found[1] / found[2]))
    head = ["events of the group", "one core, s", "two cores, s", "times as fast"]
    panel = Panel("Two cores against one", "million events", "times as fast", {"4 queries": gains}, even=1)
    return Report("hot", head, rows, [panel])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="one Spark of `measured`")
    parser.add_argument("folder", type=Path)
    parser.add_argument("cores", type=int)
    parser.add_argument("rounds", type=int)
    given = parser.parse_args()
    print(json.dumps(run(given.folder, given.cores, given.rounds)))
