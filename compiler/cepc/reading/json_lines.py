"""JSON lines: an object on each line, read in blocks of whole lines."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.parts.at_once import in_turn
from cepc_runtime.sql.types import TIMES

from .bad_records import BadRecord, NotARecord, NotAValue, RecordLine
from .files import open_text, unread
from .json_by_arrow import are_plain, table_of
from .json_values import Exact, NeedsExactError, column_of, needs_exact, shown
from .reader import Batch, Looked, Reader, Wanted
from .text_values import BadValueError, bad_values, failing
from .time_formats import time_formats

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cepc_runtime.numbers.columns import Ints
    from cepc_runtime.sql.types import DataType

    from .bad_records import Wrong
    from .files import DataFile
    from .json_by_arrow import ParsedByArrow
    from .time_formats import TimeFormats

BLOCK = 1 << 22
WHAT = "JSON object"


MISSES = 3
"""Blocks in a row that are parsed line by line after Arrow has been tried; then it is not tried again."""


@dataclass(frozen=True, slots=True)
class Whole:
    """Whole lines of a file as they are in it; `first` is the number of the first of them, counted from 1; so many
    bytes of the raw file are `done`.
    """

    first: int
    data: bytes
    done: int


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of a file from this one on. Those that are no text are `wrong`, and empty here."""

    first: int
    lines: list[str]
    wrong: tuple[NotARecord, ...] = ()


def batches(file: DataFile, wanted: Wanted) -> Iterator[Batch]:
    import numpy as np

    times = time_formats(file.options)
    misses = 0 if are_plain(wanted.columns) else MISSES

    def by_arrow(whole: Whole) -> ParsedByArrow | None:
        return table_of(whole.data, wanted.columns, times) if misses < MISSES else None

    for whole, found in in_turn(_whole_lines(file), by_arrow, wanted.threads):
        if found is not None:
            table, keys = found
            misses = 0
            yield Batch(table, whole.done, keys, (), np.arange(table.num_rows) + whole.first)
            continue
        misses += 1
        block = _block(whole)
        numbers = [i for i, line in enumerate(block.lines) if line and not line.isspace()]
        if numbers or block.wrong:
            table, keys, wrong, good = _table(block, numbers, wanted, times)
            yield Batch(table, whole.done, keys, (*block.wrong, *wrong), good + whole.first)
        else:
            yield Batch(None, whole.done)


# ---- lines -----------------------------------------------------------------------------------------------------------


def _whole_lines(file: DataFile) -> Iterator[Whole]:
    raw, stream = open_text(file)
    with raw:
        rest, line, begun = b"", 1, False
        while True:
            try:
                data = stream.read(BLOCK)
            except OSError as error:
                raise unread(file, error) from None
            if not begun:
                data, begun = data.removeprefix(b"\xef\xbb\xbf"), True
            whole, newline, after = (rest + data).rpartition(b"\n") if data else (rest, b"", b"")
            if data and not newline:
                rest = after
                continue
            if whole or newline:
                yield Whole(line, whole, raw.tell())
                line += whole.count(b"\n") + 1
            rest = after
            if not data:
                return


def _block(whole: Whole) -> Block:
    with suppress(UnicodeDecodeError):
        return Block(whole.first, whole.data.decode().split("\n"))
    lines, wrong = [], []
    for number, line in enumerate(whole.data.split(b"\n"), whole.first):
        try:
            lines.append(line.decode())
        except UnicodeDecodeError:
            lines.append("")
            at = line.decode(errors="replace").index("�")
            wrong.append(NotARecord(number, WHAT, "this is no UTF-8 text", at))
    return Block(whole.first, lines, tuple(wrong))


# ---- objects ---------------------------------------------------------------------------------------------------------


TableOfLines = tuple[Any, frozenset[str], list["Wrong"], "Ints"]
"""The table, which of the wanted columns occur, what is wrong, and the indices of the lines in the table."""


def _table(block: Block, numbers: list[int], wanted: Wanted, times: TimeFormats) -> TableOfLines:
    exact = any(needs_exact(type_) for _, type_ in wanted.columns)
    try:
        return _read(block, numbers, wanted, times, exact)
    except NeedsExactError:
        return _read(block, numbers, wanted, times, True)


def _read(block: Block, numbers: list[int], wanted: Wanted, times: TimeFormats, exact: bool) -> TableOfLines:
    import numpy as np
    import pyarrow as pa

    rows, wrong = _rows(block, numbers, exact)
    if wrong:
        bad = {one.record - block.first for one in wrong}
        numbers = [i for i in numbers if i not in bad]
    columns, keys, none = [], set(), dict[int, NotAValue]()
    for name, type_ in wanted.columns:
        values = [row.get(name) for row in rows]
        try:
            column = column_of(values, type_, times)
        except BadValueError:
            for index, found in islice(_bad_values(values, type_, times), wanted.most):
                record = block.first + numbers[index]
                none.setdefault(index, NotAValue(record, name, type_, *found, times.of(type_)))
            continue
        if column.null_count < len(values) or any(name in row for row in rows):
            keys.add(name)
        columns.append(column)
    if not none:
        table = pa.table(columns, [name for name, _ in wanted.columns])
        return table, frozenset(keys), wrong, np.array(numbers, np.int64)
    wrong += (none[i] for i in sorted(none))
    if wanted.most is not None and len(none) >= wanted.most:
        return None, frozenset(keys), wrong, np.array([], np.int64)  # there may be more, and nothing comes of the table
    good = [i for i in range(len(rows)) if i not in none]
    right = {name: column_of([rows[i].get(name) for i in good], type_, times) for name, type_ in wanted.columns}
    present = frozenset(name for name, _ in wanted.columns if any(name in rows[i] for i in good))
    return pa.table(right), present, wrong, np.array([numbers[i] for i in good], np.int64)


def _bad_values(values: list[Any], type_: DataType, times: TimeFormats) -> Iterator[tuple[int, tuple[str, str, str]]]:
    """The indices of those that are none of the type; what is found there, why, and as it is written."""
    if type_ in TIMES and (texts := _texts(values)) is not None:
        for bad in bad_values(texts, type_, times.of(type_)):
            yield bad.index, (_quoted(bad.found), bad.why, bad.found)
        return

    def attempt(start: int, stop: int) -> None:
        column_of(values[start:stop], type_, times)

    for index, bad in failing(len(values), attempt, BadValueError):
        yield index, (_quoted(bad.found) if type(values[index]) is str else bad.found, bad.why, bad.found)


def _quoted(text: str) -> str:
    return f'"{text.strip(chr(34))}"'


def _texts(values: list[Any]) -> Any:
    """None where some value is no text."""
    import pyarrow as pa

    if not set(map(type, values)) <= {str, type(None)}:
        return None
    try:
        return pa.array(values, pa.string())
    except (UnicodeEncodeError, pa.ArrowInvalid):  # half of a character
        return None


def _rows(block: Block, numbers: list[int], exact: bool) -> tuple[list[dict[str, Any]], list[Wrong]]:
    """The objects of a block: parsed at once, or line by line where that fails, to see which lines are wrong."""
    lines = block.lines if len(numbers) == len(block.lines) else [block.lines[i] for i in numbers]
    number = Exact if exact else None
    try:
        rows = json.loads("[" + ",".join(lines) + "]", parse_float=number, parse_constant=number)
    except (ValueError, RecursionError):
        rows = []
    if len(rows) == len(lines) and set(map(type, rows)) <= {dict}:
        return rows, []
    found = [_row(block, i, number) for i in numbers]
    objects = [row for row in found if isinstance(row, dict)]
    return objects, [row for row in found if isinstance(row, NotARecord)]


def _row(block: Block, index: int, number: type[Exact] | None) -> dict[str, Any] | NotARecord:
    line = block.lines[index]
    try:
        row = json.loads(line, parse_float=number, parse_constant=number)
    except json.JSONDecodeError as error:
        said = "there is more after the object" if error.msg == "Extra data" else error.msg[0].lower() + error.msg[1:]
        return _malformed(block, index, error.pos, said)
    except (ValueError, RecursionError) as error:
        return _malformed(block, index, 0, "too deep" if isinstance(error, RecursionError) else str(error))
    if type(row) is not dict:
        return _malformed(block, index, len(line) - len(line.lstrip()), f"this is {_kind(row, line)}")
    return row


def _kind(value: object, line: str) -> str:
    """Of what is no object; a number need not be one of JSON's."""
    if isinstance(value, list):
        return "an array"
    return f"`{line.strip()}`" if isinstance(value, float) else f"`{shown(value)}`"


# ---- what is wrong ---------------------------------------------------------------------------------------------------


def _malformed(block: Block, index: int, position: int, why: str) -> NotARecord:
    line = block.lines[index]
    spread = line.lstrip().startswith("[") or line.strip() == "{"
    hint = "each line is an object of its own; `jq -c '.[]'` or `jq -c .` writes other JSON so" if spread else ""
    return NotARecord(block.first + index, WHAT, why, min(position, len(line)), hint)


def with_lines(file: DataFile, wrong: Sequence[Wrong]) -> Iterator[BadRecord]:
    """The file is read again up to the last of them."""
    waiting: dict[int, list[Wrong]] = {}
    for one in wrong:
        waiting.setdefault(one.record, []).append(one)
    raw, stream = open_text(file)
    with raw, io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            text = line.rstrip("\r\n")
            for one in waiting.pop(number, ()):
                yield BadRecord(file.name, one, RecordLine(number, text, _part(one, text)))
            if not waiting:
                return


def _part(wrong: Wrong, line: str) -> tuple[int, int]:
    """What of the line is meant."""
    match wrong:
        case NotARecord(at=at) if at is not None:
            return at, at + 1
        case NotAValue():
            key = line.find(json.dumps(wrong.column, ensure_ascii=False))
            start = line.find(wrong.written, key + len(wrong.column) + 2) if key >= 0 else -1
            if start >= 0:
                return start, start + len(wrong.written)
            return max(key, 0), max(key, 0) + len(wrong.column) + 2
    return 0, len(line)


def keys_of(file: DataFile) -> list[str]:
    """The keys of the first objects, each once."""
    keys: dict[str, None] = {}
    for whole in _whole_lines(file):
        for line in _block(whole).lines[:1000]:
            with suppress(ValueError, TypeError):  # what is no object has none
                keys |= dict.fromkeys(json.loads(line) if line else ())
        if keys:
            break
    return list(keys)


def look(file: DataFile, records: int) -> Looked:
    """The first objects, numbers with a fraction or an exponent as they are written."""
    found: list[dict[str, Any]] = []
    bad = 0
    for whole in _whole_lines(file):
        block = _block(whole)
        numbers = [i for i, line in enumerate(block.lines) if line and not line.isspace()]
        rows, wrong = _rows(block, numbers[: records + 1], exact=True)
        found += rows
        bad += len(wrong) + len(block.wrong)
        if len(found) > records or len(numbers) > records:
            return Looked(found[:records], whole=False, bad=bad)
    return Looked(found, whole=True, bad=bad)


def looks_like(first: bytes) -> bool:
    return first.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


READER = Reader(
    "json",
    "JSON lines",
    (".json", ".jsonl", ".ndjson"),
    looks_like,
    lambda _file, _wanted: [],
    batches,
    with_lines,
    keys_of,
    check_options=time_formats,
    look=look,
)
