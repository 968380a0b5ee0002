"""Aggregate queries over a batch of whole groups: from events to result tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from .columns import Ints, flat
from .events import Reading, arrange, read, select
from .having import kept
from .kernel.adjacent.run import Neighbours
from .kernel.planes import planes_of
from .kernel.run import Emissions, count_matches
from .kernel.values import values_of
from .letters import Kinds, classify
from .partition_sums import sums_table
from .plan import Count, by_partition, counted_queries, has_neighbours
from .results import Results, check_edges
from .segments import SEGMENT
from .totals import totals_of
from .types import to_arrow
from .windows import Sliding
from .work_done import Work

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .events import Events
    from .expression import Expression
    from .plan import CountedQuery, Plan
    from .segments import Segments
    from .totals import Totals


@dataclass(frozen=True, slots=True)
class Span:
    """Where windows begin: from `first`, before `end`, in ticks; None is no bound. With `segments`, of which SEGMENT is an
    attribute of the partition, also in the segment of their partition.
    """

    first: int | None = None
    end: int | None = None
    segments: Segments | None = None


EVERYWHERE: Final = Span()


def run_aggregates(
    source: Any,
    plan: Plan,
    queries: Sequence[CountedQuery] | None = None,
    *,
    span: Span = EVERYWHERE,
    interpreted: bool | None = None,
    work: Work | None = None,
) -> dict[str, Any]:
    """The result table of each aggregate query with an automaton, by name: the `outputs`, then `window_start`, `window_end`.

    `source` is a pyarrow table of whole groups (all events of each value of the queries' GROUP BY, in any order) or a
    `Reading` of one. `queries` are all of the plan that can be counted, unless given. Rows come in no promised order.
    Only windows that begin in the span are found: others may lack events. With `interpreted` nothing is compiled. Raises
    InputError, ResultOverflowError, or what an expression fails with.
    """
    reading = source if isinstance(source, Reading) else read(source, plan.stream)
    if queries is None:
        queries = counted_queries(plan.queries)
    kinds, work = classify(reading, plan.letters), work or Work()
    found: dict[str, Any] = {}
    for sharing_class in by_partition(queries):
        found |= _run_class(reading, kinds, plan, sharing_class, span, interpreted, work)
        work.finished(len(sharing_class))
    return {query.name: found[query.name] for query in queries}


def _run_class(
    reading: Reading, kinds: Kinds, plan: Plan, queries: Sequence[CountedQuery], span: Span, interpreted: bool | None,
    work: Work,
) -> dict[str, Any]:  # fmt: skip
    """The queries of one partition."""
    totals = _class_totals(reading, kinds, plan, queries, span, interpreted, work)
    return {query.name: result_table(Results(found, plan.stream)) for query, found in totals}


def totals_by_query(reading: Reading, kinds: Kinds, plan: Plan, queries: Sequence[CountedQuery]) -> Iterator[Totals]:
    """The totals of queries of one partition without conditions between neighbours, in their order; `kinds` are those of the events."""
    yield from (found for _, found in _class_totals(reading, kinds, plan, queries, EVERYWHERE, None, Work()))


def _class_totals(
    reading: Reading, kinds: Kinds, plan: Plan, queries: Sequence[CountedQuery], span: Span, interpreted: bool | None,
    work: Work,
) -> Iterator[tuple[CountedQuery, Totals]]:  # fmt: skip
    """The queries of one partition: one pass over the events that concern them."""
    reading, kinds = _concerned(reading, kinds, queries)
    # which event of an instant is the last
    canonical = any(has_neighbours(q) and q.automaton.ties for q in queries)
    events = arrange(reading, plan.stream, queries[0].partition, canonical=canonical)
    kinds = Kinds(kinds.of[events.order], kinds.letters)
    for query in queries:
        check_edges(events.ticks, query, plan.stream)
    return _totals(events, kinds, plan, queries, span, interpreted, work)


def _totals(
    events: Events, kinds: Kinds, plan: Plan, queries: Sequence[CountedQuery], span: Span, interpreted: bool | None,
    work: Work,
) -> Iterator[tuple[CountedQuery, Totals]]:  # fmt: skip
    """The totals of each query: all in one pass but those with conditions between neighbours."""
    if together := [query for query in queries if isinstance(query.strategy, Count)]:
        counted = count_matches(
            events, kinds, together, plan.sharing,
            interpreted=interpreted, tell=lambda fraction: work.reached(fraction * len(together)),
        )  # fmt: skip
        work.spent(counted.effort)
        for query, layout, emissions in zip(together, counted.planes, counted.emissions, strict=True):
            yield query, totals_of(query, events, kinds, layout, counted.values, _begun(emissions, query, span, events))
    for query in queries:
        if has_neighbours(query):
            neighbours = Neighbours(events, kinds, query)
            layout = planes_of(query.automaton, query.measures)
            values = values_of([plane.value for plane in layout.planes], events.table, kinds, events.group_starts)
            emissions = neighbours.count(layout, values.matrix, values.index, interpreted=interpreted)
            yield (
                query,
                totals_of(query, events, kinds, layout, values, _begun(emissions, query, span, events), neighbours),
            )


def _begun(emissions: Emissions, query: CountedQuery, span: Span, events: Events) -> Emissions:
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
        inside &= starts // span.segments.length == numbers[emissions.groups]
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


# ---- rows ------------------------------------------------------------------------------------------------------------


def result_table(results: Results) -> Any:
    """The declared columns of the rows that HAVING keeps; without outputs, the sums that make them."""
    query = results.totals.query
    if not query.outputs:
        return sums_table(results.totals)
    rows = np.arange(len(results.totals))
    if query.having is not None:
        rows = rows[kept(results, query.having, rows)]
    columns = {output.name: _column(results, output.expression, rows) for output in query.outputs}
    columns["window_start"], columns["window_end"] = results.window_edges(rows)
    return pa.table(columns)


def _column(results: Results, expression: Expression, rows: Ints) -> Any:
    column, type_ = flat(results.evaluate(expression, rows)), to_arrow(expression.type)
    return column if column.type == type_ else column.cast(type_)
