"""The rows of aggregate queries whose windows a watermark closes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..aggregate import Span, run_aggregates
from ..enumerate.budget import TooManyPartialMatchesError
from ..enumerate.run import aggregate_table, arrange_for
from ..evaluate.errors import EvaluationError
from ..events import select
from ..letters import classify
from ..plan import counted_queries, listed_queries
from ..results import ResultOverflowError
from .ticks import before

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..columns import Ints
    from ..events import Reading
    from ..plan import Plan, QueryPlan
    from .decision import Windows
    from .matches import Step


def closed(
    final: Reading, plan: Plan, queries: Sequence[QueryPlan], windows: Windows, step: Step
) -> Iterator[tuple[str, Any]]:
    """The rows, by query, of all windows that close as the watermark goes on; the queries have the same windows."""
    if not len(final.ticks):
        return
    low, high = windows.closing(step.earlier, step.watermark)
    first, last = windows.holding(int(final.ticks.min()), int(final.ticks.max()))
    low, high = max(low, first), min(high, last)
    if low > high:
        return
    try:
        yield from list(_of(final, plan, queries, windows, low, high, step.most))  # whole: what fails has given no rows
    except (ResultOverflowError, TooManyPartialMatchesError, EvaluationError):
        # It may be of events that are here for a window that is not known yet: those that are known are taken one by one.
        for number in _numbers(final.ticks, windows, low, high):
            yield from _of(final, plan, queries, windows, number, number, step.most)


def _of(
    final: Reading, plan: Plan, queries: Sequence[QueryPlan], windows: Windows, low: int, high: int, most: int
) -> Iterator[tuple[str, Any]]:
    """The rows of the windows from number `low` to `high`."""
    events = _between(final, windows.window.begin(low), windows.window.end(high) + windows.after)
    if not len(events.ticks):
        return
    if counted := counted_queries(queries):
        yield from run_aggregates(
            events, plan, counted, span=Span(windows.window.begin(low), windows.window.begin(high) + 1)
        ).items()
    if listed := listed_queries(queries):
        kinds = classify(events, plan.letters)
        for query in listed:
            arranged = arrange_for(events, kinds, plan, [query])
            yield query.name, aggregate_table(arranged, query, limit=most, only=(low, high))


def _between(events: Reading, start: int, end: int) -> Reading:
    inside = before(events.ticks, end) & ~before(events.ticks, start)
    return events if inside.all() else select(events, inside)


def _numbers(ticks: Ints, windows: Windows, low: int, high: int) -> list[int]:
    """The windows between two that hold some event."""
    newest = windows.window.last_holding(ticks)
    numbers = np.unique(np.concatenate([newest - i for i in range(windows.window.open_at_once)]))
    return [int(n) for n in numbers if low <= n <= high]
