"""Events arranged for the queries of one partition whose matches are listed."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..cheap_dataclass import dataclass
from ..events.by_kind import ByKind
from ..events.grouped import arrange, select
from ..events.letters import Kinds
from ..events.prune import staying_of
from ..plan.query import letters_listed
from ..plan.select import SelectContiguous
from ..plan.windows import Sliding
from ..work_done import Work
from .enumerator import Enumerator, timeline_of
from .evaluation import Evaluator
from .search import BLOCK
from .windows import InWindows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..events.grouped import Events, Reading
    from ..numbers.columns import Bools
    from ..plan.physical import Needs
    from ..plan.query import QueryPlan
    from ..plan.stream import StreamPlan
    from .budget import MatchBudget


@dataclass(frozen=True)
class Arranged:
    """Events in canonical order for the queries of one partition, and which letters each satisfies. `mattering` are
    those and the ones of groups that were left out, because nothing can match in them.

    `work` is called with what has been done.
    """

    stream: StreamPlan
    events: Events
    kinds: Kinds
    mattering: int
    work: Work = field(default_factory=Work)

    def narrowed(self, queries: Sequence[QueryPlan]) -> Arranged:
        """For these of the queries alone: with few other events."""
        if _all_matter(queries):
            return self
        events, kinds = self._by_kind.narrowed(_letters_of(queries))
        return replace(self, events=events, kinds=kinds)

    @cached_property
    def _by_kind(self) -> ByKind:
        return ByKind(self.events, self.kinds)

    def enumerator(
        self,
        query: QueryPlan,
        block: int = BLOCK,
        budget: MatchBudget | None = None,
        only: tuple[int, int] | None = None,
    ) -> Enumerator:
        """For the matches of a query of the partition; `only` as in InWindows."""
        timeline = timeline_of(self.events, self.kinds)
        windows = None
        if isinstance(query.window, Sliding):
            windows = InWindows(timeline, query.window, only)
        evaluator = Evaluator(self.events.table)
        return Enumerator(
            query, timeline, evaluator, windows=windows, budget=budget, block=block, reached=self.work.reached
        )


def arrange_for(
    reading: Reading,
    kinds: Kinds,
    stream: StreamPlan,
    queries: Sequence[QueryPlan],
    work: Work | None = None,
    needs: Sequence[Needs] = (),
) -> Arranged:
    """The events that matter to some of the queries, which have the same partition; without the groups, which have to
    be whole, that have not got what the queries need.
    """
    concerned = mattering(kinds, queries)
    if not concerned.all():
        reading, kinds = select(reading, concerned), Kinds(kinds.of[concerned], kinds.letters)
    reads = {q.name: None if isinstance(q.select, SelectContiguous) else letters_listed(q) for q in queries}
    events = arrange(reading, stream, queries[0].partition, staying=staying_of(kinds, reads, needs))
    kinds = Kinds(kinds.of[events.order], kinds.letters)
    return Arranged(stream, events, kinds, len(reading.ticks), work or Work())


def mattering(kinds: Kinds, queries: Sequence[QueryPlan]) -> Bools:
    """Which events matter to some of the queries."""
    if _all_matter(queries):
        return np.ones(len(kinds.of), dtype=np.bool_)
    return kinds.satisfying(_letters_of(queries))


def _all_matter(queries: Sequence[QueryPlan]) -> bool:
    """Whether every event matters, whatever it satisfies."""
    return any(isinstance(query.select, SelectContiguous) for query in queries)


def _letters_of(queries: Sequence[QueryPlan]) -> frozenset[int]:
    return frozenset().union(*map(letters_listed, queries))
