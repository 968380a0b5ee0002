"""Counting the matches of a sharing class: queries with the same partition attributes, in one pass over their
events.
"""

from __future__ import annotations

from dataclasses import fields
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..cheap_dataclass import dataclass
from ..sql.evaluate.errors import naming
from . import loop, scatter
from .loop import Input
from .machine_code import run_function
from .records import COUNTER, NONE
from .scatter import ByQuery, Scattered
from .table_cache import table_of
from .tables import new_state
from .values import Values, values_of
from .views import on_views
from .windows import Buffer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..events.grouped import Events
    from ..events.letters import Kinds
    from ..numbers.columns import Ints
    from ..plan.sharing import SharedStates
    from ..plan.strategy import CountedQuery
    from .basis import Costs
    from .planes import KeptPlanes, QueryPlanes
    from .tables import KernelLayout

ROWS = 1 << 16
"""Rows that the buffer holds, if not more are needed for one instant."""

AT_ONCE = 1 << 18
"""Instants after which is told how far the pass is: less than a second's work even for a hundred queries."""


@dataclass(frozen=True)
class Emissions:
    """What the kernel found for one query: a row for each group and window with a match, and a column for each
    plane.
    """

    groups: Ints
    windows: Ints
    planes: npt.NDArray[Any]


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
    found: list[tuple[Ints, npt.NDArray[Any]]] = []
    state, buffer = new_state(layout, matrix.dtype), _buffer(layout, kept.of, matrix.dtype)
    data = Input(events.ticks, kinds.of, events.groups, events.instant_starts, matrix)
    run, instant, end = run_function(loop, len(data.ticks) * len(kept.of), interpreted), 0, len(data.instants) - 1
    if run is loop.run:
        run = on_views(run, matrix.dtype, layout.table, data.ticks)
    while True:
        until = min(instant + AT_ONCE, end)
        part = data._replace(instants=data.instants[: until + 1])
        with np.errstate(all="ignore"):  # numbers may overflow; interpreted, numpy would warn
            instant = run(layout.table, state.progress, state.memory, part, buffer, instant, until == end)
        tell(instant / max(end, 1))
        emitted, values = state.progress[COUNTER.emitted], state.progress[COUNTER.emitted_values]
        found.append((buffer.rows[:emitted].copy(), buffer.values[:values].copy()))
        if instant == end and state.progress[COUNTER.last_touched] == NONE:
            break
        state.progress[COUNTER.emitted] = state.progress[COUNTER.emitted_values] = 0
    emissions = _by_query(found, kept, run_function(scatter, 0, interpreted))
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
    return emissions, Effort(*(int(state.progress[counter]) for counter in counters))


def _buffer(layout: KernelLayout, planes: Sequence[QueryPlanes], dtype: Any) -> Buffer:
    """Room for the rows, and at least for all that one instant can emit."""
    rows = max(ROWS, layout.rows)
    widest = max((own.count for own in planes), default=1)
    values = max(rows * widest, layout.values)
    return Buffer(
        np.empty((rows, 3), dtype=np.int64), np.empty(values, dtype), rows - layout.rows, values - layout.values
    )


def _by_query(
    found: Sequence[tuple[Ints, npt.NDArray[Any]]], kept: KeptPlanes, scattering: Callable[..., Any]
) -> tuple[Emissions, ...]:
    """The emissions of each query from the rows (query, group, window) of all, and the planes that are kept one row
    after the other, both in parts. Each plane of a query stands in one piece, which numpy goes through faster.
    """
    widths = np.array([len(own) for own in kept.asked], dtype=np.int64)
    lengths = sum((np.bincount(rows[:, 0], minlength=len(kept.of)) for rows, _ in found), np.zeros_like(widths))
    ends, values_end, asked_end = np.cumsum(lengths), np.cumsum(lengths * widths), np.cumsum(widths)
    rows, begins = ends - lengths, values_end - lengths * widths
    numbers = np.empty((lengths * widths).sum(), dtype=found[0][1].dtype)
    into = Scattered(np.empty(lengths.sum(), dtype=np.int64), np.empty(lengths.sum(), dtype=np.int64), numbers)
    of = ByQuery(
        np.array([own.count for own in kept.of], dtype=np.int64),
        np.fromiter(chain.from_iterable(kept.asked), dtype=np.int64),
        asked_end - widths,
        asked_end,
        lengths,
        rows.copy(),
        begins.copy(),
    )
    for part in found:
        scattering(*part, of, into)
    return tuple(
        Emissions(into.groups[first:end], into.windows[first:end], numbers[begin:last].reshape(width, end - first).T)
        for first, end, begin, last, width in zip(rows, ends, begins, values_end, widths, strict=True)
    )
