"""Rows sorted in memory."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

KEY = 24
"""Bytes that sorting takes for each value, beside the value."""


def size_of_sorting(table: Any) -> int:
    """Bytes, about."""
    return 2 * int(table.nbytes) + KEY * int(table.num_rows) * int(table.num_columns)


def sorted_by(table: Any, names: Sequence[str]) -> Any:
    """The rows sorted by these columns, and then by how they are written."""
    import pyarrow as pa

    columns = [table.column(name) for name in names]
    spelt = (key for key in map(_spelling, columns) if key is not None)
    return table.take(pa.array(_order(chain(map(_places, columns), spelt), table.num_rows)))


def _order(keys: Iterable[Any], rows: int) -> Any:
    """How rows are sorted by whole numbers, those that are equal as they come. No more keys are asked for than tell the
    rows apart: most often the first few.
    """
    import numpy as np

    order = np.arange(rows)
    tied = order.copy()  # the places in `order` of rows that the keys until then leave together, and which of these are
    group = np.zeros(rows, dtype=np.int64)
    for key in keys:
        values, beside = key[order[tied]], group[1:] == group[:-1]
        if (beside & (values[1:] < values[:-1])).any():
            by = np.lexsort((values, group))
            order[tied], values = order[tied[by]], values[by]
        equal = beside & (values[1:] == values[:-1])
        stay = np.zeros(len(tied), dtype=np.bool_)
        stay[1:] |= equal
        stay[:-1] |= equal
        tied, group = tied[stay], np.cumsum(np.concatenate(([0], ~equal)))[stay]
        if not len(tied):
            break
    return order


def _places(column: Any) -> Any:
    """Whole numbers in the order of the values."""
    import numpy as np
    import pyarrow as pa

    from cepc_runtime.numbers.columns import flat, ranks

    column = flat(column)
    if not column.null_count and (pa.types.is_timestamp(column.type) or pa.types.is_int64(column.type)):
        return np.asarray(column.view(pa.int64()))
    return ranks(column).numbers


def _spelling(column: Any) -> Any:
    """What tells values apart that are equal: 0.0 and -0.0, or one NaN and another. None where there are none such."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    from cepc_runtime.numbers.columns import flat, ranks

    column = flat(column)
    if pa.types.is_nested(column.type):
        if all(_spelling(part) is None for part in _inside(column)):
            return None
        return ranks(pa.array([repr(value) for value in column.to_pylist()])).numbers
    if not pa.types.is_floating(column.type):
        return None
    numbers = pc.fill_null(column, 0).to_numpy(zero_copy_only=False)
    bits = numbers.view(np.int64 if numbers.dtype == np.float64 else np.int32)
    is_alone = (numbers > 0) | (numbers < 0) | (bits == 0)
    return None if is_alone.all() else bits


def _inside(column: Any) -> list[Any]:
    """The values of lists, or of a struct's fields, or of a map."""
    import pyarrow as pa

    if pa.types.is_map(column.type):
        return [column.keys, column.items]
    return list(column.flatten()) if pa.types.is_struct(column.type) else [column.flatten()]
