"""Column names on their way through `mapInArrow`, which asks for each column by its name and so takes `a.b` for a field
of `a`, `*` for all columns, and a backquote for half of a pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame


def needs_encoding(names: Iterable[str]) -> bool:
    """Whether some name would not be found, or would be decoded without having been encoded."""
    return any(character in name for name in names for character in ".`*%")


def encoded(frame: DataFrame) -> DataFrame:
    """With each such character of the names as %XX."""
    if not needs_encoding(frame.columns):
        return frame
    return frame.toDF(*("".join(f"%{ord(c):02X}" if c in ".`*%" else c for c in name) for name in frame.columns))


def decoded(batches: Iterable[Any]) -> Iterator[Any]:
    """Record batches with the names as they were."""
    for batch in batches:
        names = batch.schema.names
        yield batch.rename_columns([unquote(name) for name in names]) if any("%" in name for name in names) else batch
