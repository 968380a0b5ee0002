"""Values written as text, in CSV and (times) in JSON, as columns of their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cepc_runtime.sql.time_patterns import parse, parse_date
from cepc_runtime.sql.types import BINARY, BOOLEAN, DATE, STRING, TIMESTAMP, TIMESTAMP_NTZ, is_integer, to_arrow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cepc_runtime.sql.types import DataType


class BadValueError(ValueError):
    """The value at `index` is none of the type; `found` is the value as it is written, `why` may say more."""

    def __init__(self, index: int, found: str, why: str = "") -> None:
        super().__init__(index, found, why)
        self.index, self.found, self.why = index, found, why


def from_text(column: Any, type_: DataType, pattern: str | None = None) -> Any:
    """A column of strings as one of the type; null stays null. Raises BadValueError.

    Numbers are decimal, booleans `true` and `false` in any case, dates and times ISO 8601: a TIMESTAMP without a zone
    is UTC, a TIMESTAMP_NTZ has none. Digits after the microseconds are cut off, as Spark does. With a pattern, which
    is one of time_patterns.py, dates and times are of that.
    """
    import pyarrow as pa

    try:
        return _converted(column, type_) if pattern is None else _by_pattern(column, type_, pattern)
    except (pa.ArrowInvalid, ValueError):
        raise next(bad_values(column, type_, pattern)) from None


def bad_values(column: Any, type_: DataType, pattern: str | None = None) -> Iterator[BadValueError]:
    """The values of a column of strings that are none of the type, by halving: it takes as long as there are many."""
    import pyarrow as pa

    if pattern is not None:
        read = _reading(type_)
        texts = enumerate(column.to_pylist())
        yield from (BadValueError(i, text) for i, text in texts if text is not None and read(text, pattern) is None)
        return
    waiting = [(0, len(column))]
    while waiting:
        start, stop = waiting.pop()
        try:
            _converted(column.slice(start, stop - start), type_)
        except (pa.ArrowInvalid, ValueError):
            if stop - start == 1:
                zoned = type_ == TIMESTAMP_NTZ and _has_zone(column[start])
                why = "a time without a zone is expected" if zoned else ""
                yield BadValueError(start, column[start].as_py(), why)
            else:
                middle = (start + stop) // 2
                waiting += [(middle, stop), (start, middle)]


def _converted(column: Any, type_: DataType) -> Any:
    import pyarrow.compute as pc

    if type_ == STRING:
        return column
    if type_ == BINARY:
        return column.cast(to_arrow(BINARY))
    if type_ == BOOLEAN:
        return _booleans(column)
    if type_ in (TIMESTAMP, TIMESTAMP_NTZ):
        return _times(column, type_)
    if is_integer(type_):
        if pc.any(pc.match_substring(column, "x", ignore_case=True)).as_py():
            raise ValueError("hexadecimal")  # which pyarrow reads
        column = pc.replace_substring_regex(column, r"^\+(\d)", r"\1")
    return column.cast(to_arrow(type_))


def _by_pattern(column: Any, type_: DataType, pattern: str) -> Any:
    """Each text that occurs is parsed once."""
    import pyarrow as pa

    read = _reading(type_)
    texts = column.dictionary_encode()
    values = [read(text, pattern) for text in texts.dictionary.to_pylist()]
    if None in values:
        raise ValueError("not of the pattern")
    numbers = pa.array(values, pa.int32() if type_ == DATE else pa.int64())
    return numbers.take(texts.indices).view(to_arrow(type_))


def _reading(type_: DataType) -> Callable[[str, str], int | None]:
    return parse_date if type_ == DATE else parse


def _booleans(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    lower = pc.utf8_lower(column)
    if not pc.all(pc.is_in(lower, pa.array(["true", "false", None])), min_count=0).as_py():
        raise ValueError("no boolean")
    return pc.equal(lower, "true")


def _times(column: Any, type_: DataType) -> Any:
    """All without a zone or all with one is usual and fast; else each by itself."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = to_arrow(type_)
    for written in (pa.timestamp("us"), wanted):
        try:
            return column.cast(written).view(wanted)
        except pa.ArrowInvalid:
            continue
    column = pc.replace_substring_regex(column, r"(\.\d{6})\d+", r"\1")
    if type_ == TIMESTAMP_NTZ:
        return column.cast(wanted)
    zoned = pc.fill_null(pc.match_substring_regex(column, ZONE), False)
    nothing = pa.scalar(None, pa.string())
    with_zone = pc.if_else(zoned, column, nothing).cast(wanted)
    without = pc.if_else(zoned, nothing, column).cast(pa.timestamp("us")).view(wanted)
    return pc.if_else(zoned, with_zone, without)


ZONE = r"[T ][^ ]*(Z|[+-]\d{2}(:?\d{2})?)$"


def _has_zone(scalar: Any) -> bool:
    import pyarrow.compute as pc

    return bool(pc.match_substring_regex(scalar, ZONE).as_py())
