"""Events folded into panes: the numbers that stand for them, for all queries of a family."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..counting import totals_by_query
from ..events.grouped import select
from ..events.letters import Kinds
from ..numbers.columns import Bools, Ints, codes, combine_codes, dense, flat, joined, values_at
from ..numbers.number_columns import floats, one_after_the_other, whole
from ..sql.types import BIGINT
from .arithmetic import LARGE, blocks, bounds_of, compose
from .products import EXTREME
from .shared_panes import PANE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..events.grouped import Reading
    from ..plan.physical import PhysicalPlan
    from ..results.totals import Totals
    from .shared_panes import Counting, Family


@dataclass(frozen=True)
class Kept:
    """Numbers as bytes of a state, read when they are needed."""

    data: bytes
    read: Callable[[], tuple[Any, ...]]


@dataclass(frozen=True)
class Folded:
    """A row for each pane: its partition (`keys`, by attribute), its number in time, and the family's numbers: how many
    ways or sums as integers or floats, the least and greatest values as Arrow arrays.
    """

    keys: dict[str, Any]
    panes: Ints
    source: tuple[Any, ...] | Kept

    def __len__(self) -> int:
        return len(self.panes)

    @cached_property
    def numbers(self) -> tuple[Any, ...]:
        return self.source.read() if isinstance(self.source, Kept) else self.source

    def take(self, rows: Ints | Bools) -> Folded:
        if rows.dtype == np.bool_ and rows.all():
            return self
        at = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        taken = (n.take(pa.array(at)) if isinstance(n, pa.Array) else n[at] for n in self.numbers)
        keys = {name: column.take(pa.array(at)) for name, column in self.keys.items()}
        return Folded(keys, self.panes[at], tuple(taken))


def fold(family: Family, plan: PhysicalPlan, reading: Reading, kinds: Kinds, panes: Ints) -> Folded:
    """Some events as panes, whose numbers are given for each event."""
    found = _counted(family, family.counting, plan, reading, kinds, panes)
    large = np.zeros(len(found), dtype=np.bool_)
    for number, column in zip(family.numbers, found.numbers, strict=True):
        if number.role not in EXTREME and number.whole and column.dtype == np.float64:
            large |= ~(np.abs(column) < LARGE)
    if not large.any():
        return found
    keys = {name: reading.table.column(name) for name in family.partition}
    spots, first = spots_of([found], (keys, panes))
    of = np.zeros(len(first), dtype=np.bool_)
    of[spots[: len(found)][large]] = True
    rows = of[spots[len(found) :]]
    again = select(reading, rows), Kinds(kinds.of[rows], kinds.letters), panes[rows]
    return concatenated([found.take(~large), fold_exactly(family, plan, *again)])


def fold_exactly(family: Family, plan: PhysicalPlan, reading: Reading, kinds: Kinds, panes: Ints) -> Folded:
    """The same, with all digits of all integers, whether results need them or not."""
    return _counted(family, family.counting_exactly, plan, reading, kinds, panes)


def _counted(
    family: Family, counting: Sequence[Counting], plan: PhysicalPlan, reading: Reading, kinds: Kinds, panes: Ints
) -> Folded:
    assert PANE not in reading.table.column_names
    stream = replace(plan.stream, columns=(*plan.stream.columns, (PANE, BIGINT)))
    queries = [one.query for one in counting]
    paned = replace(plan, stream=stream, queries=tuple(queries), sharing=family.sharing, shared_matches=())
    reading = replace(reading, table=reading.table.append_column(PANE, pa.array(panes)))
    numbers: list[Any] = [None] * len(family.numbers)
    for one, totals in zip(counting, totals_by_query(reading, kinds, paned, queries), strict=True):
        length = len(totals.keys[PANE])
        for plane, place in one.planes:
            found = _spread(totals, plane, length)
            if not isinstance(found, pa.Array):
                found = whole(found) if family.numbers[place].whole else floats(found)
            numbers[place] = found
    for place in family.identities:
        numbers[place][numbers[place] == 0] = 1
    of = {name: flat(totals.keys[name]) for name in family.partition}
    return Folded(of, np.asarray(totals.keys[PANE].to_numpy(), dtype=np.int64), tuple(numbers))


def _spread(totals: Totals, plane: int, length: int) -> Any:
    """A plane of what was found as a column with a number for each pane."""
    column = totals.sums(plane)
    if plane < totals.layout.additive:
        spread = np.zeros(length, dtype=column.dtype)
        spread[totals.groups] = column
        return spread
    places = np.full(length, np.inf)
    places[totals.groups] = column
    return values_at(places, totals.extremes[totals.layout.planes[plane - 1].value])


# ---- panes together --------------------------------------------------------------------------------------------------


def together(family: Family, first: Folded | None, second: Folded | None) -> Folded | None:
    """All panes of both; where both have a pane, its events in the second come after those in the first."""
    if first is None or second is None or not len(first) or not len(second):
        return second if first is None or not len(first) else first
    numbers, spots = spots_of([first, second])
    place = np.full(len(spots), -1, dtype=np.int64)
    place[numbers[: len(first)]] = np.arange(len(first))
    again = place[numbers[len(first) :]]
    both = again >= 0
    if not both.any():
        return concatenated([first, second])
    done = _one_after_the_other(family, first.take(again[both]), second.take(both))
    alone = np.ones(len(first), dtype=np.bool_)
    alone[again[both]] = False
    return concatenated([first.take(alone), done, second.take(~both)])


def spots_of(parts: Sequence[Folded], *others: tuple[dict[str, Any], Ints]) -> tuple[Ints, Ints]:
    """Equal partitions and panes as equal numbers, over all parts one after the other and then of others, which are
    keys and panes; and where each first occurs.
    """
    tables = [(part.keys, part.panes) for part in parts] + list(others)
    panes = np.concatenate([own for _, own in tables])
    columns = [codes(joined([keys[name] for keys, _ in tables])) for name in tables[0][0]]
    return dense(combine_codes([*columns, codes(pa.array(panes))], len(panes))[0])


def _one_after_the_other(family: Family, first: Folded, second: Folded) -> Folded:
    found, inexact = product(family, first, second)
    if not inexact.any():
        return found
    exactly, _ = product(family, first.take(inexact), second.take(inexact), exactly=True)
    return concatenated([found.take(~inexact), exactly])


@np.errstate(invalid="ignore", over="ignore")
def product(family: Family, first: Folded, second: Folded, *, exactly: bool = False) -> tuple[Folded, Bools]:
    """Panes of which each second one comes after the first, and which of them may be inexact if they are not found
    exactly.
    """
    products, rows = family.products, family.products.rows
    (found, after), values = blocks(family, [first.numbers, second.numbers], exactly=exactly)
    compose(products.whole, found, after, np.arange(len(first)))
    inexact = np.zeros(len(first), dtype=np.bool_)
    if not exactly:
        inexact = ~np.all(np.abs(found.additive) < bounds_of(family)[:, None], axis=0)
    numbers: list[Any] = [None] * len(first.numbers)
    for place, row in rows.additive.items():
        column = found.additive[row]
        numbers[place] = whole(column) if family.numbers[place].whole else column.astype(np.float64)
    for place, row in rows.extremes.items():
        numbers[place] = values_at(found.extremes[row], values[place])
    return Folded(first.keys, first.panes, tuple(numbers)), inexact


def concatenated(parts: Sequence[Folded]) -> Folded:
    """The panes of all parts; none is in two of them."""
    keys = {name: joined([part.keys[name] for part in parts]) for name in parts[0].keys}
    panes = np.concatenate([part.panes for part in parts])
    return Folded(keys, panes, tuple(map(_joined, zip(*(part.numbers for part in parts), strict=True))))


def _joined(columns: Sequence[Any]) -> Any:
    first, *_ = columns  # all are of one type
    return joined(columns) if isinstance(first, pa.Array) else one_after_the_other(columns)
