"""A group whose matches lie within partitions: partitions are counted anywhere, and their sums added up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import pyarrow as pa

from ..kernel.planes import planes_of_parts
from ..numbers.columns import as_places, flat, joined, values_at
from ..numbers.number_columns import floats, from_arrow, one_after_the_other, to_arrow
from ..panes.cutting import adds_numbers
from ..plan.strategy import is_counted
from ..plan.windows import Sessions
from .totals import Totals, grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..plan.strategy import CountedQuery, PhysicalQuery


def has_partitions(query: PhysicalQuery) -> TypeGuard[CountedQuery]:
    """Whether the query has one group of several partitions, and numbers that add up."""
    one_group = query.kind == "aggregate" and not query.group_by and not isinstance(query.window, Sessions)
    return one_group and bool(query.partition) and is_counted(query) and adds_numbers(query)


def partition_query(query: CountedQuery) -> CountedQuery:
    """The query that finds the sums of some partitions: without outputs, its rows are those of `sums_table`. They have
    all digits, because other partitions may bring a sum back to what fits.
    """
    measures = tuple(replace(m, exact=m.exact or m.is_whole) for m in query.measures)
    return replace(query, outputs=(), measures=measures, having=None)


def sums_table(totals: Totals) -> Any:
    """Windows by number, and a column for each of the `_planes`: integers or floats, or the least or greatest
    values.
    """
    assert is_counted(totals.query)
    index = {plane: p for p, plane in enumerate(totals.layout.planes, start=1)}
    columns = [pa.array(totals.windows, pa.int64()), to_arrow(totals.planes[0])]
    for plane in planes_of_parts(totals.query).planes:
        place = index[plane]
        if not plane.additive:
            columns.append(values_at(totals.planes[place], totals.extremes[plane.value]))
        else:
            column = totals.sums(place)
            columns.append(to_arrow(column if plane.value.is_whole else floats(column)))
    return pa.table(columns, [str(place) for place in range(len(columns))])


def totals_of_partitions(query: CountedQuery, found: Sequence[Any]) -> Totals:
    """The totals of a query from the `sums_table` of its `partition_query` for all partitions."""
    layout, extremes = planes_of_parts(query), {}
    windows, *columns = zip(*([flat(column) for column in table.columns] for table in found), strict=True)
    planes = [one_after_the_other([from_arrow(column) for column in own]) for own in columns[: layout.additive]]
    for own, plane in zip(columns[layout.additive :], layout.planes[layout.additive - 1 :], strict=True):
        places, extremes[plane.value] = as_places(joined(own), plane.value.role == "greatest")
        planes.append(places)
    numbers = np.asarray(joined(windows).to_numpy(), dtype=np.int64)
    totals = Totals(query, layout, np.zeros_like(numbers), numbers, {}, tuple(planes), extremes)
    return grouped(totals, {}, 1)
