"""Result tables printed and saved as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import BinaryIO, TextIO


def of_lines(
    name: str, lines: Callable[[Any, str | None], Iterator[bytes]], *, is_of_one_query: bool = False
) -> Writer:
    """What writes the lines of a table; of a query by its name where several are printed, and by none in a file."""

    def show(tables: Mapping[str, Any], stream: TextIO, limit: int | None, _colour: bool) -> None:
        for query, table in tables.items():
            rows = table if limit is None else table.slice(0, limit)
            # Bytes: JSON is UTF-8 whatever the locale.
            stream.buffer.writelines(lines(rows, query))
        stream.buffer.flush()

    def save(table: Any, file: BinaryIO) -> None:
        file.writelines(lines(table, None))

    return Writer(name, show, save, is_of_one_query)


def _json(table: Any, query: str | None) -> Iterator[bytes]:
    from cepc_runtime.results.lines import json_lines

    return json_lines(table, query)


def _csv(table: Any, _query: str | None) -> Iterator[bytes]:
    from cepc_runtime.results.lines import csv_lines

    return csv_lines(table)


JSON_LINES = of_lines("jsonl", _json)
CSV = of_lines("csv", _csv, is_of_one_query=True)
