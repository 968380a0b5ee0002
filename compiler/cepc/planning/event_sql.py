"""Columns of an event, and its time in ticks, as Spark SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.sql.types import DATE, TIMESTAMP, TIMESTAMP_NTZ, DataType, quote_name

if TYPE_CHECKING:
    from cepc_runtime.plan.stream import StreamPlan
    from cepc_runtime.sql.expression import Aggregate, Field


def column_of(leaf: Field | Aggregate) -> str:
    """The column of a field of the event at hand."""
    name = getattr(leaf, "column", None)
    assert isinstance(name, str), leaf
    return name


def ticks(stream: StreamPlan, time: DataType) -> str:
    """The event time in ticks."""
    column = quote_name(stream.time_column)
    if time == TIMESTAMP:
        return f"UNIX_MICROS({column})"
    if time == TIMESTAMP_NTZ:  # jobs run in UTC
        return f"UNIX_MICROS(CAST({column} AS TIMESTAMP))"
    return f"UNIX_DATE({column})" if time == DATE else f"CAST({column} AS BIGINT)"
