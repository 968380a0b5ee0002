"""Dates, timestamps and intervals: arithmetic, parts, truncation. The zone is UTC."""

from __future__ import annotations

import decimal
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..calendar import (
    MICROS_PER_DAY,
    MICROS_PER_HOUR,
    MICROS_PER_MINUTE,
    MICROS_PER_SECOND,
    civil,
    days_in_month,
    days_of,
)
from ..functions.times import DATE_TRUNC_UNITS
from ..parsing import DECIMALS, MAX_LONG, MIN_LONG
from ..time_patterns import is_portable, parse
from ..types import BIGINT, DATE, INT, STRING, Decimal, Interval, is_time
from .arrays import NumpyValues, Value, any_true, arrow_type, as_array, from_numpy, numbers, row_wise, valid
from .errors import fail, unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..expression import Call

# ---- arithmetic ------------------------------------------------------------------------------------------------------


def arithmetic(call: Call, a: pa.Array, b: pa.Array) -> pa.Array:
    """Times and intervals added and subtracted, intervals multiplied and divided."""
    first, second = call.arguments[0].type, call.arguments[1].type
    match call.function:
        case "+" | "-" if first == DATE and second == INT:
            return _move_days(call, a, b, 1 if call.function == "+" else -1)
        case "-" if first == DATE and second == DATE:
            days, where = numbers(a).astype(np.int64) - numbers(b), valid(a, b)
            if any_true(np.abs(days) > MAX_LONG // MICROS_PER_DAY, where):
                fail(call, f"{call.type.sql} overflow")
            return from_numpy(days * MICROS_PER_DAY, where, call.type)
        case "+" | "-":
            return _sum(call, a.view(pa.int64()), b.view(pa.int64()), negated=is_time(first) and not is_time(second))
        case "div":
            return row_wise(lambda x, y: _interval_quotient(call, x, y), (a, b), (first, second), BIGINT)
    return row_wise(lambda x, y: _scaled_interval(call, x, y), (a, b), (first, second), call.type)


def _sum(call: Call, a: pa.Array, b: pa.Array, *, negated: bool) -> pa.Array:
    """The sum or difference; from a time Spark takes an interval away by adding its negative, which may overflow."""
    try:
        if call.function == "-" and negated:
            return pc.add_checked(a, pc.negate_checked(b)).view(arrow_type(call.type))
        kernel = pc.add_checked if call.function == "+" else pc.subtract_checked
        return kernel(a, b).view(arrow_type(call.type))
    except pa.ArrowInvalid:
        fail(call, f"{call.type.sql} overflow")


def _move_days(call: Call, dates: pa.Array, days: pa.Array, sign: int) -> pa.Array:
    where = valid(dates, days)
    moved = numbers(dates).astype(np.int64) + sign * numbers(days).astype(np.int64)
    if any_true(moved != moved.astype(np.int32), where):
        fail(call, "DATE overflow")
    return from_numpy(moved, where, DATE)


def _interval_quotient(call: Call, a: int, b: int) -> int:
    if b == 0:
        fail(call, "division by zero")
    quotient = abs(a) // abs(b)
    return _long(call, quotient if (a < 0) == (b < 0) else -quotient)


def _scaled_interval(call: Call, micros: int, factor: int | float | decimal.Decimal) -> int:
    """An interval times a number, or divided by one, rounded HALF_UP to microseconds."""
    if call.function == "/" and factor == 0:
        fail(call, "division by zero")
    if isinstance(factor, float):
        return _scaled_by_float(call, micros, factor)
    exact = decimal.Decimal(factor)
    x = DECIMALS.multiply(micros, exact) if call.function == "*" else _divided(micros, exact)
    return _long(call, int(x.to_integral_value(decimal.ROUND_HALF_UP)))


def _divided(micros: int, by: decimal.Decimal) -> decimal.Decimal:
    return decimal.Context(prec=100).divide(decimal.Decimal(micros), by)


def _scaled_by_float(call: Call, micros: int, factor: float) -> int:
    x = micros * factor if call.function == "*" else micros / factor
    if not np.isfinite(x):
        fail(call, f"{call.type.sql} overflow")
    return _long(call, int(decimal.Decimal(x).to_integral_value(decimal.ROUND_HALF_UP)))


def _long(call: Call, value: int) -> int:
    if not MIN_LONG <= value <= MAX_LONG:
        fail(call, f"{call.type.sql} overflow")
    return value


def signed(call: Call, x: pa.Array, checked: Any) -> pa.Array:
    """The negative, or the absolute value, of an interval."""
    try:
        return checked(x.view(pa.int64())).view(x.type)
    except pa.ArrowInvalid:
        fail(call, f"{call.type.sql} overflow")


# ---- parts of a date -------------------------------------------------------------------------------------------------


def date_part(call: Call, arguments: tuple[Value, ...], length: int) -> pa.Array:
    """`year`, `month`, `day` … of a DATE."""
    dates = as_array(arguments[0], length)
    return from_numpy(_DATE_PARTS[call.function](numbers(dates).astype(np.int64)), valid(dates), INT)


def _months(days: NumpyValues) -> NumpyValues:
    """Months since 1970-01."""
    return days.astype("M8[D]").astype("M8[M]").astype(np.int64)


def _first_of_month(months: NumpyValues) -> NumpyValues:
    return months.astype("M8[M]").astype("M8[D]").astype(np.int64)


def _year(days: NumpyValues) -> NumpyValues:
    return 1970 + _months(days) // 12


def _first_of_year(days: NumpyValues) -> NumpyValues:
    return _first_of_month(_months(days) // 12 * 12)


def _weekday(days: NumpyValues) -> NumpyValues:
    """0 for Monday; 1970-01-01 was a Thursday."""
    return (days + 3) % 7


def _thursday(days: NumpyValues) -> NumpyValues:
    """The day that says which year an ISO week belongs to."""
    return days - _weekday(days) + 3


_DATE_PARTS: Final[dict[str, Callable[[NumpyValues], NumpyValues]]] = {
    "year": _year,
    "quarter": lambda days: _months(days) % 12 // 3 + 1,
    "month": lambda days: _months(days) % 12 + 1,
    "day": lambda days: days - _first_of_month(_months(days)) + 1,
    "dayofyear": lambda days: days - _first_of_year(days) + 1,
    "weekday": _weekday,
    "dayofweek": lambda days: (days + 4) % 7 + 1,
    "weekofyear": lambda days: (_thursday(days) - _first_of_year(_thursday(days))) // 7 + 1,
    "yearofweek": lambda days: _year(_thursday(days)),
}


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def day_name(call: Call, arguments: tuple[Value, ...], length: int) -> pa.Array:
    """`dayname` and `monthname`."""
    dates = as_array(arguments[0], length)
    days = numbers(dates).astype(np.int64)
    names = _DAYS if call.function == "dayname" else _MONTH_NAMES
    index = _weekday(days) if call.function == "dayname" else _months(days) % 12
    return pa.array(names).take(pa.array(index, mask=None if (w := valid(dates)) is None else ~w))


def last_day(_: Call, arguments: tuple[Value, ...], length: int) -> pa.Array:
    dates = as_array(arguments[0], length)
    return from_numpy(_first_of_month(_months(numbers(dates)) + 1) - 1, valid(dates), DATE)


def move_date(call: Call, arguments: tuple[Value, ...], length: int) -> pa.Array:
    """`date_add` and `date_sub`, which wrap around where Spark's do."""
    dates, days = (as_array(a, length) for a in arguments)
    sign = 1 if call.function == "date_add" else -1
    moved = numbers(dates).astype(np.int64) + sign * numbers(days).astype(np.int64)
    return from_numpy(moved.astype(np.int32), valid(dates, days), DATE)


def date_difference(_: Call, arguments: tuple[Value, ...], length: int) -> pa.Array:
    end, start = (as_array(a, length) for a in arguments)
    return from_numpy((numbers(end).astype(np.int64) - numbers(start)).astype(np.int32), valid(end, start), INT)


def add_months(call: Call, arguments: tuple[Value, ...], length: int) -> pa.Array:
    """The day of the month is kept where the other month has it."""

    def move(days: int, months: int) -> int:
        year, month, day = civil(days)
        year, month = divmod(year * 12 + month - 1 + months, 12)
        moved = days_of(year, month + 1, min(day, days_in_month(year, month + 1)))
        if not -(2**31) <= moved < 2**31:
            fail(call, "DATE overflow")
        return moved

    return row_wise(move, [as_array(a, length) for a in arguments], (DATE, INT), DATE)


def make_date(call: Call, arguments: tuple[Value, ...], length: int) -> pa.Array:
    def make(year: int, month: int, day: int) -> int:
        if not (1 <= month <= 12 and 1 <= day <= days_in_month(year, month) and abs(year) < 1_000_000_000):
            fail(call, f"there is no date {year:04}-{month:02}-{day:02}")
        days = days_of(year, month, day)
        if not -(2**31) <= days < 2**31:
            fail(call, "DATE overflow")
        return days

    return row_wise(make, [as_array(a, length) for a in arguments], (INT, INT, INT), DATE)


def as_date(call: Call, arguments: tuple[Value, ...], length: int) -> pa.Array:
    """`unix_date` and `date_from_unix_date`."""
    return as_array(arguments[0], length).view(arrow_type(call.type))


# ---- parts of a timestamp --------------------------------------------------------------------------------------------


def time_part(call: Call, arguments: tuple[Value, ...], length: int) -> pa.Array:
    """`hour`, `minute`, `second` of a timestamp."""
    times = as_array(arguments[0], length)
    size, count = {
        "hour": (MICROS_PER_HOUR, 24), "minute": (MICROS_PER_MINUTE, 60), "second": (MICROS_PER_SECOND, 60)
    }[call.function]  # fmt: skip
    return from_numpy((numbers(times) // size % count).astype(np.int32), valid(times), INT)


def seconds_with_fraction(call: Call, arguments: tuple[Value, ...], length: int) -> pa.Array:
    times = as_array(arguments[0], length)
    return row_wise(lambda t: _seconds(t % MICROS_PER_MINUTE), [times], [call.arguments[0].type], call.type)


def _seconds(micros: int) -> decimal.Decimal:
    return decimal.Decimal(micros).scaleb(-6)


def interval_part(call: Call, arguments: tuple[Value, ...], length: int) -> pa.Array:
    """The days, hours, minutes or seconds of an interval, with its sign."""
    intervals = as_array(arguments[0], length)

    def part(micros: int) -> Any:
        sign, rest = (-1 if micros < 0 else 1), abs(micros)
        match call.function:
            case "interval_days":
                return sign * (rest // MICROS_PER_DAY)
            case "interval_hours":
                return sign * (rest // MICROS_PER_HOUR % 24)
            case "interval_minutes":
                return sign * (rest // MICROS_PER_MINUTE % 60)
        return _seconds(sign * (rest % MICROS_PER_MINUTE))

    return row_wise(part, [intervals], [Interval()], call.type)


_EPOCHS = {"unix_seconds": MICROS_PER_SECOND, "unix_millis": 1000, "unix_micros": 1}


def unix_timestamp(_: Call, arguments: tuple[Value, ...], length: int) -> pa.Array:
    """Whole seconds, toward zero where `unix_seconds` rounds down."""
    times = as_array(arguments[0], length)
    micros = numbers(times)
    return from_numpy(
        micros // MICROS_PER_SECOND + ((micros < 0) & (micros % MICROS_PER_SECOND != 0)), valid(times), BIGINT
    )


def since_epoch(call: Call, arguments: tuple[Value, ...], length: int) -> pa.Array:
    """`unix_seconds` and its like: whole units, rounded down."""
    times = as_array(arguments[0], length)
    return from_numpy(numbers(times) // _EPOCHS[call.function], valid(times), BIGINT)


def from_epoch(call: Call, arguments: tuple[Value, ...], length: int) -> pa.Array:
    """`timestamp_seconds` and its like."""
    size = {"timestamp_seconds": MICROS_PER_SECOND, "timestamp_millis": 1000, "timestamp_micros": 1}[call.function]
    type_ = call.arguments[0].type

    def moment(x: int | float | decimal.Decimal) -> int | None:
        if isinstance(x, float):
            return _clamped(x * size) if np.isfinite(x) else None
        micros = DECIMALS.multiply(decimal.Decimal(x), decimal.Decimal(size))
        if isinstance(type_, Decimal) and micros != micros.to_integral_value():
            fail(call, "a timestamp has whole microseconds")
        if not MIN_LONG <= micros <= MAX_LONG:
            fail(call, "TIMESTAMP overflow")
        return int(micros)

    return row_wise(moment, [as_array(arguments[0], length)], [type_], call.type)


def by_pattern(call: Call, arguments: tuple[Value, ...], length: int) -> pa.Array:
    """`to_timestamp` and `try_to_timestamp` of a text and a pattern."""
    text, form = arguments
    forms = [form.as_py()] if isinstance(form, pa.Scalar) else form.unique().to_pylist()
    if not (len(forms) == 1 and (forms[0] is None or is_portable(forms[0]))):
        unsupported(call, call.function)
    pattern = forms[0]
    if pattern is None:
        return pa.nulls(length, arrow_type(call.type))

    def moment(x: str) -> int | None:
        found = parse(x, pattern)
        if found is None and call.function == "to_timestamp":
            fail(call, f"'{x}' is no time of the form '{pattern}'")
        return found

    return row_wise(moment, [as_array(text, length)], [STRING], call.type)


def _clamped(x: float) -> int:
    """As Java turns a double into a long."""
    return max(MIN_LONG, min(MAX_LONG, int(x)))


# ---- truncation ------------------------------------------------------------------------------------------------------

_SIZES = {
    "DAY": MICROS_PER_DAY, "HOUR": MICROS_PER_HOUR, "MINUTE": MICROS_PER_MINUTE, "SECOND": MICROS_PER_SECOND,
    "MILLISECOND": 1000, "MICROSECOND": 1,
}  # fmt: skip


def date_trunc(_: Call, arguments: tuple[Value, ...], length: int) -> pa.Array:
    unit, times = arguments
    if isinstance(unit, pa.Scalar):
        return _truncate(unit.as_py(), as_array(times, length))
    times = as_array(times, length)
    pieces = [_truncate(u, times.slice(i, 1)) for i, u in enumerate(unit.to_pylist())]
    return pa.concat_arrays(pieces)


def _truncate(unit: str | None, times: pa.Array) -> pa.Array:
    """Null for a unit that there is not, as in Spark."""
    known = DATE_TRUNC_UNITS.get((unit or "").upper())
    if known is None:
        return pa.nulls(len(times), times.type)
    micros = numbers(times)
    return pa.array(_truncated(known, micros), mask=None if (w := valid(times)) is None else ~w).view(times.type)


def _truncated(unit: str, micros: NumpyValues) -> NumpyValues:
    if unit in _SIZES:
        return micros // _SIZES[unit] * _SIZES[unit]
    days = micros // MICROS_PER_DAY
    match unit:
        case "WEEK":
            start = days - _weekday(days)
        case "MONTH":
            start = _first_of_month(_months(days))
        case "QUARTER":
            start = _first_of_month(_months(days) // 3 * 3)
        case _:
            start = _first_of_year(days)
    return start * MICROS_PER_DAY
