"""MOTTO: how fast plans are found, and what shared execution of match queries saves, beside every query by itself in
the same run.

The workloads are the paper's (§VII): 100 different queries over 13 event types with windows of 10 s, in pairs of seven
kinds. Kinds 1 to 4 are flat, of one operator and window (a prefix, a suffix, a subsequence, a common part); 5 to 7
differ in their windows or operators, or are nested. The basic share is the part of the queries from kinds 1 to 4.
Matches are found and not made into rows, which costs the same on both sides. Counts of partial matches stand beside the
ratios of CPU time: noise cannot move them.

    python bench/motto.py [--rounds N] [--queries N N …] [--events N]
"""

import argparse
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from cepc.api import check_text
from cepc.passes.motto import EngineModel, PatternStatistics, Query, share
from cepc.passes.motto import MottoBudget as PlanBudget
from cepc.passes.motto.graph import sharing_graph
from cepc.passes.motto.motto import Asked, asked_of, shared_matches
from cepc.passes.strategy import strategy
from cepc.planning import plan_program
from cepc.shared_plans import workload_of
from cepc_runtime.enumerate.arranged import arrange_for
from cepc_runtime.enumerate.budget import MatchBudget, WhyListed
from cepc_runtime.enumerate.enumerator import Enumerator, timeline_of
from cepc_runtime.enumerate.evaluation import Evaluator
from cepc_runtime.enumerate.joins import Joins
from cepc_runtime.enumerate.search import SearchMeans
from cepc_runtime.events.grouped import read
from cepc_runtime.events.letters import classify
from cepc_runtime.plan.physical import PhysicalPlan
from cepc_runtime.plan.sharing import JoinMatches, MatchAnswer, MatchPart, SharedMatches

TYPES = 13
STREAMS = (
    (0.3, 1.0),
    (1.0, 0.3),
    (3.0, 0.05),
)  # events of a type in a window, and part of the events: denser, more matches
WINDOW = 10_000  # ms
HEADER = "STREAM s (at BIGINT, kind STRING, x DOUBLE) EVENT TIME at UNIT ms EVENT TYPE kind;\n"


def pair(kind: int, chance: random.Random) -> list[tuple[str, int]]:
    """Two queries of a kind (table IV): pattern and window. Kind 5 has windows from 1 : 4 to 4 : 1."""
    a, b, c, x, y, v, w = (f"T{i}" for i in chance.sample(range(TYPES), 7))
    match kind:
        case 1:
            return [(f"SEQ({a}, {b}, {c})", WINDOW), (f"SEQ({a}, {b}, {c}, {x})", WINDOW)]
        case 2:
            return [(f"AND({a}, {b})", WINDOW), (f"AND({x}, {a}, {b})", WINDOW)]
        case 3:
            return [(f"SEQ({a}, {b}, {c})", WINDOW), (f"SEQ({a}, {b}, {x}, {c})", WINDOW)]
        case 4:
            return [(f"SEQ({x}, {a}, {b}, {y})", WINDOW), (f"SEQ({v}, {a}, {b}, {y})", WINDOW)]
        case 5:
            other = WINDOW * chance.choice((1, 2, 4)) // chance.choice((2, 4))
            return [(f"SEQ({a}, {b}, {c})", other), (f"SEQ({a}, {b}, {c}, {x})", WINDOW)]
        case 6:
            return [(f"SEQ({a}, {b}, {c})", WINDOW), (f"AND({a}, {b}, {c})", WINDOW)]
    return [(f"SEQ({x}, SEQ({a}, {b}), {y})", WINDOW), (f"AND({v}, SEQ({a}, {b}), {w})", WINDOW)]


def workload(queries: int, basic: float, seed: int = 0) -> str:
    """So many different queries, `basic` of them of kinds 1 to 4."""
    chance = random.Random(seed)
    return program(queries, lambda: pair(chance.randint(*((1, 4) if chance.random() < basic else (5, 7))), chance))


def of_kind(queries: int, kind: int, seed: int = 0) -> str:
    """So many different queries of one kind."""
    chance = random.Random(seed)
    return program(queries, lambda: pair(kind, chance))


def program(queries: int, more: Callable[[], list[tuple[str, int]]]) -> str:
    found: dict[tuple[str, int], None] = {}
    while len(found) < queries:
        found |= dict.fromkeys(more())
    texts = [
        f"QUERY q{i} RETURN MATCH * PATTERN {pattern} WITHIN {window} ms;"
        for i, (pattern, window) in enumerate(list(found)[:queries])
    ]
    return HEADER + "\n".join(texts)


def stream(events: int, per_window: float, seed: int = 0) -> Any:
    """Events of equally frequent types at random times, `per_window` of each type in a window."""
    chance = np.random.default_rng(seed)
    length = int(events / TYPES / per_window * WINDOW)
    kinds = pa.array([f"T{i}" for i in range(TYPES)]).take(pa.array(chance.integers(0, TYPES, events)))
    return pa.table({"at": np.sort(chance.integers(0, length, events)), "kind": kinds, "x": chance.random(events)})


def asked(text: str) -> tuple[PhysicalPlan, list[Asked]]:
    checked = check_text(text)
    assert checked.program is not None, checked.text()
    plan = plan_program(checked.program).plans[0]
    patterns = workload_of(checked.program, plan).patterns
    found = [asked_of(query, pattern) for query, pattern in zip(plan.queries, patterns, strict=True)]
    return strategy(plan, "local"), [one for one in found if one is not None]


def engine(plan: PhysicalPlan, per_window: float) -> EngineModel:
    return EngineModel(PatternStatistics(dict.fromkeys(range(len(plan.letters)), per_window / WINDOW)))


# --- planning


def planning(sizes: Sequence[int], rounds: int) -> str:
    lines = [
        "finding plans (greedy: no steps for branch and bound or annealing)",
        " queries  basic  vertices  edges  pass s   greedy  cost / unshared  greedy  optimal",
    ]
    for size in sizes:
        for basic in (1.0, 0.5, 0.0):
            plan, several = asked(workload(size, basic))
            queries = [one.query for one in several]
            model = engine(plan, 1.0)
            graph = sharing_graph(queries, model, PlanBudget().limits)
            full = timed(rounds, lambda q=queries, m=model: share(q, m))  # type: ignore[misc]
            least = timed(rounds, lambda q=queries, m=model: share(q, m, PlanBudget(steps=1)))  # type: ignore[misc]
            found, greedy = share(queries, model), share(queries, model, PlanBudget(steps=1))
            lines.append(
                f"{size:>8}{basic:>7.0%}{len(graph.vertices):>10}{graph.edges.number_of_edges():>7}{full:>8.2f}"
                f"{least / full:>8.2f}x{found.cost / found.unshared:>17.1%}{greedy.cost / greedy.unshared:>8.1%}"
                f"{'yes' if found.optimal else 'no':>9}"
            )
    return "\n".join(lines)


def timed(rounds: int, run: Callable[[], Any]) -> float:
    taken = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


# --- execution


def unshared(several: Sequence[Asked], model: EngineModel) -> SharedMatches:
    """Every query by itself, as a plan for the executor of those that share."""
    parts: list[MatchPart] = []
    answers: list[MatchAnswer] = []
    for one in several:
        twins = [one, replace(one, query=Query("twin", one.query.asks))]
        alone = shared_matches(share([twin.query for twin in twins], model), twins)
        assert alone is not None
        moved = len(parts)
        parts += (_renumbered(part, moved) for part in alone.parts)
        answers.append(replace(alone.answers[0], part=alone.answers[0].part + moved))
    return SharedMatches(tuple(parts), tuple(answers))


def _renumbered(part: MatchPart, moved: int) -> MatchPart:
    joins = tuple(
        replace(join, part=join.part + moved) if isinstance(join, JoinMatches) else join for join in part.joins
    )
    return replace(part, source=None if part.source is None else part.source + moved, joins=joins)


class Execution:
    """One stream and one workload, answered in several ways."""

    def __init__(self, text: str, events: Any, per_window: float) -> None:
        self.plan, several = asked(text)
        reading = read(events, self.plan.stream)
        self.arranged = arrange_for(reading, classify(reading, self.plan.letters), self.plan.stream, self.plan.queries)
        self.timeline = timeline_of(self.arranged.events, self.arranged.kinds)
        self.evaluator = Evaluator(self.arranged.events.table)
        model = engine(self.plan, per_window)
        queries = [one.query for one in several]
        self.expected = share(queries, model)
        shared = shared_matches(self.expected, several)
        self.shared = shared
        self.names = {a.query for a in shared.answers} if shared else set()
        self.alone = unshared([one for one in several if one.query.name in self.names], model)

    def by_search(self, names: set[str]) -> tuple[Counter[str], int]:
        """Every query by itself, by the depth-first search that executes queries that share nothing."""
        found: Counter[str] = Counter()
        partial = 0
        for query in self.plan.queries:
            if query.name in names:
                enumerator = Enumerator(query, self.timeline, self.evaluator)
                found[query.name] = sum(map(len, enumerator.matches()))
                partial += enumerator._means.budget.partial
        return found, partial

    def by_joins(self, shared: SharedMatches) -> tuple[Counter[str], int]:
        found: Counter[str] = Counter()
        budget = MatchBudget(WhyListed(""), None)
        joins = Joins(shared, self.plan.queries, self.timeline, self.evaluator, self._never, SearchMeans(budget))
        for name, matches in joins.matches():
            found[name] += len(matches)
        return found, sum(part.tried for part in budget.spent.parts.values())

    def _never(self, *_: object) -> Iterator[Any]:
        raise AssertionError("a portion was too large")


def execution(shares: Sequence[float], most: int, queries: int, rounds: int) -> str:
    lines = [
        f"{queries} match queries on up to {most:,} events; of those that share, the work of each by itself over that as shared:",
        "candidates that joins look at; expected by the cost model; CPU time of the same executor, of the search",
        " basic  per window  sharing  parts     matches  candidates  expected   joins  search",
    ]
    for basic in shares:
        for rate, part in STREAMS:
            one = Execution(workload(queries, basic), stream(int(most * part), rate), rate)
            if one.shared is None:
                continue
            ways: dict[str, Callable[[], tuple[Counter[str], int]]] = {
                "shared": lambda o=one: o.by_joins(o.shared),  # type: ignore[misc]
                "joins": lambda o=one: o.by_joins(o.alone),  # type: ignore[misc]
                "search": lambda o=one: o.by_search(o.names),  # type: ignore[misc]
            }
            one.by_joins(one.shared)  # what all ways have in common is computed when it is first asked for
            taken: dict[str, list[float]] = {name: [] for name in ways}
            results: dict[str, tuple[Counter[str], int]] = {}
            for _ in range(rounds):
                for name, run in ways.items():
                    start = time.process_time()
                    results[name] = run()
                    taken[name].append(time.process_time() - start)
            assert results["shared"][0] == results["joins"][0] == results["search"][0], "the ways disagree"
            seconds = {name: statistics.median(several) for name, several in taken.items()}
            tried = {name: found[1] for name, found in results.items()}
            lines.append(
                f"{basic:>6.0%}{rate:>12}{len(one.names):>9}{len(one.shared.parts):>7}{results['shared'][0].total():>12,}"
                f"{tried['joins'] / tried['shared']:>11.2f}x{one.expected.unshared / one.expected.cost:>9.2f}x"
                f"{seconds['joins'] / seconds['shared']:>7.2f}x{seconds['search'] / seconds['shared']:>7.2f}x"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--queries", type=int, nargs="+", default=[20, 50, 100])
    parser.add_argument("--events", type=int, default=1_000_000, help="in the sparsest stream; denser ones have fewer")
    given = parser.parse_args()
    print(planning(given.queries, given.rounds))
    print()
    print(execution([1.0, 0.5, 0.0], given.events, max(given.queries), given.rounds))


if __name__ == "__main__":
    main()
