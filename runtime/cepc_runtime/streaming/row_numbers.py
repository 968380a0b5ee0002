"""The numbers of rows in their partitions, in a stream: a row has its own when the watermark has passed it, for what
may still come is later, or late.

No partition is remembered for them. Numbers go on from the last row that is held, and begin anew where none is: they
say which of two rows is before the other, and how many lie between, and no match has rows that are held and rows that
are not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..events.grouped import groups_of, places_after
from ..numbers.columns import flat, ranks, sorting_numbers
from ..numbers.sorting import order_of
from .lags import with_values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..events.grouped import Reading
    from ..numbers.columns import Bools, Ints
    from ..plan.row_numbers import RowNumbers, ShiftedColumn


def with_row_numbers(reading: Reading, known: Bools, new: Bools, numbers: RowNumbers) -> Reading:
    """The events, of which the `new` ones are among those that are `known`, behind all that were known before."""
    if not new.any():
        return reading
    table, rows = reading.table, np.flatnonzero(new)
    groups, each = groups_of(reading, numbers.partition)
    place = table.column_names.index(numbers.column)
    found = np.array(flat(table.column(place)), dtype=np.int64)
    last = np.zeros(len(each), dtype=np.int64)
    np.maximum.at(last, groups, found)  # of an event that is still to come, or new, it is 0
    order = rows[_order(table.take(pa.array(rows)), groups[rows], reading.ticks[rows], numbers)]
    ordered = groups[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    sizes = np.diff(np.append(begins, len(order)))
    found[order] = last[ordered] + np.arange(len(order)) - np.repeat(begins, sizes) + 1
    table = table.set_column(place, numbers.column, pa.array(found))
    if numbers.following:
        rows = np.flatnonzero(known)
        table = _with_following(table, rows, groups[rows], found[rows], numbers.following)
    return replace(reading, table=table)


def _with_following(table: Any, rows: Ints, groups: Ints, numbers: Ints, following: Iterable[ShiftedColumn]) -> Any:
    """The table with what following rows have, as far as these are known: `rows` are, of these groups and with these
    numbers.
    """
    order = order_of([groups, numbers])
    for one in following:
        values = (
            flat(table.column(one.column)).take(pa.array(rows)).take(places_after(order, groups[order], one.places))
        )
        table = with_values(table, one.name, rows, values)
    return table


def _order(table: Any, groups: Ints, ticks: Ints, numbers: RowNumbers) -> Ints:
    """By partition and time, then as ORDER BY says. Those that it does not tell apart are in canonical order, so that a
    micro-batch that is run again has them in the same one.
    """
    then_by = (sorting_numbers(table.column(k.column), k.descending, k.nulls_first) for k in numbers.then_by)
    keys = [groups, ticks, *then_by]
    order = order_of(keys)
    ties = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
    for key in keys:
        ties &= key[order][1:] == key[order][:-1]
    if not ties.any():
        return order
    return order_of([*keys, *(ranks(column).numbers for column in table.columns)])
