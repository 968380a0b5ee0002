"""Checked programs to plans: one plan for each stream that has queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.stream import StreamPlan

from ..automaton.letters import Letters
from ..automaton.positions import PatternTooLarge
from .logical import LogicalPlan
from .messages import too_large
from .needs import columns_made_of, columns_needed, raw_types_needed
from .query import plan_query

if TYPE_CHECKING:
    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.plan.query import QueryPlan
    from cepc_runtime.plan.stream import Letter

    from .. import model
    from .logical import Countability, LogicalQuery


@dataclass(frozen=True, slots=True)
class Planned:
    """What a program's queries ask, stream by stream, or what is wrong; never both."""

    plans: tuple[LogicalPlan, ...]
    diagnostics: tuple[Diagnostic, ...]


def plan_program(program: model.CheckedProgram, *, listed: bool = False) -> Planned:
    """One plan for each stream that some query reads, in the order of the text. `listed`: matches are, in every
    query.
    """
    plans: list[LogicalPlan] = []
    diagnostics: list[Diagnostic] = []
    for stream in program.streams:
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
    needed |= columns_made_of(beside, stream)
    return StreamPlan(
        name=stream.name,
        columns=(
            *(c for c in stream.column_types.items() if c[0] in needed),
            *((column.name, column.type) for column in beside),
        ),
        all_columns=tuple(name for name, _ in stream.columns),
        time_column=stream.time.column,
        unit=_tick(stream.time),
        order_by=stream.time.order_by,
        type_column=stream.type_column,
        single_type=stream.name if stream.type_column is None else None,
        raw_types=raw_types_needed(letters, queries, beside),
        beside=beside,
    )


def _tick(time: model.TimeColumn) -> Literal["us", "ms", "s", "day"]:
    if time.unit is not None:
        return time.unit
    return "day" if time.type.sql == "DATE" else "us"
