"""Rows that do not fit into memory in their order: divided by some values of the first column, and sorted part by part.
Rows with one value are divided by the next column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from cepc_runtime.numbers.columns import flat, ranks
from cepc_runtime.parts.on_disk import EventFile, RowFile, Scattering, in_chunks

from .sorting import size_of_sorting, sorted_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cepc_runtime.parts.on_disk import Stored

MOST: Final = 64
"""Values that divide rows at once: of more, too few rows of a chunk are in a part."""

SAMPLE: Final = 1 << 14
"""Rows from which these values are."""

CHUNK: Final = 1 << 20
"""Rows that are divided at once."""


def sorted_on_disk(table: Any, names: Sequence[str], memory: int) -> Any:
    """The rows sorted by these columns, as a table of the pages of a file. Raises DiskError."""
    file = RowFile()
    return pa.concat_tables(file.read([file.add(part) for part in _in_parts(table, names, names, memory)]))


def _in_parts(table: Any, names: Sequence[str], left: Sequence[str], memory: int) -> Iterator[Any]:
    """The rows in tables that are sorted by all names, one after the other. All have the same value in the columns that
    are not `left`.
    """
    size = size_of_sorting(table)
    if size <= memory or not left:
        yield sorted_by(table, names)
        return
    values = _some(flat(table.column(left[0])), min(2 * size // max(memory, 1) + 1, MOST))
    rows = min(max(memory * table.num_rows // size // 4, 1), CHUNK)
    file = EventFile(table.schema)
    try:
        for number, part in enumerate(_divided(table, left[0], values, rows, file)):
            if part.rows:
                yield from _in_parts(part.whole(), names, left[number % 2 :], memory)
    finally:
        file.close()


def _some(column: Any, many: int) -> Any:
    """Not more values than so many, in order, with about as many rows between two of them."""
    sample = column.take(pa.array(np.arange(0, len(column), max(len(column) // SAMPLE, 1))))
    numbers = ranks(sample).numbers
    order = np.argsort(numbers, kind="stable")
    chosen = order[np.linspace(0, len(order) - 1, many).astype(int)]
    _, first = np.unique(numbers[chosen], return_index=True)
    return sample.take(pa.array(chosen[first]))


def _divided(table: Any, name: str, values: Any, rows: int, file: EventFile) -> list[Stored]:
    """The rows before the first value, those that have it, those between it and the second, and so on."""
    many = 2 * len(values) + 1
    scattering = Scattering(file, table.schema, many)
    for chunk in in_chunks([table], rows):
        numbers = ranks(pa.concat_arrays([values, flat(chunk.column(name))])).numbers
        known, own = numbers[: len(values)], numbers[len(values) :]
        place = np.searchsorted(known, own, "left") + np.searchsorted(known, own, "right")
        order = pa.array(np.argsort(place, kind="stable"))
        scattering.add(np.bincount(place, minlength=many).tolist(), chunk.take(order).combine_chunks())
    return scattering.parts()
