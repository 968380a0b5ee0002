"""Computed columns of a stream: what is read of the input for them, and their values.

>>> from .expression import Call, Field
>>> from .types import BIGINT, TIMESTAMP
>>> at = Computed("at", Call("timestamp_millis", (Field(None, "ts", "each", BIGINT),), TIMESTAMP))
>>> given = StreamInput((("ts", BIGINT), ("id", BIGINT)), (at,))
>>> [name for name, _ in given.needed({"at"}).columns]
['ts']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..cheap_dataclass import dataclass
from .expression import fields

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from .evaluate.errors import EvaluationError
    from .expression import Expression
    from .types import DataType


ASIDE: Final = "_input_"


@dataclass(frozen=True, slots=True)
class Computed:
    """A column that is computed from those of the same record that are declared before it."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class StreamInput:
    """The columns that the input of a stream has, and what is computed from them, in the order of their declaration."""

    columns: tuple[tuple[str, DataType], ...]
    computed: tuple[Computed, ...] = ()

    def needed(self, names: Collection[str]) -> StreamInput:
        """What has to be read and computed to have these columns."""
        wanted, kept = set(names), list[Computed]()
        for column in reversed(self.computed):
            if column.name in wanted:
                wanted.update(field.column for field in fields(column.expression))
                kept.append(column)
        return StreamInput(tuple(c for c in self.columns if c[0] in wanted), tuple(reversed(kept)))

    def source_of(self, name: str) -> str | None:
        """The column of the input that a column is or is computed from; None where these are none or several."""
        columns = self.needed((name,)).columns
        return columns[0][0] if len(columns) == 1 else None


def aside(name: str, computed: Collection[str]) -> str:
    """What Spark calls a column of the input, which takes a computed one of the same name in another case for it.

    >>> aside("Kind", ["kind"]), aside("id", ["kind"])
    ('_input_Kind', 'id')
    """
    twin = any(other.casefold() == name.casefold() for other in computed)
    return f"{ASIDE}{name}" if twin else name


class NoValueError(Exception):
    """A column that cannot be computed of a record: the first such `row` of a table."""

    def __init__(self, column: Computed, row: int, error: EvaluationError) -> None:
        super().__init__(column, row, error)
        self.column, self.row, self.error = column, row, error


def compute(table: Any, computed: Sequence[Computed]) -> Any:
    """The table with these columns added, each from those before it. Raises NoValueError."""
    from .evaluate.errors import EvaluationError

    for column in computed:
        try:
            values = _values(column, table, 0, table.num_rows)
        except EvaluationError:
            raise next(rows_without(column, table)) from None
        table = table.append_column(column.name, values)
    return table


def rows_without(column: Computed, table: Any) -> Iterator[NoValueError]:
    """The rows for which there is no value, found by halves: it takes as long as there are many."""
    from .evaluate.errors import EvaluationError

    waiting = [(0, table.num_rows)]
    while waiting:
        start, end = waiting.pop()
        try:
            _values(column, table, start, end)
        except EvaluationError as error:
            if end - start == 1:
                yield NoValueError(column, start, error)
            else:
                middle = (start + end) // 2
                waiting += [(middle, end), (start, middle)]


def _values(column: Computed, table: Any, start: int, end: int) -> Any:
    from ..numbers.columns import flat
    from .evaluate.evaluator import evaluate

    rows = table.slice(start, end - start)
    found = {field.key: flat(rows.column(field.column)) for field in fields(column.expression)}
    return evaluate(column.expression, found, end - start)
