"""A running job is killed, driver or Python worker, at random moments, and started again until it ends: rows are still those of a
batch. By hand: `python -m tests.stream_kills --kills 30`.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

import cepc
from cepc.api import check_text
from cepc.codegen.compiling import job_of
from cepc.java import spark_environment
from tests.equivalence import same

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = """STREAM s (at BIGINT, kind STRING, k BIGINT, x INT)
EVENT TIME at UNIT s WATERMARK 5 SECONDS EVENT TYPE kind IN ('A', 'B', 'C');
QUERY counted RETURN k, COUNT(*) AS n, SUM(A.x) AS x PATTERN SEQ(A, B) GROUP BY k WITHIN 20 s SLIDE 10 s;
QUERY listed RETURN k, A.at AS since, B.x PATTERN SEQ(A, B) WHERE [k] WITHIN 3 s;
QUERY absent RETURN k, A.at AS since PATTERN SEQ(A, NOT C WITHIN 9 s) WHERE [k] WITHIN 3 s;
"""
SCHEMA = pa.schema([("at", pa.int64()), ("kind", pa.string()), ("k", pa.int64()), ("x", pa.int32())])


@dataclass(frozen=True)
class Killed:
    """How the runs went, and the queries whose rows were not those of a batch."""

    drivers: int
    workers: int
    runs: int
    different: tuple[str, ...]


def events(files: int, seed: int) -> list[pa.Table]:
    """A few hundred events a file, in any order within the watermark."""
    chance = random.Random(seed)
    rows: list[dict[str, Any]] = [
        {"at": second, "kind": chance.choice("ABC"), "k": chance.randrange(20), "x": chance.choice((1, 2, None))}
        for second in range(files * 10)
        for _ in range(20)
    ]
    rows.sort(key=lambda row: row["at"] + chance.uniform(0, 5))
    each = len(rows) // files
    return [pa.Table.from_pylist(rows[i * each : (i + 1) * each], schema=SCHEMA) for i in range(files)]


def run(
    folder: Path, kills: int, files: int, seed: int = 1, tell: Callable[[int, int], object] = lambda *_: None
) -> Killed:
    """Kill the job so often, if it lives so long, and then let it end. `tell` hears how many were killed, drivers and workers."""
    chance = random.Random(seed)
    tables = events(files, seed)
    (folder / "in").mkdir()
    for number, table in enumerate(tables):
        pq.write_table(table, folder / "in" / f"{number}.parquet")
        os.utime(folder / "in" / f"{number}.parquet", (1_000_000 + number, 1_000_000 + number))
    checked = check_text(PROGRAM)
    assert checked.program is not None
    (folder / "job.py").write_text(job_of(checked.program, checked.sources).text)
    drivers = workers = runs = 0
    while True:
        runs += 1
        job = _start(folder)
        while drivers + workers < kills and _wait(job, folder, chance):
            # By turns, if there is a worker: on a local master a task that loses one fails the job, elsewhere Spark tries again.
            # The loss of one that has no task is nothing, and the run goes on.
            found = [pid for pid in _descendants(job.pid) if "pyspark.daemon" in _command(pid)]
            if found and workers <= drivers:
                _kill(chance.choice(found))
                workers += 1
            else:
                for pid in [job.pid, *_descendants(job.pid)]:
                    _kill(pid)
                drivers += 1
            tell(drivers, workers)
        code = job.wait(300)
        _end(job)
        if code == 0:
            break
        assert runs < kills + 10, (folder / "stderr").read_text()[-3000:]
    expected = cepc.compile(PROGRAM).run(pa.concat_tables(tables))
    return Killed(
        drivers, workers, runs, tuple(n for n, t in expected.items() if not same(_rows(folder, n, t), t.to_pylist()))
    )


def _rows(folder: Path, query: str, expected: Any) -> list[dict[str, Any]]:
    table = pq.read_table(folder / "out" / query).drop_columns(["batch"])
    found: list[dict[str, Any]] = table.cast(expected.schema).to_pylist()
    return found


def _start(folder: Path) -> subprocess.Popen[bytes]:
    command = (
        f"{sys.executable} {folder}/job.py --mode stream --checkpoint {folder}/checkpoint --trigger available-now --flush"
        f" --input {folder}/in --format parquet --option maxFilesPerTrigger=1 --output {folder}/out --buckets 2"
    )
    environment = {**os.environ, **spark_environment(), "PYSPARK_SUBMIT_ARGS": _SUBMIT}
    with (folder / "stderr").open("wb") as said:
        return subprocess.Popen(command.split(), stdout=subprocess.DEVNULL, stderr=said, env=environment)


_SUBMIT = (
    "--master local[2] --conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=2 --conf spark.driver.host=127.0.0.1"
    " --conf spark.driver.bindAddress=127.0.0.1 pyspark-shell"
)


def _wait(job: subprocess.Popen[bytes], folder: Path, chance: random.Random) -> bool:
    """Until there are Python workers, or some micro-batches have ended, and a little more; False if the job ended before."""
    wanted, begun = chance.randrange(3), time.monotonic()
    while time.monotonic() < begun + 120:
        if job.poll() is not None:
            return False
        ended = (folder / "stderr").read_bytes().count(b'"batch"')
        if ended >= wanted and any("pyspark.daemon" in _command(pid) for pid in _descendants(job.pid)):
            break
        time.sleep(0.2)
    time.sleep(chance.uniform(0, 4))
    return job.poll() is None


def _descendants(pid: int) -> list[int]:
    """Of a process that this one started: children, and theirs."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        children = [child for child, parent in parents.items() if parent == one]
        found += children
        waiting += children
    return found


def _command(pid: int) -> str:
    try:
        return (Path("/proc") / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _end(job: subprocess.Popen[bytes]) -> None:
    for pid in _descendants(job.pid):
        _kill(pid)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        print(run(Path(directory), given.kills, given.files, given.seed, lambda *so_far: print(*so_far, flush=True)))


if __name__ == "__main__":
    main()
