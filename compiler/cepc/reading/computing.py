"""Computed columns of events that are read, and what becomes of a record of which one cannot be computed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from cepc_runtime.computed import NoValueError, compute
from cepc_runtime.expression import fields
from cepc_runtime.functions.portable import spark_only

from ..errors import DataError
from . import messages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cepc_runtime.columns import Ints
    from cepc_runtime.computed import Computed


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """Where the rows of a table come from: a file, unless a caller gave them, and how many rows of it came before.
    `rows` are their numbers among these, where some were left out.
    """

    stream: str
    file: str
    before: int = 0
    rows: Callable[[], Ints] | None = None

    def among(self, rows: Callable[[], Ints]) -> RecordPlace:
        return replace(self, rows=rows)

    def record(self, row: int) -> int:
        """The number of a row, from 1."""
        return self.before + int(row if self.rows is None else self.rows()[row]) + 1


def with_computed(table: Any, computed: Sequence[Computed], place: RecordPlace) -> Any:
    """The table with these columns added. Raises DataError."""
    for column in computed:
        if functions := spark_only(column.expression):
            raise DataError([messages.spark_only(column.name, place.stream, functions[0])])
    try:
        return compute(table, computed)
    except NoValueError as error:
        refuse(table, error, place)


def refuse(table: Any, error: NoValueError, place: RecordPlace) -> NoReturn:
    """A record that cannot be an event, because a column of it cannot be computed, ends the run."""
    read = [field.column for field in fields(error.column.expression)]
    known = table.select([name for name in read if name in table.column_names]).slice(error.row, 1)
    values = {name: str(known.column(name)[0]) for name in known.column_names}
    raise DataError(
        [messages.no_value(place.stream, error.column.name, place.file, place.record(error.row), values, error.error)]
    ) from None
