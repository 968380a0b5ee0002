"""LAG in a stream: what the last events of each partition have had, and from it what is before those that follow.

An event has its LAG as soon as the watermark has passed it: what may still come is later, or late.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..events.grouped import in_canonical_order, places_after, select
from ..events.letter_words import word_of
from ..events.letters import ByType
from ..numbers.columns import codes, combine_codes, flat
from ..numbers.sorting import by_number
from ..plan.query import letters_listed
from ..plan.strategy import letters_read
from ..sql.types import to_arrow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..events.grouped import Reading
    from ..numbers.columns import Bools, Ints
    from ..plan.lags import Lag
    from ..plan.strategy import PhysicalQuery
    from ..plan.stream import Beside, Letter, StreamPlan

NOTHING_LEFT: Final = ((), ())
"""Conditions and exclusions of a letter that was decided before."""


def without_lags(table: Any, beside: Iterable[Beside]) -> Any:
    """New events, of which nothing is known yet."""
    for column in beside:
        if column.name not in table.column_names:
            table = table.append_column(column.name, pa.nulls(table.num_rows, to_arrow(column.type)))
    return table


def with_lags(reading: Reading, new: Bools, plan: StreamPlan, lags: Sequence[Lag], kept: Sequence[Any]) -> Lagged:
    """The events, of which the `new` ones get what is before them. `kept` is for each of the lags a table of the last
    events of each partition, in their order, or None.
    """
    rows = np.flatnonzero(new)
    if not len(rows):
        return Lagged(reading, tuple(kept))
    events, left = select(reading, rows), list[Any]()
    table = reading.table
    for lag, old in zip(lags, kept, strict=True):
        order = in_canonical_order(events, plan, lag.partition)
        both = pa.table({name: flat(events.table.column(name)).take(pa.array(order)) for name in lag.kept})
        if old is not None:
            both = pa.concat_tables([old, both.cast(old.schema)])
        before = both.num_rows - len(order)
        numbers, _ = combine_codes([codes(both.column(name)) for name in lag.partition], both.num_rows)
        by_group = by_number(numbers)
        groups = numbers[by_group]
        source = places_after(by_group, groups, -lag.places).slice(before)
        for column in lag.columns:
            values = flat(both.column(column.column)).take(source).cast(to_arrow(column.type))
            table = with_values(table, column.name, rows[order], values)
        left.append(both.take(pa.array(np.sort(by_group[_last(groups, lag.places)]))))
    return Lagged(replace(reading, table=table), tuple(left))


@dataclass(frozen=True)
class Lagged:
    """Events that have their LAG, and what is kept for those that follow."""

    events: Reading
    kept: tuple[Any, ...]


def letters_decided(
    reading: Reading, new: Bools, letters: Sequence[Letter], asking: Sequence[tuple[int, Letter]]
) -> Reading:
    """The events, of which `new` ones have a letter that is `asking` only if what it asks is true of them, too: its bit
    said what was known before. Raises EvaluationError.
    """
    rows, table = np.flatnonzero(new), reading.table
    words: dict[str, Ints] = {}
    for number, letter in asking:
        word = word_of(letters[number])
        assert word is not None
        name, mask = word
        if name not in words:
            words[name] = np.array(flat(table.column(name)), dtype=np.int64)
        having = rows[words[name][rows] & mask != 0]
        events = select(replace(reading, table=table), having)
        satisfying = np.zeros(len(having), dtype=np.bool_)
        satisfying[ByType(events).satisfying(letter)] = True
        words[name][having[~satisfying]] &= ~mask
    for name, values in words.items():
        table = table.set_column(table.column_names.index(name), name, pa.array(values))
    return replace(reading, table=table)


def asking_letters(queries: Iterable[PhysicalQuery], left: Sequence[Letter]) -> tuple[tuple[int, Letter], ...]:
    """Of the letters of queries, however these are executed, those that have something left to ask, with their
    numbers.
    """
    found = {i for query in queries for i in letters_read(query) | letters_listed(query)} if left else ()
    return tuple((i, left[i]) for i in sorted(found) if (left[i].conditions, left[i].excluded) != NOTHING_LEFT)


def with_values(table: Any, name: str, rows: Ints, values: Any) -> Any:
    """The table with these values of a column at these rows."""
    place = table.column_names.index(name)
    old = flat(table.column(place))
    source = np.arange(len(old))
    source[rows] = len(old) + np.arange(len(rows))
    both = pa.concat_arrays([old.cast(values.type), values])
    return table.set_column(place, name, both.take(pa.array(source)))


def _last(groups: Ints, count: int) -> Bools:
    """Which are among the last of their group, where these stand together."""
    length = len(groups)
    ends = np.append(np.flatnonzero(groups[1:] != groups[:-1]) + 1, length)
    sizes = np.diff(np.append(0, ends))
    found: Bools = np.repeat(ends, sizes) - np.arange(length) <= count
    return found
