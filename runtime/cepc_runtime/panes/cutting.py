"""Which queries have panes, and how long these are in a batch. Imports no numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeGuard

from ..plan.select import SelectAny
from ..plan.strategy import Count
from ..plan.windows import Sliding, TimeParts
from ..sql.types import is_numeric

if TYPE_CHECKING:
    from ..plan.strategy import CountedQuery, PhysicalQuery

PANES: Final = 8
"""The least time between two edges of windows is cut into so many panes, if its ticks allow it, so that tasks are many.
"""


def adds_numbers(query: PhysicalQuery) -> bool:
    """Whether its sums are over numbers."""
    return all(m.argument is None or not m.function.adds or is_numeric(m.argument.type) for m in query.measures)


def can_be_cut(query: PhysicalQuery) -> TypeGuard[CountedQuery]:
    """Whether windows are products of panes: a counted query with a window, without NOT and conditions between
    neighbours, that adds up numbers only.
    """
    if not isinstance(query.strategy, Count) or not isinstance(query.window, Sliding):
        return False
    a = query.strategy.automaton
    if a.moves or a.new_moves or a.kills:
        return False
    return isinstance(query.select, SelectAny) and adds_numbers(query)


def has_loops(query: CountedQuery) -> bool:
    """Whether matches have any number of events: there are then exponentially many, and numbers of panes, which are
    exact, have as many digits as a pane has events.
    """
    edges = {(step.source, step.target) for step in (*query.automaton.steps, *query.automaton.ties)}
    while ends := {source for source, _ in edges} & {target for _, target in edges}:
        rest = {(source, target) for source, target in edges if source in ends and target in ends}
        if rest == edges:
            return True
        edges = rest
    return False


def panes_in_time(window: Sliding) -> TimeParts:
    """Those into which events are cut; between any edge of a window and the next are whole ones."""
    edges = window.panes.length
    length = next(edges // count for count in range(min(PANES, edges), 0, -1) if edges % count == 0)
    return TimeParts(length, window.offset % length)
