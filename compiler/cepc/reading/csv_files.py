"""CSV files with a header, as RFC 4180 has them: commas, double quotes, a quote in a quoted value doubled.

An empty value is null, an empty quoted one the empty string, as Spark reads them. Every value is read as text and then
converted, so that a wrong one can be shown.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

from cepc_runtime.types import Array, Interval, Map, Struct

from ..errors import DataError
from . import messages
from .files import open_text, read_head, reason
from .json_lines import excerpt
from .reader import Batch, Reader
from .text_values import BadValueError, from_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Source, Span

    from .files import DataFile
    from .wanted import Wanted

BLOCK = 1 << 22


def problems(file: DataFile, wanted: Wanted) -> list[Diagnostic]:
    """What is wrong with the header. Raises DataError where there is none to read."""
    columns = header(file)
    if columns is None:
        return []
    declared = [name for name, _ in wanted.declared]
    if declared and not set(declared) & set(columns):
        first = next(line for line in _text(file).splitlines() if line)
        return [messages.no_header(file.name, first, declared)]
    found = [
        messages.missing_column(file.name, name, type_, wanted.stream, columns)
        for name, type_ in wanted.declared
        if name not in columns
    ]
    found += [messages.twice(file.name, name) for name in declared if columns.count(name) > 1]
    found += [
        messages.not_in_csv(file.name, name, type_)
        for name, type_ in wanted.columns
        if isinstance(type_, Array | Map | Struct | Interval)
    ]
    return found


def header(file: DataFile) -> list[str] | None:
    """The names in the first line that is not empty, or None where there is none."""
    return next((row for row in csv.reader(io.StringIO(_text(file), newline="")) if row), None)


def _text(file: DataFile) -> str:
    return read_head(file).decode("utf-8-sig", errors="replace")


def batches(file: DataFile, wanted: Wanted) -> Iterator[Batch]:
    """The header must be right."""
    import pyarrow as pa

    if header(file) is None:
        return
    raw, stream = open_text(file)
    done = 0
    with raw:
        counted = _Quotes(stream)
        reader = _reader(file, wanted, counted)
        while True:
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                if counted.found % 2 and _ends_in_quotes(file):
                    raise DataError([messages.cut(file.name, "it ends within a value in quotes")]) from None
                return
            except pa.ArrowInvalid as error:
                raise _invalid(file, str(error)) from None
            except OSError as error:
                raise DataError([messages.unreadable(file.name, reason(error))]) from None
            yield Batch(_converted(file, wanted, batch, done), raw.tell())
            done += batch.num_rows


class _Quotes(io.RawIOBase):
    """A stream that counts the quotes that pass."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.found = stream, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data: bytes = self.stream.read(size)
        self.found += data.count(b'"')
        return data


def _ends_in_quotes(file: DataFile) -> bool:
    """Whether a value is still open at the end, for which pyarrow takes it as it is. Values without quotes around them
    may have one.
    """
    raw, stream = open_text(file)
    with raw, io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="") as lines:
        try:
            for _ in csv.reader(lines, strict=True):
                pass
        except csv.Error as error:
            return "unexpected end" in str(error)
    return False


def _reader(file: DataFile, wanted: Wanted, stream: Any) -> Any:
    """Without columns to read, the first of the file is read all the same: its rows are counted."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    names = [name for name, _ in wanted.columns] or (header(file) or [])[:1]
    try:
        return pa_csv.open_csv(
            stream,
            read_options=pa_csv.ReadOptions(use_threads=False, block_size=BLOCK),  # threads cost the numbers of rows
            parse_options=pa_csv.ParseOptions(newlines_in_values=True),
            convert_options=pa_csv.ConvertOptions(
                include_columns=names,
                column_types={name: pa.string() for name in names},
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        raise _invalid(file, str(error)) from None
    except OSError as error:
        raise DataError([messages.unreadable(file.name, reason(error))]) from None


def _converted(file: DataFile, wanted: Wanted, batch: Any, done: int) -> Any:
    import pyarrow as pa

    if not wanted.columns:
        return batch.select([])
    columns = []
    for name, type_ in wanted.columns:
        try:
            columns.append(from_text(batch.column(name), type_))
        except BadValueError as bad:
            place, sources = _place(file, done + bad.index + 1, name, bad.found)
            raise DataError([messages.bad_value(place, name, type_, f"`{bad.found}`", bad.why)], sources) from None
    return pa.table(columns, [name for name, _ in wanted.columns])


# ---- what is wrong ---------------------------------------------------------------------------------------------------


def _invalid(file: DataFile, said: str) -> DataError:
    """pyarrow says the number of a record, the header counted, and what is wrong with it."""
    record = re.search(r"Row #(\d+)", said)
    counts = re.search(r"Expected (\d+) columns, got (\d+)", said)
    if "invalid UTF8" in said:
        why = "this is no UTF-8 text"
    elif counts:
        more = "; is a quote not closed?" if said.count('"') % 2 else ""
        why = f"the header has {_columns(counts[1])}, this line {counts[2]}{more}"
        if record is not None and int(counts[2]) < int(counts[1]) and _is_last(file, int(record[1])):
            return DataError([messages.cut(file.name, f"its last line has {counts[2]} of {_columns(counts[1])}")])
    else:
        why = said.splitlines()[0].removeprefix("CSV parse error: ")
    if record is None:
        return DataError([messages.unreadable(file.name, why)])
    place, sources = _place(file, int(record[1]) - 1, None, None)
    return DataError([messages.malformed(place, "CSV row", why)], sources)


def _is_last(file: DataFile, record: int) -> bool:
    """Whether the file ends in this record (the header counted), and without an end of the line."""
    raw, stream = open_text(file)
    line = ""
    with raw, io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="") as lines:
        seen = 0
        for line in lines:
            seen += bool(line.strip())
    return seen == record and not line.endswith(("\n", "\r"))


def _columns(count: str) -> str:
    return "1 column" if count == "1" else f"{count} columns"


def _place(file: DataFile, record: int, column: str | None, value: str | None) -> tuple[Span, dict[str, Source]]:
    """Where a record stands (1 is the first after the header), and in it a value: the file is read again up to it."""
    raw, stream = open_text(file)
    with raw, io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="") as lines:
        kept: list[str] = []
        reader = csv.reader(_keep(lines, kept))
        names: list[str] = []
        seen, first = -1, 1
        for row in reader:
            seen += bool(row)
            if seen == 0 and row:
                names = row
            elif seen == record:
                first = reader.line_num - len(kept) + 1
                break
            kept.clear()
    line = kept[0].rstrip("\r\n") if kept else ""
    at = (0, len(line))
    if column is not None and value is not None and column in names:
        at = _value(line, names.index(column), value) or at
    source, span = excerpt(file.name, first, line, at)
    return span, {file.name: source}


def _keep(lines: Any, kept: list[str]) -> Iterator[str]:
    for line in lines:
        kept.append(line)
        yield line


def _value(line: str, index: int, value: str) -> tuple[int, int] | None:
    """Where value number `index` stands in a line."""
    found = re.match(r'(?:(?:"(?:[^"]|"")*"|[^,]*),){' + str(index) + "}", line)
    if found is None:
        return None
    start = line.find(value, found.end())
    return (start, start + len(value)) if start >= 0 and value else None


def looks_like(first: bytes) -> bool:
    text = first.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text.isascii() and b"," in (text.splitlines() or [b""])[0] and not text.startswith(b"{")


READER = Reader("csv", "CSV", (".csv",), looks_like, problems, batches, detail="with a header")
