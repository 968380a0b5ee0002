"""Counts of `SEQ(A, B)` by account and hour over events of Parquet: `cepc run`, and by hand with DuckDB, polars and
numpy. Each is a whole process, start included, from the file to a file of rows for each count.

The sides take turns; a first turn, which is not counted, warms caches and keeps bytecode. Every side's rows are
compared with cepc's, and the run stops where one differs. `--python` is one that has duckdb and polars.

    python -m bench.pairs [--python PATH] [--events N] [--counts 1 10]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from bench.pairs import events
from bench.startup import environment

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
MEASURED = """import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
sys.exit(code)"""
"""Between this process and a side, since a process begins with the peak of memory of the one that starts it."""


@dataclass(frozen=True)
class Cost:
    """Of a whole process: seconds of processors, and megabytes of memory at most."""

    seconds: float
    memory: float


def sides(python: str, folder: Path, pairs: Sequence[str]) -> dict[str, list[str]]:
    """The command of each side, which writes into the folder of its name."""
    data = str(folder / "events.parquet")
    (folder / "pairs.cep").write_text(events.program(pairs), encoding="utf-8")
    by_hand = {
        "DuckDB, a statement each": [str(HERE / "by_duckdb.py"), "each"],
        "DuckDB, one statement": [str(HERE / "by_duckdb.py"), "together"],
        "polars": [str(HERE / "by_polars.py")],
        "numpy": [str(HERE / "by_numpy.py")],
    }
    if len(pairs) == 1:
        del by_hand["DuckDB, one statement"]
    ours = [sys.executable, "-m", "cepc", "run", str(folder / "pairs.cep"), "--events", data, "--output"]
    return {"cepc": [*ours, str(folder / "cepc")]} | {
        name: [python, *command, data, str(folder / name), *pairs] for name, command in by_hand.items()
    }


def cost(command: Sequence[str], env: dict[str, str]) -> Cost:
    """Of one run. Ends the program where it fails."""
    done = subprocess.run([sys.executable, "-c", MEASURED, *command], env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    seconds, kilobytes = map(float, done.stdout.splitlines()[-1].split())
    return Cost(seconds, kilobytes / 1024)


def rows(path: Path) -> Any:
    """The rows of a count, in one order."""
    table = pq.read_table(path)
    start = "window_start" if "window_start" in table.column_names else "start"
    table = pa.table({"account": table["account"], "start": table[start], "n": table["n"]})
    return table.sort_by([("start", "ascending"), ("account", "ascending")]).combine_chunks()


def same(side: str, folder: Path, pairs: Sequence[str]) -> None:
    for number, pair in enumerate(pairs):
        expected, found = (rows(folder / name / f"q{number}.parquet") for name in ("cepc", side))
        if not found.cast(expected.schema).equals(expected):
            sys.exit(f"{pair}: {side} has other rows than cepc")


def compared(given: argparse.Namespace, folder: Path, pairs: Sequence[str]) -> None:
    """One column of the table."""
    env = environment(str(folder / "bytecode"))
    commands = sides(given.python, folder, pairs)
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for turn in range(given.rounds + 1):
        for name, command in commands.items():
            (folder / name).mkdir(exist_ok=True)
            used = cost(command, env)
            if turn:
                costs[name].append(used)
            else:
                same(name, folder, pairs)
    print(f"{len(pairs)} of them: processor seconds, megabytes", flush=True)
    for name, found in costs.items():
        print(
            f"  {name:<26}{median(c.seconds for c in found):>7.2f}{median(c.memory for c in found):>9,.0f}", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--events", type=int, default=4_000_000)
    parser.add_argument("--accounts", type=int, default=5_000)
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        events.write(given.events, given.accounts, folder / "events.parquet")
        for count in given.counts:
            compared(given, folder, events.PAIRS[:count])


if __name__ == "__main__":
    main()
