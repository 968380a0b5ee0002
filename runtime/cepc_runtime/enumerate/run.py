"""Enumerated queries over a batch of whole groups: from events to result tables."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..aggregate import result_table
from ..events import arrange, select
from ..letters import Kinds, classify
from ..plan import by_partition
from ..results import Results, check_edges
from ..windows import Sliding
from ..work_done import Work
from .budget import PARTIAL_MATCHES, MatchBudget, for_matches
from .enumerator import Enumerator, timeline_of
from .evaluation import Evaluator
from .joins import Joins
from .matches import MatchRows
from .measures import Measuring
from .search import BLOCK
from .windows import InWindows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..events import Events, Reading
    from ..plan import Plan, QueryPlan, SharedMatches
    from .extension import Sources
    from .standing import Matches


@dataclass(frozen=True)
class Arranged:
    """Events in canonical order for the queries of one partition, and which letters each satisfies.

    `work` is told what is done.
    """

    plan: Plan
    events: Events
    kinds: Kinds
    work: Work = field(default_factory=Work)

    def enumerator(
        self, query: QueryPlan, block: int = BLOCK, limit: int | None = None, only: tuple[int, int] | None = None
    ) -> Enumerator:
        """For the matches of a query of the partition; `only` as in InWindows."""
        timeline = timeline_of(self.events, self.kinds)
        windows = None
        if isinstance(query.window, Sliding):
            windows = InWindows(timeline, query.window, only)
        evaluator = Evaluator(self.events.table)
        return Enumerator(
            query, timeline, evaluator, windows=windows, limit=limit, block=block, reached=self.work.reached
        )


def run_enumerated(
    reading: Reading,
    plan: Plan,
    queries: Sequence[QueryPlan],
    *,
    block: int = BLOCK,
    limit: int | None = PARTIAL_MATCHES,
    work: Work | None = None,
) -> dict[str, Any]:
    """The result table of each query, by name, in no promised order of rows.

    `block` is how many partial matches are held at once, for each event that they have; `limit` how many an aggregate
    query may look at in all, and a match query beside FOR_EACH_EVENT. Raises ResultOverflowError,
    TooManyPartialMatchesError, or what an expression fails with.
    """
    kinds = classify(reading, plan.letters)
    found: dict[str, Any] = {}
    for sharing_class in by_partition(queries):
        arranged = replace(arrange_for(reading, kinds, plan, sharing_class), work=work or Work())
        tables: dict[str, list[Any]] = {}
        for name, table in tables_of(arranged, sharing_class, block=block, limit=limit):
            tables.setdefault(name, []).append(table)
        found |= {name: pa.concat_tables(several) for name, several in tables.items()}
    return {query.name: found[query.name] for query in queries}


def tables_of(
    arranged: Arranged,
    queries: Sequence[QueryPlan],
    *,
    block: int = BLOCK,
    limit: int | None = PARTIAL_MATCHES,
) -> Iterator[tuple[str, Any]]:
    """The rows of enumerated queries of one partition, table by table, those of match queries as their matches are found;
    a table at least for each query.
    """
    joined: set[str] = set()
    most = for_matches(limit, len(arranged.events.ticks))
    for shared in arranged.plan.shared_matches:
        together = [q for q in queries if q.name in {answer.query for answer in shared.answers}]
        if together:
            joined |= {q.name for q in together}
            budget = MatchBudget(together[0].name, most, None, together[0].select, matches=True)
            yield from shared_tables(arranged, shared, together, block=block, budget=budget)
            arranged.work.finished(len(together))
    for query in (q for q in queries if q.name not in joined):
        if query.kind == "match":
            for table in match_tables(arranged, query, block=block, limit=most):
                yield query.name, table
        else:
            yield query.name, aggregate_table(arranged, query, block=block, limit=limit)
        arranged.work.finished()


def arrange_for(reading: Reading, kinds: Kinds, plan: Plan, queries: Sequence[QueryPlan]) -> Arranged:
    """The events that matter to some of the queries, which have the same partition."""
    if all(query.select != "CONTIGUOUS" for query in queries):  # to which every event matters
        wanted = frozenset().union(*map(letters_of, queries))
        concerned = np.array([bool(letters & wanted) for letters in kinds.letters], dtype=np.bool_)[kinds.of]
        if not concerned.all():
            reading, kinds = select(reading, concerned), Kinds(kinds.of[concerned], kinds.letters)
    events = arrange(reading, plan.stream, queries[0].partition)
    return Arranged(plan, events, Kinds(kinds.of[events.order], kinds.letters))


def letters_of(query: QueryPlan) -> frozenset[int]:
    """The letters that the query's positions read, negated ones too. Those of its prefixes are of the same events."""
    positions = [query.positions, *(negation.positions for negation in query.positions.negations)]
    return frozenset(edge.letter for p in positions for edge in p.edges)


def match_tables(
    arranged: Arranged, query: QueryPlan, *, block: int = BLOCK, limit: int | None = None
) -> Iterator[Any]:
    """The rows of a match query, batch by batch; the first table is empty, so that there is always one."""
    enumerator = arranged.enumerator(query, block, limit)
    rows = MatchRows(query, arranged.plan.stream, enumerator.evaluator)
    yield rows.schema().empty_table()
    for matches in enumerator.matches():
        yield rows.table(matches)


def shared_tables(
    arranged: Arranged,
    shared: SharedMatches,
    queries: Sequence[QueryPlan],
    *,
    block: int = BLOCK,
    budget: MatchBudget | None = None,
) -> Iterator[tuple[str, Any]]:
    """The rows of match queries that are found by joins; the first table of each is empty. `budget` counts the
    partial matches.
    """
    evaluator = Evaluator(arranged.events.table)
    makers = {query.name: MatchRows(query, arranged.plan.stream, evaluator) for query in queries}
    for name, rows in makers.items():
        yield name, rows.schema().empty_table()
    for name, matches in joined_matches(arranged, shared, queries, evaluator, block=block, budget=budget):
        yield name, makers[name].table(matches)


def joined_matches(
    arranged: Arranged,
    shared: SharedMatches,
    queries: Sequence[QueryPlan],
    evaluator: Evaluator,
    *,
    block: int = BLOCK,
    budget: MatchBudget | None = None,
) -> Iterator[tuple[str, Matches]]:
    """The matches of those queries, by name."""
    budget = budget or MatchBudget(queries[0].name, None, None)
    by_name = {query.name: query for query in queries}
    timeline = timeline_of(arranged.events, arranged.kinds)

    def search(name: str, sources: Sources) -> Iterator[Matches]:
        return Enumerator(by_name[name], timeline, evaluator, limit=budget.limit, block=block).matches(sources)

    joins = Joins(
        shared, queries, timeline, evaluator, search, budget,
        block=block, reached=arranged.work.reached,
    )  # fmt: skip
    yield from joins.matches()


def aggregate_table(
    arranged: Arranged,
    query: QueryPlan,
    *,
    block: int = BLOCK,
    limit: int | None = PARTIAL_MATCHES,
    only: tuple[int, int] | None = None,
) -> Any:
    """The rows of an aggregate query whose matches have to be looked at one by one; `only` as in InWindows."""
    check_edges(arranged.events.ticks, query, arranged.plan.stream)
    enumerator = arranged.enumerator(query, block, limit, only)
    measuring = Measuring(query, arranged.events, enumerator.evaluator)
    for matches, frames in enumerator.standing_matches():
        measuring.add(matches, frames)
    return result_table(Results(measuring.totals(), arranged.plan.stream))
