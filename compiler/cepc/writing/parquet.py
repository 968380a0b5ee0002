"""Result tables as Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .writer import Writer

if TYPE_CHECKING:
    from typing import BinaryIO


GROUP = 1 << 20
"""Rows of a row group."""


def _save(table: Any, file: BinaryIO) -> None:
    """A row group is one piece, so that the bytes do not depend on how rows were put together."""
    import pyarrow.parquet as pq

    from cepc_runtime.results.parquet_columns import with_dictionary

    with pq.ParquetWriter(file, table.schema, use_dictionary=with_dictionary(table)) as writer:
        for first in range(0, table.num_rows, GROUP):
            writer.write_table(table.slice(first, GROUP).combine_chunks(), GROUP)


PARQUET = Writer("parquet", save=_save)
