"""Streams of a job: what each begins with, or goes on from."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import pyspark

from .. import schema
from ..build import given_events
from ..schema import JobError, rows_needed
from ..settings import held, with_meaning
from . import checkpoint
from .blobs import DEAD, LATE
from .chain import by_chain, chained, chains
from .how_written import how_written
from .intact import check_intact, remove_lost_sums
from .new_files import look_at_new_files
from .ownership import Owner, take_places, without_earlier
from .place import Place
from .python_path import with_archive
from .query import settings_of_stream
from .relations import sources_of
from .running import Running
from .same_files import check_same, folders_read
from .sinks import Directories
from .source import checked, declared
from .spread import cores_of, usual_buckets
from .state_path import check_readable, whole_name
from .store import HadoopStore
from .telling import to_stderr
from .terms import trigger_of
from .writing import Writing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from .query import Continuous, Streamed
    from .sinks import Sink
    from .telling import Reporter
    from .terms import Folders, Terms

OLDEST: Final = (4, 1)
"""The first Spark whose operator for state can do what is needed."""


def check_spark() -> None:
    """Raises JobError."""
    if tuple(map(int, pyspark.__version__.split(".")[:2])) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise JobError(f"a stream needs Spark {oldest} or newer, and this is {pyspark.__version__}: a batch runs here")


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
        writing = Writing(what, sink, how_written(spark, what, sink, lost), lease, folder, look)
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
            told = what.told(events, folders.dead is not None, writing.how.aside)
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
    check_spark()
    known = [name for one in streams for name in one.stream.queries]
    names = known if queries is None else list(queries)
    if unknown := [name for name in names if name not in known]:
        raise JobError(f"there is no query {unknown[0]}; there are {', '.join(known)}")
    asked = {*names, *rows_needed([one.stream for one in streams], names)}
    wanted = chains([one for one in streams if asked & set(one.stream.queries)])
    given = given_events([link.stream for chain in wanted for link in chain], events)
    refuse_batches(given)
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
            frames = streaming_events(spark, one, given)
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


def refuse_batches(given: Mapping[str, DataFrame]) -> None:
    """Raises JobError."""
    if batch := next((name for name, frame in given.items() if not frame.isStreaming), None):
        raise JobError(
            f"the events of stream {batch} are not streaming: read them by spark.readStream, or all of them in a batch"
        )


def streaming_events(spark: SparkSession, what: Continuous, given: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
    """What all links read, in declared columns: what is given, or else each stream's own source. Raises JobError."""
    return {
        source.name: checked(given[source.name], source) if source.name in given else declared(spark, source)
        for source in what.sources
    }


def _ended(begin: Callable[[Continuous], Running], one: Continuous) -> checkpoint.Ended | None:
    """What is said of a stream that is over, when what a flush had left of it is done."""
    try:
        begin(one).stop()
    except checkpoint.Ended as error:
        return error
    return None


def _but_for(error: checkpoint.Ended, others: Sequence[str]) -> checkpoint.Ended:
    return checkpoint.Ended(f"{error}; --queries {','.join(others)} runs the others") if others else error
