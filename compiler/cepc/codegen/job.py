"""The whole text of a job."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .header import header
from .names import bound_by, names_of
from .prepare import prepare
from .python import Code, lay_out, listed, tupled
from .stream import stream_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cepc_grammar.source import Source
    from cepc_runtime.plan import Plan
    from cepc_runtime.spark.share import Groupings

    from .. import model
    from .names import StreamNames

IMPORTS = """\
from __future__ import annotations

import sys
from collections.abc import Collection, Mapping

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from cepc_runtime.spark import job"""


@dataclass(frozen=True, slots=True)
class Job:
    """`text` is a Python module with `build`, `tables`, `stream` and `main`; `declared` says that every stream has a FROM."""

    text: str
    queries: tuple[str, ...]
    declared: bool


def generate(
    program: model.CheckedProgram,
    plans: Sequence[Plan],
    sources: Mapping[str, Source],
    version: str,
    hot: Sequence[Groupings],
) -> Job:
    """The job of a program: equal programs, equal text. `hot` are the GROUP BYs of each plan that have a group of many events.
    Raises ReservedColumnError.
    """
    jobs = [prepare(program.stream(plan.stream.name), plan, of_plan) for plan, of_plan in zip(plans, hot, strict=True)]
    taken = bound_by(f"{IMPORTS}\n{_main(())}")
    names = names_of(((job.stream.name, [query.name for query in job.plain]) for job in jobs), taken)
    digests = list(zip(_names(sources.values()), (_digest(source) for source in sources.values()), strict=True))
    blocks = [
        '"""Complex-event queries as one Spark job; `--help` lists its arguments."""',
        header(digests, version, program, jobs),
    ]
    text = "\n\n".join([*blocks, IMPORTS]) + "\n"
    for number, (job, name) in enumerate(zip(jobs, names, strict=True)):
        title, constants, *functions = stream_text(job, name)
        text += "\n\n" if number else "\n"
        text += f"{title}\n\n{constants}\n\n\n" + "\n\n\n".join(functions) + "\n"
    text += f"\n\n{_main(names)}\n"
    return Job(text, tuple(q.name for q in program.queries), all(job.stream.source for job in jobs))


def _names(sources: Iterable[Source]) -> list[str]:
    """Seen from the folder of the program: a job has no path of the machine on which it was compiled."""
    names = [source.name for source in sources]
    folder = Path(*names[:1]).parent
    return [os.path.relpath(name, folder) if Path(name).exists() else name for name in names]


def _digest(source: Source) -> str:
    return hashlib.sha256(source.text.encode()).hexdigest()


def _main(names: Sequence[StreamNames]) -> str:
    streams = listed(tupled([Code(of.constant), Code(f"{of.word}_results")]) for of in names)
    streamed = listed(Code(f"{of.constant}_STREAM") for of in names)
    return f'''\
# ---- the job ---------------------------------------------------------------------------------------------------------

{lay_out(streams, before="STREAMS = ")}
{lay_out(streamed, before="STREAMED = ")}


def build(
    spark: SparkSession,
    events: DataFrame | Mapping[str, DataFrame] | None = None,
    queries: Collection[str] | None = None,
    dropped: Mapping[str, Observation] | None = None,
) -> dict[str, DataFrame]:
    """The rows of each query, or of those of `queries`, as a DataFrame; nothing runs before rows are asked for.

    `events` are the events of the stream, or of each stream by its name; by default they are read from where the
    program says. `dropped` observes how many rows were no events, for each stream. What several queries share is
    cached as soon as one of them runs, until `spark.catalog.clearCache()` or the end of the session.
    """
    return job.build(spark, STREAMS, events, queries, dropped)


def tables(
    spark: SparkSession,
    events: DataFrame | Mapping[str, DataFrame] | None = None,
    queries: Collection[str] | None = None,
    dropped: Mapping[str, Observation] | None = None,
) -> dict[str, job.Table]:
    """The same rows as Arrow tables on the driver. One Spark job answers all queries, which is faster than one after another."""
    return job.tables(spark, STREAMS, events, queries, dropped)


def stream(
    spark: SparkSession,
    checkpoint: str,
    sink: job.Sink,
    events: DataFrame | Mapping[str, DataFrame] | None = None,
    queries: Collection[str] | None = None,
    *,
    trigger: str = "10 seconds",
    late: str | None = None,
    buckets: int | None = None,
) -> list[job.Running]:
    """Answer the queries continuously: `sink(query, rows, batch)` gets the rows of each query and micro-batch.

    After a restart it may get the rows of a batch again, the same ones, and must then write nothing twice.
    """
    return job.stream(spark, STREAMED, checkpoint, sink, events, queries, trigger=trigger, late=late, buckets=buckets)


def main(argv: list[str] | None = None) -> int:
    return job.main(argv, build, STREAMS, STREAMED)


if __name__ == "__main__":
    sys.exit(main())'''
