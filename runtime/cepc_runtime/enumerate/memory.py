"""What partial matches keep in mind for conditions, so that nobody has to walk up a path for it.

A block's `memory` is a matrix with a row for each *slot*: the depth at which the current instance of a scope began, the
first or the last event that a variable is bound to (in the current instance of a scope), or one so many places after or
before it. -1 stands for none. Behind these are the parts of aggregates (running.py).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..cheap_dataclass import dataclass
from .running import RunningAggregate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..numbers.columns import Bools, Ints
    from ..sql.expression import Aggregate
    from .condition import Condition
    from .evaluation import Evaluator
    from .pattern import IndexedPositions, Numbers
    from .timeline import Timeline


@dataclass(frozen=True, slots=True)
class Start:
    """The depth at which the current instance of the scope began."""

    scope: int


@dataclass(frozen=True, slots=True)
class BoundEnd:
    """The first or the last event bound to the variable, in the current instance of the scope if there is one; or the
    one so many places after the first, before the last.
    """

    variable: str
    scope: int | None
    end: Literal["first", "last"]
    places: int = 0

    @property
    def nearer(self) -> BoundEnd:
        """The one a place nearer to the end."""
        return replace(self, places=self.places - 1)


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
            singles = [(v, 0) for v in condition.eaches if v not in pattern.lists(scope)]
            firsts = [(v, places) for v, _, places in condition.firsts]
            lasts = [(v, places) for v, _, places in (*condition.lasts, *condition.previous)]
            wanted |= {BoundEnd(v, scope, "first", i): None for v, places in firsts for i in range(places + 1)}
            wanted |= {
                BoundEnd(v, scope, "last", i): None for v, places in (*lasts, *singles) for i in range(places + 1)
            }
        # an event passes its slot to the one a place further, which therefore comes before it
        slots = sorted(wanted, key=lambda slot: -slot.places if isinstance(slot, BoundEnd) else 0)
        self.slots: dict[Start | BoundEnd, int] = {slot: i for i, slot in enumerate(slots)}
        keys = dict.fromkeys(_key(a, condition.plan.scope) for condition in conditions for a in condition.aggregates)
        self._aggregates = {key: RunningAggregate(*key, pattern, timeline, evaluator) for key in keys}

    @cached_property
    def size(self) -> int:
        """How many numbers are kept of a partial match."""
        return max((own.stop for own in self._parts.values()), default=len(self.slots))

    @cached_property
    def _parts(self) -> dict[RunningAggregate, slice]:
        """Where those of each aggregate are."""
        found, begin = {}, len(self.slots)
        for running in self._aggregates.values():
            found[running] = slice(begin, begin + running.size)
            begin += running.size
        return found

    def aggregate(self, aggregate: Aggregate, scope: int | None, memory: Ints | None) -> tuple[Any, Bools] | None:
        """An aggregate of the events so far of all rows, and where it does not fit; None where nobody keeps it."""
        known = self._aggregates.get(_key(aggregate, scope))
        return None if known is None or memory is None else known.values(memory[self._parts[known]])

    def of(self, slot: Start | BoundEnd, memory: Ints | None) -> Ints | None:
        """One slot of all rows; None where nobody keeps it."""
        place = self.slots.get(slot)
        return None if place is None or memory is None else memory[place]

    def after(self, edges: Numbers, positions: Ints, depth: int, before: Ints | None) -> Ints | None:
        """The memory when events have been read at that depth, given what it was before."""
        if not self.size:
            return None
        after = self._nothing(len(positions)) if before is None else before.copy()
        for slot, place in self.slots.items():
            row = after[place]
            if isinstance(slot, Start):
                row[self._pattern.enters(slot.scope)[edges]] = depth
                continue
            if slot.scope is not None:
                row[self._pattern.enters(slot.scope)[edges]] = -1
        for slot, place in self.slots.items():
            if not isinstance(slot, BoundEnd):
                continue
            row, binds = after[place], self._pattern.binds(slot.variable, slot.scope)[edges]
            nearer = after[self.slots[slot.nearer]] if slot.places else None
            if slot.end == "first":
                binds &= row < 0 if nearer is None else (row < 0) & (nearer >= 0)
            row[binds] = positions[binds] if nearer is None or slot.end == "first" else nearer[binds]
        for running, own in self._parts.items():
            parts = after[own]
            if running.enters is not None:
                parts[:, running.enters[edges]] = running.nothing
            rows = np.flatnonzero(running.binds[edges])
            running.add(parts, rows, positions[rows])
        return after

    def _nothing(self, count: int) -> Ints:
        """The memory before the first event."""
        found = np.full((self.size, count), -1, dtype=np.int64)
        for running, own in self._parts.items():
            found[own] = running.nothing
        return found


def _key(aggregate: Aggregate, scope: int | None) -> tuple[Aggregate, int | None]:
    """Of what is RUNNING and of what is of all events the same is kept: up to the newest one."""
    return replace(aggregate, running=False), scope
