"""The formats in which rows are written. To add one, write its module and list its writer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import lines, parquet, show

if TYPE_CHECKING:
    from .writer import Writer

WRITERS: tuple[Writer, ...] = (show.TABLE, lines.JSON_LINES, lines.CSV, parquet.PARQUET)


def by_name(name: str) -> Writer:
    return next(writer for writer in WRITERS if writer.name == name)
