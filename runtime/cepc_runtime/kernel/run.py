"""Counting the matches of a sharing class: queries with the same partition attributes, in one pass over their events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import loop
from .compiled import run_function
from .loop import Buffer, Input
from .planes import QueryPlanes, planes_of
from .tables import DONE, EMITTED, EMITTED_VALUES, LAST_TOUCHED, NONE, build, new_state
from .values import Values, values_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..columns import Floats, Ints
    from ..events import Events
    from ..letters import Kinds
    from ..plan import QueryPlan
    from .tables import Layout, State

ROWS = 1 << 16
"""Rows that the buffer holds, if not more are needed for one instant."""


@dataclass(frozen=True)
class Emissions:
    """What the kernel found for one query: a row for each group and window with a match, and a column for each plane."""

    groups: Ints
    windows: Ints
    planes: Floats


@dataclass(frozen=True)
class Counted:
    """The outcome for a class: emissions by query, in the order of the queries; `operations` counts row operations."""

    emissions: tuple[Emissions, ...]
    planes: tuple[QueryPlanes, ...]
    values: Values
    operations: int


def count_matches(
    events: Events, kinds: Kinds, queries: Sequence[QueryPlan], *, interpreted: bool | None = None, rows: int = ROWS
) -> Counted:
    """Run the automata of the queries, all with the partition of `events`. `kinds` are those of the events, in their order."""
    keys = [p.value for q in queries if q.automaton for p in planes_of(q.automaton, q.measures).planes]
    values = values_of(keys, events.table, kinds)
    layout = build(queries, kinds.letters, values.index)
    found: list[list[Emissions]] = [[] for _ in queries]
    state, buffer = new_state(layout), _buffer(layout, rows)
    limits = len(buffer.rows) - layout.rows, len(buffer.values) - layout.values
    data = Input(events.ticks, kinds.of, events.groups, events.instant_starts, values.matrix)
    run, instant = run_function(loop, len(data.ticks) * len(queries), interpreted), 0
    while True:
        with np.errstate(all="ignore"):  # numbers may overflow to infinity; interpreted, numpy would warn
            instant = run(layout.table, state.progress, state.memory, data, buffer, instant, *limits, True)
        for query, part in _split(buffer, state, layout):
            found[query].append(part)
        if instant == len(data.instants) - 1 and state.progress[LAST_TOUCHED] == NONE:
            break
        state.progress[EMITTED] = state.progress[EMITTED_VALUES] = 0
    emissions = tuple(_joined(parts, planes.count) for parts, planes in zip(found, layout.planes, strict=True))
    return Counted(emissions, layout.planes, values, int(state.progress[DONE]))


def _buffer(layout: Layout, rows: int) -> Buffer:
    """Room for the rows, and at least for all that one instant can emit."""
    rows = max(rows, layout.rows)
    widest = max((planes.count for planes in layout.planes), default=1)
    return Buffer(np.empty((rows, 3), dtype=np.int64), np.empty(max(rows * widest, layout.values)))


def _split(buffer: Buffer, state: State, layout: Layout) -> Iterator[tuple[int, Emissions]]:
    """The buffer's rows by query."""
    rows, size = state.progress[EMITTED], state.progress[EMITTED_VALUES]
    queries, groups, windows = buffer.rows[:rows].T
    counts = np.array([planes.count for planes in layout.planes], dtype=np.int64)
    ends = np.cumsum(counts[queries])
    assert rows == 0 or ends[-1] == size
    order = np.argsort(queries, kind="stable")
    bounds = np.searchsorted(queries[order], np.arange(len(counts) + 1))
    for query in np.flatnonzero(np.diff(bounds)).tolist():
        chosen = order[bounds[query] : bounds[query + 1]]
        places = (ends[chosen] - counts[query])[:, None] + np.arange(counts[query])
        yield query, Emissions(groups[chosen], windows[chosen], buffer.values[places])


def _joined(parts: list[Emissions], planes: int) -> Emissions:
    if not parts:
        return Emissions(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty((0, planes)))
    return Emissions(
        np.concatenate([p.groups for p in parts]),
        np.concatenate([p.windows for p in parts]),
        np.concatenate([p.planes for p in parts]),
    )
