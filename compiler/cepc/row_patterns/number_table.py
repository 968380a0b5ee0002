"""Rows of a table in memory, numbered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cepc_grammar.sql.syntax import SortKey
    from cepc_runtime.plan.row_numbers import SortColumn

    from .numbered import NumberedRows


def number_table(table: Any, rows: NumberedRows) -> Any:
    """The columns that queries see, in the order of the partitions and of their rows. Rows that ORDER BY does not tell
    apart stay as they come.
    """
    import numpy as np
    import pyarrow as pa

    from cepc_runtime.numbers.columns import ranks

    partition = [ranks(table.column(column)).numbers for column in rows.order.partition]
    keys = [*partition, *(sort_key(table.column(one.column), one) for one in rows.order.order)]
    order = np.lexsort(keys[::-1])
    count = len(order)
    begins = np.zeros(count, dtype=bool)
    begins[:1] = True
    for key in partition:
        begins[1:] |= key[order][1:] != key[order][:-1]
    places = np.arange(count)
    first = np.maximum.accumulate(np.where(begins, places, 0))
    group = np.cumsum(begins)
    ordered = table.select(rows.columns).take(pa.array(order))
    ordered = ordered.append_column(rows.number, pa.array(places - first + 1, pa.int64()))
    for one in rows.shifted:
        there = places + one.places
        inside = (there >= 0) & (there < count)
        inside[inside] = group[there[inside]] == group[inside]
        taken = pa.array(np.where(inside, there, 0), pa.int64(), mask=~inside)
        ordered = ordered.append_column(one.name, ordered.column(one.column).take(taken))
    return ordered


def sort_key(column: Any, sort: SortColumn | SortKey) -> Any:
    """Whole numbers in the order of the values."""
    from cepc_runtime.numbers.columns import sorting_numbers

    return sorting_numbers(column, sort.descending, sort.nulls_first)
