"""CSV files with a header, as RFC 4180 has them: commas, double quotes, a quote in a quoted value doubled, unless
options say otherwise (`csv_options.py`).

An empty value is null, an empty quoted one the empty string, as Spark reads them. Every value is read as text and then
converted, so that a wrong one can be shown.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from cepc_runtime.sql.types import DOUBLE, STRING, Array, Interval, Map, Struct

from .. import run_settings as settings
from ..errors import DataError
from . import messages
from .bad_records import BadRecord, NotARecord, NotAValue, RecordLine, Said
from .csv_options import TAB, CsvOptions, csv_options, options_of
from .files import open_text, read_head, unread
from .reader import Batch, Looked, Reader, Wanted
from .text_values import BadValueError, bad_values, from_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.numbers.columns import Ints
    from cepc_runtime.sql.types import DataType

    from .bad_records import Wrong
    from .files import DataFile
    from .reader import FormatOptions

BLOCK = 1 << 22
_FOR_EXCEL = re.compile("sep=.", re.IGNORECASE)
NO_TEXT = "this is no UTF-8 text"


def problems(file: DataFile, wanted: Wanted) -> list[Diagnostic]:
    """What is wrong with the header. Raises DataError where there is none to read."""
    columns = header(file)
    if columns is None:
        return []
    declared = [name for name, _ in wanted.declared]
    if declared and not set(declared) & set(columns):
        return [_no_header(file, columns, declared)]
    found = [
        messages.missing_column(file.name, name, type_, wanted.stream, columns, wanted.uses)
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


def _no_header(file: DataFile, columns: Sequence[str], declared: Sequence[str]) -> Diagnostic:
    """`columns` are the values of the first line, and no names of any column that is declared."""
    first, delimiter = _first_line(file), options_of(file).delimiter
    if _FOR_EXCEL.fullmatch(first):
        return messages.for_excel(file.name, first, delimiter)
    spelled = {name.lower(): name for name in declared}
    if spelled.keys() & {name.lower() for name in columns}:
        return messages.other_case(file.name, first, [spelled.get(name.lower(), name) for name in columns], delimiter)
    return messages.no_header(file.name, first, declared, delimiter)


def _first_line(file: DataFile) -> str:
    return next(line for line in re.split("[\r\n]", _text(file)) if line)  # as the header parts them


def header(file: DataFile) -> list[str] | None:
    """The names in the first line that is not empty, or None where there is none."""
    return next((row for row in _records(io.StringIO(_text(file), newline=""), options_of(file)) if row), None)


def _text(file: DataFile) -> str:
    head, options = read_head(file), options_of(file)
    if options.is_utf8 and head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError([messages.utf16(file.name)])
    return head.decode(options.python_encoding, errors="replace")


def _records(lines: Iterable[str], options: CsvOptions, *, strict: bool = False) -> Any:
    """The standard library's reader, for where a thing stands."""
    return csv.reader(lines, delimiter=options.delimiter, quotechar=options.quote, strict=strict)


def _lines(file: DataFile, stream: Any) -> io.TextIOWrapper:
    return io.TextIOWrapper(stream, options_of(file).python_encoding, errors="replace", newline="")


def batches(file: DataFile, wanted: Wanted) -> Iterator[Batch]:
    """The header must be right."""
    import pyarrow as pa

    if header(file) is None:
        return
    raw, stream = open_text(file)
    done = 0
    rows = _Rows()
    with raw:
        passing = Passing(stream, options_of(file))
        reader = _reader(file, wanted, passing, rows)
        while True:
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                stops = wanted.most is not None and rows.wrong  # which says where, if it is a quote
                if not stops and passing.quotes % 2 and _ends_in_quotes(file):
                    raise DataError([messages.cut(file.name, "it ends within a value in quotes")]) from None
                if rows.wrong:
                    yield Batch(None, raw.tell(), wrong=rows.taken())
                return
            except pa.ArrowInvalid as error:
                raise _invalid(file, str(error)) from None
            except UnicodeError:
                raise _no_text(file) from None
            except OSError as error:
                raise unread(file, error) from None
            table, wrong, good = _converted(wanted, passing, batch, done, rows)
            numbers = rows.numbers(good + done) if rows.left_out or len(good) < batch.num_rows else None
            yield Batch(table, raw.tell(), wrong=(*rows.taken(), *wrong), numbers=numbers)
            done += batch.num_rows


_MORE: Final = 'a value with the delimiter in it, such as a comma, stands in quotes: `"a, b"`'
_FEWER: Final = "a value that is not there leaves its place empty: `a,,c`"


class _Rows:
    """The rows that are none: pyarrow leaves them out, and asks whether it may."""

    def __init__(self) -> None:
        self.left_out: list[int] = []
        self.wrong: list[NotARecord] = []

    def __call__(self, row: Any) -> str:
        record = row.number - 1  # the first row is the header
        self.left_out.append(record)
        unclosed = row.text.count('"') % 2 == 1
        more = "; is a quote not closed?" if unclosed else ""
        why = f"the header has {_columns(row.expected_columns)}, this line {row.actual_columns}{more}"
        hint = "" if unclosed else _MORE if row.actual_columns > row.expected_columns else _FEWER
        self.wrong.append(NotARecord(record, "CSV row", why, hint=hint))
        return "skip"

    def taken(self) -> tuple[NotARecord, ...]:
        wrong, self.wrong = tuple(self.wrong), []
        return wrong

    def numbers(self, rows: Ints) -> Ints:
        """The records, from 1, of rows that were not left out, from 0."""
        import numpy as np

        # Record r is row r - 1 less those left out before it.
        before = np.array(self.left_out, np.int64) - np.arange(len(self.left_out)) - 1
        return rows + 1 + np.searchsorted(before, rows, side="right")


class Passing(io.RawIOBase):
    """A stream of CSV as pyarrow can read it, in UTF-8. The quotes that pass are counted. Bytes that are no UTF-8
    become characters of a private plane: pyarrow asks about a row only if all of it is text. The last line has an end:
    without one, pyarrow takes an empty value behind one in quotes for one in quotes.
    """

    def __init__(self, stream: Any, options: CsvOptions) -> None:
        self.stream, self.options = stream, options
        self.quotes, self.is_marked = 0, False
        self._ready, self._rest, self._last = b"", b"", b"\n"
        self._decoder = codecs.getincrementaldecoder(options.python_encoding)()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = b"more"
        while data and not self._ready:
            data = self.stream.read(size)
            self.quotes += data.count(self.options.quote.encode())
            if self.options.is_utf8:
                self._ready = self._marked(data)
            else:
                self._ready = self._decoder.decode(data, final=not data).encode()
            if not data and (self._ready or self._last)[-1:] not in (b"\n", b"\r"):
                self._ready += b"\n"
            self._last = self._ready[-1:] or self._last
        end = len(self._ready) if size < 0 else size
        found, self._ready = self._ready[:end], self._ready[end:]
        return found

    def _marked(self, data: bytes) -> bytes:
        """The bytes with those that are no text marked; the begin of a character waits for its end."""
        data, last = self._rest + data, not data
        self._rest = b""
        try:
            if not data.isascii():
                data.decode()
        except UnicodeDecodeError:
            decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
            text = decoder.decode(data, last)
            self._rest = decoder.getstate()[0]
            marked = text.translate(_MARKS)
            self.is_marked |= marked != text
            return marked.encode()
        return data


_MARKS = {0xDC00 + byte: 0x10FF00 + byte for byte in range(0x80, 0x100)}
_ESCAPES = {mark: escape for escape, mark in _MARKS.items()}
_MARKED = f"[{chr(min(_ESCAPES))}-{chr(max(_ESCAPES))}]"


def without_marks(text: str) -> str:
    return text.translate(_ESCAPES).encode(errors="surrogateescape").decode(errors="replace")


def _ends_in_quotes(file: DataFile) -> bool:
    """Whether a value is still open at the end, for which pyarrow takes it as it is. Values without quotes around them
    may have one.
    """
    raw, stream = open_text(file)
    with raw, _lines(file, stream) as lines:
        try:
            for _ in _records(lines, options_of(file), strict=True):
                pass
        except csv.Error as error:
            return "unexpected end" in str(error)
    return False


def _reader(file: DataFile, wanted: Wanted, stream: Any, rows: _Rows) -> Any:
    """Values are bytes, since one that is no text is wrong by itself. Without columns to read, the first of the file is
    read all the same: its rows are counted.
    """
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    names = [name for name, _ in wanted.columns] or (header(file) or [])[:1]
    options = options_of(file)
    try:
        return pa_csv.open_csv(
            stream,
            # Threads cost the numbers of rows.
            read_options=pa_csv.ReadOptions(use_threads=False, block_size=BLOCK),
            parse_options=pa_csv.ParseOptions(
                delimiter=options.delimiter,
                quote_char=options.quote,
                newlines_in_values=True,
                invalid_row_handler=rows,
            ),
            convert_options=pa_csv.ConvertOptions(
                include_columns=names,
                column_types={name: pa.binary() for name in names},
                null_values=["", *options.nulls],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        raise _invalid(file, str(error)) from None
    except UnicodeError:
        raise _no_text(file) from None
    except OSError as error:
        raise unread(file, error) from None


def _no_text(file: DataFile) -> DataError:
    why = f"it is no text in {options_of(file).encoding}"
    hint = f"{settings.OPTION.of(key='encoding', value='…')} names another"
    return DataError([messages.unreadable(file.name, why, hint)])


def _converted(
    wanted: Wanted, passing: Passing, batch: Any, done: int, rows: _Rows
) -> tuple[Any, list[NotAValue], Ints]:
    """The columns of the rows that are right, what is wrong with the others, and which are right."""
    import numpy as np
    import pyarrow as pa

    every, options = np.arange(batch.num_rows), passing.options
    if not wanted.columns:
        return batch.select([]), [], every
    columns: list[Any] = []
    wrong: dict[int, tuple[str, DataType, BadValueError]] = {}
    for name, type_ in wanted.columns:
        try:
            columns.append(_values(batch.column(name), type_, passing))
        except BadValueError:
            for bad in islice(_bad_values(batch.column(name), type_, passing), wanted.most):
                wrong.setdefault(bad.index, (name, type_, bad))
    if not wrong:
        return pa.table(columns, [name for name, _ in wanted.columns]), [], every
    at = np.array(sorted(wrong), np.int64)
    said = [
        NotAValue(int(record), name, type_, bad.found, bad.why, bad.found, options.times.of(type_))
        for record, (name, type_, bad) in zip(rows.numbers(at + done), (wrong[i] for i in at.tolist()), strict=True)
    ]
    good = np.delete(every, at)
    if wanted.most is not None and len(said) >= wanted.most:
        return None, said, good  # there may be more, and nothing comes of the table
    right = batch.take(pa.array(good))
    return pa.table({name: _values(right.column(name), type_, passing) for name, type_ in wanted.columns}), said, good


def _values(column: Any, type_: DataType, passing: Passing) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    text, options = column.cast(pa.string()), passing.options
    if passing.is_marked and pc.any(pc.match_substring_regex(text, _MARKED)).as_py():
        raise BadValueError(0, "", NO_TEXT)
    return from_text(options.with_point(text, type_), type_, options.times.of(type_))


def _bad_values(column: Any, type_: DataType, passing: Passing) -> Iterator[BadValueError]:
    """Those that are no text, then those of the others that are none of the type."""
    import pyarrow as pa

    text, options = column.cast(pa.string()), passing.options
    if passing.is_marked:
        values = text.to_pylist()
        marked = [i for i, value in enumerate(values) if value is not None and re.search(_MARKED, value)]
        for i in marked:
            yield BadValueError(i, without_marks(values[i]), NO_TEXT)
            values[i] = None
        text = pa.array(values, pa.string())
    for bad in bad_values(options.with_point(text, type_), type_, options.times.of(type_)):
        yield BadValueError(bad.index, text[bad.index].as_py(), bad.why)


# ---- what is wrong ---------------------------------------------------------------------------------------------------


def _invalid(file: DataFile, said: str) -> DataError:
    """What pyarrow cannot go on after."""
    return DataError([messages.unreadable(file.name, said.splitlines()[0].removeprefix("CSV parse error: "))])


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"


def with_lines(file: DataFile, wrong: Sequence[Wrong]) -> Iterator[BadRecord]:
    """The file is read again up to the last of them."""
    waiting: dict[int, list[Wrong]] = {}
    for one in wrong:
        waiting.setdefault(one.record, []).append(one)
    raw, stream = open_text(file)
    with raw, _lines(file, stream) as lines:
        kept: list[str] = []
        reader = _records(_keep(lines, kept), options_of(file))
        names: list[str] = []
        seen = -1
        while waiting and (row := next(reader, None)) is not None:
            seen += bool(row)
            if seen == 0 and row:
                names = row
            for one in waiting.pop(seen, ()) if row else ():
                line = kept[0].rstrip("\r\n")
                at = (0, len(line))
                if isinstance(one, NotAValue) and one.column in names:
                    at = _value(line, names.index(one.column), one.written, options_of(file)) or at
                first = RecordLine(reader.line_num - len(kept) + 1, line, at)
                yield BadRecord(file.name, _cut(file, one, lines, row, kept) or one, first)
            kept.clear()


def _cut(file: DataFile, one: Wrong, lines: Any, row: list[str], kept: list[str]) -> Said | None:
    """What is said of a line with too little in it where the file ends without an end of the line."""
    short = isinstance(one, NotARecord) and not kept[-1].endswith(("\n", "\r"))
    if not short or lines.read(1):
        return None
    header_ = header(file) or []
    if len(row) >= len(header_):
        return None
    why = f"its last line has {len(row)} of {_columns(len(header_))}"
    return Said(one.record, messages.cut(file.name, why), why)


def _keep(lines: Any, kept: list[str]) -> Iterator[str]:
    for line in lines:
        kept.append(line)
        yield line


def _value(line: str, index: int, value: str, options: CsvOptions) -> tuple[int, int] | None:
    """Where value number `index` stands in a line."""
    mark, quote = re.escape(options.delimiter), re.escape(options.quote)
    found = re.match(f"(?:(?:{quote}(?:[^{quote}]|{quote}{quote})*{quote}|[^{mark}]*){mark}){{{index}}}", line)
    if found is None:
        return None
    start = line.find(value, found.end())
    return (start, start + len(value)) if start >= 0 and value else None


# ---- a look ----------------------------------------------------------------------------------------------------------

SEPARATORS = (";", "\t", "|")
NULLS = ("NA", "N/A", "n/a", "NULL", "null", "None", "\\N", "?", "-")
LINES = 1000  # that options are guessed from
_UNDECODED = "\N{REPLACEMENT CHARACTER}"  # what bytes that are none are decoded to
_VALUE = re.compile(r"[-+]?\d[\d.,:eE/T Z+-]*")
_WITH_COMMA = re.compile(r"[-+]?\d+(,\d+)?")


def look(file: DataFile, records: int) -> Looked:
    """The first records, all values as text, without columns that the header has twice or whose name is no text."""
    import pyarrow as pa

    columns = header(file)
    if columns is None:
        return Looked(pa.table({}), whole=True, are_text=True)
    values = [name for name in columns if _VALUE.fullmatch(name)]
    first, delimiter = _first_line(file), options_of(file).delimiter
    if _FOR_EXCEL.fullmatch(first):
        raise DataError([messages.for_excel(file.name, first, delimiter)])
    if 2 * len(values) > len(columns):  # the first line is a record
        raise DataError([messages.no_header(file.name, first, ["at", "kind", "id"], delimiter)])
    once = [name for name in dict.fromkeys(columns) if columns.count(name) == 1 and _UNDECODED not in name]
    if not once:
        twice = dict.fromkeys(columns, "occurs twice")
        undecoded = any(_UNDECODED in name for name in columns)
        raise DataError([messages.not_utf8(file.name) if undecoded else messages.no_columns(file.name, twice)])
    wanted = tuple((name, STRING) for name in once)
    tables, rows, bad, more, no_text = [], 0, 0, False, False
    for batch in batches(file, Wanted("", wanted, wanted, None)):
        if rows >= records:
            more = True
            break
        bad += len(batch.wrong)
        no_text |= any(isinstance(one, NotAValue) and one.why == NO_TEXT for one in batch.wrong)
        if batch.table is not None:
            tables.append(batch.table)
            rows += batch.table.num_rows
    if no_text and not rows:
        raise DataError([messages.not_utf8(file.name)])
    schema = pa.schema([(name, pa.string()) for name, _ in wanted])
    table = pa.concat_tables([t.cast(schema) for t in tables]) if tables else schema.empty_table()
    whole = not more and rows <= records
    return Looked(_with_points(table.slice(0, records), options_of(file)), whole, bad, are_text=True)


def _with_points(table: Any, options: CsvOptions) -> Any:
    """Numbers as they are read, so that they are seen to be some."""
    for index, name in enumerate(table.column_names if options.decimal != "." else ()):
        if _has_comma({value for value in table.column(index).to_pylist() if value is not None}):
            table = table.set_column(index, name, options.with_point(table.column(index), DOUBLE))
    return table


def guess_options(file: DataFile) -> FormatOptions:
    """A delimiter where the header would be one column, or all records would have as many more as it; a decimal comma
    where numbers have it; and what stands for null among numbers or times and in no other column.
    """
    columns = header(file) or []
    given = {name.lower() for name, _ in file.options}
    found: list[tuple[str, str]] = []
    if columns and not given & {"delimiter", "sep"}:
        sign = max(SEPARATORS, key=_first_line(file).count)
        delimiter = ("delimiter", TAB if sign == "\t" else sign)
        is_one = len(columns) == 1 and sign in columns[0]
        found += [delimiter] if is_one or _parts(file, delimiter, len(columns)) else []
    options = csv_options((*file.options, *found))
    lines = io.StringIO(_text(file), newline="")
    records = [row for row in islice(_records(lines, options), 1, LINES) if len(row) > 1]
    values = [{value for value in column if value} for column in zip(*records, strict=False)]
    nulls = [] if "nullvalue" in given else [null for null in NULLS if _stands_for_null(null, values)]
    numbers = [column.difference(nulls, options.nulls) for column in values]
    if options.delimiter != "," and "decimal" not in given and any(map(_has_comma, numbers)):
        found.append(("decimal", ","))
    return (*found, *(("nullValue", null) for null in nulls))


def _parts(file: DataFile, delimiter: tuple[str, str], commas: int) -> bool:
    """Whether it parts the header and the records into as many columns each, and more than commas do."""
    options = csv_options((*file.options, delimiter))
    head, *records = islice(filter(None, _records(io.StringIO(_text(file), newline=""), options)), LINES)
    # The last may be cut off, where what is looked at ends.
    return len(head) > commas and {len(row) for row in records[:-1] or records} == {len(head)}


def _has_comma(values: set[str]) -> bool:
    return any("," in value for value in values) and all(map(_WITH_COMMA.fullmatch, values))


def _stands_for_null(null: str, columns: list[set[str]]) -> bool:
    """Where it occurs there are numbers or times, if anything."""
    with_it = [column - set(NULLS) for column in columns if null in column]
    return any(with_it) and all(_VALUE.fullmatch(value) for column in with_it for value in column)


def looks_like(first: bytes) -> bool:
    text = first.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text.isascii() and b"," in (text.splitlines() or [b""])[0] and not text.startswith(b"{")


READER = Reader(
    "csv", "CSV", (".csv",), looks_like, problems, batches, with_lines, check_options=csv_options,
    look=look, guess_options=guess_options, detail="with a header",
)  # fmt: skip
