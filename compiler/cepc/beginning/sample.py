"""A look at events: some of the records, and the type of each column. It takes about as long whatever there is: of
many files some are looked at, of a text its beginning, of Parquet a spread of its row groups.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.types import NULL, STRING, TIMESTAMP, from_arrow, to_arrow
from cepc_runtime.sql.widening import widens

from ..errors import DataError
from ..reading import messages, readers
from ..reading.bad_records import STOP, BadRecords
from ..reading.conform import conform
from ..reading.files import EventSource
from ..reading.find import check_content, find_files
from ..reading.json_values import NeedsExactError, column_of
from ..reading.reader import Looked, NotThisFormatError, Wanted, spread
from ..reading.text_values import BadValueError, from_text
from .text_types import is_nameable, nameable, type_of_json, type_of_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cepc_runtime.sql.types import DataType

    from ..reading.files import DataFile
    from ..reading.reader import FormatOptions, Reader

RECORDS = 10_000


@dataclass(frozen=True, slots=True)
class EventOrigin:
    """Where events are from: what comments call it, and where FROM can name it the format, the `path` and the options
    that the file takes.
    """

    title: str
    format: str = ""
    path: str | None = None
    options: FormatOptions = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """Some records of the events, or the `whole` of them.

    `columns` are those that a program can declare, `left_out` the others, each with the reason; `bad` counts records
    that are no events.
    """

    origin: EventOrigin
    columns: tuple[tuple[str, DataType], ...]
    table: Any
    whole: bool
    left_out: tuple[tuple[str, str], ...]
    bad: int

    @property
    def records(self) -> int:
        return int(self.table.num_rows)


@dataclass(frozen=True, slots=True)
class _Part:
    """What was looked at of a file."""

    file: DataFile | None
    looked: Looked

    @property
    def rows(self) -> Any:
        return self.looked.rows


def look(path: str, form: str | None = None, options: FormatOptions = (), records: int = RECORDS) -> Sample:
    """A sample of the events at a path: a file, a directory, or `-` for standard input. Raises DataError."""
    reader, files, _ = find_files(EventSource(path, form, options))
    title = "standard input" if path == "-" else path
    if any("\ud800" <= letter <= "\udfff" for letter in path):  # which Python has for a byte that is none of UTF-8
        raise DataError([messages.unsayable(title)])
    there = [file for file in files if file.size]
    if reader.look is None:
        raise DataError([messages.unreadable(title, f"{reader.title} files are not looked at")])
    if not there:
        raise DataError([messages.nothing_to_look_at(title)])
    for file in there:
        check_content(reader, file)
    options = (*options, *reader.guess_options(there[0]))
    chosen = [replace(there[i], options=options) for i in spread(len(there))]
    each = -(-records // len(chosen))
    try:
        parts = [_Part(file, reader.look(file, each)) for file in chosen]
    except NotThisFormatError as error:
        others = [name for name in readers.names() if name != reader.name]
        raise DataError([messages.another_format(str(error), reader.title, others)]) from None
    if not any(len(part.rows) for part in parts):
        for file, part in zip(chosen, parts, strict=True):
            if part.looked.bad:
                _say_bad(reader, file)
        raise DataError([messages.nothing_to_look_at(title)])
    columns, left_out = (_json if isinstance(parts[0].rows, list) else _tables)(parts)
    return _sample(
        EventOrigin(title, reader.name, None if files[0].data is not None else path, options),
        {**columns, **_folders(parts, files)},
        left_out,
        whole=len(chosen) == len(there) and all(part.looked.whole for part in parts),
        bad=sum(part.looked.bad for part in parts),
    )


def _say_bad(reader: Reader, file: DataFile) -> None:
    """Raises DataError with what is wrong in a file that has nothing but records that are none."""
    bad = BadRecords("", STOP)
    for batch in reader.batches(file, Wanted("", (), (), bad.most)):
        bad.take(batch.wrong[: bad.most], partial(reader.shown, file))
    bad.end()


def of_table(table: Any, title: str, unread: Mapping[str, str], *, whole: bool) -> Sample:
    """A sample that is an Arrow table; its columns are declared as they are. The `unread` columns are not in it, each
    with the reason. Raises DataError.
    """
    if table.num_columns and not table.num_rows:
        raise DataError([messages.nothing_to_look_at(title)])
    columns, left_out = _tables([_Part(None, Looked(table, whole))])
    return _sample(EventOrigin(title), columns, {**unread, **left_out}, whole=whole, bad=0)


def _sample(origin: EventOrigin, found: SampleColumns, left_out: dict[str, str], *, whole: bool, bad: int) -> Sample:
    """Without the columns that no program can declare: names differ in more than case. Raises DataError where no other
    is left.
    """
    import pyarrow as pa

    kept: dict[str, str] = {}
    for name in found:
        if not is_nameable(name):
            left_out[name] = "no name can be so"
        elif name.casefold() in kept:
            left_out[name] = f"differs from {kept[name.casefold()]} only in case"
        else:
            kept[name.casefold()] = name
    if not kept:
        raise DataError([messages.no_columns(origin.title, left_out)])
    columns = tuple((name, found[name][0]) for name in kept.values())
    table = pa.table([found[name][1] for name, _ in columns], [name for name, _ in columns])
    return Sample(origin, columns, table, whole, tuple(left_out.items()), bad)


# ---- the columns of all parts ----------------------------------------------------------------------------------------

SampleColumns = dict[str, tuple["DataType", Any]]


def _json(parts: Sequence[_Part]) -> tuple[SampleColumns, dict[str, str]]:
    rows = [row for part in parts for row in part.rows]
    columns: SampleColumns = {}
    left_out: dict[str, str] = {}
    for name in dict.fromkeys(key for row in rows for key in row):
        values = [row.get(name) for row in rows]
        type_ = nameable(type_of_json(values)) or STRING
        try:
            columns[name] = (type_, column_of(values, type_))
        except BadValueError as error:
            left_out[name] = f"has `{error.found}`, which cannot be read"
        except NeedsExactError:
            left_out[name] = "has NaN among texts"
    return columns, left_out


def _tables(parts: Sequence[_Part]) -> tuple[SampleColumns, dict[str, str]]:
    """Columns that all have, in a type that suits all. Text of CSV gets a type by its values."""
    import pyarrow as pa

    parts = [part for part in parts if part.rows.num_rows]
    columns: SampleColumns = {}
    left_out: dict[str, str] = {}
    for name in dict.fromkeys(name for part in parts for name in part.rows.schema.names):
        if any(part.rows.schema.names.count(name) != 1 for part in parts):
            twice = any(part.rows.schema.names.count(name) > 1 for part in parts)
            left_out[name] = "occurs twice" if twice else "is not in every file"
            continue
        arrays = [chunk for part in parts for chunk in part.rows.column(name).chunks]
        text = parts[0].looked.are_text
        type_ = type_of_text(v for a in arrays for v in a.to_pylist()) if text else _common(parts, name)
        if type_ is None:
            left_out[name] = f"is {parts[0].rows.schema.field(name).type}, which queries cannot read"
            continue
        try:
            for array in arrays:
                array.validate(full=True)  # text may be no UTF-8
            values = [from_text(array, type_) if text else conform(array, type_) for array in arrays]
        except pa.ArrowException as error:
            left_out[name] = str(error).splitlines()[0]
            continue
        columns[name] = (type_, pa.chunked_array(values, to_arrow(type_)))
    return columns, left_out


def _common(parts: Sequence[_Part], name: str) -> DataType | None:
    common: DataType | None = NULL
    for part in parts:
        found = TIMESTAMP if name in part.looked.instants else from_arrow(part.rows.schema.field(name).type)
        if found is None or common is None:
            return None
        common = found if widens(common, found) else common if widens(found, common) else None
    return nameable(common)


def _folders(parts: Iterable[_Part], files: Iterable[DataFile]) -> SampleColumns:
    """The columns that folders name; their types are those of the names of all folders."""
    import pyarrow as pa

    named: dict[str, list[str | None]] = {}
    for file in files:
        for name, value in file.partitions:
            named.setdefault(name, []).append(value)
    columns: SampleColumns = {}
    for name, values in named.items():
        type_ = type_of_text(values)
        rows = [_in_folder(part, name) for part in parts for _ in range(len(part.rows))]
        columns[name] = (type_, from_text(pa.array(rows, pa.string()), type_))
    return columns


def _in_folder(part: _Part, name: str) -> str | None:
    return dict(part.file.partitions).get(name) if part.file is not None else None
