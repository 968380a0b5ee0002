"""A format that nobody has, read and written: text whose values are between bars, a header first."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from cepc.reading.files import DataFile, open_text
from cepc.reading.messages import missing_column
from cepc.reading.reader import Batch, NotThisFormatError, Reader, Wanted
from cepc.reading.text_values import from_text
from cepc.writing.lines import of_lines
from cepc_grammar.diagnostic import Diagnostic
from cepc_runtime.results.as_text import as_text


def rows(file: DataFile) -> list[list[str]]:
    raw, stream = open_text(file)
    with raw:
        return [line[1:-1].split("|") for line in stream.read().decode().splitlines()]


def problems(file: DataFile, wanted: Wanted) -> list[Diagnostic]:
    header = rows(file)[0]
    if len(header) < 2:
        raise NotThisFormatError
    missing = [(name, type_) for name, type_ in wanted.declared if name not in header]
    return [missing_column(file.name, name, type_, wanted.stream, header) for name, type_ in missing]


def batches(file: DataFile, wanted: Wanted) -> Iterator[Batch]:
    header, *rest = rows(file)
    texts = {name: pa.array([row[i] or None for row in rest], pa.string()) for i, name in enumerate(header)}
    yield Batch(pa.table({name: from_text(texts[name], type_) for name, type_ in wanted.columns}), file.size)


READER = Reader("bars", "Bars", (".bars",), lambda first: first.startswith(b"|"), problems, batches, detail="of iron")


def lines(table: Any, query: str | None) -> Iterator[bytes]:
    if query is not None:
        yield f"# {query}\n".encode()
    yield f"|{'|'.join(table.column_names)}|\n".encode()
    for row in zip(*(as_text(column) for column in table.columns), strict=True):
        yield f"|{'|'.join(value or '' for value in row)}|\n".encode()


WRITER = of_lines("bars", lines)
