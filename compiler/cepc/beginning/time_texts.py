"""Times written in other forms than ISO 8601, and the expressions of the language that read them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cepc_grammar.spelling import string_text
from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

_HOUR = r"(?P<H>\d{1,2}):(?P<m>\d{2})(?P<s>:\d{2})?(?P<f>\.\d{1,9})?(?P<half> [AaPp][Mm])?"
_CLOCK = rf"(?:(?P<gap>, | |T){_HOUR})?"
_YEAR_LAST = re.compile(r"(?P<a>\d{1,2})(?P<sign>[./-])(?P<b>\d{1,2})(?P=sign)(?P<y>\d{4})" + _CLOCK)
_YEAR_FIRST = re.compile(r"(?P<y>\d{4})(?P<sign>[./])(?P<a>\d{1,2})(?P=sign)(?P<b>\d{1,2})" + _CLOCK)
_COMPACT = re.compile(
    r"(?P<y>\d{4})(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:(?P<gap>[T_ -]?)(?P<H>[01]\d|2[0-3])[0-5]\d[0-5]\d)?"
)
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_CLOCK_ALONE = re.compile(_HOUR)
_CLOCK_OF_DIGITS = re.compile(r"(?P<H>[01]\d|2[0-3])(?P<m>[0-5]\d)(?P<s>[0-5]\d)?")
_LOG = re.compile(r"\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4}")
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"
_HALF = "INTERVAL 12 HOURS, INTERVAL 0 HOURS"
ISO_DATE = "yyyy-MM-dd"


@dataclass(frozen=True, slots=True)
class TimeForm:
    """How times are written, by Spark's letters, and the `expression` that makes a TIMESTAMP of one. Another form fits
    as well where days and months cannot be told apart: `unless` names it.
    """

    title: str
    expression: str
    unless: str = ""

    @property
    def said(self) -> str:
        return f"{self.title}; {self.unless} fits as well" if self.unless else self.title


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of the day: how it is written, and the `text` that an expression makes of its column for `pattern`.

    `more` is what an expression adds for AM and PM, which no pattern has.
    """

    title: str
    pattern: str
    text: str
    more: str = ""


def form_of(values: Sequence[str], column: str) -> TimeForm | None:
    """The form that all values of a column have; `column` is how an expression names it.

    >>> form_of(["31.12.2026 23:59", "1.1.2027 00:00"], "t").expression
    "TO_TIMESTAMP(t, 'd.M.yyyy HH:mm')"
    """
    if not values:
        return None
    if all(map(_LOG.fullmatch, values)):
        return TimeForm("dd/MMM/yyyy:HH:mm:ss Z", _log(column))
    for pattern, make in ((_YEAR_LAST, _year_last), (_YEAR_FIRST, _year_first), (_COMPACT, _compact)):
        if matches := _alike(pattern, values):
            return make(column, matches)
    return None


def clock_of(values: Sequence[str], column: str) -> Clock | None:
    """The time of the day that all values of a column are, with colons.

    >>> clock_of(["9:58 AM", "11:58 PM"], "t").pattern
    'H:mm'
    """
    matches = _alike(_CLOCK_ALONE, values)
    if not matches:
        return None
    pattern = _clock_pattern(matches)
    if matches[0]["half"] is None:
        return Clock(pattern, pattern, column)
    return Clock(_by_halves(pattern), pattern, _without_half(column), _halves(column, "12:%"))


def clock_of_digits(values: Sequence[str], column: str) -> Clock | None:
    """The same without colons.

    >>> clock_of_digits(["2358", "0001"], "t").pattern
    'HHmm'
    """
    matches = _alike(_CLOCK_OF_DIGITS, values)
    if not matches:
        return None
    pattern = "HHmm" if matches[0]["s"] is None else "HHmmss"
    return Clock(pattern, pattern, column)


def date_of(values: Sequence[str], column: str) -> TimeForm | None:
    """The form that all values of a column have, if no time of the day is in it.

    >>> date_of(["31.12.2026", "1.1.2027"], "t").title, date_of(["31.12.2026 23:59"], "t")
    ('d.M.yyyy', None)
    """
    if all(map(_ISO.fullmatch, values)):
        return TimeForm(ISO_DATE, f"TO_TIMESTAMP({column})")
    form = form_of(values, column)
    return None if form is None or {"H", "h"} & set(form.title) else form


def is_iso(date: TimeForm, clock: Clock) -> bool:
    """Whether the two, with a space between them, are a time in ISO 8601."""
    return date.title == ISO_DATE and ":" in clock.pattern and not clock.more


def with_clock(date: TimeForm, column: str, clock: Clock) -> TimeForm:
    """The form of a date, which an expression names by `column`, with a time of the day beside it."""
    text = f"CONCAT({column}, ' ', {clock.text})"
    moment = f"TO_TIMESTAMP({text})" if is_iso(date, clock) else _by_pattern(text, f"{date.title} {clock.pattern}")
    return TimeForm(f"{date.title} {clock.title}", f"{moment}{clock.more}", date.unless)


def _alike(pattern: re.Pattern[str], values: Sequence[str]) -> list[re.Match[str]]:
    """The matches of all values, or none where one does not match or is of another shape."""
    matches = [match for value in values if (match := pattern.fullmatch(value)) is not None]
    return matches if len(matches) == len(values) and len(set(map(_shape, matches))) == 1 else []


def _shape(match: re.Match[str]) -> tuple[object, ...]:
    """What must be the same in all values."""
    parts = match.groupdict()
    return *map(parts.get, ("sign", "gap")), *(parts.get(part) is None for part in ("H", "s", "f", "half"))


def _year_last(column: str, matches: Sequence[re.Match[str]]) -> TimeForm | None:
    """Which of the first two is the day is seen from the greater; where it is not, dots and dashes say the day first,
    slashes the month.
    """
    sign = matches[0]["sign"]
    first, second = (max(int(match[part]) for match in matches) for part in "ab")
    if first > 31 or second > 31 or (first > 12 and second > 12):
        return None
    unclear = first <= 12 and second <= 12
    day_first = sign != "/" if unclear else first > 12
    letters = [_letters(letter, matches, part) for letter, part in zip("dM" if day_first else "Md", "ab", strict=True)]
    other = [_letters(letter, matches, part) for letter, part in zip("Md" if day_first else "dM", "ab", strict=True)]
    unless = sign.join((*other, "yyyy")) if unclear else ""
    return _form(column, sign.join((*letters, "yyyy")), matches, unless)


def _year_first(column: str, matches: Sequence[re.Match[str]]) -> TimeForm | None:
    if any(int(match["a"]) > 12 or int(match["b"]) > 31 for match in matches):
        return None
    sign = matches[0]["sign"]
    return _form(column, sign.join(("yyyy", _letters("M", matches, "a"), _letters("d", matches, "b"))), matches)


def _letters(letter: str, matches: Sequence[re.Match[str]], part: str) -> str:
    """Two where all numbers have two digits."""
    return letter * min(len(match[part]) for match in matches)


def _form(column: str, date: str, matches: Sequence[re.Match[str]], unless: str = "") -> TimeForm:
    """With the clock. Without AM and PM the engines agree on a pattern: half a day more for PM, and half a day less for
    the hour that such clocks call 12.
    """
    first = matches[0]
    if first["gap"] is None:
        return TimeForm(date, _by_pattern(column, date), unless)
    gap = "'T'" if first["gap"] == "T" else first["gap"]
    clock = _clock_pattern(matches)
    pattern = f"{date}{gap}{clock}"
    if first["half"] is None:
        return TimeForm(pattern, _by_pattern(column, pattern), unless)
    moment = _by_pattern(_without_half(column), pattern)
    more = _halves(column, f"%{first['gap'][-1]}12:%")
    return TimeForm(f"{date}{gap}{_by_halves(clock)}", f"{moment}{more}", unless)


def _clock_pattern(matches: Sequence[re.Match[str]]) -> str:
    """Without AM and PM."""
    first = matches[0]
    fraction = "." + "S" * max(len(match["f"]) - 1 for match in matches) if first["f"] else ""
    return f"{_letters('H', matches, 'H')}:mm{':ss' if first['s'] else ''}{fraction}"


def _by_halves(clock: str) -> str:
    """How a pattern is called where AM or PM follows it."""
    return f"{clock.replace('H', 'h')} a"


def _without_half(column: str) -> str:
    return f"LEFT({column}, LENGTH({column}) - 3)"


def _halves(column: str, twelve: str) -> str:
    """What is added to the time that is read without AM and PM; `twelve` is LIKE the hour that begins a half."""
    return f" + IF({column} ILIKE '%PM', {_HALF}) - IF({column} LIKE '{twelve}', {_HALF})"


def _by_pattern(text: str, pattern: str) -> str:
    return f"TO_TIMESTAMP({text}, {string_text(pattern)})"


def _compact(column: str, matches: Sequence[re.Match[str]]) -> TimeForm:
    gap = matches[0]["gap"] or ""
    quoted = f"'{gap}'" if gap == "T" else gap
    pattern = f"yyyyMMdd{quoted}HHmmss" if matches[0]["H"] is not None else "yyyyMMdd"
    return TimeForm(pattern, _by_pattern(column, pattern))


def _log(column: str) -> str:
    """As web servers log it: names of months are in no pattern that the engines agree on."""
    month = f"CAST((LOCATE(SUBSTRING({column}, 4, 3), '{_MONTHS}') + 2) DIV 3 AS STRING)"
    zone = f"SUBSTRING({column}, 22, 3), ':', SUBSTRING({column}, 25)"
    return (
        f"TO_TIMESTAMP(CONCAT(SUBSTRING({column}, 8, 4), '-', {month}, '-', SUBSTRING({column}, 1, 2), ' ', "
        f"SUBSTRING({column}, 13, 8), {zone}))"
    )
