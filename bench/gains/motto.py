"""MOTTO's workloads (§VII): match queries over 13 types with windows of 10 s, first of each of the seven kinds of
sharing alone, then mixed, with a basic share (kinds 1 to 4) of 0 to 100 %. `bench/motto.py` makes them, and has more on
finding plans.

What is measured are the queries that share. Unshared is each of them by itself, once by the same joins, once by the
search that -O0 takes; work is the candidates that joins look at. Matches are found and not made into rows, which costs
the same on all sides.
"""

import statistics
import time
from typing import TYPE_CHECKING, Any

from bench.gains.report import Report, few
from bench.motto import Execution, of_kind, stream, workload
from bench.plots import Panel

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = ("prefix", "suffix", "subsequence", "common part", "other window", "other operator", "nested")
PER_WINDOW = 1.0  # events of a type in a window


def measured(text: str, events: int, rounds: int) -> dict[str, Any] | None:
    """Seconds and candidates of each way, or None if nothing is shared."""
    one = Execution(text, stream(events, PER_WINDOW), PER_WINDOW)
    if one.shared is None:
        return None
    shared = one.shared
    ways: dict[str, Callable[[], Any]] = {
        "shared": lambda: one.by_joins(shared),
        "joins": lambda: one.by_joins(one.alone),
        "search": lambda: one.by_search(one.names),
    }
    one.by_joins(shared)  # what all ways have in common is computed when it is first asked for
    times: dict[str, list[float]] = {name: [] for name in ways}
    found: dict[str, Any] = {}
    for _ in range(rounds):
        for name, run in ways.items():
            start = time.process_time()
            found[name] = run()
            times[name].append(time.process_time() - start)
    assert found["shared"][0] == found["joins"][0] == found["search"][0], "the ways disagree"
    return {
        "sharing": len(one.names),
        "parts": len(shared.parts),
        "matches": found["shared"][0].total(),
        "seconds": {name: statistics.median(several) for name, several in times.items()},
        "tried": {name: tried for name, (_, tried) in found.items()},
    }


def report(quick: bool) -> Report:
    count, events, rounds = (10, 3_000, 1) if quick else (100, 40_000, 3)
    cases: list[tuple[str, float, str]] = [
        (f"kind {kind}: {name}", kind, of_kind(count, kind)) for kind, name in enumerate(KINDS, start=1)
    ]
    cases += [(f"basic share {share} %", share, workload(count, share / 100)) for share in (0, 25, 50, 75, 100)]
    rows = []
    kinds, shares = dict[str, list[tuple[float, float]]](), dict[str, list[tuple[float, float]]]()
    for title, value, text in cases:
        found = measured(text, events, rounds)
        if found is None:
            rows.append([title, "0", *["–"] * 6])
            continue
        seconds, tried = found["seconds"], found["tried"]
        gains = {
            "candidates": tried["joins"] / tried["shared"],
            "time, of the same joins": seconds["joins"] / seconds["shared"],
            "time, of -O0": seconds["search"] / seconds["shared"],
        }
        rows.append(
            [
                title, f"{found['sharing']}", f"{found['parts']}", f"{found['matches']:,}",
                f"{tried['joins']:,} → {tried['shared']:,}", *map(few, gains.values()),
            ]
        )  # fmt: skip
        for name, gain in gains.items():
            (kinds if title.startswith("kind") else shares).setdefault(name, []).append((value, gain))
    head = [
        "workload", "sharing", "parts", "matches", "candidates", "less of them", "speed-up over the same joins", "over -O0",
    ]  # fmt: skip
    return Report(
        "motto",
        head,
        rows,
        [
            Panel("Each kind alone", "kind", "times", kinds, even=1),
            Panel("Mixed", "basic share, %", "times", shares, even=1),
        ],
    )
