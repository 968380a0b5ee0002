"""The whole text of a job."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .header import header
from .names import bound_by, names_of
from .python import Code, call, lay_out, listed
from .stream_job import check_names, stream_job
from .stream_text import stream_text, streamed_text
from .streaming import whole_plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cepc_grammar.source import Source
    from cepc_runtime.plan.physical import PhysicalPlan

    from .. import model
    from ..shared_plans import SharedPlans
    from .names import StreamNames
    from .stream_job import Labels, StreamJob

IMPORTS = """\
from __future__ import annotations

import sys
from collections.abc import Collection

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql import types as T

from cepc_runtime.spark import job"""


@dataclass(frozen=True, slots=True)
class GeneratedJob:
    """`text` is a Python module with `build`, `tables`, `stream`, `matches` and `main`; `declared`: every stream has a
    FROM.

    `plans` are those of a batch, one for each stream.
    """

    text: str
    plans: tuple[PhysicalPlan, ...]
    queries: tuple[str, ...]
    declared: bool


def generate(
    program: model.CheckedProgram,
    shared: SharedPlans,
    streamed: SharedPlans,
    sources: Mapping[str, Source],
    version: str,
) -> GeneratedJob:
    """The job of a program: equal programs, equal text. What queries share is planned for a batch, and for --mode
    stream. Raises ReservedColumnError.
    """
    labels = {query.name: query.labels for query in program.queries if query.labels}
    for stream in program.merged:
        for one in program.members(stream.name):
            check_names(one)
    jobs = _jobs(shared, labels)
    apart = [] if streamed is shared else [job for job in _jobs(streamed, labels) if job not in jobs]
    taken = bound_by(f"{IMPORTS}\n{_main((), ())}")
    called = [(job.stream.name, [query.name for query in job.native]) for job in jobs]
    names = names_of([*called, *((f"streamed {job.stream.name}", []) for job in apart)], taken)
    digests = list(zip(_names(sources.values()), (_digest(source) for source in sources.values()), strict=True))
    blocks = [
        '"""Complex-event queries as one Spark job; `--help` lists its arguments."""',
        header(digests, version, program, jobs, apart),
    ]
    text = "\n\n".join([*blocks, IMPORTS]) + "\n"
    for number, (job, name) in enumerate(zip(jobs, names, strict=False)):
        title, constants, *functions = stream_text(job, name, program)
        text += "\n\n" if number else "\n"
        text += f"{title}\n\n{constants}\n\n\n" + "\n\n\n".join(functions) + "\n"
    streams = {job.stream.name: name for job, name in zip([*jobs, *apart], names, strict=True)}
    for job in apart:
        text += "\n\n" + "\n\n".join(streamed_text(job, streams[job.stream.name], program)) + "\n"
    every = [streams[plan.stream.name] for plan in streamed.plans]
    text += f"\n\n{_main(names[: len(jobs)], every)}\n"
    declared = all(one.source or one.query for job in jobs for one in program.members(job.stream.name))
    return GeneratedJob(text, tuple(map(whole_plan, jobs)), tuple(q.name for q in program.queries), declared)


def _jobs(shared: SharedPlans, labels: Mapping[str, Labels]) -> list[StreamJob]:
    return [
        stream_job(shared.program.stream(workload.plan.stream.name), workload.plan, context.rates, labels)
        for workload, context in zip(shared.workloads, shared.contexts, strict=True)
    ]


def _names(sources: Iterable[Source]) -> list[str]:
    """Seen from the folder of the program: a job has no path of the machine on which it was compiled."""
    names = [source.name for source in sources]
    folder = Path(*names[:1]).parent
    return [os.path.relpath(name, folder) if Path(name).exists() else name for name in names]


def _digest(source: Source) -> str:
    return hashlib.sha256(source.text.encode()).hexdigest()


def _main(names: Sequence[StreamNames], streams: Sequence[StreamNames]) -> str:
    """`names` are those of a batch's parts, `streams` those of a stream's."""
    parts = listed(
        call("job.StreamPart", Code(f"{of.constant}_STREAM"), Code(f"{of.word}_events"), Code(f"{of.word}_results"))
        for of in names
    )
    return f"""\
# ---- the job ---------------------------------------------------------------------------------------------------------

{lay_out(call("job.Job", parts, listed(Code(f"{of.constant}_STREAM") for of in streams)), before="JOB = ")}

# Rows as DataFrames, as Arrow tables, or continuously; some matches of a query; the command line. `help` says more.
build, tables, stream, matches, main = JOB.build, JOB.tables, JOB.stream, JOB.matches, JOB.main


if __name__ == "__main__":
    sys.exit(main())"""
