"""A job as a stream over a longer time, at a steady rate: does anything grow?

The job runs as a user starts it, by spark-submit. Events come out of order, some twice, some ten minutes late; half of
the accounts are silent at any time, and every minute has accounts that never come again. What each micro-batch took and
what the state held comes from the job's own progress, memory from the processes. In the end the job is killed, started
again, and closes its open windows; all rows are compared with those of a batch over the events that were not late.

    python -m bench.soak --minutes 25             # some 0.3 cores
    python -m bench.soak --minutes 25 --draw      # and docs/pictures/soak.svg, with the dependency group `bench`
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

import cepc
from cepc.api import check_text
from cepc.codegen.compiling import job_of
from cepc.java import spark_environment

PROGRAM = """STREAM events (at TIMESTAMP, kind STRING, account BIGINT, amount DOUBLE)
EVENT TIME at WATERMARK 10 SECONDS EVENT TYPE kind IN ('A', 'B', 'C', 'D');
QUERY trends RETURN account, COUNT(*) AS n, MAX(b.amount) AS most PATTERN SEQ(A a, B+ b, C c)
  WHERE b.amount > 50 GROUP BY account WITHIN 2 MINUTES SLIDE 30 SECONDS;
QUERY pairs RETURN account, a.at AS since, c.amount PATTERN SEQ(A a, C c) WHERE [account] AND a.amount > 80 AND c.amount > 80
  WITHIN 10 SECONDS;
QUERY unanswered RETURN account, a.at AS since PATTERN SEQ(A a, NOT C WITHIN 20 SECONDS) WHERE [account] AND a.amount > 95
  WITHIN 30 SECONDS;
"""
FILE = 5.0
"""Seconds of events in a file."""
TRIGGER = 15
LATE = 600.0
ACCOUNTS = 1000


@dataclass
class Feed:
    """Writes what comes in: a file of events every few seconds."""

    folder: Path
    rate: int
    in_time: list[pa.Table] = field(default_factory=list)
    files: int = 0

    def put(self, begun: float) -> None:
        chance = np.random.default_rng(self.files)
        count = int(self.rate * FILE)
        now = begun + self.files * FILE + np.arange(count) / self.rate
        accounts = chance.integers(0, ACCOUNTS // 2, count) * 2 + int(self.files * FILE // 180) % 2
        passing = chance.random(count) < 0.05
        accounts[passing] = ACCOUNTS * (1 + int(self.files * FILE // 60)) + chance.integers(0, 50, passing.sum())
        seconds = now - chance.uniform(0, 8, count)
        table = pa.table({
            "at": pa.array((seconds * 1e6).astype(np.int64), pa.timestamp("us", "UTC")),
            "kind": pa.array(list("ABCD")).take(pa.array(chance.integers(0, 4, count))),
            "account": pa.array(accounts),
            "amount": pa.array(np.round(chance.uniform(0, 100, count), 2)),
        })  # fmt: skip
        table = pa.concat_tables([table, table.slice(0, count // 200)])
        self.in_time.append(table)
        if self.files * FILE > 60:  # before there is a watermark, nothing is late
            late = table.slice(0, count // 500)
            times = pa.array((seconds[: late.num_rows] - LATE) * 1e6).cast(pa.int64(), safe=False)
            table = pa.concat_tables([table, late.set_column(0, "at", times.cast(late.schema[0].type))])
        path = self.folder / f"{self.files:06d}.parquet"
        pq.write_table(table, path.with_name(f".{path.name}"))
        path.with_name(f".{path.name}").rename(path)
        self.files += 1


def submit(folder: Path, trigger: str, *more: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, **spark_environment(), "PYSPARK_PYTHON": sys.executable}
    options = {
        "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
    }  # fmt: skip
    command = [str(Path(sys.executable).with_name("spark-submit")), "--master", "local[2]", "--driver-memory", "1g"]
    command += [part for key, value in options.items() for part in ("--conf", f"{key}={value}")]
    command += [
        str(folder / "job.py"),
        "--mode",
        "stream",
        "--checkpoint",
        str(folder / "checkpoint"),
        "--buckets",
        "4",
    ]
    command += ["--input", str(folder / "in"), "--output", str(folder / "out"), "--trigger", trigger, *more]
    with (folder / "said").open("ab") as said:
        return subprocess.Popen(command, stdout=said, stderr=said, env=environment, start_new_session=True)


def progress(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "said").read_text(encoding="utf-8", errors="replace").splitlines()
    return [json.loads(line) for line in lines if line.startswith('{"stream"')]


# ---- processes -------------------------------------------------------------------------------------------------------


def processes(session: int) -> dict[int, str]:
    """Those of a job by what they are: `jvm`, `driver`, `workers`."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and os.getsid(int(entry.name)) == session:
                command = (entry / "cmdline").read_bytes().split(b"\0")
                worker = any(b"pyspark" in part and b"daemon" in part for part in command)
                found[int(entry.name)] = "workers" if worker else "jvm" if command[0].endswith(b"java") else "driver"
        except OSError:
            continue
    return found


def memory(session: int) -> dict[str, float]:
    """Megabytes of a job's processes, without counting shared pages twice; and seconds of processor time so far."""
    found = {"jvm": 0.0, "driver": 0.0, "workers": 0.0, "cpu": 0.0}
    for pid, kind in processes(session).items():
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        except OSError:
            continue
        found[kind] += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) / 1024
        found["cpu"] += sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
    return found


# ---- the run ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Soak:
    """Samples of memory with their second, the lines of progress with theirs, and the queries whose rows were wrong."""

    samples: list[dict[str, float]]
    lines: list[dict[str, Any]]
    events: int
    different: list[str]


def soak(folder: Path, minutes: float, rate: int) -> Soak:
    checked = check_text(PROGRAM)
    assert checked.program is not None
    (folder / "job.py").write_text(job_of(checked.program, checked.sources).text)
    (folder / "in").mkdir()
    feed, begun = Feed(folder / "in", rate), time.time()
    feed.put(begun)
    job = submit(folder, f"{TRIGGER} seconds")
    samples = []
    try:
        while time.time() < begun + minutes * 60:
            time.sleep(max(begun + feed.files * FILE - time.time(), 0))
            feed.put(begun)
            if feed.files % 2:
                samples.append({"second": time.time() - begun, **memory(job.pid)})
            assert job.poll() is None, (folder / "said").read_text()[-3000:]
    finally:
        for pid in processes(job.pid):
            os.kill(pid, signal.SIGKILL)
        job.wait()
    lines = [line for line in progress(folder) if "flush" not in line]
    last = submit(folder, "available-now", "--flush")
    assert last.wait(600) == 0, (folder / "said").read_text()[-3000:]
    events = pa.concat_tables(feed.in_time)
    return Soak(samples, lines, events.num_rows, different(folder / "out", events))


def different(out: Path, events: pa.Table) -> list[str]:
    """The queries whose rows are not those of a batch."""
    found = []
    for query, table in cepc.compile(PROGRAM).run(events).items():
        files = [str(file) for file in out.glob(f"{query}/batch=*/part-*")]
        rows = ds.dataset(files, format="parquet").to_table().cast(table.schema)
        order = [(name, "ascending") for name in table.column_names]
        if not rows.sort_by(order).equals(table.sort_by(order)):
            found.append(query)
    return found


def begin_of(line: dict[str, Any], first: dict[str, Any]) -> float:
    """Minutes from one micro-batch to another."""
    return float((np.datetime64(line["at"][:-1]) - np.datetime64(first["at"][:-1])) / np.timedelta64(1, "m"))


def report(run: Soak) -> str:
    """Medians by fifths of the time, after the first micro-batches, which start everything."""
    lines, samples = [one for one in run.lines[4:] if one["rows"]], run.samples
    text = [
        f"{run.events:,} events in time, {sum(line['late'] for line in run.lines):,} late; other rows than a batch: "
        + (", ".join(run.different) or "none"),
        f"{'minute':>7} {'ms':>7} {'state rows':>11} {'state MB':>9} {'JVM MB':>7} {'workers MB':>11} {'driver MB':>10} {'cores':>6}",
    ]
    first = run.lines[0]
    for part in np.array_split(np.arange(len(lines)), 5):
        some = [lines[i] for i in part]
        start, end = (begin_of(one, first) * 60 for one in (some[0], some[-1]))
        seen = [sample for sample in samples if start <= sample["second"] <= end + TRIGGER]
        cores = (seen[-1]["cpu"] - seen[0]["cpu"]) / (seen[-1]["second"] - seen[0]["second"])
        middle = [float(np.median([sample[kind] for sample in seen])) for kind in ("jvm", "workers", "driver")]
        text.append(
            f"{start / 60:7.1f} {np.median([one['ms'] for one in some]):7.0f}"
            f" {np.median([one['state_rows'] for one in some]):11,.0f}"
            f" {np.median([one['state_bytes'] for one in some]) / 1e6:9.2f}"
            f" {middle[0]:7.0f} {middle[1]:11.0f} {middle[2]:10.0f} {cores:6.2f}"
        )
    return "\n".join(text)


def picture(run: Soak) -> Path:
    from bench.plots import Panel, draw

    first, lines = run.lines[0], [line for line in run.lines if line["rows"]]
    times = [begin_of(line, first) for line in lines]
    kinds = {"jvm": "JVM", "workers": "Python workers", "driver": "Python driver"}
    return draw("soak", [
        Panel("Memory", "minutes", "MB", {
            name: [(sample["second"] / 60, sample[kind]) for sample in run.samples[::6]] for kind, name in kinds.items()
        }),
        Panel("State", "minutes", "thousand events held", {
            "held": [(x, line["state_rows"] / 1e3) for x, line in zip(times, lines, strict=True)]
        }),
        Panel("A micro-batch", "minutes", "seconds", {
            "time": [(x, line["ms"] / 1e3) for x, line in zip(times, lines, strict=True)]
        }),
    ])  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=25)
    parser.add_argument("--rate", type=int, default=400, help="events a second")
    parser.add_argument("--draw", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        run = soak(Path(directory), given.minutes, given.rate)
    print(report(run))
    if given.draw:
        print(picture(run))
    return 1 if run.different else 0


if __name__ == "__main__":
    sys.exit(main())
