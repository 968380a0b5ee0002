"""Functions of dates, timestamps and intervals. The zone is UTC."""

from __future__ import annotations

from typing import Final

from ..expression import Call, Expression, Literal
from ..types import (
    BIGINT,
    DATE,
    INT,
    NULL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    Decimal,
    Interval,
    is_time,
)  # fmt: skip
from .coercion import INTEGRAL, NUMERIC, TIMESTAMPS, Kind, cast_to
from .signature import Build, Function, Mismatch, coerce, fixed

_DAYS: Final = Kind("a number of days (INT)", lambda t: t in (INT, SMALLINT, TINYINT), INT)
_ONLY_TIMESTAMPS: Final = Kind("a timestamp", lambda t: t in (TIMESTAMP, TIMESTAMP_NTZ), TIMESTAMP, strings=False)
_ONLY_NUMBERS: Final = Kind("a number", NUMERIC.accepts, NUMERIC.default, strings=False)
_ONLY_DATES: Final = Kind("a date", lambda t: t == DATE, DATE, strings=False)


def _of_date(name: str, summary: str) -> Function:
    return Function(name, f"{name}(date)", summary, 1, 1, fixed(name, DATE, to=INT))


def _of_timestamp(name: str, summary: str) -> Function:
    return Function(name, f"{name}(time)", summary, 1, 1, fixed(name, TIMESTAMPS, to=INT))


def _since_epoch(name: str, unit: str) -> Function:
    summary = f"{unit} since 1970-01-01 00:00:00 UTC"
    return Function(name, f"{name}(time)", summary, 1, 1, fixed(name, _ONLY_TIMESTAMPS, to=BIGINT))


def _from_epoch(name: str, unit: str) -> Function:
    expected = _ONLY_NUMBERS if name == "timestamp_seconds" else INTEGRAL
    summary = f"the TIMESTAMP so many {unit} after 1970-01-01 00:00:00 UTC"
    return Function(name, f"{name}(n)", summary, 1, 1, fixed(name, expected, to=TIMESTAMP))


def _unix_timestamp(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    """Of a time; of text only with Spark's pattern."""
    x = arguments[0]
    if x.type not in (DATE, TIMESTAMP, TIMESTAMP_NTZ, NULL):
        return Mismatch(0, "a date or a timestamp")
    return Call("unix_timestamp", (x if x.type == TIMESTAMP_NTZ else cast_to(x, TIMESTAMP),), BIGINT)


def _to_date(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    x = arguments[0]
    if is_time(x.type):
        return cast_to(x, DATE)
    coerced = coerce(arguments, (STRING,))
    return coerced if isinstance(coerced, Mismatch) else cast_to(coerced[0], DATE)


def _by_pattern(name: str) -> Build:
    """Of a text alone: with a time, Spark does not look at the pattern."""
    build = fixed(name, STRING, STRING, to=TIMESTAMP)
    return lambda arguments: build(arguments) if arguments[0].type in (STRING, NULL) else Mismatch(0, "a STRING")


def _to_timestamp(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    x = arguments[0]
    if len(arguments) == 2:
        return _by_pattern("to_timestamp")(arguments)
    if not (is_time(x.type) or x.type in (STRING, NULL)):
        return Mismatch(0, "a date, a timestamp or a STRING")
    return cast_to(x, TIMESTAMP)


DATE_TRUNC_UNITS: Final = {
    **dict.fromkeys(("YEAR", "YYYY", "YY"), "YEAR"), "QUARTER": "QUARTER",
    **dict.fromkeys(("MONTH", "MON", "MM"), "MONTH"), "WEEK": "WEEK", **dict.fromkeys(("DAY", "DD"), "DAY"),
    **{u: u for u in ("HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")},
}  # fmt: skip


def _date_trunc(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    match arguments[0]:
        case Literal(value=str(unit)) if unit.upper() not in DATE_TRUNC_UNITS:
            return Mismatch(
                0, "one of 'YEAR', 'QUARTER', 'MONTH', 'WEEK', 'DAY', 'HOUR', 'MINUTE', 'SECOND'", value=True
            )
    return fixed("date_trunc", STRING, TIMESTAMP, to=TIMESTAMP)(arguments)


# ---- EXTRACT ---------------------------------------------------------------------------------------------------------

_DATE_FIELDS: Final = {
    **dict.fromkeys(("YEAR", "Y", "YEARS", "YR", "YRS"), "year"),
    **dict.fromkeys(("YEAROFWEEK",), "yearofweek"),
    **dict.fromkeys(("QUARTER", "QTR"), "quarter"),
    **dict.fromkeys(("MONTH", "MON", "MONS", "MONTHS"), "month"),
    **dict.fromkeys(("WEEK", "W", "WEEKS"), "weekofyear"),
    **dict.fromkeys(("DAY", "D", "DAYS"), "day"),
    **dict.fromkeys(("DAYOFWEEK", "DOW"), "dayofweek"),
    **dict.fromkeys(("DAYOFWEEK_ISO", "DOW_ISO"), "dayofweek_iso"),
    "DOY": "dayofyear",
}
_TIME_FIELDS: Final = {
    **dict.fromkeys(("HOUR", "H", "HOURS", "HR", "HRS"), "hour"),
    **dict.fromkeys(("MINUTE", "M", "MIN", "MINS", "MINUTES"), "minute"),
}
_SECONDS: Final = ("SECOND", "S", "SEC", "SECONDS", "SECS")

EXTRACT_FIELDS: Final = (*_DATE_FIELDS, *_TIME_FIELDS, *_SECONDS)


def extract(field: str, x: Expression) -> Expression | Mismatch:
    """`EXTRACT(field FROM x)`; the field in upper case and one of EXTRACT_FIELDS."""
    if isinstance(x.type, Interval):
        return _extract_of_interval(field, x)
    if field in _SECONDS:
        coerced = coerce((x,), (TIMESTAMPS,))
        return coerced if isinstance(coerced, Mismatch) else Call("seconds_with_fraction", coerced, Decimal(8, 6))
    if field in _TIME_FIELDS:
        return fixed(_TIME_FIELDS[field], TIMESTAMPS, to=INT)((x,))
    return _extract_of_date(_DATE_FIELDS[field], x)


def _extract_of_date(function: str, x: Expression) -> Expression | Mismatch:
    if function == "dayofweek_iso":
        weekday = fixed("weekday", DATE, to=INT)((x,))
        return weekday if isinstance(weekday, Mismatch) else Call("+", (weekday, Literal(1, INT)), INT)
    return fixed(function, DATE, to=INT)((x,))


def _extract_of_interval(field: str, x: Expression) -> Expression | Mismatch:
    if field in _SECONDS:
        return Call("interval_seconds", (x,), Decimal(8, 6))
    name = _TIME_FIELDS.get(field) or _DATE_FIELDS[field]
    types = {"day": INT, "hour": TINYINT, "minute": TINYINT}
    if name not in types:
        return Mismatch(0, "a date or a timestamp")
    return Call(f"interval_{name}s", (x,), types[name])


def _date_part(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    match arguments[0]:
        case Literal(value=str(field)) if field.upper() in EXTRACT_FIELDS:
            found = extract(field.upper(), arguments[1])
            return Mismatch(1, found.expected) if isinstance(found, Mismatch) else found
    return Mismatch(0, "a field as a literal: 'YEAR', 'MONTH', 'DAY', 'HOUR', 'MINUTE', 'SECOND', …", value=True)


def _add(name: str) -> Build:
    return fixed(name, DATE, _DAYS, to=DATE)


_ADD_MONTHS: Final = fixed("add_months", DATE, INT, to=DATE)


TIMES: Final = (
    _of_date("year", "the year"),
    _of_date("quarter", "the quarter, 1 to 4"),
    _of_date("month", "the month, 1 to 12"),
    _of_date("weekofyear", "the ISO week of the year"),
    _of_date("day", "the day of the month"),
    _of_date("dayofweek", "the day of the week, 1 (Sunday) to 7 (Saturday)"),
    _of_date("weekday", "the day of the week, 0 (Monday) to 6 (Sunday)"),
    _of_date("dayofyear", "the day of the year, 1 to 366"),
    Function("dayname", "dayname(date)", "Mon, Tue, …", 1, 1, fixed("dayname", DATE, to=STRING)),
    Function("monthname", "monthname(date)", "Jan, Feb, …", 1, 1, fixed("monthname", DATE, to=STRING)),
    _of_timestamp("hour", "the hour, 0 to 23"),
    _of_timestamp("minute", "the minute, 0 to 59"),
    _of_timestamp("second", "the second, 0 to 59"),
    Function("date_part", "date_part(field, x)", "as EXTRACT(field FROM x)", 2, 2, _date_part),
    Function("date_trunc", "date_trunc(unit, time)", "the start of its hour, day, …", 2, 2, _date_trunc),
    Function("date_add", "date_add(date, days)", "so many days later", 2, 2, _add("date_add")),
    Function("date_sub", "date_sub(date, days)", "so many days earlier", 2, 2, _add("date_sub")),
    Function("datediff", "datediff(end, start)", "the days from start to end", 2, 2, fixed("datediff", DATE, to=INT)),
    Function("add_months", "add_months(date, n)", "so many months later", 2, 2, _ADD_MONTHS),
    Function("last_day", "last_day(date)", "the last day of its month", 1, 1, fixed("last_day", DATE, to=DATE)),
    Function("to_date", "to_date(x)", "as CAST(x AS DATE)", 1, 1, _to_date),
    Function(
        "to_timestamp", "to_timestamp(x[, pattern])", "as CAST(x AS TIMESTAMP), or of text by a pattern", 1, 2,
        _to_timestamp,
    ),
    Function(
        "try_to_timestamp", "try_to_timestamp(x, pattern)", "the same, and null where it fails", 2, 2,
        _by_pattern("try_to_timestamp"),
    ),
    Function("make_date", "make_date(year, month, day)", "the DATE", 3, 3, fixed("make_date", INT, to=DATE)),
    Function("unix_timestamp", "unix_timestamp(time)", "seconds since 1970-01-01", 1, 1, _unix_timestamp),
    _since_epoch("unix_seconds", "seconds"),
    _since_epoch("unix_millis", "milliseconds"),
    _since_epoch("unix_micros", "microseconds"),
    _from_epoch("timestamp_seconds", "seconds"),
    _from_epoch("timestamp_millis", "milliseconds"),
    _from_epoch("timestamp_micros", "microseconds"),
    Function("unix_date", "unix_date(date)", "days since 1970-01-01", 1, 1, fixed("unix_date", _ONLY_DATES, to=INT)),
    Function(
        "date_from_unix_date", "date_from_unix_date(n)", "the DATE n days after 1970-01-01", 1, 1,
        fixed("date_from_unix_date", INT, to=DATE),
    ),
)  # fmt: skip

TIMES_ALIASES: Final = {
    "dayofmonth": "day", "datepart": "date_part", "dateadd": "date_add", "date_diff": "datediff",
    "to_unix_timestamp": "unix_timestamp",
}  # fmt: skip
