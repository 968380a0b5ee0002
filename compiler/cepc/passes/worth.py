"""How much planning is worth before a run whose events are known: a tenth of what it can still save.

All is counted and nothing timed, so that the same events have the same plan; what a count takes is written here, as
measured by `bench/queries.py`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from cepc_runtime.plan.positions import pattern_letters

from ..planning.logical import counted
from .engine import load, width

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from cepc_runtime.plan.query import QueryPlan

    from ..planning.logical import LogicalPlan
    from .engine import EngineModel
    from .workload import Context, Workload

SHARE: Final = 0.1
SMALL: Final = 10e6  # nanoseconds; less is not worth thinking about
QUERY: Final = 200_000.0  # of the passes that are never dearer
TWICE: Final = 2.0
OPERATIONS: Final = 2.0  # of a step: it adds a row, and its event's value
EVENT: Final = 500.0  # of those that are looked at to know how frequent they are
STEP: Final = 20_000.0  # of an optimiser
JOINED: Final = 200.0  # of an event, about: a join finds matches in less time than a search
STEPS_OF_A_QUERY: Final = 20  # that an optimiser takes before its first


def worth_planning(plan: LogicalPlan, events: int, sample: int, model: EngineModel) -> bool:
    """Whether what the queries repeat of each other takes twice as long on so many events as to look for it, and at a
    sample of the events before. Letters are taken to be equally frequent. Match queries that have nothing in common
    gain by it what joins take less than a search; of others nothing is known before.
    """
    cost = QUERY * len(plan.queries) + EVENT * min(sample, events)
    matches = [query for query in plan.queries if query.kind == "match"]
    if cost < SMALL or _meet(matches):
        return True
    saved = _repeated(plan, model) / max(len(plan.letters), 1) + (JOINED if matches else 0.0)
    return saved * events >= TWICE * cost


def _meet(queries: Sequence[QueryPlan]) -> bool:
    """Whether one of them has two letters that others have too."""
    letters = [frozenset(pattern_letters(query.positions)) for query in queries]
    users = Counter(letter for own in letters for letter in own)
    return any(sum(users[letter] > 1 for letter in own) > 1 for own in letters)


def _repeated(plan: LogicalPlan, model: EngineModel) -> float:
    """Nanoseconds of the steps that several queries have after the same two events, on an event of each letter, but for
    the first of each.
    """
    seen: set[Hashable] = set()
    cost = 0.0
    for query in counted(plan):
        automaton, wide = query.automaton, OPERATIONS * model.row(width(query))
        into: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)
        for step in automaton.steps:
            into[step.target].add((step.letter, step.source))
        for step in automaton.steps:
            before = frozenset(
                (letter, frozenset(into[source])) for letter, source in into[step.source] if source != step.source
            )
            alike = query.partition, query.window, step.letter, before
            cost += wide if alike in seen else 0.0
            seen.add(alike)
    return cost


def steps_worth(workload: Workload, context: Context, seconds: float) -> int:
    """Steps of an optimiser for a stream of so many seconds, 0 where it would take more before its first. What basis
    columns can save are the numbers that row operations add.
    """
    numbers = load(workload.plan, context.rates, context.model, context.second).numbers
    steps = int(SHARE * numbers * context.model.number * seconds / STEP)
    return steps if steps > STEPS_OF_A_QUERY * len(workload.plan.queries) else 0
