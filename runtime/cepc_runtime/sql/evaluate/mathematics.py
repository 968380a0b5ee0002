"""Functions of DOUBLEs, and rounding."""

from __future__ import annotations

import decimal
import math
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from ..parsing import to_float, to_scale
from ..types import BIGINT, DOUBLE, FLOAT, Decimal, integer_range, is_float
from .arrays import NumpyValues, Value, any_true, as_array, from_numpy, numbers, parameter, row_wise, valid
from .errors import fail

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..expression import Call


def _cube_root(x: NumpyValues) -> NumpyValues:
    return np.cbrt(x)


_ONE: Final[dict[str, Callable[[NumpyValues], NumpyValues]]] = {
    "sqrt": np.sqrt, "cbrt": _cube_root, "exp": np.exp, "expm1": np.expm1, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "rint": np.rint, "sign": lambda x: np.copysign(np.sign(x), x), "degrees": lambda x: x * (180.0 / math.pi),
    "radians": lambda x: x * (math.pi / 180.0),
}  # fmt: skip

_LOGARITHMS: Final[dict[str, tuple[Callable[[NumpyValues], NumpyValues], float]]] = {
    "ln": (np.log, 0.0), "log10": (np.log10, 0.0), "log2": (np.log2, 0.0), "log1p": (np.log1p, -1.0),
}  # fmt: skip
"""And the bound at and below which they are null."""


def one(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    x = as_array(arguments[0], length)
    with np.errstate(all="ignore"):
        return from_numpy(_ONE[call.function](numbers(x)), valid(x), DOUBLE)


def logarithm(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    function, bound = _LOGARITHMS[call.function]
    x = as_array(arguments[0], length)
    values, where = numbers(x), valid(x)
    defined = ~(values <= bound)
    with np.errstate(all="ignore"):
        return from_numpy(function(values), defined if where is None else where & defined, DOUBLE)


def logarithm_to_base(_: Call, arguments: tuple[Value, ...], length: int) -> Value:
    base, x = (as_array(a, length) for a in arguments)
    bases, values, where = numbers(base), numbers(x), valid(base, x)
    defined = ~((values <= 0) | (bases <= 0))
    with np.errstate(all="ignore"):
        return from_numpy(np.log(values) / np.log(bases), defined if where is None else where & defined, DOUBLE)


_TWO: Final[dict[str, Callable[[NumpyValues, NumpyValues], NumpyValues]]] = {"atan2": np.arctan2, "hypot": np.hypot}


def two(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    a, b = (as_array(x, length) for x in arguments)
    with np.errstate(all="ignore"):
        return from_numpy(_TWO[call.function](numbers(a), numbers(b)), valid(a, b), DOUBLE)


def power(_: Call, arguments: tuple[Value, ...], length: int) -> Value:
    """As Java: NaN for an exponent that is NaN, and for 1 to an infinite one."""
    a, b = (as_array(x, length) for x in arguments)
    base, exponent = numbers(a), numbers(b)
    with np.errstate(all="ignore"):
        result = np.power(base, exponent)
    undefined = (np.isnan(exponent) | (np.isinf(exponent) & (np.abs(base) == 1.0))) & (exponent != 0)
    return from_numpy(np.where(undefined, np.nan, result), valid(a, b), DOUBLE)


def constant(call: Call, _arguments: tuple[Value, ...], _length: int) -> Value:
    return pa.scalar(math.pi if call.function == "pi" else math.e)


# ---- rounding --------------------------------------------------------------------------------------------------------


def ceil(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    """CEIL and FLOOR, to a BIGINT or to a DECIMAL."""
    x = as_array(arguments[0], length)
    up = call.function == "ceil"
    source = call.arguments[0].type
    if source == BIGINT:
        return x
    if source == DOUBLE:
        return _whole(call, numbers(x), valid(x), up=up)
    digits = parameter(call, 1) if len(arguments) == 2 else 0
    return _decimals(call, x, digits, decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR)


def _whole(call: Call, values: NumpyValues, where: NumpyValues | None, *, up: bool) -> pa.Array:
    """As a BIGINT; NaN is 0, as in Java."""
    whole = np.nan_to_num(np.ceil(values) if up else np.floor(values), nan=0.0, posinf=np.inf, neginf=-np.inf)
    beyond = (whole >= 2.0**63) | (whole < -(2.0**63))
    if any_true(beyond, where):
        fail(call, "BIGINT overflow")
    return from_numpy(np.where(beyond, 0.0, whole).astype(np.int64), where, BIGINT)


def round_(call: Call, arguments: tuple[Value, ...], length: int) -> Value:
    """ROUND (half up) and BROUND (half even) to a number of digits."""
    x, digits = as_array(arguments[0], length), parameter(call, 1)
    mode = decimal.ROUND_HALF_UP if call.function == "round" else decimal.ROUND_HALF_EVEN
    if isinstance(call.type, Decimal):
        return _decimals(call, x, digits, mode)
    if is_float(call.type):
        return _round_floats(x, digits, mode, single=call.type == FLOAT)
    if digits >= 0:
        return x
    return row_wise(lambda v: _round_integer(call, v, digits, mode), [x], [call.type], call.type)


_FAR_FROM_A_TIE: Final = 1e-6


def _round_floats(x: pa.Array, digits: int, mode: str, *, single: bool) -> pa.Array:
    """Rounded by arithmetic where that is exact: far from a tie, and among the integers that a double holds."""
    values, type_ = numbers(x).astype(np.float64), FLOAT if single else DOUBLE
    if not -15 <= digits <= 15:
        return row_wise(lambda v: _round_float(v, digits, mode, single=single), [x], [type_], type_)
    power = 10.0 ** abs(digits)
    with np.errstate(all="ignore"):
        scaled = values * power if digits >= 0 else values / power
        whole = np.rint(scaled)
        rounded = (whole / power if digits >= 0 else whole * power) + 0.0
        exact = (np.abs(np.abs(scaled - whole) - 0.5) > _FAR_FROM_A_TIE) & (
            np.abs(whole) * (power if digits < 0 else 1) < 2.0**44
        )
    for i in np.flatnonzero(~exact).tolist():
        rounded[i] = _round_float(float(values[i]), digits, mode, single=single)
    return from_numpy(rounded.astype(np.float32) if single else rounded, valid(x), type_)


def _round_float(value: float, digits: int, mode: str, *, single: bool) -> float:
    """The shortest decimal that reads as the number, rounded."""
    if not math.isfinite(value):
        return value
    exact = decimal.Decimal(repr(value))
    rounded = float(_quantized(exact, digits, mode)) + 0.0  # not -0.0
    return to_float(rounded) if single else rounded


def _quantized(value: decimal.Decimal, digits: int, mode: str) -> decimal.Decimal:
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and exponent >= -digits:
        return value
    return value.quantize(decimal.Decimal(1).scaleb(-digits), rounding=mode, context=_WIDE)


_WIDE: Final = decimal.Context(prec=1200, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)


def _round_integer(call: Call, value: int, digits: int, mode: str) -> int:
    rounded = int(_quantized(decimal.Decimal(value), digits, mode))
    low, high = integer_range(call.type)
    if not low <= rounded <= high:
        fail(call, f"{call.type.sql} overflow")
    return rounded


def _decimals(call: Call, x: pa.Array, digits: int, mode: str) -> pa.Array:
    type_ = call.type
    assert isinstance(type_, Decimal)

    def rounded(value: decimal.Decimal) -> decimal.Decimal | None:
        fitting = to_scale(_quantized(value, digits, mode), type_)
        if fitting is None:
            fail(call, f"the result does not fit {type_.sql}")
        return fitting

    return row_wise(rounded, [x], [call.arguments[0].type], type_)
