"""Exact arithmetic of DECIMALs, rounded HALF_UP to the scale of the result; what does not fit is an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..parsing import DECIMALS, to_scale
from ..types import BIGINT, MAX_PRECISION, Decimal, integer_range
from .arrays import arrow_type, row_wise
from .errors import fail

if TYPE_CHECKING:
    import decimal
    from collections.abc import Callable, Sequence

    from ..expression import Call

_WIDEST = 76
"""The digits of Arrow's 256-bit decimals."""

_QUOTIENT_SCALE = MAX_PRECISION + 1
"""Spark rounds a quotient to 39 digits after the point before it rounds to the scale of the result."""


def arithmetic(call: Call, a: pa.Array, b: pa.Array) -> pa.Array:
    x, y = call.arguments[0].type, call.arguments[1].type
    assert isinstance(x, Decimal)
    assert isinstance(y, Decimal)
    if call.function in ("+", "-", "*"):
        return _exact(call, a, b, x, y)
    if call.function == "/":
        return _quotients(call, a, b, x, y)
    return row_wise(_of_row(call), (a, b), (x, y), call.type)


def _quotients(call: Call, a: pa.Array, b: pa.Array, x: Decimal, y: Decimal) -> pa.Array:
    """Each quotient rounded HALF_UP twice as Spark does: to 39 digits after the point, and to the scale of the
    result.
    """
    assert isinstance(call.type, Decimal)
    up = 10 ** (_QUOTIENT_SCALE + y.scale - x.scale)
    down = 10 ** (_QUOTIENT_SCALE - call.type.scale)
    most = 10**call.type.precision
    found: list[int | None] = []
    for n, d in zip(unscaled(a), unscaled(b), strict=True):
        if n is None or d is None:
            found.append(None)
            continue
        if d == 0:
            fail(call, "division by zero")
        quotient = _half_up(_half_up(abs(n) * up, abs(d)), down)
        if quotient >= most:
            fail(call, f"the result does not fit {call.type.sql}")
        found.append(quotient if (n < 0) == (d < 0) else -quotient)
    return from_unscaled(found, call.type)


def _half_up(numerator: int, denominator: int) -> int:
    """The quotient of two positive integers, rounded."""
    return (2 * numerator + denominator) // (2 * denominator)


def unscaled(array: pa.Array) -> list[int | None]:
    """The digits of a column of decimal128 as integers, without the point."""
    words = np.frombuffer(array.buffers()[1], dtype=np.int64)[2 * array.offset : 2 * (array.offset + len(array))]
    low, high = words[0::2].view(np.uint64), words[1::2]
    if np.array_equal(high, words[0::2] >> 63):
        digits: list[int | None] = words[0::2].tolist()
    else:
        digits = [(h << 64) | d for h, d in zip(high.tolist(), low.tolist(), strict=True)]
    if array.null_count:
        return [d if v else None for d, v in zip(digits, array.is_valid().to_pylist(), strict=True)]
    return digits


def from_unscaled(digits: Sequence[int | None], type_: Decimal) -> pa.Array:
    """The inverse of `unscaled`."""
    words = b"".join((d or 0).to_bytes(16, "little", signed=True) for d in digits)
    known = pa.array([d is not None for d in digits], pa.bool_())
    return pa.Array.from_buffers(arrow_type(type_), len(digits), [known.buffers()[1], pa.py_buffer(words)])


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
        case "div":
            return DECIMALS.divide_int(a, b)
    rest = DECIMALS.remainder(a, b)
    if operator == "pmod" and rest < 0:
        rest = DECIMALS.remainder(DECIMALS.add(rest, b), b)
    return rest


def _whole(call: Call, value: decimal.Decimal) -> int:
    low, high = integer_range(BIGINT)
    whole = int(value)
    if not low <= whole <= high:
        fail(call, "BIGINT overflow")
    return whole
