"""How much of a run is done, and what the kernel did, for whoever shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .kernel.run import Effort

if TYPE_CHECKING:
    from collections.abc import Callable


class Work:
    """The work of `queries` queries, each an equal part. `tell` is called with the fraction done as it grows."""

    def __init__(self, queries: int = 1, tell: Callable[[float], None] = lambda _fraction: None) -> None:
        self._queries, self._tell = max(queries, 1), tell
        self._finished = 0
        self._told = 0.0
        self.effort = Effort()

    def spent(self, effort: Effort) -> None:
        """The kernel did this as well."""
        self.effort += effort

    def reached(self, part: float) -> None:
        """So much of the query at hand is done."""
        fraction = min(self._finished + part, self._queries) / self._queries
        if fraction > self._told:
            self._told = fraction
            self._tell(fraction)

    def finished(self, queries: int) -> None:
        self._finished += queries
        self.reached(0)
