"""Values written as text, in CSV and (times) in JSON, as columns of their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cepc_runtime.types import (
    BINARY,
    BOOLEAN,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    is_integer,
    to_arrow,
)

if TYPE_CHECKING:
    from cepc_runtime.types import DataType


class BadValueError(ValueError):
    """The value at `index` is none of the type; `found` is the value as it is written, `why` may say more."""

    def __init__(self, index: int, found: str, why: str = "") -> None:
        super().__init__(index, found, why)
        self.index, self.found, self.why = index, found, why


def from_text(column: Any, type_: DataType) -> Any:
    """A column of strings as one of the type; null stays null. Raises BadValueError.

    Numbers are decimal, booleans `true` and `false` in any case, dates and times ISO 8601: a TIMESTAMP without a zone
    is UTC, a TIMESTAMP_NTZ has none. Digits after the microseconds are cut off, as Spark does.
    """
    import pyarrow as pa

    try:
        return _converted(column, type_)
    except (pa.ArrowInvalid, ValueError):
        index = _first_bad(column, type_)
    why = "a time without a zone is expected" if type_ == TIMESTAMP_NTZ and _has_zone(column[index]) else ""
    raise BadValueError(index, column[index].as_py(), why)


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


def _booleans(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    lower = pc.utf8_lower(column)
    if not pc.all(pc.is_in(lower, pa.array(["true", "false", None]))).as_py():
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


def _first_bad(column: Any, type_: DataType) -> int:
    """By halving, given that some value is bad."""
    import pyarrow as pa

    start, stop = 0, len(column)
    while stop - start > 1:
        middle = (start + stop) // 2
        try:
            _converted(column.slice(start, middle - start), type_)
        except (pa.ArrowInvalid, ValueError):
            stop = middle
        else:
            start = middle
    return start
