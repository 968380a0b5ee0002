"""One group of four million events on two cores against one: time is cut into segments, which are tasks of their own.
Beside it the same job on one core with nothing cut, which is what cutting has to beat, and two jobs at once, each on a
core of its own: what the machine gives to two that have nothing to do with each other, for cores may be threads of one.

Each Spark is tied to its processors, JVM and Python workers together. All of them are there all the time and run by
turns over the same files, so that a machine that is slower for a minute is slower for all; time is that of the clock,
and ratios are medians of those within a turn. A turn has one core twice, each of the two once, and so two cores twice.
The rows are those of the local engine, which cuts nothing.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
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
from cepc.codegen.compiling import LoadedJob, job_of, load
from cepc.passes.strategy import strategy
from cepc.planning import plan_program
from cepc_runtime.batch import execute
from cepc_runtime.parts.classes import classes_of
from cepc_runtime.spark.settings import JVM, SETTINGS

Spark = subprocess.Popen[str]

HOURS = 10
FILES = 8
FEW, MANY = 4, 40
CUT, WHOLE = "cut", "whole"
READY, TOOK = "ready", "took"
REST = 3  # seconds in which the Spark before comes to rest: its JVM compiles for a while
WARM = 12  # rounds over an eighth of the events before the first that counts: a JVM with one core has to compile on that one too
TURNS = 5


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


def run(folder: Path, queries: int, cores: Sequence[int]) -> None:
    """For each line of standard input, which names a job, one of output: the seconds of a round. Before the first,
    rounds have started workers and warmed the JVM, and the rows of one have been compared.
    """
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processors[core] for core in cores})
    from pyspark.sql import SparkSession

    settings: dict[str, Any] = {
        **SETTINGS,
        **JVM,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "2g",
    }
    spark = SparkSession.builder.master(f"local[{len(cores)}]").config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    compiled = cepc.compile(program(queries))
    (plan,) = plan_program(compiled.program).plans
    expected = execute(strategy(plan, "local"), pq.read_table(folder)).tables
    jobs = {}
    for way in (CUT, WHOLE) if len(cores) == 1 else (CUT,):
        with patch("cepc.codegen.stream_job.classes_of", classes_of if way == CUT else whole):
            jobs[way] = load(job_of(compiled.program, compiled.checked.sources))
        same_rows(expected, rows(spark, jobs[way], folder))
        for _ in range(WARM):
            timed(spark, jobs[way], folder / "0.parquet")
    print(READY, flush=True)
    for way in sys.stdin:
        print(TOOK, timed(spark, jobs[way.strip()], folder), flush=True)
    spark.stop()


def whole(queries: Any, **_: Any) -> Any:
    """The classes of queries whose groups are not cut."""
    return classes_of(queries)


def rows(spark: Any, job: LoadedJob, folder: Path) -> dict[str, Any]:
    spark.catalog.clearCache()
    return job.tables(spark, spark.read.parquet(str(folder)))


def timed(spark: Any, job: LoadedJob, folder: Path) -> float:
    start = time.perf_counter()
    rows(spark, job, folder)
    return time.perf_counter() - start


@dataclass(frozen=True)
class Turn:
    """Seconds of the job that is not cut, on one core, of the one that is, on one and on two, and of two of these at
    once. What a turn has twice is the mean.
    """

    uncut: float
    one: float
    two: float
    apart: float

    @property
    def ratios(self) -> tuple[float, float, float]:
        return self.one / self.two, 2 * self.one / self.apart, self.uncut / self.two


def measured(events: int, queries: int, rounds: int) -> list[Turn]:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        generate(Path(folder), events)
        first, second, both = (
            stack.enter_context(started(Path(folder), queries, cores)) for cores in ((0,), (1,), (0, 1))
        )
        return [turn(first, second, both) for _ in range(rounds)]


def turn(first: Spark, second: Spark, both: Spark) -> Turn:
    one, two, other, again = (took([spark], CUT) for spark in (first, both, second, both))
    uncut = (took([first], WHOLE) + took([second], WHOLE)) / 2
    return Turn(uncut, (one + other) / 2, (two + again) / 2, took([first, second], CUT))


@contextmanager
def started(folder: Path, queries: int, cores: Sequence[int]) -> Iterator[Spark]:
    """A process of `run` that is ready; it ends when it is left."""
    command = [sys.executable, "-m", "bench.gains.hot", str(folder), str(queries), *map(str, cores)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        told(process, READY)
        yield process
        assert process.stdin is not None
        process.stdin.close()


def took(processes: Sequence[Spark], way: str) -> float:
    """The seconds of a round of each, at the same time."""
    time.sleep(REST)
    for process in processes:
        assert process.stdin is not None
        print(way, file=process.stdin, flush=True)
    return max([float(told(process, TOOK)) for process in processes])


def told(process: Spark, word: str) -> str:
    """What follows the word in the first line that begins with it; a JVM may say other things."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(word):
            return line.removeprefix(word)
    raise RuntimeError(f"{process.args!r} ended")


def report(quick: bool) -> Report:
    lines, gains = [], dict[str, list[tuple[float, float]]]()
    for queries in (FEW, MANY):
        for events in (20_000,) if quick else (1_000_000, 4_000_000):
            turns = measured(events, queries, 1 if quick else TURNS)
            times = [statistics.median(x) for x in zip(*map(astuple, turns), strict=True)]
            ratios = [statistics.median(x) for x in zip(*(turn.ratios for turn in turns), strict=True)]
            lines.append([f"{queries}", f"{events:,}", *map(few, (*times, *ratios))])
            for name, ratio in zip(("cut on one", "two jobs, one core each", "not cut"), ratios, strict=True):
                gains.setdefault(f"{queries} queries, {name}", []).append((events / 1e6, ratio))
    head = [
        "queries", "events of the group", "not cut, one core, s", "cut, one core", "two cores", "two jobs, one core each",
        "two cores against one", "two jobs against one", "two cores against not cut",
    ]  # fmt: skip
    panel = Panel("Two cores against one", "million events", "times as fast", gains, even=1)
    return Report("hot", head, lines, [panel])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="one Spark of `measured`")
    parser.add_argument("folder", type=Path)
    parser.add_argument("queries", type=int)
    parser.add_argument("cores", type=int, nargs="+")
    given = parser.parse_args()
    run(given.folder, given.queries, given.cores)
