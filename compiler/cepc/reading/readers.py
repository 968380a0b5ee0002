"""The formats of events that are read here. To add one, write its module and list its reader. A table is no format of
files: its own log says which they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import avro_files, csv_files, delta_tables, json_lines, orc_files, parquet_files

if TYPE_CHECKING:
    from .reader import Reader

READERS: tuple[Reader, ...] = (
    parquet_files.READER, csv_files.READER, json_lines.READER, orc_files.READER, avro_files.READER,
)  # fmt: skip


TABLES: tuple[Reader, ...] = (delta_tables.READER,)


def names() -> list[str]:
    return [reader.name for reader in (*READERS, *TABLES)]


def by_name(name: str) -> Reader:
    return next(reader for reader in (*READERS, *TABLES) if reader.name == name)


def by_suffix(suffix: str) -> Reader | None:
    return next((reader for reader in READERS if suffix in (*reader.suffixes, *reader.aliases)), None)


def by_content(first: bytes) -> Reader | None:
    """The format that the first bytes of a file look like."""
    return next((reader for reader in READERS if reader.looks_like(first)), None)
