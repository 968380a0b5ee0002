"""Gloria's mixed workloads (§8.3): 12 to 120 queries, six sequences to one nested Kleene, each with a head and a tail
of its own around what all share, under windows of 5 to 20 minutes that slide by 5.

The frequencies of types are those of `bench/gloria_workloads.py`, shared types rare and private ones frequent; and
turned round, so that four of five events are of shared types.
"""

import numpy as np
from bench.gains.measured import COUNT, LEVELS, Side, compare, program, stream
from bench.gains.report import Report, change, few
from bench.gloria_workloads import mixed, written
from bench.plots import Panel

from cepc.shared_plans import Options

RATE, GROUPS = 10, 4  # events a second, over all groups
WAYS = {**LEVELS, "greedy": Options(2, optimiser="greedy", seconds=None)}


def measured(count: int, frequent: bool, events: int, rounds: int) -> dict[str, Side]:
    workload = mixed(count, length=3, nesting=2)
    letters = sorted(workload.rates)
    rates = np.array([workload.rates[letter] for letter in letters])
    if frequent:
        shared = np.isin(letters, workload.shared)
        rates = np.where(shared, rates * 4 * rates[~shared].sum() / rates[shared].sum(), rates)
    kinds = np.random.default_rng(3).choice(len(letters), events, p=rates / rates.sum())
    queries = [
        f"RETURN g, {COUNT} PATTERN {written(made.pattern)} GROUP BY g WITHIN {made.minutes} min SLIDE 5 min"
        for made in workload.made
    ]
    source = stream([f"T{i}" for i in letters], kinds, np.arange(events) * 1000 // RATE, GROUPS)
    return compare(program(queries), source, rounds, WAYS)


def report(quick: bool) -> Report:
    rows = []
    gains, works = dict[str, list[tuple[float, float]]](), dict[str, list[tuple[float, float]]]()
    for frequent in (False, True):
        name = "shared types frequent" if frequent else "shared types rare"
        for count in (14,) if quick else (12, 48, 84, 120):
            found = measured(count, frequent, 5_000 if quick else 40_000, 1 if quick else 3)
            o0, o2, greedy = found["-O0"], found["-O2"], found["greedy"]
            rows.append(
                [
                    "frequent" if frequent else "rare", f"{count}", few(o0.seconds * 1e6),
                    few(o0.seconds / found["-O1"].seconds), few(o0.seconds / greedy.seconds), few(o0.seconds / o2.seconds),
                    few(o0.kernel / o2.kernel), f"{1 - o2.kernel / o0.kernel:.0%}",
                    change(o0.operations, o2.operations), change(o0.numbers, o2.numbers),
                ]
            )  # fmt: skip
            gains.setdefault(name, []).append((count, o0.seconds / o2.seconds))
            gains.setdefault(f"{name}, kernel", []).append((count, o0.kernel / o2.kernel))
            works.setdefault(f"-O0, {name}", []).append((count, o0.operations))
            works.setdefault(f"-O2, {name}", []).append((count, o2.operations))
    head = [
        "shared types", "queries", "-O0, µs", "-O1", "greedy", "-O2", "kernel", "less in the kernel", "row operations", "numbers",
    ]  # fmt: skip
    return Report(
        "gloria",
        head,
        rows,
        [
            Panel("Speed-up of -O2 over -O0", "queries", "times", gains, even=1),
            Panel("Row operations of an event", "queries", "operations", works, log_y=True),
        ],
    )
