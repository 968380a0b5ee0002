"""A checked program to its job, and a job to functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cepc_runtime.cheap_dataclass import dataclass

from ..errors import ProgramError
from ..running.messages import nothing_to_run
from ..shared_plans import Options, in_streams, plan_shared
from ..version import version
from .job import GeneratedJob, generate
from .stream_job import ReservedColumnError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cepc_grammar.source import Source

    from .. import model
    from ..shared_plans import SharedPlans


def job_of(
    program: model.CheckedProgram, sources: Mapping[str, Source], options: Options | None = None
) -> GeneratedJob:
    """The job of a program. Raises ProgramError where a query cannot be planned or there is none.

    By default the optimisers' budget is in steps, so that the job is the same on every machine.
    """
    return job_from(program, planned(program, sources, options), sources)


def planned(
    program: model.CheckedProgram, sources: Mapping[str, Source], options: Options | None = None
) -> SharedPlans:
    """The plans of a program, of which there is one at least. Raises ProgramError."""
    if not program.queries:
        raise ProgramError([nothing_to_run("QUERY", "write one; `cepc explain W0007` shows a small program")], sources)
    found = plan_shared(program, options or Options(seconds=None))
    if not found.workloads:
        raise ProgramError(found.diagnostics, sources)
    return found


def job_from(program: model.CheckedProgram, shared: SharedPlans, sources: Mapping[str, Source]) -> GeneratedJob:
    """The job of plans. Raises ProgramError."""
    from . import messages

    streamed = in_streams(program, shared)
    try:
        return generate(program, shared, streamed, sources, version())
    except ReservedColumnError as error:
        raise ProgramError([messages.reserved(error.column, error.stream)], sources) from None


@dataclass(frozen=True)
class LoadedJob:
    """A job as if it were imported: its `build` and `tables`, its streams by name, those that are read for them, and
    all as they run continuously, by name.
    """

    build: Callable[..., dict[str, Any]]
    tables: Callable[..., dict[str, Any]]
    streams: dict[str, Any]
    sources: dict[str, Any]
    streamed: dict[str, Any]


def load(job: GeneratedJob) -> LoadedJob:
    namespace: dict[str, Any] = {"__name__": "cepc_job"}
    exec(compile(job.text, "<cepc job>", "exec"), namespace)
    whole: Any = namespace["JOB"]
    sources = {one.name: one for stream in reversed(whole.streams) for one in stream.sources if one.query is None}
    streamed = {one.stream.name: one for one in whole.streamed}
    return LoadedJob(whole.build, whole.tables, {stream.name: stream for stream in whole.streams}, sources, streamed)
