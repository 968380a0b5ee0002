"""Folded panes as tables of Arrow: one says which panes, the other what they tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..numbers.columns import flat
from ..numbers.number_columns import from_arrow, to_arrow
from .folded import Folded
from .products import EXTREME

if TYPE_CHECKING:
    from .folded import Kept
    from .shared_panes import Family


def projected(folded: Folded, family: Family, some: Family) -> Folded:
    """What the panes tell of `some` of the family's queries."""
    places = {number: place for place, number in enumerate(family.numbers)}
    return Folded(folded.keys, folded.panes, tuple(folded.numbers[places[number]] for number in some.numbers))


def index_table(folded: Folded) -> Any:
    """The partition, column by column, then the pane's number in time."""
    columns = [*folded.keys.values(), pa.array(folded.panes)]
    return pa.table(columns, [*(f"key {i}" for i in range(len(folded.keys))), "pane"])


def numbers_table(folded: Folded) -> Any:
    columns = [column if isinstance(column, pa.Array) else to_arrow(column) for column in folded.numbers]
    return pa.table(columns, [str(i) for i in range(len(columns))])


def from_index(family: Family, index: Any, numbers: tuple[Any, ...] | Kept) -> Folded:
    *keys, panes = (flat(column) for column in index.columns)
    named = dict(zip(family.partition, keys, strict=True))
    return Folded(named, np.array(panes.to_numpy(), dtype=np.int64), numbers)


def to_table(folded: Folded) -> Any:
    """Both as one."""
    index, numbers = index_table(folded), numbers_table(folded)
    return pa.table([*index.columns, *numbers.columns], [*index.column_names, *numbers.column_names])


def from_table(family: Family, table: Any) -> Folded:
    columns = table.column_names
    index = len(family.partition) + 1
    return from_index(family, table.select(columns[:index]), from_numbers(family, table.select(columns[index:])))


def from_numbers(family: Family, table: Any) -> tuple[Any, ...]:
    columns = zip(family.numbers, (flat(column) for column in table.columns), strict=True)
    return tuple(column if number.role in EXTREME else from_arrow(column) for number, column in columns)
