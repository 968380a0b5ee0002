"""What shared execution gains in the kernel: `python bench/sharing.py [--quick]`.

Each line runs the same queries on the same events in one process, in turn without and with sharing. Beside the times (CPU time,
the least of several runs) stand counts that no noise can change: operations on rows, and numbers changed by them.
"""

from __future__ import annotations

import random
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from cepc_runtime.events import arrange, read
from cepc_runtime.expression import Field
from cepc_runtime.kernel.basis import Costs
from cepc_runtime.kernel.planes import planes_of
from cepc_runtime.kernel.run import Effort, run_kernel
from cepc_runtime.kernel.tables import build
from cepc_runtime.kernel.values import values_of
from cepc_runtime.letters import Kinds, classify
from cepc_runtime.plan import (
    Automaton,
    Letter,
    Measure,
    Member,
    Positions,
    QueryPlan,
    SharedStates,
    Step,
    StreamPlan,
)
from cepc_runtime.types import BIGINT, INT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_runtime.events import Events

QUICK = "--quick" in sys.argv
RUNS = 7 if QUICK else 15

ALWAYS, NEVER, ADAPTIVE = Costs(application=-1e15), Costs(application=1e15), Costs()
X = Field("v", "x", "each", BIGINT)
SUM = (Measure("sum", "v0", X),)


def stream() -> StreamPlan:
    columns = (("t", BIGINT), ("type", INT), ("g", BIGINT), ("x", BIGINT))
    return StreamPlan("s", columns, ("t", "type", "g", "x"), "t", "s", (), "type", None, None)


def query(
    name: str, steps: Sequence[Step], accepting: int, within: int, slide: int, measures: Sequence[Measure] = ()
) -> QueryPlan:
    names = tuple(f"v{i}" for i in range(1 + max(s.variable for s in steps)))
    automaton = Automaton(1 + max(s.target for s in steps), names, tuple(steps), (accepting,))
    return QueryPlan(
        name, "aggregate", ("g",), ("g",), within, slide, names, (), Positions(1, (), ()), None, (), automaton, (),
        (Measure("count", None, None), *measures), (), None, False, "ANY", None,
    )  # fmt: skip


@dataclass(frozen=True)
class Input:
    events: Events
    kinds: Kinds


def prepared(types: Sequence[int], groups: int, letters: Sequence[int], gap: int = 1) -> Input:
    """Events of these types (as indexes of letters), one after the other by turns over the groups, `gap` ticks apart."""
    count = len(types)
    names = [f"T{i}" for i in range(max(letters) + 1)]
    source = pa.table({
        "t": np.arange(count) * gap, "g": np.arange(count) * groups // count, "x": np.arange(count) % 1000,
        "type": pa.DictionaryArray.from_arrays(pa.array(np.asarray(types, dtype=np.int32)), pa.array(names)),
    })  # fmt: skip
    reading = read(source, stream())
    kinds = classify(reading, [Letter(name) for name in names])
    events = arrange(reading, stream(), ["g"], canonical=False)
    return Input(events, Kinds(kinds.of[events.order], kinds.letters))


@dataclass(frozen=True)
class Outcome:
    seconds: float
    effort: Effort

    @property
    def cost(self) -> float:
        """As the kernel's own model has it, but of what was done."""
        return Costs().operation * self.effort.operations + self.effort.numbers


def measured(
    given: Input, queries: Sequence[QueryPlan], ways: Sequence[tuple[Sequence[SharedStates], Costs]]
) -> list[Outcome]:
    """The ways side by side, each run of one followed by one of the next; without the time to build the kernel's table."""
    planes = [planes_of(q.automaton, q.measures) for q in queries if q.automaton]
    values = values_of([plane.value for own in planes for plane in own.planes], given.events.table, given.kinds)
    layouts = [build(queries, planes, given.kinds.letters, values.index, shared, costs) for shared, costs in ways]
    times: list[list[float]] = [[] for _ in ways]
    efforts: list[Effort] = [Effort()] * len(ways)
    for again in range(1 + RUNS):
        for way, layout in enumerate(layouts):
            start = time.process_time()
            _, efforts[way] = run_kernel(given.events, given.kinds, layout, planes, values.matrix, interpreted=False)
            if again:
                times[way].append(time.process_time() - start)
    return [Outcome(min(of_way), effort) for of_way, effort in zip(times, efforts, strict=True)]


def line(name: str, given: Input, plain: Outcome, others: Sequence[tuple[str, Outcome]]) -> None:
    n = len(given.kinds.of)
    shown = "".join(
        f"  {title} {plain.seconds / o.seconds:5.2f}x ({o.effort.operations / n:.1f} ops, {o.effort.numbers / n:,.0f} numbers)"
        for title, o in others
    )
    unshared = f"{plain.seconds / n * 1e6:6.2f} µs ({plain.effort.operations / n:.1f} ops, {plain.effort.numbers / n:,.0f} numbers)"
    print(f"  {name:34} unshared {unshared}{shown}", flush=True)


# ---- HAMLET: bursts --------------------------------------------------------------------------------------------------


def bursts(size: int, own: int, queries: int = 50, windows: int = 10) -> tuple[Input, list[QueryPlan], SharedStates]:
    """SEQ(A_q, B+) for each query q: bursts of B events. `own` percent of the queries look at a part of them alone: at B events of
    another type, which they have beside the common one.
    """
    chosen = random.Random(size)
    heads, common, partly = range(queries), queries, queries + 1
    many = 20_000 if QUICK else 60_000
    types: list[int] = []
    while len(types) < many:
        types.append(chosen.choice(heads))
        for _ in range(size):
            types.append(partly if own and chosen.random() < 0.1 else common)
    found = []
    for q in range(queries):
        steps = [Step(0, 1, q, 0), Step(1, 2, common, 1), Step(2, 2, common, 1)]
        if q >= queries * own // 100:  # the others: their condition holds for these events too
            steps += [Step(1, 2, partly, 1), Step(2, 2, partly, 1)]
        found.append(query(f"q{q}", steps, 2, 1000 * windows, 1000, [Measure("sum", "v1", X)]))
    shared = SharedStates(tuple(Member(q.name, (1, 2)) for q in found), basis=True)
    return prepared(types, 1, range(queries + 2)), found, shared


def hamlet() -> None:
    print("\nBursts: 50 queries SEQ(A_q, B+) with SUM(B.x), 10 windows; how many have a condition of their own on B")
    by_time = by_count = 0.0
    for own in (0, 50, 100) if QUICK else (0, 25, 50, 75, 100):
        for size in (1, 5, 20, 200) if QUICK else (1, 2, 5, 10, 20, 50, 100, 200):
            given, queries, shared = bursts(size, own)
            plain, always, never, adaptive = measured(
                given, queries, [((), NEVER), ([shared], ALWAYS), ([shared], NEVER), ([shared], ADAPTIVE)]
            )
            line(
                f"{own} % own, bursts of {size}",
                given,
                plain,
                [("always", always), ("never", never), ("adaptive", adaptive)],
            )
            by_time = max(by_time, adaptive.seconds / min(always.seconds, never.seconds) - 1)
            by_count = max(by_count, adaptive.cost / min(always.cost, never.cost) - 1)
            effort = adaptive.effort
            decided = f"runs shared {effort.runs_shared}, split {effort.runs_split}"
            print(f"{'':36} {decided}; events shared {effort.events_shared}, split {effort.events_split}")
    print(
        f"  adaptive loses at most {by_count:.1%} by counted work, {by_time:.1%} by time, to the better of always and never"
    )


# ---- Sharon: a common middle -------------------------------------------------------------------------------------------


def sharon(queries: int, length: int = 10, middle: int = 6) -> tuple[Input, list[QueryPlan], SharedStates]:
    """SEQ of `length` types: each query has types of its own before and after a middle that all have in common."""
    chosen = random.Random(queries)
    pool = 40
    heads = (length - middle) // 2
    found = []
    for q in range(queries):
        own = chosen.sample(range(middle, middle + pool), length - middle)
        types = [*own[:heads], *range(middle), *own[heads:]]
        steps = [Step(i, i + 1, letter, i) for i, letter in enumerate(types)]
        found.append(query(f"q{q}", steps, length, 600, 60, [Measure("sum", f"v{heads}", X)]))
    shared = SharedStates(tuple(Member(q.name, tuple(range(heads, heads + middle + 1))) for q in found))
    rng = np.random.default_rng(1)
    common = rng.random(40_000 if QUICK else 200_000) < 0.5
    types_of = np.where(common, rng.integers(0, middle, len(common)), rng.integers(middle, middle + pool, len(common)))
    return prepared(types_of.tolist(), 50, range(middle + pool)), found, shared


def ecommerce() -> None:
    print("\nA middle of 6 types in common, patterns of 10 types, 10 windows")
    for queries in (20, 120) if QUICK else (20, 40, 80, 120):
        given, found, shared = sharon(queries)
        plain, joint = measured(given, found, [((), NEVER), ([shared], NEVER)])
        line(f"{queries} queries", given, plain, [("side by side", joint)])


# ---- windows -----------------------------------------------------------------------------------------------------------


def windows(rate: int, queries: int = 100) -> tuple[Input, list[QueryPlan], SharedStates]:
    """SEQ(A, B+, C) over windows of 5 to 60 minutes that slide by 1 to 10, with `rate` events a minute in a group."""
    chosen = random.Random(3)
    found = []
    for q in range(queries):
        steps = [Step(0, 1, 0, 0), Step(1, 2, 1, 1), Step(2, 2, 1, 1), Step(2, 3, 2, 2)]
        slide = chosen.choice((1, 2, 5, 10)) * 60_000
        found.append(
            query(f"q{q}", steps, 3, max(slide, chosen.randint(5, 60) * 60_000), slide, [Measure("sum", "v1", X)])
        )
    shared = SharedStates(tuple(Member(q.name, (0, 1, 2, 3)) for q in found), basis=True)
    types = np.random.default_rng(2).integers(0, 3, 20_000 if QUICK else 100_000)
    return prepared(types.tolist(), 4, range(3), 60_000 // rate), found, shared


def minutes() -> None:
    print("\n100 queries SEQ(A, B+, C) with SUM(B.x) over windows of 5 to 60 minutes that slide by 1 to 10")
    for rate in (10, 100, 1000):
        given, found, shared = windows(rate)
        plain, never, adaptive = measured(given, found, [((), NEVER), ([shared], NEVER), ([shared], ADAPTIVE)])
        line(f"{rate} events a minute", given, plain, [("side by side", never), ("with panes", adaptive)])


if __name__ == "__main__":
    hamlet()
    ecommerce()
    minutes()
