"""MATCH_NUMBER() in a stream: how many matches each partition has had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..numbers.columns import codes, combine_codes
from .quiet import one_after_the_other

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..events.grouped import Reading
    from ..numbers.columns import Ints


def so_far(events: Reading, keys: Sequence[str], numbered: Any) -> Ints:
    """Of each event the number of matches that its partition has had; `numbered` may be None."""
    length = len(events.ticks)
    if numbered is None:
        return np.zeros(length, dtype=np.int64)
    count = numbered.num_rows
    both = [one_after_the_other(numbered.column(n), events.table.column(name)) for n, name in enumerate(keys)]
    numbers, _ = combine_codes([codes(column) for column in both], count + length)
    _, numbers = np.unique(numbers, return_inverse=True)
    had = np.zeros(count + length, dtype=np.int64)
    had[numbers[:count]] = _had(numbered)
    return had[numbers[count:]]


def added(numbered: Any, events: Reading, keys: Sequence[str], rows: Ints) -> Any:
    """The table with one more match for each of these rows, in the row's partition: the partition's columns, and how
    many it has had.
    """
    columns = [events.table.column(name).take(pa.array(rows)) for name in keys]
    new = pa.table([*columns, pa.array(np.ones(len(rows), dtype=np.int64))], [*keys, "matches"])
    table = new if numbered is None else pa.concat_tables([numbered, new.cast(numbered.schema)])
    numbers, _ = combine_codes([codes(column) for column in table.columns[:-1]], table.num_rows)
    _, first, place = np.unique(numbers, return_index=True, return_inverse=True)
    had = np.zeros(len(first), dtype=np.int64)
    np.add.at(had, place, _had(table))
    found = table.take(pa.array(first))
    return found.set_column(found.num_columns - 1, "matches", pa.array(had))


def _had(numbered: Any) -> Ints:
    return np.asarray(numbered.column(numbered.num_columns - 1).to_numpy(), dtype=np.int64)
