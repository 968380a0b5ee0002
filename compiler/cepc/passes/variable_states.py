"""Where a query's automaton stands after an event of its pattern."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..planning.logical import CountableQuery


def state_of(query: CountableQuery) -> dict[str, int]:
    """By variable, the state in which its events leave the automaton; variables that can leave it in several are left
    out.
    """
    targets: defaultdict[str, set[int]] = defaultdict(set)
    for step in query.automaton.steps:
        targets[query.automaton.variables[step.variable]].add(step.target)
    return {variable: min(found) for variable, found in targets.items() if len(found) == 1}
