"""Rows in an order that is the same every time: by window or match, then by the columns from left to right."""

from __future__ import annotations

from typing import Any

TIMES = ("window_start", "window_end", "match_start", "match_end")


def in_order(table: Any) -> Any:
    """The rows sorted as Spark sorts, nulls first."""
    import numpy as np
    import pyarrow as pa

    from cepc_runtime.columns import ranks

    if table.num_rows < 2:
        return table
    names = [name for name in TIMES if name in table.column_names]
    names += [name for name in table.column_names if name not in names]
    keys = [ranks(table.column(name)).numbers for name in names]
    return table.take(pa.array(np.lexsort(keys[::-1])))
