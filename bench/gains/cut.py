"""What counting costs when a group is cut in time: an ordinary pass over it, segments that overlap, panes that are
multiplied.

Processor time in one process, without Spark; the fewer the events of a pane are, the more does it cost to have panes at
all.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from bench.gains.measured import COUNT, program, stream
from bench.gains.report import Report, few
from bench.plots import Panel

import cepc
from cepc.passes.strategy import strategy
from cepc.shared_plans import plan_shared
from cepc_runtime.batch import execute
from cepc_runtime.events.segments import SEGMENT, segments_for
from cepc_runtime.panes.cutting import panes_in_time
from cepc_runtime.parts.classes import Class
from cepc_runtime.plan.physical import PhysicalPlan
from cepc_runtime.plan.strategy import counted_queries
from cepc_runtime.plan.windows import Sliding
from cepc_runtime.results.as_columns import Results
from cepc_runtime.results.result_rows import result_table
from cepc_runtime.spark.cut import pane_rows, segment_rows, totals_of
from cepc_runtime.spark.events import PANE
from cepc_runtime.spark.groups import ROWS
from cepc_runtime.spark.rows import SUBTOTALS, Packing, layout_of, table_of
from cepc_runtime.spark.slices import MOST

HOURS = 10
PATTERNS = ("SEQ(A, B, C)", "SEQ(A, B, C, D)", "SEQ(B, D)", "SEQ(D, C, A)")
WINDOWS = {"10 min": (1, "WITHIN 10 min"), "10 by 5": (2, "WITHIN 10 min SLIDE 5 min"),
           "30 by 2": (15, "WITHIN 30 min SLIDE 2 min"), "60 by 1": (60, "WITHIN 60 min SLIDE 1 min")}  # fmt: skip


def events_of(count: int) -> Any:
    times = np.arange(count) * (HOURS * 3_600_000) // count
    return stream(list("ABCD"), np.random.default_rng(1).integers(0, 4, count), times, 1)


def plan_of(windows: str) -> PhysicalPlan:
    queries = [f"RETURN {COUNT}, SUM({p[4]}.x) AS s PATTERN {p} {windows}" for p in PATTERNS]
    (plan,) = plan_shared(cepc.compile(program(queries)).program).plans
    return strategy(plan, "local")


def batches(events: Any, column: str, part: Any) -> list[Any]:
    found: list[Any] = events.append_column(column, pa.array(part)).to_batches(max_chunksize=10_000)
    return found


def whole(events: Any, plan: PhysicalPlan) -> Iterator[float]:
    start = time.process_time()
    execute(plan, events)
    yield time.process_time() - start


def segments(events: Any, plan: PhysicalPlan) -> Iterator[float]:
    cut = segments_for(plan.queries, plan.stream.unit)
    one = Class((), tuple(range(len(plan.queries))), None, segments=cut)
    at = events.column(plan.stream.time_column).to_numpy()
    own = cut.parts.number(at)
    again = np.flatnonzero(at - cut.parts.start(own) < cut.overlap)
    rows = np.concatenate([np.arange(len(at)), again])
    numbers = np.concatenate([own, own[again] - 1])
    order = np.lexsort((rows, numbers))
    given = batches(events.take(pa.array(rows[order])), SEGMENT, numbers[order])
    start = time.process_time()
    list(segment_rows(given, plan, one, cut, Packing.of(layout_of(plan)), ROWS, MOST))
    yield time.process_time() - start


def panes(events: Any, plan: PhysicalPlan) -> Iterator[float]:
    window = plan.queries[0].window
    assert isinstance(window, Sliding)
    times = panes_in_time(window)
    one = Class((), tuple(range(len(plan.queries))), None, panes=times)
    packing = Packing.of(replace(layout_of(plan), subtotals=True))
    given = batches(events, PANE, times.number(events.column(plan.stream.time_column).to_numpy()))
    start = time.process_time()
    found = pa.Table.from_batches(pane_rows(given, plan, one, packing, ROWS))
    counted = time.process_time()
    yield counted - start
    for number, query in enumerate(counted_queries(plan.queries)):
        blobs = found.filter(pa.compute.equal(found.column("query"), str(number))).column(SUBTOTALS).to_pylist()
        result_table(Results(totals_of(query, number, [table_of(blob) for blob in blobs]), plan.stream))
    yield time.process_time() - counted


def measured(events: Any, plan: PhysicalPlan, rounds: int) -> list[float]:
    """Seconds, medians after a first run: of the pass, of segments, of panes, of multiplying them."""
    ways: tuple[Callable[[Any, PhysicalPlan], Iterator[float]], ...] = (whole, segments, panes)
    runs = [[second for way in ways for second in way(events, plan)] for _ in range(rounds + 1)]
    return [float(second) for second in np.median(runs[1:], axis=0)]


def report(quick: bool) -> Report:
    lines = []
    points = dict[str, list[tuple[float, float]]]()
    for count in (20_000,) if quick else (100_000, 1_000_000):
        events = events_of(count)
        for name, (opened, windows) in WINDOWS.items():
            by_event = [second / count * 1e6 for second in measured(events, plan_of(windows), 1 if quick else 2)]
            lines.append([f"{count:,}", name, *map(few, by_event)])
            points.setdefault(f"segments, {count:,}", []).append((opened, by_event[1] / by_event[0]))
            points.setdefault(f"panes, {count:,}", []).append((opened, (by_event[2] + by_event[3]) / by_event[0]))
    head = ["events", "windows, minutes", "uncut, µs", "segments", "panes", "and multiplying"]
    panel = Panel(
        "Counting, against an ordinary pass", "windows open at once", "times", points, log_x=True, log_y=True, even=1
    )
    return Report("cut", head, lines, [panel])
