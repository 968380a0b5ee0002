"""The comment on top of a job: where it comes from, and what it answers and how."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Final

from cepc_grammar.spelling import string_text
from cepc_runtime.plan.strategy import Count, CountNeighbours, Join, List, Native

from ..explaining.describe import pattern, window
from .python import WIDTH, comment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cepc_runtime.plan.strategy import PhysicalQuery

    from .. import model
    from .stream_job import StreamJob

MOST: Final = 1000
"""Queries of a stream that are told: more than anyone reads."""


def header(
    sources: Sequence[tuple[str, str]],
    version: str,
    program: model.CheckedProgram,
    jobs: Sequence[StreamJob],
    apart: Sequence[StreamJob],
) -> str:
    """`sources` are the names of the program's texts with their SHA-256; with --mode stream some streams are others,
    which stand `apart`.
    """
    lines = [
        f"Made by cepc {version}: change the program and compile it again, not this file.",
        "",
        *(f"program  {name}, SHA-256 {digest}" for name, digest in sources),
    ]
    checked = {query.name: query for query in program.queries}
    for job in jobs:
        lines += ["", *_stream(job)]
        told = job.batch.queries[:MOST]
        lines += [line for query in told for line in _query(query, checked[query.name], job)]
        if left := len(job.batch.queries) - len(told):
            lines.append(f"  and {left:,} more queries, which the program tells")
    if apart:
        lines += ["", "With --mode stream no query waits for other streams than its own, and there are"]
        lines += [f"  stream {job.stream.name}: {_names(job)}" for job in apart]
    return "\n".join(comment(part) for line in lines for part in _wrapped(line))


def _names(job: StreamJob) -> str:
    queries = [query.name for query in job.plan.queries]
    more = f" and {len(queries) - MOST:,} more" if len(queries) > MOST else ""
    return ", ".join(queries[:MOST]) + more


def _wrapped(line: str) -> list[str]:
    """A line that fits the page; what is continued stands further in."""
    indent = " " * (len(line) - len(line.lstrip()))
    broken = wrap(
        line, WIDTH - 2, subsequent_indent=f"{indent}    ", break_long_words=False, break_on_hyphens=False,
        drop_whitespace=True, replace_whitespace=False,
    )  # fmt: skip
    return broken or [""]


def _stream(job: StreamJob) -> Iterator[str]:
    plan = job.plan.stream
    types = "all types" if plan.raw_types is None else f"types {', '.join(plan.raw_types)}"
    made = f"computes {', '.join(c.name for c in job.input.computed)}, " if job.input.computed else ""
    read = f"{len(job.input.columns)} of {len(job.stream.input.columns)} columns"
    if job.stream.members:
        names = " and ".join(member.stream for member in job.stream.members)
        yield f"stream {plan.name}: the events of {names} together, of {types}"
        return
    if job.stream.query is not None:
        yield f"stream {plan.name}: the rows of {job.stream.query.name}, {read}, {made}of {types}"
        return
    yield f"stream {plan.name}: reads {read}, {made}events of {types}"


def _query(query: PhysicalQuery, checked: model.Query, job: StreamJob) -> Iterator[str]:
    yield f"  {query.name}: {_how(query)}"
    if checked.labels:
        yield f"    labels   {', '.join(f'{name} = {string_text(value)}' for name, value in checked.labels)}"
    yield f"    pattern  {pattern(checked.pattern, job.stream)}"
    if query.partition:
        yield f"    agreeing {', '.join(query.partition)}"
    if query.kind == "aggregate" and query.group_by:
        yield f"    groups   {', '.join(query.group_by)}"
    yield f"    window   {window(query, job.stream)}"


def _how(query: PhysicalQuery) -> str:
    match query.strategy:
        case Native():
            return "aggregates events in Spark's own functions"
        case Count() | CountNeighbours():
            return "counts"
        case List() | Join():
            return "lists its matches" if query.kind == "match" else "lists matches and aggregates them"
