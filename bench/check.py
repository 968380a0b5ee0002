"""How long 1,000 queries take to check, beside parsing them alone and beside `python -c pass`, measured in the same
run.

The queries are shaped like Gloria's workloads: a private head, four shared rare types under a (nested) Kleene plus, a
private tail; windows of 5 to 20 minutes that slide by 5. Each round runs every stage once, so that a busy moment of
the machine falls on all of them; the figures are medians over the rounds.

    python bench/check.py [--queries N] [--rounds N]
"""

import argparse
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from cepc.api import check_text
from cepc_grammar.parser import parse
from cepc_grammar.source import Source

STREAM = """\
STREAM stocks (at TIMESTAMP, company STRING, open DOUBLE, vol BIGINT, open_level INT)
EVENT TIME at
EVENT TYPE company;

"""
SHARED = ("S1", "S2", "S3", "S4")


def workload(queries: int, seed: int = 0) -> str:
    """A program of so many queries in the papers' bare form, after its stream."""
    chance = random.Random(seed)
    return STREAM + "\n".join(_query(i, chance) for i in range(queries))


def _query(number: int, chance: random.Random) -> str:
    head = [f"H{number}_{i}" for i in range(chance.randint(1, 3))]
    tail = [f"L{number}_{i}" for i in range(chance.randint(1, 3))]
    shared = ", ".join(SHARED)
    for _ in range(
        chance.randint(1, 5) if chance.randrange(7) else 0
    ):  # sequence to Kleene as 6 to 1 in a mixed workload
        shared = f"SEQ({shared})+"
    first = head[0]
    return (
        f"q{number}\n"
        f"RETURN {first}.open_level, AVG({first}.open)\n"
        f"PATTERN SEQ({', '.join(head)}, {shared}, {', '.join(tail)})\n"
        f"WHERE {first}.vol > {chance.randrange(1000)}\n"
        f"GROUP-BY {first}.open_level\n"
        f"WITHIN {5 * chance.randint(1, 4)} min SLIDE 5 min\n"
    )


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(text: str, rounds: int) -> dict[str, float]:
    """Median seconds by stage, after one round that only warms caches."""
    if errors := check_text(text).errors:
        sys.exit(f"the workload has errors: {errors[0].title}")
    stages: dict[str, Callable[[], object]] = {
        "python -c pass": lambda: subprocess.run([sys.executable, "-c", "pass"], check=True),
        "parse": lambda: parse(Source("workload.cep", text)),
        "parse and check": lambda: check_text(text),
    }
    times: dict[str, list[float]] = {name: [] for name in stages}
    for _ in range(rounds):
        for name, work in stages.items():
            times[name].append(seconds(work))
    return {name: statistics.median(values) for name, values in times.items()}


def report(queries: int, medians: dict[str, float]) -> str:
    """One line for each stage: its ratio to an empty Python, its ratio to parsing, and milliseconds a query."""
    floor, parsing = medians["python -c pass"], medians["parse"]
    lines = [f"{queries} queries", f"{'stage':<18}{'/ pass':>9}{'/ parse':>9}{'ms a query':>12}"]
    for name, value in medians.items():
        lines.append(f"{name:<18}{value / floor:>8.1f}x{value / parsing:>8.2f}x{value * 1000 / queries:>12.2f}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="the time to check a workload, beside the time to parse it")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    print(report(arguments.queries, measure(workload(arguments.queries), arguments.rounds)))


if __name__ == "__main__":
    main()
