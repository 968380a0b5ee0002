"""Gloria beside its unpruned variant and the greedy optimizer, as ratios in one run, with the sizes of the graphs.

The paper's §8.2 on workloads of our own generator (`gloria_workloads.py`): SEQ workloads of 40 to 200 queries, Kleene
workloads with Kleene sub-patterns of 2 to 10 types and of 1 to 5 levels, mixed ones. Each line compares three
optimizers on the same workload under the paper's costs; times are of the processor, medians over the rounds. "as
printed": the paper's principles, "wider": with what is beyond the paper (merging only some queries, splitting Q-sets).

    python -m bench.gloria [--rounds N] [--queries N N ...] [--kleene-queries N]
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from bench.gloria_workloads import Workload, mixed, workload

from cepc.passes.gloria import PAPER, Breadth, GloriaBudget, GloriaPlan, Optimizer, PaperModel, share

R = TypeVar("R")
HEADER = (
    f"{'':<26}{'nodes':>7}{'unpruned':>10}{'edges':>8}{'unpruned':>10}{'ms':>7}{'unpruned':>10}{'greedy':>8}"
    f"{'weight':>9}{'greedy':>8}"
)


def timed(rounds: int, run: Callable[[], R]) -> tuple[float, R]:
    """The median time of a function that gives the same result every time, and that result."""
    seconds = []
    for _ in range(rounds):
        start = time.process_time()  # the processor's, which other work on the machine disturbs less
        result = run()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds), result


def compared(name: str, made: Workload, breadth: Breadth, rounds: int) -> str:
    """One line. Nodes and edges are those weighed; ratios of times are to Gloria's, weights to not sharing."""
    queries, model = made.queries, PaperModel(made.rates)

    def optimized(optimizer: Optimizer) -> tuple[float, GloriaPlan]:
        return timed(
            rounds, lambda: share(queries, model, GloriaBudget(10**6, 10**6, 10**6, breadth=breadth), optimizer)
        )

    (seconds, plan), (unpruned_seconds, unpruned), (greedy_seconds, greedy) = map(optimized, Optimizer)
    assert abs(plan.weight - unpruned.weight) <= 1e-9 * plan.weight, "pruning lost the optimum"
    return (
        f"{name:<26}{plan.generated:>7}{unpruned.generated:>10}{plan.weighed:>8}{unpruned.weighed:>10}"
        f"{seconds * 1000:>7.0f}{unpruned_seconds / seconds:>9.1f}x{greedy_seconds / seconds:>7.2f}x"
        f"{plan.weight / plan.unshared:>9.2%}{greedy.weight / greedy.unshared:>8.2%}"
    )


def tables(sizes: Sequence[int], kleene_queries: int, rounds: int) -> Iterator[str]:
    yield "times: the others' as a multiple of Gloria's; weights: as part of not sharing's"
    yield HEADER
    for size in sizes:
        yield compared(f"SEQ, {size} queries", workload(size), PAPER, rounds)
    for size in sizes:
        yield compared(f"SEQ in parts, {size} queries", workload(size, shared=6, whole=False), PAPER, rounds)
    for size in sizes:
        yield compared(f"mixed, {size} queries", mixed(size), PAPER, rounds)
    for length in range(2, 11, 2):
        made = workload(kleene_queries, kleene_every=1, length=length, whole=False)
        yield compared(f"Kleene of {length} types", made, PAPER, rounds)
    for nesting in range(1, 6):
        made = workload(kleene_queries, kleene_every=1, length=6, nesting=nesting, whole=False)
        yield compared(f"Kleene of 6, {nesting} deep", made, PAPER, rounds)
    for size in sizes:
        yield compared(f"wider, parts, {size} queries", workload(size, whole=False, shared=5), Breadth(), rounds)
    for length in range(2, 7, 2):
        made = workload(kleene_queries, kleene_every=1, length=length, whole=False)
        yield compared(f"wider, Kleene of {length}", made, Breadth(), rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description="Gloria beside its unpruned variant and the greedy optimizer")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--queries", type=int, nargs="+", default=[40, 80, 120, 160, 200])
    parser.add_argument("--kleene-queries", type=int, default=100)
    arguments = parser.parse_args()
    for line in tables(arguments.queries, arguments.kleene_queries, arguments.rounds):
        print(line, flush=True)


if __name__ == "__main__":
    main()
