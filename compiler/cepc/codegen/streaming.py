"""What a job needs to answer a stream's queries continuously: the plan of all of them, and how late an event may be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_runtime.plan.stream import MILLISECONDS

from .python import Code, call, comment, lay_out, tupled

if TYPE_CHECKING:
    from cepc_runtime.plan.physical import PhysicalPlan
    from cepc_runtime.plan.stream import TickUnit

    from .stream_job import StreamJob


def streamed_plan(job: StreamJob) -> PhysicalPlan:
    """Of the queries that a batch leaves to Spark: a stream needs their windows closed one by one, like those of
    others.
    """
    names = {query.name for query in job.native}
    return replace(job.kernel, queries=tuple(query for query in job.plan.queries if query.name in names))


def whole_plan(job: StreamJob) -> PhysicalPlan:
    """Of all queries, as a stream has them."""
    return replace(job.kernel, queries=job.plan.queries)


def streamed(job: StreamJob, constant: str) -> str:
    """The constant that describes the stream as it runs continuously."""
    plans = [f"{constant}_PLAN"] * bool(job.kernel.queries) + [f"{constant}_PLAIN"] * bool(job.native)
    late = milliseconds(job.stream.time.watermark, job.plan.stream.unit)
    described = call(
        "job.Streamed",
        stream=Code(constant),
        plans=tupled(map(Code, plans)),
        letters=Code(f"tuple({constant}_LETTERS)"),
        watermark=Code(f"{late:_}"),
        **({"beside": Code(f"tuple({constant}_BESIDE)")} if job.beside else {}),
        **({} if job.lags is None else {"lags": Code(f"job.LagLetters({constant}_LAGS, tuple({constant}_KNOWN))")}),
    )
    return f"{comment('With --mode stream; `watermark` is how many milliseconds late an event may be.')}\n" + lay_out(
        described, before=f"{constant}_STREAM = "
    )


def milliseconds(ticks: int, unit: TickUnit) -> int:
    """Of the watermark; Spark knows nothing finer, and an event within it is never late."""
    return -(-ticks // 1000) if unit == "us" else ticks * MILLISECONDS[unit]
