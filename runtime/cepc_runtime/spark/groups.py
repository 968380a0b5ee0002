"""A sorted partition cut into tables of whole groups, so that no more of it is held than the kernel has to see at
once.
"""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..numbers.columns import codes, combine_codes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..numbers.columns import Ints

ROWS: Final = 1 << 18
"""Rows of a table, about: enough to spread what a call of the kernel costs, few enough to be held several times over.
"""


def by_class(batches: Iterable[Any], column: str | None) -> Iterator[tuple[int, Iterator[Any]]]:
    """The batches of each class, without the column that says it; the rows must be sorted by it.

    Without a column everything is of class 0.
    """
    if column is None:
        yield 0, iter(batches)
        return
    parts = (part for batch in batches for part in _parts(batch, column))
    for number, same in groupby(parts, key=lambda part: part[0]):
        yield number, (batch for _, batch in same)


def _parts(batch: Any, column: str) -> Iterator[tuple[int, Any]]:
    numbers = batch.column(column).to_numpy()
    rest = batch.drop_columns([column])
    for start, end in runs(numbers):
        yield int(numbers[start]), rest.slice(start, end - start)


def runs(numbers: Ints) -> Iterator[tuple[int, int]]:
    """From where to where the same number follows itself."""
    changes = (np.flatnonzero(numbers[1:] != numbers[:-1]) + 1).tolist()
    return pairwise([0, *changes, len(numbers)] if len(numbers) else [])


def starts_of(before: Any | None, rows: Any, keys: Sequence[str]) -> Ints:
    """Where in the rows another group begins; `before` is the row before them, without which the first begins
    nothing.
    """
    if not keys:
        return np.empty(0, dtype=np.int64)
    table = pa.table([rows.column(name) for name in keys], list(keys))
    if before is not None:
        table = pa.concat_tables([pa.table([before.column(name) for name in keys], list(keys)), table])
    numbers: Ints = combine_codes([codes(table.column(name)) for name in keys], table.num_rows)[0]
    return np.flatnonzero(numbers[1:] != numbers[:-1]) + (0 if before is not None else 1)


@dataclass(frozen=True)
class LargeGroup:
    """One group with many rows, as they come: they must be taken before what follows it."""

    batches: Iterator[Any]


def groups(batches: Iterable[Any], keys: Sequence[str], rows: int, most: int | None) -> Iterator[Any]:
    """Tables of whole groups, of `rows` rows or a little more, and a LargeGroup for each of `most` rows or more; the
    rows must be sorted by the keys.
    """
    source = (batch for batch in batches if batch.num_rows)
    held: list[Any] = []
    for batch in source:
        count = rows_of(held) + batch.num_rows
        last = held[-1].slice(held[-1].num_rows - 1) if held else None
        if count >= rows and len(starts := starts_of(last, batch, keys)):
            whole, held = [*held, *_rows(batch, 0, int(starts[-1]))], _rows(batch, int(starts[-1]), batch.num_rows)
            if whole:
                yield pa.Table.from_batches(whole)
        else:
            held.append(batch)
        if most is None or rows_of(held) < most:
            continue
        table = pa.Table.from_batches(held)
        if len(starts := starts_of(None, table, keys)):
            yield table.slice(0, int(starts[-1]))
            held = table.slice(int(starts[-1])).to_batches()
        if rows_of(held) >= most:
            after: list[Any] = []
            yield LargeGroup(_group(held, source, keys, after))
            held = after
    if held:
        yield pa.Table.from_batches(held)


def _group(held: Sequence[Any], source: Iterator[Any], keys: Sequence[str], after: list[Any]) -> Iterator[Any]:
    """The batches of the group that is held, to its end, and what comes `after` it of the same batch."""
    yield from held
    last = held[-1].slice(held[-1].num_rows - 1)
    for batch in source:
        starts = starts_of(last, batch, keys)
        if len(starts):
            yield from _rows(batch, 0, int(starts[0]))
            after += _rows(batch, int(starts[0]), batch.num_rows)
            return
        yield batch


def rows_of(batches: Iterable[Any]) -> int:
    return sum(batch.num_rows for batch in batches)


def _rows(batch: Any, start: int, end: int) -> list[Any]:
    return [batch.slice(start, end - start)] if start < end else []
