"""Arranged events parted by kind, once: the events of one query of many are found without a look at all the others."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..numbers.sorting import by_number, order_of
from .grouped import run_starts
from .letters import Kinds, kinds_that_satisfy, readers_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..numbers.columns import Ints
    from .grouped import Events

FEW: Final = 0.5
"""The share of the events that are worth to be taken out of the others."""


@dataclass(frozen=True)
class ByKind:
    """Events and, in the same order, their kinds."""

    events: Events
    kinds: Kinds

    def narrowed(self, letters: frozenset[int]) -> tuple[Events, Kinds]:
        """The events that satisfy some of the letters, and of their kinds no more than these letters; all as they are
        if these are not few.
        """
        own = kinds_that_satisfy(letters, self._readers)
        if sum(len(self._rows[kind]) for kind in own) > FEW * self.events.length:
            return self.events, self.kinds
        known: dict[frozenset[int], int] = {}
        places = [known.setdefault(self.kinds.letters[kind] & letters, len(known)) for kind in own]
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *(self._rows[kind] for kind in own)])
        of = np.repeat(np.array(places, dtype=np.int32), [len(self._rows[kind]) for kind in own])
        order = order_of([rows])
        return self._taken(rows[order]), Kinds(of[order], tuple(known))

    def _taken(self, rows: Ints) -> Events:
        """Some of the events, ascending, in the groups and instants that are left."""
        events = self.events
        starts = run_starts([events.groups[rows]])
        instants = np.searchsorted(events.instant_starts, rows, side="right")
        groups = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
        return replace(
            events,
            table=events.table.take(pa.array(rows)),
            types=events.types[rows],
            ticks=events.ticks[rows],
            groups=groups,
            group_starts=starts,
            keys=events.keys.take(pa.array(events.groups[rows[starts[:-1]]])),
            instant_starts=run_starts([instants]),
            order=events.order[rows],
        )

    @cached_property
    def _readers(self) -> dict[int, list[int]]:
        return readers_of(self.kinds.letters)

    @cached_property
    def _rows(self) -> Sequence[Ints]:
        """By kind, ascending."""
        sizes = np.bincount(self.kinds.of, minlength=len(self.kinds.letters))
        return np.split(by_number(self.kinds.of), np.cumsum(sizes)[:-1])
