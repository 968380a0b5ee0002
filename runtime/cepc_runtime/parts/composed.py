"""Panes of a family put together, for all its queries at once, as long as float64 has their numbers exactly.

Numbers are rows and panes are columns, so that a product of panes is two gathers, a multiplication and a sum, however many queries
there are. What may not be exact this way is told; `matrices.py` finds it query by query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ..columns import Floats, joined
from ..exactness import EXACT
from ..totals import Totals
from .matrices import LARGE, floats, is_whole, limit_of, whole_column
from .told import places_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..columns import Ints
    from .families import Family
    from .matrices import WindowRange
    from .products import Least, ProductSums, Table

AT_ONCE: Final = 1 << 20
"""So many products are in memory at once."""


@dataclass(frozen=True)
class PaneBlock:
    """`additive` and `extremes` have a row for each of `MatrixRows`, and a column for each pane or open window."""

    additive: Floats
    extremes: Floats

    def take(self, columns: Any) -> PaneBlock:
        return PaneBlock(self.additive[:, columns], self.extremes[:, columns])


def blocks(family: Family, parts: Sequence[Sequence[Any]]) -> tuple[list[PaneBlock], dict[int, Any]]:
    """The numbers of some panes, part by part, and for each extreme number the values by place."""
    rows = family.products.rows
    made = []
    for part in parts:
        additive = np.empty((rows.one + 1, len(part[0])))
        for place, row in rows.additive.items():
            additive[row] = floats(part[place])
        for place, row in rows.magnitudes.items():
            additive[row] = np.abs(additive[rows.additive[place]])
        additive[rows.one] = 1
        made.append(PaneBlock(additive, np.full((rows.nothing + 1, len(part[0])), np.inf)))
    values: dict[int, Any] = {}
    for places in _comparable(family, parts[0]):
        greatest = family.numbers[places[0]].role == "greatest"
        column, ranked = places_of(joined([part[place] for part in parts for place in places]), greatest)
        start = 0
        for part, block in zip(parts, made, strict=True):
            for place in places:
                block.extremes[rows.extremes[place]] = column[start : start + len(part[place])]
                start += len(part[place])
        values |= dict.fromkeys(places, ranked)
    return made, values


def _comparable(family: Family, part: Sequence[Any]) -> list[list[int]]:
    """The extreme numbers, those together that may be compared."""
    found: dict[Any, list[int]] = {}
    for place in family.products.rows.extremes:
        found.setdefault((family.numbers[place].role, part[place].type), []).append(place)
    return list(found.values())


def bounds_of(family: Family) -> Floats:
    """For each row of counts and sums: what is less is exact where results need it to be."""
    rows = family.products.rows
    bounds = np.full(rows.one + 1, LARGE)
    for own in (rows.additive, rows.magnitudes):
        for place, row in own.items():
            if place in family.exact:
                bounds[row] = EXACT
    return bounds


def compose(table: Table, first: PaneBlock, second: PaneBlock, at: Ints) -> None:
    """In place, the numbers of the table in the first `len(at)` columns: what they are when column `at[c]` of `second` comes after
    column c.
    """
    step = max(1, AT_ONCE // max(1, len(table.sums.first), len(table.least.first)))
    for start in range(0, len(at), step):
        own = slice(start, min(start + step, len(at)))
        _least(table.least, first, second, own, at[own])
        _sums(table.sums, first.additive, second.additive, own, at[own])


def _sums(sums: ProductSums, first: Floats, second: Floats, own: slice, at: Ints) -> None:
    if len(sums.targets):
        terms = first[:, own][np.asarray(sums.first)]
        terms *= second[np.asarray(sums.second)[:, None], at]
        first[np.asarray(sums.targets), own] = np.add.reduceat(terms, np.asarray(sums.starts), axis=0)


def _least(least: Least, first: PaneBlock, second: PaneBlock, own: slice, at: Ints) -> None:
    if not len(least.targets):
        return
    none = first.additive[:, own][np.asarray(least.first_ways)] == 0
    none |= second.additive[np.asarray(least.second_ways)[:, None], at] == 0
    terms = np.minimum(
        first.extremes[:, own][np.asarray(least.first)], second.extremes[np.asarray(least.second)[:, None], at]
    )
    terms[none] = np.inf
    first.extremes[np.asarray(least.targets), own] = np.minimum.reduceat(terms, np.asarray(least.starts), axis=0)


# ---- windows ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Open:
    """Windows by group and number, with what leads from the start through all their panes."""

    family: Family
    groups: Ints
    numbers: Ints
    block: PaneBlock
    values: dict[int, Any]

    def of(self, query: int) -> Totals | None:
        """The windows with a match, by partition; None if not all of their numbers are sure to be exact that have to be."""
        plan, layout = dict(self.family.queries)[query], self.family.layouts[query]
        if 0 in plan.automaton.accepting:
            return None
        planes = [self._plane(query, p) for p in range(layout.count)]
        matched = planes[0] != 0  # also where it is no number
        planes = [column[matched] for column in planes]
        if any(not np.all(np.abs(column) < limit_of(plan.measures)) for column in planes[: layout.additive]):
            return None
        extremes = {layout.planes[p - 1].value: self._values(query, p) for p in range(layout.additive, layout.count)}
        exact = tuple(whole_column(column) if is_whole(layout, p) else column for p, column in enumerate(planes))
        return Totals(plan, layout, self.groups[matched], self.numbers[matched], {}, exact, extremes)

    def _plane(self, query: int, plane: int) -> Floats:
        """Of all ways from the start to an accepting state."""
        layout, rows = self.family.layouts[query], self.family.products.rows
        totals = {m.magnitude: m.total for m in layout.measures if m.magnitude is not None}
        found = [entry[totals.get(plane) or plane] for entry in self._ends(query)]
        numbers = [number for number in found if number is not None]
        if plane >= layout.additive:
            chosen = self.block.extremes[[rows.extremes[number] for number in numbers]]
            return np.asarray(chosen.min(axis=0, initial=np.inf))
        own = rows.magnitudes if plane in totals else rows.additive
        return np.asarray(self.block.additive[[own[number] for number in numbers]].sum(axis=0))

    def _values(self, query: int, plane: int) -> Any:
        """Of a plane of extremes, by place."""
        number = next((entry[plane] for entry in self._ends(query) if entry[plane] is not None), None)
        return pa.nulls(0) if number is None else self.values[number]

    def _ends(self, query: int) -> list[tuple[int | None, ...]]:
        automaton, places = dict(self.family.queries)[query].automaton, self.family.places[query]
        return [places[0, state] for state in automaton.accepting if (0, state) in places]


@np.errstate(invalid="ignore", over="ignore")
def open_windows(
    family: Family, queries: tuple[int, ...], numbers: Sequence[Any], groups: Ints, panes: Ints, wanted: WindowRange
) -> Open:
    """The windows of some queries, from the numbers of panes, whose groups are given."""
    order, of_group, of_window, begin, end = wanted.runs(groups, panes)
    longest = np.argsort(begin - end, kind="stable")  # so that those which have a next pane are the first
    begin, lengths = begin[longest], (end - begin)[longest]
    (block,), values = blocks(family, [numbers])
    found, table = block.take(order[begin]), family.products.beginning(queries)
    for step in range(1, int(lengths.max(initial=0))):
        active = int(np.searchsorted(-lengths, -step))
        compose(table, found, block, order[begin[:active] + step])
    return Open(family, of_group[longest], of_window[longest], found, values)
