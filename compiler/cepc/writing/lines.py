"""Result tables as lines of text: JSON objects, and CSV."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .values import as_json, as_text, json_object

if TYPE_CHECKING:
    from collections.abc import Iterator

ROWS = 1 << 14  # made into text at a time


def json_lines(table: Any, query: str | None = None) -> Iterator[str]:
    """An object for each row, with the query's name first where it is given.

    The name stands under `query`; where the query has a column of that name, under `_query`.
    """
    quote = json.encoder.encode_basestring
    names = [quote(name) for name in table.column_names]
    lead: tuple[str, ...] = ()
    if query is not None:
        names = [quote("_query" if "query" in table.column_names else "query"), *names]
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
