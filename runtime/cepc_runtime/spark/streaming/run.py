"""A stream from its start to its end: checkpoint, query, progress, flush."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import pyspark
from pyspark.sql import functions as F  # noqa: N812

from ...cheap_dataclass import dataclass
from .. import schema
from ..build import given_events
from ..errors import SPARK_ERRORS
from ..forms import IN_ROWS
from ..schema import JobError, rows_needed
from ..settings import held, with_meaning
from ..sinks import path_of
from . import checkpoint
from .blobs import BLOB, BUCKET, DEAD, HELD, KIND, LATE
from .chain import by_chain, chained, chains
from .ending import ToldToEnd, heard, quiet
from .intact import check_intact, numbers_of, remove_lost_sums, state_problem
from .lease import take
from .new_files import look_at_new_files
from .one_machine import one_machine
from .operator import flush, flush_link
from .ownership import Owner, take_places, without_earlier
from .python_path import with_archive
from .query import settings_of_stream
from .relations import sources_of
from .same_files import check_same, folders_read
from .sinks import FLUSHED, Directories, Writing
from .source import checked, declared
from .spread import cores_of, usual_buckets
from .state_path import check_readable, readable, whole_name
from .store import HadoopStore
from .time import SHIFT, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from ..forms import Form, InRows
    from .lease import Lease
    from .one_machine import OneMachine
    from .query import Continuous, Streamed
    from .sinks import Sink
    from .store import Store

OLDEST: Final = (4, 1)
"""The first Spark whose operator for state can do what is needed."""
POLL: Final = 0.2
DAY: Final = 86_400_000
"""How many milliseconds ahead of the clock an event is dropped, where nobody says."""

EVERY: Final = "10 seconds"
"""How often a stream looks for events, where nobody says."""
Reporter = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Folders:
    """Where a stream keeps what it needs to go on and, if anywhere, writes late events and records that are no
    events.
    """

    checkpoint: str
    late: str | None = None
    dead: str | None = None

    def of(self, stream: str) -> Folders:
        """Those of one stream of a job."""
        late, dead = (folder and path_of(folder, stream) for folder in (self.late, self.dead))
        return Folders(path_of(self.checkpoint, stream), late, dead)


@dataclass(frozen=True)
class Terms:
    """How the streams of a job run: how often, in how many buckets (None: as the checkpoint has, or by default), and
    how many milliseconds ahead of the clock an event is dropped.
    """

    folders: Folders
    trigger: str
    buckets: int | None
    ahead: int
    change: bool
    """Whether the queries may be others than those of the checkpoint."""


@dataclass
class Running:
    """A stream that runs. `query` is Spark's own handle."""

    query: Any
    place: Place
    writing: Writing
    _reported: int = -1

    def report(self, to: Reporter) -> None:
        """The micro-batches that have ended since it was last asked."""
        for progress in self.query.recentProgress:
            if progress["batchId"] > self._reported and progress["batchId"] in self.writing.done:
                self._reported = progress["batchId"]
                to(_line(self.place.what, progress, self.writing.done.pop(self._reported)))

    def failure(self) -> Exception | None:
        """Why it ended, or must: what was raised for the user comes before what Spark makes of it."""
        lost: Exception | None = self.writing.lease.lost
        failed: Exception | None = self.query.exception()
        if lost is not None or failed is None:
            return lost
        return self.writing.failure or state_problem(self.place.store, self.place.folder, failed) or failed

    def stop(self) -> None:
        """End it, and give the checkpoint back."""
        self.query.stop()
        self.writing.lease.release()

    def flush(self, to: Reporter, together: Sequence[str] = ()) -> None:
        """What is still open, as at the end of a batch; the checkpoint is ended by it, and the streams named in
        `together` will be. Raises JobError.
        """
        self.place.flush(self.writing, to, together)


@dataclass(frozen=True)
class Place:
    """Queries and the checkpoint that they run on."""

    spark: SparkSession
    what: Continuous
    folder: str

    @property
    def store(self) -> Store:
        return HadoopStore(self.spark)

    def has_begun(self) -> bool:
        """Whether there was a micro-batch."""
        return bool(numbers_of(self.store, self.folder, "offsets"))

    def lease(self) -> Lease:
        """Raises JobError."""
        jvm: Any = self.spark._jvm
        mine = [os.getpid(), int(jvm.java.lang.ProcessHandle.current().pid())]
        return take(self.store, self.folder, mine, lambda text: print(text, file=sys.stderr, flush=True))

    def flush(self, writing: Writing, to: Reporter, together: Sequence[str] = (), *, resumed: bool = False) -> None:
        """A flush that was cut short is begun again at the same micro-batch, and writes the same rows in the same
        places.
        """
        writing.lease.release()
        writing.lease = self.lease()
        over = threading.Event()
        writing.lease.keep(lambda: not over.is_set())
        try:
            with (
                with_meaning(self.spark, self.what.sources),
                held(self.spark, settings_of_stream(self.spark, self.what.buckets)),
                readable(self.spark, self.folder) as state,
            ):
                done = checkpoint.flush(
                    self.store,
                    self.folder,
                    lambda batch: self._open(state, batch, writing.form),
                    lambda rows: _flushed(writing, rows),
                    together,
                )
        except SPARK_ERRORS as error:
            raise state_problem(self.store, self.folder, error) or error from error
        finally:
            over.set()
            writing.lease.release()
        written = (name for link in self.what.links for name in link.written)
        out = done["out"] if done is not None else dict.fromkeys(written, 0)
        line = {"stream": self.what.streamed.stream.name, "flush": True, "out": out}
        to({**line, "resumed": True} if resumed else line)

    def _open(self, state: str, batch: int, form: Form) -> DataFrame:
        """What all links tell of what is open after a micro-batch; Spark has found the state of it by then."""
        held = self._held(state, self.what, batch).select(F.col("value.blob").alias("blob"))
        told = held.mapInArrow(flush(self.what.answering(form)), BLOB)
        for link in self.what.later:
            key, own = F.col("key").getField(BUCKET), self._held(state, link, batch)
            states = own.select(key.alias(BUCKET), F.lit(HELD).alias(KIND), F.col("value.blob").alias("blob"))
            buckets = states.unionAll(link.rows_packed(told)).groupBy(BUCKET)
            told = buckets.applyInArrow(flush_link(link.answering(form)), BLOB)
        return told

    def _held(self, state: str, link: Continuous, batch: int) -> DataFrame:
        states = self.spark.read.format("statestore").option("stateVarName", link.link.state).option("batchId", batch)
        if self.what.later:
            states = states.option("operatorId", self._operator(state, link))
        return states.load(state)

    def _operator(self, state: str, link: Continuous) -> int:
        """The number that Spark has given to the operator of a link."""
        known = (
            self.spark.read.format("state-metadata").load(state).select("operatorId", "operatorProperties").collect()
        )
        named = f'"stateName":"{link.link.state}"'
        return next(int(number) for number, said in known if named in said)


def _flushed(writing: Writing, rows: DataFrame) -> dict[str, Any]:
    writing(rows, FLUSHED)
    return writing.done.pop(FLUSHED)


def start(
    what: Continuous,
    events: Mapping[str, DataFrame],
    folders: Folders,
    sink: Sink,
    trigger: dict[str, Any],
    finish: Reporter | None = None,
    together: Collection[str] = (),
    change: Reporter | None = None,
) -> Running:
    """Begin, or go on where the checkpoint stands. Raises JobError.

    Where a flush was cut short, nothing but that flush is done, and told to `finish`; then Ended is raised. It may have
    been cut short before it came to this stream: then it is among those that are ended `together`. With `change`, which
    is told, the queries may be others than those of the checkpoint.
    """
    spark, folder = next(iter(events.values())).sparkSession, folders.checkpoint
    place = Place(spark, what, folder)
    query: Any = None
    lease = place.lease()
    lease.keep(lambda: query is None or query.isActive or writing.is_amid)
    try:
        check_intact(place.store, folder)
        remove_lost_sums(place.store, folder)
        whole = whole_name(spark, folder)
        reads = _reads(what, events)
        claim = checkpoint.claim(place.store, folder, what, whole, change is not None, reads)
        what = claim.begun.of(what)
        place = Place(spark, what, folder)
        look = look_at_new_files(events, place.store, folder, reads)
        lost = {name: to for name, to in ((LATE, folders.late), (DEAD, folders.dead)) if to is not None}
        how: OneMachine | InRows = IN_ROWS
        if isinstance(sink, Directories) and sink.is_usual_parquet:
            how = one_machine(spark, what, sink.folder, lost)
        writing = Writing(what, sink, how, lost, lease, folder, look)
        owner = Owner(checkpoint.id_of(place.store, folder), whole, place.has_begun())
        if isinstance(sink, Directories):
            written = [name for link in what.links for name in link.written]
            if take_places(place.store, owner, sink.folder, sink.places(written), "--output"):
                print(without_earlier(sink.folder, owner), file=sys.stderr, flush=True)
        for apart, option in ((folders.late, "--late"), (folders.dead, "--dead")):
            if apart is not None:
                take_places(place.store, owner, apart, {what.streamed.stream.name: apart.rstrip("/")}, option)
        if claim.flush is not None or together:
            place.flush(writing, finish or (lambda _: None), sorted(together), resumed=True)
            raise checkpoint.Ended(
                f"{folder} was being ended by --flush when its job stopped: the rest of its last windows is"
                " written now, and it is"
                " ended; name a new directory to begin again"
            )
        check_same(place.store, folder, [found for one in events.values() for found in folders_read(one)])
        with with_archive(spark):
            told = what.told(events, folders.dead is not None, writing.form)
        name = f"cepc {what.streamed.stream.name}"
        writer = told.writeStream.queryName(name).foreachBatch(writing).option("checkpointLocation", folder)
        if (line := claim.taken()) is not None and change is not None:
            change(line)
        with held(spark, settings_of_stream(spark, what.buckets)):  # of which the query has a copy from its start on
            query = writer.trigger(**trigger).start()
    except BaseException:
        lease.release()
        raise
    return Running(query, place, writing)


def _reads(what: Continuous, events: Mapping[str, DataFrame]) -> list[int] | None:
    """Of a chain, which source each is that Spark meets in its plan."""
    if not what.later:
        return None
    found: list[int] = []
    numbers: dict[str, range] = {}
    for link in what.links:
        for one in schema.sources_of([link.streamed.stream]):
            begin = sum(map(len, numbers.values()))
            found += numbers.setdefault(one.name, range(begin, begin + len(sources_of(events[one.name]))))
    return found


def stream(
    spark: SparkSession,
    streams: Sequence[Streamed],
    sink: Sink,
    terms: Terms,
    events: DataFrame | Mapping[str, DataFrame] | None = None,
    queries: Collection[str] | None = None,
    finish: Reporter | None = None,
) -> list[Running]:
    """Start a streaming query for each chain of streams of a job that has some of the queries, each with folders of its
    own.

    `events` are streaming DataFrames, one or by stream; where there is none, the stream's own source is read. Raises
    JobError, and nothing runs then. Where a flush was cut short, it is finished; with `finish`, which is told, that is
    what was wanted, and no error.
    """
    if tuple(map(int, pyspark.__version__.split(".")[:2])) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise JobError(f"a stream needs Spark {oldest} or newer, and this is {pyspark.__version__}: a batch runs here")
    known = [name for one in streams for name in one.stream.queries]
    names = known if queries is None else list(queries)
    if unknown := [name for name in names if name not in known]:
        raise JobError(f"there is no query {unknown[0]}; there are {', '.join(known)}")
    asked = {*names, *rows_needed([one.stream for one in streams], names)}
    wanted = chains([one for one in streams if asked & set(one.stream.queries)])
    given = given_events([link.stream for chain in wanted for link in chain], events)
    places = {chain[0].stream.name: terms.folders.of(chain[0].stream.name) for chain in wanted}
    program = by_chain(streams)
    checkpoint.check_streams(HadoopStore(spark), terms.folders.checkpoint, places, program)
    begun_with = {name: checkpoint.buckets_of(HadoopStore(spark), own.checkpoint) for name, own in places.items()}
    for name, own in places.items():
        if begun_with[name] is None:
            check_readable(spark, own.checkpoint)
    # Of all streams of the program: a flush of one that is left out may have been begun with one that is not.
    over = checkpoint.ended(HadoopStore(spark), {name: terms.folders.of(name).checkpoint for name in program})
    started: dict[str, Running] = {}
    resumed: list[dict[str, Any]] = []

    whole: dict[str, Continuous] = {}
    for chain in wanted:
        name = chain[0].stream.name
        buckets = terms.buckets or begun_with[name] or usual_buckets(cores_of(spark))
        whole[name] = chained(chain, asked, names, buckets, terms.ahead)
    others = [one for name, one in whole.items() if name not in over]
    for one in others:  # all are looked at before any of them begins
        own = places[one.streamed.stream.name]
        checkpoint.check_program(HadoopStore(spark), own.checkpoint, one, terms.change)

    def begin(one: Continuous) -> Running:
        name = one.streamed.stream.name
        with with_meaning(spark, one.sources):  # a query that runs has a copy of the session
            frames = {
                source.name: checked(given[source.name], source) if source.name in given else declared(spark, source)
                for source in one.sources
            }
            together = over if name in over else ()
            trigger, change = trigger_of(terms.trigger), to_stderr if terms.change else None
            return start(one, frames, places[name], sink, trigger, resumed.append, together, change)

    try:
        ended = [error for name, one in whole.items() if name in over and (error := _ended(begin, one))]
        if ended and (finish is None or not resumed):
            going_on = {name for one in others for link in one.links for name in link.queries}
            raise _but_for(ended[0], [name for name in names if name in going_on])
        # One by one: those that run are stopped where the next cannot. One that is new in the checkpoint comes last:
        # when it has begun, the program that the checkpoint had until then is refused.
        for one in sorted(others, key=lambda one: begun_with[one.streamed.stream.name] is None):
            started[one.streamed.stream.name] = begin(one)
    except BaseException:
        for running in started.values():
            running.stop()
        raise
    if finish is not None:
        for line in resumed:
            finish(line)
    return [started[name] for name in places if name in started]


def _ended(begin: Callable[[Continuous], Running], one: Continuous) -> checkpoint.Ended | None:
    """What is said of a stream that is over, when what a flush had left of it is done."""
    try:
        begin(one).stop()
    except checkpoint.Ended as error:
        return error
    return None


def _but_for(error: checkpoint.Ended, others: Sequence[str]) -> checkpoint.Ended:
    return checkpoint.Ended(f"{error}; --queries {','.join(others)} runs the others") if others else error


def flush_all(streams: Sequence[Running], to: Reporter) -> None:
    """End what these streams have open, and their checkpoints; where none has read anything, there is nothing to end.
    Raises JobError.
    """
    names = [stream.place.what.streamed.stream.name for stream in streams]
    together = names if any(stream.place.has_begun() for stream in streams) else []
    for stream in streams:
        stream.flush(to, together)


def wait(streams: list[Running], to: Reporter) -> None:
    """Until all have ended. One that fails ends the others, and is raised; a signal ends all. Raises ToldToEnd."""
    with heard() as signals:
        try:
            while not signals and any(stream.query.isActive for stream in streams):
                _look(streams, to)
                time.sleep(POLL)
            if signals:
                quiet(streams[0].place.spark)
                raise ToldToEnd(signals[0])
            _look(streams, to)
        finally:
            for stream in streams:
                stream.stop()


def _look(streams: Sequence[Running], to: Reporter) -> None:
    for stream in streams:
        stream.report(to)
        if (failure := stream.failure()) is not None:
            raise failure


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
    name, seen = what.streamed.stream.name, progress["observedMetrics"]
    dropped = [seen[own] for link in what.links for own in link.observations if own in seen]
    watermark = _millis(progress["eventTime"].get("watermark")) - SHIFT
    labels = {
        query: dict(of)
        for link in what.links
        for query, of in link.streamed.stream.labels.items()
        if query in link.written
    }
    newest = progress["eventTime"].get("max") if watermark > -SHIFT else None
    return {
        "stream": name,
        "batch": progress["batchId"],
        "at": progress["timestamp"],
        "rows": progress["numInputRows"],
        "without_time": sum(own["null_time"] for own in dropped),
        "without_type": sum(own["null_type"] for own in dropped),
        **done,
        **({"labels": labels} if labels else {}),
        "watermark": None if watermark <= -SHIFT else shown(watermark),  # before there is one
        "watermark_lag_ms": max(_millis(newest) - SHIFT - watermark, 0) if newest else None,
        "ms": progress["durationMs"].get("triggerExecution"),
    }


def _millis(text: str) -> int:
    """Spark's times are far in the future: the years are those since the year 1."""
    return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)
