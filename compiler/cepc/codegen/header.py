"""The comment on top of a job: where it comes from, and what it answers and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..explaining.describe import duration, pattern
from .python import comment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cepc_runtime.plan import QueryPlan

    from .. import model
    from .prepare import StreamJob


def header(
    sources: Sequence[tuple[str, str]], version: str, program: model.CheckedProgram, jobs: Sequence[StreamJob]
) -> str:
    """`sources` are the names of the program's texts with their SHA-256."""
    lines = [
        f"Made by cepc {version}: change the program and compile it again, not this file.",
        "",
        *(f"program  {name}, SHA-256 {digest}" for name, digest in sources),
    ]
    for job in jobs:
        lines += ["", *_stream(job)]
        lines += [line for query in job.plan.queries for line in _query(query, program, job)]
    return "\n".join(comment(line) for line in lines)


def _stream(job: StreamJob) -> Iterator[str]:
    plan = job.plan.stream
    types = "all types" if plan.raw_types is None else f"types {', '.join(plan.raw_types)}"
    yield f"stream {plan.name}: reads {len(job.read)} of {len(job.stream.columns)} columns, events of {types}"


def _query(query: QueryPlan, program: model.CheckedProgram, job: StreamJob) -> Iterator[str]:
    checked = next(q for q in program.queries if q.name == query.name)
    how = (
        "lists its matches"
        if query.kind == "match"
        else "counts"
        if query.automaton
        else "lists matches and aggregates them"
    )
    yield f"  {query.name}: {how}"
    yield f"    pattern  {pattern(checked.pattern, job.stream)}"
    if query.partition:
        yield f"    agreeing {', '.join(query.partition)}"
    if query.kind == "aggregate" and query.group_by:
        yield f"    groups   {', '.join(query.group_by)}"
    yield f"    window   {_window(query, job.stream)}"


def _window(query: QueryPlan, stream: model.Stream) -> str:
    if query.within is None:
        return "all of the input"
    slide = "" if query.slide is None else f" sliding by {duration(query.slide, stream)}"
    return f"{duration(query.within, stream)}{slide}"
