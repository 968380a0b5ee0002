"""Tables that were built before: a worker of a job runs the same queries on one batch of groups after the other, a
stream on every bucket, and building a table for a hundred queries takes as long as counting their matches among some
50,000 events.
"""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Final

import numpy as np

from ..events.letters import Kinds
from .planes import kept_planes, planes_of
from .tables import build

if TYPE_CHECKING:
    from ..plan.sharing import SharedStates
    from ..plan.strategy import CountedQuery
    from .basis import Costs
    from .planes import KeptPlanes, QueryPlanes, ValueKey
    from .tables import KernelLayout

MOST: Final = 1 << 12
"""Kinds that a table is built for, if no batch has more: those of many batches together could be as many as events."""


class CachedTable:
    """The table of some queries, for every kind of event that a batch has had. `index` finds the rows of values."""

    def __init__(
        self, queries: tuple[CountedQuery, ...], shared: tuple[SharedStates, ...], costs: Costs | None, ties: bool
    ) -> None:
        self._queries, self._shared, self._costs, self._ties = queries, shared, costs, ties
        self.planes: tuple[QueryPlanes, ...] = tuple(planes_of(q.automaton, q.measures) for q in queries)
        fewer = tuple(planes_of(q.automaton, q.measures, nulls=False) for q in queries)
        self._kept = {nulls: kept_planes(some, self.planes) for nulls, some in ((True, self.planes), (False, fewer))}
        self._built: dict[bool, tuple[dict[frozenset[int], int], KernelLayout]] = {}
        self._lock = Lock()  # threads have the same kinds of events: the others wait for the one that builds

    def kept(self, nulls: bool) -> KeptPlanes:
        """The planes that the kernel keeps, if there are nulls or if there are none."""
        return self._kept[nulls]

    def of(self, kinds: Kinds, index: dict[ValueKey, int], nulls: bool) -> tuple[KernelLayout, Kinds]:
        """The table, and the kinds of a batch by its numbers. The index must be the same for every batch."""
        with self._lock:
            known, layout = self._of(kinds, index, nulls)
        places = np.array([known[letters] for letters in kinds.letters], dtype=np.int32)
        return layout, Kinds(places[kinds.of], tuple(known))

    def _of(
        self, kinds: Kinds, index: dict[ValueKey, int], nulls: bool
    ) -> tuple[dict[frozenset[int], int], KernelLayout]:
        known, layout = self._built.get(nulls, ({}, None))
        missing = [letters for letters in kinds.letters if letters not in known]
        if missing or layout is None:
            together = [*known, *missing] if len(known) + len(missing) <= MOST else kinds.letters
            known = {letters: number for number, letters in enumerate(together)}
            planes = self._kept[nulls].of
            layout = build(self._queries, planes, tuple(known), index, self._shared, self._costs, self._ties)
            self._built[nulls] = known, layout
        return known, layout


_ONE_AT_A_TIME: Final = Lock()


def table_of(
    queries: tuple[CountedQuery, ...], shared: tuple[SharedStates, ...], costs: Costs | None, ties: bool
) -> CachedTable:
    """One for equal queries, each with an automaton. Without `ties` there is no instant of several events."""
    with _ONE_AT_A_TIME:
        return cached_table(queries, shared, costs, ties)


@lru_cache(maxsize=16)
def cached_table(
    queries: tuple[CountedQuery, ...], shared: tuple[SharedStates, ...], costs: Costs | None, ties: bool
) -> CachedTable:
    return CachedTable(queries, shared, costs, ties)
