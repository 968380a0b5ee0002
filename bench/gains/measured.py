"""Programs at several levels of sharing, side by side: times, and what noise cannot touch, the kernel's own counts.

The time is that of `cepc run` without reading files, from a table of events to result tables; that of the kernel is in
it. It is processor time, the median of runs by turns.
"""

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa

from cepc.api import check_text
from cepc.passes.strategy import strategy
from cepc.planning import plan_program
from cepc.shared_plans import Options, share
from cepc.statistics.measure import measure
from cepc_runtime import counting
from cepc_runtime.batch import Execution, execute
from cepc_runtime.kernel.run import Effort, count_matches

LEVELS: Mapping[str, Options] = {f"-O{level}": Options(level, seconds=None) for level in (0, 1, 2)}
SAMPLE = 20_000


@dataclass(frozen=True)
class Side:
    """One way to run a program: seconds in all and in the kernel, by the event; what the kernel did, by the event."""

    seconds: float
    kernel: float
    operations: float
    numbers: float
    effort: Effort


def compare(program: str, events: Any, rounds: int, ways: Mapping[str, Options] = LEVELS) -> dict[str, Side]:
    """The program on the events, in each of the ways; the rows of each are those of the first."""
    checked = check_text(program, "bench.cep").program
    assert checked is not None
    (alone,) = plan_program(checked).plans
    known = {alone.stream.name: measure(alone, events.slice(0, SAMPLE))}
    plans = [
        strategy(
            share(checked, alone, Options(o.level, o.without, o.optimiser, o.steps, o.seconds, known))[0].plan, "local"
        )
        for o in ways.values()
    ]
    first = [execute(plan, events) for plan in plans]  # compiles, too
    for found in first[1:]:
        same_rows(first[0].tables, found.tables)
    times: list[list[tuple[float, float]]] = [[] for _ in plans]
    for _ in range(rounds):
        for plan, of_plan in zip(plans, times, strict=True):
            of_plan.append(timed(plan, events))
    count = events.num_rows
    return {
        way: Side(
            statistics.median(total for total, _ in of_plan) / count,
            statistics.median(kernel for _, kernel in of_plan) / count,
            found.effort.operations / count,
            found.effort.numbers / count,
            found.effort,
        )
        for way, of_plan, found in zip(ways, times, first, strict=True)
    }


def timed(plan: Any, events: Any) -> tuple[float, float]:
    """Processor seconds, in all and of the kernel."""
    kernel = 0.0

    def count(*given: Any, **named: Any) -> Any:
        nonlocal kernel
        start = time.process_time()
        try:
            return count_matches(*given, **named)
        finally:
            kernel += time.process_time() - start

    with patch.object(counting, "count_matches", count):
        start = time.process_time()
        found: Execution = execute(plan, events)
        seconds = time.process_time() - start
    del found
    return seconds, kernel


def same_rows(left: Mapping[str, Any], right: Mapping[str, Any]) -> None:
    """The same rows, up to the last digits of sums."""
    assert left.keys() == right.keys()
    for name, table in left.items():
        columns = [(column, "ascending") for column in table.column_names if column in ("g", "window_start", "x")]
        one, other = table.sort_by(columns), right[name].sort_by(columns)
        assert one.num_rows == other.num_rows, name
        for column in one.column_names:
            a, b = (t.column(column).to_numpy() for t in (one, other))
            same = np.allclose(a, b, rtol=1e-9, equal_nan=True) if a.dtype == np.float64 else (a == b).all()
            assert same, f"{name}.{column}"


def stream(kinds: Sequence[str], of: Any, times: Any, groups: int, seed: int = 1) -> Any:
    """Events at these times, whose kinds are given as places in the list; x is a small whole number, g a random
    group.
    """
    chance = np.random.default_rng(seed)
    return pa.table(
        {
            "at": pa.array(np.asarray(times, dtype=np.int64)),
            "kind": pa.DictionaryArray.from_arrays(pa.array(np.asarray(of, dtype=np.int32)), pa.array(kinds)),
            "x": pa.array(chance.integers(0, 100, len(of)).astype(float)),
            "g": pa.array(chance.integers(0, groups, len(of)).astype(np.int32)),
        }
    )


HEADER = "STREAM s (at BIGINT, kind STRING, x DOUBLE, g INT) EVENT TIME at UNIT ms EVENT TYPE kind;\n"
COUNT = "CAST(COUNT(*) AS DOUBLE) AS n"
"""Counts of long patterns pass 64 bits; as a DOUBLE they need not be exact, which both sides would spend their time
on.
"""


def program(queries: Sequence[str]) -> str:
    return HEADER + "\n".join(f"QUERY q{i} {query};" for i, query in enumerate(queries))
