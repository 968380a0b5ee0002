"""How often, and by how much, Gloria's plans are dearer than the best, on random small workloads under the paper's
costs.

Sequences are compared with every partition of every transition (brute force, definition 2.6); workloads with Kleene,
and such where ways part and meet, with the unpruned graph, searched exactly. Also what each of the paper's shortcuts
costs: its principles as printed, its node pruning as printed, algorithm 1 without an exact search, and Greedy.

    python -m bench.gloria_quality [--workloads N]
"""

import argparse
import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.gloria_brute_force import lightest

from cepc.passes.gloria import PAPER, Breadth, GloriaBudget, Optimizer, PaperModel, Query, share
from cepc.passes.gloria.graph import GloriaGraph, Pruning, build
from cepc.passes.gloria.search import GraphPath, parts, path_search, search, unshared
from cepc.passes.gloria.template import template_of
from cepc.passes.pattern import Event, PlannedPattern
from cepc_grammar.pattern import Or, Repeat, Seq

RATES = [1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 30.0, 100.0]
WIDE = GloriaBudget(10**6, 10**6, 10**6, 10**7)
PLANS = 400_000  # as many are tried by brute force


@dataclass
class Tally:
    """How many of some plans are dearer than the best, and the worst of them."""

    compared: int = 0
    dearer: int = 0
    worst: float = 1.0
    better_than_unshared: int = 0

    def add(self, weight: float, best: float, alone: float) -> None:
        assert weight >= best * (1 - 1e-9), "better than the best"
        self.compared += 1
        self.better_than_unshared += best < alone * (1 - 1e-9)
        if weight > best * (1 + 1e-9):
            self.dearer += 1
            self.worst = max(self.worst, weight / best)

    def line(self, name: str) -> str:
        return f"{name:<58}{self.compared:>10}{self.better_than_unshared:>9}{self.dearer:>8}{self.worst - 1:>9.1%}"


def sequences(chance: random.Random) -> tuple[list[list[int]], dict[int, float]]:
    """Parts of one sequence, some with a gap or a private end."""
    queries = []
    for i in range(chance.randint(2, 4)):
        letters = list(range(chance.randint(0, 1), chance.randint(3, 5)))
        if chance.random() < 0.2 and len(letters) > 2:
            del letters[chance.randrange(1, len(letters) - 1)]
        if chance.random() < 0.5:
            letters.append(10 + i)
        queries.append(letters)
    return queries, {letter: chance.choice(RATES) for letter in range(20)}


def kleene(chance: random.Random) -> list[PlannedPattern]:
    """Parts of one or two sequences that have up to two Kleene operators, nested or not, and optional events."""

    def with_kleene() -> list[PlannedPattern]:
        found: list[PlannedPattern] = [Event(letter, "v") for letter in range(7)]
        for _ in range(chance.randint(0, 2)):
            first = chance.randint(0, len(found) - 2)
            last = chance.randint(first + 1, min(first + 3, len(found)))
            found[first:last] = [Repeat(Seq(tuple(found[first:last])), 1, None)]
        return found

    bases = [with_kleene() for _ in range(chance.randint(1, 2))]
    patterns: list[PlannedPattern] = []
    for i in range(chance.randint(2, 5)):
        base = chance.choice(bases)
        first = chance.randint(0, min(2, len(base) - 2))
        found = base[first : chance.randint(first + 2, len(base))]
        if chance.random() < 0.1:
            found[0] = Repeat(found[0], 0, 1)
        if chance.random() < 0.1:
            found.insert(1, Or((Event(20, "v"), Event(21, "v"))))
        patterns.append(Seq((*found, *([Event(7 + i, "v")] if chance.random() < 0.4 else []))))
    return patterns


def parting(chance: random.Random) -> list[PlannedPattern]:
    """Sequences through layers of two types each, which meet and part again."""
    layers = chance.randint(3, 5)
    patterns: list[PlannedPattern] = []
    for i in range(chance.randint(3, 6)):
        way = [2 * layer + (chance.random() < 0.35) for layer in range(layers)]
        first = chance.randint(0, 1)
        letters = way[first : chance.randint(max(first + 2, layers - 1), layers)]
        letters += [50 + i] if chance.random() < 0.3 else []
        patterns.append(Seq(tuple(Event(int(letter), "v") for letter in letters)))
    return patterns


def named(patterns: list[PlannedPattern]) -> list[Query]:
    return [Query(f"q{i}", pattern) for i, pattern in enumerate(patterns)]


def of_sequences(workloads: int) -> list[str]:
    every, printed = Tally(), Tally()
    for seed in range(workloads):
        letters, rates = sequences(random.Random(seed))
        best = lightest(letters, rates, PLANS)
        if best is None:
            continue
        queries = named([Seq(tuple(Event(letter, "v") for letter in query)) for query in letters])
        for tally, breadth in ((every, Breadth(groups=4)), (printed, PAPER)):
            plan = share(queries, PaperModel(rates), GloriaBudget(breadth=breadth))
            tally.add(plan.weight, best, plan.unshared)
    return [
        every.line("sequences: all ways of merging, against brute force"),
        printed.line("sequences: principles as printed, against brute force"),
    ]


def of_graphs(name: str, make: Callable[[random.Random], list[PlannedPattern]], workloads: int) -> list[str]:
    tallies = {
        what: Tally()
        for what in (
            "pruned, against the unpruned graph",
            "node pruning as printed, against the unpruned graph",
            "algorithm 1 in case 3, against the exact search",
            "principles as printed, against wider ones",
            "Greedy, against Gloria",
        )
    }
    pruned, printed, algorithm_1, principles, greedy = tallies.values()
    for seed in range(workloads):
        chance = random.Random(seed)
        queries = named(make(chance))
        model = PaperModel({letter: chance.choice(RATES) for letter in range(60)})
        template = template_of(queries)
        graphs = {pruning: build(template, model, WIDE, pruning) for pruning in Pruning}
        weights = {pruning: weight(graph, search(graph, WIDE.steps).path) for pruning, graph in graphs.items()}
        alone = weight(graphs[Pruning.NONE], unshared(graphs[Pruning.NONE]))
        best = weights[Pruning.NONE]
        pruned.add(weights[Pruning.SAFE], best, alone)
        printed.add(weights[Pruning.PRINTED], best, alone)
        graph = graphs[Pruning.SAFE]
        if 3 in search(graph, WIDE.steps).cases:
            path = unshared(graph)
            for part in parts(graph):
                path |= path_search(graph, part)
            algorithm_1.add(weight(graph, path), best, alone)
        principles.add(share(queries, model, GloriaBudget(breadth=PAPER)).weight, best, alone)
        greedy.add(share(queries, model, optimizer=Optimizer.GREEDY).weight, best, alone)
    return [tally.line(f"{name}: {what}") for what, tally in tallies.items()]


def weight(graph: GloriaGraph, path: GraphPath) -> float:
    return graph.weigher.total({pool: graph.pools[pool].nodes[node] for pool, node in path.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description="how often Gloria's plans are dearer than the best")
    parser.add_argument("--workloads", type=int, default=2000)
    workloads = parser.parse_args().workloads
    print(f"{'':<58}{'workloads':>10}{'shared':>9}{'dearer':>8}{'at worst':>9}")
    for line in of_sequences(workloads // 2):
        print(line, flush=True)
    for line in (*of_graphs("Kleene", kleene, workloads), *of_graphs("parting", parting, workloads)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
