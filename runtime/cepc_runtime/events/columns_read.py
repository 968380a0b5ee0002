"""Which columns of events are read once it is known which letters they satisfy: no others are brought into order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..plan.strategy import CountNeighbours, has_neighbours, is_counted
from ..sql.expression import fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..plan.strategy import CountedQuery, PhysicalQuery
    from ..plan.stream import StreamPlan
    from .grouped import Reading


def needs_canonical(query: PhysicalQuery) -> bool:
    """Whether a counted query asks which event of an instant is the last."""
    return has_neighbours(query) and bool(query.automaton.ties)


def narrowed(reading: Reading, stream: StreamPlan, queries: Sequence[PhysicalQuery]) -> Reading:
    """The events with the columns alone that counting reads. All of them where some matches are listed, or where the
    canonical order compares all.
    """
    read = set(stream.order_by)
    for query in queries:
        if not is_counted(query) or needs_canonical(query):
            return reading
        read.update(_read(query))
    # A table without columns would not know how many rows it has.
    names = [name for name in reading.table.column_names if name in read] or [stream.time_column]
    return replace(reading, table=reading.table.select(names))


def _read(query: CountedQuery) -> Iterator[str]:
    yield from query.partition
    arguments = [measure.argument for measure in query.measures if measure.argument is not None]
    conditions = query.strategy.conditions if isinstance(query.strategy, CountNeighbours) else ()
    for expression in (*arguments, *(condition.expression for condition in conditions)):
        yield from (field.column for field in fields(expression))
