"""Comparisons: NaN equals NaN and is greater than all else, -0.0 equals 0.0, text by its bytes, arrays and structs part
by part.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..types import BOOLEAN, NULL, Array, DataType, Map, Struct, is_float
from .arrays import Value, as_array, from_values, to_values

_KERNELS = {
    "=": pc.equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def compare(operator: str, a: Value, b: Value, type_: DataType, length: int) -> Value:
    """`a operator b` of two columns of one type; `<=>` included."""
    if operator == "<=>":
        return _null_safe(a, b, type_, length)
    if type_ == NULL:
        return pa.scalar(None, pa.bool_())
    if isinstance(type_, Array | Struct | Map):
        return _row_wise(operator, as_array(a, length), as_array(b, length), type_)
    if type_ == BOOLEAN and operator != "=":
        a, b = a.cast(pa.int8()), b.cast(pa.int8())
    result = _KERNELS[operator](a, b)
    return _with_nan(operator, a, b, result) if is_float(type_) else result


def _null_safe(a: Value, b: Value, type_: DataType, length: int) -> Value:
    if type_ == NULL:
        return pa.scalar(True)
    equal = compare("=", a, b, type_, length)
    both_null = pc.and_(pc.is_null(a), pc.is_null(b))
    return pc.if_else(pc.is_null(equal), both_null, equal)


def _with_nan(operator: str, a: Value, b: Value, result: Value) -> Value:
    """Corrects what IEEE says about NaN, of which most columns have none."""
    nan_a, nan_b = pc.is_nan(a), pc.is_nan(b)
    if not (pc.any(nan_a).as_py() or pc.any(nan_b).as_py()):
        return result
    match operator:
        case "=":
            return pc.or_(result, pc.and_(nan_a, nan_b))
        case "<":
            return pc.or_(result, pc.and_not(nan_b, nan_a))
        case ">":
            return pc.or_(result, pc.and_not(nan_a, nan_b))
        case "<=":
            return pc.or_(result, nan_b)
    return pc.or_(result, nan_a)


# ---- nested values ---------------------------------------------------------------------------------------------------


def _row_wise(operator: str, a: pa.Array, b: pa.Array, type_: DataType) -> pa.Array:
    holds = {"=": (0,), "<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}[operator]
    pairs = zip(to_values(a, type_), to_values(b, type_), strict=True)
    return from_values([None if x is None or y is None else order(x, y) in holds for x, y in pairs], BOOLEAN)


def order(x: Any, y: Any) -> int:
    """-1, 0 or 1 as Spark orders two values; null comes first."""
    if x is None or y is None:
        return (x is not None) - (y is not None)
    if isinstance(x, list | tuple):
        for p, q in zip(x, y, strict=False):
            if (found := order(p, q)) != 0:
                return found
        return (len(x) > len(y)) - (len(x) < len(y))
    if x != x or y != y:  # NaN
        return int(x != x) - int(y != y)
    if isinstance(x, str):
        x, y = x.encode(), y.encode()
    return int(x > y) - int(x < y)
