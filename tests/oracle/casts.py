"""CAST between types, as Spark does it in ANSI mode with the session time zone UTC. A null stays null."""

from __future__ import annotations

import math
import re
import struct
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import cast as assume

from .errors import EvaluationError, Unsupported
from .types import (
    BINARY,
    BITS,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    NULL,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Type,
    is_decimal,
    is_fractional,
    is_integral,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
EXACT = Context(prec=1000, rounding=ROUND_HALF_UP)

_TRUE, _FALSE = ("t", "true", "y", "yes", "1"), ("f", "false", "n", "no", "0")
_ZONE = r"(Z|UTC|GMT|(?:UTC|GMT)?[+-]\d{1,2}(?::?\d{2})?)?"
_CLOCK = rf"[T ](\d{{1,2}})(?::(\d{{1,2}})(?::(\d{{1,2}})(?:\.(\d{{0,9}}))?)?)?\s*{_ZONE}"
_TIMESTAMP_TEXT = re.compile(rf"([+-]?\d{{4,7}})(?:-(\d{{1,2}})(?:-(\d{{1,2}})(?:{_CLOCK})?)?)?")


def cast(value: object, source: Type, target: Type) -> object:
    """The value of type `source` as one of type `target`. Raises EvaluationError when it does not fit or is
    malformed.
    """
    if value is None or source in (target, NULL):
        return value
    if is_integral(target):
        return _to_integer(value, source, target)
    if is_decimal(target):
        return to_decimal(_to_fraction(value, source), target)
    if is_fractional(target):
        return to_float(_to_number(value, source), target)
    if target == STRING:
        return to_string(value, source)
    if target == BOOLEAN:
        return _to_boolean(value, source)
    if target in (DATE, TIMESTAMP, TIMESTAMP_NTZ):
        return _to_time(value, source, target)
    if target == BINARY and source == STRING:
        return assume("str", value).encode()
    if target.name == "ARRAY" and source.name == "ARRAY":
        return [cast(v, source.parameters[0], target.parameters[0]) for v in assume("list[object]", value)]
    raise Unsupported(f"CAST from {source.name} to {target.name}")


def in_range(value: int, kind: Type) -> bool:
    """Whether an integral type holds the value."""
    half = 1 << (BITS[kind] - 1)
    return -half <= value < half


def to_decimal(value: Fraction, target: Type) -> Decimal:
    """The exact value rounded once (half up) to the scale of the type."""
    precision, scale = target.numbers
    digits = math.floor(abs(value) * 10**scale + Fraction(1, 2))
    if digits >= 10**precision:
        raise EvaluationError(f"{value} does not fit DECIMAL({precision},{scale})")
    return Decimal(digits if value >= 0 else -digits).scaleb(-scale, EXACT)


def to_float(value: int | float | Fraction | Decimal, target: Type = DOUBLE) -> float:
    """The nearest DOUBLE or FLOAT; infinity beyond the largest, as on the JVM."""
    try:
        nearest = float(value)
    except OverflowError:
        nearest = math.inf if value > 0 else -math.inf
    if target == FLOAT and math.isfinite(nearest):
        try:
            nearest = struct.unpack("f", struct.pack("f", nearest))[0]
        except OverflowError:
            nearest = math.copysign(math.inf, nearest)
    return nearest


def micros(value: datetime | date) -> int:
    """Microseconds since the epoch of a timestamp or date; without a zone it is read as UTC (docs/language.md,
    "Windows").
    """
    if not isinstance(value, datetime):
        return (value - EPOCH.date()) // MICROSECOND
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    return (aware - EPOCH) // MICROSECOND


def from_micros(value: int, kind: Type) -> datetime | date:
    """The time that many microseconds after the epoch, as a value of type TIMESTAMP, TIMESTAMP_NTZ or DATE."""
    try:
        moment = EPOCH + value * MICROSECOND
    except OverflowError:
        raise EvaluationError("a time outside the years 1 to 9999") from None
    if kind == DATE:
        return moment.date()
    return moment if kind == TIMESTAMP else moment.replace(tzinfo=None)


def to_string(value: object, kind: Type) -> str:
    """As Spark prints a value of the type."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return _java_double(value, kind)
        case Decimal():
            return format(value, "f")
        case datetime():
            text = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
            return text.isoformat(" ").rstrip("0") if text.microsecond else text.isoformat(" ", "seconds")
        case date() | int() | str():
            return str(value)
        case bytes():
            return value.decode()
    raise Unsupported(f"CAST from {kind.name} to STRING")


def _java_double(value: float, kind: Type) -> str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    read = (lambda text: to_float(float(text), FLOAT)) if kind == FLOAT else float
    # Java shows two digits at least: 4.9E-324, where 5e-324 would do.
    shortest = next(t for d in range(2, 18) if read(t := f"{value:.{d}g}") == value)
    sign, digits, exponent = Decimal(shortest).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    point = len(digits) + int(exponent)  # the value is 0.text × 10^point
    if value == 0:
        plain = "0.0"
    elif 1e-3 <= abs(value) < 1e7:
        whole, rest = (text[:point].ljust(point, "0"), text[point:]) if point > 0 else ("0", "0" * -point + text)
        plain = f"{whole}.{rest or '0'}"
    else:
        plain = f"{text[0]}.{text[1:] or '0'}E{point - 1}"
    return "-" + plain if sign else plain


def _to_number(value: object, source: Type) -> int | float | Decimal:
    match value:
        case bool():
            return int(value)
        case int() | float() | Decimal():
            return value
        case str():
            return _parse_double(value)
        case datetime() if source == TIMESTAMP:
            return micros(value) / 1e6
    raise Unsupported(f"CAST from {source.name} to a number")


def _to_fraction(value: object, source: Type) -> Fraction:
    match value:
        case float():
            if not math.isfinite(value):
                raise EvaluationError(f"{value} is no decimal")
            return Fraction(to_string(value, source))  # Spark goes by the printed digits
        case str():
            try:
                return Fraction(Decimal(value.strip()))
            except (ArithmeticError, ValueError):
                raise EvaluationError(f"malformed number {value!r}") from None
        case datetime() if source == TIMESTAMP:
            return Fraction(micros(value), 1_000_000)
    return Fraction(_to_number(value, source))


def _parse_double(text: str) -> float:
    word = text.strip()
    match = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[dDfF]?", word)
    if match:
        return float(word.rstrip("dDfF"))
    if re.fullmatch(r"(?i)nan|[+-]?inf(inity)?", word):
        return float(word)
    raise EvaluationError(f"malformed number {text!r}")


def _to_integer(value: object, source: Type, target: Type) -> int:
    match value:
        case str():
            if not re.fullmatch(r"\s*[+-]?\d+\s*", value):
                raise EvaluationError(f"malformed {target.name} {value!r}")
            number = int(value)
        case float():
            if not math.isfinite(value):
                raise EvaluationError(f"{value} is no {target.name}")
            number = math.trunc(value)
        case bool() | int() | Decimal():
            number = int(value)
        case datetime() if source == TIMESTAMP:
            number = micros(value) // 1_000_000
        case _:
            raise Unsupported(f"CAST from {source.name} to {target.name}")
    if not in_range(number, target):
        raise EvaluationError(f"{value} does not fit {target.name}")
    return number


def _to_boolean(value: object, source: Type) -> bool:
    match value:
        case str():
            word = value.strip().lower()
            if word not in _TRUE + _FALSE:
                raise EvaluationError(f"malformed BOOLEAN {value!r}")
            return word in _TRUE
        case int() | float() | Decimal():
            return value != 0
    raise Unsupported(f"CAST from {source.name} to BOOLEAN")


def _to_time(value: object, source: Type, target: Type) -> datetime | date:
    match value:
        case str():
            return _parse_time(value, target)
        case date():
            return from_micros(micros(value), target)
        case int() | float() | Decimal() if target == TIMESTAMP:
            if isinstance(value, float) and not math.isfinite(value):
                raise EvaluationError(f"{value} is no TIMESTAMP")
            return from_micros(math.trunc(Fraction(value) * 1_000_000), target)
    raise Unsupported(f"CAST from {source.name} to {target.name}")


def _parse_time(text: str, target: Type) -> datetime | date:
    match = _TIMESTAMP_TEXT.fullmatch(text.strip())
    if not match:
        raise EvaluationError(f"malformed {target.name} {text!r}")
    year, month, day, hour, minute, second = (
        int(g) if g else d for g, d in zip(match.groups()[:6], (1, 1, 1, 0, 0, 0), strict=True)
    )
    fraction, zone = match.group(7) or "", match.group(8) or ""
    try:
        moment = datetime(year, month, day, hour, minute, second, int(fraction[:6].ljust(6, "0")), UTC)
    except ValueError:
        raise EvaluationError(f"malformed {target.name} {text!r}") from None
    offset = re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?", zone)
    if offset and target == TIMESTAMP:
        shift = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        moment += -shift if offset[1] == "+" else shift
    return from_micros(micros(moment), target)
