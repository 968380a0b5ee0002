"""WITHIN SESSION in a stream: a session is over when the watermark has passed its end, for what comes then is late or
begins another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..drive import drive, kinds_of
from ..events.grouped import select
from ..events.sessions import in_rows
from ..events.stretch import Means, Stretch
from .ticks import before
from .windows import at_once_or_apart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..events.grouped import Reading
    from ..numbers.columns import Bools
    from ..plan.physical import PhysicalPlan
    from ..plan.strategy import PhysicalQuery
    from ..plan.windows import Sessions
    from .matches import Advance


def ended(
    events: Reading, plan: PhysicalPlan, queries: Sequence[PhysicalQuery], sessions: Sessions, step: Advance
) -> tuple[Iterator[tuple[str, Any]], Bools]:
    """The rows, by query, of all sessions that end as the watermark goes on, and which of the events are of sessions
    that go on. The queries have the same sessions.
    """
    rows, (starts, ends) = in_rows(events, kinds_of(Stretch(plan, events), queries), sessions, queries[0].group_by)
    open_ = np.zeros(len(events.ticks), dtype=np.bool_)
    over = before(ends, step.watermark + 1)
    open_[rows[~over]] = True
    ending = over & ~before(ends, step.earlier + 1)
    rows, starts, ends = rows[ending], starts[ending], ends[ending]
    _, number = np.unique(np.stack([ends, starts]), axis=1, return_inverse=True)
    number = number.reshape(-1)

    def found(low: int, high: int) -> Iterator[tuple[str, Any]]:
        """The rows of sessions from one to another, in the order of their ends."""
        some = rows[(number >= low) & (number <= high)]
        yield from drive(Stretch(plan, select(events, some)), queries, Means(most=step.most))

    last = int(number.max()) if len(number) else -1
    return at_once_or_apart(found, 0, last, lambda: list(range(last + 1))) if len(rows) else iter(()), open_
