"""The queries that find a pane's matrix: one for each pair of states, with panes as groups.

The automaton of the query from state i to state j is the query's own, with i as its start and j alone accepting. For one i
they hold the same, so all of them together are kept once; and those of different i lie side by side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeGuard

from ..expression import Field, Literal
from ..plan import Count, CountedQuery, Member, OutputPlan, SharedStates
from ..types import BIGINT, INT
from ..windows import Sliding, Unbounded
from .numbers import has_numbers, measures_of, numbers_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..plan import Automaton, QueryPlan
    from ..types import DataType

PANE: Final = "pane"
SOURCE: Final = "source"
TARGET: Final = "target"

PARTS: Final = 8
"""The least time between two edges of windows is cut into so many panes, if its ticks allow it, so that tasks are many."""


@dataclass(frozen=True, slots=True)
class PaneQueries:
    """A pane is `length` ticks. The results of all `queries` have the same columns."""

    query: CountedQuery
    length: int
    queries: tuple[CountedQuery, ...]
    sharing: tuple[SharedStates, ...]


def can_be_cut(query: QueryPlan) -> TypeGuard[CountedQuery]:
    """Whether windows are products of panes: a counted query with a window, without NOT and conditions between neighbours, that
    adds up numbers only.
    """
    if not isinstance(query.strategy, Count) or not isinstance(query.window, Sliding):
        return False
    a = query.strategy.automaton
    if a.moves or a.new_moves or a.kills:
        return False
    return query.select == "ANY" and has_numbers(query)


def has_loops(query: CountedQuery) -> bool:
    """Whether matches have any number of events: there are then exponentially many, and numbers of panes, which are exact, have as
    many digits as a pane has events.
    """
    edges = {(step.source, step.target) for step in (*query.automaton.steps, *query.automaton.ties)}
    while ends := {source for source, _ in edges} & {target for _, target in edges}:
        rest = {(source, target) for source, target in edges if source in ends and target in ends}
        if rest == edges:
            return True
        edges = rest
    return False


def pane_length(window: Sliding) -> int:
    """In ticks; a divisor of those from any edge of a window to the next."""
    edges = window.pane
    return next(edges // parts for parts in range(min(PARTS, edges), 0, -1) if edges % parts == 0)


def pane_queries(query: CountedQuery, types: Mapping[str, DataType], pane_column: str) -> PaneQueries:
    """The queries for one that can be cut; events say their pane in `pane_column`, `types` are those of the stream's columns."""
    automaton = query.automaton
    assert isinstance(query.window, Sliding)
    keys = (*query.partition, pane_column)
    columns = [OutputPlan(key_name(i), Field(None, key, "each", types[key])) for i, key in enumerate(query.partition)]
    columns.append(OutputPlan(PANE, Field(None, pane_column, "each", BIGINT)))
    numbers = tuple(numbers_of(query))
    states = tuple(range(automaton.states))
    queries = []
    for i in states:
        for j in states:
            ends = (OutputPlan(SOURCE, Literal(i, INT)), OutputPlan(TARGET, Literal(j, INT)))
            queries.append(
                replace(
                    query, name=_name(query, i, j), partition=keys, group_by=keys, window=Unbounded(),
                    strategy=Count(between(automaton, i, j)), measures=measures_of(numbers),
                    outputs=(*columns, *ends, *numbers), having=None,
                )
            )  # fmt: skip
    kept = [SharedStates(tuple(Member(_name(query, i, j), states) for j in states), equal=True) for i in states]
    beside = SharedStates(tuple(Member(_name(query, i, 0), _swapped(automaton, i)) for i in states))
    return PaneQueries(query, pane_length(query.window), tuple(queries), (*kept, beside))


def key_name(number: int) -> str:
    """The column of a partition attribute."""
    return f"key_{number}"


def _name(query: QueryPlan, start: int, end: int) -> str:
    return f"{query.name} {start} {end}"


def _swapped(automaton: Automaton, start: int) -> tuple[int, ...]:
    """The states' numbers when `start` and 0 have changed places."""
    return tuple({0: start, start: 0}.get(state, state) for state in range(automaton.states))


def between(automaton: Automaton, start: int, end: int) -> Automaton:
    number = _swapped(automaton, start)
    return replace(
        automaton,
        steps=tuple(replace(s, source=number[s.source], target=number[s.target]) for s in automaton.steps),
        ties=tuple(replace(s, source=number[s.source], target=number[s.target]) for s in automaton.ties),
        accepting=(number[end],),
    )
