"""Sharon's shape (§8): an e-commerce stream of 50 items and 20 customers, 3,000 events a second; by default 20 queries
of length 10 in windows of 200,000 events, here sliding by a tenth. What the paper's patterns have in common it does not
say. Here it is six tenths of each in the middle; or at the beginning; or everything: patterns are made of the same
bundles of five items.
"""

import random
from collections.abc import Iterator

import numpy as np
from bench.gains.measured import COUNT, Side, compare, program, stream
from bench.gains.report import Report, change, few
from bench.plots import Panel

ITEMS, CUSTOMERS, RATE = 50, 20, 3  # events in a millisecond
LENGTH = 10
BUNDLE, BUNDLES = 5, 12


def queries(count: int, length: int, window: int, common: str) -> list[str]:
    """COUNT(*) of items bought one after the other by a customer."""
    chance = random.Random(count)
    milliseconds = window // RATE // 10 * 10
    everything = common == "everything"
    patterns = bundled(chance, count, length) if everything else partly(chance, count, length, common == "middle")
    return [
        f"RETURN g, {COUNT} PATTERN SEQ({', '.join(items)}) GROUP BY g WITHIN {milliseconds} ms SLIDE {milliseconds // 10} ms"
        for items in patterns
    ]


def bundled(chance: random.Random, count: int, length: int) -> list[list[str]]:
    bundles = [[f"T{i}" for i in chance.sample(range(ITEMS), BUNDLE)] for _ in range(BUNDLES)]
    chosen = dict[tuple[int, ...], None]()
    while len(chosen) < count:
        chosen[tuple(chance.sample(range(BUNDLES), length // BUNDLE))] = None
    return [[item for bundle in several for item in bundles[bundle]] for several in chosen]


def partly(chance: random.Random, count: int, length: int, middle: bool) -> list[list[str]]:
    shared = [f"T{i}" for i in range(length * 6 // 10)]
    rest = [f"T{i}" for i in range(len(shared), ITEMS)]
    found = []
    for _ in range(count):
        own = chance.sample(rest, length - len(shared))
        head = own[: len(own) // 2] if middle else []
        found.append([*head, *shared, *own[len(head) :]])
    return found


def measured(count: int, length: int, window: int, common: str, events: int, rounds: int) -> dict[str, Side]:
    kinds = np.random.default_rng(2).integers(0, ITEMS, events)
    source = stream([f"T{i}" for i in range(ITEMS)], kinds, np.arange(events) // RATE, CUSTOMERS)
    return compare(program(queries(count, length, window, common)), source, rounds)


def report(quick: bool) -> Report:
    windows = [2_000] if quick else [200_000, 600_000, 1_200_000]
    counts = [4] if quick else [20, 40, 80, 120]
    lengths = [10] if quick else [10, 20, 30]
    rounds = 1 if quick else 3

    def lines(common: str) -> Iterator[tuple[str, int, dict[str, Side]]]:
        for count in counts:
            yield "queries", count, measured(count, LENGTH, windows[0], common, 2 * windows[0], rounds)
        for length in lengths[1:]:
            yield "length", length, measured(counts[0], length, windows[0], common, 2 * windows[0], rounds)
        for window in windows[1:]:
            yield "window", window, measured(counts[0], LENGTH, window, common, window * 3 // 2, rounds)

    rows, gains = [], dict[str, list[tuple[float, float]]]()
    works = dict[str, list[tuple[float, float]]]()
    for common in ("middle", "beginning", "everything"):
        for varied, value, found in lines(common):
            given = {"queries": counts[0], "length": LENGTH, "window": windows[0]} | {varied: value}
            o0, o2 = found["-O0"], found["-O2"]
            rows.append(
                [
                    common, f"{given['queries']}", f"{given['length']}", f"{given['window']:,}", few(o0.seconds * 1e6),
                    few(o0.seconds / found["-O1"].seconds), few(o0.seconds / o2.seconds), few(o0.kernel / o2.kernel),
                    change(o0.operations, o2.operations), change(o0.numbers, o2.numbers),
                ]
            )  # fmt: skip
            if varied == "queries":
                gains.setdefault(f"common {common}", []).append((value, o0.seconds / o2.seconds))
                gains.setdefault(f"common {common}, kernel", []).append((value, o0.kernel / o2.kernel))
                if common == "middle":
                    works.setdefault("-O0", []).append((value, o0.operations))
                works.setdefault(f"-O2, common {common}", []).append((value, o2.operations))
    head = ["in common", "queries", "length", "window", "-O0, µs", "-O1", "-O2", "kernel", "row operations", "numbers"]
    return Report(
        "sharon",
        head,
        rows,
        [
            Panel("Speed-up of -O2 over -O0", "queries", "times", gains, even=1),
            Panel("Row operations of an event", "queries", "operations", works),
        ],
    )
