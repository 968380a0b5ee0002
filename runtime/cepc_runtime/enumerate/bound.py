"""What partial matches have bound: from their memory where it is kept, else from their paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .block import Path
from .memory import BoundEnd, Start
from .ragged import expand, from_first, from_last

if TYPE_CHECKING:
    from ..numbers.columns import Bools, Ints
    from ..sql.expression import Aggregate
    from .block import MatchBlock
    from .condition import Condition
    from .memory import MatchMemory
    from .pattern import IndexedPositions


class PathBound:
    """What rows of a path have bound, in one instance of a scope: events at depths from `start` to before `stop`."""

    def __init__(
        self,
        pattern: IndexedPositions,
        path: Path,
        scope: int | None,
        start: Ints | None = None,
        stop: Ints | None = None,
    ) -> None:
        self.count = path.count
        self._pattern, self._path = pattern, path
        self._scope, self._start, self._stop = scope, start, stop

    def first(self, variable: str, places: int = 0) -> Ints:
        if places:
            return from_first(*self.every(variable), places)
        return self._path.earliest(self._pattern.binds(variable, self._scope), self._start, self._stop)

    def last(self, variable: str, places: int = 0) -> Ints:
        if places:
            return from_last(*self.every(variable), places)
        return self._path.latest(self._pattern.binds(variable, self._scope), self._start, self._stop)

    def one(self, variable: str) -> Ints | None:
        return None if variable in self._pattern.lists(self._scope) else self.last(variable)

    def before(self, variable: str, places: int = 0) -> Ints:  # noqa: ARG002
        return np.full(self.count, -1, dtype=np.int64)  # the only event of its variable has none before it

    def every(self, variable: str) -> tuple[Ints, Ints]:
        return self._path.every(self._pattern.binds(variable, self._scope), self._start, self._stop)

    def newest(self) -> str | None:
        return None

    def any_event(self) -> Ints:
        return self._path.level(self._path.length - 1)[1]

    def aggregate(self, aggregate: Aggregate) -> tuple[Any, Bools] | None:  # noqa: ARG002
        return None


class Extended:
    """Rows `above` of `parent` with a new event each, read along one edge. `before` is what they keep in mind without
    it, `memory` what they do with it.
    """

    def __init__(
        self,
        edge: int,
        parent: MatchBlock | None,
        above: Ints,
        position: Ints,
        before: Ints | None,
        memory: Ints | None,
    ) -> None:
        self.edge, self.parent, self.above, self.position = edge, parent, above, position
        self.before, self.memory = before, memory
        self.path = Path(parent, above, (edge, position))

    def __len__(self) -> int:
        return len(self.position)

    def take(self, some: Bools) -> Extended:
        before, memory = (None if kept is None else kept[:, some] for kept in (self.before, self.memory))
        return Extended(self.edge, self.parent, self.above[some], self.position[some], before, memory)


class CurrentBound(PathBound):
    """What rows have bound in the current instance of the scope, or without one in all, given their `memory`.

    With `stop`, the newest event is of the next instance, and `memory` is what it was before that event.
    """

    def __init__(
        self,
        pattern: IndexedPositions,
        path: Path,
        scope: int | None,
        kept: MatchMemory,
        memory: Ints | None,
        stop: Ints | None = None,
    ) -> None:
        start = None if scope is None else kept.of(Start(scope), memory)
        super().__init__(pattern, path, scope, start, stop)
        self._kept, self._memory = kept, memory

    def first(self, variable: str, places: int = 0) -> Ints:
        known = self._kept.of(BoundEnd(variable, self._scope, "first", places), self._memory)
        return super().first(variable, places) if known is None else known

    def last(self, variable: str, places: int = 0) -> Ints:
        known = self._kept.of(BoundEnd(variable, self._scope, "last", places), self._memory)
        return super().last(variable, places) if known is None else known

    def aggregate(self, aggregate: Aggregate) -> tuple[Any, Bools] | None:
        """What is RUNNING is kept up to the newest event, which may not be the one that is asked about."""
        return None if aggregate.running else self._kept.aggregate(aggregate, self._scope, self._memory)


class NewestBound(CurrentBound):
    """The same where, of the variable that the newest event is bound to, only that event counts."""

    def __init__(
        self,
        pattern: IndexedPositions,
        rows: Extended,
        condition: Condition,
        kept: MatchMemory,
        instant_start: Ints,
    ) -> None:
        super().__init__(pattern, rows.path, condition.plan.scope, kept, rows.memory)
        self._newest = pattern.edges[rows.edge].variable
        self._by_first = self._newest not in condition.eaches
        self._instant_start = instant_start
        self._before = rows.before
        self._enters = self._scope in pattern.edges[rows.edge].enters

    def first(self, variable: str, places: int = 0) -> Ints:
        found = super().first(variable, places)
        if variable == self._newest and self._by_first:  # FIRST alone: nothing is new unless the newest is the first
            return np.where(found == self.any_event(), found, -1)
        return found

    def one(self, variable: str) -> Ints | None:
        return self.any_event() if variable == self._newest else super().one(variable)

    def newest(self) -> str | None:
        return self._newest

    def aggregate(self, aggregate: Aggregate) -> tuple[Any, Bools] | None:
        return self._kept.aggregate(aggregate, self._scope, self._memory)

    def before(self, variable: str, places: int = 0) -> Ints:
        latest = self._kept.of(BoundEnd(variable, self._scope, "last"), self._before)
        found = self._kept.of(BoundEnd(variable, self._scope, "last", places), self._before)
        if latest is None or found is None or self._enters:
            return super().before(variable)
        limit = self._instant_start[self.any_event()]
        if np.all(latest < limit):
            return found
        counts, events = self.every(variable)  # some tie with it
        rows, _ = expand(counts)
        earlier = events < limit[rows]
        return from_last(np.bincount(rows[earlier], minlength=self.count), events[earlier], places)
