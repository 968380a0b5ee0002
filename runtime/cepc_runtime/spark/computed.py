"""Computed columns of a stream's events, by Spark's own expressions."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from ..sql.computed import ASIDE, aside
from ..sql.literal import string_literal
from ..sql.types import quote_name
from .errors import OF_RECORD
from .streaming.records import apart_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import Column, DataFrame

    from .schema import ComputedColumn, OtherColumn, Stream


def with_computed(events: DataFrame, stream: Stream) -> DataFrame:
    """The events with their computed columns, each from those before it. Time and type are had, or the job fails; what
    says so of the others is `computable`.
    """
    names, apart = [column.name for column in stream.computed], apart_in(events.columns)
    for name in events.columns:
        if (other := aside(name, names)) != name:
            events = events.withColumnRenamed(name, other)
    for column in stream.computed:
        value = F.expr(_or_refused(column, stream.name, column.sql) if column.first and column.read else column.sql)
        if apart is not None:
            value = F.when(F.col(apart).isNull(), value)
        events = events.withColumn(column.name, value)
    return events


def with_beside(events: DataFrame, columns: Iterable[OtherColumn]) -> DataFrame:
    """The events of a batch with the columns that are of others."""
    return events.select("*", *(F.expr(column.sql).alias(column.name) for column in columns))


def computable(stream: Stream) -> Column:
    """True of every event; one of which a column cannot be computed fails the job. Spark computes a column as late as
    it can, and would not miss what a condition leaves out.
    """
    checks = [
        F.expr(_or_refused(column, stream.name, "TRUE"))
        for column in stream.computed
        if column.read and not column.first
    ]
    return reduce(and_, checks, F.lit(True))


def _or_refused(column: ComputedColumn, stream: str, value: str) -> str:
    """The value, or the end of the job where the record has none."""
    said = string_literal(f"the column {column.name} of stream {stream} {OF_RECORD} ")
    sql = column.sql.replace(f"`{ASIDE}", "`")
    cure = string_literal(f" by {sql}; TRY_CAST, or a CASE around it, gives null where there is no value")
    shown = (f"{quote_name(name)} AS {quote_name(name.removeprefix(ASIDE))}" for name in column.read)
    record = f"TO_JSON(STRUCT({', '.join(shown)}))"
    return f"IF({_fails(column.sql)}, RAISE_ERROR(CONCAT({said}, {record}, {cure})), {value})"


def _fails(sql: str) -> str:
    """Whether an expression fails, as SQL. TRY_TO_BINARY is null for an error of what it is given, whatever it is, and
    a hash is never null, so it is null for nothing else.
    """
    return f"TRY_TO_BINARY(CAST(HASH({sql}) AS STRING), 'utf-8') IS NULL"
