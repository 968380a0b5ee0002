"""Some matches of a query, also of one whose matches are only counted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from ..enumerate.arranged import arrange_for
from ..enumerate.budget import budget_of
from ..enumerate.matches import MatchRows
from ..events.grouped import read, times_of
from ..events.letters import classify
from ..events.sessions import SESSION, cut_into_sessions, in_sessions
from ..events.stretch import Stretch
from ..plan.positions import pattern_letters
from ..plan.select import SelectContiguous
from ..plan.windows import Sessions, Sliding
from ..sql.types import STRING, Array, quote_name, to_arrow
from . import settings
from .build import events_for, known_queries
from .encoding import decoded, encoded
from .events import has_letter
from .rows import ERROR, no_error, result_columns
from .slices import slices
from .worker import USER_ERRORS, prepared, settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from ..enumerate.arranged import Arranged
    from ..enumerate.standing import Frames, Matches
    from ..events.grouped import Reading
    from ..plan.physical import PhysicalPlan
    from ..plan.query import QueryPlan
    from ..plan.strategy import PhysicalQuery
    from ..plan.stream import StreamPlan
    from ..sql.types import DataType
    from .stream_part import StreamPart

LIMIT: Final = 20
BLOCK: Final = 64
"""Partial matches held at once for each event of a match: few, for few matches are wanted."""


def matches_of(
    spark: SparkSession,
    parts: Sequence[StreamPart],
    name: str,
    events: DataFrame | Mapping[str, DataFrame] | None,
    limit: int,
) -> DataFrame:
    """As `Job.matches`."""
    known_queries([part.stream for part in parts], [name])
    part, frame = events_for(spark, parts, name, events)
    plans = {text: prepared(text)[0] for text in part.streamed.plans}
    text, query = next((text, q) for text, plan in plans.items() for q in plan.queries if q.name == name)
    found = part.events(frame)
    if not isinstance(query.select, SelectContiguous):
        asked = {
            *pattern_letters(query.positions),
            *(query.window.letters if isinstance(query.window, Sessions) else ()),
        }
        found = found.where(has_letter(len(part.streamed.letters), sorted(asked)))
    stream = plans[text].stream
    keys = [F.col(quote_name(key)) for key in _keys(query)]
    order = [F.col(quote_name(column)) for column in (stream.time_column, *stream.order_by)]
    schema = ", ".join(f"{quote_name(column)} {type_.sql}" for column, type_ in _columns(query, stream))
    return (
        (found.repartition(*keys) if keys else found.repartition(1))
        .sortWithinPartitions(*keys, *order)
        .transform(encoded)
        .mapInArrow(_probe(text, name, limit, settings.most()), schema)
        .where(no_error())
        .drop(ERROR)
        .limit(limit)
    )


def _keys(query: QueryPlan) -> tuple[str, ...]:
    """By which events are brought together: sessions are of a group, whatever else its matches agree on."""
    return query.group_by if isinstance(query.window, Sessions) else query.partition


def _shown(query: QueryPlan) -> QueryPlan:
    """A query whose rows are the events of its matches."""
    having = query.having if query.kind == "match" else None  # an aggregate's is about groups
    return replace(query, kind="match", outputs=(), measures=(), having=having, returns_events=True, each=False)


def _columns(query: QueryPlan, stream: StreamPlan) -> list[tuple[str, DataType]]:
    windows = isinstance(query.window, Sliding | Sessions)
    time = dict(stream.columns)[stream.time_column]
    found = [(ERROR, STRING), *result_columns(_shown(query), stream)]
    return [*found, ("windows", Array(time))] if windows else found


def _probe(text: str, name: str, limit: int, most: int) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """The function for `mapInArrow`, over events sorted by partition and time; it stops at the limit."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        plan, _ = prepared(text)
        query = next(q for q in plan.queries if q.name == name)
        columns = _columns(query, plan.stream)
        schema = pa.schema([(column, to_arrow(type_)) for column, type_ in columns])
        left = limit
        try:
            for part in slices(decoded(batches), _keys(query), plan.stream.time_column, None):
                reading = read(part.table, plan.stream)
                for table in _tables(*_arranged(reading, plan, query), most):
                    some = table.slice(0, left)
                    values = [pa.nulls(some.num_rows, pa.string()), *some.columns]
                    yield from pa.table(
                        [c.cast(f.type) for c, f in zip(values, schema, strict=True)], schema
                    ).to_batches()
                    left -= some.num_rows
                    if left <= 0:
                        return
        except USER_ERRORS as error:
            nothing = [pa.nulls(1, field.type) for field in list(schema)[1:]]
            yield pa.RecordBatch.from_arrays([pa.array([str(error)]), *nothing], schema=schema)
        finally:
            settled()

    return run


def _arranged(reading: Reading, plan: PhysicalPlan, query: PhysicalQuery) -> tuple[Arranged, PhysicalQuery]:
    """The events for the query; over sessions, for the query whose groups they are."""
    kinds = classify(reading, plan.letters)
    if isinstance(query.window, Sessions):
        stretch, kinds = cut_into_sessions(Stretch(plan, reading), kinds, query.window, query.group_by)
        reading, query = stretch.reading, in_sessions(query)
    return arrange_for(reading, kinds, plan.stream, [query]), query


def _tables(arranged: Arranged, query: QueryPlan, most: int) -> Iterator[Any]:
    """The matches of a query as rows, batch by batch."""
    enumerator = arranged.enumerator(query, BLOCK, budget_of(query, most))
    rows = MatchRows(_shown(query), arranged.stream, enumerator.evaluator)
    time = to_arrow(dict(arranged.stream.columns)[arranged.stream.time_column])
    if SESSION[0] in query.partition:
        for matches in enumerator.matches():
            starts = np.asarray(enumerator.evaluator.take(SESSION[0], matches.positions[0]).to_numpy())
            offsets = np.arange(len(matches) + 1, dtype=np.int32)
            windows = pa.ListArray.from_arrays(pa.array(offsets), times_of(starts, time))
            yield rows.table(matches).append_column("windows", windows)
        return
    if not isinstance(query.window, Sliding):
        yield from map(rows.table, enumerator.matches())
        return
    for matches, frames in enumerator.standing_matches():
        yield rows.table(matches).append_column("windows", _starts(query.window, matches, frames, time))


def _starts(window: Sliding, matches: Matches, frames: Frames, time: Any) -> Any:
    """Where the windows begin that hold each match."""
    order = np.lexsort((frames.window, frames.row))
    offsets = np.searchsorted(frames.row[order], np.arange(len(matches) + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), times_of(window.begin(frames.window[order]), time))
