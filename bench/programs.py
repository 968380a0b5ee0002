"""Whole programs, each query by itself (-O0), with what is free (-O1), and as planned (-O2), side by side in one run.

The time is that of `cepc run` without reading files: from a table of events to result tables. Beside it stand what noise
cannot touch: row operations of the kernel, and numbers that they changed. The rows are compared, too.

    python bench/programs.py [--events N] [--runs N]
"""

import argparse
import random
import statistics
import time
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cepc import model
from cepc.api import check_text
from cepc.planning import plan_program
from cepc.sharing import Options, share
from cepc.statistics.measure import measure
from cepc_runtime.execute import execute

STREAM = "STREAM s (at BIGINT, kind STRING, x DOUBLE, g INT) EVENT TIME at UNIT ms EVENT TYPE kind;\n"
COUNT = "CAST(COUNT(*) AS DOUBLE) AS n"


@dataclass(frozen=True)
class Workload:
    title: str
    queries: list[str]
    types: list[str]
    chances: list[float] | None
    rate: float  # events a second
    groups: int = 1

    def program(self) -> model.CheckedProgram:
        named = (f"QUERY q{i} {query};" for i, query in enumerate(self.queries))
        program = check_text(STREAM + "\n".join(named), "bench.cep").program
        assert program is not None
        return program

    def events(self, count: int) -> pa.Table:
        chance = np.random.default_rng(1)
        return pa.table(
            {
                "at": pa.array((np.arange(count) * (1000 / self.rate)).astype(np.int64)),
                "kind": pa.array(chance.choice(self.types, count, p=self.chances)),
                "x": pa.array(chance.integers(0, 100, count).astype(float)),
                "g": pa.array(chance.integers(0, self.groups, count), pa.int32()),
            }
        )


def workloads() -> list[Workload]:
    chance = random.Random(1)
    windows = [
        f"RETURN {COUNT}, SUM(A.x) AS s PATTERN SEQ(A, B, C) WITHIN {5 + i % 56} min SLIDE {1 + i % 10} min"
        for i in range(100)
    ]
    items = [f"T{i}" for i in range(20)]
    sequences = [
        f"RETURN {COUNT} PATTERN SEQ({', '.join([*chance.sample(items[:10], 3), *items[10:14], *chance.sample(items[14:], 3)])})"
        " WITHIN 10 min SLIDE 1 min"
        for _ in range(60)
    ]
    same = [
        f"RETURN {COUNT}, AVG(T{i % 10}.x) AS a PATTERN SEQ(T0, T1, T2, T3, T{4 + i % 6}) WITHIN 10 min SLIDE 1 min"
        for i in range(60)
        if i % 10 < 4
    ]
    nested = [
        f"RETURN g, {COUNT}, AVG(H{i % 10}.x) AS a PATTERN SEQ(H{i % 10}, SEQ(S1, S2)+, L{i // 10})"
        f" GROUP BY g WITHIN {5 * (1 + i % 4)} min SLIDE 5 min"
        for i in range(60)
    ]
    rare = [f"H{i}" for i in range(10)] + [f"L{i}" for i in range(6)]
    return [
        Workload("100 queries, windows of 5 to 60 min by 1 to 10", windows, list("ABCD"), None, 100),
        Workload("60 sequences of 10 with 4 in common (Sharon)", sequences, items, None, 100),
        Workload("24 sequences of 5 that begin alike", same, items, None, 100),
        Workload(
            "60 nested Kleene, own heads, 6 tails (Gloria)",
            nested,
            [*rare, "S1", "S2"],
            [0.005] * 16 + [0.46] * 2,
            2,
            4,
        ),
    ]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--events", type=int, default=400_000)
    arguments.add_argument("--runs", type=int, default=5)
    given = arguments.parse_args()
    print(f"{'':50}{'µs/event':>10}{'speed-up':>10}{'row operations':>16}{'numbers':>10}")
    for workload in workloads():
        program, events = workload.program(), workload.events(given.events)
        (alone,) = plan_program(program).plans
        known = {"s": measure(alone, events.slice(0, 20_000))}
        plans = [share(program, alone, Options(level, seconds=None, statistics=known))[0].plan for level in (0, 1, 2)]
        found = [execute(plan, events) for plan in plans]  # compiles, too
        times: list[list[float]] = [[] for _ in plans]
        for _ in range(given.runs):
            for plan, of_plan in zip(plans, times, strict=True):
                start = time.process_time()
                execute(plan, events)
                of_plan.append(time.process_time() - start)
        medians = [statistics.median(of_plan) for of_plan in times]
        print(workload.title)
        for level, (seconds, execution) in enumerate(zip(medians, found, strict=True)):
            for name, table in execution.tables.items():
                check(name, found[0].tables[name], table)
            effort = execution.effort
            print(
                f"{f'  -O{level}':50}{seconds / given.events * 1e6:10.2f}{medians[0] / seconds:9.1f}×"
                f"{effort.operations / given.events:16.2f}{effort.numbers / given.events:10.0f}"
            )


def check(name: str, left: pa.Table, right: pa.Table) -> None:
    """The same rows, up to the last digits of sums."""
    keys = [(column, "ascending") for column in left.column_names if column in ("g", "window_start")]
    left, right = left.sort_by(keys), right.sort_by(keys)
    assert left.num_rows == right.num_rows, name
    for column in left.column_names:
        a, b = (t.column(column).to_numpy() for t in (left, right))
        same = np.allclose(a, b, rtol=1e-9, equal_nan=True) if a.dtype == np.float64 else (a == b).all()
        assert same, f"{name}.{column}"


if __name__ == "__main__":
    main()
