"""Counted queries over a stretch of events: from kinds of events to the totals of windows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .events.by_kind import ByKind
from .events.columns_read import narrowed, needs_canonical
from .events.grouped import arrange, select
from .events.letters import Kinds
from .events.prune import staying_of
from .events.segments import SEGMENT
from .events.stretch import EVERYWHERE, Means, Stretch, TimeSpan
from .kernel.by_query import Emissions
from .kernel.planes import planes_of
from .kernel.run import count_matches
from .kernel.values import values_of
from .numbers.exactness import EXACT
from .plan.strategy import Count, has_neighbours
from .plan.windows import Sliding
from .results.as_columns import check_edges
from .results.totals import totals_of
from .sql.evaluate.errors import EvaluationError, about

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .events.grouped import Events, Reading
    from .kernel.adjacent.run import Neighbours
    from .plan.physical import PhysicalPlan
    from .plan.strategy import CountedQuery, NeighboursQuery
    from .results.totals import Totals


def totals_by_query(
    reading: Reading, kinds: Kinds, plan: PhysicalPlan, queries: Sequence[CountedQuery]
) -> Iterator[Totals]:
    """The totals of queries of one partition without conditions between neighbours, in their order; `kinds` are those
    of the events.
    """
    yield from (found for _, found in count(Stretch(plan, reading), kinds, queries, Means()))


def count(
    stretch: Stretch, kinds: Kinds, queries: Sequence[CountedQuery], means: Means
) -> Iterator[tuple[CountedQuery, Totals]]:
    """The totals of queries of one partition, one by one: one pass over the events that concern them, and another for
    each with conditions between neighbours.
    """
    reading, kinds = _concerned(narrowed(stretch.reading, stretch.plan.stream, queries), kinds, queries)
    canonical = any(map(needs_canonical, queries))
    check_edges(reading.ticks, queries, stretch.plan.stream)
    reads = {query.name: query.automaton.letters for query in queries}
    staying = staying_of(kinds, reads, stretch.plan.needs) if stretch.whole else None
    events = arrange(reading, stretch.plan.stream, queries[0].partition, canonical=canonical, staying=staying)
    kinds = Kinds(kinds.of[events.order], kinds.letters)
    if together := [query for query in queries if isinstance(query.strategy, Count)]:
        yield from _together(stretch, events, kinds, together, means)
    by_kind = ByKind(events, kinds)
    for done, query in enumerate((query for query in queries if has_neighbours(query)), start=len(together)):
        means.work.reached(done)
        with about(query.name):
            found = _neighbours(stretch, *by_kind.narrowed(query.automaton.letters), query, means)
        yield query, found


def _together(
    stretch: Stretch, events: Events, kinds: Kinds, queries: Sequence[CountedQuery], means: Means
) -> Iterator[tuple[CountedQuery, Totals]]:
    counted = count_matches(
        events,
        kinds,
        queries,
        stretch.plan.sharing,
        interpreted=means.interpreted,
        tell=lambda fraction: means.work.reached(fraction * len(queries)),
    )
    means.work.spent(counted.effort)
    for query, layout, emissions in zip(queries, counted.planes, counted.emissions, strict=True):
        begun = _begun(emissions, query, stretch.span, events)
        yield query, totals_of(query, events, kinds, layout, counted.values, begun)


def _neighbours(stretch: Stretch, events: Events, kinds: Kinds, query: NeighboursQuery, means: Means) -> Totals:
    from .kernel.adjacent.run import Neighbours  # which few short runs need
    from .kernel.adjacent.tests import Failing

    layout = planes_of(query.automaton, query.measures)
    values = values_of([plane.value for plane in layout.planes], events.table, kinds, events.group_starts)

    def found(neighbours: Neighbours) -> Emissions:
        emissions = neighbours.count(layout, values.matrix, values.index, interpreted=means.interpreted)
        return _begun(emissions, query, stretch.span, events)

    neighbours = Neighbours(events, kinds, query)
    try:
        begun = found(neighbours)
    except EvaluationError:
        # What fails for two events that no match has is no error: then the matches are the same, be it true or false.
        passed, neighbours = (replace(neighbours, failing=failing) for failing in (Failing.TRUE, Failing.FALSE))
        begun = found(neighbours)
        if not _as_many(begun, found(passed)):
            raise
    return totals_of(query, events, kinds, layout, values, begun, neighbours)


def _as_many(some: Emissions, others: Emissions) -> bool:
    """Whether there are as many matches in each window; no where they are too many for a float64 to tell."""
    counts = [(e.groups, e.windows, e.planes[:, 0]) for e in (some, others)]
    exact = all((count < EXACT).all() for _, _, count in counts)
    return exact and all(np.array_equal(a, b) for a, b in zip(*counts, strict=True))


def _begun(emissions: Emissions, query: CountedQuery, span: TimeSpan, events: Events) -> Emissions:
    """Those of windows that begin in the span; the one window over everything begins nowhere."""
    if not isinstance(query.window, Sliding) or span == EVERYWHERE:
        return emissions
    starts = query.window.begin(emissions.windows)
    inside = np.ones(len(starts), dtype=np.bool_)
    if span.first is not None:
        inside &= starts >= span.first
    if span.end is not None:
        inside &= starts < span.end
    if span.segments is not None:
        numbers = events.keys.column(SEGMENT).to_numpy()
        inside &= span.segments.parts.number(starts) == numbers[emissions.groups]
    return Emissions(emissions.groups[inside], emissions.windows[inside], emissions.planes[inside])


def _concerned(reading: Reading, kinds: Kinds, queries: Sequence[CountedQuery]) -> tuple[Reading, Kinds]:
    """The events that some query of the class reads, and only the letters that one asks for."""
    wanted = frozenset().union(*(query.automaton.letters for query in queries))
    known: dict[frozenset[int], int] = {}
    place = np.array([known.setdefault(letters & wanted, len(known)) for letters in kinds.letters], dtype=np.int32)
    of = place[kinds.of]
    if frozenset() in known:
        mask = of != known[frozenset()]
        if not mask.all():
            return select(reading, mask), Kinds(of[mask], tuple(known))
    return reading, Kinds(of, tuple(known))
