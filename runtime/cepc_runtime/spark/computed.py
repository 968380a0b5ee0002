"""Computed columns of a stream's events, by Spark's own expressions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812

from ..computed import aside
from ..types import quote_name
from .streaming.records import MALFORMED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from .schema import Stream

_NO_COMMENT: Final = re.compile(r"[^\w ]")


def with_computed(events: DataFrame, stream: Stream) -> DataFrame:
    """The events with their computed columns, each from those before it. A value that cannot be computed fails the job
    with an error of Spark's that has `mark` in it.
    """
    names = [name for name, _ in stream.computed]
    for name in events.columns:
        if (other := aside(name, names)) != name:
            events = events.withColumnRenamed(name, other)
    for name, sql in stream.computed:
        value = F.expr(f"{mark(name, stream.name)} {sql}")
        if MALFORMED in events.columns:
            value = F.when(F.col(MALFORMED).isNull(), value)
        events = events.withColumn(name, value)
    return events


def mark(column: str, stream: str) -> str:
    """A comment in an expression, with which Spark's errors about it begin."""
    return f"/* the column {_NO_COMMENT.sub('?', column)} of stream {_NO_COMMENT.sub('?', stream)} */"
