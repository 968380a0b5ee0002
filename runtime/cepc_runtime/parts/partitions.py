"""A group whose matches lie within partitions: partitions are counted anywhere, and their numbers added up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from ..events import ticks_of
from ..kernel.planes import planes_of
from ..plan import QueryPlan, is_counted
from ..totals import Totals, grouped
from ..windows import Sliding
from .numbers import has_numbers, measures_of, numbers_of
from .told import planes_told

if TYPE_CHECKING:
    from ..plan import CountedQuery


def has_partitions(query: QueryPlan) -> TypeGuard[CountedQuery]:
    """Whether the query has one group of several partitions, and numbers that add up."""
    one_group = query.kind == "aggregate" and not query.group_by
    return one_group and bool(query.partition) and is_counted(query) and has_numbers(query)


def partition_query(query: CountedQuery) -> CountedQuery:
    """The query that finds the numbers of some partitions."""
    numbers = tuple(numbers_of(query))
    return replace(query, outputs=numbers, measures=measures_of(numbers), having=None)


def totals_of_partitions(query: CountedQuery, found: Any) -> Totals:
    """The totals of a query from all rows of its `partition_query`."""
    layout = planes_of(query.automaton, query.measures, rests=False)
    planes, extremes = planes_told(query, layout, found)
    windows = np.zeros(found.num_rows, dtype=np.int64)
    if isinstance(query.window, Sliding):
        windows = query.window.last_holding(ticks_of(found.column("window_start")))
    nowhere = np.zeros(found.num_rows, dtype=np.int64)
    return grouped(Totals(query, layout, nowhere, windows, {}, planes, extremes), {}, 1)
