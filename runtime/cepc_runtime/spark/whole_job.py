"""A generated job as a value: the ways to run it, over all of its streams."""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..cheap_dataclass import dataclass
from . import main as command_line
from .build import answered, in_order, known_queries
from .forms import IN_ROWS
from .probe import LIMIT, matches_of
from .schema import JobError, rows_needed
from .settings import with_meaning
from .streaming.starting import stream as run_stream
from .streaming.terms import DAY, EVERY, Folders, Terms

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pyspark.sql import DataFrame, Observation, SparkSession

    from .files import Files
    from .schema import Stream
    from .stream_part import StreamPart
    from .streaming.query import Streamed
    from .streaming.running import Running
    from .streaming.sinks import Sink


@dataclass(frozen=True)
class Job:
    """`parts` answer the queries in a batch, and `streamed` are they continuously: where queries over fewer streams
    share work with those over more, they do so in a batch alone.
    """

    parts: Sequence[StreamPart]
    streamed: Sequence[Streamed]

    @cached_property
    def streams(self) -> tuple[Stream, ...]:
        return tuple(part.stream for part in self.parts)

    def build(
        self,
        spark: SparkSession,
        events: DataFrame | Mapping[str, DataFrame] | None = None,
        queries: Collection[str] | None = None,
        dropped: Mapping[str, Observation] | None = None,
    ) -> dict[str, DataFrame]:
        """The rows of each query, or of those of `queries`, as a DataFrame; nothing runs before rows are asked for.

        `events` are the events of the stream, or of each stream by its name; by default they are read from where the
        program says. `dropped` observes how many rows were no events, for each stream. What several queries share is
        cached as soon as one of them runs, until `spark.catalog.clearCache()` or the end of the session. Raises
        JobError.
        """
        found: dict[str, DataFrame] = {}
        with with_meaning(spark, self.streams):
            for answers, chosen in answered(spark, self.parts, events, queries, dropped):
                found |= answers.frames(chosen)
        return in_order(found, self.streams)

    def tables(
        self,
        spark: SparkSession,
        events: DataFrame | Mapping[str, DataFrame] | None = None,
        queries: Collection[str] | None = None,
        dropped: Mapping[str, Observation] | None = None,
    ) -> dict[str, Any]:
        """The same rows as Arrow tables on the driver. One Spark job answers all queries, which is faster than one
        after another.
        """
        found: dict[str, Any] = {}
        with with_meaning(spark, self.streams):
            every = answered(spark, self.parts, events, queries, dropped)
            try:
                for answers, chosen in every:
                    found |= answers.tables(chosen)
            finally:
                for answers, _ in every:
                    if answers.is_read_again:
                        answers.forget()
        return in_order(found, self.streams)

    def stream(
        self,
        spark: SparkSession,
        checkpoint: str,
        sink: Sink,
        events: DataFrame | Mapping[str, DataFrame] | None = None,
        queries: Collection[str] | None = None,
        *,
        trigger: str = EVERY,
        late: str | None = None,
        buckets: int | None = None,
        dead: str | None = None,
        ahead: timedelta = timedelta(milliseconds=DAY),
        change: bool = False,
    ) -> list[Running]:
        """Answer the queries continuously: `sink(query, rows, batch)` gets the rows of each query and micro-batch.

        `late` and `dead` are folders for events that take no part and records that are no events; without `dead` such a
        record stops the job. An event so far `ahead` of the clock is dropped. With `change` the queries may be others
        than those of the checkpoint: those that are the same go on, and new ones begin with the next events.

        After a restart it may get the rows of a batch again, the same ones, and must then write nothing twice. Raises
        JobError.
        """
        if buckets is not None and (not isinstance(buckets, int) or buckets < 1):
            raise JobError(f"buckets={buckets!r}: write a whole number from 1 on")
        if not isinstance(ahead, timedelta):
            raise JobError(f"ahead={ahead!r}: write a timedelta, timedelta(hours=1), say")
        folders, millis = Folders(checkpoint, late, dead), ahead // timedelta(milliseconds=1)
        terms = Terms(folders, trigger, buckets, millis, change)
        return run_stream(spark, self.streamed, sink, terms, events, queries)

    def matches(
        self,
        spark: SparkSession,
        query: str,
        events: DataFrame | Mapping[str, DataFrame] | None = None,
        limit: int = LIMIT,
    ) -> DataFrame:
        """Some matches of a query, `limit` at most, as a DataFrame: to see what an aggregate counts.

        A row has the events of a match with the columns that the job reads, the first and the last time, and the
        beginnings of the windows in which an aggregate query counts it. Which matches are shown is not promised. Raises
        JobError.
        """
        with with_meaning(spark, self.streams):
            return matches_of(spark, self.parts, query, events, limit)

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Run the job as the command line says: 0, or 1 after a sentence on standard error."""
        return command_line.main(argv, self.parts, self.streamed, self.build, self.write)

    def write(
        self,
        spark: SparkSession,
        events: DataFrame | Mapping[str, DataFrame] | None,
        queries: Collection[str] | None,
        dropped: Mapping[str, Observation] | None,
        files: Files,
    ) -> None:
        """The same rows as `build`, in files. Raises JobError."""
        with with_meaning(spark, self.streams):
            chosen = known_queries(self.streams, queries)
            alone = not rows_needed(self.streams, chosen)
            form = files.form_of_rows(spark, self.parts, chosen) if alone else IN_ROWS
            for answers, own in answered(spark, self.parts, events, chosen, dropped, form):
                files.write(answers, own, form)
