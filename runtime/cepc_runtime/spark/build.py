"""From the streams of a job and the events given to the rows of each query."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812

from .rows import ERROR
from .schema import JobError, Stream, conform
from .source import read

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Observation, SparkSession

    from .answers import Answers

Results = Callable[..., "Answers"]
"""`(events, queries, dropped) -> answers`: the part of a job that is about one stream."""


def build(
    spark: SparkSession,
    streams: Sequence[tuple[Stream, Results]],
    events: DataFrame | Mapping[str, DataFrame] | None,
    queries: Collection[str] | None,
    dropped: Mapping[str, Observation] | None,
) -> dict[str, DataFrame]:
    """A DataFrame for each query, in the order of the program, or for those of `queries`.

    Nothing runs before somebody asks for rows. `events` and errors are those of `answered`.
    """
    found: dict[str, DataFrame] = {}
    for answers, chosen in answered(spark, streams, events, queries, dropped):
        found |= answers.frames(chosen)
    return _in_order(found, streams)


def tables(
    spark: SparkSession,
    streams: Sequence[tuple[Stream, Results]],
    events: DataFrame | Mapping[str, DataFrame] | None,
    queries: Collection[str] | None,
    dropped: Mapping[str, Observation] | None,
) -> dict[str, Any]:
    """A table of Arrow for each query, as for `build`."""
    found: dict[str, Any] = {}
    for answers, chosen in answered(spark, streams, events, queries, dropped):
        found |= answers.tables(chosen)
    return _in_order(found, streams)


def _in_order(found: dict[str, Any], streams: Sequence[tuple[Stream, Results]]) -> dict[str, Any]:
    return {name: found[name] for stream, _ in streams for name in stream.queries if name in found}


def answered(
    spark: SparkSession,
    streams: Sequence[tuple[Stream, Results]],
    events: DataFrame | Mapping[str, DataFrame] | None,
    queries: Collection[str] | None,
    dropped: Mapping[str, Observation] | None,
) -> list[tuple[Answers, frozenset[str]]]:
    """What answers each stream's part of the queries (None: all), and that part.

    `events` is a DataFrame where there is one stream, or one for each stream by its name; where it is missing, the stream's
    own source is read. Raises JobError.
    """
    check_session(spark, [stream for stream, _ in streams])
    known = {name for stream, _ in streams for name in stream.queries}
    chosen = frozenset(known if queries is None else queries)
    if unknown := sorted(chosen - known):
        every = ", ".join(name for stream, _ in streams for name in stream.queries)
        raise JobError(f"there is no query {unknown[0]}; there are {every}")
    wanted = [(stream, results, part) for stream, results in streams if (part := chosen.intersection(stream.queries))]
    given = given_events([stream for stream, _, _ in wanted], events)
    found = []
    for stream, results, part in wanted:
        frame = conform(given[stream.name], stream) if stream.name in given else declared(spark, stream)
        found.append((results(frame, part, (dropped or {}).get(stream.name)), part))
    return found


def check_session(spark: SparkSession, streams: Iterable[Stream]) -> None:
    """Spark evaluates some expressions and the kernel others: they must mean the same. Raises JobError."""
    if str(spark.conf.get("spark.sql.ansi.enabled", "true")).lower() != "true":
        raise JobError("the queries have ANSI semantics: set spark.sql.ansi.enabled to true, as it is by default")
    zone = spark.conf.get("spark.sql.session.timeZone", "UTC")
    if zone not in ("UTC", "Etc/UTC", "GMT", "Z", "+00:00"):
        raise JobError(f"the queries are computed in UTC: set spark.sql.session.timeZone to UTC (it is {zone})")
    verbatim = [stream.name for stream in streams if "${" in stream.schema.simpleString()]
    if verbatim and str(spark.conf.get("spark.sql.variable.substitute", "true")).lower() != "false":
        raise JobError(
            f"stream {verbatim[0]} has a column with `${{` in its name, which Spark would replace: set "
            "spark.sql.variable.substitute to false"
        )


def given_events(streams: Sequence[Stream], events: Any) -> dict[str, DataFrame]:
    """Events by stream, of one DataFrame where there is one stream. Raises JobError."""
    if events is None:
        return {}
    names = [stream.name for stream in streams]
    if isinstance(events, Mapping):
        return dict(events)
    if len(names) != 1:
        raise JobError(f"the queries read several streams: give a dict with events for {', '.join(names)}")
    return {names[0]: events}


def declared(spark: SparkSession, stream: Stream) -> DataFrame:
    """The events where the stream's FROM says. Raises JobError."""
    if stream.source is None:
        raise JobError(f"no events are named for stream {stream.name}, and it is not declared with FROM")
    return read(spark, stream, *stream.source)


def no_error() -> Column:
    """True of a row of results; a row that is an error fails the job with its text alone."""
    error = F.col(ERROR)
    return F.when(error.isNull(), F.lit(True)).otherwise(F.raise_error(error).cast("boolean"))
