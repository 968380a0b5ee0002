"""Times written in other forms than ISO 8601, and the expressions of the language that read them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_CLOCK = r"(?:(?P<gap>, | |T)(?P<clock>\d{1,2}:\d{2}(?P<s>:\d{2}(?P<f>\.\d+)?)?)(?P<half> [AaPp][Mm])?)?"
_THREE = re.compile(r"(?P<a>\d{1,2})(?P<sign>[./-])(?P<b>\d{1,2})(?P=sign)(?P<y>\d{4})" + _CLOCK)
_YEAR_FIRST = re.compile(r"(?P<y>\d{4})(?P<sign>[./])(?P<a>\d{1,2})(?P=sign)(?P<b>\d{1,2})" + _CLOCK)
_COMPACT = re.compile(r"(?P<y>\d{4})(?:0[1-9]|1[0-2])\d\d(?:(?P<gap>[T_ -]?)(?P<clock>[0-2]\d[0-5]\d[0-5]\d))?")
_LOG = re.compile(r"\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4}")
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"


@dataclass(frozen=True, slots=True)
class Form:
    """How times are written, by Spark's letters, and the `expression` that makes a TIMESTAMP of one. Another form fits
    as well where days and months cannot be told apart: `unless` names it.
    """

    title: str
    expression: str
    unless: str = ""


def form_of(values: Sequence[str], column: str) -> Form | None:
    """The form that all values of a column have; `column` is how an expression names it.

    >>> form_of(["31.12.2026 23:59", "01.01.2027 00:00"], "t").title
    'dd.MM.yyyy HH:mm'
    >>> form_of(["31.12.2026"], "t").expression
    "TO_TIMESTAMP(CONCAT(SPLIT_PART(t, '.', 3), '-', SPLIT_PART(t, '.', 2), '-', SPLIT_PART(t, '.', 1)))"
    """
    if not values:
        return None
    if all(map(_LOG.fullmatch, values)):
        return Form("dd/MMM/yyyy:HH:mm:ss Z", _log(column))
    for pattern, make in ((_THREE, _three), (_YEAR_FIRST, _year_first), (_COMPACT, _compact)):
        found = [pattern.fullmatch(value) for value in values]
        matches = [match for match in found if match is not None]
        if len(matches) == len(values) and len({_shape(match) for match in matches}) == 1:
            return make(column, matches)
    return None


def _shape(match: re.Match[str]) -> tuple[object, ...]:
    """What must be the same in all values."""
    parts = match.groupdict()
    return parts.get("sign"), parts["gap"], parts["clock"] is None, parts.get("half") is None


def _three(column: str, matches: Sequence[re.Match[str]]) -> Form | None:
    """Which of the first two is the day is seen from the greater; where it is not, dots and dashes say the day first,
    slashes the month.
    """
    sign = matches[0]["sign"]
    first, second = (max(int(match[part]) for match in matches) for part in "ab")
    if first > 31 or second > 31 or (first > 12 and second > 12):
        return None
    unclear = first <= 12 and second <= 12
    day_first = sign != "/" if unclear else first > 12
    month, day = (2, 1) if day_first else (1, 2)
    letters = ("dd", "MM") if day_first else ("MM", "dd")
    other = sign.join((*reversed(letters), "yyyy")) if unclear else ""
    date = _before_gap(column, matches[0])
    parts = (f"SPLIT_PART({date}, '{sign}', 3)", *(f"SPLIT_PART({column}, '{sign}', {n})" for n in (month, day)))
    title = sign.join((*letters, "yyyy"))
    return Form(title + _clock_title(matches), _with_clock(column, ", '-', ".join(parts), matches[0]), other)


def _year_first(column: str, matches: Sequence[re.Match[str]]) -> Form | None:
    if any(int(match["a"]) > 12 or int(match["b"]) > 31 for match in matches):
        return None
    sign = matches[0]["sign"]
    date = f"REPLACE({_before_gap(column, matches[0])}, '{sign}', '-')"
    return Form(f"yyyy{sign}MM{sign}dd" + _clock_title(matches), _with_clock(column, date, matches[0]))


def _before_gap(column: str, match: re.Match[str]) -> str:
    return column if match["gap"] is None else f"SPLIT_PART({column}, '{match['gap']}', 1)"


def _with_clock(column: str, date: str, match: re.Match[str]) -> str:
    """Half a day more for PM, and half a day less for the hour that 12-hour clocks call 12."""
    if match["gap"] is None:
        return f"TO_TIMESTAMP(CONCAT({date}))"
    clock = f"SPLIT_PART({column}, '{match['gap']}', 2)"
    if match["half"] is None:
        return f"TO_TIMESTAMP(CONCAT({date}, ' ', {clock}))"
    if match["gap"] != " ":
        clock = f"SPLIT_PART({clock}, ' ', 1)"
    half = "INTERVAL 12 HOURS, INTERVAL 0 HOURS"
    return (
        f"TO_TIMESTAMP(CONCAT({date}, ' ', {clock})) + IF({column} ILIKE '%PM', {half})"
        f" - IF(SPLIT_PART({clock}, ':', 1) = '12', {half})"
    )


def _clock_title(matches: Sequence[re.Match[str]]) -> str:
    first = matches[0]
    if first["gap"] is None:
        return ""
    hours = "HH:mm" if first["half"] is None else "hh:mm"
    seconds = ":ss" if any(match["s"] for match in matches) else ""
    fraction = ".SSS" if any(match["f"] for match in matches) else ""
    gap = "'T'" if first["gap"] == "T" else first["gap"]
    return gap + hours + seconds + fraction + (" a" if first["half"] else "")


def _compact(column: str, matches: Sequence[re.Match[str]]) -> Form:
    gap, clock = matches[0]["gap"], matches[0]["clock"]
    parts = [f"SUBSTRING({column}, 1, 4)", "'-'", f"SUBSTRING({column}, 5, 2)", "'-'", f"SUBSTRING({column}, 7, 2)"]
    if clock is None:
        return Form("yyyyMMdd", f"TO_TIMESTAMP(CONCAT({', '.join(parts)}))")
    start = 9 + len(gap)
    for sign, at in ((" ", start), (":", start + 2), (":", start + 4)):
        parts += (f"'{sign}'", f"SUBSTRING({column}, {at}, 2)")
    return Form(f"yyyyMMdd{repr(gap) if gap == 'T' else gap}HHmmss", f"TO_TIMESTAMP(CONCAT({', '.join(parts)}))")


def _log(column: str) -> str:
    """As web servers log it."""
    month = f"CAST((LOCATE(SUBSTRING({column}, 4, 3), '{_MONTHS}') + 2) DIV 3 AS STRING)"
    zone = f"SUBSTRING({column}, 22, 3), ':', SUBSTRING({column}, 25)"
    return (
        f"TO_TIMESTAMP(CONCAT(SUBSTRING({column}, 8, 4), '-', {month}, '-', SUBSTRING({column}, 1, 2), ' ', "
        f"SUBSTRING({column}, 13, 8), {zone}))"
    )
