"""Durations in ticks of a stream's event time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.stream import MICROSECONDS, unit_of

from .messages import durations as say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc_grammar import ast
    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.plan.stream import TickUnit
    from cepc_runtime.sql.types import DataType

LONGEST = 2**62  # ticks; a time plus a duration stays within 64 bits
_EXPONENT = re.compile(r"[eE]([+-]?\d+)$")


@dataclass(frozen=True, slots=True)
class Tick:
    """The unit of an event-time column: its length, and its name after a number."""

    microseconds: int
    name: str


_NAMES: Mapping[TickUnit, str] = {"us": "microseconds", "ms": "milliseconds", "s": "seconds", "day": "days"}


def tick(type_: DataType, unit: TickUnit | None) -> Tick | None:
    """The tick of an event-time column, or None for a type that cannot be one."""
    found = unit_of(type_, unit)
    return None if found is None else Tick(MICROSECONDS[found], _NAMES[found])


def ticks(duration: ast.Duration, unit: Tick | None, *, zero: bool = False) -> int | Diagnostic | None:
    """The duration as whole ticks, or what is wrong with it; None where the unit is not known and nothing else is
    wrong.
    """
    if _has_too_many_digits(duration):
        return say.too_long(duration)
    length = duration.microseconds
    if length == 0 and not zero:
        return say.zero(duration)
    count = _whole(duration, unit)
    return say.too_long(duration) if isinstance(count, int) and count > LONGEST else count


def offset_ticks(offset: ast.Duration, unit: Tick | None) -> int | Diagnostic | None:
    """The same of an OFFSET, which may be of any size, 0 and negative."""
    return say.too_long_offset(offset) if _has_too_many_digits(offset) else _whole(offset, unit)


def _has_too_many_digits(duration: ast.Duration) -> bool:
    """For the number to be computed with."""
    exponent = _EXPONENT.search(duration.amount)
    return len(duration.amount) > 60 or (exponent is not None and abs(int(exponent[1])) > 60)


def _whole(duration: ast.Duration, unit: Tick | None) -> int | Diagnostic | None:
    length = duration.microseconds
    if length is None:
        return say.no_length(duration)
    if unit is None:
        return None
    count, rest = divmod(length.numerator, length.denominator * unit.microseconds)
    return say.not_whole(duration, unit.name) if rest else count
