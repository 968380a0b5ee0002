"""From emissions to totals: partitions are combined into the GROUP BY groups that they belong to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .columns import Ints, codes, combine_codes, dense
from .exactness import exact_planes
from .kernel.exact import Number, Recount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .events import Events
    from .exactness import Column
    from .kernel.adjacent.run import Neighbours
    from .kernel.planes import QueryPlanes
    from .kernel.run import Emissions
    from .kernel.values import Values
    from .letters import Kinds
    from .plan import QueryPlan


@dataclass(frozen=True)
class Totals:
    """A row for each GROUP BY group and window with a match. `groups` indexes `keys`, the grouping attributes' columns.

    `planes[p]` is the kernel's plane p, exact wherever a measure asks for that. `extremes` maps ranks to values.
    """

    query: QueryPlan
    layout: QueryPlanes
    groups: Ints
    windows: Ints
    keys: dict[str, Any]
    planes: tuple[Column, ...]
    extremes: dict[Any, Any]

    def __len__(self) -> int:
        return len(self.windows)


def totals_of(
    query: QueryPlan, events: Events, kinds: Kinds, layout: QueryPlanes, values: Values, emissions: Emissions,
    neighbours: Neighbours | None = None,
) -> Totals:  # fmt: skip
    """The totals of one query from what the kernel emitted for it."""
    planes = exact_planes(Recount(events, kinds, query, layout, values, neighbours), emissions)
    totals = Totals(query, layout, emissions.groups, emissions.windows, {}, planes, values.extremes)
    keys = {name: events.keys.column(name) for name in query.group_by}
    return grouped(totals, keys, len(events.group_starts) - 1)


# ---- GROUP BY --------------------------------------------------------------------------------------------------------


def grouped(totals: Totals, keys: dict[str, Any], partitions: int) -> Totals:
    """The totals of so many partitions as those of the groups that they belong to. `keys` are the grouping attributes of each."""
    if set(keys) == set(totals.query.partition):
        return _replaced(totals, totals.groups, totals.windows, keys, totals.planes)
    combined, _ = combine_codes([codes(column) for column in keys.values()], partitions)
    group_of, first = dense(combined)
    keys = {name: column.take(first) for name, column in keys.items()}
    groups = group_of[totals.groups]
    order = np.lexsort((totals.windows, groups))
    groups, windows = groups[order], totals.windows[order]
    changes = (groups[1:] != groups[:-1]) | (windows[1:] != windows[:-1])
    starts = np.concatenate(([0], np.flatnonzero(changes) + 1)) if len(order) else np.empty(0, dtype=np.int64)
    planes = tuple(
        _reduced(column[order], starts, p < totals.layout.additive) for p, column in enumerate(totals.planes)
    )
    return _replaced(totals, groups[starts], windows[starts], keys, planes)


def _replaced(totals: Totals, groups: Ints, windows: Ints, keys: dict[str, Any], planes: tuple[Column, ...]) -> Totals:
    return Totals(totals.query, totals.layout, groups, windows, keys, planes, totals.extremes)


def _reduced(column: Column, starts: Ints, additive: bool) -> Column:
    """One number for each run that starts there: the sum, or the least."""
    if not len(starts):
        return column
    if not additive:
        return np.asarray(np.minimum.reduceat(column, starts))
    if column.dtype == np.int64 and np.add.reduceat(np.abs(column).astype(np.float64), starts).max() >= 2.0**62:
        column = column.astype(object)
    if column.dtype != object:
        return np.asarray(np.add.reduceat(column, starts))
    ends = [*starts[1:].tolist(), len(column)]
    sums = np.empty(len(starts), dtype=object)
    for i, (start, end) in enumerate(zip(starts.tolist(), ends, strict=True)):
        sums[i] = add_exactly(column[start:end].tolist())
    return sums


def add_exactly(numbers: Sequence[Number]) -> Number:
    """The sum of exact numbers, among which infinite ones and NaN are as in float arithmetic."""
    special = [n for n in numbers if isinstance(n, float) and not math.isfinite(n)]
    if special:
        return math.fsum(special) if len(set(special)) == 1 else math.nan
    if all(isinstance(n, int) for n in numbers):
        return sum(numbers)
    return sum((Fraction(n) for n in numbers), Fraction())
