"""Event times that were meant in another unit than the stream says."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from cepc_runtime.plan.stream import MICROSECONDS, TIME
from cepc_runtime.sql.types import TIMESTAMP, TIMESTAMP_NTZ

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc_runtime.numbers.columns import Ints
    from cepc_runtime.plan.stream import TickUnit

    from .. import model

_EARLIEST: Final = int(datetime(1980, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
_LATEST: Final = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
_YEAR: Final = 31_556_952_000_000  # microseconds


def other_unit(stream: model.Stream, ticks: Ints) -> str | None:
    """What is odd about numbers that are no times of our days in the unit of the stream, and are in another. Numbers
    that are none in any unit count from something else.
    """
    time = stream.time
    if time.unit is None or not len(ticks):
        return None
    units = _fitting(ticks)
    if not units or time.unit in units:
        return None
    first = int(ticks[0])
    cure = f"`EVENT TIME {time.column} UNIT {units[0]}`" if not stream.members else f"`UNIT {units[0]}` in each STREAM"
    return (
        f"the {_times(time)}, {first} and others, are read in {_NAMES[time.unit]}, "
        f"{_when(first, time.unit)}; write {cure}"
    )


def made_times(stream: model.Stream, ticks: Ints) -> str | None:
    """The same of timestamps that were made of such numbers elsewhere: small ones may as well be meant."""
    time = stream.time
    if time.type not in (TIMESTAMP, TIMESTAMP_NTZ) or not len(ticks):
        return None
    units = _fitting(ticks)
    if not units or "us" in units:
        return None
    return (
        f"the {_times(time)} are all {_when(int(ticks[0]), 'us')}, as if they had been made of numbers of another unit"
    )


def _times(time: model.TimeColumn) -> str:
    return "times" if time.column == TIME else f"times in `{time.column}`"


_NAMES: Final[Mapping[TickUnit, str]] = {"s": "seconds", "ms": "milliseconds", "us": "microseconds"}


def _fitting(ticks: Ints) -> list[TickUnit]:
    """The units in which all numbers are times of our days."""
    low, high = int(ticks.min()), int(ticks.max())
    return [unit for unit in _NAMES if low * MICROSECONDS[unit] >= _EARLIEST and high * MICROSECONDS[unit] < _LATEST]


def _when(tick: int, unit: TickUnit) -> str:
    """
    >>> _when(1_700_000_000_000, "s"), _when(1_700_000_000, "ms")
    ('in the year 55840', 'in the year 1970')
    """
    return f"in the year {1970 + tick * MICROSECONDS[unit] // _YEAR}"
