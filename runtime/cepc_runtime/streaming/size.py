"""How much a stream keeps, told before it runs. Imports no numpy, so that `cepc explain` need not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..types import Array, DataType, Decimal, Map, Struct
from .decision import Windows, decision_of

if TYPE_CHECKING:
    from ..plan import Plan, QueryPlan

_WIDTHS: Final = {
    "BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "INT": 4, "FLOAT": 4, "DATE": 4, "BIGINT": 8, "DOUBLE": 8, "TIMESTAMP": 8,
    "TIMESTAMP_NTZ": 8,
}  # fmt: skip
_TEXT: Final = 20
"""Of a string: its length, and sixteen bytes that are assumed."""

_LETTERS: Final = 62
"""In a word of bits (`letter_words.BITS`, which needs numpy)."""


@dataclass(frozen=True, slots=True)
class QuerySize:
    """`held` is for how many ticks after an event the watermark has to pass before the query no longer needs it, and
    `windows` in how many open windows of an aggregate query an event stands.
    """

    query: str
    held: int
    windows: int | None


@dataclass(frozen=True, slots=True)
class StateSize:
    """What a bucket keeps is events: `event` bytes each at most, before compression, once for each class of queries that needs it.

    An open window costs `window` bytes beyond the events in it.
    """

    event: int
    window: int
    queries: tuple[QuerySize, ...]


def state_size(plan: Plan) -> StateSize:
    """Of the queries that can be a stream; those with WITHIN UNBOUNDED are left out."""
    letters = 8 * max(1, -(-len(plan.letters) // _LETTERS))
    after = sum(query.after is not None for query in plan.queries)
    event = sum(_width(type_) for _, type_ in plan.stream.columns) + letters + after
    return StateSize(event, 0, tuple(_size(query) for query in plan.queries if query.within is not None))


def _size(query: QueryPlan) -> QuerySize:
    decision = decision_of(query)
    if isinstance(decision, Windows):
        return QuerySize(query.name, decision.within, -(-decision.within // decision.slide))
    return QuerySize(query.name, -decision.needed_from(0), None)


def _width(type_: DataType) -> int:
    match type_:
        case Decimal():
            return 16
        case Array():
            return 4 + 4 * _width(type_.element)
        case Map():
            return 4 + 4 * (_width(type_.key) + _width(type_.value))
        case Struct():
            return sum(_width(field.type) for field in type_.fields)
    return _WIDTHS.get(type_.sql, _TEXT)
