"""How columns of results are written to Parquet."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

SAMPLE: Final = 1000
"""Rows that say whether a column has values that repeat."""


def with_dictionary(rows: Any) -> list[str] | bool:
    """Which columns have a dictionary, by the first of the rows: sums of DOUBLE, of which hardly one is like another,
    are longer with it, and take four times the time.
    """
    if any(pa.types.is_nested(type_) for type_ in rows.schema.types):  # whose parts had to be named one by one
        return True
    first = rows.slice(0, SAMPLE)
    differ = [pa.types.is_floating(c.type) and 2 * len(c.unique()) > len(c) for c in first.columns]
    return [name for name, different in zip(rows.column_names, differ, strict=True) if not different]
