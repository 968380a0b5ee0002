"""A stream from its start to its end: checkpoint, query, progress, flush."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F  # noqa: N812

from ..build import check_session, given_events
from ..rows import Packing, layout_of
from ..schema import JobError
from ..sinks import path_of
from . import checkpoint
from .blobs import BLOB, unpack
from .operator import flush
from .query import continuous, no_error, prepare_session
from .sinks import FLUSHED, Writing
from .source import checked, declared
from .time import SHIFT

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from .query import Continuous, Streamed
    from .sinks import Sink

POLL: Final = 0.2
BUCKETS: Final = 32
DAY: Final = 86_400_000
Report = Callable[[dict[str, Any]], None]


@dataclass
class Running:
    """A stream that runs. `query` is Spark's own handle."""

    query: Any
    spark: SparkSession
    what: Continuous
    identity: dict[str, Any]
    folder: str
    writing: Writing
    _reported: int = -1

    def report(self, to: Report) -> None:
        """The micro-batches that have ended since it was last asked."""
        for progress in self.query.recentProgress:
            if progress["batchId"] > self._reported and progress["batchId"] in self.writing.done:
                self._reported = progress["batchId"]
                to(_line(self.what, progress, self.writing.done.pop(self._reported)))

    def flush(self, to: Report) -> None:
        """What is still open, as at the end of a batch; the checkpoint is ended by it."""
        answering = self.what.answering(checkpoint.fingerprint(self.identity))
        states = self.spark.read.format("statestore").option("stateVarName", "state").load(self.folder)
        rows = (
            states.select(F.col("value.blob").alias("blob"))
            .mapInArrow(flush(answering), BLOB)
            .mapInArrow(unpack(Packing.of(layout_of(self.what.plan))), self.what.schema())
            .where(no_error())
        )
        self.writing(rows, FLUSHED)
        done = self.writing.done.pop(FLUSHED)
        checkpoint.end(self.spark, self.folder)
        to({"stream": self.what.streamed.stream.name, "flush": True, "out": done["out"]})


def start(
    what: Continuous,
    events: DataFrame,
    folder: str,
    sink: Sink,
    trigger: dict[str, Any],
    late: str | None = None,
    dead: str | None = None,
) -> Running:
    """Begin, or go on where the checkpoint stands. Raises JobError."""
    spark = events.sparkSession
    prepare_session(spark, what.buckets)
    identity = checkpoint.identity(what)
    checkpoint.claim(spark, folder, identity)
    writing = Writing(what, sink, late, dead)
    rows = what.rows(events, checkpoint.fingerprint(identity), dead is not None)
    name = f"cepc {what.streamed.stream.name}"
    writer = rows.writeStream.queryName(name).foreachBatch(writing).option("checkpointLocation", folder)
    return Running(writer.trigger(**trigger).start(), spark, what, identity, folder, writing)


def stream(
    spark: SparkSession,
    streams: Sequence[Streamed],
    folder: str,
    sink: Sink,
    events: DataFrame | Mapping[str, DataFrame] | None = None,
    queries: Collection[str] | None = None,
    *,
    trigger: str = "10 seconds",
    late: str | None = None,
    dead: str | None = None,
    buckets: int | None = None,
    ahead: int = DAY,
) -> list[Running]:
    """Start a streaming query for each stream of a job that has some of the queries; checkpoints are in `folder`, by stream.

    `events` are streaming DataFrames, one or by stream; where there is none, the stream's own source is read. Raises JobError, and
    nothing runs then.
    """
    check_session(spark, [one.stream for one in streams])
    known = [name for one in streams for name in one.stream.queries]
    names = known if queries is None else list(queries)
    if unknown := [name for name in names if name not in known]:
        raise JobError(f"there is no query {unknown[0]}; there are {', '.join(known)}")
    wanted = [one for one in streams if set(names) & set(one.stream.queries)]
    given = given_events([one.stream for one in wanted], events)
    started: list[Running] = []
    try:
        for one in wanted:
            own = path_of(folder, one.stream.name)
            what = continuous(one, names, buckets or checkpoint.buckets_of(spark, own) or BUCKETS, ahead)
            frame = (
                checked(given[one.stream.name], one.stream) if one.stream.name in given else declared(spark, one.stream)
            )
            lost = [folder and path_of(folder, one.stream.name) for folder in (late, dead)]
            started.append(start(what, frame, own, sink, trigger_of(trigger), *lost))
    except BaseException:
        for running in started:
            running.query.stop()
        raise
    return started


def wait(streams: list[Running], to: Report) -> None:
    """Until all have ended. One that fails ends the others, and is raised."""
    try:
        while any(stream.query.isActive for stream in streams):
            for stream in streams:
                stream.report(to)
                if stream.query.exception() is not None:
                    raise stream.query.exception()
            time.sleep(POLL)
        for stream in streams:
            stream.query.awaitTermination()
            stream.report(to)
    finally:
        for stream in streams:
            stream.query.stop()


def trigger_of(text: str) -> dict[str, Any]:
    """`available-now`, or how long from one micro-batch to the next. Raises JobError."""
    if text == "available-now":
        return {"availableNow": True}
    number, _, unit = text.partition(" ")
    if not (number.isdecimal() and unit.strip().lower().rstrip("s") in ("second", "minute", "hour", "millisecond")):
        raise JobError(f'--trigger {text}: write available-now, or a time such as "10 seconds"')
    return {"processingTime": text}


def to_stderr(line: dict[str, Any]) -> None:
    print(json.dumps(line), file=sys.stderr, flush=True)


def _line(what: Continuous, progress: Any, done: dict[str, Any]) -> dict[str, Any]:
    """What a micro-batch did, in the order in which one asks."""
    name = what.streamed.stream.name
    dropped = progress["observedMetrics"].get(f"dropped of {name}")
    watermark = _millis(progress["eventTime"].get("watermark")) - SHIFT
    newest = progress["eventTime"].get("max") if watermark > -SHIFT else None
    return {
        "stream": name,
        "batch": progress["batchId"],
        "at": progress["timestamp"],
        "rows": progress["numInputRows"],
        "without_time": dropped["null_time"] if dropped else 0,
        "without_type": dropped["null_type"] if dropped else 0,
        **done,
        "watermark": _shown(watermark),
        "watermark_lag_ms": max(_millis(newest) - SHIFT - watermark, 0) if newest else None,
        "ms": progress["durationMs"].get("triggerExecution"),
    }


def _millis(text: str) -> int:
    """Spark's times are far in the future: the years are those since the year 1."""
    return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


def _shown(millis: int) -> str | None:
    """None before there is one."""
    if millis <= -SHIFT:
        return None
    return datetime.fromtimestamp(millis / 1000, UTC).isoformat().replace("+00:00", "Z")
