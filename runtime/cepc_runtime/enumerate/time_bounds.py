"""Conditions that bound a match in time, as WITHIN of MATCH_RECOGNIZE is said: `LAST(v.at) < FIRST(b.at) + INTERVAL …`
of every v and every b with which a match may begin. The order of events is that of numbers there, in which no two tie.

Where the column only ascends in each group and no value is null, they say together that the last event of a match is so
much later than its first at most. Then matches end in time, and nothing has to be asked of their events.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..numbers.columns import flat
from ..sql.expression import Call, Field, Literal
from ..sql.types import TIMESTAMP, TIMESTAMP_NTZ, Interval
from .pattern import IndexedPositions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..plan.positions import ConditionPlan, Positions
    from .timeline import Timeline

_LAST: Final = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class TimeBound:
    """The last event of a match is less than `span` after its first by the ticks of `timeline`, which is that of the
    events but for these. So say the conditions that are not among the `others`.
    """

    timeline: Timeline
    span: int
    others: tuple[ConditionPlan, ...]


@dataclass(frozen=True, slots=True)
class _Said:
    """Events of the variable `later` are less than `span` after the first one of `first`, by the column."""

    later: str
    first: str
    column: str
    span: int


def time_bound(
    conditions: Sequence[ConditionPlan], positions: Positions, timeline: Timeline, table: Any
) -> TimeBound | None:
    """The bound that some of the conditions are, if they are one."""
    said = {condition: found for condition in conditions if (found := _said(condition)) is not None}
    if len({(one.column, one.span) for one in said.values()}) != 1:
        return None
    one, pattern = next(iter(said.values())), IndexedPositions(positions)
    begins = {pattern.edges[number].variable for number in pattern.leaving[0]}
    alone = begins - pattern.lists(None)  # has one event
    needed = {(later, first) for first in begins for later in pattern.variables if later != first or first not in alone}
    if not needed <= {(found.later, found.first) for found in said.values()}:
        return None
    ticks = _ascending(table.column(one.column), timeline, one.span)
    if ticks is None:
        return None
    others = tuple(condition for condition in conditions if condition not in said)
    return TimeBound(replace(timeline, ticks=ticks), one.span, others)


def _said(condition: ConditionPlan) -> _Said | None:
    match condition.expression:
        case Call(
            function="<",
            arguments=(
                Field(at="last" | "each", places=0) as later,
                Call(
                    function="+",
                    arguments=(Field(at="first" | "each", places=0) as first, Literal(type=Interval()) as d),
                ),
            ),
        ):
            v, b, of_times = later.variable, first.variable, later.type in (TIMESTAMP, TIMESTAMP_NTZ)
            alike = of_times and later.column == first.column and later.type == first.type
            named = alike and condition.scope is None and v is not None and b is not None
            if named and isinstance(d.value, int) and d.value > 0:
                return _Said(str(v), str(b), later.column, d.value)
    return None


def _ascending(column: Any, timeline: Timeline, span: int) -> Any:
    """The microseconds of a column that has no null and nowhere descends in a group; None of another, and where a sum
    may not fit.
    """
    column = flat(column)
    if column.null_count or not len(column):
        return None
    ticks = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64()).to_numpy()
    falls = np.flatnonzero(np.diff(ticks) < 0) + 1
    if ticks.max() > _LAST - span or not np.isin(falls, timeline.group_starts).all():
        return None
    return ticks
