"""Rows in an order that is the same every time: by window or match, then by the columns from left to right."""

from __future__ import annotations

from typing import Any

from .sorting import size_of_sorting, sorted_by

TIMES = ("window_start", "window_end", "match_start", "match_end")


def in_order(table: Any, memory: int | None = None) -> Any:
    """The rows sorted as Spark sorts, nulls first. Rows that Spark takes for equal, and that are written in two ways,
    are sorted by what is written, so that the order does not depend on how they were found.

    What does not fit into so many bytes of `memory` is sorted on disk; None is no limit. Raises DiskError.
    """
    if table.num_rows < 2:
        return table
    names = [name for name in TIMES if name in table.column_names]
    names += [name for name in table.column_names if name not in names]
    if memory is not None and size_of_sorting(table) > memory:
        from .order_on_disk import sorted_on_disk

        return sorted_on_disk(table, names, memory)
    return sorted_by(table, names)
