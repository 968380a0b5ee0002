"""AFTER MATCH SKIP FOR in a stream: which partitions are silent, and until when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..numbers.columns import codes, combine_codes
from .ticks import before

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..events.grouped import Reading
    from ..numbers.columns import Bools, Ints

_LAST_TICK = (1 << 63) - 1
_FIRST_TICK = -(1 << 63)


def silences(events: Reading, keys: Sequence[str], rows: Ints, ends: Ints, length: int) -> Any:
    """Of matches that end at `ends` in the partitions of these rows: a table of the partition's columns and of the last
    tick with which no match begins.
    """
    through = np.minimum(ends, _LAST_TICK - (length - 1)) + (length - 1)
    columns = [events.table.column(name).take(pa.array(rows)) for name in keys]
    return pa.table([*columns, pa.array(through, pa.int64())], [*keys, "through"])


def still(quiet: Any, watermark: int) -> Any:
    """Without the silences that are over; None if none is left."""
    if quiet is None:
        return None
    going_on = ~before(_through(quiet), watermark)
    return (quiet if going_on.all() else quiet.filter(pa.array(going_on))) if going_on.any() else None


def joined(old: Any, new: Any) -> Any:
    """The last silence of each partition; `old` may be None."""
    table = new if old is None else pa.concat_tables([old, new.cast(old.schema)])
    through = _through(table)
    numbers, _ = combine_codes([codes(column) for column in table.columns[:-1]], len(through))
    order = np.lexsort((through, numbers))
    last = np.append(numbers[order][1:] != numbers[order][:-1], True)
    return table.take(pa.array(np.sort(order[last])))


def silenced(events: Reading, keys: Sequence[str], quiet: Any) -> Bools:
    """Which of the events begin no match because their partition is silent."""
    if quiet is None or not len(events.ticks):
        return np.zeros(len(events.ticks), dtype=np.bool_)
    count = quiet.num_rows
    both = [one_after_the_other(quiet.column(n), events.table.column(name)) for n, name in enumerate(keys)]
    numbers, size = combine_codes([codes(column) for column in both], count + len(events.ticks))
    _, numbers = np.unique(numbers, return_inverse=True)
    through = np.full(min(size, len(numbers)), _FIRST_TICK)
    silent = np.zeros(len(through), dtype=np.bool_)
    np.maximum.at(through, numbers[:count], _through(quiet))
    silent[numbers[:count]] = True
    own = numbers[count:]
    return silent[own] & (events.ticks <= through[own])


def _through(quiet: Any) -> Ints:
    return np.asarray(quiet.column(quiet.num_columns - 1).to_numpy(), dtype=np.int64)


def one_after_the_other(first: Any, then: Any) -> Any:
    return pa.chunked_array([*first.cast(then.type).chunks, *then.chunks], then.type)
