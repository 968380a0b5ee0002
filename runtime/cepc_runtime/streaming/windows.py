"""The rows of aggregate queries whose windows a watermark closes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..aggregate import run_aggregates
from ..enumerate.budget import TooManyPartialMatchesError
from ..enumerate.run import aggregate_table, arrange_for
from ..evaluate.errors import EvaluationError
from ..events import select, ticks_of, times_of
from ..letters import classify
from ..results import ResultOverflowError
from ..types import to_arrow
from .ticks import before

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..columns import Ints
    from ..events import Reading
    from ..plan import Plan, QueryPlan
    from .decision import Windows


def closed(
    final: Reading, plan: Plan, queries: Sequence[QueryPlan], windows: Windows, earlier: int, watermark: int
) -> Iterator[tuple[str, Any]]:
    """The rows, by query, of all windows that close as the watermark goes on from `earlier`; the queries have the same windows."""
    if not len(final.ticks):
        return
    low, high = windows.closing(earlier, watermark)
    first, last = windows.holding(int(final.ticks.min()), int(final.ticks.max()))
    low, high = max(low, first), min(high, last)
    if low > high:
        return
    events = _between(final, low * windows.slide, high * windows.slide + windows.within)
    if not len(events.ticks):
        return
    try:
        found = _run(events, plan, queries)
    except (ResultOverflowError, TooManyPartialMatchesError, EvaluationError):
        # It may be of a window at either end, of which not all events are here: those that close are taken one by one.
        for number in _numbers(events.ticks, windows, low, high):
            start = number * windows.slide
            inside = _between(events, start, start + windows.within)
            for name, table in _one(inside, plan, queries, start, start + windows.within).items():
                yield name, table
        return
    for name, table in found.items():
        numbers = ticks_of(table.column("window_start")) // windows.slide
        yield name, table.filter(pa.array((numbers >= low) & (numbers <= high)))


def _between(events: Reading, start: int, end: int) -> Reading:
    inside = before(events.ticks, end) & ~before(events.ticks, start)
    return events if inside.all() else select(events, inside)


def _numbers(ticks: Ints, windows: Windows, low: int, high: int) -> list[int]:
    """The windows between two that hold some event."""
    newest = ticks // windows.slide
    count = -(-windows.within // windows.slide)
    numbers = np.unique(np.concatenate([newest - i for i in range(count)]))
    return [int(n) for n in numbers if low <= n <= high]


def _run(events: Reading, plan: Plan, queries: Sequence[QueryPlan]) -> dict[str, Any]:
    counted = [query for query in queries if query.automaton is not None]
    found = run_aggregates(events, plan, counted) if counted else {}
    kinds = None
    for query in queries:
        if query.automaton is None:
            kinds = classify(events, plan.letters) if kinds is None else kinds
            found[query.name] = aggregate_table(arrange_for(events, kinds, plan, [query]), query)
    return found


def _one(events: Reading, plan: Plan, queries: Sequence[QueryPlan], start: int, end: int) -> dict[str, Any]:
    """The rows of one window, all of whose events are given. Raises what is wrong there."""
    time = to_arrow(dict(plan.stream.columns)[plan.stream.time_column])
    edges = [times_of(np.array([edge]), time) for edge in (start, end)]
    try:
        alone = replace(plan, sharing=(), shared_matches=())  # what is shared is so for the queries' own windows
        found = _run(events, alone, [replace(query, within=None, slide=None) for query in queries])
    except ResultOverflowError as error:
        window = edges[0][0].as_py(), edges[1][0].as_py()
        raise ResultOverflowError(error.query, error.group, window, error.aggregate, error.type, error.cure) from None
    return {name: _with_edges(table, edges) for name, table in found.items()}


def _with_edges(table: Any, edges: Sequence[Any]) -> Any:
    for name, edge in zip(("window_start", "window_end"), edges, strict=True):
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.repeat(edge[0], table.num_rows))
    return table
