"""What partial matches have bound, read from their paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .block import Path
    from .condition import Condition
    from .pattern import Pattern
    from .timeline import Ints


class PathBound:
    """What rows of a path have bound, in one instance of a scope: events at depths from `start` to before `stop`."""

    def __init__(
        self, pattern: Pattern, path: Path, scope: int | None, start: Ints | None = None, stop: Ints | None = None
    ) -> None:
        self.count = path.count
        self._pattern, self._path = pattern, path
        self._scope, self._start, self._stop = scope, start, stop

    def first(self, variable: str) -> Ints:
        return self._path.earliest(self._pattern.binds(variable, self._scope), self._start, self._stop)

    def last(self, variable: str) -> Ints:
        return self._path.latest(self._pattern.binds(variable, self._scope), self._start, self._stop)

    def one(self, variable: str) -> Ints | None:
        return None if variable in self._pattern.lists(self._scope) else self.last(variable)

    def before(self, variable: str) -> Ints:  # noqa: ARG002
        return np.full(self.count, -1, dtype=np.int64)  # the only event of its variable has none before it

    def every(self, variable: str) -> tuple[Ints, Ints]:
        return self._path.every(self._pattern.binds(variable, self._scope), self._start, self._stop)

    def any_event(self) -> Ints:
        return self._path.level(self._path.length - 1)[1]


class NewestBound(PathBound):
    """The same where only the newest event counts of the variable that it is bound to."""

    def __init__(
        self,
        pattern: Pattern,
        path: Path,
        scope: int | None,
        start: Ints | None,
        newest: str,
        condition: Condition,
        instant_start: Ints,
    ) -> None:
        super().__init__(pattern, path, scope, start)
        self._newest = newest
        self._by_first = newest not in condition.eaches
        self._instant_start = instant_start

    def first(self, variable: str) -> Ints:
        found = super().first(variable)
        if variable == self._newest and self._by_first:  # FIRST alone: nothing is new unless the newest is the first
            return np.where(found == self.any_event(), found, -1)
        return found

    def one(self, variable: str) -> Ints | None:
        return self.any_event() if variable == self._newest else super().one(variable)

    def before(self, variable: str) -> Ints:
        limit = self._instant_start[self.any_event()]
        return self._path.latest(self._pattern.binds(variable, self._scope), self._start, self._stop, limit)
