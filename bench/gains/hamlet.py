"""HAMLET's bursts: 50 queries SEQ(A_q, B+) with SUM(B.x) in 10 windows, bursts of B after single events of the heads
A_q. Some of the queries have a predicate of their own on B, each another one, which one B event of a hundred does not
satisfy.

Each line runs the same events with runs shared always, never, and as decided while they are there, by turns; and
without a plan for sharing. Times are processor time of the kernel without building its table.
"""

import random
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.gains.measured import program, stream
from bench.gains.report import Report, few
from bench.plots import Panel

from cepc.api import check_text
from cepc.passes.strategy import strategy
from cepc.planning import plan_program
from cepc_runtime.events.grouped import arrange, read
from cepc_runtime.events.letters import Kinds, classify
from cepc_runtime.kernel.basis import Costs
from cepc_runtime.kernel.planes import kept_planes, planes_of
from cepc_runtime.kernel.run import Effort, run_kernel
from cepc_runtime.kernel.tables import build
from cepc_runtime.kernel.values import values_of
from cepc_runtime.plan.sharing import Member, SharedStates
from cepc_runtime.plan.strategy import counted_queries

if TYPE_CHECKING:
    from collections.abc import Sequence

QUERIES, WINDOWS = 50, 10
ALWAYS, NEVER, ADAPTIVE = Costs(application=-1e15), Costs(application=1e15), Costs()


@dataclass(frozen=True)
class Outcome:
    """By the event, `times` of each turn; the effort is that of all."""

    times: tuple[float, ...]
    operations: float
    effort: Effort

    @property
    def seconds(self) -> float:
        return statistics.median(self.times)

    def to(self, other: "Outcome") -> float:
        """The time to that of another way: the median over the turns, in each of which both ran one after the other."""
        return statistics.median(mine / theirs for mine, theirs in zip(self.times, other.times, strict=True))

    @property
    def cost(self) -> float:
        """As the kernel's own model has it, but of what was done."""
        costs, effort = Costs(), self.effort
        return costs.operation * effort.operations + effort.numbers + costs.own * effort.own_columns


def bursts(size: int, events: int) -> Any:
    chance = random.Random(size)
    heads, common = range(QUERIES), QUERIES
    kinds: list[int] = []
    while len(kinds) < events:
        kinds.append(chance.choice(heads))
        kinds += [common] * size
    return stream([*(f"A{q}" for q in heads), "B"], kinds, np.arange(len(kinds)), 1)


def queries(own: int) -> list[str]:
    """`own` percent of them have a predicate of their own."""
    return [
        f"RETURN COUNT(*), SUM(B.x) PATTERN SEQ(A{q}, B+)"
        + (f" WHERE B.x <> {q}" if q < QUERIES * own // 100 else "")
        + f" WITHIN {WINDOWS} s SLIDE 1 s"
        for q in range(QUERIES)
    ]


def measured(size: int, own: int, events: int, rounds: int) -> dict[str, Outcome]:
    checked = check_text(program(queries(own)), "bench.cep").program
    assert checked is not None
    (logical,) = plan_program(checked).plans
    plan = strategy(logical, "local")
    reading = read(bursts(size, events), plan.stream)
    kinds = classify(reading, plan.letters)
    arranged = arrange(reading, plan.stream, (), canonical=False)
    kinds = Kinds(kinds.of[arranged.order], kinds.letters)
    counted = counted_queries(plan.queries)
    planes = [planes_of(q.automaton, q.measures) for q in counted]
    values = values_of(
        [plane.value for of in planes for plane in of.planes], arranged.table, kinds, arranged.group_starts
    )
    shared = [SharedStates(tuple(Member(q.name, (1, 2)) for q in plan.queries), basis=True)]
    ways: dict[str, tuple[Sequence[SharedStates], Costs]] = {
        "unshared": ((), NEVER),
        "always": (shared, ALWAYS),
        "never": (shared, NEVER),
        "adaptive": (shared, ADAPTIVE),
    }
    layouts = {
        way: build(counted, planes, kinds.letters, values.index, given, costs, False)
        for way, (given, costs) in ways.items()
    }
    times: dict[str, list[float]] = {way: [] for way in ways}
    efforts = {}
    for again in range(1 + rounds):
        for way, layout in layouts.items():
            start = time.process_time()
            _, efforts[way] = run_kernel(
                arranged, kinds, layout, kept_planes(planes, planes), values.matrix, interpreted=False
            )
            if again:
                times[way].append(time.process_time() - start)
    count = len(kinds.of)
    return {
        way: Outcome(tuple(t / count for t in times[way]), efforts[way].operations / count, efforts[way])
        for way in ways
    }


def report(quick: bool) -> Report:
    rows = []
    gains, lost = dict[str, list[tuple[float, float]]](), dict[str, list[tuple[float, float]]]()
    by_time, by_count = [], []
    for own in (0, 50) if quick else (0, 10, 50, 100):
        for size in (1, 20) if quick else (1, 2, 5, 20, 50, 200):
            found = measured(size, own, 2_000 if quick else 24_000, 1 if quick else 31)
            unshared, always, never, adaptive = found.values()
            better = min(always, never, key=lambda outcome: outcome.seconds)
            by_time.append(adaptive.to(better) - 1)
            by_count.append(adaptive.cost / min(always.cost, never.cost) - 1)
            effort = adaptive.effort
            rows.append(
                [
                    f"{own} %", f"{size}", few(unshared.seconds * 1e6),
                    *(few(unshared.seconds / o.seconds) for o in (always, never, adaptive)),
                    f"{by_time[-1]:+.1%}", f"{by_count[-1]:+.1%}",
                    f"{effort.runs_shared / max(effort.runs_shared + effort.runs_split, 1):.0%}",
                    *(few(o.operations) for o in found.values()),
                ]
            )  # fmt: skip
            gains.setdefault(f"{own} % own", []).append((size, unshared.seconds / adaptive.seconds))
            lost.setdefault(f"{own} % own", []).append((size, adaptive.to(better)))
    head = [
        "own predicates", "burst", "unshared, µs", "times as fast: always", "never", "adaptive",
        "to the better, time", "work", "runs shared", "row operations: unshared", "always", "never", "adaptive",
    ]  # fmt: skip
    worst = f"To the better of always and never, adaptive loses at most {max(by_count):.1%} by counted work, {max(by_time):.1%} by time"
    return Report(
        "hamlet",
        head,
        rows,
        [
            Panel("Speed-up of adaptive over unshared", "events of a burst", "times", gains, log_x=True, even=1),
            Panel(
                "Adaptive to the better of always, never", "events of a burst", "of its time", lost, log_x=True, even=1
            ),
        ],
        [f"{worst} (at the median over all lines {statistics.median(by_time):+.1%})."],
    )
