"""Values written as text, in CSV and (times) in JSON, as columns of their types."""

from __future__ import annotations

import decimal
import re
from typing import TYPE_CHECKING, Any, Final, TypeVar

from cepc_runtime.sql.time_patterns import parse, parse_date
from cepc_runtime.sql.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    Decimal,
    is_integer,
    to_arrow,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cepc_runtime.sql.types import DataType


E = TypeVar("E", bound=Exception)


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
    """The values of a column of strings that are none of the type, in their order."""
    if pattern is not None:
        read = _reading(type_)
        texts = enumerate(column.to_pylist())
        yield from (BadValueError(i, text) for i, text in texts if text is not None and read(text, pattern) is None)
        return
    start, rows = 0, FIRST
    while start < len(column):
        texts = column.slice(start, rows).dictionary_encode()
        bad = dict.fromkeys(_bad_ones(texts.dictionary, type_), "")
        if bad and type_ == TIMESTAMP_NTZ:
            zoned = _where(texts.dictionary, ZONE)
            bad |= dict.fromkeys((index for index in zoned if index in bad), "a time without a zone is expected")
        for row, index in enumerate(texts.indices.to_pylist()):
            if index in bad:
                yield BadValueError(start + row, texts.dictionary[index].as_py(), bad[index])
        start, rows = start + rows, min(2 * rows, AT_ONCE)


FIRST: Final = 32
"""Rows that are looked through before the first bad one is said: who asks for a few waits for no more."""
AT_ONCE: Final = 8192
"""Rows that are looked through at once, later."""


def _bad_ones(texts: Any, type_: DataType) -> Iterator[int]:
    """Of different texts: those that are not of the type at first sight, and of the others that are not plainly of it
    some, which are found by halving.
    """
    import pyarrow as pa

    good = set(_where(texts, f"^(?:{USUAL[type_]})$")) if type_ in USUAL else set[int]()
    fair = set(_where(texts, f"(?i)^(?:{POSSIBLE[type_]})")) if type_ in POSSIBLE else set(range(len(texts)))
    yield from (index for index in range(len(texts)) if index not in fair)
    doubtful = sorted(fair - good)
    tried = texts.take(pa.array(doubtful, pa.int64()))

    def attempt(start: int, stop: int) -> None:
        _converted(tried.slice(start, stop - start), type_)

    for index, _ in failing(len(tried), attempt, (pa.ArrowInvalid, ValueError)):
        yield doubtful[index]


def _where(texts: Any, pattern: str) -> list[int]:
    """Which texts have it in them."""
    import pyarrow.compute as pc

    found: list[int] = pc.indices_nonzero(pc.match_substring_regex(texts, pattern)).to_pylist()
    return found


def failing(
    length: int, attempt: Callable[[int, int], None], errors: type[E] | tuple[type[E], ...]
) -> Iterator[tuple[int, E]]:
    """Of so many values those with which an attempt fails, in their order and with the error, by halving."""
    waiting = [(0, length)]
    while waiting:
        start, stop = waiting.pop()
        try:
            attempt(start, stop)
        except errors as error:
            if stop - start == 1:
                yield start, error
            else:
                middle = (start + stop) // 2
                waiting += [(middle, stop), (start, middle)]


_A_DATE: Final = r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])"
_A_TIME: Final = rf"{_A_DATE}[T ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{{3}}|\.\d{{6}})?"
USUAL: Final[dict[DataType, str]] = {
    TINYINT: r"-?\d{1,2}", SMALLINT: r"-?\d{1,4}", INT: r"-?\d{1,9}", BIGINT: r"-?\d{1,18}",
    FLOAT: r"-?\d{1,15}(?:\.\d{1,15})?", DOUBLE: r"-?\d{1,15}(?:\.\d{1,15})?",
    DATE: _A_DATE, TIMESTAMP: f"{_A_TIME}Z?", TIMESTAMP_NTZ: _A_TIME,
}  # fmt: skip
"""What most values of a type look like; all that look so are of it."""

_POSSIBLE_DATE: Final = r"\s*[+-]?\d{4,}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_POSSIBLE_TIME: Final = rf"{_POSSIBLE_DATE}(?:\s*$|[T ](?:[01]\d|2[0-4])(?:\D*$|:?[0-5]\d(?:\D|$|[0-5]\d|60)))"
_NO_ZONE: Final = rf"{_POSSIBLE_DATE}(?:[T ][^ Z+-]*)?$"
_POSSIBLE_INTEGER: Final = r"[\s\d+-]*$"
_POSSIBLE_NUMBER: Final = r"[\s\d+.,einfaty-]*$"
POSSIBLE: Final[dict[DataType, str]] = {
    **dict.fromkeys((TINYINT, SMALLINT, INT, BIGINT), _POSSIBLE_INTEGER),
    **dict.fromkeys((FLOAT, DOUBLE), _POSSIBLE_NUMBER),
    DATE: _POSSIBLE_DATE, TIMESTAMP: _POSSIBLE_TIME, TIMESTAMP_NTZ: _NO_ZONE,
}  # fmt: skip
"""How values of a type begin, whatever they look like: no other text is of it. What is between the two has to be tried,
text by text where it is bad, which takes a tenth of a millisecond each.
"""


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
    if isinstance(type_, Decimal):
        return _decimals(column, type_)
    return column.cast(to_arrow(type_))


def _decimals(column: Any, type_: Decimal) -> Any:
    """Arrow's cast counts no digits: of a number that is too large it keeps what fits 128 bits, and of one that is very
    small 0. So those with an exponent or with many digits are converted one by one.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    few = pc.match_substring_regex(column, rf"^[+-]?0?\d{{0,{MOST_DIGITS - type_.scale}}}(?:\.\d*)?$")
    doubtful = pc.fill_null(pc.invert(pc.and_(few, pc.less_equal(pc.binary_length(column), MOST_DIGITS))), False)
    if not pc.any(doubtful, min_count=0).as_py():
        return column.cast(to_arrow(type_))
    rows = pc.indices_nonzero(doubtful)
    numbers = pa.array([exact_decimal(text, type_) for text in column.take(rows).to_pylist()], to_arrow(type_))
    others = pc.if_else(doubtful, pa.scalar(None, pa.string()), column).cast(to_arrow(type_))
    return pc.replace_with_mask(pa.array(others) if isinstance(others, pa.ChunkedArray) else others, doubtful, numbers)


MOST_DIGITS: Final = 38
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,6})?", re.ASCII)
_ENOUGH: Final = decimal.Context(prec=200, traps=[decimal.InvalidOperation])


def exact_decimal(text: str, type_: Decimal) -> decimal.Decimal:
    """The number that a text says. Raises ValueError where it says none, or one that the type does not hold."""
    if not _NUMBER.fullmatch(text):
        raise ValueError
    number = decimal.Decimal(text)
    try:
        scaled = number.quantize(decimal.Decimal(1).scaleb(-type_.scale), context=_ENOUGH)
    except decimal.InvalidOperation:
        raise ValueError("it does not fit") from None
    if scaled != number or len(scaled.as_tuple().digits) > type_.precision:
        raise ValueError("it does not fit")
    return scaled


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
    """All without a zone or all with one, as the first, is usual and fast; else each by itself. Raises ValueError for a
    zone that is none, which pyarrow reads.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = to_arrow(type_)
    with_zones = type_ == TIMESTAMP and _has_zone(column)
    try:  # the other way not as well: an error for each value takes thirty times what its cast takes
        found = column.cast(wanted if with_zones else pa.timestamp("us")).view(wanted)
    except pa.ArrowInvalid:
        pass
    else:
        if with_zones:
            _check_zones(column)
        return found
    column = pc.replace_substring_regex(column, r"(\.\d{6})\d+", r"\1")
    if type_ == TIMESTAMP_NTZ:
        return column.cast(wanted)
    zoned = pc.fill_null(pc.match_substring_regex(column, ZONE), False)
    nothing = pa.scalar(None, pa.string())
    with_zone = pc.if_else(zoned, column, nothing)
    _check_zones(with_zone)
    without = pc.if_else(zoned, nothing, column).cast(pa.timestamp("us")).view(wanted)
    return pc.if_else(zoned, with_zone.cast(wanted), without)


def _has_zone(column: Any) -> bool:
    """Whether the first that is not null has one."""
    import pyarrow.compute as pc

    first = pc.index(column.is_valid(), True).as_py()
    return first >= 0 and bool(pc.match_substring_regex(column[first], ZONE).as_py())


ZONE = r"[T ][^ ]*(Z|[+-]\d{2}(:?\d{2})?)$"
_TOO_FAR = r"[+-](?:18:?(?:0[1-9]|[1-5]\d)|(?:19|2\d)(?::?\d{2})?)$"


def _check_zones(column: Any) -> None:
    """Of times with a zone each. Raises ValueError where one is more than 18 hours from UTC, as no zone is in Java and
    so in Spark.
    """
    import pyarrow.compute as pc

    if pc.all(pc.ends_with(column, "Z")).as_py():
        return
    ends = pc.utf8_slice_codeunits(column, -6, None).unique()
    if pc.any(pc.match_substring_regex(ends, _TOO_FAR)).as_py():
        raise ValueError("zone")
