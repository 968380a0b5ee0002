"""Rows sorted in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

KEY = 24
"""Bytes that sorting takes for each value, beside the value."""


def size_of_sorting(table: Any) -> int:
    """Bytes, about."""
    return 2 * int(table.nbytes) + KEY * int(table.num_rows) * int(table.num_columns)


def sorted_by(table: Any, names: Sequence[str]) -> Any:
    """The rows sorted by these columns, and then by how they are written."""
    import numpy as np
    import pyarrow as pa

    from cepc_runtime.numbers.columns import ranks

    keys = [ranks(table.column(name)).numbers for name in names]
    keys += [key for name in names if (key := _spelling(table.column(name))) is not None]
    return table.take(pa.array(np.lexsort(keys[::-1])))


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
