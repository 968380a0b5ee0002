"""Checked programs to plans: one plan for each stream that has queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.stream import StreamPlan
from cepc_runtime.sql.expression import fields

from ..automaton.letters import Letters
from ..automaton.positions import PatternTooLarge
from ..model import type_of
from .logical import LogicalPlan
from .messages import too_large
from .needs import columns_made_of, columns_needed, raw_types_needed
from .query import plan_query

if TYPE_CHECKING:
    from collections.abc import Collection

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.plan.query import QueryPlan
    from cepc_runtime.plan.stream import Beside, Letter

    from .. import model
    from .logical import Countability, LogicalQuery


@dataclass(frozen=True, slots=True)
class Planned:
    """What a program's queries ask, stream by stream, or what is wrong; never both."""

    plans: tuple[LogicalPlan, ...]
    diagnostics: tuple[Diagnostic, ...]


def plan_program(program: model.CheckedProgram, *, listed: bool = False) -> Planned:
    """One plan for each stream that some query reads, those first whose queries' rows are events of others. `listed`:
    matches are, in every query.
    """
    plans: list[LogicalPlan] = []
    diagnostics: list[Diagnostic] = []
    for stream in program.in_turn:
        queries: list[LogicalQuery[Countability]] = []
        letters = Letters()
        for query in (q for q in program.queries if q.stream == stream.name):
            try:
                queries.append(plan_query(query, letters, listed=listed))
            except PatternTooLarge as problem:
                diagnostics.append(too_large(query, problem))
        if queries:
            plans.append(LogicalPlan(_stream(stream, letters.all(), tuple(queries)), letters.all(), tuple(queries)))
    return Planned(() if diagnostics else tuple(plans), tuple(diagnostics))


def _stream(stream: model.Stream, letters: tuple[Letter, ...], queries: tuple[QueryPlan, ...]) -> StreamPlan:
    needed = columns_needed(stream, letters, queries)
    beside = tuple(column for column in stream.beside if column.name in needed)
    return stream_plan(
        stream, needed | columns_made_of(beside, stream), raw_types_needed(letters, queries, beside), beside
    )


def stream_plan(
    stream: model.Stream, columns: Collection[str], raw_types: tuple[str, ...] | None, beside: tuple[Beside, ...] = ()
) -> StreamPlan:
    """What is read of a stream: these columns, those of event time, order and type among them, of events of these
    types; and columns that are of other events.
    """
    needed = {stream.time.column, *stream.time.order_by, *columns}
    if stream.type_column is not None:
        needed.add(stream.type_column)
    return StreamPlan(
        name=stream.name,
        columns=(
            *(c for c in stream.column_types.items() if c[0] in needed),
            *((column.name, column.type) for column in beside),
        ),
        all_columns=tuple(name for name, _ in stream.columns),
        time_column=stream.time.column,
        unit=stream.time.tick,
        order_by=stream.time.order_by,
        type_column=stream.type_column,
        single_type=stream.name if stream.type_column is None else None,
        raw_types=raw_types,
        beside=beside,
    )


def member_plan(program: model.CheckedProgram, member: model.MergedMember, plan: StreamPlan) -> StreamPlan:
    """What a plan over several streams wants of one of them."""
    stream = program.stream(member.stream)
    wanted = {name for name, _ in plan.given}
    columns = {f.column for column in member.needed(wanted) for f in fields(column.expression)}
    types: tuple[str, ...] | None = None
    if plan.raw_types is not None and stream.type_column is not None:
        before = type_of(stream.name, "")
        types = tuple(type_.removeprefix(before) for type_ in plan.raw_types if type_.startswith(before))
    return stream_plan(stream, columns, types)
