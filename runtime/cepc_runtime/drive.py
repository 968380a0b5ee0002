"""The one place that finds rows: a stretch of events in, the rows of queries out, each query by its strategy.

Whole batches, slices of large groups, segments, and what a micro-batch decides are stretches, which differ in what is
known of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .counting import count
from .events.letters import classify
from .events.sessions import by_sessions, cut_into_sessions, in_sessions
from .events.stretch import Means
from .plan.query import by_partition
from .plan.strategy import Join, List, counted_queries, is_counted, letters_read
from .plan.windows import Sessions
from .results.as_columns import Results, check_edges
from .results.together import result_tables
from .sql.evaluate.errors import naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .events.letters import Kinds
    from .events.stretch import Stretch
    from .plan.strategy import PhysicalQuery


def drive(stretch: Stretch, queries: Sequence[PhysicalQuery], means: Means | None = None) -> Iterator[tuple[str, Any]]:
    """The rows of the queries, by name, in tables as they are found: one at least for each query, in no promised order.

    Raises InputError, and of a query, which is named, ResultOverflowError, WindowEdgeError, TooManyPartialMatchesError
    and EvaluationError.
    """
    yield from by_strategy(stretch, kinds_of(stretch, queries), queries, means or Means())


def kinds_of(stretch: Stretch, queries: Sequence[PhysicalQuery]) -> Kinds:
    """Of each event the kind, by the letters that the queries ask for. Raises EvaluationError, which names one."""

    def kinds_for(some: Sequence[PhysicalQuery]) -> Kinds:
        return classify(stretch.reading, stretch.plan.letters, letters_asked(stretch, some))

    return naming(queries, kinds_for)


def letters_asked(stretch: Stretch, queries: Sequence[PhysicalQuery]) -> frozenset[int]:
    """Those that tell events apart."""
    return frozenset().union(*map(letters_read, (*queries, *stretch.beside)))


def by_strategy(
    stretch: Stretch, kinds: Kinds, queries: Sequence[PhysicalQuery], means: Means
) -> Iterator[tuple[str, Any]]:
    """What `drive` gives, for events of these kinds."""
    sessions = by_sessions(queries)
    for (window, group_by), own in sessions.items():
        makes = kinds.satisfying(frozenset(window.letters))
        check_edges(stretch.reading.ticks[makes], own, stretch.plan.stream)
        cut, of = cut_into_sessions(stretch, kinds, window, group_by)
        yield from by_strategy(cut, of, [in_sessions(query) for query in own], means)
    if sessions:
        queries = [query for query in queries if not isinstance(query.window, Sessions)]
    plan = stretch.plan
    for counted in by_partition(counted_queries(queries)):
        yield from result_tables(Results(totals, plan.stream) for _, totals in count(stretch, kinds, counted, means))
        means.work.finished(len(counted))
    if uncounted := [query for query in queries if not is_counted(query)]:
        yield from _enumerated(stretch, kinds, uncounted, means)


def _enumerated(
    stretch: Stretch, kinds: Kinds, queries: Sequence[PhysicalQuery], means: Means
) -> Iterator[tuple[str, Any]]:
    from .enumerate.arranged import arrange_for  # which few short runs need
    from .enumerate.listing import joined, listed

    plan = stretch.plan
    for same in by_partition(queries):
        needs = plan.needs if stretch.whole else ()
        arranged = arrange_for(stretch.reading, kinds, plan.stream, (*same, *stretch.beside), means.work, needs)
        for together in found_together(same):
            first, own = together[0], arranged.narrowed((*together, *stretch.beside))
            match first.strategy:
                case Join(shared):
                    yield from joined(own, plan.shared_matches[shared], together, stretch, means)
                case List():
                    yield from ((first.name, table) for table in listed(own, first, stretch, means))
                case _:
                    raise ValueError(f"query {first.name} is for Spark alone")
            means.work.finished(len(together))


def found_together(queries: Iterable[PhysicalQuery]) -> list[list[PhysicalQuery]]:
    """Queries of one partition that are not counted: those of one join together, any other by itself."""
    found: dict[int | str, list[PhysicalQuery]] = {}
    for query in queries:
        of = query.strategy.shared if isinstance(query.strategy, Join) else query.name
        found.setdefault(of, []).append(query)
    return list(found.values())
