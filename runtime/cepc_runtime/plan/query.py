"""What a query asks."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, TypeVar
from typing import Literal as OneOf

from ..cheap_dataclass import dataclass
from ..sql.expression import aggregates
from .positions import ConditionPlan, Positions, pattern_letters
from .select import Select, SelectNext

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..sql.aggregate_functions import AggregateFunction
    from ..sql.expression import Expression
    from .after import AfterMatchSkip
    from .windows import Window


@dataclass(frozen=True, slots=True)
class Measure:
    """One aggregate of a query: of `argument` over the events bound to `variable`; COUNT(*) has neither, COUNT(E) no
    argument.

    `exact`: DOUBLE targets alone may be computed approximately (`CAST(COUNT(*) AS DOUBLE)`); what is DOUBLE by nature
    always is.
    """

    function: AggregateFunction
    variable: str | None
    argument: Expression | None
    exact: bool = True

    @property
    def is_whole(self) -> bool:
        """Whether it is computed from integers alone."""
        return self.function.is_whole(None if self.argument is None else self.argument.type)


@dataclass(frozen=True, slots=True)
class OutputPlan:
    """A result column: an expression over `Field(None, attribute)` and Aggregates."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """What one query asks, and nothing of how it is executed. `lists` names the list variables. With `each` the outputs
    are of each event of a match, with it they stand in a row.
    """

    name: str
    kind: OneOf["aggregate", "match"]
    partition: tuple[str, ...]
    group_by: tuple[str, ...]
    window: Window
    variables: tuple[str, ...]
    lists: tuple[str, ...]
    positions: Positions
    conditions: tuple[ConditionPlan, ...]
    measures: tuple[Measure, ...]
    outputs: tuple[OutputPlan, ...]
    having: Expression | None
    returns_events: bool
    select: Select
    after: AfterMatchSkip | None
    each: bool = field(default=False, kw_only=True)


Q = TypeVar("Q", bound=QueryPlan)


def numbers_matches(query: QueryPlan) -> bool:
    """Whether MATCH_NUMBER() is in its rows or their condition."""
    shown = [output.expression for output in query.outputs] + ([query.having] if query.having is not None else [])
    return any(aggregate.function.numbers for expression in shown for aggregate in aggregates(expression))


def letters_listed(query: QueryPlan) -> frozenset[int]:
    """The letters of which events are needed to list its matches, however it is executed. Under SELECT NEXT these are
    told apart by more letters: a variable with several tests has one for each combination of them.
    """
    found = frozenset(pattern_letters(query.positions))
    return found | query.select.prefixes.letters if isinstance(query.select, SelectNext) else found


def by_partition(queries: Iterable[Q]) -> list[list[Q]]:
    """The queries with equal partition attributes together, in the order of first occurrence."""
    found: dict[tuple[str, ...], list[Q]] = {}
    for query in queries:
        found.setdefault(tuple(sorted(query.partition)), []).append(query)
    return list(found.values())
