"""Values parsed from JSON as columns of their types, as Spark's reader of JSON takes them."""

from __future__ import annotations

import base64
import json
from bisect import bisect_right
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

from cepc_runtime.sql.parsing import parse_interval
from cepc_runtime.sql.types import (
    BINARY,
    BOOLEAN,
    FLOATS,
    STRING,
    TIMES,
    Array,
    Decimal,
    Interval,
    Map,
    Struct,
    integer_range,
    is_integer,
    to_arrow,
)

from .text_values import BadValueError, exact_decimal, from_text
from .time_formats import ISO

if TYPE_CHECKING:
    import decimal
    from collections.abc import Callable, Sequence

    from cepc_runtime.sql.types import DataType

    from .time_formats import TimeFormats


class Exact(str):
    """A number with a fraction or an exponent, as it was written."""

    __slots__ = ()


class NeedsExactError(Exception):
    """A value is shown as text, or computed in DECIMAL, that was parsed to a float."""


def column_of(values: Sequence[Any], type_: DataType, times: TimeFormats = ISO) -> Any:
    """The column of the values; None is null. Raises BadValueError, and NeedsExactError."""
    match type_:
        case Array(element):
            return _array(values, element, times)
        case Map(key, value):
            return _map(values, key, value, times)
        case Struct():
            return _struct(values, type_, times)
    kinds = set(map(type, values)) - {type(None)}
    if type_ == STRING:
        return _strings(values, kinds)
    if type_ in TIMES:
        return from_text(_strings(_all(values, kinds, str), {str}), type_, times.of(type_))
    return _simple(values, kinds, type_)


def needs_exact(type_: DataType) -> bool:
    """Whether numbers of this type would lose digits as floats."""
    match type_:
        case Array(element):
            return needs_exact(element)
        case Map(key, value):
            return needs_exact(key) or needs_exact(value)
        case Struct(fields):
            return any(needs_exact(f.type) for f in fields)
    return isinstance(type_, Decimal)


def shown(value: Any) -> str:
    """A value as it is written in JSON, shortened."""
    text = json_text(value)
    return text if len(text) <= 40 else text[:39] + "…"


# ---- values without parts --------------------------------------------------------------------------------------------


def _simple(values: Sequence[Any], kinds: set[type], type_: DataType) -> Any:
    import pyarrow as pa

    convert, taken = _converter(type_)
    if not kinds <= taken:
        values = _each(values, convert)
    elif is_integer(type_):
        low, high = integer_range(type_)
        numbers = [v for v in values if v is not None]
        if numbers and not low <= min(numbers) <= max(numbers) <= high:
            values = _each(values, convert)
    return pa.array(values, to_arrow(type_))


def _converter(type_: DataType) -> tuple[Callable[[Any], Any], set[type]]:
    """A function that makes a value of the type or raises ValueError, and what kinds of values it need not be applied
    to.
    """
    if is_integer(type_):
        low, high = integer_range(type_)
        return lambda v: _integer(v, low, high), {int}
    if type_ in FLOATS:
        return _float, {float}
    if type_ == BOOLEAN:
        return _boolean, {bool}
    if type_ == BINARY:
        return _binary, set()
    if isinstance(type_, Interval):
        return lambda v: _interval(v, type_), set()
    assert isinstance(type_, Decimal), type_
    return lambda v: _decimal(v, type_), set()


def _each(values: Sequence[Any], convert: Callable[[Any], Any]) -> list[Any]:
    found = []
    for index, value in enumerate(values):
        try:
            found.append(None if value is None else convert(value))
        except (ValueError, OverflowError) as error:
            raise BadValueError(index, shown(value), str(error) if type(error) is ValueError else "") from None
    return found


def _integer(value: Any, low: int, high: int) -> int:
    if type(value) is not int:
        raise ValueError
    if not low <= value <= high:
        raise ValueError("it does not fit")
    return value


_NAMED = {
    "NaN": "nan", "Infinity": "inf", "+Infinity": "inf", "+INF": "inf", "-Infinity": "-inf", "-INF": "-inf",
}  # fmt: skip


def _float(value: Any) -> float:
    if type(value) is str and value in _NAMED:
        return float(_NAMED[value])
    if type(value) is bool or not isinstance(value, int | float | Exact):
        raise ValueError
    return float(value)


def _boolean(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError
    return value


def _binary(value: Any) -> bytes:
    if type(value) is not str:
        raise ValueError
    try:
        return base64.b64decode(value, validate=True)
    except ValueError:
        raise ValueError("binary values are base64") from None


def _interval(value: Any, type_: Interval) -> int:
    micros = parse_interval(value, type_) if type(value) is str else None
    if micros is None:
        raise ValueError("intervals are written INTERVAL '1 02:03:04.5' DAY TO SECOND, or what is in the quotes")
    return micros


def _decimal(value: Any, type_: Decimal) -> decimal.Decimal:
    if type(value) is float:
        raise NeedsExactError
    if type(value) is bool or not isinstance(value, int | str):
        raise ValueError
    return exact_decimal(str(value), type_)


# ---- text ------------------------------------------------------------------------------------------------------------


def _all(values: Sequence[Any], kinds: set[type], kind: type) -> Sequence[Any]:
    if kinds <= {kind}:
        return values
    index = next(i for i, v in enumerate(values) if v is not None and type(v) is not kind)
    raise BadValueError(index, shown(values[index]), "a number says no unit" if _is_number(values[index]) else "")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Exact) and type(value) is not bool


def _strings(values: Sequence[Any], kinds: set[type]) -> Any:
    """What is no string is its JSON text, as in Spark."""
    import pyarrow as pa

    if not kinds <= {str}:
        values = [v if v is None or type(v) is str else json_text(v) for v in values]
    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError:
        index = next(i for i, v in enumerate(values) if v is not None and not is_unicode(v))
        raise BadValueError(index, shown(ascii(values[index])), "half of a character") from None


def is_unicode(text: str) -> bool:
    """Whether no character is half of one."""
    return not any("\ud800" <= c <= "\udfff" for c in text)


def json_text(value: Any) -> str:
    """A parsed value as JSON again, numbers as they were written. Raises NeedsExactError."""
    if not isinstance(value, dict | list):
        return _simple_text(value)
    written: list[str] = []
    waiting: list[tuple[bool, Any]] = [(False, value)]  # whether it is text already; a value may have a thousand levels
    while waiting:
        is_text, one = waiting.pop()
        if is_text:
            written.append(one)
        elif isinstance(one, dict):
            parts = [[(True, f"{json.dumps(key, ensure_ascii=False)}:"), (False, v)] for key, v in one.items()]
            waiting += reversed(_between("{", parts, "}"))
        elif isinstance(one, list):
            waiting += reversed(_between("[", [[(False, v)] for v in one], "]"))
        else:
            written.append(_simple_text(one))
    return "".join(written)


def _between(begin: str, parts: list[list[tuple[bool, Any]]], end: str) -> list[tuple[bool, Any]]:
    commas = chain.from_iterable([(True, "," if number else begin), *part] for number, part in enumerate(parts))
    return [*commas, (True, end if parts else begin + end)]


def _simple_text(value: Any) -> str:
    if isinstance(value, Exact):
        return str(value)
    if isinstance(value, float):
        raise NeedsExactError
    return json.dumps(value, ensure_ascii=False)


# ---- values with parts -----------------------------------------------------------------------------------------------


def _array(values: Sequence[Any], element: DataType, times: TimeFormats) -> Any:
    import pyarrow as pa

    values = _all(values, set(map(type, values)) - {type(None)}, list)
    inner = _inner(values, lambda v: v, element, times)
    type_ = pa.list_(to_arrow(element))
    return pa.ListArray.from_arrays(pa.array(_offsets(values), pa.int32()), inner, type_, mask=absent(values))


def _map(values: Sequence[Any], key: DataType, value: DataType, times: TimeFormats) -> Any:
    import pyarrow as pa

    values = _all(values, set(map(type, values)) - {type(None)}, dict)
    try:
        keys = from_text(_inner(values, lambda v: v, STRING), key)
    except BadValueError as bad:
        raise _outer(values, bad) from None
    items = _inner(values, lambda v: v.values(), value, times)
    type_ = pa.map_(to_arrow(key), to_arrow(value))
    return pa.MapArray.from_arrays(pa.array(_offsets(values), pa.int32()), keys, items, type_, mask=absent(values))


def _struct(values: Sequence[Any], type_: Struct, times: TimeFormats) -> Any:
    import pyarrow as pa

    values = _all(values, set(map(type, values)) - {type(None)}, dict)
    fields = [column_of([None if v is None else v.get(f.name) for v in values], f.type, times) for f in type_.fields]
    return pa.StructArray.from_arrays(fields, fields=list(to_arrow(type_)), mask=absent(values))


def _inner(values: Sequence[Any], parts: Callable[[Any], Any], type_: DataType, times: TimeFormats = ISO) -> Any:
    """The parts of all values as one column; a bad one is told of the value that it is in."""
    flat = list(chain.from_iterable(parts(v) for v in values if v is not None))
    try:
        return column_of(flat, type_, times)
    except BadValueError as bad:
        raise _outer(values, bad) from None


def _outer(values: Sequence[Any], bad: BadValueError) -> BadValueError:
    return BadValueError(bisect_right(_offsets(values), bad.index) - 1, bad.found, bad.why)


def _offsets(values: Sequence[Any]) -> list[int]:
    return list(accumulate((0 if v is None else len(v) for v in values), initial=0))


def absent(values: Sequence[Any]) -> Any:
    """Which values are null, as a mask in Arrow."""
    import pyarrow as pa

    return pa.array([v is None for v in values], pa.bool_())
