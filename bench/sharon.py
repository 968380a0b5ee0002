"""How fast Sharon's plan finder is beside exhaustive search and the greedy plan, as ratios measured in the same run.

The queries are slices of routes over 50 event types, as in the paper's traffic workload: slices of one route overlap,
and so do their sub-patterns. Exhaustive search doubles with each candidate, so the first table stops at a few
candidates; the second takes whole workloads through the pass. Each round runs everything once; times are medians over
the rounds.

    python bench/sharon.py [--rounds N] [--largest CANDIDATES] [--queries N N ...]
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from cepc.passes.sharon import PaperModel, Query, SharonBudget, share
from cepc.passes.sharon.benefit import benefit
from cepc.passes.sharon.candidates import sharable
from cepc.passes.sharon.finder import find, search
from cepc.passes.sharon.graph import ConflictGraph, conflict_graph, gwmin

TYPES = 50
ROUTE = 12  # event types of a route

R = TypeVar("R")


def workload(queries: int, seed: int = 0) -> tuple[list[Query], PaperModel]:
    """Slices of length 3 to 10 of one route for every eight queries, and rates from 1 to 20."""
    chance = random.Random(seed)
    types = [f"T{i}" for i in range(TYPES)]
    routes = [chance.sample(types, ROUTE) for _ in range(max(1, queries // 8))]
    made = []
    for i in range(queries):
        length = chance.randint(3, 10)
        start = chance.randint(0, ROUTE - length)
        made.append(Query(f"q{i}", tuple(chance.choice(routes)[start : start + length])))
    return made, PaperModel({t: chance.randint(1, 20) for t in types})


def graph_of_size(vertices: int, seed: int = 0) -> ConflictGraph:
    """The graph of a workload on one route, cut to some of its candidates, chosen by lot."""
    queries, model = workload(12, seed)
    by_name = {q.name: q for q in queries}
    weighed = [(c, benefit(c, by_name, model)) for c in sharable(queries)]
    beneficial = [(c, w) for c, w in weighed if w > 0]
    chosen = random.Random(seed).sample(beneficial, vertices)
    return conflict_graph([c for c, _ in chosen], [w for _, w in chosen])


def exhaustive(graph: ConflictGraph) -> float:
    """The best weight over all sets of vertices: each is a smaller set, known to be valid or not, and one vertex."""
    order = list(graph.weights)
    bit = {v: 1 << i for i, v in enumerate(order)}
    conflicts = [sum(bit[u] for u in graph.conflicts[v]) for v in order]
    scores: list[float] = [0.0]  # of each set, -1 where it is not valid
    for i, v in enumerate(order):
        weight = graph.weights[v]
        scores += [s + weight if s >= 0 and not (plan & conflicts[i]) else -1.0 for plan, s in enumerate(scores)]
    return max(scores)


@dataclass(frozen=True)
class Timed(Generic[R]):
    seconds: float
    result: R


def timed(rounds: int, run: Callable[[], R]) -> Timed[R]:
    """The median time of a function that gives the same result every time, and that result."""
    seconds = []
    for _ in range(rounds):
        start = time.process_time()  # the processor's, which other work on the machine disturbs less
        result = run()
        seconds.append(time.process_time() - start)
    return Timed(statistics.median(seconds), result)


def against_exhaustive(largest: int, rounds: int) -> str:
    lines = [
        "finder against exhaustive search (columns with an x: that search's time / the finder's)",
        "candidates  conflicts  finder ms  exhaustive  levels only   greedy  greedy score",
    ]
    for vertices in range(8, largest + 1, 3):
        graph = graph_of_size(vertices)
        finder = timed(rounds, lambda g=graph: find(g, 10**7).weight)  # type: ignore[misc]
        levels = timed(rounds, lambda g=graph: search(g, 10**7).weight)  # type: ignore[misc]
        every = timed(rounds, lambda g=graph: exhaustive(g))  # type: ignore[misc]
        greedy = timed(rounds, lambda g=graph: g.weight(gwmin(g)))  # type: ignore[misc]
        assert abs(finder.result - every.result) < 1e-6 * every.result, "the finder missed the optimum"
        edges = sum(len(n) for n in graph.conflicts.values()) // 2
        ratios = [other.seconds / finder.seconds for other in (every, levels, greedy)]
        lines.append(
            f"{vertices:>10}{edges:>11}{finder.seconds * 1000:>11.2f}{ratios[0]:>11.1f}x{ratios[1]:>12.1f}x"
            f"{ratios[2]:>8.2f}x{greedy.result / every.result:>14.1%}"
        )
    return "\n".join(lines)


def whole_pass(sizes: Sequence[int], rounds: int) -> str:
    lines = [
        "the whole pass, and without a budget for the search (greedy)",
        f"{'queries':>8}{'candidates':>12}{'pass s':>9}{'greedy':>9}{'cost / unshared':>17}{'greedy':>9}{'complete':>10}",
    ]
    for size in sizes:
        queries, model = workload(size)
        full = timed(rounds, lambda q=queries, m=model: share(q, m))  # type: ignore[misc]
        least = timed(rounds, lambda q=queries, m=model: share(q, m, SharonBudget(steps=0, options=0)))  # type: ignore[misc]
        plan, greedy = full.result, least.result
        lines.append(
            f"{size:>8}{len(plan.candidates):>12}{full.seconds:>9.2f}{least.seconds / full.seconds:>8.2f}x"
            f"{plan.cost / plan.unshared:>17.1%}{greedy.cost / plan.unshared:>9.1%}"
            f"{'yes' if plan.complete else 'no':>10}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Sharon's plan finder beside exhaustive search")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--largest", type=int, default=20, help="candidates in the largest graph searched exhaustively")
    parser.add_argument("--queries", type=int, nargs="+", default=[20, 100, 300, 1000])
    arguments = parser.parse_args()
    print(against_exhaustive(arguments.largest, arguments.rounds))
    print()
    print(whole_pass(arguments.queries, arguments.rounds))


if __name__ == "__main__":
    main()
