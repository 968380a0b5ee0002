"""A stream against its floor, against one call for each group, and by the number of its buckets; and what folding
saves.

The floor is the same streaming job with an operator that keeps and answers nothing: read, watermark, letters, shuffle,
sink. Both run by turns, and the first turn, in which the JVM compiles, does not count. `delay` says where the time of a
micro-batch is spent, by what Spark tells of its stages and jobs. The usual way is an operator keyed by the group: a call, and a value of state, for each group that has events or a
timer; it is written here as a person would, for the one query of ONE. Everything of a comparison runs in one session,
over the same files, a micro-batch each; the first, which starts workers and compiles, does not count. Only ratios are
worth reporting.

    python bench/stream.py floor --groups 10000
    python bench/stream.py floor --groups 100000
    python bench/stream.py delay --groups 10000
    python bench/stream.py groups --groups 1000 --events 20000
    python bench/stream.py rows             # what a stream of the rows of a query costs more
    python bench/stream.py buckets
    python bench/stream.py folding          # no Spark: bytes and time of one bucket, with and without
"""

from __future__ import annotations

import argparse
import os
import pickle
import random
import statistics
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from cepc.api import check_text
from cepc.codegen.compiling import job_of
from cepc.passes.strategy import strategy
from cepc.planning import plan_program
from cepc.running.session import quiet_session
from cepc_runtime.parts.classes import classes_of
from cepc_runtime.spark.streaming import how_written
from cepc_runtime.spark.streaming.chain import chained
from cepc_runtime.spark.streaming.operator import Answer, Answering
from cepc_runtime.spark.streaming.query import Continuous, InJob, settings_of_stream
from cepc_runtime.spark.streaming.running import wait
from cepc_runtime.spark.streaming.sinks import AtOnce, Directories
from cepc_runtime.spark.streaming.spread import cores_of, usual_buckets
from cepc_runtime.spark.streaming.starting import start
from cepc_runtime.spark.streaming.tells import KEPT_BY_SPARK
from cepc_runtime.spark.streaming.terms import Folders, trigger_of
from cepc_runtime.streaming.advance import advance
from cepc_runtime.streaming.program import Program
from cepc_runtime.streaming.state import State, from_bytes, to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from cepc_runtime.spark.streaming.query import Streamed
    from cepc_runtime.spark.streaming.sinks import Sink
    from cepc_runtime.spark.streaming.tells import Aside

STREAM = """STREAM events (at TIMESTAMP, kind STRING, account BIGINT, amount DOUBLE)
EVENT TIME at WATERMARK 5 SECONDS EVENT TYPE kind IN ('A', 'B', 'C', 'D');
"""
ONE = """QUERY trends RETURN account, CAST(COUNT(*) AS DOUBLE) AS n, SUM(b.amount) AS total PATTERN SEQ(A a, B+ b, C c)
  WHERE b.amount > 50 GROUP BY account WITHIN 1 MINUTE;
"""
SEVERAL = """QUERY trends RETURN account, CAST(COUNT(*) AS DOUBLE) AS n, SUM(b.amount) AS total PATTERN SEQ(A a, B+ b, C c)
  WHERE b.amount > 50 GROUP BY account WITHIN 2 MINUTES SLIDE 30 SECONDS;
QUERY pairs RETURN account, a.at AS since, c.amount PATTERN SEQ(A a, C c) WHERE [account] AND a.amount > 80 AND c.amount > 80
  WITHIN 10 SECONDS;
"""
ROWS = """STREAM found FROM QUERY pairs;
QUERY rising RETURN MATCH account, f.amount, g.amount AS more PATTERN SEQ(found f, found g)
  WHERE [account] AND g.amount > f.amount SELECT NEXT WITHIN 1 MINUTE;
"""
SECOND = 1_000_000
SECONDS = 60
"""Of event time in a file."""
BEGIN = 10**15
AHEAD = 1 << 50
"""The events' times are made up: none is ahead of the clock."""


def streamed(text: str) -> list[Streamed]:
    checked = check_text(text)
    assert checked.program is not None
    namespace: dict[str, Any] = {"__name__": "job"}
    exec(job_of(checked.program, checked.sources).text, namespace)
    return [part.streamed for part in namespace["JOB"].parts]


def whole(text: str, buckets: int, kind: type[Continuous]) -> Continuous:
    made = streamed(text)
    if kind is not Continuous:
        return kind(made[0], made[0].stream.queries, buckets, InJob(AHEAD))
    names = [name for one in made for name in one.stream.queries]
    return chained(made, names, names, buckets, AHEAD)


def events(batch: int, count: int, groups: int, kinds: str = "ABCD") -> pa.Table:
    """A minute of events, out of order by up to four seconds; half of the groups are silent in it."""
    chance = np.random.default_rng(batch)
    seconds = (batch + np.arange(count) / count) * SECONDS - chance.uniform(0, 4, count)
    return pa.table({
        "at": pa.array((seconds * SECOND).astype(np.int64) + BEGIN, pa.timestamp("us", "UTC")),
        "kind": pa.array(list(kinds)).take(pa.array(chance.integers(0, len(kinds), count))),
        "account": pa.array(chance.integers(0, max(groups // 2, 1), count) * 2 + batch % 2),
        "amount": pa.array(np.round(chance.uniform(0, 100, count), 2)),
    })  # fmt: skip


def put(folder: Path, batch: int, table: pa.Table) -> None:
    path = folder / f"{batch:06d}.parquet"
    pq.write_table(table, path)
    os.utime(path, (1_000_000 + batch, 1_000_000 + batch))  # files are taken in this order


def read(spark: SparkSession, source: Path, schema: Any) -> DataFrame:
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(source))


# ---- ours, and its floor -----------------------------------------------------------------------------------------------


class Idle(Answering):
    """Reads no event, keeps no state, says nothing."""

    def step(self, bucket: int, data: bytes | None, blobs: Any, watermark: int) -> Answer:  # noqa: ARG002
        return Answer(None, [], None, None)


class Floor(Continuous):
    """The same job with an operator that does nothing."""

    def answering(self, aside: Aside = KEPT_BY_SPARK) -> Answering:
        real = super().answering(aside)
        return Idle(real.plan_text, real.classes, real.letters, aside=aside)


def discard(query: str, rows: DataFrame, batch: int) -> None:  # noqa: ARG001
    rows.write.format("noop").mode("overwrite").save()


def ours(
    spark: SparkSession,
    source: Path,
    text: str,
    buckets: int,
    kind: type[Continuous] = Continuous,
    told: list[Any] | None = None,
    sink: Callable[[str], Sink] = lambda _: AtOnce(discard),
) -> float:
    """Milliseconds a micro-batch with events, without the first: the median. What Spark tells of each is `told`."""
    what, lines = whole(text, buckets, kind), list[dict[str, Any]]()
    with tempfile.TemporaryDirectory() as folder:
        stream = what.streamed.stream
        frame = read(spark, source, stream.schema)
        events, checkpoint = {stream.name: frame}, Folders(f"{folder}/checkpoint")
        running = start(what, events, checkpoint, sink(f"{folder}/out"), trigger_of("available-now"))
        wait([running], lambda line: _noted(line, lines))
        if told is not None:
            told += running.query.recentProgress
    counted = [line["ms"] for line in lines if line["rows"]][1:]
    given, last = lines[1]["rows"], lines[-2]
    found = sum(sum(line["out"].values()) for line in lines)
    print(
        f"    ({len(counted)} micro-batches of {given:,} events, {found:,} rows; state {last['state_rows']:,} events,"
        f" {last['state_panes']:,} panes, {last['state_bytes']:,} bytes)",
        flush=True,
    )
    return float(statistics.median(counted))


def _noted(line: dict[str, Any], lines: list[dict[str, Any]]) -> None:
    print(f"    micro-batch {line['batch']}: {line['rows']:,} events, {line['ms']:,} ms", flush=True)
    lines.append(line)


# ---- where the time goes -----------------------------------------------------------------------------------------------


SINKS: dict[str, Callable[[str], Sink]] = {
    "files": lambda folder: Directories(folder, "parquet"),
    "files as on a cluster": lambda folder: Directories(folder, "parquet"),
    "lines of JSON": lambda folder: Directories(folder, "json"),
    "files of Spark": lambda folder: Directories(folder, "parquet", {"compression": "snappy"}),
    "nowhere": lambda _: AtOnce(discard),
}
"""Where rows go; an option for Spark's writer has it write them. As on a cluster: workers share no disk with the driver.
"""


@dataclass(frozen=True)
class Turn:
    """A run: the median of its micro-batches, and processor time for one of those, all processes together."""

    ms: float
    cpu_ms: float
    told: tuple[Any, ...]


def by_turns(
    spark: SparkSession, source: Path, turns: int, batches: int, sinks: Sequence[str]
) -> dict[tuple[type[Continuous], str], list[Turn]]:
    """Ours with each sink, and the floor with the first, whose rows are none; the first turn is not among them."""
    found: dict[tuple[type[Continuous], str], list[Turn]] = {(Continuous, sink): [] for sink in sinks}
    found[Floor, sinks[0]] = []
    for turn in range(turns + 1):
        for (kind, sink), runs in found.items():
            one = one_turn(spark, source, STREAM + SEVERAL, batches, sink, kind)
            if turn:
                runs.append(one)
    return found


def one_turn(
    spark: SparkSession, source: Path, text: str, batches: int, sink: str, kind: type[Continuous] = Continuous
) -> Turn:
    told, begun = list[Any](), processor_seconds()
    with patch.object(how_written, "is_one_machine", lambda _: "cluster" not in sink):
        ms = ours(spark, source, text, usual_buckets(cores_of(spark)), kind, told, SINKS[sink])
    return Turn(ms, (processor_seconds() - begun) / batches * 1000, tuple(told))


def with_rows(spark: SparkSession, source: Path, turns: int, batches: int) -> None:
    """Two queries over events, and a third one over the rows of one of them, too, by turns; to files."""
    texts = {"two queries": STREAM + SEVERAL, "and one over rows": STREAM + SEVERAL + ROWS}
    took: dict[str, list[Turn]] = {name: [] for name in texts}
    for turn in range(turns + 1):
        for name, text in texts.items():
            one = one_turn(spark, source, text, batches, "files")
            if turn:
                took[name].append(one)
    ms, more = (statistics.median(run.ms for run in runs) for runs in took.values())
    cpu, more_cpu = (statistics.median(run.cpu_ms for run in runs) for runs in took.values())
    print(f"with a query over rows {more / ms:.2f} times as long ({more:.0f} and {ms:.0f} ms a micro-batch)")
    print(f"in processor time {more_cpu / cpu:.2f} times ({more_cpu:.0f} and {cpu:.0f} ms)", flush=True)


def processor_seconds() -> float:
    """Of this process, of those that it started, and so on: the JVM and Python's workers."""
    fields: dict[int, list[str]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields[int(file.parent.name)] = file.read_text(errors="replace").rpartition(")")[2].split()
    mine = {os.getpid()}
    while more := {process for process, said in fields.items() if int(said[1]) in mine} - mine:
        mine |= more
    return sum(int(ticks) for process in mine for ticks in fields[process][11:15]) / os.sysconf("SC_CLK_TCK")


def share(runs: list[Turn], value: Callable[[Any], float]) -> float:
    """The median over the micro-batches with events, without the first of a run."""
    return statistics.median(value(p) for run in runs for p in run.told[1:] if p["numInputRows"])


def parts(spark: SparkSession, runs: list[Turn]) -> dict[str, float]:
    """Milliseconds of a micro-batch, by what they go to: what Spark does around its jobs, a look at the columns of new
    files, the job with two stages, which has the operator, and the jobs after it, which are the sinks'.
    """
    took = {name: share(runs, partial(_duration, name)) for name in ("triggerExecution", "addBatch")}
    jobs = [jobs_of(spark, p) for run in runs for p in run.told[1:] if p["numInputRows"]]
    median = statistics.median
    place = [next(n for n, (_, stages) in enumerate(one) if len(stages) > 1) for one in jobs]
    first = [[stage[1] for stage in one[n][1]] for n, one in zip(place, jobs, strict=True)]
    found = {
        "a micro-batch": took["triggerExecution"],
        "Spark's logs and plan, before and after": took["triggerExecution"] - took["addBatch"],
        "jobs that look at new files": median(
            sum(job[0] for job in one[:n]) for n, one in zip(place, jobs, strict=True)
        ),
        "reading, packing and shuffle": median(one[0] for one in first),
        "the operator's stage": median(one[1] for one in first),
        "jobs of sinks": median(sum(job[0] for job in one[n + 1 :]) for n, one in zip(place, jobs, strict=True)),
        "number of jobs": median(len(one) for one in jobs),
        "tasks": median(sum(stage[2] for job in one for stage in job[1]) for one in jobs),
    }
    state = {"state: updates, of all tasks": "allUpdatesTimeMs", "state: commit, of all tasks": "commitTimeMs"}
    return found | {what: share(runs, partial(_of_state, name)) for what, name in state.items()}


def _duration(name: str, progress: Any) -> float:
    return float(progress["durationMs"][name])


def _of_state(name: str, progress: Any) -> float:
    return float(progress["stateOperators"][0][name])


def jobs_of(spark: SparkSession, progress: Any) -> list[tuple[int, list[tuple[int, int, int]]]]:
    """Of a micro-batch: for each job its milliseconds and its stages, each with its number, milliseconds and tasks."""
    store: Any = spark.sparkContext._jsc.sc().statusStore()
    group, text = progress["runId"], f"batch = {progress['batchId']}"
    found = []
    for job in sorted(_listed(store.jobsList(None)), key=lambda job: job.jobId()):
        said = job.description().getOrElse(None) or ""
        if job.jobGroup().getOrElse(None) == group and text in said.splitlines():
            stages = [store.lastStageAttempt(number) for number in _listed(job.stageIds())]
            ran = [(s.stageId(), _ms(s), s.numTasks()) for s in stages if s.completionTime().isDefined()]
            found.append((_ms(job), sorted(ran)))
    return found


def _listed(sequence: Any) -> list[Any]:
    return [sequence.apply(place) for place in range(sequence.size())]


def _ms(one: Any) -> int:
    return int(one.completionTime().get().getTime() - one.submissionTime().get().getTime())


# ---- one call for each group -------------------------------------------------------------------------------------------


class OneGroup(StatefulProcessor):
    """ONE for one account: its events are kept until a timer at the end of their window."""

    def init(self, handle: Any) -> None:
        self._handle = handle
        self._state = handle.getValueState("events", "blob BINARY")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: ARG002, N802, N803
        kept = self._events()
        for frame in rows:
            kept += zip(frame["at"].astype("int64"), frame["kind"], frame["amount"], strict=True)
        self._state.update((pickle.dumps(kept),))
        for window in {int(at) // 1000 // (SECONDS * SECOND) for at, _, _ in kept}:
            self._handle.registerTimer((window + 1) * SECONDS * 1000)
        yield pd.DataFrame({"account": [], "n": [], "total": []})

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:  # noqa: ARG002, N802, N803
        end = expiredTimerInfo.getExpiryTimeInMs() * SECOND
        kept = self._events()
        self._state.update((pickle.dumps([event for event in kept if event[0] >= end]),))
        n, total = count(sorted(event for event in kept if event[0] < end))
        yield pd.DataFrame(
            {"account": [key[0]], "n": [n], "total": [total]} if n else {"account": [], "n": [], "total": []}
        )

    def close(self) -> None:
        pass

    def _events(self) -> list[tuple[int, str, float]]:
        old = self._state.get()
        return pickle.loads(bytes(old[0])) if old else []


def count(ordered: list[tuple[int, str, float]]) -> tuple[float, float]:
    """Matches of SEQ(A, B+, C) in events at different times: their number, and the sum of the Bs' amounts over them."""
    first, middle, middle_sum, whole, whole_sum = 0.0, 0.0, 0.0, 0.0, 0.0
    for _, kind, amount in ordered:
        if kind == "A":
            first += 1
        elif kind == "B" and amount > 50:
            n = first + middle
            middle, middle_sum = middle + n, 2 * middle_sum + n * amount
        elif kind == "C":
            whole, whole_sum = whole + middle, whole_sum + middle_sum
    return whole, whole_sum


def by_group(spark: SparkSession, source: Path, schema: Any) -> float:
    """Milliseconds a micro-batch with events, without the first: the median."""
    for name, value in settings_of_stream(spark, 2).items():
        spark.conf.set(name, value)
    found = (
        read(spark, source, schema)
        .where("kind <> 'D'")
        .withWatermark("at", "5 seconds")
        .groupBy("account")
        .transformWithStateInPandas(OneGroup(), "account BIGINT, n DOUBLE, total DOUBLE", "append", "eventTime")
    )
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = found.writeStream.format("noop").option("checkpointLocation", checkpoint).trigger(availableNow=True)
        query = writer.start()
        query.awaitTermination()
    counted = [p["durationMs"]["triggerExecution"] for p in query.recentProgress if p["numInputRows"]][1:]
    return float(statistics.median(counted))


# ---- folding, without Spark --------------------------------------------------------------------------------------------

MANY = "20 MINUTES SLIDE 5 MINUTES", "10 MINUTES SLIDE 1 MINUTE", "10 MINUTES"
FOLDED = (
    *((1, windows, groups, each) for groups, each in ((10_000, 10), (1_000, 100)) for windows in MANY[1:]),
    *((30, windows, 20, each) for windows in MANY for each in (50, 100, 200, 1_000)),
    *((1, MANY[1], 20, each) for each in (25, 50, 100)),
)
"""Queries, windows, groups, events of a group a minute."""


def mixed(count: int, windows: str) -> str:
    """So many sequences of three or four types; one is ONE without its repetition."""
    if count == 1:
        return f"{STREAM}{ONE.replace('B+ b', 'B b').replace('1 MINUTE', windows)}"
    chance, found = random.Random(1), dict[tuple[str, ...], None]()
    while len(found) < count:
        found[tuple(chance.sample("ABCDEFGH", chance.choice((3, 4))))] = None
    return STREAM.replace("'D'", "'D', 'E', 'F', 'G', 'H'") + "".join(
        f"QUERY q{n} RETURN account, COUNT(*) AS n PATTERN SEQ({', '.join(types)}) GROUP BY account WITHIN {windows};\n"
        for n, types in enumerate(found)
    )


def folding(queries: int, windows: str, groups: int, each: int) -> None:
    """One bucket with so many groups, each with so many events a minute, half of them silent where the queries are few.
    Both are stepped by turns; what counts is processor time over whole windows.
    """
    checked = check_text(mixed(queries, windows))
    assert checked.program is not None
    plan = strategy(plan_program(checked.program).plans[0], "stream")
    programs = [Program(plan, classes_of(plan.queries), None, fold_from) for fold_from in (None, 1 << 60)]
    data, times, largest = [to_bytes(State(), program) for program in programs], [0.0, 0.0], [0, 0]
    for batch in range(40):
        table = events(batch, groups * each, groups, "ABCD" if queries == 1 else "ABCDEFGH")
        watermark = BEGIN + (batch * SECONDS + SECONDS - 5) * SECOND
        for n in ((0, 1), (1, 0))[batch % 2]:
            program, begun = programs[n], time.process_time()
            state = from_bytes(data[n], program)
            data[n] = to_bytes(advance(program, state, [table], watermark).state, program)
            times[n] += time.process_time() - begun if batch >= 20 else 0
            largest[n] = max(largest[n], len(data[n]))
    less, took = largest[1] / largest[0], times[0] / times[1]
    print(
        f"{queries} queries, {groups:,} groups with {each:,} events a minute, WITHIN {windows}: {less:.1f} times fewer bytes"
        f" ({largest[1]:,} and {largest[0]:,}), {took:.2f} times the time of not folding",
        flush=True,
    )


# ---- comparisons -------------------------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("floor", "delay", "groups", "rows", "buckets", "folding"))
    parser.add_argument("--events", type=int, default=100_000, help="in a micro-batch")
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--turns", type=int, default=2, help="of `floor` and `delay`, beside the first")
    parser.add_argument(
        "--sinks", default="files", metavar="SINK,…", help=f"of `floor` and `delay`: some of {', '.join(SINKS)}"
    )
    parser.add_argument("--buckets", default="1,8,32,128,512", help="of `buckets`")
    given = parser.parse_args()
    if given.what == "folding":
        for one in FOLDED:
            folding(*one)
        return 0
    spark = quiet_session()
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory)
        for batch in range(given.batches):
            put(source, batch, events(batch, given.events, given.groups))
        print(f"{given.events:,} events in a micro-batch, {given.groups:,} groups", flush=True)
        if given.what in ("floor", "delay"):
            found = by_turns(spark, source, given.turns, given.batches, given.sinks.split(","))
            *each, (_, least) = found.items()
            floor, floor_cpu = (statistics.median(getattr(run, what) for run in least) for what in ("ms", "cpu_ms"))
            for (_, sink), runs in each:
                ms, cpu = (statistics.median(getattr(run, what) for run in runs) for what in ("ms", "cpu_ms"))
                print(f"rows in {sink}: {ms / floor:.2f} times the floor ({ms:.0f} and {floor:.0f} ms a micro-batch)")
                print(f"in processor time {cpu / floor_cpu:.2f} times ({cpu:.0f} and {floor_cpu:.0f} ms)", flush=True)
            if given.what == "delay":
                columns = [parts(spark, runs) for runs in found.values()]
                for what in columns[0]:
                    print(f"    {what}: {', '.join(f'{column[what]:.0f}' for column in columns)}")
        elif given.what == "groups":
            together = ours(spark, source, STREAM + ONE, 32)
            usual = by_group(spark, source, streamed(STREAM + ONE)[0].stream.schema)
            ratio = f"{usual / together:.1f} times as long ({usual:.0f} and {together:.0f} ms a micro-batch)"
            print(f"one call for each group: {ratio}")
        elif given.what == "rows":
            with_rows(spark, source, given.turns, given.batches)
        else:
            took = {int(n): ours(spark, source, STREAM + SEVERAL, int(n)) for n in given.buckets.split(",")}
            for buckets, ms in took.items():
                print(f"{buckets} buckets: {ms / min(took.values()):.2f} times the fastest ({ms:.0f} ms a micro-batch)")
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
