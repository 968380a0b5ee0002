"""Values as text, as Spark's CAST to STRING writes them."""

from __future__ import annotations

import decimal
import math
from functools import lru_cache
from typing import Any

from .calendar import format_date, format_timestamp
from .literal import interval_sql
from .parsing import to_float
from .types import DATE, FLOAT, TIMESTAMP, TIMESTAMP_NTZ, Array, DataType, Decimal, Interval, Map, Struct, is_float


def format_double(value: float) -> str:
    """As Java writes a double, with two digits at least: `1.0`, `1.0E7`, `1.0E-4`, `4.9E-324`, `Infinity`.

    >>> [format_double(x) for x in (1.0, 1e7, 1234567.5, 0.001, 0.0001, -0.0)]
    ['1.0', '1.0E7', '1234567.5', '0.001', '1.0E-4', '-0.0']
    """
    if 1e-3 <= abs(value) < 1e7:
        return repr(value)  # here Python's layout is Java's
    if not math.isfinite(value):
        return special(value)
    two = f"{value:.1e}"  # of the smallest numbers, 5e-324 has one digit, and 4.9e-324 is nearer to it
    return java_digits(two if float(two) == value else repr(value))


def special(value: float) -> str:
    """NaN and the infinities."""
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


@lru_cache(maxsize=4096)
def java_digits(shortest: str) -> str:
    """The shortest digits of a finite number, `1e+22` or `0.1`, laid out as Java does."""
    sign, digits, exponent = decimal.Decimal(shortest).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).rstrip("0") or "0"
    point = len(digits) + exponent  # digits before the point
    minus = "-" if sign else ""
    if text == "0":
        return f"{minus}0.0"
    if -3 < point <= 7:
        whole = text[:point].ljust(point, "0") if point > 0 else "0"
        fraction = text[point:] if point > 0 else "0" * -point + text
        return f"{minus}{whole}.{fraction or '0'}"
    return f"{minus}{text[0]}.{text[1:] or '0'}E{point - 1}"


def format_value(value: Any, type_: DataType) -> str:
    """A value that is not null, in Spark's internal form (`expression.Value`; tuples for structs, pairs for maps)."""
    match type_:
        case Decimal():
            return format(value, "f")
        case Interval():
            return interval_sql(value, type_)
        case Array(element):
            return f"[{', '.join(_part(v, element) for v in value)}]"
        case Struct(fields):
            return f"{{{', '.join(_part(v, f.type) for v, f in zip(value, fields, strict=True))}}}"
        case Map(key, item):
            return f"{{{', '.join(f'{_part(k, key)} -> {_part(v, item)}' for k, v in value)}}}"
    if type_ == DATE:
        return format_date(value)
    if type_ in (TIMESTAMP, TIMESTAMP_NTZ):
        return format_timestamp(value)
    if is_float(type_):
        return format_float(value) if type_ == FLOAT else format_double(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value).lower() if isinstance(value, bool) else str(value)


def _part(value: Any, type_: DataType) -> str:
    return "null" if value is None else format_value(value, type_)


def format_float(value: float) -> str:
    """A FLOAT by the fewest digits, two at least, that tell it from its neighbours of 32 bits."""
    if not math.isfinite(value):
        return special(value)
    for digits in range(2, 10):
        shortest = f"{value:.{digits}g}"
        if to_float(float(shortest)) == value:
            return java_digits(shortest)
    return java_digits(repr(value))
