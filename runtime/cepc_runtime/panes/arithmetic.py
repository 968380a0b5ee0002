"""Panes of a family put together, for all its queries at once: what leads from state to state in both is a sum of
products.

Numbers are rows and panes are columns, so that a product of panes is two gathers, a multiplication and a sum, however
many queries there are. That is done in float64. Counts and magnitudes are never negative: where what comes out is below
2^53, all that went into it was exact. Columns in which something is not are done again, by the same functions, in
Python's integers; where results are DOUBLE, only those near the end of float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..cheap_dataclass import dataclass
from ..numbers.columns import Floats, as_places, joined
from ..numbers.exactness import EXACT
from ..numbers.number_columns import floats, integers, to_float
from .shared_panes import is_exactly

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..numbers.columns import ExactColumn, Ints
    from ..plan.query import Measure
    from .products import Least, ProductSums, Table
    from .shared_panes import Family

LARGE: Final = 1e300
"""Near the end of float64."""

AT_ONCE: Final = 1 << 20
"""So many products are in memory at once."""


@dataclass(frozen=True)
class PaneBlock:
    """`additive` and `extremes` have a row for each of `MatrixRows`, and a column for each pane or open window.
    `additive` are float64, or Python's numbers.
    """

    additive: ExactColumn
    extremes: Floats

    def take(self, columns: Any) -> PaneBlock:
        return PaneBlock(self.additive[:, columns], self.extremes[:, columns])


def blocks(family: Family, parts: Sequence[Sequence[Any]], *, exactly: bool) -> tuple[list[PaneBlock], dict[int, Any]]:
    """The numbers of some panes, part by part, and for each extreme number the values by place."""
    rows = family.products.rows
    made = [PaneBlock(additive(family, part, exactly=exactly), _nothing(rows.nothing, len(part[0]))) for part in parts]
    values: dict[int, Any] = {}
    for places in _comparable(family, parts[0]):
        greatest = family.numbers[places[0]].role == "greatest"
        column, ranked = as_places(joined([part[place] for part in parts for place in places]), greatest)
        start = 0
        for part, block in zip(parts, made, strict=True):
            for place in places:
                block.extremes[rows.extremes[place]] = column[start : start + len(part[place])]
                start += len(part[place])
        values |= dict.fromkeys(places, ranked)
    return made, values


def additive(family: Family, part: Sequence[Any], *, exactly: bool) -> ExactColumn:
    rows = family.products.rows
    found = np.empty((rows.one + 1, len(part[0])), object if exactly else np.float64)
    for place, row in rows.additive.items():
        found[row] = _python(part[place], family.numbers[place].whole) if exactly else floats(part[place])
    for place, row in rows.magnitudes.items():
        found[row] = np.abs(found[rows.additive[place]])
    found[rows.one] = 1
    return found


def _python(column: ExactColumn, whole: bool) -> ExactColumn:
    return integers(column) if whole else column.astype(object)


def _nothing(row: int, length: int) -> Floats:
    return np.full((row + 1, length), np.inf)


def _comparable(family: Family, part: Sequence[Any]) -> list[list[int]]:
    """The extreme numbers, those together that may be compared."""
    found: dict[Any, list[int]] = {}
    for place in family.products.rows.extremes:
        found.setdefault((family.numbers[place].role, part[place].type), []).append(place)
    return list(found.values())


# ---- where floats are exact ------------------------------------------------------------------------------------------


def bounds_of(family: Family) -> Floats:
    """For each row of counts and sums: what is less is exact where results need it to be."""
    rows = family.products.rows
    bounds = np.full(rows.one + 1, LARGE)
    for own in (rows.additive, rows.magnitudes):
        for place, row in own.items():
            if place in family.exact:
                bounds[row] = EXACT
    return bounds


def limit_of(measures: Iterable[Measure]) -> float:
    """From where on integers have to be computed exactly for these results."""
    return EXACT if any(is_exactly(measure) for measure in measures) else LARGE


# ---- products --------------------------------------------------------------------------------------------------------


def compose(table: Table, first: PaneBlock, second: PaneBlock, at: Ints) -> None:
    """In place, the numbers of the table in the first `len(at)` columns: what they are when column `at[c]` of `second`
    comes after column c.
    """
    step = max(1, AT_ONCE // max(1, len(table.sums.first), len(table.least.first)))
    for start in range(0, len(at), step):
        own = slice(start, min(start + step, len(at)))
        _least(table.least, first, second, own, at[own])
        _sums(table.sums, first.additive, second.additive, own, at[own])


def _sums(sums: ProductSums, first: ExactColumn, second: ExactColumn, own: slice, at: Ints) -> None:
    if not len(sums.targets):
        return
    terms, others = first[:, own][np.asarray(sums.first)], second[np.asarray(sums.second)[:, None], at]
    if first.dtype == object:
        terms = _TIMES(terms, others)
    else:
        terms *= others
    first[np.asarray(sums.targets), own] = np.add.reduceat(terms, np.asarray(sums.starts), axis=0)


def _times(one: Any, other: Any) -> Any:
    """One of them at most is a float: infinitely many times 0 is 0, and no time infinity is."""
    if not isinstance(one, float) and not isinstance(other, float):
        return one * other
    return to_float(one) * to_float(other) if one != 0 and other != 0 else 0.0


_TIMES = np.frompyfunc(_times, 2, 1)


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
