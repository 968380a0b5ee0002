"""JSON lines: an object on each line, read in blocks of whole lines."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cepc_grammar.source import Source, Span

from ..errors import DataError
from . import messages
from .files import open_text, reason
from .json_values import Exact, NeedsExactError, column_of, needs_exact, shown
from .reader import Batch, Reader
from .text_values import BadValueError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_runtime.types import DataType

    from .files import DataFile
    from .wanted import Wanted

BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a file; `first` is the number of the first of them, counted from 1; so many bytes of the raw file
    are `done`.
    """

    file: str
    first: int
    lines: list[str]
    done: int


def batches(file: DataFile, wanted: Wanted) -> Iterator[Batch]:
    for block in _blocks(file):
        numbers = [i for i, line in enumerate(block.lines) if line and not line.isspace()]
        if numbers:
            table, keys = _table(block, numbers, wanted)
            yield Batch(table, block.done, keys)
        else:
            yield Batch(None, block.done)


# ---- lines -----------------------------------------------------------------------------------------------------------


def _blocks(file: DataFile) -> Iterator[Block]:
    raw, stream = open_text(file)
    with raw:
        rest, line, begun = b"", 1, False
        while True:
            try:
                data = stream.read(BLOCK)
            except OSError as error:
                raise DataError([messages.unreadable(file.name, reason(error))]) from None
            if not begun:
                data, begun = data.removeprefix(b"\xef\xbb\xbf"), True
            whole, newline, after = (rest + data).rpartition(b"\n") if data else (rest, b"", b"")
            if data and not newline:
                rest = after
                continue
            if whole or newline:
                lines = _decoded(file.name, line, whole).split("\n")
                yield Block(file.name, line, lines, raw.tell())
                line += len(lines)
            rest = after
            if not data:
                return


def _decoded(name: str, first: int, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start)
        line = data.split(b"\n")[number].decode(errors="replace")
        at = line.index("�")
        raise _wrong_line(name, first + number, line, (at, at + 1), "JSON object", "this is no UTF-8 text") from None


# ---- objects ---------------------------------------------------------------------------------------------------------


def _table(block: Block, numbers: list[int], wanted: Wanted) -> tuple[Any, frozenset[str]]:
    exact = any(needs_exact(type_) for _, type_ in wanted.columns)
    try:
        return _read(block, numbers, wanted, exact)
    except NeedsExactError:
        return _read(block, numbers, wanted, True)


def _read(block: Block, numbers: list[int], wanted: Wanted, exact: bool) -> tuple[Any, frozenset[str]]:
    import pyarrow as pa

    rows = _rows(block, numbers, exact)
    columns, keys = [], set()
    for name, type_ in wanted.columns:
        values = [row.get(name) for row in rows]
        try:
            column = column_of(values, type_)
        except BadValueError as bad:
            raise _wrong_value(block, numbers[bad.index], name, type_, values[bad.index], bad) from None
        if column.null_count < len(values) or any(name in row for row in rows):
            keys.add(name)
        columns.append(column)
    return pa.table(columns, [name for name, _ in wanted.columns]), frozenset(keys)


def _rows(block: Block, numbers: list[int], exact: bool) -> list[dict[str, Any]]:
    """The objects of a block: parsed at once, or line by line where that fails, to see which line is wrong."""
    lines = block.lines if len(numbers) == len(block.lines) else [block.lines[i] for i in numbers]
    number = Exact if exact else None
    try:
        rows = json.loads("[" + ",".join(lines) + "]", parse_float=number)
    except (ValueError, RecursionError):
        rows = []
    if len(rows) == len(lines) and set(map(type, rows)) == {dict}:
        return rows  # type: ignore[no-any-return]
    return [_row(block, i, number) for i in numbers]


def _row(block: Block, index: int, number: type[Exact] | None) -> dict[str, Any]:
    line = block.lines[index]
    try:
        row = json.loads(line, parse_float=number)
    except json.JSONDecodeError as error:
        said = "there is more after the object" if error.msg == "Extra data" else error.msg[0].lower() + error.msg[1:]
        raise _malformed(block, index, error.pos, said) from None
    except (ValueError, RecursionError) as error:
        raise _malformed(block, index, 0, "too deep" if isinstance(error, RecursionError) else str(error)) from None
    if type(row) is not dict:
        raise _malformed(block, index, len(line) - len(line.lstrip()), f"this is {_kind(row)}")
    return row


def _kind(value: object) -> str:
    return "an array" if isinstance(value, list) else f"`{shown(value)}`"


# ---- what is wrong ---------------------------------------------------------------------------------------------------


def _malformed(block: Block, index: int, position: int, why: str) -> DataError:
    line = block.lines[index]
    spread = line.lstrip().startswith("[") or line.strip() == "{"
    hint = "each line is an object of its own; `jq -c '.[]'` or `jq -c .` writes other JSON so" if spread else ""
    at = min(position, len(line))
    return _wrong_line(block.file, block.first + index, line, (at, at + 1), "JSON object", why, hint)


def _wrong_line(
    file: str, number: int, line: str, at: tuple[int, int], what: str, why: str, hint: str = ""
) -> DataError:
    source, span = excerpt(file, number, line, at)
    return DataError([messages.malformed(span, what, why, hint)], {file: source})


def _wrong_value(block: Block, index: int, column: str, type_: DataType, value: Any, bad: BadValueError) -> DataError:
    line = block.lines[index]
    key = line.find(json.dumps(column, ensure_ascii=False))
    start = line.find(bad.found, key + len(column) + 2) if key >= 0 else -1
    at = (start, start + len(bad.found)) if start >= 0 else (max(key, 0), max(key, 0) + len(column) + 2)
    found = f"`{bad.found}`" if type(value) is not str else f'`"{bad.found.strip(chr(34))}"`'
    source, span = excerpt(block.file, block.first + index, line, at)
    return DataError([messages.bad_value(span, column, type_, found, bad.why)], {block.file: source})


def excerpt(file: str, number: int, line: str, at: tuple[int, int]) -> tuple[Source, Span]:
    """A source of which only line `number` has text, and the span of `at` in it."""
    start = number - 1
    return Source(file, "\n" * start + line.rstrip("\r")), Span(start + at[0], start + at[1], file)


def keys_of(file: DataFile) -> list[str]:
    """The keys of the first objects, each once."""
    keys: dict[str, None] = {}
    for block in _blocks(file):
        for line in block.lines[:1000]:
            if line and not line.isspace():
                keys |= dict.fromkeys(json.loads(line))
        if keys:
            break
    return list(keys)


def looks_like(first: bytes) -> bool:
    return first.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


READER = Reader(
    "json", "JSON lines", (".json", ".jsonl", ".ndjson"), looks_like, lambda _file, _wanted: [], batches, keys_of
)
