"""The Spark engine: the program's job, built in this process."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from cepc_grammar.diagnostic import Diagnostic
from cepc_grammar.source import NOWHERE
from cepc_runtime.enumerate.budget import PARTIAL_MATCHES

from ..codegen.compiling import job_from, job_of, load, planned
from ..errors import RunError
from ..java import JavaNotFoundError, spark_environment
from .local import Report
from .stages import Stages

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cepc_grammar.source import Source

    from .. import model
    from ..codegen.compiling import LoadedJob
    from ..shared_plans import Options
    from .sources import EventSource


def dataframes(
    program: model.CheckedProgram,
    sources: Mapping[str, Source],
    events: Any = None,
    queries: Iterable[str] | None = None,
    session: Any = None,
) -> dict[str, Any]:
    """A DataFrame for each query, lazily.

    Raises ProgramError, and RunError where the events are not what they should be.
    """
    from cepc_runtime.spark.schema import JobError

    session = session or session_of(events)
    job = load(job_of(program, sources))
    ship_runtime(session)
    try:
        return job.build(session, events, None if queries is None else list(queries))
    except JobError as error:
        raise RunError([failed(str(error))], sources) from error


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
        session = local_session()
        ship_runtime(session)
        session.conf.set(MOST, str(most))
    try:
        events = {
            name: read(session, job.streams[name], place.format or "parquet", place.path)
            for name, place in places.items()
        }
        dropped = {name: Observation(f"dropped of {name}") for name in job.streams}
        with stages("reading events and finding matches"):
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


def places(program: model.CheckedProgram, given: Sequence[str], form: str | None) -> dict[str, EventSource]:
    """The places of the streams that the command names, and of those that the local engine could read too.

    Raises DataError, and UnclearError where the command does not say which events are for which stream.
    """
    from ..reading import readers
    from ..reading.find import find_files
    from .local import streams_read
    from .sources import EventSource, places

    streams = streams_read(program)
    named = {text.partition("=")[0] for text in given}
    readable = {s.name for s in streams if s.source is not None and s.source[0] in readers.names()}
    here = [s for s in streams if len(streams) == 1 or s.name in named or s.name in readable]
    if not given:
        here = [s for s in here if s.name in readable]
    found = places(here, given, form)
    return {
        n: p if p.format or "://" in p.path else EventSource(p.path, find_files(p.path)[0].name)
        for n, p in found.items()
    }


def session_of(events: Any) -> Any:
    """The session that the events live in; without events the one there is, or a new one."""
    from pyspark.sql import SparkSession

    frames = list(events.values()) if isinstance(events, dict) else [] if events is None else [events]
    if frames:
        return frames[0].sparkSession
    return SparkSession.getActiveSession() or local_session()


def local_session() -> Any:
    """A session on this machine, or where SPARK_REMOTE or the master of Spark's own configuration says."""
    try:
        os.environ.update(spark_environment())
    except JavaNotFoundError as error:
        raise RunError([failed(str(error))]) from None
    from pyspark.sql import SparkSession

    from cepc_runtime.spark.settings import JVM, SETTINGS

    builder = SparkSession.builder.appName("cepc")
    if "SPARK_REMOTE" not in os.environ and "MASTER" not in os.environ:
        builder = builder.master("local[*]")
    settings = {
        **SETTINGS,
        **JVM,
        "spark.log.level": "WARN" if os.environ.get("CEPC_DEBUG") == "1" else "OFF",  # errors are said in a sentence
        "spark.driver.maxResultSize": "0",  # the rows of all queries come at once, whatever they weigh
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": str(sys.stderr is not None and sys.stderr.isatty()).lower(),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def ship_runtime(session: Any) -> None:
    """Give the runtime to workers that are not on this machine; local ones import it as this process does."""
    from pyspark.sql.utils import is_remote

    if not is_remote() and session.conf.get("spark.master", "local").startswith("local"):
        return
    import tempfile
    from pathlib import Path

    from ..codegen.bundle import ARCHIVE, runtime_archive

    archive = runtime_archive()
    path = Path(tempfile.mkdtemp(prefix="cepc-")) / ARCHIVE
    path.write_bytes(archive)
    session.addArtifacts(str(path), pyfile=True)


def failed(sentence: str) -> Diagnostic:
    return Diagnostic("E0807", sentence, NOWHERE)
