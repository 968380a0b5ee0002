"""One thread against several, by the clock: from a table of events to sorted rows, in one process, by turns.

    python -m bench.threads                                 100 queries, 4 million events in 10,000 groups; and one
                                                            query, 20 million events in one group
    python -m bench.threads --events 1000000 --single 4000000 --rounds 3
    python -m bench.threads --threads 4

A line is the median of each side, of the ratio of each turn, and the seconds of processors. `two alone` is what the
machine gives to two processes that have nothing to do with each other, for the same work of numpy: no thread can have
more.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

import cepc
from cepc.running.given import read_given
from cepc.running.local import run
from cepc.running.stages import Stages
from cepc_runtime.parts.at_once import cores
from cepc_runtime.parts.resources import Resources

if TYPE_CHECKING:
    from collections.abc import Sequence

TYPES: Final = [f"T{i}" for i in range(13)]
STREAM: Final = f"""STREAM events (at TIMESTAMP, kind STRING, account BIGINT, amount DOUBLE)
EVENT TIME at EVENT TYPE kind IN ({", ".join(f"'{t}'" for t in TYPES)});
"""
ONE: Final = """QUERY one RETURN COUNT(*) AS n, SUM(b.amount) AS total PATTERN SEQ(T0 a, T1 b, T2 c)
WHERE b.amount > 50 WITHIN 2 SECONDS SLIDE 1 SECOND;
"""
HOUR: Final = 3_600_000_000

WORK: Final = "import numpy as np; a = np.random.default_rng(1).random(6_000_000); [np.sort(a) for _ in range(4)]"


def queries(number: int) -> str:
    """Sequences of three or four events; of each seven one with a repetition, one with a condition between neighbours,
    and of each twenty-five one whose matches are rows.
    """
    chance = np.random.default_rng(7)
    texts = []
    for i in range(number):
        types = [str(t) for t in chance.choice(TYPES, size=int(chance.integers(3, 5)), replace=False)]
        elements = [f"{t}{'+' if i % 7 == 6 and place == 1 else ''} v{place}" for place, t in enumerate(types)]
        where = f"v0.amount > {int(chance.integers(0, 60))}"
        if i % 7 == 3:
            where += " AND v1.amount > v0.amount"
        if i % 25 == 24:
            returned, where, within = "MATCH account, v1.amount AS amount", f"[account] AND {where}", "20 MINUTES"
        else:
            returned = "account, COUNT(*) AS n, SUM(v1.amount) AS total"
            within = "20 MINUTES SLIDE 5 MINUTES"
        grouped = "" if i % 25 == 24 else " GROUP BY account"
        texts.append(
            f"QUERY q{i} RETURN {returned} PATTERN SEQ({', '.join(elements)}) WHERE {where}{grouped} WITHIN {within};\n"
        )
    return "".join(texts)


def events(number: int, groups: int, hours: float, types: int) -> Any:
    """In the order of time."""
    chance = np.random.default_rng(1)
    return pa.table(
        {
            "at": pa.array(np.sort(chance.integers(0, int(hours * HOUR), number)), pa.timestamp("us", "UTC")),
            "kind": pa.array(TYPES).take(pa.array(chance.integers(0, types, number))),
            "account": pa.array(chance.integers(0, groups, number)),
            "amount": pa.array(np.round(chance.uniform(0, 100, number), 2)),
        }
    )


def compared(name: str, text: str, table: Any, threads: int, rounds: int) -> None:
    """One line of the table, and the stages of the last turn."""
    compiled = cepc.compile(STREAM + text)

    def once(on: int) -> tuple[float, float, Stages, dict[str, Any]]:
        gc.collect()
        stages, clock, processor = Stages(), time.perf_counter(), time.process_time()
        report = run(
            compiled.program,
            lambda stream, plan: read_given(table, plan, stream.input, threads=on),
            {},
            stages=stages,
            resources=Resources(threads=on),
        )
        return time.perf_counter() - clock, time.process_time() - processor, stages, report.tables

    assert once(1)[3] == once(threads)[3], "the rows are the same"
    turns = [(once(1)[:3], once(threads)[:3]) for _ in range(rounds)]
    alone, many = ([turn[side] for turn in turns] for side in (0, 1))
    ratios = sorted(a[0] / b[0] for a, b in turns)
    print(
        f"| {name} | {_middle(alone, 0):.2f} ({_middle(alone, 1):.2f}) | {_middle(many, 0):.2f} ({_middle(many, 1):.2f})"
        f" | {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) |",
        flush=True,
    )
    for side, (_, _, stages) in zip(("1", str(threads)), turns[-1], strict=True):
        print(f"    {side}: " + ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in stages.seconds.items()))


def _middle(found: Sequence[tuple[float, float, Stages]], which: int) -> float:
    return statistics.median(one[:2][which] for one in found)


def two_alone(threads: int) -> float:
    """How many times as much is done by so many processes as by one, by the clock."""

    def seconds(number: int) -> float:
        begun = time.perf_counter()
        for process in [subprocess.Popen([sys.executable, "-c", WORK]) for _ in range(number)]:
            process.wait()
        return time.perf_counter() - begun

    return threads * seconds(1) / seconds(threads)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--events", type=int, default=4_000_000)
    asked.add_argument("--groups", type=int, default=10_000)
    asked.add_argument("--queries", type=int, default=100)
    asked.add_argument("--single", type=int, default=20_000_000)
    asked.add_argument("--threads", type=int, default=cores())
    asked.add_argument("--rounds", type=int, default=5)
    given = asked.parse_args()
    print(f"{given.threads} alone: {two_alone(given.threads):.2f} times one")
    print(f"| | 1 thread, s (of processors) | {given.threads} threads | times as fast |\n| --- | --- | --- | --- |")
    if given.events:
        name = f"{given.queries} queries, {given.events:,} events in {given.groups:,} groups"
        table = events(given.events, given.groups, 24, len(TYPES))
        compared(name, queries(given.queries), table, given.threads, given.rounds)
    if given.single:
        name = f"1 query, {given.single:,} events in one group"
        compared(name, ONE, events(given.single, 1, given.single / 360_000, 4), given.threads, given.rounds)


if __name__ == "__main__":
    main()
