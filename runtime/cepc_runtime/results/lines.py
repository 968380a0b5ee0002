"""Result tables as lines of text: JSON objects, and CSV."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .as_text import object_parts
from .text_columns import joined, json_column, text_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROWS: Final = 1 << 14
"""Made into text at a time."""


def json_lines(table: Any, query: str | None = None) -> Iterator[bytes]:
    """An object for each row, with the query's name first where it is given; some lines at a time.

    The name stands under `query`; where the query has a column of that name, under `_query`, and so on.
    """
    names, lead = _quoted(table.column_names), []
    if query is not None:
        under = "query"
        while under in table.column_names:
            under = f"_{under}"
        names, lead = _quoted([under, *table.column_names]), _quoted([query])
    for part in _parts(table):
        yield _lines([*object_parts(names, [*lead, *map(json_column, part.columns)]), "\n"])


def objects(table: Any) -> Any:
    """A column with an object for each row."""
    return joined(*object_parts(_quoted(table.column_names), [*map(json_column, table.columns)]), null="")


def _quoted(names: Iterable[str]) -> list[str]:
    return [*map(json.encoder.encode_basestring, names)]


def csv_lines(table: Any) -> Iterator[bytes]:
    """A header and a line for each row; null is empty, the empty string is quoted, nested values are JSON; some lines
    at a time.
    """
    yield f"{','.join(_cells(pa.array(table.column_names, pa.string())).to_pylist())}\n".encode()
    for part in _parts(table):
        cells: list[Any] = []
        for column in part.columns:
            cells += [_cells(column), ","]
        yield _lines([*cells[:-1], "\n"])


def _cells(column: Any) -> Any:
    texts = text_column(column)
    if pa.types.is_primitive(column.type) or pa.types.is_decimal(column.type):  # numbers and times
        return texts
    within = pc.match_substring_regex(texts, '^$|[,"\n\r]')
    if not pc.any(within).as_py():
        return texts
    return pc.if_else(within, joined('"', pc.replace_substring(texts, '"', '""'), '"'), texts)


def _parts(table: Any) -> Iterator[Any]:
    for start in range(0, table.num_rows, ROWS):
        yield table.slice(start, ROWS)


def _lines(parts: list[Any]) -> bytes:
    """The bytes of what stands one after the other in each row."""
    _, offsets, text = joined(*parts, null="").buffers()
    end = int(np.frombuffer(offsets, np.int64)[-1])
    return bytes(text.slice(0, end).to_pybytes())
