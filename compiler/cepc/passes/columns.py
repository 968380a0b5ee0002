"""columns: states that are reached on the same letters lie side by side, so that steps between them are one operation
for all.

This is only a layout, so it changes no row of the result and never costs more. It takes what no other pass has taken.

    q: SEQ(A, B, C)     r: SEQ(X, B, C), other windows
    →      B beside B and C beside C: B to C is one operation, twice as wide
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from cepc_runtime.plan import Member, SharedStates

from .workload import counted, leaders

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ..planning.logical import CountableQuery
    from .workload import Context, Workload


def columns(workload: Workload, context: Context) -> Workload:  # noqa: ARG001 - a pass
    """Lay all states side by side that are reached alike and that nothing else has a place for."""
    plan = workload.plan
    taken = {place for part in plan.sharing if not part.equal for place in part.places}
    leader = leaders(plan)
    labels = {query.name: _labels(query) for query in counted(plan)}
    # Queries with more in common are neighbours, so that their columns are neighbours wherever they occur together.
    order = sorted(labels, key=lambda name: sorted(map(repr, labels[name].values())))
    classes: defaultdict[Hashable, list[Member]] = defaultdict(list)
    for name in order:
        for state, label in labels[name].items():
            if (name, state) not in taken and leader.get((name, state), name) == name:
                classes[label].append(Member(name, (state,)))
    return workload.shared(*(SharedStates(tuple(members)) for members in classes.values() if len(members) > 1))


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
