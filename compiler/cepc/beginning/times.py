"""Which column is the event time."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Final

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.computed import NoValueError, compute
from cepc_runtime.sql.types import DATE, FLOATS, STRING, TIMESTAMP, is_integer, is_time

from .leaves import new_name, quoted
from .text_types import type_of_text
from .time_texts import clock_of, clock_of_digits, date_of, form_of, is_iso, with_clock
from .words import says_clock, says_key, says_length, says_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .leaves import Leaf
    from .sample import Sample
    from .time_texts import Clock

FIRST, LAST = 631_152_000, 4_102_444_800  # 1990 and 2100: seconds between them are a time rather than a number
MOSTLY = 0.8  # of the texts are times, where the others are mistakes
MOST_SECONDS = 10**11  # some thousand years: more are no seconds, and may be no microseconds
UNITS: Final = (("seconds", 1, "SECONDS"), ("milliseconds", 10**3, "MILLIS"), ("microseconds", 10**6, "MICROS"))
NANOSECONDS: Final = 10**9
DAY: Final = 86_400_000_000
_LIKE_A_CLOCK: Final = re.compile(r"\d\d?[:.h]\d{1,2}(?!\d)")


@dataclass(frozen=True, slots=True)
class Time:
    """A time that events may have. `expression` computes it, None where it is column `leaf` itself; without `instants`,
    it is a number that orders events, in seconds for all that is known. `clock` has the time of the day, if that is
    another column.

    `values` are in microseconds; `reasons` say why it was chosen, `note` how it is written.
    """

    leaf: Leaf
    expression: str | None
    values: tuple[int | None, ...]
    score: float
    reasons: tuple[str, ...]
    note: str = ""
    instants: bool = True
    clock: Leaf | None = None

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """What it is made of."""
        return (self.leaf,) if self.clock is None else (self.leaf, self.clock)


@dataclass(frozen=True, slots=True)
class Disorder:
    """How late the latest event came, in microseconds; None where the records are in no order of time."""

    late: int | None


def times(sample: Sample, leaves: Sequence[Leaf]) -> tuple[Time, ...]:
    """All that may be the event time, the likeliest first."""
    there = [leaf for leaf in leaves if leaf.there]
    named = sorted(there, key=lambda leaf: not says_clock(leaf.path[-1]))
    beside = next((clock for leaf in named if (clock := _clock_column(leaf)) is not None), None)
    found = [_time(sample, leaf, beside) for leaf in there]
    if not any(found):
        found = [_order(sample, leaf) for leaf in there]
    return tuple(sorted((time for time in found if time is not None), key=lambda time: -time.score))


def disorder(time: Time) -> Disorder:
    values = [value for value in time.values if value is not None]
    late = max(latest - value for latest, value in zip(accumulate(values, max), values, strict=True))
    span = max(values) - min(values)
    return Disorder(None if late > span / 4 else late)


def left_out_clock(time: Time, leaves: Sequence[Leaf]) -> Leaf | None:
    """A column that has the time of the day by its name and its values, where the times are days alone."""
    if time.clock is not None or any(value is not None and value % DAY for value in time.values):
        return None
    others = [leaf for leaf in leaves if leaf.path != time.leaf.path and leaf.there and says_clock(leaf.path[-1])]
    return next((leaf for leaf in others if all(_LIKE_A_CLOCK.match(str(value)) for value in leaf.there)), None)


# ---- candidates ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _ClockColumn:
    """A column with a time of the day, which a date in another column goes with."""

    leaf: Leaf
    clock: Clock


def _clock_column(leaf: Leaf) -> _ClockColumn | None:
    """The leaf as a time of the day; digits are one where its name says a time. How long something lasts is none."""
    if says_length(leaf.path[-1]):
        return None
    clock = clock_of(leaf.there, leaf.text) if leaf.type == STRING else None
    if clock is None and says_time(leaf.path[-1]):
        if leaf.type == STRING:
            clock = clock_of_digits(leaf.there, leaf.text)
        elif is_integer(leaf.type) and max(leaf.there) >= 100:  # below is no hour
            digits = 4 if max(leaf.there) < 2400 else 6
            padded = f"LPAD(CAST({leaf.text} AS STRING), {digits}, '0')"
            clock = clock_of_digits([f"{value:0{digits}}" for value in leaf.there], padded)
    return None if clock is None else _ClockColumn(leaf, clock)


def _with_clock(sample: Sample, leaf: Leaf, beside: _ClockColumn) -> Time | None:
    """The leaf as a date with a time of the day beside it, if its values are dates."""
    digits = is_integer(leaf.type) and says_time(leaf.path[-1])
    if leaf.type not in (DATE, STRING) and not digits:
        return None
    column = f"CAST({leaf.text} AS STRING)" if digits else leaf.text
    date = date_of([str(value) for value in leaf.there], column)
    if date is None:
        return None
    form = with_clock(date, column, beside.clock)
    values = _computed(sample, (leaf, beside.leaf), form.expression)
    if values is None:
        return None
    what = "a date" if leaf.type == DATE else f"{'digits' if digits else 'text'} like {leaf.there[0]}"
    written = "" if is_iso(date, beside.clock) else f", {form.said}"
    note = f"{what}, with the time of the day in {'.'.join(beside.leaf.path)}{written}"
    return replace(_scored(leaf, form.expression, values, note), clock=beside.leaf)


def _time(sample: Sample, leaf: Leaf, beside: _ClockColumn | None) -> Time | None:
    """The leaf as a time, if its values can be one; a date with a clock beside it."""
    together = None if beside is None else _with_clock(sample, leaf, beside)
    if together is not None:
        return together
    if is_time(leaf.type):
        own, note = (None if leaf.is_column else leaf.text), ""
    else:
        written = _written(leaf)
        if written is None:
            return None
        own, note = written
    values = _microseconds(leaf.array) if own is None else _computed(sample, (leaf,), own)
    return None if values is None else _scored(leaf, own, values, note)


def _written(leaf: Leaf) -> tuple[str, str] | None:
    """An expression that makes a time of the leaf's numbers or texts, and what they are."""
    if is_integer(leaf.type):
        return _since_epoch(leaf, leaf.text, leaf.there) or _digits(leaf, f"CAST({leaf.text} AS STRING)")
    if leaf.type in FLOATS:
        return _since_epoch(leaf, leaf.text, leaf.there)
    if leaf.type != STRING:
        return None
    if all(re.fullmatch(r"[1-9]\d{8,18}", value) for value in leaf.there):
        number = _since_epoch(leaf, f"CAST({leaf.text} AS BIGINT)", list(map(int, leaf.there)))
        return number or _digits(leaf, leaf.text)
    iso = sum(re.match(r"\d{4}-\d\d?-\d\d?", value) is not None for value in leaf.there)
    if iso == len(leaf.there) and not _has_bad(leaf):
        return f"TO_TIMESTAMP({leaf.text})", "text in ISO 8601"
    if iso >= MOSTLY * len(leaf.there):
        return f"TRY_CAST({leaf.text} AS TIMESTAMP)", "text in ISO 8601, but not in every record"
    form = form_of(leaf.there, leaf.text)
    if form is None:
        return None
    return form.expression, f"text like {leaf.there[0]}, {form.said}"


def _has_bad(leaf: Leaf) -> bool:
    """Whether a text is no time, though it begins as one."""
    return type_of_text(leaf.there, (DATE, TIMESTAMP)) == STRING


def _since_epoch(leaf: Leaf, column: str, numbers: Sequence[float]) -> tuple[str, str] | None:
    """Numbers that would be times between FIRST and LAST; those in seconds may be anything that has no such name."""
    low, high = min(numbers), max(numbers)
    named = says_time(leaf.path[-1])
    if not named and (says_key(leaf.path[-1]) or any(b < a for a, b in pairwise(numbers))):
        return None
    whole = leaf.type not in FLOATS
    for unit, size, function in UNITS:
        if low >= FIRST * size and high <= LAST * size:
            number = column if whole or size == 1 else f"CAST({column} AS BIGINT)"
            return f"TIMESTAMP_{function}({number})", f"{unit} since 1970"
    if low >= FIRST * NANOSECONDS and high <= LAST * NANOSECONDS and whole:
        return f"TIMESTAMP_MICROS({column} DIV 1000)", "nanoseconds since 1970, of which microseconds are kept"
    return None


def _digits(leaf: Leaf, column: str) -> tuple[str, str] | None:
    """20260131 and 20260131235959, where the name says a time."""
    form = form_of([str(value) for value in leaf.there], column) if says_time(leaf.path[-1]) else None
    return None if form is None else (form.expression, f"digits like {leaf.there[0]}, {form.title}")


def _order(sample: Sample, leaf: Leaf) -> Time | None:
    """Where there is no time: a number that always grows, or one that has the name of a time and never falls. It counts
    as seconds.
    """
    named = says_time(leaf.path[-1]) == 2
    if not (is_integer(leaf.type) or (named and leaf.type in FLOATS)) or len(set(leaf.there)) < 2:
        return None
    if any(b < a or (b == a and not named) for a, b in pairwise(leaf.there)):
        return None
    if not all(abs(value) < MOST_SECONDS for value in leaf.there):
        return None
    reason = "no column is a time, and this number never falls"
    if is_integer(leaf.type) and leaf.is_column:
        values = tuple(None if value is None else value * 1_000_000 for value in leaf.values)
        return Time(leaf, None, values, named, (reason,), "a number, taken for seconds", instants=False)
    expression = f"TIMESTAMP_SECONDS({leaf.text})"
    computed = _computed(sample, (leaf,), expression)
    if computed is None:
        return None
    return Time(leaf, expression, computed, named, (reason,), "a number, taken for seconds")


def _scored(leaf: Leaf, expression: str | None, values: tuple[int | None, ...], note: str) -> Time:
    there = [value for value in values if value is not None]
    said = says_time(leaf.path[-1])
    back = sum(b < a for a, b in pairwise(there)) / max(len(there), 1)
    score = said + 2 * len(there) / len(values)
    reasons = ["its name"] if said == 2 else []
    if len(set(there)) > 1:
        score += 1 if back == 0 else 0.5 if back < 0.1 else 0
        reasons += ["the records are in its order"] if back == 0 else ["mostly in its order"] if back < 0.1 else []
    else:
        score -= 1
    score -= 1 if leaf.type == DATE else 0
    return Time(leaf, expression, values, score, tuple(reasons), note)


# ---- values ----------------------------------------------------------------------------------------------------------


def _microseconds(array: Any) -> tuple[int | None, ...] | None:
    import pyarrow as pa

    zone = getattr(array.type, "tz", None)
    try:
        return tuple(array.cast(pa.timestamp("us", zone)).cast(pa.int64()).to_pylist())
    except pa.ArrowInvalid:
        return None


def _computed(sample: Sample, leaves: Sequence[Leaf], expression: str) -> tuple[int | None, ...] | None:
    """What the expression of these gives in a program; None where it fails for some record."""
    from ..api import check_text

    used = {leaf.path[0] for leaf in leaves}
    columns = [(name, type_) for name, type_ in sample.columns if name in used]
    at = new_name("at", used)
    declared = ", ".join(f"{quoted(name)} {type_.sql}" for name, type_ in columns)
    program = check_text(f"STREAM s ({declared}, {at} AS {expression}) EVENT TIME {at};").program
    if program is None:
        return None
    try:
        table = compute(sample.table.select([name for name, _ in columns]), program.streams[0].input.computed)
    except NoValueError:
        return None
    values = _microseconds(table.column(at))
    return values if values is not None and any(value is not None for value in values) else None
