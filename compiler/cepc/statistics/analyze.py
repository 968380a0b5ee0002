"""The statistics of a program's streams, from events."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import ProgramError, RunError
from ..planning import lifted, plan_program
from ..running.from_query import loading_of
from ..running.messages import no_value
from .read import declared_types

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cepc_grammar.source import Source
    from cepc_runtime.plan.stream import StreamPlan

    from .. import model
    from ..reading.read import Read
    from .statistics import Statistics


def analyze(
    program: model.CheckedProgram, load: Callable[[model.Stream, StreamPlan], Read], sources: Mapping[str, Source]
) -> dict[str, Statistics]:
    """For each stream that some query reads, what `load` gives of it. Raises ProgramError, DataError and RunError.

    Events of all types are counted, so that a query added later finds the rates of its types.
    """
    from cepc_runtime.sql.evaluate.errors import EvaluationError

    from .measure import measure

    planned = plan_program(program)
    if not planned.plans:
        raise ProgramError(planned.diagnostics, sources)
    found = {}
    over_more = plan_program(lifted(program)).plans  # which ask more of streams that are seen together
    plans = {plan.stream.name: plan for plan in (*planned.plans, *over_more)}.values()
    wanted = [replace(plan.stream, raw_types=None) for plan in plans]
    loading = loading_of(program, wanted, load, sources)
    for plan, events in zip(plans, wanted, strict=True):
        stream = program.stream(plan.stream.name)
        read = loading.events(events)
        try:
            found[stream.name] = measure(plan, read.table, declared_types(stream))
        except EvaluationError as error:
            raise RunError([no_value(error, stream.span)], sources) from None
    return found
