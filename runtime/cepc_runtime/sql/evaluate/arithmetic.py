"""Arithmetic of integers and floats under ANSI: an overflow and a division by zero are errors, NaN and infinity are
values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..types import BIGINT, INT, Decimal, Interval, is_float, is_time
from . import decimals, moments
from .arrays import Value, any_true, as_array, from_numpy, numbers, valid
from .errors import fail

if TYPE_CHECKING:
    from ..expression import Call

_CHECKED = {"+": pc.add_checked, "-": pc.subtract_checked, "*": pc.multiply_checked, "div": pc.divide_checked}
_UNCHECKED = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}


def arithmetic(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    """`+ - * / % div pmod` of two numbers, or of times and intervals."""
    a, b = arguments
    type_ = call.arguments[0].type
    if is_time(type_) or isinstance(type_, Interval):
        return moments.arithmetic(call, as_array(a, length), as_array(b, length))
    if isinstance(type_, Decimal):
        return decimals.arithmetic(call, as_array(a, length), as_array(b, length))
    match call.function:
        case "+" | "-" | "*":
            return _simple(call, a, b)
        case "/":
            return _divide(call, as_array(a, length), as_array(b, length))
        case "div":
            return _integral(call, as_array(a, length), as_array(b, length))
    return _remainder(call, as_array(a, length), as_array(b, length))


def _simple(call: Call, a: Value, b: Value) -> Value:
    if is_float(call.type):
        return _UNCHECKED[call.function](a, b)
    try:
        return _CHECKED[call.function](a, b)
    except pa.ArrowInvalid:
        fail(call, f"{call.type.sql} overflow")


def _check_divisor(call: Call, a: pa.Array, b: pa.Array) -> Any:
    """Where both are given; fails if a divisor is 0 there."""
    where = valid(a, b)
    if any_true(numbers(b) == 0, where):
        fail(call, "division by zero")
    return where


def _divide(call: Call, a: pa.Array, b: pa.Array) -> Value:
    _check_divisor(call, a, b)
    return pc.divide(a, b)


def _integral(call: Call, a: pa.Array, b: pa.Array) -> Value:
    _check_divisor(call, a, b)
    try:
        return pc.divide_checked(a, b)
    except pa.ArrowInvalid:
        fail(call, "BIGINT overflow")


def _remainder(call: Call, a: pa.Array, b: pa.Array) -> Value:
    where = _check_divisor(call, a, b)
    dividend, divisor = numbers(a), numbers(b)
    if where is not None:
        divisor = np.where(where, divisor, np.ones((), divisor.dtype))
    with np.errstate(all="ignore"):
        rest = np.fmod(dividend, divisor)
        if call.function == "pmod":
            rest = np.where(rest < 0, np.fmod(rest + divisor, divisor), rest)
    return from_numpy(rest, where, call.type)


# ---- one number ------------------------------------------------------------------------------------------------------


def negative(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    return _signed(call, arguments[0], pc.negate, pc.negate_checked, length)


def absolute(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    return _signed(call, arguments[0], pc.abs, pc.abs_checked, length)


def _signed(call: Call, x: Value, unchecked: Any, checked: Any, length: int) -> Value:
    if isinstance(call.type, Interval):
        return moments.signed(call, as_array(x, length), checked)
    if is_float(call.type) or isinstance(call.type, Decimal):
        return unchecked(x)
    try:
        return checked(x)
    except pa.ArrowInvalid:
        fail(call, f"{call.type.sql} overflow")


# ---- bits ------------------------------------------------------------------------------------------------------------

_BITS = {"&": pc.bit_wise_and, "|": pc.bit_wise_or, "^": pc.bit_wise_xor}


def bits(call: Call, arguments: tuple[Value, ...], _: int) -> Value:
    return _BITS[call.function](*arguments)


def bit_not(_call: Call, arguments: tuple[Value, ...], _length: int) -> Value:
    return pc.bit_wise_not(arguments[0])


def shift(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    """Of an INT or BIGINT, by the lowest five or six bits of the number of places."""
    a, b = (as_array(x, length) for x in arguments)
    wide = call.type == BIGINT
    values, places = numbers(a), numbers(b).astype(np.int64) & (63 if wide else 31)
    places = places.astype(values.dtype)
    match call.function:
        case "<<":
            shifted = np.left_shift(values, places)
        case ">>":
            shifted = np.right_shift(values, places)
        case _:
            unsigned = np.uint64 if wide else np.uint32
            shifted = np.right_shift(values.view(unsigned), places.view(unsigned)).view(values.dtype)
    return from_numpy(shifted, valid(a, b), call.type)


def bit_count(_: Call, arguments: tuple[Value, ...], length: int) -> Value:
    """Negative numbers are counted as 64 bits, whatever their type, as Spark does."""
    a = as_array(arguments[0], length)
    counted = np.bitwise_count(numbers(a).astype(np.int64).view(np.uint64))
    return from_numpy(counted.astype(np.int32), valid(a), INT)
