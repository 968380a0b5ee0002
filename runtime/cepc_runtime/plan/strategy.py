"""Strategies: how the rows of a query are found, and why so."""

from __future__ import annotations

from dataclasses import field, fields
from typing import TYPE_CHECKING, Any, Generic, TypeGuard, TypeVar
from typing import Literal as OneOf

from ..cheap_dataclass import dataclass
from .query import QueryPlan, letters_listed
from .windows import Sessions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..sql.expression import Expression
    from .automaton import Automaton
    from .windows import Sliding


@dataclass(frozen=True, slots=True)
class AdjacentCondition:
    """A condition between an event and the event read just before it, on the edges where `step` indexes
    `Automaton.steps`.

    In `expression` the earlier event's fields are of variable "earlier", the later one's of "later". Where it is a
    plain comparison `later.x OP earlier.y`, the engine may use an order-statistics tree.
    """

    steps: tuple[int, ...]
    expression: Expression


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a query has its strategy. `text` is the condition, or the NOT, that decides it, if one does; of joins the
    queries with which parts are shared. It is for people: strategies are equal without it, and no engine sees it.
    """

    kind: OneOf[
        "single events", "neighbours",
        "match query", "bound", "no neighbours", "running", "whole", "negated", "NEXT", "NOT", "undecided", "states",
        "letters", "joins", "native",
    ]  # fmt: skip
    text: str = ""


@dataclass(frozen=True, slots=True)
class Count:
    """The kernel counts matches: values move between the states of the automaton, and no match is ever made."""

    automaton: Automaton
    reason: Reason = field(default=Reason("single events"), compare=False)


@dataclass(frozen=True, slots=True)
class CountNeighbours:
    """The same with conditions between an event and the one read just before it, which are checked on the automaton's
    steps.
    """

    automaton: Automaton
    conditions: tuple[AdjacentCondition, ...]
    reason: Reason = field(default=Reason("neighbours"), compare=False)


@dataclass(frozen=True, slots=True)
class List:
    """Matches are listed over the positions, and aggregated afterwards in an aggregate query."""

    reason: Reason = field(default=Reason("match query"), compare=False)


@dataclass(frozen=True, slots=True)
class Join:
    """Matches are joined from those of parts of the pattern: `shared` is the place in `shared_matches` of the plan that
    says how.
    """

    shared: int
    reason: Reason = field(default=Reason("joins"), compare=False)


@dataclass(frozen=True, slots=True)
class Fitting:
    """The type that a value has to fit, and what is said where it does not; nothing is said where it is null then."""

    type: str
    said: str | None
    cure: str


@dataclass(frozen=True, slots=True)
class NativeAggregate:
    """An aggregate as Spark computes it: of the events of a pane, then of the panes of a window, then in its type."""

    name: str
    of_events: str
    of_panes: str
    fitting: Fitting | None


@dataclass(frozen=True, slots=True)
class Native:
    """Spark aggregates the events of a letter alone, by its own functions: in panes, then in windows, all in its SQL.
    `windows` is None where panes are the windows; `edges` are a window's. A job has it as text, and its plan never
    holds it.
    """

    letter: int
    pane: str
    windows: Sliding | None
    edges: tuple[str, str]
    aggregates: tuple[NativeAggregate, ...]
    having: str | None
    outputs: tuple[tuple[str, str], ...]
    reason: Reason = field(default=Reason("native"), compare=False)


CountStrategy = Count | CountNeighbours
Strategy = Count | CountNeighbours | List | Join | Native
S = TypeVar("S", bound=Strategy)
S_co = TypeVar("S_co", bound=Strategy, covariant=True)


@dataclass(frozen=True, slots=True)
class QueryBy(QueryPlan, Generic[S_co]):
    """A query with the strategy by which it is executed."""

    strategy: S_co

    @property
    def automaton(self: QueryBy[CountStrategy]) -> Automaton:
        """Of a query that is counted."""
        return self.strategy.automaton


PhysicalQuery = QueryBy[Strategy]
CountedQuery = QueryBy[CountStrategy]
NeighboursQuery = QueryBy[CountNeighbours]
NativeQuery = QueryBy[Native]


def executed(query: QueryPlan, strategy: S) -> QueryBy[S]:
    """What a query asks, by the strategy."""
    asked: dict[str, Any] = {field.name: getattr(query, field.name) for field in fields(QueryPlan)}
    return QueryBy(**asked, strategy=strategy)


def is_counted(query: PhysicalQuery) -> TypeGuard[CountedQuery]:
    return isinstance(query.strategy, Count | CountNeighbours)


def is_native(query: PhysicalQuery) -> TypeGuard[NativeQuery]:
    return isinstance(query.strategy, Native)


def has_neighbours(query: PhysicalQuery) -> TypeGuard[NeighboursQuery]:
    return isinstance(query.strategy, CountNeighbours)


def letters_read(query: PhysicalQuery) -> frozenset[int]:
    """The letters that its executor asks events for, negated ones too, and what makes sessions."""
    return _letters_of_matches(query).union(query.window.letters if isinstance(query.window, Sessions) else ())


def _letters_of_matches(query: PhysicalQuery) -> frozenset[int]:
    match query.strategy:
        case Count(automaton) | CountNeighbours(automaton):
            return automaton.letters
        case Native(letter):
            return frozenset((letter,))
        case List() | Join():
            return letters_listed(query)


def counted_queries(queries: Iterable[PhysicalQuery]) -> list[CountedQuery]:
    return [query for query in queries if is_counted(query)]
