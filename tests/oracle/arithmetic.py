"""Arithmetic with Spark's result types in ANSI mode: what does not fit, or divides by zero, is an EvaluationError."""

from __future__ import annotations

import calendar
import math
import operator
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .casts import from_micros, in_range, micros, to_decimal, to_float
from .errors import EvaluationError, Unsupported
from .typed import Typed, converted, strict
from .types import (
    BIGINT,
    DATE,
    DOUBLE,
    FLOAT,
    INTERVAL,
    NULL,
    STRING,
    TEMPORAL,
    TIMESTAMP,
    Type,
    adjusted_decimal,
    as_decimal,
    common,
    decimal,
    is_fractional,
    is_integral,
    is_numeric,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

DAYS, MONTHS = Type("INTERVAL DAY"), Type("INTERVAL MONTH")
INTERVALS = (INTERVAL, DAYS, MONTHS)


def arithmetic(symbol: str, left: Typed, right: Typed) -> Typed:
    """`left symbol right` for + - * / % DIV over numbers, times and intervals."""
    a, b = left.type, right.type
    if a in TEMPORAL or b in TEMPORAL or a in INTERVALS or b in INTERVALS:
        return _with_times(symbol, left, right)
    if STRING in (a, b) or NULL in (a, b):  # '1' + 1, null + 1
        kind = common(common(a, b), NULL)
        kind = DOUBLE if kind in (STRING, NULL) else kind
        left, right = converted(left, kind), converted(right, kind)
    return _numbers(symbol, left, right)


def negative(operand: Typed) -> Typed:
    if is_integral(operand.type):
        return strict(operand.type, lambda value: fitting(-value, operand.type), operand)
    return strict(operand.type, operator.neg, operand)


def fitting(value: int, kind: Type) -> int:
    """The value, when the integral type holds it."""
    if not in_range(value, kind):
        raise EvaluationError(f"{value} does not fit {kind.name}")
    return value


def _numbers(symbol: str, left: Typed, right: Typed) -> Typed:
    a, b = left.type, right.type
    if not (is_numeric(a) and is_numeric(b)):
        raise Unsupported(f"{a.name} {symbol} {b.name}")
    if is_fractional(a) or is_fractional(b) or (symbol == "/" and is_integral(a) and is_integral(b)):
        kind = FLOAT if a == b == FLOAT and symbol != "/" else DOUBLE
        operands = converted(left, kind), converted(right, kind)
        return strict(kind, lambda x, y: to_float(_float_operation(symbol, x, y), kind), *operands)
    if is_integral(a) and is_integral(b):
        kind = BIGINT if symbol == "DIV" else common(a, b)
        return strict(kind, lambda x, y: fitting(_INTEGERS[symbol](x, y), kind), left, right)
    kind = _decimal_result(symbol, as_decimal(a), as_decimal(b))
    return strict(kind, lambda x, y: _decimal_operation(symbol, x, y, kind), left, right)


def _nonzero(divisor: Any) -> Any:
    if divisor == 0:
        raise EvaluationError("division by zero")
    return divisor


def _divided(x: int, y: int) -> int:
    """Integer division towards zero."""
    quotient: int = abs(x) // abs(_nonzero(y))
    return quotient if (x < 0) == (y < 0) else -quotient


_INTEGERS: dict[str, Callable[[int, int], int]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "DIV": _divided,
    "%": lambda x, y: x - y * _divided(x, y),
}


def _float_operation(symbol: str, x: float, y: float) -> float:
    match symbol:
        case "+":
            return x + y
        case "-":
            return x - y
        case "*":
            return x * y
        case "/":
            return x / _nonzero(y) if y == y else math.nan
        case "%":
            _nonzero(y)
            return math.nan if math.isinf(x) or x != x or y != y else math.fmod(x, y)
    raise Unsupported(f"DOUBLE {symbol}")


def _decimal_result(symbol: str, a: Type, b: Type) -> Type:
    (p1, s1), (p2, s2) = a.numbers, b.numbers
    match symbol:
        case "+" | "-":
            scale = max(s1, s2)
            return adjusted_decimal(max(p1 - s1, p2 - s2) + scale + 1, scale)
        case "*":
            return adjusted_decimal(p1 + p2 + 1, s1 + s2)
        case "/":
            scale = max(6, s1 + p2 + 1)
            return adjusted_decimal(p1 - s1 + s2 + scale, scale)
        case "%":
            return adjusted_decimal(min(p1 - s1, p2 - s2) + max(s1, s2), max(s1, s2))
        case "DIV":
            return BIGINT
    raise Unsupported(f"DECIMAL {symbol}")


def _decimal_operation(symbol: str, left: int | Decimal, right: int | Decimal, kind: Type) -> Decimal | int:
    x, y = Fraction(left), Fraction(right)
    match symbol:
        case "+":
            exact = x + y
        case "-":
            exact = x - y
        case "*":
            exact = x * y
        case "/":
            exact = x / _nonzero(y)
        case "DIV":
            return fitting(math.trunc(x / _nonzero(y)), BIGINT)
        case _:
            exact = x - y * math.trunc(x / _nonzero(y))
    return to_decimal(exact, kind)


def literal_as_decimal(number: int) -> Type:
    """The type of an integer literal beside a decimal: as many digits as it has."""
    return decimal(len(str(abs(number))), 0)


# ---- times and intervals ---------------------------------------------------------------------------------------------


def _with_times(symbol: str, left: Typed, right: Typed) -> Typed:
    a, b = left.type, right.type
    match symbol:
        case "+" if b in TEMPORAL and a not in TEMPORAL:
            return _with_times("+", right, left)
        case "-" if a in TEMPORAL and b in TEMPORAL:
            return strict(
                DAYS if a == b == DATE else INTERVAL,
                lambda x, y: timedelta(microseconds=micros(x) - micros(y)),
                left,
                right,
            )
        case "+" | "-" if a in TEMPORAL:
            sign = 1 if symbol == "+" else -1
            kind = TIMESTAMP if a == DATE and b == INTERVAL else a
            return strict(kind, lambda x, y: _moved(x, sign * y, b, kind), left, right)
        case "+" | "-" if a in INTERVALS and b in INTERVALS and (a == MONTHS) == (b == MONTHS):
            sign = 1 if symbol == "+" else -1
            return strict(a if a == b else INTERVAL, lambda x, y: x + sign * y, left, right)
        case "*" if a in INTERVALS:
            return strict(INTERVAL if a == DAYS else a, lambda x, y: _scaled(x, Fraction(y)), left, right)
        case "*" if b in INTERVALS:
            return _with_times("*", right, left)
        case "/" if a in INTERVALS:
            return strict(INTERVAL if a == DAYS else a, lambda x, y: _scaled(x, 1 / Fraction(_nonzero(y))), left, right)
    raise Unsupported(f"{a.name} {symbol} {b.name}")


def _moved(moment: date, by: Any, unit: Type, kind: Type) -> date:
    """A time moved by an interval, or a date by a number of days."""
    if unit == MONTHS:
        year, month = divmod(moment.year * 12 + moment.month - 1 + by, 12)
        if not 1 <= year <= 9999:
            raise EvaluationError("a time outside the years 1 to 9999")
        return moment.replace(year=year, month=month + 1, day=min(moment.day, calendar.monthrange(year, month + 1)[1]))
    shift = by if isinstance(by, timedelta) else timedelta(days=by)
    try:
        return from_micros(micros(moment) + shift // timedelta(microseconds=1), kind)
    except OverflowError:
        raise EvaluationError("a time outside the years 1 to 9999") from None


def _scaled(interval: Any, factor: Fraction) -> Any:
    if isinstance(interval, timedelta):
        exact = Fraction(interval // timedelta(microseconds=1)) * factor
        return timedelta(microseconds=math.copysign(math.floor(abs(exact) + Fraction(1, 2)), exact))
    return int(math.copysign(math.floor(abs(interval * factor) + Fraction(1, 2)), interval * factor))


def seconds_of(moment: datetime) -> Fraction:
    """Seconds since the epoch."""
    return Fraction(micros(moment), 1_000_000)
