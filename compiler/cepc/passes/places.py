"""Where a query's automaton stands after an event of its pattern."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from .pattern import Event, Seq

if TYPE_CHECKING:
    from cepc_runtime.plan import CountedQuery

    from .pattern import Pattern


def state_of(query: CountedQuery) -> dict[str, int]:
    """By variable, the state in which its events leave the automaton; variables that can leave it in several are left out."""
    targets: defaultdict[str, set[int]] = defaultdict(set)
    for step in query.automaton.steps:
        targets[query.automaton.variables[step.variable]].add(step.target)
    return {variable: min(found) for variable, found in targets.items() if len(found) == 1}


def flat_sequence(pattern: Pattern) -> tuple[Event, ...] | None:
    """The events of a SEQ of single events, the only patterns that Sharon knows; None for any other."""
    elements = pattern.elements if isinstance(pattern, Seq) else (pattern,)
    found = tuple(element for element in elements if isinstance(element, Event))
    return found if len(found) == len(elements) else None
