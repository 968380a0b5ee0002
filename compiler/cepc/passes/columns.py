"""columns: states that are reached on the same letters lie side by side, so that steps between them are one operation
for all.

This is only a layout, so it changes no row of the result. It takes what no other pass has taken, and of many queries
only where fewer operations come of it: what is one operation on a state by itself is one for each of its numbers beside
others, so a class of states whose steps have little in common costs more than it saves.

    q: SEQ(A, B, C)     r: SEQ(X, B, C), other windows
    →      B beside B and C beside C: B to C is one operation, twice as wide
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.sharing import Member, SharedStates

from ..planning.logical import counted, leaders
from .engine import QueryState, planes

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from ..planning.logical import CountableQuery
    from .workload import Context, Workload

Classes = dict["Hashable", list[QueryState]]
MANY: Final = 16  # queries


def columns(workload: Workload, context: Context) -> Workload:
    """Lay all states side by side that are reached alike and that nothing else has a place for, where that saves."""
    plan = workload.plan
    queries = counted(plan)
    taken = {place for part in plan.sharing if not part.equal for place in part.places}
    leader = leaders(plan)
    labels = {query.name: _labels(query) for query in queries}
    # Queries with more in common are neighbours, so that their columns are neighbours wherever they occur together.
    order = sorted(labels, key=lambda name: sorted(map(repr, labels[name].values())))
    classes: defaultdict[Hashable, list[QueryState]] = defaultdict(list)
    for name in order:
        for state, label in labels[name].items():
            if (name, state) not in taken and leader.get((name, state), name) == name:
                classes[label].append((name, state))
    several = {label: places for label, places in classes.items() if len(places) > 1}
    rates = [context.rates.rate(letter) for letter in plan.letters]
    kept = _worthwhile(several, list(_moves(workload, queries, rates))) if is_weighed(workload, context) else several
    return workload.shared(
        *(SharedStates(tuple(Member(name, (state,)) for name, state in places)) for places in kept.values())
    )


def is_weighed(workload: Workload, context: Context) -> bool:
    """Whether a layout has to save something: where it is for a run whose events are known, or for many queries. A job
    of few, whose events nobody knows, has all that could lie side by side.
    """
    return context.seconds is not None or len(workload.plan.queries) >= MANY


@dataclass(frozen=True, slots=True)
class _Move:
    """A row operation: how often in a second, and about how many numbers it adds for each window."""

    source: QueryState
    target: QueryState
    letter: int
    rate: float
    planes: int


def _moves(workload: Workload, queries: Sequence[CountableQuery], rates: Sequence[float]) -> Iterator[_Move]:
    """Of states that are kept once, once."""
    led: dict[QueryState, QueryState] = {}
    for part in workload.plan.sharing:
        if part.equal:
            first = part.members[0]
            for member in part.members:
                both = zip(member.states, first.states, strict=True)
                led |= {(member.query, own): (first.query, state) for own, state in both}
    for query in queries:
        deep = planes(query)
        for step in query.automaton.steps:
            source, target = (query.name, step.source), (query.name, step.target)
            if led.get(target, target) == target:
                yield _Move(led.get(source, source), target, step.letter, rates[step.letter], deep)


def _worthwhile(classes: Classes, moves: Sequence[_Move]) -> Classes:
    """Without the classes that make more operations than they save, until none does."""
    while classes:
        saved = _saved(classes, moves)
        losing = [label for label in classes if saved.get(label, 0.0) < 0]
        if not losing:
            break
        classes = {label: places for label, places in classes.items() if saved.get(label, 0.0) >= 0}
    return classes


def _saved(classes: Classes, moves: Sequence[_Move]) -> Mapping[Hashable, float]:
    """By class, the operations in a second that become fewer where it begins or ends one."""
    at = {place: (label, i) for label, places in classes.items() for i, place in enumerate(places)}
    together: defaultdict[Hashable, list[tuple[int, int, _Move]]] = defaultdict(list)
    for move in moves:
        source, target = at.get(move.source), at.get(move.target)
        if source is None and target is None:
            continue
        ends = source[0] if source else move.source, target[0] if target else move.target
        together[ends, move.letter].append((target[1] if target else 0, source[1] if source else 0, move))
    saved: defaultdict[Hashable, float] = defaultdict(float)
    for of in together.values():
        of.sort(key=lambda found: found[:2])
        made, before = 0, (-2, -2)
        for to, off, move in of:
            if (to, off) != (before[0] + 1, before[1] + 1):
                made += move.planes
            before = to, off
        move = of[0][2]
        for label in {at[end][0] for end in (move.source, move.target) if end in at}:
            saved[label] += move.rate * (len(of) - made)
    return saved


def _labels(query: CountableQuery) -> dict[int, Hashable]:
    """What makes a state stand beside another: the query's groups, the letters that lead to it, and which of such
    states it is.
    """
    automaton = query.automaton
    letters: defaultdict[int, set[int]] = defaultdict(set)
    for step in automaton.steps:
        letters[step.target].add(step.letter)
    seen: defaultdict[Hashable, int] = defaultdict(int)
    labels: dict[int, Hashable] = {}
    for state in range(automaton.states):
        reached = tuple(sorted(query.partition)), tuple(sorted(letters[state]))
        labels[state] = (*reached, seen[reached])
        seen[reached] += 1
    return labels
