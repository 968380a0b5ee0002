"""Aggregate queries by enumeration: every match adds to the sums and extremes of each window in which it stands.

The outcome is `Totals`, as from the counting kernel, so that there is one way from there to results.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..kernel.planes import CountPlane, ExtremePlane, Plane, QueryPlanes, SumPlanes, ValueKey, is_exact
from ..numbers.columns import codes, combine_codes, dense, flat, nulls, ranks
from ..numbers.doubles import add_exactly
from ..results.totals import Totals
from ..sql.expression import fields
from .bins import Binned, binned, joined
from .equal_rows import numbered
from .lists import BoundLists, numbers, sums

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..events.grouped import Events
    from ..kernel.planes import MeasurePlanes, Role
    from ..numbers.columns import Ints
    from ..plan.query import Measure
    from ..plan.strategy import PhysicalQuery
    from ..sql.expression import Expression
    from .evaluation import Evaluator
    from .lists import AnyArray, Lists
    from .standing import Frames, Matches

_ROWS: Final = 1 << 18
"""How many rows of sums wait before they are combined with what there is."""


@dataclass(frozen=True)
class Sums:
    """Sums and extremes by group and window; the same pair may occur in several rows. `additive[0]` counts matches.

    `extremes` are Arrow arrays of values, null where there is none; `greatest` says which keep the greatest.
    """

    group: Ints
    window: Ints
    additive: tuple[AnyArray | Binned, ...]
    extremes: tuple[Any, ...]
    greatest: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.group)


class Measuring:
    """Adds up the measures of one query over its matches."""

    def __init__(self, query: PhysicalQuery, events: Events, evaluator: Evaluator) -> None:
        self._query, self._evaluator = query, evaluator
        keys = {name: events.keys.column(name) for name in query.group_by}
        partitions = len(events.group_starts) - 1
        combined, _ = combine_codes([codes(column) for column in keys.values()], partitions)
        self._group_of, first = dense(combined)
        self._keys = {name: flat(column).take(pa.array(first)) for name, column in keys.items()}
        self._partition = events.groups
        self._layout = _layout(query.measures)
        self._waiting: list[Sums] = []

    def add(self, matches: Matches, frames: Frames) -> None:
        """Matches, and the windows in which they stand: `frames.row` indexes them."""
        bound = BoundLists(matches)
        additive: list[AnyArray | Binned] = [np.ones(len(frames.row), dtype=np.int64)]
        extremes: list[Any] = []
        for measure in self._query.measures:
            if measure.variable is None:
                continue
            found, extreme = self._of_matches(measure, bound.lists(measure.variable))
            additive += [column.take(frames.row) for column in found]
            extremes += [] if extreme is None else [extreme.take(pa.array(frames.row))]
        group = self._group_of[self._partition[matches.positions[0][frames.row]]]
        greatest = tuple(key.role == "greatest" for key in _keys(self._layout))
        self._waiting.append(_combined([Sums(group, frames.window, tuple(additive), tuple(extremes), greatest)]))
        if sum(map(len, self._waiting[1:])) > _ROWS:
            self._waiting = [_combined(self._waiting)]

    def totals(self) -> Totals:
        """What has been added up, a row for each group and window."""
        none = np.empty(0, dtype=np.int64)
        query, layout = self._query, self._layout
        if not self._waiting:
            nothing = tuple(none for _ in range(layout.count))
            return Totals(query, layout, none, none, self._keys, nothing, dict.fromkeys(_keys(layout), pa.nulls(0)))
        found = _combined(self._waiting)
        planes: list[AnyArray] = []
        for column in found.additive:
            planes += column.numbers() if isinstance(column, Binned) else (column,)
        extremes: dict[Any, Any] = {}
        for key, values, greatest in zip(_keys(layout), found.extremes, found.greatest, strict=True):
            ranked = ranks(values)
            places = ranked.numbers.astype(np.float64)
            planes.append(np.where(places < 0, np.inf, -places if greatest else places))
            extremes[key] = ranked.values
        return Totals(query, layout, found.group, found.window, self._keys, tuple(planes), extremes)

    # ---- one match ---------------------------------------------------------------------------------------------------

    def _of_matches(self, measure: Measure, lists: Lists) -> tuple[list[AnyArray | Binned], Any]:
        """For each match what the measure adds: the sums, and the extreme value (None where none is needed)."""
        if measure.argument is None:
            return [lists.counts], None
        values = self._argument(measure.argument, lists.positions)
        present = ~nulls(values)
        counts = np.bincount(
            np.repeat(np.arange(len(lists.counts)), lists.counts)[present], minlength=len(lists.counts)
        )
        if measure.function.counts:
            return [counts], None
        if measure.function.extreme:
            return [], _extreme(lists.counts, values, measure.function.extreme == "greatest")
        values = values.filter(pa.array(present))
        found = numbers(values, measure.argument.type)
        return [counts, sums(counts, found) if is_exact(measure.argument.type) else binned(counts, found)], None

    def _argument(self, argument: Expression, positions: Ints) -> Any:
        """A measure's argument for events, evaluated once for each."""
        events, places = np.unique(positions, return_inverse=True)
        keys = {field.key: events for field in fields(argument)}
        return flat(self._evaluator.values(argument, keys, len(events))).take(pa.array(places))


def _layout(measures: Sequence[Measure]) -> QueryPlanes:
    """Where measures find their planes: additive ones first, in the order of the measures, then extremes."""
    additive: list[Plane] = []
    extremes: list[Plane] = []
    found: list[MeasurePlanes] = []
    kept = 1 + sum(map(_width, measures))
    for number, measure in enumerate(measures):
        own = frozenset((number,))  # tells measures of the same argument apart
        if measure.variable is None:
            found.append(CountPlane(0))
        elif measure.function.extreme:
            extremes.append(Plane(number, ValueKey(measure.function.extreme, measure.argument, own)))
            found.append(ExtremePlane(kept + len(extremes) - 1))
        else:
            places = range(1 + len(additive), 1 + len(additive) + _width(measure))
            roles: list[Role] = ["present", "value", "rest"]
            additive += [Plane(number, ValueKey(r, measure.argument, own)) for r in roles[: len(places)]]
            found.append(SumPlanes(*places) if len(places) > 1 else CountPlane(*places))
    return QueryPlanes((*additive, *extremes), kept, tuple(found))


def _width(measure: Measure) -> int:
    """How many sums it needs: a count, a total, and of DOUBLE a rest."""
    if measure.variable is None or measure.function.extreme:
        return 0
    if not measure.function.adds or measure.argument is None:
        return 1
    return 2 if is_exact(measure.argument.type) else 3


def _keys(layout: QueryPlanes) -> Iterable[ValueKey]:
    return [plane.value for plane in layout.planes if not plane.additive]


def _extreme(counts: Ints, values: Any, greatest: bool) -> Any:
    """The extreme value of each list, null where it has none."""
    rows = np.repeat(np.arange(len(counts)), counts)
    return _least(rows, len(counts), values, greatest)


def _least(rows: Ints, count: int, values: Any, greatest: bool) -> Any:
    """For each of `count` rows the least (or greatest) of the values that belong to it, null where none does."""
    ranked = ranks(values)
    best = np.full(count, -1, dtype=np.int64) if greatest else np.full(count, np.iinfo(np.int64).max)
    some = ranked.numbers >= 0
    (np.maximum if greatest else np.minimum).at(best, rows[some], ranked.numbers[some])
    absent = (best < 0) | (best == np.iinfo(np.int64).max)
    return flat(ranked.values.take(pa.array(best, mask=absent)))


def _combined(parts: Sequence[Sums]) -> Sums:
    """One row for each group and window."""
    group, window = np.concatenate([p.group for p in parts]), np.concatenate([p.window for p in parts])
    order, number = numbered([group, window])
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    additive = [_added(columns, order, starts) for columns in zip(*(p.additive for p in parts), strict=True)]
    place = np.empty(len(order), dtype=np.int64)
    place[order] = number
    extremes = [
        _least(place, len(starts), flat(pa.chunked_array(columns)), greatest)
        for columns, greatest in zip(zip(*(p.extremes for p in parts), strict=True), parts[0].greatest, strict=True)
    ]
    kept = order[starts]
    return replace(parts[0], group=group[kept], window=window[kept], additive=tuple(additive), extremes=tuple(extremes))


def _added(columns: Sequence[AnyArray | Binned], order: Ints, starts: Ints) -> AnyArray | Binned:
    """The sum of each run of the columns' rows in that order, by the rules of `sums`."""
    if isinstance(columns[0], Binned):
        return joined([column for column in columns if isinstance(column, Binned)]).take(order).added(starts)
    column = np.concatenate([column for column in columns if not isinstance(column, Binned)])[order]
    if column.dtype != object:
        return sums(np.diff(np.append(starts, len(column))), column)
    ends = [*starts[1:].tolist(), len(column)]
    found = [add_exactly(column[start:end].tolist()) for start, end in zip(starts.tolist(), ends, strict=True)]
    return np.array([*found, None], dtype=object)[:-1]
