"""Groups of few events: what sharing costs where there is little to share it over."""

import numpy as np
from bench.gains.measured import Side, compare, program, stream
from bench.gains.report import Report, change, few
from bench.gains.windows import PATTERNS, QUERIES, queries
from bench.plots import Panel


def measured(pattern: str, size: int, events: int, rounds: int) -> dict[str, Side]:
    """Groups of `size` events, an event a minute in each."""
    groups = events // size
    kinds = np.random.default_rng(2).integers(0, 4, events)
    return compare(
        program(queries(pattern, QUERIES)),
        stream(list("ABCD"), kinds, np.arange(events) * 60_000 // groups, groups),
        rounds,
    )


def report(quick: bool) -> Report:
    rows = []
    gains = dict[str, list[tuple[float, float]]]()
    works = dict[str, list[tuple[float, float]]]()
    for pattern in PATTERNS:
        for size in (10,) if quick else (3, 10, 30, 100, 300):
            found = measured(pattern, size, 2_000 if quick else 60_000, 1 if quick else 3)
            o0, o1, o2 = found.values()
            rows.append(
                [
                    PATTERNS[pattern], f"{size}", few(o0.seconds * 1e6), few(o0.seconds / o1.seconds),
                    few(o0.seconds / o2.seconds), few(o0.kernel / o2.kernel), change(o0.operations, o2.operations),
                    change(o0.numbers, o2.numbers),
                ]
            )  # fmt: skip
            gains.setdefault(pattern, []).append((size, o0.seconds / o2.seconds))
            gains.setdefault(f"{pattern}, kernel", []).append((size, o0.kernel / o2.kernel))
            works.setdefault(f"-O0, {pattern}", []).append((size, o0.operations))
            works.setdefault(f"-O2, {pattern}", []).append((size, o2.operations))
    head = ["pattern", "events of a group", "-O0, µs", "-O1", "-O2", "kernel", "row operations", "numbers"]
    return Report(
        "groups",
        head,
        rows,
        [
            Panel("Speed-up of -O2 over -O0", "events of a group", "times", gains, log_x=True, even=1),
            Panel("Row operations of an event", "events of a group", "operations", works, log_x=True, log_y=True),
        ],
    )
