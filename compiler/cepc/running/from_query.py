"""The events of plans for who does not run whole programs: queries whose rows are among them have run by then."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_runtime.parts.resources import ONE_THREAD

from ..errors import ProgramError
from ..passes.strategy import strategy
from ..planning import plan_program
from .loading import Loading, RowsAsEvents
from .local import closing_on_error, execute_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cepc_grammar.source import Source
    from cepc_runtime.parts.resources import Resources
    from cepc_runtime.plan.stream import StreamPlan

    from .. import model
    from ..reading.read import Read


def loading_of(
    program: model.CheckedProgram,
    plans: Iterable[StreamPlan],
    load: Callable[[model.Stream, StreamPlan], Read],
    sources: Mapping[str, Source],
    resources: Resources = ONE_THREAD,
) -> Loading:
    """What reads the events of these plans of the program. Raises ProgramError, DataError and RunError."""
    looked_at = {one.name: one for query in program.with_needed.queries for one in program.members(query.stream)}
    queries = {one.query.name: one.query for one in looked_at.values() if one.query is not None}
    before = plan_program(replace(program, queries=tuple(queries.values())))
    if before.diagnostics:
        raise ProgramError(before.diagnostics, sources)
    rows = RowsAsEvents(load, resources)
    loading = Loading(program, [*(plan.stream for plan in before.plans), *plans], rows, resources)
    with closing_on_error(loading):
        for plan in before.plans:
            read = loading.events(plan.stream)
            physical = strategy(plan, "local")
            rows.found(execute_plan(physical, read, queries.values(), sources, resources=resources).tables)
    return loading
