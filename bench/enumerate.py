"""Match queries at scale, each beside the plain numpy that finds the same matches, measured in the same run.

The floor of a SEQ is the range join that a person would write with `searchsorted` and `repeat` for this one pattern,
and of a run the same for each length; that of NEXT is one look-up per event. All start from sorted events. Each round
runs every contender once, so that a busy moment of the machine falls on all of them; the figures are medians.

    python bench/enumerate.py [--events N] [--groups N] [--rounds N]
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepc.api import check_text
from cepc.passes.strategy import strategy
from cepc.planning import plan_program
from cepc_runtime.enumerate.arranged import arrange_for
from cepc_runtime.enumerate.matches import MatchRows
from cepc_runtime.events.grouped import read
from cepc_runtime.events.letters import classify
from cepc_runtime.plan.physical import PhysicalPlan
from cepc_runtime.plan.query import QueryPlan

Ints = npt.NDArray[np.int64]

TYPES = 8
SECONDS = 1000
QUERIES = """\
STREAM s (at BIGINT, kind STRING, g BIGINT, x DOUBLE) EVENT TIME at UNIT s EVENT TYPE kind;
QUERY seq RETURN a.x, c.x AS y PATTERN SEQ(T0 a, T1 b, T2 c) WHERE [g] AND c.x > a.x WITHIN 300 s;
QUERY unconditional RETURN a.x, c.x AS y PATTERN SEQ(T0 a, T1 b, T2 c) WHERE [g] WITHIN 300 s;
QUERY rising RETURN MATCH COUNT(*) AS n, MAX(a.x) AS x PATTERN SEQ(T0+ a, T1 b) WHERE [g] AND a.x > PREV(a).x WITHIN 300 s;
QUERY next RETURN a.x, c.x AS y PATTERN SEQ(T0 a, T1 b, T2 c) WHERE [g] SELECT NEXT WITHIN 300 s;
"""


def stream(events: int, groups: int, seed: int = 0) -> Any:
    """Events of equally frequent types in equally frequent groups, at random times."""
    chance = np.random.default_rng(seed)
    kinds = pa.array([f"T{i}" for i in range(TYPES)]).take(pa.array(chance.integers(0, TYPES, events)))
    return pa.table(
        {
            "at": chance.integers(0, SECONDS, events),
            "kind": kinds,
            "g": chance.integers(0, groups, events),
            "x": chance.random(events),
        }
    )


def compiled() -> PhysicalPlan:
    checked = check_text(QUERIES)
    assert checked.program is not None, checked.text()
    return strategy(plan_program(checked.program).plans[0], "local")


class Floor:
    """The same matches by hand: groups are far apart in one time line, so that plain `searchsorted` keeps to them."""

    def __init__(self, events: Any) -> None:
        stride = SECONDS + 1000
        at = events.ticks + events.groups.astype(np.int64) * stride
        kinds = np.asarray(events.table.column("kind").combine_chunks().to_numpy(zero_copy_only=False))
        self.x = events.table.column("x").to_numpy()
        self.of = [np.flatnonzero(kinds == f"T{i}") for i in range(3)]
        self.at = [at[places] for places in self.of]

    def _after(self, times: Ints, until: Ints, kind: int) -> tuple[Ints, Ints]:
        """Pairs of a row and an event of the kind strictly later than its time, before its end."""
        low = np.searchsorted(self.at[kind], times, side="right")
        counts = np.maximum(np.searchsorted(self.at[kind], until) - low, 0)
        rows = np.repeat(np.arange(len(times)), counts)
        return rows, np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts) + low[rows]

    def unconditional(self) -> int:
        first, second = self._after(self.at[0], self.at[0] + 300, 1)
        rows, third = self._after(self.at[1][second], self.at[0][first] + 300, 2)
        matches = np.stack([self.of[0][first[rows]], self.of[1][second[rows]], self.of[2][third]])
        return int(matches.shape[1])

    def seq(self) -> int:
        first, second = self._after(self.at[0], self.at[0] + 300, 1)
        rows, third = self._after(self.at[1][second], self.at[0][first] + 300, 2)
        matches = np.stack([self.of[0][first[rows]], self.of[1][second[rows]], self.of[2][third]])
        return int((self.x[matches[2]] > self.x[matches[0]]).sum())

    def rising(self) -> int:
        found, times, until, last = 0, self.at[0], self.at[0] + 300, self.x[self.of[0]]
        path = [self.of[0]]
        while len(times):
            rows, ends = self._after(times, until, 1)
            found += int(np.stack([*(p[rows] for p in path), self.of[1][ends]]).shape[1])
            rows, places = self._after(times, until, 0)
            rises = self.x[self.of[0][places]] > last[rows]
            rows, places = rows[rises], places[rises]
            path = [*(p[rows] for p in path), self.of[0][places]]
            times, until, last = self.at[0][places], until[rows], self.x[path[-1]]
        return found

    def next(self) -> int:
        rows, times, path = np.arange(len(self.at[0])), self.at[0], [self.of[0]]
        for kind in (1, 2):
            low = np.searchsorted(self.at[kind], times, side="right")
            first = self.at[kind][np.minimum(low, len(self.at[kind]) - 1)]
            more, places = self._after(times, np.minimum(first + 1, self.at[0][rows] + 300), kind)
            rows, times = rows[more], self.at[kind][places]
            path = [*(p[more] for p in path), self.of[kind][places]]
        return int(np.stack(path).shape[1])


def seconds(work: Callable[[], int]) -> tuple[float, int]:
    """CPU time: all contenders run in one thread, and other processes share the cores."""
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    plan = compiled()
    reading = read(stream(given.events, given.groups), plan.stream)
    arranged = arrange_for(reading, classify(reading, plan.letters), plan.stream, plan.queries)
    floor = Floor(arranged.events)
    print(f"{given.events:,} events, {given.groups:,} groups; floor: plain numpy for the one pattern; CPU time")
    for query in plan.queries:

        def found(query: QueryPlan = query) -> int:
            return sum(len(matches) for matches in arranged.enumerator(query).matches())

        def tabled(query: QueryPlan = query) -> int:
            enumerator = arranged.enumerator(query)
            rows = MatchRows(query, plan.stream, enumerator.evaluator)
            return sum(rows.table(matches).num_rows for matches in enumerator.matches())

        runs: dict[str, list[float]] = {"floor": [], "matches": [], "rows": []}
        counts = set()
        for _ in range(given.rounds):
            for name, work in (("floor", getattr(floor, query.name)), ("matches", found), ("rows", tabled)):
                taken, count = seconds(work)
                runs[name].append(taken)
                counts.add(count)
        assert len(counts) == 1, f"{query.name}: the floor and the enumerator disagree: {counts}"
        medians = {name: statistics.median(times) for name, times in runs.items()}
        count = counts.pop()
        print(
            f"{query.name:14} {count:>10,} matches  {count / medians['matches']:>12,.0f} matches/s"
            f"  {medians['matches'] / medians['floor']:5.1f} × floor  with rows {medians['rows'] / medians['floor']:5.1f} ×"
        )


if __name__ == "__main__":
    main()
