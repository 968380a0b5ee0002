"""Events folded into panes: the numbers that stand for them, for all queries of a family."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..columns import Bools, Ints, codes, combine_codes, dense, flat, joined
from ..counting import totals_by_query
from ..events import select
from ..letters import Kinds
from ..totals import Totals, grouped
from ..types import BIGINT
from ..windows import Sliding
from .composed import blocks, bounds_of, compose, open_windows
from .matrices import LARGE, Matrices, WindowRange, floats, limit_of, product, whole_column, windows
from .panes import PANE
from .products import EXTREME
from .told import places_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..events import Reading
    from ..exactness import Column
    from ..kernel.planes import QueryPlanes
    from ..plan import Plan
    from .families import Counting, Family


@dataclass(frozen=True)
class Kept:
    """Numbers as bytes of a state, read when they are needed."""

    data: bytes
    read: Callable[[], tuple[Any, ...]]


@dataclass(frozen=True)
class Folded:
    """A row for each pane: its partition (`keys`, by attribute), its number in time, and the family's numbers: how many ways or sums as
    integers or floats, the least and greatest values as Arrow arrays.
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


def fold(family: Family, plan: Plan, reading: Reading, kinds: Kinds, panes: Ints) -> Folded:
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
    return _concatenated([found.take(~large), _counted(family, family.counting_exactly, plan, *again)])


def _counted(
    family: Family, counting: Sequence[Counting], plan: Plan, reading: Reading, kinds: Kinds, panes: Ints
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
                found = whole_column(found) if family.numbers[place].whole else floats(found)
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
    none = np.isinf(places)
    values = flat(totals.extremes[totals.layout.planes[plane - 1].value])
    return flat(values.take(pa.array(np.abs(np.where(none, 0, places)).astype(np.int64), mask=none)))


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
        return _concatenated([first, second])
    done = _one_after_the_other(family, first.take(again[both]), second.take(both))
    alone = np.ones(len(first), dtype=np.bool_)
    alone[again[both]] = False
    return _concatenated([first.take(alone), done, second.take(~both)])


def spots_of(parts: Sequence[Folded], *others: tuple[dict[str, Any], Ints]) -> tuple[Ints, Ints]:
    """Equal partitions and panes as equal numbers, over all parts one after the other and then of others, which are keys and panes;
    and where each first occurs.
    """
    tables = [(part.keys, part.panes) for part in parts] + list(others)
    panes = np.concatenate([own for _, own in tables])
    columns = [codes(joined([keys[name] for keys, _ in tables])) for name in tables[0][0]]
    return dense(combine_codes([*columns, codes(pa.array(panes))], len(panes))[0])


def _one_after_the_other(family: Family, first: Folded, second: Folded) -> Folded:
    found, inexact = _at_once(family, first, second)
    if not inexact.any():
        return found
    return _concatenated([found.take(~inexact), _exactly(family, first.take(inexact), second.take(inexact))])


@np.errstate(invalid="ignore", over="ignore")
def _at_once(family: Family, first: Folded, second: Folded) -> tuple[Folded, Bools]:
    """All numbers, and of which panes some may be inexact."""
    products, rows = family.products, family.products.rows
    (found, after), values = blocks(family, [first.numbers, second.numbers])
    compose(products.whole, found, after, np.arange(len(first)))
    inexact = ~np.all(np.abs(found.additive) < bounds_of(family)[:, None], axis=0)
    numbers: list[Any] = [None] * len(first.numbers)
    for place, row in rows.additive.items():
        column = found.additive[row]
        numbers[place] = whole_column(column) if family.numbers[place].whole else column
    for place, row in rows.extremes.items():
        numbers[place] = _values(found.extremes[row], values[place])
    return Folded(first.keys, first.panes, tuple(numbers)), inexact


def _exactly(family: Family, first: Folded, second: Folded) -> Folded:
    """Query by query."""
    numbers: list[Any] = [None] * len(first.numbers)
    limits = {number: limit_of(query.measures) for number, query in family.queries}
    for query, places in sorted(family.places.items(), key=lambda own: limits[own[0]]):  # the exact ones first
        layout = family.layouts[query]
        (before, after), extremes = matrices_of(family, query, [first, second])
        found = product(before, after, len(first))
        for ends, planes in found.items():
            for p, place in enumerate(places[ends]):
                if place is not None and numbers[place] is None:
                    numbers[place] = planes[p] if p < layout.additive else _values(planes[p], extremes[p])
    return Folded(first.keys, first.panes, tuple(numbers))


def _values(places: Column, values: Any) -> Any:
    none = np.isinf(places)
    return flat(values.take(pa.array(np.abs(np.where(none, 0, places)).astype(np.int64), mask=none)))


def _concatenated(parts: Sequence[Folded]) -> Folded:
    keys = {name: joined([part.keys[name] for part in parts]) for name in parts[0].keys}
    panes = np.concatenate([part.panes for part in parts])
    return Folded(
        keys, panes, tuple(_joined(columns) for columns in zip(*(part.numbers for part in parts), strict=True))
    )


def _joined(columns: Sequence[Any]) -> Any:
    first, *_ = columns  # all are of one type
    if isinstance(first, pa.Array):
        return joined(columns)
    return np.concatenate(columns)


# ---- for a query -----------------------------------------------------------------------------------------------------


def matrices_of(family: Family, query: int, parts: Sequence[Folded]) -> tuple[list[Matrices], dict[int, Any]]:
    """The matrices of a query, part by part, and for each minimum plane the values by place."""
    layout = family.layouts[query]
    entries: list[dict[tuple[int, int], list[Column]]] = [{} for _ in parts]
    extremes: dict[int, Any] = {}
    for p in range(layout.count):
        wanted = {ends: planes[p] for ends, planes in family.places[query].items()}
        placed = _placed(layout, p, parts, wanted, extremes) if p >= layout.additive else {}
        for n, part in enumerate(parts):
            for ends, place in wanted.items():
                if p >= layout.additive:
                    column = placed[n, place] if place is not None else np.full(len(part), np.inf)
                else:
                    column = part.numbers[place] if place is not None else np.zeros(len(part), dtype=np.int64)
                entries[n].setdefault(ends, []).append(column)
    limit = limit_of(dict(family.queries)[query].measures)
    made = (Matrices(layout, {ends: tuple(planes) for ends, planes in own.items()}, limit).bounded() for own in entries)
    return list(made), extremes


def _placed(
    layout: QueryPlanes, plane: int, parts: Sequence[Folded], wanted: dict[Any, int | None], extremes: dict[int, Any]
) -> dict[tuple[int, int], Column]:
    """The columns of a minimum plane as places in one order, by part and number."""
    numbers = sorted({place for place in wanted.values() if place is not None})
    if not numbers:
        return {}
    every = [(n, place) for n in range(len(parts)) for place in numbers]
    greatest = layout.planes[plane - 1].value.role == "greatest"
    column, extremes[plane] = places_of(joined([parts[n].numbers[place] for n, place in every]), greatest)
    bounds = np.cumsum([len(parts[n]) for n, _ in every])[:-1]
    return dict(zip(every, np.split(column, bounds), strict=True))


def totals_of_folded(
    family: Family, queries: tuple[int, ...], folded: Folded, low: int, high: int
) -> Iterator[tuple[int, Totals]]:
    """The totals of queries with the same windows in those from `low` to `high`, of which all panes are given."""
    plans = dict(family.queries)
    one = plans[queries[0]]
    assert isinstance(one.window, Sliding)
    columns = folded.keys
    groups, first = dense(combine_codes([codes(column) for column in columns.values()], len(folded))[0])
    wanted = WindowRange(one.window, family.length, low, high)
    found = open_windows(family, queries, folded.numbers, groups, folded.panes, wanted)
    for query in queries:
        plan, totals = plans[query], found.of(query)
        if totals is None:
            totals = _totals_exactly(family, query, folded, groups, wanted)
        yield query, grouped(totals, {name: columns[name].take(pa.array(first)) for name in plan.group_by}, len(first))


def _totals_exactly(family: Family, query: int, folded: Folded, groups: Ints, wanted: WindowRange) -> Totals:
    """By partition."""
    plan, layout = dict(family.queries)[query], family.layouts[query]
    (matrices,), places = matrices_of(family, query, [folded])
    of_group, numbers, planes = windows(matrices, groups, folded.panes, plan.automaton.accepting, wanted)
    extremes = {layout.planes[p - 1].value: places.get(p, pa.nulls(0)) for p in range(layout.additive, layout.count)}
    return Totals(plan, layout, of_group, numbers, {}, planes, extremes)


# ---- as tables ------------------------------------------------------------------------------------------------------


def index_table(folded: Folded) -> Any:
    """Which panes."""
    columns = {f"k{i}": column for i, column in enumerate(folded.keys.values())}
    return pa.table({**columns, "pane": pa.array(folded.panes)})


def numbers_table(folded: Folded) -> Any:
    """Integers in as few bytes as they need, those beyond 64 bits as hexadecimal text."""
    return pa.table({f"n{i}": _small(column) for i, column in enumerate(folded.numbers)})


def _small(column: Any) -> Any:
    if isinstance(column, pa.Array) or column.dtype == np.float64:
        return pa.array(column)
    if column.dtype == object and not all(-(1 << 63) <= number < 1 << 63 for number in column.tolist()):
        return pa.array([f"{int(number):x}" for number in column.tolist()], pa.string())
    column = column.astype(np.int64)
    low, high = column.min(initial=0), column.max(initial=0)
    types = (np.int8, np.int16, np.int32, np.int64)
    return pa.array(column.astype(next(t for t in types if np.iinfo(t).min <= low and high <= np.iinfo(t).max)))


def from_index(family: Family, index: Any, numbers: Kept) -> Folded:
    keys = {name: flat(index.column(f"k{i}")) for i, name in enumerate(family.partition)}
    return Folded(keys, np.array(index.column("pane").to_numpy(), dtype=np.int64), numbers)


def from_numbers(family: Family, table: Any) -> tuple[Any, ...]:
    numbers = []
    for i, number in enumerate(family.numbers):
        column = flat(table.column(f"n{i}"))
        if number.role in EXTREME:
            numbers.append(column)
        elif pa.types.is_string(column.type):
            numbers.append(np.array([*(int(text, 16) for text in column.to_pylist()), None], dtype=object)[:-1])
        elif pa.types.is_floating(column.type):
            numbers.append(np.array(column.to_numpy(), dtype=np.float64))
        else:
            numbers.append(np.array(column.to_numpy(), dtype=np.int64))
    return tuple(numbers)
