"""100 queries over windows of 5 to 60 minutes that slide by 1 to 10."""

import numpy as np
from bench.gains.measured import COUNT, Side, compare, program, stream
from bench.gains.report import Report, change, few
from bench.plots import Panel

QUERIES = 100
PATTERNS = {"sequence": "SEQ(A, B, C)", "Kleene": "SEQ(A, B+, C)"}


def queries(pattern: str, count: int = QUERIES) -> list[str]:
    total = (
        ", SUM(B.x) AS s" if pattern == "sequence" else ""
    )  # a Kleene's is past any float, and is then counted again
    return [
        f"RETURN g, {COUNT}{total} PATTERN {PATTERNS[pattern]} GROUP BY g WITHIN {5 + i % 56} min SLIDE {1 + i % 10} min"
        for i in range(count)
    ]


def measured(pattern: str, rate: float, events: int, groups: int, rounds: int) -> dict[str, Side]:
    """`rate` is events a minute in each group."""
    kinds = np.random.default_rng(2).integers(0, 4, events)
    source = stream(list("ABCD"), kinds, np.arange(events) * 60_000 / (rate * groups), groups)
    return compare(program(queries(pattern)), source, rounds)


def report(quick: bool) -> Report:
    rows = []
    gains, works = dict[str, list[tuple[float, float]]](), dict[str, list[tuple[float, float]]]()
    for pattern in PATTERNS:
        for rate in (100,) if quick else (10, 100, 1_000, 10_000):
            found = measured(pattern, rate, 5_000 if quick else 150_000, 4, 1 if quick else 3)
            o0, o1, o2 = found.values()
            rows.append(
                [
                    PATTERNS[pattern], f"{rate:,}", few(o0.seconds * 1e6), few(o0.seconds / o1.seconds),
                    few(o0.seconds / o2.seconds), few(o0.kernel / o2.kernel), change(o0.operations, o2.operations),
                    change(o0.numbers, o2.numbers),
                ]
            )  # fmt: skip
            gains.setdefault(pattern, []).append((rate, o0.seconds / o2.seconds))
            gains.setdefault(f"{pattern}, kernel", []).append((rate, o0.kernel / o2.kernel))
            if pattern == "sequence":
                works.setdefault("-O0", []).append((rate, o0.numbers))
            works.setdefault(f"-O2, {pattern}", []).append((rate, o2.numbers))
    head = ["pattern", "events a minute", "-O0, µs", "-O1", "-O2", "kernel", "row operations", "numbers"]
    return Report(
        "windows",
        head,
        rows,
        [
            Panel("Speed-up of -O2 over -O0", "events a minute", "times", gains, log_x=True, even=1),
            Panel("Numbers an event changes", "events a minute", "numbers", works, log_x=True, log_y=True),
        ],
    )
