"""Functions of strings, on code points; of BINARY, on bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ..like import PatternError, SparkPatternError, like, regex
from ..types import BINARY, INT, STRING, Array
from .arrays import Value, arrow_type, as_array, from_values, parameter, row_wise, to_values
from .errors import fail, unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..expression import Call

_MAX_TEXT = 2**27
"""Longer texts would exhaust a worker before Spark would refuse them."""


def _check_length(call: Call, length: int) -> None:
    if length > _MAX_TEXT:
        fail(call, "the text becomes too long")


def _rows(call: Call, arguments: tuple[Value, ...], length: int, function: Callable[..., Any]) -> pa.Array:
    """The function of each row without nulls. Where one column of strings meets constants, of each different string."""
    types = [a.type for a in call.arguments[: len(arguments)]]
    columns = [i for i, a in enumerate(arguments) if isinstance(a, pa.Array)]
    if len(columns) == 1 and types[columns[0]] == STRING and length > _FEW:
        distinct = arguments[columns[0]].dictionary_encode()
        count = len(distinct.dictionary)
        if 2 * count < length:
            known = tuple(distinct.dictionary if i == columns[0] else a for i, a in enumerate(arguments))
            return (
                _rows(call, known, count, function).take(distinct.indices)
                if count
                else pa.nulls(length, arrow_type(call.type))
            )
    return row_wise(function, [as_array(a, length) for a in arguments], types, call.type)


_FEW = 16
"""So few rows are not worth looking for equal strings in them."""


def case(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    """`upper` and `lower`; outside ASCII a character may become several."""
    text = as_array(arguments[0], length)
    upper = call.function == "upper"
    if pc.all(pc.string_is_ascii(text)).as_py() is not False:
        return pc.ascii_upper(text) if upper else pc.ascii_lower(text)
    return _rows(call, (text,), length, str.upper if upper else str.lower)


def size(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    """`length`, `octet_length` and `bit_length`."""
    text = as_array(arguments[0], length)
    if call.function == "length" and call.arguments[0].type == STRING:
        return pc.utf8_length(text)
    count = pc.binary_length(text)
    return pc.multiply(count, pa.scalar(8, pa.int32())) if call.function == "bit_length" else count


_TRIMS = {"trim": pc.utf8_trim, "ltrim": pc.utf8_ltrim, "rtrim": pc.utf8_rtrim}
_STRIPS: dict[str, Callable[[str, str], str]] = {"trim": str.strip, "ltrim": str.lstrip, "rtrim": str.rstrip}


def trim(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    text, characters = (*arguments, pa.scalar(" "))[:2]
    if isinstance(characters, pa.Scalar) and characters.is_valid and characters.as_py():
        return _TRIMS[call.function](text, characters=characters.as_py())
    strip = _STRIPS[call.function]
    return _rows(call, (text, characters), length, lambda t, c: strip(t, c) if c else t)


def substring(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    """From a start, counted from 1 (0 is as 1), or from the end if negative."""
    text, start, count = arguments
    if isinstance(start, pa.Scalar) and isinstance(count, pa.Scalar) and call.type == STRING:
        first, size_ = start.as_py(), count.as_py()
        if first is not None and size_ is not None and first >= 0:
            first = max(first - 1, 0)
            return pc.utf8_slice_codeunits(text, first, first + max(size_, 0))
    return _rows(call, arguments, length, substring_of)


def substring_of(text: Any, start: int, count: int) -> Any:
    """The part of one text, or of bytes."""
    first = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    return text[max(first, 0) : max(first + count, 0)] if count > 0 else text[:0]


def left(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    return _rows(call, arguments, length, lambda t, n: t[: max(n, 0)])


def right(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    return _rows(call, arguments, length, lambda t, n: t[max(len(t) - n, 0) :] if n > 0 else "")


def concat(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    if not arguments:
        return pa.scalar("")
    if isinstance(call.type, Array):
        return _rows(call, arguments, length, lambda *lists: [x for part in lists for x in part])
    if len(arguments) == 1:
        return arguments[0]
    separator = pa.scalar(b"" if call.type == BINARY else "", arrow_type(call.type))
    return pc.binary_join_element_wise(*arguments, separator, null_handling="emit_null")


def concat_ws(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    """Nulls, and nulls in arrays, are left out; null only for a null separator."""
    columns = [to_values(as_array(a, length), e.type) for a, e in zip(arguments, call.arguments, strict=True)]
    joined: list[str | None] = []
    for separator, *parts in zip(*columns, strict=True):
        flat = [x for p in parts for x in (p if isinstance(p, list) else [p]) if x is not None]
        joined.append(None if separator is None else separator.join(flat))
    return from_values(joined, STRING)


_SEARCHES: dict[str, tuple[Any, Callable[[Any, Any], bool]]] = {
    "contains": (pc.match_substring, lambda t, p: p in t),
    "startswith": (pc.starts_with, lambda t, p: t.startswith(p)),
    "endswith": (pc.ends_with, lambda t, p: t.endswith(p)),
}


def search(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    text, part = arguments
    kernel, function = _SEARCHES[call.function]
    if isinstance(part, pa.Scalar) and part.is_valid:
        return kernel(text, pattern=part.as_py())
    return _rows(call, arguments, length, function)


def match_like(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    """LIKE and ILIKE; for ILIKE both sides are put into lower case, as Spark does."""
    text, pattern, *rest = arguments
    ignore_case = call.function == "ilike"
    escape = parameter(call, 2) if rest else "\\"
    if isinstance(pattern, pa.Scalar) and pattern.is_valid and not ignore_case:
        plain = _plain_like(text, pattern.as_py(), escape)
        if plain is not None:
            return plain

    def matches(t: str, p: str) -> bool:
        try:
            if ignore_case:
                t, p = t.lower(), p.lower()
            return like(p, escape, ignore_case=False).fullmatch(t) is not None
        except PatternError as error:
            fail(call, str(error))

    return _rows(call, (text, pattern), length, matches)


def _plain_like(text: Value, pattern: str, escape: str) -> Value | None:
    """The patterns `x`, `x%`, `%x` and `%x%` by their own kernels."""
    core = pattern.strip("%")
    if "%" in core or "_" in core or escape in core:
        return None
    before, after = pattern[: len(pattern) - len(pattern.lstrip("%"))], pattern[len(pattern.rstrip("%")) :]
    if not core:
        return None if pattern else pc.equal(text, "")
    match bool(before), bool(after):
        case False, False:
            return pc.equal(text, core)
        case False, True:
            return pc.starts_with(text, pattern=core)
        case True, False:
            return pc.ends_with(text, pattern=core)
    return pc.match_substring(text, pattern=core)


def match_regex(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    def found(text: str, pattern: str) -> bool:
        try:
            return regex(pattern).search(text) is not None
        except SparkPatternError as error:
            unsupported(call, call.function, str(error))
        except PatternError as error:
            fail(call, str(error))

    return _rows(call, arguments, length, found)


def replace(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    def replaced(text: str, part: str, by: str) -> str:
        if not part:
            return text
        if len(by) > len(part) and len(text) // len(part) * len(by) > _MAX_TEXT:
            _check_length(call, len(text) + text.count(part) * (len(by) - len(part)))
        return text.replace(part, by)

    return _rows(call, arguments, length, replaced)


def instr(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    return _rows(call, arguments, length, lambda t, part: t.find(part) + 1)


def locate(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    """0 for a null start, as in Spark; null for the other nulls."""
    part, text, start = (to_values(as_array(a, length), e.type) for a, e in zip(arguments, call.arguments, strict=True))

    def position(p: str | None, t: str | None, s: int | None) -> int | None:
        if s is None:
            return 0
        if p is None or t is None:
            return None
        if s < 1:
            return 0
        return t.find(p, s - 1) + 1 if p else 1

    return from_values([position(*row) for row in zip(part, text, start, strict=True)], INT)


def pad(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    at_front = call.function == "lpad"

    def padded(text: Any, size_: int, fill: Any) -> Any:
        size_ = max(size_, 0)
        missing = size_ - len(text)
        if missing <= 0 or not fill:
            return text[:size_]
        _check_length(call, missing)
        more = (fill * (missing // len(fill) + 1))[:missing]
        return more + text if at_front else text + more

    return _rows(call, arguments, length, padded)


def repeat(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    def repeated(text: str, count: int) -> str:
        _check_length(call, len(text) * count)
        return text * count

    return _rows(call, arguments, length, repeated)


def space(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    def spaces(count: int) -> str:
        _check_length(call, count)
        return " " * count

    return _rows(call, arguments, length, spaces)


def reverse(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    return _rows(call, arguments, length, lambda x: x[::-1])


def split_part(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    def part(text: str, delimiter: str, n: int) -> str:
        if n == 0:
            fail(call, "parts are counted from 1")
        parts = text.split(delimiter) if delimiter else [text]
        index = n - 1 if n > 0 else len(parts) + n
        return parts[index] if 0 <= index < len(parts) else ""

    return _rows(call, arguments, length, part)


def translate(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    def translated(text: str, source: str, target: str) -> str:
        table: dict[int, str | None] = {}
        for i, c in enumerate(source):
            table.setdefault(ord(c), target[i] if i < len(target) else None)
        return text.translate(table)

    return _rows(call, arguments, length, translated)


def ascii_code(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    return _rows(call, arguments, length, lambda t: ord(t[0]) if t else 0)


def character(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    return _rows(call, arguments, length, lambda n: "" if n < 0 else chr(n % 256))
