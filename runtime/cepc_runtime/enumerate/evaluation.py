"""Expressions over events named by their positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from ..numbers.columns import flat
from ..sql.evaluate import evaluate
from ..sql.expression import fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..numbers.columns import Ints
    from ..sql.expression import Aggregate, Expression, FieldKey


class OfEvents(Protocol):
    """Evaluates expressions about one event each, for events named by numbers."""

    def of_events(self, expression: Expression, events: Ints) -> Any:
        """Its value for each of the events, as one array."""


class Evaluator:
    """Evaluates expressions over the columns of a table of events."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self._columns: dict[str, Any] = {}

    def column(self, name: str) -> Any:
        """The column as one array."""
        if name not in self._columns:
            self._columns[name] = flat(self.table.column(name))
        return self._columns[name]

    def take(self, name: str, positions: Ints) -> Any:
        """The column's values of the events at the positions; null where a position is -1."""
        absent = positions < 0
        indices = pa.array(positions, mask=absent) if absent.any() else pa.array(positions)
        return pc.take(self.column(name), indices)

    def values(self, expression: Expression, positions: Mapping[FieldKey, Ints], count: int) -> Any:
        """The expression for each tuple; field values are of the events given."""
        return evaluate(expression, self._fields(positions), count)

    def of_events(self, expression: Expression, positions: Ints) -> Any:
        """The expression, all of whose fields are of one event, for each of the events."""
        return flat(self.values(expression, {field.key: positions for field in fields(expression)}, len(positions)))

    def _fields(self, positions: Mapping[FieldKey, Ints]) -> dict[FieldKey | Aggregate, Any]:
        return {key: self.take(key.column, at) for key, at in positions.items()}
