"""Queries whose matches are listed, or joined from those of parts: from arranged events to tables of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..plan.windows import Sliding
from ..results.as_columns import Results, check_edges
from ..results.result_rows import result_table
from ..sql.evaluate.errors import about
from .budget import budget_of, budget_over
from .enumerator import Enumerator, timeline_of
from .evaluation import Evaluator
from .joins import Joins
from .matches import MatchRows
from .measures import Measuring
from .search import SearchMeans

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..events.stretch import Means, Stretch
    from ..plan.sharing import SharedMatches
    from ..plan.strategy import PhysicalQuery
    from .arranged import Arranged
    from .budget import MatchBudget
    from .extension import Sources
    from .standing import Matches


def listed(arranged: Arranged, query: PhysicalQuery, stretch: Stretch, means: Means) -> Iterator[Any]:
    """The rows of a query, table by table: those of a match query as its matches are found, the first table being
    empty, so that there is always one; those of an aggregate query in one. Raises ResultOverflowError,
    TooManyPartialMatchesError, EvaluationError.
    """
    with about(query.name):
        if query.kind == "match":
            yield from _of_matches(arranged, query, stretch, means)
        else:
            yield _aggregated(arranged, query, stretch, means)


def _of_matches(arranged: Arranged, query: PhysicalQuery, stretch: Stretch, means: Means) -> Iterator[Any]:
    enumerator = arranged.enumerator(query, means.block, _budget([query], arranged, means))
    rows = MatchRows(query, arranged.stream, enumerator.evaluator)
    yield rows.schema().empty_table()
    for matches in enumerator.matches():
        if len(asked := _asked(matches, query, arranged, stretch)):
            yield rows.table(asked)


def _aggregated(arranged: Arranged, query: PhysicalQuery, stretch: Stretch, means: Means) -> Any:
    check_edges(arranged.events.ticks, [query], arranged.stream)
    only = stretch.span.numbers(query.window) if isinstance(query.window, Sliding) else None
    enumerator = arranged.enumerator(query, means.block, _budget([query], arranged, means), only)
    measuring = Measuring(query, arranged.events, enumerator.evaluator)
    for matches, frames in enumerator.standing_matches():
        measuring.add(matches, frames)
    return result_table(Results(measuring.totals(), arranged.stream))


def joined(
    arranged: Arranged, shared: SharedMatches, queries: Sequence[PhysicalQuery], stretch: Stretch, means: Means
) -> Iterator[tuple[str, Any]]:
    """The rows of match queries that share parts, by name, as they are found; the first table of each is empty. Raises
    the same.
    """
    evaluator = Evaluator(arranged.events.table)
    by_name = {query.name: query for query in queries}
    makers = {query.name: MatchRows(query, arranged.stream, evaluator) for query in queries}
    yield from ((name, rows.schema().empty_table()) for name, rows in makers.items())
    for name, matches in _joined_matches(arranged, shared, by_name, evaluator, means):
        if len(asked := _asked(matches, by_name[name], arranged, stretch)):
            with about(name):
                table = makers[name].table(asked)
            yield name, table


def _joined_matches(
    arranged: Arranged, shared: SharedMatches, queries: dict[str, PhysicalQuery], evaluator: Evaluator, means: Means
) -> Iterator[tuple[str, Matches]]:
    budget = _budget(list(queries.values()), arranged, means)
    timeline = timeline_of(arranged.events, arranged.kinds)

    def search(name: str, sources: Sources) -> Iterator[Matches]:
        with about(name):
            alone = budget_of(queries[name], budget.limit)
            enumerator = Enumerator(queries[name], timeline, evaluator, budget=alone, block=means.block)
            yield from enumerator.matches(sources)

    joins = Joins(
        shared, list(queries.values()), timeline, evaluator, search,
        SearchMeans(budget, means.block, arranged.work.reached),
    )  # fmt: skip
    yield from joins.matches()


def _budget(together: Sequence[PhysicalQuery], arranged: Arranged, means: Means) -> MatchBudget:
    """That of queries whose matches are found together."""
    return means.budgets.get(together[0].name) or budget_over(together, means.most, arranged.mattering)


def _asked(matches: Matches, query: PhysicalQuery, arranged: Arranged, stretch: Stretch) -> Matches:
    return matches if stretch.known is None else matches.take(stretch.known(query, matches, arranged))
