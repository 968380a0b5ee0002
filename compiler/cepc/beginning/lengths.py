"""Lengths of time that people would write."""

from __future__ import annotations

import math
from typing import Final

_UNITS: Final = (
    (1, "MICROSECOND", (1, 10, 100)),
    (1_000, "MILLISECOND", (1, 10, 100)),
    (1_000_000, "SECOND", (1, 5, 10, 30)),
    (60_000_000, "MINUTE", (1, 5, 10, 30)),
    (3_600_000_000, "HOUR", (1, 2, 6, 12)),
    (86_400_000_000, "DAY", (1, 2, 7, 30, 90, 365)),
)
_LENGTHS: Final = tuple((size * n, unit, n) for size, unit, ns in _UNITS for n in ns)


def length_above(microseconds: float, times: int = 1) -> str:
    """The least of them that is longer, so many times.

    >>> length_above(0), length_above(60_000_000, 2), length_above(400 * 86_400_000_000)
    ('1 MICROSECOND', '10 MINUTES', '401 DAYS')
    """
    day = _UNITS[-1][0]
    unit, n = next(
        ((unit, n) for size, unit, n in _LENGTHS if size > microseconds), ("DAY", math.floor(microseconds / day) + 1)
    )
    return f"{n * times} {unit}{'S' if n * times > 1 else ''}"


def in_words(microseconds: int) -> str:
    """About how long.

    >>> in_words(90_000_000), in_words(86_400_000_000), in_words(0)
    ('1.5 minutes', '1 day', 'no time')
    """
    size, unit, _ = next((u for u in reversed(_UNITS) if microseconds >= u[0]), (1, "", ()))
    if not unit:
        return "no time"
    n = f"{microseconds / size:.3g}" if microseconds < 1000 * size else f"{microseconds // size:,}"
    return f"{n} {unit.lower()}{'' if n == '1' else 's'}"
