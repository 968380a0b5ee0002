"""Whole Spark jobs against their floor, from the start of the JVM to its end: what `spark-submit` takes of both.

The jobs are those of `bench.spark_batch`, which compares them within one session that is warm. The floor is the same
text with a kernel that reads its input and gives nothing. They take turns; medians of processor time, all processes
that a job starts together.

    python -m bench.whole_jobs
    python -m bench.whole_jobs --more-than 300 --turns 3
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from inspect import getsource
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow.parquet as pq
import pyspark
from bench.processors import Took
from bench.spark_batch import empty, generate, workload

import cepc
from cepc.codegen.compiling import job_of
from cepc.java import spark_environment

if TYPE_CHECKING:
    from collections.abc import Mapping

_SUBREAPER: Final = 36
"""PR_SET_CHILD_SUBREAPER of Linux: a worker that outlives the process that forked it becomes a child of this one."""


def floor_of(job: str) -> str:
    """The text of a job whose kernel does nothing."""
    head, gap, rest = job.partition("\n\n\n")
    return head + gap + getsource(empty) + gap + rest.replace("job.kernel(", "empty(")


def submitted(job: Path, events: Path, rows: Path, environment: Mapping[str, str]) -> Took:
    """What a job took until all that it had started had ended."""
    shutil.rmtree(rows, ignore_errors=True)
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    clock, before = time.perf_counter(), _of_children()
    command = [submit, "--driver-memory", "4g", job, "--input", events, "--output", rows]
    subprocess.run([*map(str, command)], env=environment, check=True, stderr=subprocess.DEVNULL)
    taken = time.perf_counter() - clock
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            break
    return Took(taken, _of_children() - before)


def _of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def rows_in(folder: Path) -> int:
    return sum(pq.ParquetFile(file).metadata.num_rows for file in folder.rglob("*.parquet"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=4_000_000)
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--more-than", type=int, help="rows only where there are more matches")
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--turns", type=int, default=5)
    arguments = parser.parse_args()
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    environment = os.environ | spark_environment() | {"PYSPARK_PYTHON": sys.executable}
    compiled = cepc.compile(workload(arguments.queries, arguments.more_than))
    text = job_of(compiled.program, compiled.checked.sources).text
    taken: dict[str, list[Took]] = {"job": [], "floor": []}
    with tempfile.TemporaryDirectory() as folder:
        events, rows = Path(folder, "events"), Path(folder, "rows")
        generate(events, arguments.events, arguments.groups, arguments.hours)
        for name, source in (("job", text), ("floor", floor_of(text))):
            Path(folder, f"{name}.py").write_text(source)
        for turn in range(arguments.turns):
            for name, times in taken.items():
                times.append(submitted(Path(folder, f"{name}.py"), events, rows, environment))
                print(f"turn {turn + 1}, {name}: {times[-1].processor:.1f} s, {rows_in(rows):,} rows", flush=True)
    job, floor = (statistics.median(one.processor for one in taken[name]) for name in ("job", "floor"))
    clocks = [statistics.median(one.clock for one in taken[name]) for name in ("job", "floor")]
    print(
        f"whole jobs: {job / floor:.2f} times the floor ({job:.0f} s and {floor:.0f} s of processors,"
        f" {clocks[0]:.0f} s and {clocks[1]:.0f} s)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
