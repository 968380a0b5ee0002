"""From the streams of a job and the events given to the rows of each query."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .caching import of_its_own
from .forms import IN_ROWS
from .merging import merged
from .schema import JobError, Stream, conform, declared_of, needed, rows_needed, sources_of
from .source import read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession

    from .forms import Form
    from .query_results import Answers
    from .stream_part import StreamPart


def in_order(found: dict[str, Any], streams: Iterable[Stream]) -> dict[str, Any]:
    """What was found for queries, in the order of the program."""
    return {name: found[name] for stream in streams for name in stream.queries if name in found}


def answered(
    spark: SparkSession,
    parts: Sequence[StreamPart],
    events: DataFrame | Mapping[str, DataFrame] | None,
    queries: Collection[str] | None,
    dropped: Mapping[str, Observation] | None,
    form: Form = IN_ROWS,
) -> list[tuple[Answers, frozenset[str]]]:
    """What answers each stream's part of the queries (None: all), and that part; workers hand on rows in this form,
    which is `IN_ROWS` where rows of some are the events of others.

    `events` is a DataFrame where there is one stream, or one for each stream by its name; where it is missing, the
    stream's own source is read. Raises JobError.
    """
    streams = [part.stream for part in parts]
    chosen = known_queries(streams, queries)
    looked_at = {stream.name: stream for stream in needed(streams, chosen)}
    made_of = rows_needed(streams, chosen)
    alone = {stream.name for stream in looked_at.values() if not stream.members}
    of_several = {name: one for name, one in (dropped or {}).items() if name not in alone}
    inputs = JobEvents(spark, tuple(looked_at.values()), events, of_several)
    found: list[tuple[Answers, frozenset[str]]] = []
    for part in (one for one in parts if one.stream.name in looked_at):
        own, more = chosen.intersection(part.stream.queries), made_of.intersection(part.stream.queries)
        answers = part.results(
            inputs.of(looked_at[part.stream.name]), own | more, (dropped or {}).get(part.stream.name), form
        )
        if more:
            answers = answers.read_again(own | more)
            inputs.add_rows(answers.frames(more))
        found.append((answers, own))
    return found


def known_queries(streams: Sequence[Stream], queries: Collection[str] | None) -> frozenset[str]:
    """Those with these names (None: all). Raises JobError where there is none of a name."""
    known = [name for stream in streams for name in stream.queries]
    chosen = frozenset(known if queries is None else queries)
    if unknown := sorted(chosen.difference(known)):
        raise JobError(f"there is no query {unknown[0]}; there are {', '.join(known)}")
    return chosen


class JobEvents:
    """The events of streams of a job, in turn: rows of its queries are among them, as soon as they are there."""

    def __init__(
        self,
        spark: SparkSession,
        streams: Sequence[Stream],
        events: DataFrame | Mapping[str, DataFrame] | None,
        dropped: Mapping[str, Observation] | None = None,
    ) -> None:
        """`dropped` observes what is dropped of those that stand in one of several alone. Raises JobError."""
        sources = sources_of(streams)
        given = given_events(streams, events)
        if streaming := next((name for name, frame in given.items() if frame.isStreaming), None):
            raise JobError(
                f"the events of stream {streaming} are streaming: `stream` of a job answers its queries, or `spark` of"
                " a compiled program"
            )
        self._frames = {s.name: conform(given[s.name], s) if s.name in given else declared(spark, s) for s in sources}
        self._rows = [stream for stream in declared_of(streams) if stream.query is not None]
        self._dropped = dict(dropped or {})

    def add_rows(self, rows: Mapping[str, DataFrame]) -> None:
        """The rows of queries, of which there are streams."""
        for stream in self._rows:
            if (found := rows.get(stream.query or "")) is not None:
                self._frames[stream.name] = conform(found, stream)

    def of(self, stream: Stream) -> DataFrame:
        """In the stream's declared columns, given or from its own source; of several in those of all."""
        if not stream.members:
            return of_its_own(self._frames[stream.name])
        own = {s.name: self._dropped.pop(s.name) for s in stream.sources if s.name in self._dropped}
        return of_its_own(merged(self._frames, stream, own))


def events_for(
    spark: SparkSession,
    parts: Sequence[StreamPart],
    query: str,
    events: DataFrame | Mapping[str, DataFrame] | None,
) -> tuple[StreamPart, DataFrame]:
    """The part of a job that answers a query, and the events that it looks at. Raises JobError."""
    streams = [part.stream for part in parts]
    looked_at = {stream.name: stream for stream in needed(streams, [query])}
    inputs = JobEvents(spark, tuple(looked_at.values()), events)
    made_of = rows_needed(streams, [query])
    for part in (one for one in parts if one.stream.name in looked_at):
        found = inputs.of(looked_at[part.stream.name])
        if query in part.stream.queries:
            return part, found
        more = made_of.intersection(part.stream.queries)
        inputs.add_rows(part.results(found, more, None, IN_ROWS).frames(more))
    raise JobError(f"there is no query {query}")


def given_events(streams: Sequence[Stream], events: Any) -> dict[str, DataFrame]:
    """Events by stream, of one DataFrame where one stream is read. Raises JobError."""
    if events is None:
        return {}
    made = {stream.name: stream.query for stream in declared_of(streams) if stream.query is not None}
    if isinstance(events, Mapping) and (wrong := next((name for name in events if name in made), None)):
        raise JobError(f"the events of stream {wrong} are the rows of the query {made[wrong]}: none are given")
    names = [stream.name for stream in sources_of(streams)]
    if isinstance(events, Mapping):
        return dict(events)
    if len(names) != 1:
        raise JobError(f"the queries read several streams: give a dict with events for {', '.join(names)}")
    return {names[0]: events}


def declared(spark: SparkSession, stream: Stream) -> DataFrame:
    """The events where the stream's FROM says. Raises JobError."""
    return read(spark, stream, *stream.declared_source, dict(stream.options))
