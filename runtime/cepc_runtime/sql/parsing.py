"""Text as values, as Spark's CAST from STRING reads it. Every function gives None for text that it cannot read.

Times are in UTC. Text that means a moment relative to today (`now`, a time without a date) is not read: it would make a
result depend on when the job runs.
"""

from __future__ import annotations

import decimal
import math
import re
import struct
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from .calendar import MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND, days_in_month, days_of
from .types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INTERVAL_FIELDS,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DataType,
    Decimal,
    Interval,
    integer_range,
    is_integer,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from zoneinfo import ZoneInfo

    from .expression import ConstantValue

BLANKS: Final = "".join(map(chr, range(33))) + "\x7f"
"""What Spark trims around text before it reads it."""

DECIMALS: Final = decimal.Context(
    prec=2000, rounding=decimal.ROUND_HALF_UP, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, traps=[]
)
"""Wide enough for every exact step; rounding is HALF_UP, as Spark's."""

MIN_LONG: Final = -(2**63)
MAX_LONG: Final = 2**63 - 1

_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[dDfF]?")
_HEX_FLOAT = re.compile(r"([+-]?0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*[pP][+-]?[0-9]+)[dDfF]?")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?")


def parse_integer(text: str) -> int | None:
    """A whole number of any size."""
    trimmed = text.strip(BLANKS)
    return int(trimmed) if len(trimmed) < 4000 and _INTEGER.fullmatch(trimmed) else None


_SPECIAL: Final = {
    "inf": float("inf"), "+inf": float("inf"), "infinity": float("inf"), "+infinity": float("inf"),
    "-inf": float("-inf"), "-infinity": float("-inf"), "nan": float("nan"),
}  # fmt: skip


def parse_double(text: str) -> float | None:
    trimmed = text.strip(BLANKS)
    if (found := _FLOAT.fullmatch(trimmed)) is not None:
        return float(found[1])
    if (found := _HEX_FLOAT.fullmatch(trimmed)) is not None:
        try:
            return float.fromhex(found[1])
        except (ValueError, OverflowError):
            return None
    return _SPECIAL.get(trimmed.lower())


def parse_float(text: str) -> float | None:
    """As a FLOAT: rounded to 32 bits."""
    value = parse_double(text)
    return None if value is None else to_float(value)


def to_float(value: float) -> float:
    """The FLOAT nearest to a DOUBLE."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def parse_decimal(text: str, type_: Decimal) -> decimal.Decimal | None:
    """Rounded to the scale; None also where it does not fit."""
    trimmed = text.strip(BLANKS)
    if not _DECIMAL.fullmatch(trimmed):
        return None
    return to_scale(decimal.Decimal(trimmed), type_)


def to_scale(value: decimal.Decimal, type_: Decimal) -> decimal.Decimal | None:
    """The value rounded to the scale of the type, or None where it does not fit."""
    if value.adjusted() > type_.precision - type_.scale + 1:
        return None
    rounded = value.quantize(decimal.Decimal(1).scaleb(-type_.scale), context=DECIMALS)
    if abs(rounded) >= decimal.Decimal(1).scaleb(type_.precision - type_.scale):
        return None
    return rounded if rounded else abs(rounded)  # a DECIMAL has no negative zero


def parse_boolean(text: str) -> bool | None:
    word = text.strip(BLANKS).lower()
    if word in ("t", "true", "y", "yes", "1"):
        return True
    return False if word in ("f", "false", "n", "no", "0") else None


def read_text(text: str, type_: DataType) -> ConstantValue:
    """The text as a value of an atomic type, or None where it is none of that type's."""
    match type_:
        case Decimal():
            return parse_decimal(text, type_)
        case Interval():
            return parse_interval(text, type_)
    if is_integer(type_):
        number = parse_integer(text)
        low, high = integer_range(type_)
        return number if number is not None and low <= number <= high else None
    return _READERS[type_](text) if type_ in _READERS else None


# ---- dates and timestamps --------------------------------------------------------------------------------------------

_DATE = r"(?P<year>[+-]?[0-9]{4,7})(?:-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,2})"
_DATE_ONLY = re.compile(_DATE + r"(?:[ T].*)?)?)?", re.DOTALL)
_TIMESTAMP = re.compile(
    _DATE + r"(?:[ T](?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{1,2})"
    r"(?::(?P<second>[0-9]{1,2})(?:\.(?P<fraction>[0-9]*))?(?P<zone>[ a-zA-Z+-].*)?)?)?)?)?)?"
)


def parse_date(text: str) -> int | None:
    """Days since 1970-01-01."""
    found = _DATE_ONLY.fullmatch(text.strip(BLANKS))
    days = None if found is None else _days(found)
    return days if days is not None and -(2**31) <= days < 2**31 else None


def _days(found: re.Match[str]) -> int | None:
    year, month, day = int(found["year"]), int(found["month"] or 1), int(found["day"] or 1)
    if not (1 <= month <= 12 and 1 <= day <= days_in_month(year, month)):
        return None
    return days_of(year, month, day)


def parse_timestamp(text: str) -> int | None:
    """Microseconds since 1970-01-01 00:00:00 UTC."""
    parsed = _local(text)
    if parsed is None:
        return None
    local, zone = parsed
    offset = 0 if zone is None else zone_offset(zone, local)
    if offset is None or not MIN_LONG <= local - offset <= MAX_LONG:
        return None
    return local - offset


def parse_timestamp_ntz(text: str) -> int | None:
    """The same of local time; a zone is read and left aside."""
    parsed = _local(text)
    if parsed is None:
        return None
    local, zone = parsed
    valid = MIN_LONG <= local <= MAX_LONG and (zone is None or zone_offset(zone, local) is not None)
    return local if valid else None


def _local(text: str) -> tuple[int, str | None] | None:
    """Local microseconds and the name of the zone."""
    found = _TIMESTAMP.fullmatch(text.strip(BLANKS))
    days = None if found is None else _days(found)
    if found is None or days is None:
        return None
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    if hour > 23 or minute > 59 or second > 59:
        return None
    fraction = int(((found["fraction"] or "") + "000000")[:6])
    return days * MICROS_PER_DAY + _micros(hour, minute, second) + fraction, found["zone"]


def _micros(hour: int, minute: int, second: int) -> int:
    return hour * MICROS_PER_HOUR + minute * MICROS_PER_MINUTE + second * MICROS_PER_SECOND


_OFFSET = re.compile(
    r"(?:UTC|GMT|UT)?(?P<sign>[+-])(?P<hour>\d{1,2})(?::(?P<minute>\d{1,2})(?::(?P<second>\d{2}))?)?", re.ASCII
)
_COMPACT_OFFSET = re.compile(
    r"(?:UTC|GMT|UT)?(?P<sign>[+-])(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?", re.ASCII
)

_ABBREVIATIONS: Final = {
    "PST": "America/Los_Angeles", "MST": "America/Denver", "CST": "America/Chicago", "EST": "America/New_York",
    "HST": "Pacific/Honolulu", "JST": "Asia/Tokyo", "IST": "Asia/Kolkata", "CET": "CET", "EET": "EET", "MET": "MET",
}  # fmt: skip


def zone_offset(zone: str, local: int) -> int | None:
    """How many microseconds the zone is ahead of UTC at a local time, or None for an unknown zone."""
    name = zone.strip()
    if name in ("Z", "UTC", "GMT", "UT"):
        return 0
    found = _OFFSET.fullmatch(name) or _COMPACT_OFFSET.fullmatch(name)
    if found is None:
        return _region_offset(name, local)
    parts = [int(found[part] or 0) for part in ("hour", "minute", "second")]
    if parts[1] > 59 or parts[2] > 59 or _micros(parts[0], parts[1], parts[2]) > 18 * MICROS_PER_HOUR:
        return None
    return _micros(parts[0], parts[1], parts[2]) * (-1 if found["sign"] == "-" else 1)


@lru_cache(maxsize=64)
def _region(name: str) -> ZoneInfo | None:
    from zoneinfo import ZoneInfo  # for the few literals with a zone's name

    try:
        return ZoneInfo(_ABBREVIATIONS.get(name, name))
    except (KeyError, ValueError, OSError):  # unknown, malformed, or a folder of the zone database
        return None


def _region_offset(name: str, local: int) -> int | None:
    region = _region(name)
    if region is None:
        return None
    try:
        moment = datetime(1970, 1, 1) + timedelta(microseconds=local)
    except OverflowError:  # outside Python's years: the zone's first or last rule holds
        moment = datetime(1, 1, 2) if local < 0 else datetime(9999, 12, 30)
    offset = moment.replace(tzinfo=region).utcoffset()
    return None if offset is None else offset // timedelta(microseconds=1)


# ---- intervals -------------------------------------------------------------------------------------------------------

_WRAPPED = re.compile(r"INTERVAL\s+(?P<sign>[+-])?\s*'(?P<body>[^']*)'\s+(?P<unit>[A-Z ]+)", re.IGNORECASE)
_LIMITS: Final = {"HOUR": 23, "MINUTE": 59, "SECOND": 59}
_PIECES: Final = {"DAY": "", "HOUR": " ", "MINUTE": ":", "SECOND": ":"}


def parse_interval(text: str, type_: Interval) -> int | None:
    """Microseconds; the text must have exactly the fields of the type, bare or as a literal INTERVAL '…' ….."""
    body, sign = text.strip(BLANKS), 1
    wrapped = _WRAPPED.fullmatch(body)
    if wrapped is not None:
        if " ".join(wrapped["unit"].upper().split()) != type_.sql.removeprefix("INTERVAL "):
            return None
        body, sign = wrapped["body"].strip(), -1 if wrapped["sign"] == "-" else 1
    found = _interval_pattern(type_).fullmatch(body)
    if found is None:
        return None
    micros = _interval_micros(found, type_)
    if micros is None:
        return None
    micros *= sign * (-1 if found["sign"] == "-" else 1)
    return micros if MIN_LONG <= micros <= MAX_LONG else None


@lru_cache(maxsize=16)
def _interval_pattern(type_: Interval) -> re.Pattern[str]:
    names = INTERVAL_FIELDS[type_.start : type_.end + 1]
    text = r"(?P<sign>[+-])?"
    for i, name in enumerate(names):
        text += (_PIECES[name] if i else "") + rf"(?P<{name}>\d{{1,{2 if i else 19}}})"
    return re.compile(text + (r"(?:\.(?P<fraction>\d{1,9}))?" if names[-1] == "SECOND" else ""), re.ASCII)


def _interval_micros(found: re.Match[str], type_: Interval) -> int | None:
    units = {"DAY": MICROS_PER_DAY, "HOUR": MICROS_PER_HOUR, "MINUTE": MICROS_PER_MINUTE, "SECOND": MICROS_PER_SECOND}
    names = INTERVAL_FIELDS[type_.start : type_.end + 1]
    if any(int(found[name]) > _LIMITS[name] for name in names[1:]):
        return None
    fraction = int((found["fraction"] + "000000")[:6]) if names[-1] == "SECOND" and found["fraction"] else 0
    return sum(int(found[name]) * units[name] for name in names) + fraction


_READERS: Final[dict[DataType, Callable[[str], ConstantValue]]] = {
    STRING: str,
    BINARY: str.encode,
    BOOLEAN: parse_boolean,
    DOUBLE: parse_double,
    FLOAT: parse_float,
    DATE: parse_date,
    TIMESTAMP: parse_timestamp,
    TIMESTAMP_NTZ: parse_timestamp_ntz,
}
