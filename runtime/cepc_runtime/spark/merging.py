"""The events of several streams as one, for the queries that see them together."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from ..sql.types import quote_name
from .computed import computable, with_computed
from .events import absent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame, Observation

    from .schema import JobMember, Stream


def merged(frames: Mapping[str, DataFrame], stream: Stream, dropped: Mapping[str, Observation]) -> DataFrame:
    """The events of the stream's members, in the columns of all. What is dropped of some of them is observed here."""
    return reduce(
        lambda left, right: left.unionByName(right),
        (_of_member(frames[m.stream.name], m, dropped.get(m.stream.name)) for m in stream.members),
    )


def _of_member(events: DataFrame, member: JobMember, dropped: Observation | None) -> DataFrame:
    events = wanted(with_computed(events, member.stream), member)
    if any(column.read and not column.first for column in member.stream.computed):
        events = events.where(computable(member.stream))
    if dropped is not None:
        time, *types = member.stream.required
        events = events.observe(dropped, *absent(time, types[0] if types else None))
    return in_columns_of_all(events, member)


def in_columns_of_all(events: DataFrame, member: JobMember, *more: Column) -> DataFrame:
    """The member's events, with its columns computed, in the columns of all streams."""
    return events.select(*(F.expr(sql).alias(name) for name, sql in member.columns), *more)


def wanted(events: DataFrame, member: JobMember) -> DataFrame:
    """Those of the types that some query asks for, and those without a time or a type, which are counted."""
    if member.types is None or len(member.stream.required) < 2:
        return events
    time, type_ = (F.col(quote_name(name)) for name in member.stream.required)
    tests = (type_.cast("string").isin(*member.types), type_.isNull(), time.isNull())
    return events.where(reduce(or_, tests))
