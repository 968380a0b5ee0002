"""From thousands of events to many more than memory holds: `cepc run` over Parquet, with processor time for each event
and the most memory that the process had at once.

    python -m bench.scale                                       4 and 20 million events, 1GB
    python -m bench.scale --events 4000000 100000000 --memory 1GB 8GB --threads 2

Ten queries over 10,000 groups; however many events there are, a group has as many in an hour. Every run is a process of
its own. All runs over the same events write the same bytes, which is checked.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench.threads import HOUR, STREAM, TYPES, queries

BATCH: Final = 1 << 20
IN_AN_HOUR: Final = 170_000
GROUPS: Final = 10_000


@dataclass(frozen=True)
class Took:
    """Seconds of processors, in the program and in the kernel of the system, the largest memory in bytes, and what says
    which rows were written.
    """

    user: float
    system: float
    memory: int
    rows: str


def write_events(number: int, path: Path) -> None:
    """In the order of time."""
    chance, begun, written = np.random.default_rng(1), 0, None
    for first in range(0, number, BATCH):
        many = min(BATCH, number - first)
        length = many * HOUR // IN_AN_HOUR
        table = pa.table(
            {
                "at": pa.array(begun + np.sort(chance.integers(0, length, many)), pa.timestamp("us", "UTC")),
                "kind": pa.array(TYPES).take(pa.array(chance.integers(0, len(TYPES), many))),
                "account": pa.array(chance.integers(0, GROUPS, many)),
                "amount": pa.array(np.round(chance.uniform(0, 100, many), 2)),
            }
        )
        written = written or pq.ParquetWriter(path, table.schema)
        written.write_table(table)
        begun += length
    if written is not None:
        written.close()


def took(program: Path, events: Path, folder: Path, options: list[str]) -> Took:
    """One run of the command."""
    command = [sys.executable, "-m", "cepc", "run", str(program), "--events", str(events)]
    process = subprocess.Popen([*command, "--output", str(folder), *options], stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(said)
    rows = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(folder.iterdir()))).hexdigest()
    print(f"    {said.splitlines()[-1]}")
    return Took(usage.ru_utime, usage.ru_stime, usage.ru_maxrss * 1024, rows)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--events", type=int, nargs="+", default=[4_000_000, 20_000_000])
    asked.add_argument("--memory", nargs="+", default=["1GB"])
    asked.add_argument("--threads", type=int, default=1)
    asked.add_argument("--queries", type=int, default=10)
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        program = root / "queries.cep"
        program.write_text(STREAM + queries(given.queries))
        for number in given.events:
            write_events(number, root / "events.parquet")
            found = set()
            for memory in given.memory:
                options = ["--threads", str(given.threads), "--memory", memory]
                one = took(program, root / "events.parquet", root / "rows", options)
                found.add(one.rows)
                each = (one.user + one.system) / number * 1e6
                print(
                    f"| {number:,} | {memory} | {one.user + one.system:.1f} ({one.system:.1f}) | {each:.2f} | "
                    f"{one.memory / 1e9:.2f} GB |",
                    flush=True,
                )
            assert len(found) == 1, "the rows are the same"


if __name__ == "__main__":
    main()
