"""One group of four million events on two cores against one: time is cut into segments, which are tasks of their own. Beside it the
same job on one core with nothing cut, which is what cutting has to beat.

Each number of cores has a Spark of its own, tied to so many processors, JVM and Python workers together; both read the same files,
and time is that of the clock, medians after a first run. The rows are those of the local engine, which cuts nothing.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import permutations
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench.gains.measured import COUNT, HEADER, same_rows
from bench.gains.report import Report, few
from bench.plots import Panel

import cepc
from cepc.codegen.compiling import Loaded, job_of, load
from cepc.planning import plan_program
from cepc_runtime.execute import execute
from cepc_runtime.spark.share import classes_of

HOURS = 10
FILES = 8
FEW, MANY = 4, 40


def program(queries: int) -> str:
    """Sequences of two to four types, all different."""
    sequences = [types for length in (2, 3, 4) for types in permutations("ABCD", length)]
    chosen = random.Random(1).sample(sequences, queries)
    return HEADER + "\n".join(
        f"QUERY q{i} RETURN {COUNT}, SUM({types[0]}.x) AS s PATTERN SEQ({', '.join(types)}) WITHIN 10 min SLIDE 5 min;"
        for i, types in enumerate(chosen)
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


def run(folder: Path, queries: int, cores: int, rounds: int) -> dict[str, list[float]]:
    """The seconds of each round, on one core also of a job that cuts nothing, by turns; a first round has started workers, and its
    rows have been compared.
    """
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
    compiled = cepc.compile(program(queries))
    (plan,) = plan_program(compiled.program).plans
    expected = execute(plan, pq.read_table(folder)).tables
    jobs = {}
    for way in ("cut", "whole") if cores == 1 else ("cut",):
        with patch("cepc.codegen.prepare.classes_of", classes_of if way == "cut" else whole):
            jobs[way] = load(job_of(compiled.program, compiled.checked.sources))
        same_rows(expected, rows(spark, jobs[way], folder))
    turns = [{way: timed(spark, job, folder) for way, job in jobs.items()} for _ in range(rounds)]
    spark.stop()
    return {way: [turn[way] for turn in turns] for way in jobs}


def whole(queries: Any, **_: Any) -> Any:
    """The classes of queries whose groups are not cut."""
    return classes_of(queries)


def rows(spark: Any, job: Loaded, folder: Path) -> dict[str, Any]:
    spark.catalog.clearCache()
    return {q: frame.toArrow() for q, frame in job.build(spark, spark.read.parquet(str(folder)), None).items()}


def timed(spark: Any, job: Loaded, folder: Path) -> float:
    start = time.perf_counter()
    rows(spark, job, folder)
    return time.perf_counter() - start


def measured(events: int, queries: int, rounds: int) -> tuple[float, float, float]:
    """Median seconds: not cut on one core, cut on one, cut on two."""
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder), events)
        found = {}
        for cores in (1, 2):
            command = [sys.executable, "-m", "bench.gains.hot", folder, *map(str, (queries, cores, rounds))]
            told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            found[cores] = {way: statistics.median(s) for way, s in json.loads(told.splitlines()[-1]).items()}
    return found[1]["whole"], found[1]["cut"], found[2]["cut"]


def report(quick: bool) -> Report:
    lines, gains = [], dict[str, list[tuple[float, float]]]()
    for queries in (FEW, MANY):
        for events in (20_000,) if quick else (1_000_000, 4_000_000):
            uncut, one, two = measured(events, queries, 1 if quick else 3)
            lines.append([f"{queries}", f"{events:,}", *map(few, (uncut, one, two, one / two, uncut / two))])
            gains.setdefault(f"{queries} queries, cut on one", []).append((events / 1e6, one / two))
            gains.setdefault(f"{queries} queries, not cut", []).append((events / 1e6, uncut / two))
    head = [
        "queries", "events of the group", "not cut, one core, s", "cut, one core", "two cores", "two against one", "against not cut",
    ]  # fmt: skip
    panel = Panel("Two cores against one", "million events", "times as fast", gains, even=1)
    return Report("hot", head, lines, [panel])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="one Spark of `measured`")
    parser.add_argument("folder", type=Path)
    parser.add_argument("queries", type=int)
    parser.add_argument("cores", type=int)
    parser.add_argument("rounds", type=int)
    given = parser.parse_args()
    print(json.dumps(run(given.folder, given.queries, given.cores, given.rounds)))
