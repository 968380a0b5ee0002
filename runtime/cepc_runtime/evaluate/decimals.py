"""Exact arithmetic of DECIMALs, rounded HALF_UP to the scale of the result; what does not fit is an error."""

from __future__ import annotations

import decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ..parsing import DECIMALS, to_scale
from ..types import BIGINT, MAX_PRECISION, Decimal, integer_range
from .arrays import arrow_type, row_wise
from .errors import fail

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..expression import Call

_WIDEST = 76
"""The digits of Arrow's 256-bit decimals."""

_QUOTIENT_SCALE = decimal.Decimal(1).scaleb(-(MAX_PRECISION + 1))
"""Spark rounds a quotient to 39 digits after the point before it rounds to the scale of the result."""


def arithmetic(call: Call, a: pa.Array, b: pa.Array) -> pa.Array:
    x, y = call.arguments[0].type, call.arguments[1].type
    assert isinstance(x, Decimal)
    assert isinstance(y, Decimal)
    if call.function in ("+", "-", "*"):
        return _exact(call, a, b, x, y)
    return row_wise(_of_row(call), (a, b), (x, y), call.type)


def _exact(call: Call, a: pa.Array, b: pa.Array, x: Decimal, y: Decimal) -> pa.Array:
    kernel = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}[call.function]
    if call.function == "*":
        digits = x.precision + y.precision + 1
    else:
        scale = max(x.scale, y.scale)
        digits = max(x.precision - x.scale, y.precision - y.scale) + scale + 1
    if digits <= MAX_PRECISION:
        return kernel(a, b)
    if digits > _WIDEST:
        return row_wise(_of_row(call), (a, b), (x, y), call.type)
    wide = kernel(a.cast(pa.decimal256(x.precision, x.scale)), b.cast(pa.decimal256(y.precision, y.scale)))
    assert isinstance(call.type, Decimal)
    rounded = pc.round(wide, ndigits=call.type.scale, round_mode="half_towards_infinity")
    return narrowed(call, rounded, call.type)


def narrowed(call: Call, wide: pa.Array, type_: Decimal) -> pa.Array:
    """The column in a type that has its scale's digits, or a failure where a value does not fit."""
    try:
        return wide.cast(arrow_type(type_))
    except pa.ArrowInvalid:
        fail(call, f"the result does not fit {type_.sql}")


def _of_row(call: Call) -> Callable[[decimal.Decimal, decimal.Decimal], Any]:
    operator, type_ = call.function, call.type

    def compute(a: decimal.Decimal, b: decimal.Decimal) -> decimal.Decimal | int:
        if not b and operator not in ("+", "-", "*"):
            fail(call, "division by zero")
        exact = _exact_of_row(operator, a, b)
        if type_ == BIGINT:
            return _whole(call, exact)
        assert isinstance(type_, Decimal)
        fitting = to_scale(exact, type_)
        if fitting is None:
            fail(call, f"the result does not fit {type_.sql}")
        return fitting

    return compute


def _exact_of_row(operator: str, a: decimal.Decimal, b: decimal.Decimal) -> decimal.Decimal:
    match operator:
        case "+":
            return DECIMALS.add(a, b)
        case "-":
            return DECIMALS.subtract(a, b)
        case "*":
            return DECIMALS.multiply(a, b)
        case "/":
            return _quotient(a, b)
        case "div":
            return DECIMALS.divide_int(a, b)
    rest = DECIMALS.remainder(a, b)
    if operator == "pmod" and rest < 0:
        rest = DECIMALS.remainder(DECIMALS.add(rest, b), b)
    return rest


def _quotient(a: decimal.Decimal, b: decimal.Decimal) -> decimal.Decimal:
    """Rounded HALF_UP once, to the scale at which Spark keeps it."""
    exponent = _QUOTIENT_SCALE.as_tuple().exponent
    assert isinstance(exponent, int)
    numerator, denominator = _integers(a, b)
    scaled, rest = divmod(abs(numerator) * 10**-exponent, denominator)
    scaled += 2 * rest >= denominator
    return decimal.Decimal(-scaled if numerator < 0 else scaled).scaleb(exponent, DECIMALS)


def _integers(a: decimal.Decimal, b: decimal.Decimal) -> tuple[int, int]:
    """Integers with the same quotient, the second positive."""
    (p, q), (r, s) = a.as_integer_ratio(), b.as_integer_ratio()
    numerator, denominator = p * s, q * r
    return (numerator, denominator) if denominator > 0 else (-numerator, -denominator)


def _whole(call: Call, value: decimal.Decimal) -> int:
    low, high = integer_range(BIGINT)
    whole = int(value)
    if not low <= whole <= high:
        fail(call, "BIGINT overflow")
    return whole
