"""Result tables as lines of text: JSON objects, and CSV."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cepc_runtime.results.as_text import as_json, as_text, json_object

from .writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import BinaryIO, TextIO

ROWS = 1 << 14  # made into text at a time


def json_lines(table: Any, query: str | None = None) -> Iterator[str]:
    """An object for each row, with the query's name first where it is given.

    The name stands under `query`; where the query has a column of that name, under `_query`, and so on.
    """
    quote = json.encoder.encode_basestring
    names = [quote(name) for name in table.column_names]
    lead: tuple[str, ...] = ()
    if query is not None:
        under = "query"
        while under in table.column_names:
            under = f"_{under}"
        names = [quote(under), *names]
        lead = (quote(query),)
    for part in _parts(table):
        for row in zip(*(as_json(part.column(i)) for i in range(part.num_columns)), strict=True):
            yield json_object(names, (*lead, *row))


def csv_lines(table: Any) -> Iterator[str]:
    """A header and a line for each row; null is empty, the empty string is quoted, nested values are JSON."""
    yield ",".join(map(_quoted, table.column_names))
    for part in _parts(table):
        for row in zip(*(as_text(part.column(i)) for i in range(part.num_columns)), strict=True):
            yield ",".join("" if value is None else _quoted(value) for value in row)


def _quoted(text: str) -> str:
    if text and not any(c in text for c in ',"\n\r'):
        return text
    return '"' + text.replace('"', '""') + '"'


def _parts(table: Any) -> Iterator[Any]:
    for start in range(0, table.num_rows, ROWS):
        yield table.slice(start, ROWS)


def of_lines(name: str, lines: Callable[[Any, str | None], Iterator[str]], *, is_of_one_query: bool = False) -> Writer:
    """What writes the lines of a table; of a query by its name where several are printed, and by none in a file."""

    def show(tables: Mapping[str, Any], stream: TextIO, limit: int | None, _colour: bool) -> None:
        for query, table in tables.items():
            rows = table if limit is None else table.slice(0, limit)
            # Bytes: JSON is UTF-8 whatever the locale.
            stream.buffer.writelines(f"{line}\n".encode() for line in lines(rows, query))
        stream.buffer.flush()

    def save(table: Any, file: BinaryIO) -> None:
        file.writelines(f"{line}\n".encode() for line in lines(table, None))

    return Writer(name, show, save, is_of_one_query)


JSON_LINES = of_lines("jsonl", json_lines)
CSV = of_lines("csv", lambda table, _query: csv_lines(table), is_of_one_query=True)
