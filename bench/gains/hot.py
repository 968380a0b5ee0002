"""One group of four million events on two cores against one: time is cut into segments, which are tasks of their own. Beside it the
same job on one core with nothing cut, which is what cutting has to beat.

Each number of cores has a Spark of its own, tied to so many processors, JVM and Python workers together. Both are there all the time
and run by turns over the same files, so that a machine that is slower for a minute is slower for both; time is that of the clock, and
ratios are medians of those within a turn. The rows are those of the local engine, which cuts nothing.
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
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, dataclass
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
from cepc_runtime.spark.settings import SETTINGS
from cepc_runtime.spark.share import classes_of

HOURS = 10
FILES = 8
FEW, MANY = 4, 40
READY = "ready"
REST = 3  # seconds in which the other Spark comes to rest: its JVM compiles for a while


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


def run(folder: Path, queries: int, cores: int) -> None:
    """For each line of standard input one of output: the seconds of a round, on one core also of a job that cuts nothing. Before the
    first, rounds have started workers and warmed the JVM, and the rows of one have been compared.
    """
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:cores]))
    from pyspark.sql import SparkSession

    settings: dict[str, Any] = {
        **SETTINGS,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "2g",
    }
    spark = SparkSession.builder.master(f"local[{cores}]").config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    compiled = cepc.compile(program(queries))
    (plan,) = plan_program(compiled.program).plans
    expected = execute(plan, pq.read_table(folder)).tables
    jobs = {}
    for way in ("cut", "whole") if cores == 1 else ("cut",):
        with patch("cepc.codegen.prepare.classes_of", classes_of if way == "cut" else whole):
            jobs[way] = load(job_of(compiled.program, compiled.checked.sources))
        same_rows(expected, rows(spark, jobs[way], folder))
        timed(spark, jobs[way], folder)
    print(READY, flush=True)
    for _ in sys.stdin:
        print(json.dumps({way: timed(spark, job, folder) for way, job in jobs.items()}), flush=True)
    spark.stop()


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


@dataclass(frozen=True)
class Turn:
    """Seconds of the job that is not cut, on one core, and of the one that is, on one and on two."""

    uncut: float
    one: float
    two: float


def measured(events: int, queries: int, rounds: int) -> list[Turn]:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        generate(Path(folder), events)
        sparks = [stack.enter_context(started(Path(folder), queries, cores)) for cores in (1, 2)]
        found = []
        for _ in range(rounds):
            one, two = map(asked, sparks)
            found.append(Turn(one["whole"], one["cut"], two["cut"]))
        return found


@contextmanager
def started(folder: Path, queries: int, cores: int) -> Iterator[subprocess.Popen[str]]:
    """A process of `run` that is ready; it ends when it is left."""
    command = [sys.executable, "-m", "bench.gains.hot", str(folder), str(queries), str(cores)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        told(process, lambda line: line.strip() == READY)
        yield process
        assert process.stdin is not None
        process.stdin.close()


def asked(process: subprocess.Popen[str]) -> dict[str, float]:
    time.sleep(REST)
    assert process.stdin is not None
    print(file=process.stdin, flush=True)
    return dict(json.loads(told(process, lambda line: line.startswith("{"))))


def told(process: subprocess.Popen[str], wanted: Callable[[str], bool]) -> str:
    """The first line that is wanted; a JVM may say other things."""
    assert process.stdout is not None
    for line in process.stdout:
        if wanted(line):
            return line
    raise RuntimeError(f"{process.args!r} ended")


def report(quick: bool) -> Report:
    lines, gains = [], dict[str, list[tuple[float, float]]]()
    for queries in (FEW, MANY):
        for events in (20_000,) if quick else (1_000_000, 4_000_000):
            turns = measured(events, queries, 1 if quick else 5)
            times = [statistics.median(x) for x in zip(*map(astuple, turns), strict=True)]
            two, whole = (
                statistics.median(x) for x in zip(*((t.one / t.two, t.uncut / t.two) for t in turns), strict=True)
            )
            lines.append([f"{queries}", f"{events:,}", *map(few, (*times, two, whole))])
            gains.setdefault(f"{queries} queries, cut on one", []).append((events / 1e6, two))
            gains.setdefault(f"{queries} queries, not cut", []).append((events / 1e6, whole))
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
    given = parser.parse_args()
    run(given.folder, given.queries, given.cores)
