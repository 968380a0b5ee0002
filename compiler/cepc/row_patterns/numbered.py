"""The rows of a table as a query of ours sees them: numbered in each partition from 1, in the order of ORDER BY.

The number is the event time. So there are no ties, and the columns of ORDER BY may be of any type. What PREV and NEXT
ask of other rows are columns, too: they are made where the order is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cepc_runtime.plan.row_numbers import ShiftedColumn, SortColumn

NUMBER: Final = "row"


@dataclass(frozen=True, slots=True)
class RowOrder:
    """What clauses must have in common for their queries to be over one stream."""

    table: str
    partition: tuple[str, ...]
    order: tuple[SortColumn, ...]


@dataclass(frozen=True, slots=True)
class NumberedRows:
    """`columns` are those of the table that queries see, beside `number` and what is `shifted`."""

    order: RowOrder
    columns: tuple[str, ...]
    shifted: tuple[ShiftedColumn, ...]
    number: str

    def with_those_of(self, other: NumberedRows) -> NumberedRows:
        columns = dict.fromkeys((*self.columns, *other.columns))
        return replace(self, columns=tuple(columns), shifted=tuple(dict.fromkeys((*self.shifted, *other.shifted))))


def unused(name: str, taken: frozenset[str]) -> str:
    """The name, with a mark behind it where a column is called so, in any case.

    >>> unused("row", frozenset({"ROW"}))
    "row'"
    """
    folded = {one.casefold() for one in taken}
    while name.casefold() in folded:
        name += "'"
    return name


def counted(name: str, between: str, taken: Iterable[str]) -> str:
    """The name, with a number behind it where it is taken, in any case.

    >>> counted("m", "_", ["M", "M_2"])
    'm_3'
    """
    folded = {one.casefold() for one in taken}
    found, number = name, 1
    while found.casefold() in folded:
        number += 1
        found = f"{name}{between}{number}"
    return found
