"""Counting the matches of a sharing class: queries with the same partition attributes, in one pass over their
events.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cheap_dataclass import dataclass
from ..sql.evaluate.errors import naming
from . import loop, scatter
from .by_query import RowsByQuery
from .loop import Input
from .machine_code import run_function
from .records import COUNTER, NONE
from .table_cache import table_of
from .tables import new_state
from .values import Values, values_of
from .views import on_views
from .windows import Buffer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..events.grouped import Events
    from ..events.letters import Kinds
    from ..plan.sharing import SharedStates
    from ..plan.strategy import CountedQuery
    from .basis import Costs
    from .by_query import Emissions
    from .planes import KeptPlanes, QueryPlanes
    from .tables import KernelLayout

ROWS = 1 << 16
"""Rows that the buffer holds, besides those of one instant: so few that they are near the processor when they go to
their queries.
"""

ALL_BUT_THE_LAST = 0.9
"""What is done where the windows of the last group are not closed yet, whose rows are not to have too little room."""

AT_ONCE = 1 << 18
"""Instants after which is told how far the pass is: less than a second's work even for a hundred queries."""


@dataclass(frozen=True)
class Effort:
    """What a run did: operations on rows of memory, and numbers that they changed; runs of events inside of a shared
    part, and their events: on basis columns (shared), or for each query by itself (split); how often a lane of a shared
    run got basis columns of its own, as an event did something else there; events that a band took as one.
    """

    operations: int = 0
    numbers: int = 0
    runs_shared: int = 0
    runs_split: int = 0
    events_shared: int = 0
    events_split: int = 0
    own_columns: int = 0
    events_joined: int = 0

    def __add__(self, other: Effort) -> Effort:
        return Effort(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True)
class Counted:
    """The outcome for a class: emissions by query, in the order of the queries."""

    emissions: tuple[Emissions, ...]
    planes: tuple[QueryPlanes, ...]
    values: Values
    effort: Effort


def count_matches(
    events: Events,
    kinds: Kinds,
    queries: Sequence[CountedQuery],
    shared: Sequence[SharedStates] = (),
    *,
    costs: Costs | None = None,
    interpreted: bool | None = None,
    tell: Callable[[float], None] = lambda _fraction: None,
) -> Counted:
    """Run the automata of the queries, all with the partition of `events`. `kinds` are those of the events, in their
    order; `shared` is what the queries share, of which what is about others is left out. The costs decide which runs
    are shared. `tell` is told the fraction that is done.
    """
    ties = len(events.instant_starts) <= events.length
    table = table_of(tuple(queries), tuple(shared), costs, ties)

    def evaluated(some: Sequence[CountedQuery]) -> Values:
        planes = table.planes if some is queries else [table.planes[queries.index(query)] for query in some]
        keys = [plane.value for own in planes for plane in own.planes]
        return values_of(keys, events.table, kinds, events.group_starts)

    values = naming(queries, evaluated)
    nulls = values.nulls
    layout, kinds = table.of(kinds, values.index, nulls)
    kept = table.kept(nulls)
    emissions, work = run_kernel(events, kinds, layout, kept, values.matrix, interpreted=interpreted, tell=tell)
    return Counted(emissions, table.planes, values, work)


def run_kernel(
    events: Events,
    kinds: Kinds,
    layout: KernelLayout,
    kept: KeptPlanes,
    matrix: Any,
    *,
    interpreted: bool | None = None,
    tell: Callable[[float], None] = lambda _fraction: None,
) -> tuple[tuple[Emissions, ...], Effort]:
    """One pass over the events: the emissions of each query, and what it took. Numbers are of the matrix's type. `kept`
    are the planes of the layout.
    """
    state, buffer = new_state(layout, matrix.dtype), _buffer(layout, kept.of, matrix.dtype)
    data = Input(events.ticks, kinds.of, events.groups, events.instant_starts, matrix)
    run, instant, end = run_function(loop, len(data.ticks) * len(kept.of), interpreted), 0, len(data.instants) - 1
    if run is loop.run:
        run = on_views(run, matrix.dtype, layout.table, data.ticks)
    found = RowsByQuery(kept, matrix.dtype, run_function(scatter, 0, interpreted))
    while True:
        until = min(instant + AT_ONCE, end)
        part = data._replace(instants=data.instants[: until + 1])
        with np.errstate(all="ignore"):  # numbers may overflow; interpreted, numpy would warn
            instant = run(layout.table, state.progress, state.memory, part, buffer, instant, until == end)
        tell(instant / max(end, 1))
        emitted, values = state.progress[COUNTER.emitted], state.progress[COUNTER.emitted_values]
        is_last = instant == end and state.progress[COUNTER.last_touched] == NONE
        done = 1.0 if is_last else min(instant / end, ALL_BUT_THE_LAST)
        found.add(buffer.rows[:emitted], buffer.values[:values], done)
        if is_last:
            break
        state.progress[COUNTER.emitted] = state.progress[COUNTER.emitted_values] = 0
    counters = (
        COUNTER.done,
        COUNTER.changed,
        COUNTER.runs_shared,
        COUNTER.runs_split,
        COUNTER.events_shared,
        COUNTER.events_split,
        COUNTER.own_columns,
        COUNTER.events_joined,
    )
    return found.emissions(), Effort(*(int(state.progress[counter]) for counter in counters))


def _buffer(layout: KernelLayout, planes: Sequence[QueryPlanes], dtype: Any) -> Buffer:
    """Room for the rows, and at least for all that one instant can emit."""
    rows = ROWS + layout.rows
    widest = max((own.count for own in planes), default=1)
    values = ROWS * widest + layout.values
    return Buffer(
        np.empty((rows, 3), dtype=np.int64), np.empty(values, dtype), rows - layout.rows, values - layout.values
    )
