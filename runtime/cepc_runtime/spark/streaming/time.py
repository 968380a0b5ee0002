"""The event time that Spark's watermark sees.

Spark has watermarks in milliseconds, begins with that of 1970, and believes every time it is shown. So it is shown a
column of its own: the event time counted from the year 1, without the times that are ahead of the clock by more than
the job allows.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812

from ...plan.stream import MILLISECONDS
from ...sql.types import quote_name
from .records import MALFORMED

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from ...plan.stream import StreamPlan

TIME: Final = "_cepc_time"
SHIFT: Final = 62_135_596_800_000
"""Milliseconds from the year 1 to 1970."""


def ticks_sql(plan: StreamPlan) -> str:
    """The event time in ticks."""
    column = quote_name(plan.time_column)
    match dict(plan.columns)[plan.time_column].sql:
        case "DATE":
            return f"CAST(UNIX_DATE({column}) AS BIGINT)"
        case "TIMESTAMP" | "TIMESTAMP_NTZ":
            return f"UNIX_MICROS(CAST({column} AS TIMESTAMP))"
    return f"CAST({column} AS BIGINT)"


def timed(events: DataFrame, plan: StreamPlan, delay: int, ahead: int) -> DataFrame:
    """The events with a watermark of `delay` milliseconds, which every event moves, looked at by a query or not, unless
    it is `ahead` milliseconds ahead of the clock.
    """
    ticks = ticks_sql(plan)
    if plan.unit == "us":
        millis = f"(GREATEST({ticks}, {-SHIFT}000L) + {SHIFT}000L) DIV 1000L"
    else:
        one = MILLISECONDS[plan.unit]
        millis = f"(GREATEST({ticks}, {-SHIFT // one}L) + {SHIFT // one}L) * {one}L"
    moves = F.when(_ahead_of_clock(plan, ahead), F.expr("TIMESTAMP_MILLIS(-1L)")).otherwise(
        F.expr(f"TIMESTAMP_MILLIS({millis})")
    )
    time = F.col(quote_name(plan.time_column))
    found = events.withColumn(TIME, F.when(time.isNotNull(), moves)).withWatermark(TIME, f"{delay} milliseconds")
    # That other columns depend on the time keeps filters on them behind the watermark, where Spark would push them
    # before it.
    return found.select(
        *(
            F.col(quote_name(name))
            if name in (plan.time_column, MALFORMED)
            else F.when(F.col(TIME).isNotNull(), F.col(quote_name(name))).alias(name)
            for name in events.columns
        ),
        TIME,
    )


def is_ahead() -> Column:
    """Of an event that is `timed`: is it too far ahead of the clock?"""
    return F.expr(f"COALESCE({TIME} < TIMESTAMP_MILLIS(0L), FALSE)")


def _ahead_of_clock(plan: StreamPlan, ahead: int) -> Column:
    """All events of a micro-batch see one clock, also when it is run again.

    Spark writes the clock's time into the code that it generates, which it would translate, and the JVM begin to
    compile, anew in each micro-batch. What ZIP_WITH does is no part of that code.
    """
    limit = f"(UNIX_MILLIS(CURRENT_TIMESTAMP()) + {ahead}L)"
    limit = f"{limit} * 1000L" if plan.unit == "us" else f"{limit} DIV {MILLISECONDS[plan.unit]}L"
    apart = f"ELEMENT_AT(ZIP_WITH(ARRAY(0), ARRAY(0), (a, b) -> {limit}), 1)"
    return F.expr(f"COALESCE({ticks_sql(plan)} > {apart}, FALSE)")


def watermark_in_ticks(plan: StreamPlan, shown: int, shift: int = SHIFT) -> int:
    """The first tick that Spark's watermark has not passed, in milliseconds of a column that counts from so many before
    1970.
    """
    millis = shown - shift
    return millis * 1000 if plan.unit == "us" else -(-millis // MILLISECONDS[plan.unit])


def first_after(plan: StreamPlan, shown: int, delay: int) -> int:
    """The first tick after all events that were read, where that is Spark's watermark and they were read with delays of
    so many milliseconds at most: a watermark never goes back, so none of them is later than the delay after it.
    """
    return watermark_in_ticks(plan, shown + delay + 1)


def millis_of(plan: StreamPlan, tick: int) -> int:
    """From 1970 on."""
    return tick // 1000 if plan.unit == "us" else tick * MILLISECONDS[plan.unit]


def shown(millis: int) -> str:
    """A time as text."""
    return datetime.fromtimestamp(millis / 1000, UTC).isoformat().replace("+00:00", "Z")


def timer_for(plan: StreamPlan, tick: int, shift: int = SHIFT) -> int:
    """The smallest watermark of Spark's that is at `tick` or after it, and after Spark's first one: a timer of before
    that would never be looked at.
    """
    millis = -(-tick // 1000) if plan.unit == "us" else (tick - 1) * MILLISECONDS[plan.unit] + 1
    return min(max(millis + shift, 1), (1 << 63) - 1)
