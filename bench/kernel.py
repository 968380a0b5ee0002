"""What the counting kernel costs: `python bench/kernel.py [--quick]`.

Each number is the median of several runs in one process, in CPU time; each ratio is of two such numbers, measured side
by side.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cepc_runtime.batch import execute
from cepc_runtime.events.grouped import Events, arrange, read
from cepc_runtime.events.letters import Kinds, classify
from cepc_runtime.kernel.run import count_matches
from cepc_runtime.plan.automaton import Automaton, Step
from cepc_runtime.plan.physical import PhysicalPlan
from cepc_runtime.plan.positions import Positions
from cepc_runtime.plan.query import Measure, OutputPlan
from cepc_runtime.plan.select import SelectAny
from cepc_runtime.plan.strategy import AdjacentCondition, Count, CountedQuery, CountNeighbours, QueryBy
from cepc_runtime.plan.stream import Letter, StreamPlan
from cepc_runtime.plan.windows import Sliding, Unbounded
from cepc_runtime.sql.aggregate_functions import AVG, COUNT, MAX, MIN, SUM
from cepc_runtime.sql.expression import Aggregate, Call, Field
from cepc_runtime.sql.types import BIGINT, BOOLEAN, DOUBLE, INT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

QUICK = "--quick" in sys.argv
RUNS = 3 if QUICK else 5

TYPES = tuple(f"T{i}" for i in range(20))
LETTERS = tuple(Letter(name) for name in TYPES)
X = Field("v0", "x", "each", BIGINT)
MEASURES = {
    "COUNT(*)": (),
    "COUNT(*), SUM": (Measure(SUM, "v0", X),),
    "COUNT(*), SUM, MIN, MAX": (Measure(SUM, "v0", X), Measure(MIN, "v0", X), Measure(MAX, "v0", X)),
}


def stream() -> StreamPlan:
    columns = (("t", BIGINT), ("type", INT), ("g", BIGINT), ("x", BIGINT))
    return StreamPlan("s", columns, ("t", "type", "g", "x"), "t", "s", (), "type", None, None)


def table(events: int, groups: int, types: int = 20, ties: int = 1) -> Any:
    """Groups of equal size, one after the other, whose events are 10 ticks apart and of random types; `ties` of them
    share a tick.
    """
    rng = np.random.default_rng(7)
    size = events // groups
    ticks = np.tile(np.arange(size) // ties * ties * 10, groups)
    kinds = pa.DictionaryArray.from_arrays(
        pa.array(rng.integers(0, types, size * groups, dtype=np.int32)), pa.array(TYPES[:types])
    )
    keys = np.repeat(np.arange(groups), size)
    return pa.table({"t": ticks, "type": kinds, "g": keys, "x": rng.integers(0, 1000, size * groups)})


def query(
    types: Sequence[int], loop_at: int | None, windows: int, measures: tuple[Measure, ...] = (), **more: Any
) -> CountedQuery:
    """SEQ of the types, one of them repeated, over so many windows of 200 ticks' slide. Counts as CAST(COUNT(*) AS
    DOUBLE) would, so that numbers past 2^53 are not counted again.
    """
    steps = [Step(i, i + 1, letter, i) for i, letter in enumerate(types)]
    if loop_at is not None:
        steps.append(Step(loop_at, loop_at, types[loop_at - 1], loop_at - 1))
    names = tuple(f"v{i}" for i in range(len(types)))
    automaton = Automaton(len(types) + 1, names, tuple(steps), (len(types),))
    within = more.get("within", 200 * windows)
    window = Unbounded() if within is None else Sliding(within, more.get("slide", 200))
    adjacent = more.get("adjacent", ())
    strategy = CountNeighbours(automaton, adjacent) if adjacent else Count(automaton)
    counted, outputs = (Measure(COUNT, None, None, exact=False), *measures), more.get("outputs", ())
    return QueryBy(
        more.get("name", "q"), "aggregate", ("g",), ("g",), window, names, (), Positions(1, (), ()),
        (), counted, outputs, None, False, SelectAny(), None, strategy,
    )  # fmt: skip


def workload(queries: int, windows: int, measures: tuple[Measure, ...] = (), states: int = 8) -> list[CountedQuery]:
    chosen = random.Random(1)
    return [
        query(chosen.sample(range(20), states - 1), chosen.randint(1, states - 1), windows, measures, name=f"q{i}")
        for i in range(queries)
    ]


@dataclass(frozen=True)
class Cost:
    """For one event: microseconds, and row operations."""

    micros: float
    operations: float


def cpu(run: Callable[[], Any]) -> float:
    """The median CPU time of some runs, after one that compiles."""
    run()
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return statistics.median(times)


def prepared(source: Any) -> tuple[Events, Kinds]:
    reading = read(source, stream())
    kinds = classify(reading, LETTERS)
    events = arrange(reading, stream(), ["g"], canonical=False)
    return events, Kinds(kinds.of[events.order], kinds.letters)


def kernel(source: Any, queries: list[CountedQuery]) -> Cost:
    """The kernel alone: events stand sorted, with their letters."""
    events, kinds = prepared(source)
    operations = count_matches(events, kinds, queries, interpreted=False).effort.operations
    seconds = cpu(lambda: count_matches(events, kinds, queries, interpreted=False))
    return Cost(seconds / events.length * 1e6, operations / events.length)


def whole(source: Any, queries: list[CountedQuery]) -> float:
    """From table to result rows, in microseconds an event."""
    plan = PhysicalPlan(stream(), LETTERS, tuple(queries))
    events: int = source.num_rows
    return cpu(lambda: execute(plan, source, interpreted=False)) / events * 1e6


def show(title: str, rows: list[tuple[str, Cost | float]]) -> None:
    """The costs, and each as a ratio to the first."""
    print(f"\n{title}")
    first: float | None = None
    for name, cost in rows:
        micros = cost.micros if isinstance(cost, Cost) else cost
        first = first or micros
        operations = f"  {cost.operations:6.1f} row operations" if isinstance(cost, Cost) else ""
        print(f"  {name:36} {micros:8.3f} µs/event  {micros / first:6.2f}×{operations}", flush=True)


def adjacent(source: Any, operator: Call, within: int | None) -> float:
    condition = AdjacentCondition((1,), operator)
    return whole(source, [query([0], 1, 1, within=within, slide=within, adjacent=(condition,))])


def main() -> None:
    scale = 10 if QUICK else 1
    later, earlier = (Field(v, "x", "each", BIGINT) for v in ("later", "earlier"))
    ten = workload(10, 10)
    sizes = [n // scale for n in (100_000, 1_000_000, 4_000_000)]
    show(
        "Number of events: 10 queries of 8 states, 10 windows", [(f"{n:,}", kernel(table(n, 100), ten)) for n in sizes]
    )
    show("  and from table to rows", [(f"{n:,}", whole(table(n, 100), ten)) for n in sizes])
    n = 400_000 // scale
    show("Queries × windows", [
        (f"{q} × {w}", kernel(table(n, 100), workload(q, w))) for q, w in ((10, 10), (20, 10), (40, 10), (10, 20), (10, 40))
    ])  # fmt: skip
    hundred = [(name, kernel(table(n, 100), workload(100, 10, m))) for name, m in MEASURES.items()]
    show("100 queries of 8 states, 10 windows (at most 3 µs)", [*hundred])
    show("  and two events of each instant", [("COUNT(*)", kernel(table(n, 100, ties=2), workload(100, 10)))])
    n = 1_000_000 // scale
    groups = [g for g in (1, 100, 10_000, 100_000, 1_000_000) if g <= n]
    show("Number of groups: 10 queries, 10 windows", [(f"{g:,}", kernel(table(n, g), ten)) for g in groups])
    show("  and from table to rows", [(f"{g:,}", whole(table(n, g), ten)) for g in groups])
    rising = Call(">", (later, earlier), BOOLEAN)
    show("A+ with x > PREV(A).x, one group, one window", [
        (f"{m:,}", adjacent(table(m, 1, types=1), rising, None)) for m in (n // 100, n // 10, n)
    ])  # fmt: skip
    unequal = Call("not", (Call("=", (later, earlier), BOOLEAN),), BOOLEAN)
    show("  by a scan: x <> PREV(A).x, windows of 2,000 events", [
        (f"{m:,}", adjacent(table(m, 1, types=1), unequal, 20_000)) for m in (n // 50, n // 25)
    ])  # fmt: skip
    average = (Measure(AVG, "v0", X),)
    outputs = (OutputPlan("a", Aggregate(AVG, "v0", X, False, None, DOUBLE)),)
    source = table(20_000 // scale, 1, types=1)
    show("AVG over A+, a window every 20 events, by its events: to 52 a float64 is exact, to 1,023 not infinite", [
        (f"{m:,}", whole(source, [query([0], 1, 1, average, within=10 * m, outputs=outputs)]))
        for m in (40, 60, 100, 400, 1_000, 1_100)
    ])  # fmt: skip


if __name__ == "__main__":
    main()
