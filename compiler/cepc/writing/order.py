"""Rows in an order that is the same every time: by window or match, then by the columns from left to right."""

from __future__ import annotations

from typing import Any

TIMES = ("window_start", "window_end", "match_start", "match_end")


def in_order(table: Any) -> Any:
    """The rows sorted as Spark sorts, nulls first. Rows that Spark takes for equal, and that are written in two ways,
    are sorted by what is written, so that the order does not depend on how they were found.
    """
    import numpy as np
    import pyarrow as pa

    from cepc_runtime.numbers.columns import ranks

    if table.num_rows < 2:
        return table
    names = [name for name in TIMES if name in table.column_names]
    names += [name for name in table.column_names if name not in names]
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
