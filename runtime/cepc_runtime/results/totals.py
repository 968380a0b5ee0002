"""From emissions to totals: partitions are combined into the GROUP BY groups that they belong to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..kernel.exact import Recount
from ..kernel.planes import SumPlanes
from ..numbers.columns import Ints, codes, combine_codes, dense, flat
from ..numbers.doubles import add_exactly, added
from ..numbers.exactness import exact_planes
from ..numbers.sorting import order_of

if TYPE_CHECKING:
    from ..events.grouped import Events
    from ..events.letters import Kinds
    from ..kernel.adjacent.run import Neighbours
    from ..kernel.by_query import Emissions
    from ..kernel.planes import QueryPlanes
    from ..kernel.values import Values
    from ..numbers.columns import ExactColumn
    from ..plan.strategy import CountedQuery, PhysicalQuery


@dataclass(frozen=True)
class Totals:
    """A row for each GROUP BY group and window with a match. `groups` indexes `keys`, the grouping attributes' columns.

    `planes[p]` is the kernel's plane p, exact wherever a measure asks for that. `extremes` maps ranks to values.
    """

    query: PhysicalQuery
    layout: QueryPlanes
    groups: Ints
    windows: Ints
    keys: dict[str, Any]
    planes: tuple[ExactColumn, ...]
    extremes: dict[Any, Any]

    def __len__(self) -> int:
        return len(self.windows)

    def sums(self, plane: int) -> ExactColumn:
        """The numbers of a plane; those of a total of DOUBLE with their rests, rounded once."""
        rest = next((m.rest for m in self.layout.measures if isinstance(m, SumPlanes) and m.total == plane), None)
        return self.planes[plane] if rest is None else added(self.planes[plane], self.planes[rest])

    def take(self, rows: Ints) -> Totals:
        """Those of some rows."""
        planes = tuple(plane[rows] for plane in self.planes)
        return replace(self, groups=self.groups[rows], windows=self.windows[rows], planes=planes)

    def extreme(self, plane: int) -> Any:
        """The values that a plane has the places of, null where there is none."""
        places = self.planes[plane]
        absent = np.isinf(places)
        values = self.extremes[self.layout.planes[plane - 1].value]
        return flat(values.take(pa.array(np.abs(np.where(absent, 0.0, places)).astype(np.int64), mask=absent)))


def totals_of(
    query: CountedQuery, events: Events, kinds: Kinds, layout: QueryPlanes, values: Values, emissions: Emissions,
    neighbours: Neighbours | None = None,
) -> Totals:  # fmt: skip
    """The totals of one query from what the kernel emitted for it."""
    keys, partitions = {name: events.keys.column(name) for name in query.group_by}, len(events.group_starts) - 1
    targets = None
    if set(keys) != set(query.partition):
        group_of, _ = _groups(keys, partitions)
        combined, _ = combine_codes(
            [(group_of[emissions.groups], partitions), codes(pa.array(emissions.windows))], len(emissions.groups)
        )
        targets, _ = dense(combined)
    planes = exact_planes(Recount(events, kinds, query, layout, values, neighbours), emissions, targets)
    totals = Totals(query, layout, emissions.groups, emissions.windows, {}, planes, values.extremes)
    return grouped(totals, keys, partitions)


# ---- GROUP BY --------------------------------------------------------------------------------------------------------


def grouped(totals: Totals, keys: dict[str, Any], partitions: int) -> Totals:
    """The totals of so many partitions as those of the groups that they belong to. `keys` are the grouping attributes
    of each.
    """
    if set(keys) == set(totals.query.partition):
        return _replaced(totals, totals.groups, totals.windows, keys, totals.planes)
    group_of, first = _groups(keys, partitions)
    keys = {name: column.take(first) for name, column in keys.items()}
    groups = group_of[totals.groups]
    order = order_of([groups, totals.windows])
    groups, windows = groups[order], totals.windows[order]
    changes = (groups[1:] != groups[:-1]) | (windows[1:] != windows[:-1])
    starts = np.concatenate(([0], np.flatnonzero(changes) + 1)) if len(order) else np.empty(0, dtype=np.int64)
    planes = tuple(
        _reduced(column[order], starts, p < totals.layout.additive) for p, column in enumerate(totals.planes)
    )
    return _replaced(totals, groups[starts], windows[starts], keys, planes)


def _groups(keys: dict[str, Any], partitions: int) -> tuple[Ints, Ints]:
    """The group that each partition belongs to, and the first partition of each."""
    return dense(combine_codes([codes(column) for column in keys.values()], partitions)[0])


def _replaced(
    totals: Totals, groups: Ints, windows: Ints, keys: dict[str, Any], planes: tuple[ExactColumn, ...]
) -> Totals:
    return Totals(totals.query, totals.layout, groups, windows, keys, planes, totals.extremes)


def _reduced(column: ExactColumn, starts: Ints, additive: bool) -> ExactColumn:
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
