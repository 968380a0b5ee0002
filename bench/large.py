"""What is large in one way: programs to check, and numbers to add.

python -m bench.large check [NAME …] [--rounds N]     seconds of a processor and memory of `cepc check`, medians
python -m bench.large sums [--rounds N]               DOUBLE from 1e-300 to 1e300 beside ordinary ones, by turns
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from bench.gains.measured import program
from bench.queries import KINDS, counted

import cepc

STREAM: Final = "STREAM s (at BIGINT, kind STRING, x DOUBLE, g INT) EVENT TIME at UNIT ms EVENT TYPE kind;\n"
LISTED: Final = f"{STREAM}QUERY q RETURN MATCH A.x AS x PATTERN A WHERE A.x IN ("


def _queries(kind: str, n: int) -> str:
    return program(KINDS[kind](n, counted))


PROGRAMS: Final[Mapping[str, Callable[[], str]]] = {
    "a statement of 249,992 words and marks": lambda: f"{LISTED}{'1, ' * 124_985}1) WITHIN 9 s;",
    "one of 6,000,000": lambda: f"{LISTED}{'1, ' * 3_000_000}1) WITHIN 9 s;",
    "3,000,000 comments": lambda: STREAM + "--\n" * 3_000_000,
    **{
        f"{n:,} queries, {kind} in common": lambda kind=kind, n=n: _queries(kind, n)  # type: ignore[misc]
        for n in (10_000, 100_000)
        for kind in KINDS
    },
}


def check(text: str, rounds: int) -> tuple[float, float]:
    """Seconds and megabytes."""
    used = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "large.cep")
        path.write_text(text)
        for _ in range(rounds):
            run = subprocess.Popen([sys.executable, "-m", "cepc", "check", str(path)], stdout=subprocess.DEVNULL)
            _, _, usage = os.wait4(run.pid, 0)
            used.append((usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024))
    return statistics.median(s for s, _ in used), statistics.median(m for _, m in used)


def sums(rounds: int, events: int = 1_000_000, groups: int = 10_000) -> dict[str, float]:
    chance = np.random.default_rng(1)
    compiled = cepc.compile(
        f"{STREAM}QUERY q RETURN g, SUM(B.x) AS s, AVG(B.x) AS a PATTERN SEQ(A, B) GROUP BY g WITHIN 10 s SLIDE 5 s;"
    )

    def table(x: Any) -> pa.Table:
        kinds = np.array(["A", "B"])[chance.integers(0, 2, events)]
        return pa.table(
            {"at": np.arange(events), "kind": kinds, "x": x, "g": chance.integers(0, groups, events, np.int32)}
        )

    given = {
        "ordinary": table(chance.normal(100, 10, events)),
        "1e-9 and 1e300": table(chance.normal(0, 1, events) * chance.choice([1e-9, 1e300], events)),
        "1e-300 to 1e300": table(chance.normal(0, 1, events) * 10.0 ** chance.uniform(-300, 300, events)),
    }
    taken: dict[str, list[float]] = {name: [] for name in given}
    for _ in range(rounds + 1):
        for name, one in given.items():
            start = time.process_time()
            compiled.run(one)
            taken[name].append(time.process_time() - start)
    return {name: statistics.median(seconds[1:]) for name, seconds in taken.items()}  # the first loads machine code


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    of_check = commands.add_parser("check")
    of_check.add_argument("names", nargs="*", metavar="NAME", help=f"beginnings of {', '.join(PROGRAMS)}")
    of_sums = commands.add_parser("sums")
    for command in (of_check, of_sums):
        command.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if given.command == "sums":
        for name, seconds in sums(given.rounds).items():
            print(f"| {name} | {seconds:.2f} |")
        return
    for name, text in PROGRAMS.items():
        if not given.names or name.startswith(tuple(given.names)):
            seconds, megabytes = check(text(), given.rounds)
            print(f"| {name} | {seconds:.1f} | {megabytes:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
