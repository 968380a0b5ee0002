"""From emissions to exact totals: what a float64 could not hold is counted again, and partitions are combined into GROUP BY groups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from .columns import Bools, Floats, Ints, codes, combine_codes, dense
from .kernel.exact import Number, Recount
from .kernel.planes import QueryPlanes, is_exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .events import Events
    from .kernel.adjacent.run import Neighbours
    from .kernel.run import Emissions
    from .kernel.values import Values
    from .letters import Kinds
    from .plan import Measure, QueryPlan

EXACT: Final = 2.0**53
"""Below it, a float64 that is a sum of non-negative integers is exact."""

Column = npt.NDArray[Any]
"""int64 or float64, or Python's exact numbers where one is too large for either."""


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
    again = _inexact(query, events, layout, values, emissions)
    recount = Recount(events, kinds, query, layout, values, neighbours)
    exact = {
        row: recount.row(int(emissions.groups[row]), int(emissions.windows[row]))
        for row in np.flatnonzero(again).tolist()
    }
    integers = _integer_planes(query, layout)
    planes = [_plane(emissions.planes[:, p], p, exact, p in integers) for p in range(layout.count)]
    totals = Totals(query, layout, emissions.groups, emissions.windows, {}, tuple(planes), values.extremes)
    return _combined(totals, events, query.group_by)


# ---- exactness -------------------------------------------------------------------------------------------------------


def _is_integer(measure: Measure) -> bool:
    if measure.function == "count":
        return True
    return measure.function in ("sum", "avg") and measure.argument is not None and is_exact(measure.argument.type)


def _integer_planes(query: QueryPlan, layout: QueryPlanes) -> set[int]:
    """The planes that some measure needs as exact integers."""
    return {
        plane
        for measure, found in zip(query.measures, layout.measures, strict=True)
        if measure.exact and _is_integer(measure)
        for plane in (found.count, found.total, found.magnitude)
        if plane is not None
    }


def _inexact(query: QueryPlan, events: Events, layout: QueryPlanes, values: Values, emissions: Emissions) -> Bools:
    """Which rows have to be counted again."""
    planes = emissions.planes
    again = np.zeros(len(planes), dtype=np.bool_)
    for plane in _integer_planes(query, layout):
        again |= ~(np.abs(planes[:, plane]) < EXACT)
    for measure, found in zip(query.measures, layout.measures, strict=True):
        if found.total is not None and not _is_integer(measure):
            assert found.count is not None
            lost = ~np.isfinite(planes[:, found.total]) | ~np.isfinite(planes[:, found.count])
            if lost.any():
                again |= lost & _may_overflow(events, layout, values, emissions, found.total)
    return again


def _may_overflow(events: Events, layout: QueryPlanes, values: Values, emissions: Emissions, plane: int) -> Bools:
    """Where a sum of floats may be infinite or NaN though no value in it is."""
    numbers = values.matrix[values.index[layout.planes[plane - 1].value]]
    largest = float(np.max(np.abs(numbers), where=np.isfinite(numbers), initial=0.0))
    length = np.diff(events.group_starts)[emissions.groups].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(~(emissions.planes[:, 0] * length * max(largest, 1.0) < 1e300))


def _plane(numbers: Floats, plane: int, exact: dict[int, list[Number]], integers: bool) -> Column:
    if not exact or plane >= len(next(iter(exact.values()))):
        return numbers.astype(np.int64) if integers else numbers
    rows = np.array(list(exact), dtype=np.int64)
    known = numbers.copy()
    known[rows] = 0
    column: Column = (known.astype(np.int64) if integers else known).astype(object)
    for row, found in exact.items():
        column[row] = found[plane]
    return column


# ---- GROUP BY --------------------------------------------------------------------------------------------------------


def _combined(totals: Totals, events: Events, group_by: Sequence[str]) -> Totals:
    """The totals of partitions as those of the groups that they belong to."""
    keys = {name: events.keys.column(name) for name in group_by}
    if set(group_by) == set(totals.query.partition):
        return _replaced(totals, totals.groups, totals.windows, keys, totals.planes)
    combined, _ = combine_codes([codes(column) for column in keys.values()], len(events.group_starts) - 1)
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
