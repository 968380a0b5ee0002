"""Events as sorted arrays: from a table of a stream's rows to groups, instants and letters.

Two steps, so that several sharing classes (queries with the same partition attributes) read and classify events once:
`read` does what does not depend on the partition, `arrange` sorts for one partition.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..cheap_dataclass import dataclass
from ..numbers.columns import Bools, Ints, dense_rows, flat, nulls, ranks
from ..numbers.sorting import by_number, order_of
from ..parts.at_once import at_once
from ..sql.types import to_arrow
from .letters import Typed, renumbered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..plan.stream import StreamPlan

    Staying = Callable[[Ints, int], Bools | None]
    """Of the groups of events, numbered from 0, and how many they are: which events stay; None: all."""


MANY: Final = 1 << 16
"""Rows whose types are worth a thread of their own."""


class InputError(ValueError):
    """The table is not what the stream declares."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """How many rows were no events: their time is null, or, with a time, their type is."""

    null_time: int = 0
    null_type: int = 0

    def __add__(self, other: Dropped) -> Dropped:
        return Dropped(self.null_time + other.null_time, self.null_type + other.null_type)


@dataclass(frozen=True)
class Reading(Typed):
    """The events of a table as they come. `ticks` are their times; `rows` was the length of the table."""

    ticks: Ints
    rows: int
    dropped: Dropped


@dataclass(frozen=True)
class Events(Typed):
    """Events by group, time, ORDER BY columns; events equal in all three are an instant.

    Group g is `group_starts[g]:group_starts[g + 1]`; `keys` is a table of the partition attributes with a row for each
    group. Instant i is `instant_starts[i]:instant_starts[i + 1]`, in canonical order if it was asked for. `order` says
    at which row of the reading each event stood.
    """

    ticks: Ints
    groups: npt.NDArray[np.int32]
    group_starts: Ints
    keys: Any
    instant_starts: Ints
    order: Ints
    dropped: Dropped

    @property
    def length(self) -> int:
        return len(self.ticks)


# ---- reading ---------------------------------------------------------------------------------------------------------


def read(table: Any, plan: StreamPlan, threads: int = 1) -> Reading:
    """The rows that are events: with a time and a type. Columns get the types that the plan declares."""
    table = _columns(table, plan)
    no_time = nulls(table.column(plan.time_column))
    no_type = (
        np.zeros(len(no_time), dtype=np.bool_) if plan.type_column is None else nulls(table.column(plan.type_column))
    )
    dropped = Dropped(int(no_time.sum()), int((no_type & ~no_time).sum()))
    rows = table.num_rows
    if dropped != Dropped():
        table = table.filter(pa.array(~(no_time | no_type)))
    types, names = _types(table, plan, threads)
    reading = Reading(table, types, names, ticks_of(table.column(plan.time_column)), rows, dropped)
    return with_beside(reading, plan) if plan.beside else reading


def select(reading: Reading, rows: Ints | Bools | slice) -> Reading:
    """Some of the events: indexes, a mask, or those that follow each other, which are not copied."""
    if isinstance(rows, slice):
        table = reading.table.slice(rows.start, rows.stop - rows.start)
        return replace(reading, table=table, types=reading.types[rows], ticks=reading.ticks[rows])
    chosen = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
    table = reading.table.take(pa.array(chosen))
    return replace(reading, table=table, types=reading.types[chosen], ticks=reading.ticks[chosen])


def ticks_of(column: Any) -> Ints:
    """A time column without nulls as ticks: microseconds of timestamps, days of dates, integers as they are."""
    column = flat(column)
    if pa.types.is_timestamp(column.type):
        column = _microseconds(column)
    elif pa.types.is_date(column.type):
        column = column.cast(pa.date32()).cast(pa.int32())
    return np.asarray(column.cast(pa.int64()).to_numpy(), dtype=np.int64)


def _microseconds(column: Any) -> Any:
    """Timestamps in microseconds; what is finer is cut off, towards the past."""
    if column.type.unit == "ns":
        column = pc.floor_temporal(column, unit="microsecond")
    return column.cast(pa.timestamp("us", column.type.tz))


def _columns(table: Any, plan: StreamPlan) -> Any:
    """The plan's columns, and of the stream's others those that are there (for canonical order)."""
    types = dict(plan.columns)
    given = types if not plan.beside else dict(plan.given)
    names = [n for n in dict.fromkeys((*plan.all_columns, *types)) if n in given or n in table.column_names]
    return pa.table([_column(table, name, types, plan) for name in names], names)


def _column(table: Any, name: str, types: dict[str, Any], plan: StreamPlan) -> Any:
    if name not in table.column_names:
        found = ", ".join(table.column_names)
        raise InputError(f"stream {plan.name}: no column {name}; the input has {found or 'no columns'}")
    column = table.column(name)
    if name not in types or column.type == to_arrow(types[name]) or _is_dictionary_of_strings(column):
        return column
    try:
        return (_microseconds(column) if pa.types.is_timestamp(column.type) else column).cast(to_arrow(types[name]))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"stream {plan.name}: column {name} is {column.type}, not {types[name].sql}") from error


def _is_dictionary_of_strings(column: Any) -> bool:
    return bool(pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type))


def _types(table: Any, plan: StreamPlan, threads: int) -> tuple[npt.NDArray[np.int32], tuple[str, ...]]:
    """Numbered as they first occur."""
    if plan.type_column is None:
        return np.zeros(table.num_rows, dtype=np.int32), (plan.single_type or plan.name,)
    column, pieces = table.column(plan.type_column), threads if table.num_rows >= MANY * threads else 1
    bounds = [table.num_rows * i // pieces for i in range(pieces + 1)]
    parts = at_once([partial(_types_of, column.slice(low, high - low)) for low, high in pairwise(bounds)], pieces)
    known: dict[str, int] = {}
    places = [np.array([known.setdefault(t, len(known)) for t in names], dtype=np.int32) for _, names in parts]
    return np.concatenate([renumbered(own, place) for place, (own, _) in zip(places, parts, strict=True)]), tuple(known)


def _types_of(column: Any) -> tuple[npt.NDArray[np.int32], list[str]]:
    column = flat(column)
    encoded = _as_strings(column).dictionary_encode()
    return encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist()


def _as_strings(column: Any) -> Any:
    if pa.types.is_string(column.type):
        return column
    if not pa.types.is_binary(column.type):
        return column.cast(pa.string())
    each = column.dictionary_encode()
    texts = [value.decode(errors="replace") for value in each.dictionary.to_pylist()]  # bytes may be no text
    return pa.array(texts, pa.string()).take(each.indices)


# ---- what events beside have -----------------------------------------------------------------------------------------


def with_beside(reading: Reading, plan: StreamPlan) -> Reading:
    """The events with the columns that are of others beside them; those that came with them are kept."""
    table, orders = reading.table, dict[tuple[str, ...], tuple[Ints, Ints]]()
    for column in plan.beside:
        if column.name in table.column_names:
            continue
        if column.partition not in orders:
            orders[column.partition] = _in_order(reading, plan, column.partition)
        order, groups = orders[column.partition]
        values = flat(table.column(column.column)).take(places_after(order, groups, column.places))
        table = table.append_column(column.name, values.cast(to_arrow(column.type)))
    return replace(reading, table=table)


def _in_order(reading: Reading, plan: StreamPlan, partition: Sequence[str]) -> tuple[Ints, Ints]:
    """At which rows events stand by group, in canonical order, and their groups."""
    groups, instants = groups_of(reading, partition)[0], instant_keys(reading, plan)
    order = _sorted(groups, instants)
    if order is None:
        order = np.arange(len(groups))
    groups = groups[order]
    starts = run_starts([groups, *(i[order] for i in instants)])
    return _canonical(reading, plan, order, starts) if len(starts) - 1 < len(order) else order, groups


def in_canonical_order(reading: Reading, plan: StreamPlan, partition: Sequence[str]) -> Ints:
    """At which rows events stand by group, in canonical order."""
    return _in_order(reading, plan, partition)[0]


def places_after(order: Ints, groups: Ints, places: int) -> Any:
    """For each row the one that is so many places after it, null where its group has none. `order` are the rows by
    group, and `groups` those of the rows in this order.
    """
    length = len(order)
    at = np.arange(length) + places
    inside = (at >= 0) & (at < length)
    at = np.where(inside, at, 0)
    inside &= groups[at] == groups
    rows, none = np.empty(length, dtype=np.int64), np.empty(length, dtype=np.bool_)
    rows[order], none[order] = order[at], ~inside
    return pa.array(rows, mask=none)


# ---- arranging -------------------------------------------------------------------------------------------------------


def arrange(
    reading: Reading,
    plan: StreamPlan,
    partition: Sequence[str],
    *,
    canonical: bool = True,
    staying: Staying | None = None,
) -> Events:
    """The events by group and time. Without `canonical`, events of an instant stand in any order: enough to count
    matches, which are sets of events, and it needs no column that the plan does not read. With `staying` the events
    that it says, of the groups that have some.
    """
    groups, first = groups_of(reading, partition)
    instants = instant_keys(reading, plan)
    rows = None
    if staying is not None and (stay := staying(groups, len(first))) is not None:
        rows = np.flatnonzero(stay)
        groups, first = _without_gaps(groups[rows], first)
        instants = [numbers[rows] for numbers in instants]
    order = _sorted(groups, instants)
    keys = reading.table.select(list(partition)).take(pa.array(first))
    sizes = np.bincount(groups, minlength=len(first))
    ordered = np.repeat(np.arange(len(first), dtype=np.int32), sizes)
    if order is not None:
        instants = [i[order] for i in instants]
    if rows is not None:
        order = rows if order is None else rows[order]
    starts = run_starts([ordered, *instants])
    if canonical and len(starts) - 1 < len(ordered):
        order = _canonical(reading, plan, np.arange(len(ordered)) if order is None else order, starts)
    table, types = reading.table, reading.types
    if order is not None:
        table, types = table.take(pa.array(order)), types[order]
    return Events(
        table.combine_chunks(), types, reading.names, instants[0], ordered, np.append(0, np.cumsum(sizes)), keys,
        starts,
        np.arange(len(types)) if order is None else order, reading.dropped,
    )  # fmt: skip


def groups_of(reading: Reading, partition: Sequence[str]) -> tuple[Ints, Ints]:
    """Each event's group, numbered from 0 in the order of first occurrence, and where each group first occurs."""
    length = len(reading.ticks)
    if not partition:
        return np.zeros(length, dtype=np.int64), np.zeros(min(length, 1), dtype=np.int64)
    return dense_rows([reading.table.column(name) for name in partition])


def _without_gaps(groups: Ints, first: Ints) -> tuple[Ints, Ints]:
    """The numbers of the groups that are left, in their order, and where these first occurred."""
    left = np.zeros(len(first), dtype=np.bool_)
    left[groups] = True
    return (np.cumsum(left) - 1)[groups], first[left]


def instant_keys(reading: Reading, plan: StreamPlan) -> list[Ints]:
    """What orders events of a group: time, then the ORDER BY columns as ranks."""
    columns = [ranks(reading.table.column(name)).numbers for name in plan.order_by if name != plan.time_column]
    return [reading.ticks, *columns]


def _sorted(groups: Ints, instants: list[Ints]) -> Ints | None:
    """The order by group, then instant; None if the events stand so already."""
    keys = [groups, *instants]
    if _is_sorted(keys):
        return None
    if _is_sorted(instants):
        return by_number(groups)
    return order_of(keys)


def _is_sorted(keys: list[Ints]) -> bool:
    equal = np.ones(max(len(keys[0]) - 1, 0), dtype=np.bool_)
    for key in keys:
        if np.any(equal & (key[1:] < key[:-1])):
            return False
        equal &= key[1:] == key[:-1]
    return True


def run_starts(keys: Sequence[npt.NDArray[Any]]) -> Ints:
    """Where each run of equal rows starts, and the length."""
    length = len(keys[0])
    changes = np.zeros(max(length - 1, 0), dtype=np.bool_)
    for key in keys:
        changes |= key[1:] != key[:-1]
    before = np.flatnonzero(changes)
    starts = np.empty(len(before) + (2 if length else 1), dtype=np.int64)
    np.add(before, 1, out=starts[-1 - len(before) : -1])
    starts[0], starts[-1] = 0, length
    return starts


def _canonical(reading: Reading, plan: StreamPlan, order: Ints, starts: Ints) -> Ints:
    """The order with every instant of several events sorted by all columns of the stream."""
    lengths = np.diff(starts)
    instant = np.repeat(np.arange(len(lengths)), lengths)
    places = np.flatnonzero(lengths[instant] > 1)
    tied = reading.table.take(pa.array(order[places]))
    columns = [ranks(tied.column(name)).numbers for name in plan.all_columns if name in tied.column_names]
    canonical = order.copy()
    canonical[places] = order[places][order_of([instant[places], *columns])]
    return canonical


def times_of(ticks: Ints, type_: Any) -> Any:
    """Ticks as a column of the event-time column's Arrow type. Raises pa.ArrowInvalid where one does not fit."""
    column = pa.array(ticks, pa.int64())
    return column.cast(pa.int32()).cast(type_) if pa.types.is_date32(type_) else pc.cast(column, type_)
