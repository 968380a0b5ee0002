"""JSON lines that Arrow's parser takes as Python's does, which is most of them: in less than half the time, and while
other threads work. For all else this module finds nothing, and the lines are parsed one by one, which also says what is
wrong with them.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from cepc_runtime.sql.types import BOOLEAN, DOUBLE, STRING, TIMES, is_integer, to_arrow

from .text_values import BadValueError, from_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_runtime.sql.types import DataType

    from .time_formats import TimeFormats

_DEEP: Final = 500
"""So many brackets in one line may be more than Python's parser goes down."""

_LONGEST: Final = 1 << 30

_DIGITS: Final = 4300
"""Of a whole number; Python's parser takes no more."""

_NEWLINE, _RETURN, _OPEN, _CLOSE, _BRACKET = b"\n\r{}["
_EITHER: Final = 0xFF ^ _BRACKET ^ _OPEN

_NAN_OR_INFINITY: Final = re.compile(rb"[:,\[]\s*-?(?:NaN|Inf)")
"""What Arrow takes for a number, and Python not in all spellings."""

ParsedByArrow = tuple[Any, frozenset[str]]
"""A table, and which of its columns occur in the lines."""


def are_plain(columns: Sequence[tuple[str, DataType]]) -> bool:
    """Whether columns are of types that both take alike. A FLOAT is not rounded alike."""
    return bool(columns) and all(
        is_integer(type_) or type_ in (BOOLEAN, DOUBLE, STRING, *TIMES) for _, type_ in columns
    )


def table_of(data: bytes, columns: Sequence[tuple[str, DataType]], times: TimeFormats) -> ParsedByArrow | None:
    """The columns of lines that are objects, of types that are plain; None where nothing is known."""
    import pyarrow as pa
    import pyarrow.json as pj

    lines = _objects(data)
    if lines is None:
        return None
    reading = pj.ReadOptions(use_threads=False, block_size=len(data) + 1)
    schema = pa.schema([(name, _read_as(type_)) for name, type_ in columns])
    parsing = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    try:
        data.decode()  # Arrow does not look at the texts that it passes over
        table = pj.read_json(pa.py_buffer(data), read_options=reading, parse_options=parsing)
        if table.num_rows != lines:
            return None
        found = {name: _column(table.column(name), type_, times) for name, type_ in columns}
    except (pa.ArrowException, UnicodeDecodeError, BadValueError):
        return None
    if any(column is None for column in found.values()):
        return None
    keys = {name: _occurs(name, column, data) for name, column in found.items()}
    if None in keys.values():
        return None
    return pa.table(found), frozenset(name for name, occurs in keys.items() if occurs)


def _objects(data: bytes) -> int | None:
    """How many lines there are, if each begins and ends as an object does. Then no object goes on in the next line, for
    between `}` and `{` there would be a comma, and where there are as many objects as lines, no line has two. None
    where it is not so, or where the parsers may not agree.
    """
    import numpy as np

    if len(data) > _LONGEST or not (data.startswith(b"{") and data.endswith((b"}", b"}\r"))):
        return None
    every = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(every == _NEWLINE)
    last = ends - 1 - (every[ends - 1] == _RETURN)
    if (every[ends + 1] != _OPEN).any() or (every[last] != _CLOSE).any():
        return None
    opened = (every & _EITHER) == _BRACKET  # `{` as well
    if np.count_nonzero(opened) - len(ends) > _DEEP:
        starts = np.concatenate([np.zeros(1, np.int64), ends])
        if np.add.reduceat(opened, starts, dtype=np.int64).max() > _DEEP:
            return None
    longest = np.diff(ends, prepend=0, append=len(data)).max()
    if longest > _DIGITS and re.search(rb"\d{%d}" % (_DIGITS + 1), data):
        return None
    return None if _has_nan_or_infinity(data, every) else len(ends) + 1


def _has_nan_or_infinity(data: bytes, every: Any) -> bool:
    import numpy as np

    for first, second, third in (b"NaN", b"Inf"):
        found = np.flatnonzero(every[:-2] == first)
        if ((every[found + 1] == second) & (every[found + 2] == third)).any():
            return _NAN_OR_INFINITY.search(data) is not None
    return False


def _read_as(type_: DataType) -> Any:
    import pyarrow as pa

    if is_integer(type_):
        return pa.int64()
    return pa.string() if type_ in TIMES else to_arrow(type_)


def _column(column: Any, type_: DataType, times: TimeFormats) -> Any:
    """None where a number is one that Python's parser reads otherwise: -0, which is a whole number, and infinity.
    Raises ArrowInvalid and BadValueError.
    """
    import numpy as np

    from cepc_runtime.numbers.columns import flat

    column = flat(column)
    if type_ in TIMES:
        return from_text(column, type_, times.of(type_))
    if type_ == DOUBLE:
        numbers = column.fill_null(1.0).to_numpy(zero_copy_only=False)
        if not np.isfinite(numbers).all() or (np.signbit(numbers) & (numbers == 0)).any():
            return None
    return column.cast(to_arrow(type_))


def _occurs(name: str, column: Any, data: bytes) -> bool | None:
    """Whether the key is in some line; None where that is not seen, since all its values may be null."""
    if column.null_count < len(column):
        return True
    return None if json.dumps(name, ensure_ascii=False).encode() in data or b"\\" in data else False
