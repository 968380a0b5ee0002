"""The Spark engine: the program's job, built in this process."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cepc_runtime.enumerate.budget import PARTIAL_MATCHES

from ..codegen.compiling import job_from, job_of, load, planned
from ..errors import RunError
from .given import by_stream
from .local import Report, streams_read
from .session import failed, is_of_spark, need_pyspark, quiet_session, session_of, with_runtime
from .stages import Stages

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cepc_grammar.source import Source

    from .. import model
    from ..codegen.compiling import LoadedJob
    from ..reading.reader import FormatOptions
    from ..shared_plans import Options
    from .sources import EventSource


def dataframes(
    program: model.CheckedProgram,
    sources: Mapping[str, Source],
    events: Any = None,
    queries: Iterable[str] | None = None,
    session: Any = None,
) -> dict[str, Any]:
    """A DataFrame for each query, lazily. `events` are as for `Compiled.spark`.

    Raises ProgramError, and RunError where the events are not what they should be.
    """
    need_pyspark()
    from cepc_runtime.spark.schema import JobError

    if is_of_spark(events, "SparkSession"):
        session, events = session or events, None
    given = by_stream(events, [stream.name for stream in streams_read(program)])
    session = session or session_of(given.values())
    job = load(job_of(program, sources))
    try:
        with with_runtime(session):
            frames = {name: _frame(session, job, name, one) for name, one in given.items() if one is not None}
            return job.build(session, frames, None if queries is None else list(queries))
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
    return read(session, job.streams[stream], form or "table", path, dict(job.streams[stream].options))


def _format_of(path: str) -> str | None:
    """The format of the files at a path; None of what is no path."""
    from ..reading.find import find_files

    if "://" not in path and os.path.exists(path):  # noqa: PTH110
        return find_files(path)[0].name
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
) -> Report:
    """Run the queries; the events of streams without a place are where FROM says. `most` bounds the partial matches of
    a query that a task lists. Raises ProgramError and RunError.
    """
    need_pyspark()
    from pyspark.sql import Observation

    from cepc_runtime.spark.errors import SPARK_ERRORS, sentence
    from cepc_runtime.spark.schema import JobError
    from cepc_runtime.spark.settings import MOST
    from cepc_runtime.spark.source import read

    from ..writing.order import in_order

    stages = stages or Stages()
    with stages("planning"):
        shared = planned(program, sources, options)
        job = load(job_from(program, shared, sources))
    with stages("starting Spark"):
        session = quiet_session()
        session.conf.set(MOST, str(most))
    try:
        events = {
            name: read(session, job.streams[name], place.format or "parquet", place.path, dict(place.options))
            for name, place in places.items()
        }
        dropped = {name: Observation(f"dropped of {name}") for name in job.streams}
        with stages("reading events and finding matches"), with_runtime(session):
            tables = job.tables(session, _with_declared(session, job, events), None, dropped)
        with stages("sorting rows"):
            tables = {name: in_order(_in_utc(table)) for name, table in tables.items()}
        counts = [observation.get for observation in dropped.values()]
        no_time, no_type = (sum(count[kind] for count in counts) for kind in ("null_time", "null_type"))
        return Report(tables, None, None, no_time, no_type, (), workloads=shared.workloads)
    except (JobError, *SPARK_ERRORS) as error:
        if os.environ.get("CEPC_DEBUG") == "1":
            raise
        raise RunError([failed(sentence(error))], sources) from None


def _with_declared(session: Any, job: LoadedJob, events: dict[str, Any]) -> dict[str, Any]:
    from cepc_runtime.spark.build import declared

    return {name: events[name] if name in events else declared(session, stream) for name, stream in job.streams.items()}


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
    program: model.CheckedProgram, given: Sequence[str], form: str | None, options: FormatOptions
) -> dict[str, EventSource]:
    """The places of the streams that the command names, and of those that the local engine could read too.

    Raises DataError, and UnclearError where the command does not say which events are for which stream.
    """
    from ..reading import readers
    from ..reading.find import find_files
    from .local import streams_read
    from .sources import places

    streams = streams_read(program)
    named = {text.partition("=")[0] for text in given}
    readable = {s.name for s in streams if s.source is not None and s.source[0] in readers.names()}
    here = [s for s in streams if len(streams) == 1 or s.name in named or s.name in readable]
    if not given:
        here = [s for s in here if s.name in readable]
    found = places(here, given, form, options)
    return {
        n: p if p.format or "://" in p.path else replace(p, format=find_files(p.path)[0].name) for n, p in found.items()
    }
