"""What partial matches keep in mind for conditions, so that nobody has to walk up a path for it.

A block's `memory` is a matrix with a row for each *slot*: the depth at which the current instance of a scope began, the
first or the last event that a variable is bound to (in the current instance of a scope). -1 stands for none. Behind
these are the parts of running aggregates (running.py).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..cheap_dataclass import dataclass
from .running import RunningAggregate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..sql.expression import Aggregate
    from .condition import Condition
    from .evaluation import Evaluator
    from .pattern import IndexedPositions, Numbers
    from .timeline import Bools, Ints, Timeline


@dataclass(frozen=True, slots=True)
class Start:
    """The depth at which the current instance of the scope began."""

    scope: int


@dataclass(frozen=True, slots=True)
class BoundEnd:
    """The first or the last event bound to the variable, in the current instance of the scope if there is one."""

    variable: str
    scope: int | None
    end: Literal["first", "last"]


class MatchMemory:
    """Which slots the conditions of a pattern need, and how a new event changes them."""

    def __init__(
        self, pattern: IndexedPositions, conditions: Sequence[Condition], timeline: Timeline, evaluator: Evaluator
    ) -> None:
        self._pattern = pattern
        wanted: dict[Start | BoundEnd, None] = {}
        for condition in conditions:
            scope = condition.plan.scope
            if scope is not None:
                wanted[Start(scope)] = None
            singles = [v for v in condition.eaches if v not in pattern.lists(scope)]
            wanted |= {BoundEnd(v, scope, "first"): None for v in condition.firsts}
            wanted |= {BoundEnd(v, scope, "last"): None for v in (*condition.lasts, *condition.previous, *singles)}
        self.slots: dict[Start | BoundEnd, int] = {slot: i for i, slot in enumerate(wanted)}
        asked = dict.fromkeys((a, condition.plan.scope) for condition in conditions for a in condition.running)
        self._running = {key: RunningAggregate(*key, pattern, timeline, evaluator) for key in asked}

    @cached_property
    def _parts(self) -> dict[RunningAggregate, slice]:
        """Where those of each running aggregate are."""
        found, begin = {}, len(self.slots)
        for running in self._running.values():
            found[running] = slice(begin, begin + running.size)
            begin += running.size
        return found

    def running(self, aggregate: Aggregate, scope: int | None, memory: Ints | None) -> tuple[Any, Bools] | None:
        """A running aggregate of all rows, and where it does not fit; None where nobody keeps it."""
        known = self._running.get((aggregate, scope))
        return None if known is None or memory is None else known.values(memory[self._parts[known]])

    def of(self, slot: Start | BoundEnd, memory: Ints | None) -> Ints | None:
        """One slot of all rows; None where nobody keeps it."""
        place = self.slots.get(slot)
        return None if place is None or memory is None else memory[place]

    def after(self, edges: Numbers, positions: Ints, depth: int, before: Ints | None) -> Ints | None:
        """The memory when events have been read at that depth, given what it was before."""
        if not self.slots and not self._running:
            return None
        after = self._nothing(len(positions)) if before is None else before.copy()
        for slot, place in self.slots.items():
            row = after[place]
            if isinstance(slot, Start):
                row[self._pattern.enters(slot.scope)[edges]] = depth
                continue
            if slot.scope is not None:
                row[self._pattern.enters(slot.scope)[edges]] = -1
            binds = self._pattern.binds(slot.variable, slot.scope)[edges]
            if slot.end == "first":
                binds &= row < 0
            row[binds] = positions[binds]
        for running, own in self._parts.items():
            parts = after[own]
            if running.enters is not None:
                parts[:, running.enters[edges]] = running.nothing
            rows = np.flatnonzero(running.binds[edges])
            running.add(parts, rows, positions[rows])
        return after

    def _nothing(self, count: int) -> Ints:
        """The memory before the first event."""
        size = max((own.stop for own in self._parts.values()), default=len(self.slots))
        found = np.full((size, count), -1, dtype=np.int64)
        for running, own in self._parts.items():
            found[own] = running.nothing
        return found
