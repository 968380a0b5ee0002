"""What the queries over a stream ask, and what they share: what the passes rewrite. By which strategy each is executed
is not known here; that is for the last pass, which makes a `PhysicalPlan` of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeGuard, TypeVar

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.query import QueryPlan
from cepc_runtime.plan.select import SelectAny
from cepc_runtime.plan.sharing import check_shared_once

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc_runtime.plan.automaton import Automaton
    from cepc_runtime.plan.physical import Needs
    from cepc_runtime.plan.sharing import SharedMatches, SharedStates
    from cepc_runtime.plan.strategy import AdjacentCondition, Reason
    from cepc_runtime.plan.stream import Letter, StreamPlan


@dataclass(frozen=True, slots=True)
class Countable:
    """Matches can be counted along the automaton, whose words they are."""

    automaton: Automaton


@dataclass(frozen=True, slots=True)
class CountableNeighbours:
    """The same where conditions between an event and the one read just before it are checked on the automaton's
    steps.
    """

    automaton: Automaton
    conditions: tuple[AdjacentCondition, ...]


@dataclass(frozen=True, slots=True)
class Uncountable:
    """Matches have to be found one by one, and why."""

    reason: Reason


Countability = Countable | CountableNeighbours | Uncountable
C_co = TypeVar("C_co", bound=Countability, covariant=True)


@dataclass(frozen=True, slots=True)
class LogicalQuery(QueryPlan, Generic[C_co]):
    """What a query asks, and whether its matches can be counted."""

    counting: C_co

    @property
    def automaton(self: LogicalQuery[Countable | CountableNeighbours]) -> Automaton:
        return self.counting.automaton


CountableQuery = LogicalQuery[Countable]


def is_countable(query: LogicalQuery[Countability]) -> TypeGuard[CountableQuery]:
    """Whether it is without conditions between neighbours, too."""
    return isinstance(query.counting, Countable)


@dataclass(frozen=True, slots=True)
class LogicalPlan:
    """All queries of a program over one stream, what they share and what their matches need, as in a `PhysicalPlan`."""

    stream: StreamPlan
    letters: tuple[Letter, ...]
    queries: tuple[LogicalQuery[Countability], ...]
    sharing: tuple[SharedStates, ...] = ()
    shared_matches: tuple[SharedMatches, ...] = ()
    needs: tuple[Needs, ...] = ()

    def __post_init__(self) -> None:
        check_shared_once(self.sharing)


def counted(plan: LogicalPlan) -> tuple[CountableQuery, ...]:
    """The queries that the counting kernel can share states of: an automaton, no conditions between neighbours, and all
    matches.
    """
    return tuple(q for q in plan.queries if is_countable(q) and isinstance(q.select, SelectAny))


def leaders(plan: LogicalPlan) -> Mapping[tuple[str, int], str]:
    """For each state that is kept once for several queries, the first of them, whose columns stand for all."""
    return {
        (member.query, state): part.members[0].query
        for part in plan.sharing
        if part.equal
        for member in part.members
        for state in member.states
    }
