"""From the streams of a job and the events given to the rows of each query."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .caching import of_its_own
from .forms import IN_ROWS
from .merging import merged
from .schema import JobError, Stream, conform, sources_of
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
    """What answers each stream's part of the queries (None: all), and that part; workers hand on rows in this form.

    `events` is a DataFrame where there is one stream, or one for each stream by its name; where it is missing, the
    stream's own source is read. Raises JobError.
    """
    chosen = known_queries([part.stream for part in parts], queries)
    wanted = [(part, own) for part in parts if (own := chosen.intersection(part.stream.queries))]
    streams = [part.stream for part, _ in wanted]
    alone = {stream.name for stream in streams if not stream.members}
    of_several = {name: one for name, one in (dropped or {}).items() if name not in alone}
    given = events_of(spark, streams, events, of_several)
    return [
        (part.results(frame, own, (dropped or {}).get(part.stream.name), form), own)
        for (part, own), frame in zip(wanted, given, strict=True)
    ]


def known_queries(streams: Sequence[Stream], queries: Collection[str] | None) -> frozenset[str]:
    """Those with these names (None: all). Raises JobError where there is none of a name."""
    known = [name for stream in streams for name in stream.queries]
    chosen = frozenset(known if queries is None else queries)
    if unknown := sorted(chosen.difference(known)):
        raise JobError(f"there is no query {unknown[0]}; there are {', '.join(known)}")
    return chosen


def events_of(
    spark: SparkSession,
    streams: Sequence[Stream],
    events: DataFrame | Mapping[str, DataFrame] | None,
    dropped: Mapping[str, Observation] | None = None,
) -> list[DataFrame]:
    """The events of each stream in its declared columns, given or from its own source; of several in those of all.
    `dropped` observes what is dropped of those that stand in such a stream alone. Raises JobError.
    """
    sources = sources_of(streams)
    given = given_events(sources, events)
    frames = {s.name: conform(given[s.name], s) if s.name in given else declared(spark, s) for s in sources}
    left, found = dict(dropped or {}), []
    for stream in streams:
        if stream.members:
            own = {s.name: left.pop(s.name) for s in stream.sources if s.name in left}
            found.append(of_its_own(merged(frames, stream, own)))
        else:
            found.append(of_its_own(frames[stream.name]))
    return found


def given_events(streams: Sequence[Stream], events: Any) -> dict[str, DataFrame]:
    """Events by stream, of one DataFrame where there is one stream. Raises JobError."""
    if events is None:
        return {}
    names = [stream.name for stream in sources_of(streams)]
    if isinstance(events, Mapping):
        return dict(events)
    if len(names) != 1:
        raise JobError(f"the queries read several streams: give a dict with events for {', '.join(names)}")
    return {names[0]: events}


def declared(spark: SparkSession, stream: Stream) -> DataFrame:
    """The events where the stream's FROM says. Raises JobError."""
    if stream.source is None:
        raise JobError(f"no events are named for stream {stream.name}, and it is not declared with FROM")
    return read(spark, stream, *stream.source, dict(stream.options))
