"""Values as text, as Spark's CAST to STRING writes them."""

from __future__ import annotations

import decimal
import math
from functools import lru_cache


def format_double(value: float) -> str:
    """As Java writes a double: `1.0`, `1.0E7`, `1.0E-4`, `Infinity`.

    >>> [format_double(x) for x in (1.0, 1e7, 1234567.5, 0.001, 0.0001, -0.0)]
    ['1.0', '1.0E7', '1234567.5', '0.001', '1.0E-4', '-0.0']
    """
    if not math.isfinite(value):
        return special(value)
    return java_digits(repr(value))


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
