"""Computed columns of events that are read, and what becomes of a record of which one cannot be computed."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.computed import NoValueError, compute, rows_without
from cepc_runtime.sql.expression import fields
from cepc_runtime.sql.functions.portable import spark_only

from ..errors import DataError
from . import messages
from .bad_records import Said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_runtime.numbers.columns import Ints
    from cepc_runtime.sql.computed import Computed


@dataclass(frozen=True, slots=True)
class InputRows:
    """Rows of a table that come from a file, unless a caller gave them: `numbers` says which records of it they are."""

    stream: str
    file: str
    table: Any
    numbers: Ints | range

    def where(self, mask: Any) -> InputRows:
        """Those for which it holds."""
        import numpy as np

        numbers = self.numbers
        if isinstance(numbers, range):
            numbers = np.arange(numbers.start, numbers.stop)
        return replace(self, table=self.table.filter(mask), numbers=numbers[np.asarray(mask)])

    def without(self, rows: Sequence[int]) -> InputRows:
        import numpy as np

        mask = np.ones(self.table.num_rows, bool)
        mask[list(rows)] = False
        return self.where(mask)


def with_computed(rows: InputRows, computed: Sequence[Computed], most: int | None) -> tuple[InputRows, list[Said]]:
    """The rows with these columns added, without those that cannot be events because a column of them cannot be
    computed: of these not more than `most` are looked for, and then nothing comes of the others. Raises DataError.
    """
    for column in computed:
        if functions := spark_only(column.expression):
            raise DataError([messages.spark_only(column.name, rows.stream, functions[0])])
    wrong: list[Said] = []
    for column in computed:
        try:
            table = compute(rows.table, (column,))
        except NoValueError:
            without = list(islice(rows_without(column, rows.table), most))
            wrong += (_said(rows, error) for error in without)
            rows = rows.without([error.row for error in without])
            if len(without) == most:  # there may be more, and nothing comes of the other rows
                rows = replace(rows, table=rows.table.slice(0, 0), numbers=rows.numbers[:0])
            table = compute(rows.table, (column,))
        rows = replace(rows, table=table)
    return rows, wrong


def _said(rows: InputRows, error: NoValueError) -> Said:
    """What is said of a record of which a column cannot be computed."""
    read = [field.column for field in fields(error.column.expression)]
    known = rows.table.select([name for name in read if name in rows.table.column_names]).slice(error.row, 1)
    values = {name: str(known.column(name)[0]) for name in known.column_names}
    record = int(rows.numbers[error.row])
    problem = messages.no_value(rows.stream, error.column.name, rows.file, record, values, error.error)
    return Said(record, problem, messages.why_no_value(error.error))
