"""The rows of aggregate queries whose windows a watermark closes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..drive import drive
from ..enumerate.budget import TooManyPartialMatchesError
from ..events.grouped import select
from ..events.stretch import Means, Stretch, TimeSpan
from ..results.as_columns import ResultOverflowError
from ..sql.evaluate.errors import EvaluationError
from .ticks import before

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..events.grouped import Reading
    from ..numbers.columns import Ints
    from ..plan.physical import PhysicalPlan
    from ..plan.strategy import PhysicalQuery
    from .decision import Windows
    from .matches import Advance


def closed(
    final: Reading, plan: PhysicalPlan, queries: Sequence[PhysicalQuery], windows: Windows, step: Advance
) -> Iterator[tuple[str, Any]]:
    """The rows, by query, of all windows that close as the watermark goes on; the queries have the same windows."""
    if not len(final.ticks):
        return
    low, high = windows.closing(step.earlier, step.watermark)
    first, last = windows.holding(int(final.ticks.min()), int(final.ticks.max()))
    low, high = max(low, first), min(high, last)
    if low > high:
        return
    means = Means(most=step.most)

    def rows(least: int, most: int) -> Iterator[tuple[str, Any]]:
        """Of the windows from one number to another."""
        stretch = _stretch(final, plan, windows, least, most)
        if len(stretch.reading.ticks):
            yield from drive(stretch, queries, means)

    yield from at_once_or_apart(rows, low, high, lambda: _numbers(final.ticks, windows, low, high))


def at_once_or_apart(
    rows: Callable[[int, int], Iterator[tuple[str, Any]]], low: int, high: int, numbers: Callable[[], list[int]]
) -> Iterator[tuple[str, Any]]:
    """The rows of the windows from number `low` to `high`, each row once. Where they cannot be found at once, because
    that is too much or an event fails that is there for a window that is not known yet, they are found window by
    window, in the order of the `numbers`: then only a window that fails by itself is an error, after the rows of those
    before it.
    """
    try:
        found = list(rows(low, high))
    except (ResultOverflowError, TooManyPartialMatchesError, EvaluationError):
        for number in numbers():
            yield from rows(number, number)
    else:
        yield from found


def _stretch(final: Reading, plan: PhysicalPlan, windows: Windows, low: int, high: int) -> Stretch:
    """All events that the windows from number `low` to `high` need."""
    begin, window = windows.window.begin, windows.window
    return Stretch(
        plan, _between(final, begin(low), window.end(high) + windows.after), TimeSpan(begin(low), begin(high) + 1)
    )


def _between(events: Reading, start: int, end: int) -> Reading:
    inside = before(events.ticks, end) & ~before(events.ticks, start)
    return events if inside.all() else select(events, inside)


def _numbers(ticks: Ints, windows: Windows, low: int, high: int) -> list[int]:
    """The windows between two that hold some event."""
    newest = windows.window.last_holding(ticks)
    numbers = np.unique(np.concatenate([newest - i for i in range(windows.window.open_at_once)]))
    return [int(n) for n in numbers if low <= n <= high]
