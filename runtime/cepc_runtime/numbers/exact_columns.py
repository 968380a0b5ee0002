"""Exact numbers as columns of Spark's types: what fits, what does not, and rounding where a type asks for it."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..sql.evaluate.decimals import from_unscaled
from ..sql.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    STRING,
    Decimal,
    Interval,
    integer_range,
    is_float,
    is_integer,
    to_arrow,
)
from . import doubles

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..kernel.exact import ExactNumber
    from ..sql.types import DataType
    from .columns import Bools


def cast_column(numbers: npt.NDArray[Any], scale: int, absent: Bools | None, type_: DataType) -> tuple[Any, Bools]:
    """Numbers times 10**-scale as a column of the type, null where `absent`; and where a number does not fit (null as
    well).
    """
    if numbers.dtype != object and scale == 0:
        if numbers.dtype == np.int64 and type_ == BIGINT:
            return pa.array(numbers, pa.int64(), mask=absent), np.zeros(len(numbers), dtype=np.bool_)
        if type_ == DOUBLE:
            return pa.array(numbers.astype(np.float64), mask=absent), np.zeros(len(numbers), dtype=np.bool_)
    convert = _converter(type_, scale)
    values = [
        None if gone else convert(n) for n, gone in zip(numbers.tolist(), _mask(absent, len(numbers)), strict=True)
    ]
    misfits = np.array([v is None for v in values], dtype=np.bool_)
    if absent is not None:
        misfits &= ~absent
    return _array(values, type_), misfits


def quotients(
    totals: npt.NDArray[Any],
    counts: npt.NDArray[Any],
    scale: int,
    type_: DataType,
    rests: npt.NDArray[Any] | None = None,
) -> tuple[Any, Bools]:
    """Each total (times 10**-scale) divided by its count and rounded once, null where the count is 0. Totals of DOUBLE
    may have rests (doubles.py).
    """
    absent = np.asarray(counts == 0, dtype=np.bool_)
    if type_ == DOUBLE and scale == 0 and _divides_exactly(totals) and _divides_exactly(counts):
        divisors = counts.astype(np.float64)
        if rests is not None:
            found = doubles.quotients(totals, rests, divisors)
        else:
            with np.errstate(invalid="ignore", divide="ignore"):
                found = totals.astype(np.float64) / divisors
        return pa.array(found + 0.0, mask=absent), np.zeros_like(absent)  # -0.0 of what is too small is 0.0
    if rests is not None:
        totals = doubles.added(totals.astype(object), rests)
    exact = np.array(
        [
            0 if not c else t if _special(t) else Fraction(t) / Fraction(c)
            for t, c in zip(totals.tolist(), counts.tolist(), strict=True)
        ]
        + [None],
        dtype=object,
    )[:-1]  # fmt: skip
    return cast_column(exact, scale, absent, type_)


def _divides_exactly(numbers: npt.NDArray[Any]) -> bool:
    """Whether the numbers are float64, or integers that are exact as such."""
    if numbers.dtype == np.int64:
        return bool(np.all(np.abs(numbers) <= 1 << 53))
    return numbers.dtype != object


def _mask(absent: Bools | None, length: int) -> list[bool]:
    return [False] * length if absent is None else absent.tolist()


def _special(number: ExactNumber) -> bool:
    return isinstance(number, float) and not math.isfinite(number)


def _converter(type_: DataType, scale: int) -> Callable[[ExactNumber], Any]:
    """From a number to its value in the type; None if it does not fit."""
    unit = 10**scale
    if is_float(type_):
        return lambda n: n if _special(n) else doubles.nearest(Fraction(n) / unit)
    if is_integer(type_) or isinstance(type_, Interval):
        low, high = integer_range(type_ if is_integer(type_) else BIGINT)
        whole = _half_up if isinstance(type_, Interval) else math.trunc
        return lambda n: None if _special(n) else _within(whole(Fraction(n) / unit), low, high)
    if isinstance(type_, Decimal):
        factor, most = 10**type_.scale, 10**type_.precision - 1
        return lambda n: None if _special(n) else _within(_half_up(Fraction(n) * factor / unit), -most, most)
    if type_ == STRING:
        return lambda n: _text(int(n), scale)
    if type_ == BOOLEAN:
        return lambda n: n != 0
    raise TypeError(f"no aggregate is computed in {type_.sql}")


def _within(number: int, low: int, high: int) -> int | None:
    return number if low <= number <= high else None


def _half_up(number: Fraction) -> int:
    """Rounded to the nearest integer, halves away from zero, as Spark rounds decimals."""
    magnitude = math.floor(abs(number) + Fraction(1, 2))
    return magnitude if number >= 0 else -magnitude


def _text(number: int, scale: int) -> str:
    """Without an exponent. Not `str(int)`, which refuses more than 4300 digits."""
    return str(decimal.Decimal(number)) if scale == 0 else f"{decimal.Decimal((number < 0, _digits(number), -scale)):f}"


def _digits(number: int) -> tuple[int, ...]:
    return decimal.Decimal(abs(number)).as_tuple().digits


def _array(values: Sequence[Any], type_: DataType) -> Any:
    if isinstance(type_, Decimal):
        return from_unscaled(values, type_)
    if isinstance(type_, Interval):
        return pa.array(values, pa.int64()).cast(to_arrow(type_))
    return pa.array(values, to_arrow(type_))
