"""The scalar functions, each from its arguments to a typed expression. Names are compared in upper case."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .arithmetic import arithmetic, fitting, negative
from .casts import cast, from_micros, micros, to_decimal, to_float
from .comparison import compared, conjunction, is_what, negation
from .errors import EvaluationError, Unsupported
from .typed import Env, Typed, constant, converted, order_key, strict, together
from .types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    common_of,
    decimal,
    is_decimal,
    is_fractional,
    is_integral,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def call(name: str, arguments: list[Typed]) -> Typed:
    function = FUNCTIONS.get(name.upper())
    if function is None:
        raise Unsupported(f"function {name}")
    return function(*arguments)


def extract(field: str, operand: Typed) -> Typed:
    """`EXTRACT(field FROM x)`: the function of that name; seconds with their fraction."""
    singular = field.upper().removesuffix("S")
    if singular == "SECOND" and operand.type != DATE:
        kind = decimal(8, 6)
        return strict(kind, lambda t: to_decimal(Fraction(micros(t) % 60_000_000, 10**6), kind), operand)
    names = {"DOW": "DAYOFWEEK", "DOY": "DAYOFYEAR", "WEEK": "WEEKOFYEAR", "DAYOFWEEK_ISO": "ISO", "DOW_ISO": "ISO"}
    return call(names.get(singular, singular), [operand])


def coalesce(*arguments: Typed) -> Typed:
    options = together(*arguments)

    def run(env: Env) -> object:
        return next((value for option in options if (value := option.run(env)) is not None), None)

    return Typed(options[0].type, run)


def choose(condition: Typed, then: Typed, otherwise: Typed) -> Typed:
    """`IF(condition, then, otherwise)`: otherwise also when the condition is null."""
    yes, no = together(then, otherwise)
    return Typed(yes.type, lambda env: (yes if condition.run(env) is True else no).run(env))


def nullif(left: Typed, right: Typed) -> Typed:
    return choose(compared("=", left, right), constant(NULL, None), left)


def tried(expression: Typed) -> Typed:
    """Null where the expression fails."""

    def run(env: Env) -> object:
        try:
            return expression.run(env)
        except EvaluationError:
            return None

    return Typed(expression.type, run)


def concat(*arguments: Typed) -> Typed:
    if all(a.type.name == "ARRAY" for a in arguments):
        return strict(arguments[0].type, lambda *lists: [v for values in lists for v in values], *arguments)
    return strict(STRING, lambda *texts: "".join(texts), *(converted(a, STRING) for a in arguments))


def _extreme(pick: Callable[..., Any]) -> Callable[..., Typed]:
    """GREATEST and LEAST skip nulls."""

    def function(*arguments: Typed) -> Typed:
        options = together(*arguments)

        def run(env: Env) -> object:
            values = [value for option in options if (value := option.run(env)) is not None]
            return pick(values, key=order_key) if values else None

        return Typed(options[0].type, run)

    return function


def absolute(operand: Typed) -> Typed:
    if is_integral(operand.type):
        return strict(operand.type, lambda value: fitting(abs(value), operand.type), operand)
    return strict(operand.type, abs, operand)


def _rounded_to_whole(to_integer: Callable[[Any], int]) -> Callable[[Typed], Typed]:
    """FLOOR and CEIL: BIGINT, or a decimal without scale."""

    def function(operand: Typed) -> Typed:
        if is_decimal(operand.type):
            precision, scale = operand.type.numbers
            kind = decimal(precision - scale + 1 if scale else precision, 0)
            return strict(kind, lambda value: Decimal(to_integer(value)), operand)
        return strict(BIGINT, lambda value: to_bigint(value, to_integer), operand)

    return function


def to_bigint(value: float, to_integer: Callable[[Any], int]) -> int:
    """On the JVM a double beyond BIGINT becomes the nearest BIGINT, and NaN becomes 0."""
    if math.isnan(value):
        return 0
    return max(
        -(2**63), min(2**63 - 1, to_integer(value) if math.isfinite(value) else int(math.copysign(2**64, value)))
    )


def rounded(operand: Typed, places: Typed | None = None) -> Typed:
    """ROUND, half up, for numbers; the number of places is a constant."""
    digits = places.run({}) if places else 0
    scale = 10**digits if digits >= 0 else Fraction(1, 10**-digits)

    def half_up(value: Any) -> Fraction:
        exact = Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
        magnitude = math.floor(abs(exact) * scale + Fraction(1, 2))
        return Fraction(magnitude if exact >= 0 else -magnitude) / scale

    if is_decimal(operand.type):
        precision, old = operand.type.numbers
        kind = decimal(
            precision - old + min(max(digits, 0), old) + (1 if digits < old else 0), min(max(digits, 0), old)
        )
        return strict(kind, lambda value: to_decimal(half_up(value), kind), operand)
    if is_fractional(operand.type):
        return strict(operand.type, lambda value: to_float(half_up(value)) if math.isfinite(value) else value, operand)
    return strict(operand.type, lambda value: fitting(int(half_up(value)), operand.type), operand)


def _double(function: Callable[..., float]) -> Callable[..., Typed]:
    """A function of doubles: outside its domain NaN, too large Infinity, as on the JVM."""

    def guarded(*values: float) -> float:
        try:
            return function(*values)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return lambda *arguments: strict(DOUBLE, guarded, *(converted(a, DOUBLE) for a in arguments))


def logarithm(operand: Typed) -> Typed:
    """LN is null where it has no value."""
    number = converted(operand, DOUBLE)
    return strict(DOUBLE, lambda value: None if value <= 0 else math.log(value), number)


def _instant(unit: int) -> Callable[[Typed], Typed]:
    """The TIMESTAMP so many units of so many microseconds after the epoch."""
    return lambda number: strict(TIMESTAMP, lambda n: from_micros(int(Fraction(n) * unit), TIMESTAMP), number)


def _text(kind: Any, function: Callable[..., Any]) -> Callable[..., Typed]:
    def of_texts(first: Typed, *others: Typed) -> Typed:
        return strict(kind, function, converted(first, STRING), *others)

    return of_texts


def split_part(text: str, delimiter: str, number: int) -> str:
    """The number-th part, or from the end where it is negative; empty where there is none."""
    parts = text.split(delimiter) if delimiter else [text]
    return parts[number - (number > 0)] if -len(parts) <= number <= len(parts) else ""


def substring(text: str, start: int, length: int | None = None) -> str:
    """Counted from 1, or from the end when negative; 0 counts as 1."""
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    end = len(text) if length is None else begin + length
    return text[max(begin, 0) : max(end, 0)]


def _time(kind: Any, function: Callable[[datetime], Any]) -> Callable[[Typed], Typed]:
    """A function of a date or timestamp, as seen in UTC."""

    def of_time(operand: Typed) -> Typed:
        moment = converted(operand, TIMESTAMP) if operand.type in (DATE, STRING) else operand
        return strict(kind, lambda t: function(t.astimezone(UTC) if t.tzinfo else t), moment)

    return of_time


def date_trunc(unit: Typed, operand: Typed) -> Typed:
    def truncate(name: str, t: datetime) -> datetime | None:
        upper = name.upper()
        if upper == "WEEK":
            return datetime(t.year, t.month, t.day, tzinfo=t.tzinfo) - timedelta(days=t.weekday())
        if upper == "QUARTER":
            return datetime(t.year, (t.month - 1) // 3 * 3 + 1, 1, tzinfo=t.tzinfo)
        names = ["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"]
        if upper not in names:
            return None
        smallest = {"month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0}
        dropped = [name.lower() for name in names[names.index(upper) + 1 :]]
        return t.replace(microsecond=0, **{name: smallest[name] for name in dropped})  # type: ignore[arg-type]

    moment = converted(operand, TIMESTAMP) if operand.type in (DATE, STRING) else operand
    return strict(moment.type, truncate, unit, moment)


def _days(date_: date) -> int:
    return micros(date_) // 86_400_000_000


def datediff(end: Typed, start: Typed) -> Typed:
    return strict(INT, lambda a, b: _days(a) - _days(b), converted(end, DATE), converted(start, DATE))


def length(operand: Typed) -> Typed:
    """Characters of a text, bytes of a binary."""
    return strict(INT, len, operand if operand.type == BINARY else converted(operand, STRING))


def array_contains(values: Typed, wanted: Typed) -> Typed:
    """Null where it is not found but the array has a null."""
    (element,) = values.type.parameters
    kind = common_of((element, wanted.type))

    def found(items: list[Any], value: object) -> bool | None:
        keys = [order_key(item if element == kind else cast(item, element, kind)) for item in items if item is not None]
        return True if order_key(value) in keys else None if None in items else False

    return strict(BOOLEAN, found, values, converted(wanted, kind))


FUNCTIONS: dict[str, Callable[..., Typed]] = {
    "COALESCE": coalesce,
    "IFNULL": coalesce,
    "NVL": coalesce,
    "NVL2": lambda value, then, otherwise: choose(is_what(value, "NULL"), otherwise, then),
    "NULLIF": nullif,
    "IF": choose,
    "IFF": choose,
    "ISNULL": lambda value: is_what(value, "NULL"),
    "ISNOTNULL": lambda value: negation(is_what(value, "NULL")),
    "ISNAN": lambda value: conjunction(
        negation(is_what(value, "NULL")), strict(BOOLEAN, math.isnan, converted(value, DOUBLE))
    ),
    "NANVL": lambda value, other: choose(call("ISNAN", [value]), other, value),
    "ABS": absolute,
    "NEGATIVE": negative,
    "SIGN": _double(lambda x: math.nan if x != x else float((x > 0) - (x < 0))),
    "SIGNUM": _double(lambda x: math.nan if x != x else float((x > 0) - (x < 0))),
    "FLOOR": _rounded_to_whole(math.floor),
    "CEIL": _rounded_to_whole(math.ceil),
    "CEILING": _rounded_to_whole(math.ceil),
    "ROUND": rounded,
    "SQRT": _double(math.sqrt),
    "EXP": _double(math.exp),
    "POW": _double(lambda x, y: math.inf if x == 0 and y < 0 else math.pow(x, y)),
    "POWER": _double(lambda x, y: math.inf if x == 0 and y < 0 else math.pow(x, y)),
    "LN": logarithm,
    "SIN": _double(math.sin),
    "COS": _double(math.cos),
    "ASIN": _double(lambda x: math.asin(x) if -1 <= x <= 1 else math.nan),
    "RADIANS": _double(math.radians),
    "MOD": lambda a, b: arithmetic("%", a, b),
    "TRY_ADD": lambda a, b: tried(arithmetic("+", a, b)),
    "TRY_SUBTRACT": lambda a, b: tried(arithmetic("-", a, b)),
    "TRY_MULTIPLY": lambda a, b: tried(arithmetic("*", a, b)),
    "TRY_DIVIDE": lambda a, b: tried(arithmetic("/", a, b)),
    "TRY_MOD": lambda a, b: tried(arithmetic("%", a, b)),
    "GREATEST": _extreme(max),
    "LEAST": _extreme(min),
    "CONCAT": concat,
    "UPPER": _text(STRING, str.upper),
    "UCASE": _text(STRING, str.upper),
    "LOWER": _text(STRING, str.lower),
    "LCASE": _text(STRING, str.lower),
    "LENGTH": length,
    "LEN": length,
    "CHAR_LENGTH": length,
    "CHARACTER_LENGTH": length,
    "TRIM": _text(STRING, lambda text: text.strip(" ")),
    "LTRIM": _text(STRING, lambda text: text.lstrip(" ")),
    "RTRIM": _text(STRING, lambda text: text.rstrip(" ")),
    "SUBSTRING": _text(STRING, substring),
    "SUBSTR": _text(STRING, substring),
    "STARTSWITH": _text(BOOLEAN, str.startswith),
    "ENDSWITH": _text(BOOLEAN, str.endswith),
    "CONTAINS": _text(BOOLEAN, lambda text, part: part in text),
    "REPLACE": _text(STRING, lambda text, old, new="": text.replace(old, new) if old else text),
    "SPLIT_PART": _text(STRING, split_part),
    "REVERSE": _text(STRING, lambda text: text[::-1]),
    "RLIKE": _text(BOOLEAN, lambda text, regex: re.search(regex, text) is not None),
    "REGEXP": _text(BOOLEAN, lambda text, regex: re.search(regex, text) is not None),
    "REGEXP_LIKE": _text(BOOLEAN, lambda text, regex: re.search(regex, text) is not None),
    "YEAR": _time(INT, lambda t: t.year),
    "QUARTER": _time(INT, lambda t: (t.month + 2) // 3),
    "MONTH": _time(INT, lambda t: t.month),
    "DAY": _time(INT, lambda t: t.day),
    "DAYOFMONTH": _time(INT, lambda t: t.day),
    "DAYOFWEEK": _time(INT, lambda t: t.isoweekday() % 7 + 1),
    "WEEKDAY": _time(INT, lambda t: t.weekday()),
    "ISO": _time(INT, lambda t: t.isoweekday()),
    "DAYOFYEAR": _time(INT, lambda t: t.timetuple().tm_yday),
    "LAST_DAY": lambda day: strict(
        DATE, lambda d: (d.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1), converted(day, DATE)
    ),
    "WEEKOFYEAR": _time(INT, lambda t: t.isocalendar().week),
    "HOUR": _time(INT, lambda t: t.hour),
    "MINUTE": _time(INT, lambda t: t.minute),
    "SECOND": _time(INT, lambda t: t.second),
    "UNIX_DATE": _time(INT, _days),
    "UNIX_SECONDS": _time(BIGINT, lambda t: micros(t) // 1_000_000),
    "UNIX_MILLIS": _time(BIGINT, lambda t: micros(t) // 1_000),
    "UNIX_MICROS": _time(BIGINT, micros),
    "DATE_TRUNC": date_trunc,
    "DATEDIFF": datediff,
    "DATE_DIFF": datediff,
    "DATE_ADD": lambda day, number: arithmetic("+", converted(day, DATE), number),
    "DATE_SUB": lambda day, number: arithmetic("-", converted(day, DATE), number),
    "TIMESTAMP_SECONDS": _instant(10**6),
    "TIMESTAMP_MILLIS": _instant(10**3),
    "TIMESTAMP_MICROS": _instant(1),
    "TO_DATE": lambda value: converted(value, DATE),
    "DATE": lambda value: converted(value, DATE),
    "STRING": lambda value: converted(value, STRING),
    "INT": lambda value: converted(value, INT),
    "BIGINT": lambda value: converted(value, BIGINT),
    "DOUBLE": lambda value: converted(value, DOUBLE),
    "FLOAT": lambda value: converted(value, FLOAT),
    "BOOLEAN": lambda value: converted(value, BOOLEAN),
    "ARRAY_CONTAINS": array_contains,
    "SIZE": lambda value: strict(INT, len, value),
    "CARDINALITY": lambda value: strict(INT, len, value),
}
