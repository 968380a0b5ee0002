"""Texts of times by a pattern of Spark's: those patterns that mean the same in every engine.

>>> is_portable("dd.MM.yyyy HH:mm:ss"), is_portable("EEE, d MMM")
(True, False)
>>> parse("03.01.1970 00:00:00", "dd.MM.yyyy HH:mm:ss")
172800000000
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from .calendar import MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND, days_in_month, days_of

_TOKEN: Final = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z'\[\]{}#]")
_FIELDS: Final = {
    "yyyy": ("year", r"[0-9]{4}|\+[0-9]{5,9}|-[0-9]{4,9}"),
    **{letters: (name, "[0-9]{2}") for letters, name in (
        ("MM", "month"), ("dd", "day"), ("HH", "hour"), ("mm", "minute"), ("ss", "second"),
    )},
    **{letter: (name, "[0-9]{1,19}") for letter, name in (
        ("M", "month"), ("d", "day"), ("H", "hour"), ("m", "minute"), ("s", "second"),
    )},
    **{"S" * n: ("fraction", f"[0-9]{{1,{n}}}") for n in range(1, 10)},
    "XXX": ("offset", r"Z|[+-][0-9]{2}:[0-9]{2}"),
}  # fmt: skip
_FIXED: Final = frozenset(["MM", "dd", "HH", "mm", "ss"])


def is_portable(pattern: str) -> bool:
    return _regex(pattern) is not None


def parts(pattern: str) -> frozenset[str] | None:
    """What a text of the pattern says; None for a pattern that only Spark reads.

    >>> sorted(parts("dd.MM.yyyy"))
    ['day', 'month', 'year']
    """
    regex = _regex(pattern)
    return None if regex is None else frozenset(regex.groupindex)


@lru_cache(maxsize=64)
def _regex(pattern: str) -> re.Pattern[str] | None:
    """What texts of the pattern look like; None for one that only Spark reads. A number of any length stands next to no
    other number.
    """
    found, at, before, names = "", 0, "", set[str]()
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            return None
        at, text = token.end(), token.group()
        if token.group(2) is None:
            quoted = token.group(1)
            literal = text if quoted is None else "'" if quoted == "" else quoted.replace("''", "'")
            found, before = found + re.escape(literal), "digit" if literal[-1:].isdigit() else ""
            continue
        name, form = _FIELDS.get(text, ("", ""))
        beside = before and not (before in ("yyyy", *_FIXED) and text in _FIXED)
        if not name or name in names or (beside and name != "offset"):
            return None
        if before == "yyyy":
            found = found.replace(_FIELDS["yyyy"][1], "[0-9]{4}")
        names.add(name)
        found, before = f"{found}(?P<{name}>{form})", "" if name == "offset" else text
    return re.compile(found, re.IGNORECASE | re.ASCII) if names else None


def parse(text: str, pattern: str) -> int | None:
    """Microseconds since 1970, in UTC where the text has no offset; None for a text that is none of the pattern. What
    the pattern does not say is that of 1970-01-01 00:00.
    """
    found = _read(text, pattern)
    if found is None:
        return None
    days, micros = found
    moment = days * MICROS_PER_DAY + micros
    return moment if -(2**63) <= moment < 2**63 else None


def parse_date(text: str, pattern: str) -> int | None:
    """Days since 1970, whatever the time of the day. The pattern has no offset.

    >>> parse_date("03.01.1970 23:59", "dd.MM.yyyy HH:mm")
    2
    """
    found = _read(text, pattern)
    return found[0] if found is not None and -(2**31) <= found[0] < 2**31 else None


def _read(text: str, pattern: str) -> tuple[int, int] | None:
    """Days since 1970, and microseconds from there."""
    regex = _regex(pattern)
    assert regex is not None, pattern
    found = regex.fullmatch(text)
    if found is None:
        return None
    said = found.groupdict()
    year, month, day = (int(said.get(name) or default) for name, default in (("year", 1970), ("month", 1), ("day", 1)))
    hour, minute, second = (int(said.get(name) or 0) for name in ("hour", "minute", "second"))
    if not (1 <= month <= 12 and 1 <= day <= days_in_month(year, month) and hour < 24 and max(minute, second) < 60):
        return None
    offset = _offset(said.get("offset") or "Z")
    if offset is None:
        return None
    micros = int((said.get("fraction") or "0").ljust(9, "0")[:6])
    of_day = hour * MICROS_PER_HOUR + minute * MICROS_PER_MINUTE + second * MICROS_PER_SECOND + micros
    return days_of(year, month, day), of_day - offset


def _offset(text: str) -> int | None:
    if text in "Zz":
        return 0
    hours, minutes = int(text[1:3]), int(text[4:])
    if minutes > 59 or hours * 60 + minutes > 18 * 60:
        return None
    return (hours * MICROS_PER_HOUR + minutes * MICROS_PER_MINUTE) * (-1 if text[0] == "-" else 1)
