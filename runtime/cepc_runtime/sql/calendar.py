"""Dates, timestamps and intervals as text, over Spark's whole range (years −290308 to +294247, which Python's lacks).

The calendar is the proleptic Gregorian one; the zone is UTC. Everything here is integer arithmetic.
"""

from __future__ import annotations

from typing import Final

MICROS_PER_SECOND: Final = 1_000_000
MICROS_PER_MINUTE: Final = 60 * MICROS_PER_SECOND
MICROS_PER_HOUR: Final = 60 * MICROS_PER_MINUTE
MICROS_PER_DAY: Final = 24 * MICROS_PER_HOUR

_DAYS_PER_400_YEARS: Final = 146_097
_EPOCH: Final = 719_468
"""Days from 0000-03-01, where the count of a year that starts in March is simplest, to 1970-01-01."""


def civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of a count of days since 1970-01-01.

    >>> civil(0), civil(-1), civil(19_782)
    ((1970, 1, 1), (1969, 12, 31), (2024, 2, 29))
    """
    era, of_era = divmod(days + _EPOCH, _DAYS_PER_400_YEARS)
    year_of_era = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * of_year + 2) // 153  # months since March
    day = of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9
    return era * 400 + year_of_era + (month <= 2), month, day


def days_of(year: int, month: int, day: int) -> int:
    """The inverse of `civil`, for a day that exists."""
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * _DAYS_PER_400_YEARS + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + of_year - _EPOCH


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in_month(year: int, month: int) -> int:
    return 29 if month == 2 and is_leap(year) else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def format_date(days: int) -> str:
    """As Spark prints a DATE: at least four digits of a year, a plus sign before more."""
    year, month, day = civil(days)
    return f"{_format_year(year)}-{month:02}-{day:02}"


def _format_year(year: int) -> str:
    if year > 9999:
        return f"+{year}"
    return f"{year:04}" if year >= 0 else f"-{-year:04}"


def format_timestamp(micros: int) -> str:
    """As Spark prints a TIMESTAMP in UTC: the fraction only as long as needed."""
    days, of_day = divmod(micros, MICROS_PER_DAY)
    return f"{format_date(days)} {_format_time(of_day)}"


def _format_time(micros: int) -> str:
    seconds, fraction = divmod(micros, MICROS_PER_SECOND)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{fraction:06}".rstrip("0") if fraction else text


def format_interval(micros: int, start: int = 0, end: int = 3) -> str:
    """The part between the quotes of `INTERVAL '1 02:03:04.5' DAY TO SECOND`, from field `start` to field `end`.

    >>> format_interval(93_784_500_000), format_interval(-5_400_000_000, 2, 2)
    ('1 02:03:04.5', '-90')
    """
    rest = abs(micros)
    parts: list[str] = []
    for field in range(start, end + 1):
        count, rest = divmod(rest, _FIELD_MICROS[field])
        parts.append(("" if not parts else " " if field == 1 else ":") + (str(count) if field == 0 else f"{count:02}"))
    fraction = f".{rest:06}".rstrip("0") if end == 3 and rest else ""
    return f"{'-' if micros < 0 else ''}{''.join(parts)}{fraction}"


_FIELD_MICROS: Final = (MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND)
