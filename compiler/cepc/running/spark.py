"""The Spark engine: the program's job, built in this process."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.enumerate.budget import PARTIAL_MATCHES

from ..codegen.compiling import job_from, job_of, load, planned
from ..errors import DataError, RunError
from ..reading.bad_records import STOP, Stop
from ..reading.files import EventSource
from ..reading.messages import a_pipe, not_a_file_here
from .given import by_stream
from .loading import of_streams, together
from .local import Report, streams_read, types_that_never_occur
from .session import failed, is_local, is_of_spark, need_pyspark, quiet_session, session_of, with_runtime
from .spark_events import raise_bad_records, some_of, write_good
from .stages import Stages

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from cepc_grammar.source import Source
    from cepc_runtime.plan.row_numbers import RowNumbers
    from cepc_runtime.plan.stream import StreamPlan

    from .. import model
    from ..codegen.compiling import LoadedJob
    from ..reading.bad_records import Treatment
    from ..reading.read import Read
    from ..reading.reader import FormatOptions
    from ..shared_plans import Options


def dataframes(
    program: model.CheckedProgram,
    sources: Mapping[str, Source],
    events: Any = None,
    queries: Iterable[str] | None = None,
    session: Any = None,
) -> dict[str, Any]:
    """A DataFrame for each query, lazily, or a streaming one. `events` are as for `Compiled.spark`.

    Raises ProgramError, and RunError where the events are not what they should be.
    """
    need_pyspark()
    from cepc_runtime.spark.schema import JobError
    from cepc_runtime.spark.settings import with_meaning

    if is_of_spark(events, "SparkSession"):
        session, events = session or events, None
    given = by_stream(events, program, streams_read(program))
    session = session or session_of(given.values())
    job = load(job_of(program, sources))
    try:
        with with_runtime(session):
            with with_meaning(session, job.sources.values()):
                frames = {name: _frame(session, job, name, one) for name, one in given.items() if one is not None}
            names = None if queries is None else list(queries)
            if any(frame.isStreaming for frame in frames.values()):
                return _streaming(session, job, frames, names)
            return job.build(session, frames, names)
    except JobError as error:
        raise RunError([failed(str(error))], sources) from error


def _streaming(session: Any, job: LoadedJob, given: Mapping[str, Any], queries: Sequence[str] | None) -> dict[str, Any]:
    """A streaming DataFrame for each query. Raises JobError."""
    from cepc_runtime.spark.build import known_queries
    from cepc_runtime.spark.settings import with_meaning
    from cepc_runtime.spark.streaming.frame import rows_in_frame
    from cepc_runtime.spark.streaming.starting import refuse_batches

    refuse_batches(given)
    _set_for_streams(session)
    streams = list(job.streamed.values())
    chosen = known_queries([one.stream for one in streams], queries)
    with with_meaning(session, job.sources.values()):
        return {
            query: rows_in_frame(session, streams, query, given)
            for one in streams
            for query in one.stream.queries
            if query in chosen
        }


def _set_for_streams(session: Any) -> None:
    """The session gets what Spark needs to start a stream."""
    from cepc_runtime.spark.streaming.frame import settings_of_frames

    for name, value in settings_of_frames(session).items():
        session.conf.set(name, value)


def streaming_dataframes(
    program: model.CheckedProgram,
    sources: Mapping[str, Source],
    events: Mapping[str, Any],
    numbers: Mapping[str, RowNumbers],
    session: Any,
) -> dict[str, Any]:
    """A streaming DataFrame for each query, over those of the streams, which have a watermark and are numbered so.

    The session gets what Spark needs to start any of them. Raises ProgramError and RunError.
    """
    from cepc_runtime.spark.schema import JobError, conform
    from cepc_runtime.spark.settings import with_meaning
    from cepc_runtime.spark.streaming.frame import rows_over_table

    job = load(job_of(program, sources))
    try:
        _set_for_streams(session)
        with with_runtime(session), with_meaning(session, job.sources.values()):
            given = {name: conform(frame, job.sources[name]) for name, frame in events.items()}
            return {
                query: rows_over_table(streamed, query, given[name], numbers[name])
                for name, streamed in job.streamed.items()
                for query in streamed.stream.queries
            }
    except JobError as error:
        raise RunError([failed(str(error))], sources) from error


def _frame(session: Any, job: LoadedJob, stream: str, events: Any) -> Any:
    """Events as a DataFrame. A text is a path if it looks like one, and else the name of a table."""
    from cepc_runtime.spark.source import read

    if is_of_spark(events, "DataFrame"):
        return events
    if not isinstance(events, str | os.PathLike):
        raise TypeError(
            f"events are a DataFrame, the name of a table, or a path; not {type(events).__name__}: "
            "`compiled.run(events)` takes tables and frames without Spark, `spark.createDataFrame(events)` makes one"
        )
    path = os.fspath(events)
    form = _format_of(path)
    return read(session, job.sources[stream], form or "table", path, dict(job.sources[stream].options))


def _format_of(path: str) -> str | None:
    """The format of the files at a path; None of what is no path."""
    from ..reading.find import find_files

    if "://" not in path and os.path.exists(path):  # noqa: PTH110
        return find_files(EventSource(path)).reader.name
    ending = path.rpartition(".")[2]
    named = {"parquet": "parquet", "csv": "csv", "json": "json", "jsonl": "json", "orc": "orc"}.get(ending)
    return named or ("parquet" if "/" in path else None)


def run(
    program: model.CheckedProgram,
    sources: Mapping[str, Source],
    places: Mapping[str, EventSource],
    options: Options | None = None,
    stages: Stages | None = None,
    most: int = PARTIAL_MATCHES,
    bad: Treatment = STOP,
) -> Report:
    """Run the queries; the events of streams without a place are where FROM says. `most` bounds the partial matches of
    a query that a task lists. Unless bad records stop the run, all streams have places. Raises ProgramError, DataError
    and RunError.
    """
    need_pyspark()
    from cepc_runtime.spark.errors import SPARK_ERRORS, may_be_of_a_record, sentence
    from cepc_runtime.spark.schema import JobError
    from cepc_runtime.spark.settings import MOST

    stages = stages or Stages()
    whole = program.with_needed
    with stages("planning"):
        shared = planned(whole, sources, options)
        job = load(job_from(whole, shared, sources))
    with stages("starting Spark"):
        session = quiet_session(size_of(places.values()) if len(places) == len(streams_read(program)) else None)
        session.conf.set(MOST, str(most))
    plans = [workload.plan.stream for workload in shared.workloads]
    names = [query.name for query in program.queries]
    as_run = replace(shared.program, queries=tuple(query for query in shared.program.queries if query.name in names))
    try:
        with TemporaryDirectory(prefix="cepc-", ignore_cleanup_errors=True) as folder:
            started = _Started(session, job, program, as_run, plans)
            if isinstance(bad, Stop):
                given = _read_by_spark(started, places)
            else:
                with stages("reading events"):
                    given = _read_here(started, places, bad, Path(folder))
            report = _report(started, given, stages)
    except (JobError, *SPARK_ERRORS) as error:
        if os.environ.get("CEPC_DEBUG") == "1":
            raise
        if may_be_of_a_record(error):
            raise_bad_records(program, plans, places)
        raise RunError([failed(sentence(error))], sources) from None
    return replace(report, workloads=shared.workloads)


def size_of(sources: Iterable[EventSource]) -> int | None:
    """The bytes of files of this machine; None where some events are elsewhere."""
    total = 0
    for source in sources:
        place = Path(source.path)
        if not place.exists():
            return None
        files = [place] if place.is_file() else [file for file in place.rglob("*") if file.is_file()]
        total += sum(file.stat().st_size for file in files)
    return total


@dataclass(frozen=True, slots=True)
class _Started:
    """A session, and what runs in it: the job of what was asked, whose streams have these plans. `program` has the
    queries over the streams that they are planned over.
    """

    session: Any
    job: LoadedJob
    asked: model.CheckedProgram
    program: model.CheckedProgram
    plans: Sequence[StreamPlan]


@dataclass(frozen=True, slots=True)
class _Given:
    """The events of each stream as a DataFrame, and what is known of those that were read here."""

    frames: Mapping[str, Any]
    reads: Mapping[str, Read]


def _read_by_spark(run: _Started, places: Mapping[str, EventSource]) -> _Given:
    from cepc_runtime.spark.build import declared
    from cepc_runtime.spark.source import read

    from ..reading.read import check_columns

    wanted = of_streams(run.program, run.plans).values()
    for plan in wanted if is_local(run.session) else ():  # of a directory, Spark looks at one file
        place = places.get(plan.name)
        if place is None or (place.format or "parquet") not in ("parquet", "orc"):
            continue
        if os.path.exists(place.path):  # noqa: PTH110
            check_columns(place, plan, run.program.stream(plan.name).input)
    frames = {
        name: read(run.session, stream, places[name].format or "parquet", places[name].path, dict(places[name].options))
        if name in places
        else declared(run.session, stream)
        for name, stream in run.job.sources.items()
    }
    return _Given(frames, {})


ELSEWHERE: Final = (
    "--skip-bad and --dead read the events on this machine, and hand them to a Spark that runs here, which this one "
    "does not: run the command without SPARK_REMOTE and another master, or with --engine local"
)


def _read_here(run: _Started, places: Mapping[str, EventSource], bad: Treatment, folder: Path) -> _Given:
    """Raises DataError and RunError."""
    if not is_local(run.session):
        raise RunError([failed(ELSEWHERE)])
    frames, reads = {}, {}
    wanted = of_streams(run.program, run.plans).values()
    for number, plan in enumerate(one for one in wanted if one.name in run.job.sources):
        path = folder / f"{number}.parquet"
        stream, schema = run.program.stream(plan.name), run.job.sources[plan.name].schema
        reads[plan.name] = write_good(stream, plan, places[plan.name], bad, path)
        frames[plan.name] = run.session.read.schema(schema).parquet(str(path))
    return _Given(frames, reads)


def _report(run: _Started, given: _Given, stages: Stages) -> Report:
    """Without its workloads."""
    from pyspark.sql import Observation

    from ..writing.order import first_columns, in_order

    looked_at = (source.name for stream in run.job.streams.values() for source in stream.sources)
    dropped = {name: Observation(f"dropped of {name}") for name in dict.fromkeys(looked_at)}
    asked = [query.name for query in run.program.queries]
    with stages("reading events and finding matches"), with_runtime(run.session):
        tables = run.job.tables(run.session, given.frames, asked, dropped)
    with stages("sorting rows"):
        program = run.asked
        first = {query.name: first_columns(query, program.stream(query.stream)) for query in program.queries}
        tables = {name: in_order(_in_utc(table), first=first[name]) for name, table in tables.items()}
    counts = [observation.get for observation in dropped.values()]
    no_time, no_type = (sum(count[kind] for count in counts) for kind in ("null_time", "null_type"))
    empty = [query for query in run.program.queries if not tables[query.name].num_rows]
    looked: dict[str, Read] = {}
    if empty:
        with stages("looking for why there are no rows"):
            looked = _looked_at(run, given, {query.stream for query in empty}, tables)
    known = {**looked, **_known(run.program, given.reads)}
    warnings = [warning for read in given.reads.values() for warning in read.warnings]
    for name, read in known.items():
        queries = empty if name in looked and not given.reads else run.program.queries
        warnings += types_that_never_occur(run.program, run.program.stream(name), queries, read)
    return Report(
        program=run.program,
        tables=tables,
        read=sum(read.rows for read in given.reads.values()) if given.reads else None,
        files=sum(read.files for read in given.reads.values()) if given.reads else None,
        without_time=no_time,
        without_type=no_type,
        warnings=tuple(warnings),
        passed_over=sum(read.passed_over for read in given.reads.values()),
        reads=looked,
    )


def _looked_at(run: _Started, given: _Given, streams: Collection[str], tables: Mapping[str, Any]) -> dict[str, Read]:
    """Some events of the streams whose queries have no rows. Spark reads them again, but for rows of queries."""
    from cepc_runtime.spark.errors import SPARK_ERRORS
    from cepc_runtime.spark.schema import JobError
    from cepc_runtime.spark.settings import with_meaning

    from ..reading.read import read_rows

    found: dict[str, Read] = {}
    declared = run.job.streams
    # The rows are there, whatever goes wrong now.
    with with_meaning(run.session, declared.values()), suppress(*SPARK_ERRORS, JobError, DataError):
        for plan in run.plans:
            name = plan.name
            if name not in streams:
                continue
            if any(one.query is not None for one in declared[name].sources):
                if declared[name].query in tables:
                    rows = tables[declared[name].query]
                    found[name] = read_rows(rows, plan, run.program.stream(name).input)
                continue
            counted = _known(run.program, given.reads).get(name)
            read = some_of(_events_of(run, given, name), declared[name], plan, counted)
            if read is not None:
                found[name] = read
    return found


def _events_of(run: _Started, given: _Given, name: str) -> Any:
    """The events of a stream, or of several as one."""
    from cepc_runtime.spark.merging import merged
    from cepc_runtime.spark.schema import conform

    stream = run.job.streams[name]
    if not stream.members:
        return given.frames[name]
    return merged({one.name: conform(given.frames[one.name], one) for one in stream.sources}, stream, {})


def _known(program: model.CheckedProgram, reads: Mapping[str, Read]) -> dict[str, Read]:
    """What is known of the events of each stream with queries, of what is known of those that were read."""
    found = dict(reads)
    for stream in program.merged:
        members = program.members(stream.name)
        if all(one.name in reads for one in members):
            found[stream.name] = together(((one, reads[one.name]) for one in members), None)
    return found


def _in_utc(table: Any) -> Any:
    """As the local engine has it: the zone of times is UTC."""
    import pyarrow as pa

    return table.cast(pa.schema([pa.field(f.name, _utc(f.type), f.nullable) for f in table.schema]))


def _utc(type_: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_timestamp(type_) and type_.tz is not None:
        return pa.timestamp("us", "UTC")
    if pa.types.is_list(type_):
        return pa.list_(_utc(type_.value_type))
    if pa.types.is_struct(type_):
        return pa.struct([pa.field(f.name, _utc(f.type)) for f in type_])
    return type_


def places(
    program: model.CheckedProgram,
    given: Sequence[str],
    form: str | None,
    options: FormatOptions,
    bad: Treatment = STOP,
) -> dict[str, EventSource]:
    """The places of the streams that the command names, and of those that the local engine could read too; of all
    streams, unless bad records stop the run.

    Raises DataError, and UnclearError where the command does not say which events are for which stream.
    """
    from ..reading import readers
    from ..reading.find import find_files
    from .sources import places, refuse_rows

    refuse_rows(program, given)
    streams = streams_read(program)
    if not isinstance(bad, Stop):
        found = places(streams, given, form, options)
        if there := [place.path for place in found.values() if "://" in place.path]:
            raise DataError([not_a_file_here(there[0])])
        return found
    named = {text.partition("=")[0] for text in given}
    readable = {s.name for s in streams if s.source is not None and s.source[0] in readers.names()}
    here = [s for s in streams if len(streams) == 1 or s.name in named or s.name in readable]
    if not given:
        here = [s for s in here if s.name in readable]
    found = places(here if here or not given else streams, given, form, options)
    if pipes := [place.path for place in found.values() if place.path == "-" or Path(place.path).is_fifo()]:
        raise DataError([a_pipe(pipes[0])])
    return {
        n: p if p.format or "://" in p.path else replace(p, format=find_files(EventSource(p.path)).reader.name)
        for n, p in found.items()
    }
