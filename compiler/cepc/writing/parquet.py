"""Result tables as Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .writer import Writer

if TYPE_CHECKING:
    from typing import BinaryIO


def _save(table: Any, file: BinaryIO) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, file)


PARQUET = Writer("parquet", save=_save)
