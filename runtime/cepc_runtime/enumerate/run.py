"""Enumerated queries over a batch of whole groups: from events to result tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..aggregate import result_table
from ..events import arrange
from ..results import Results
from .budget import PARTIAL_MATCHES
from .enumerator import Enumerator, timeline_of
from .evaluation import Evaluator
from .matches import MatchRows
from .measures import Measuring
from .search import BLOCK
from .windows import Sliding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..events import Reading
    from ..plan import Plan, QueryPlan


def run_enumerated(
    reading: Reading,
    plan: Plan,
    queries: Sequence[QueryPlan],
    *,
    block: int = BLOCK,
    limit: int | None = PARTIAL_MATCHES,
) -> dict[str, Any]:
    """The result table of each query, by name, in no promised order of rows.

    `block` is how many partial matches are held at once, for each event that they have; `limit` how many an aggregate
    query may look at in all. Raises ResultOverflowError, TooManyPartialMatchesError, or what an expression fails with.
    """
    return {
        query.name: pa.concat_tables(match_tables(reading, plan, query, block=block))
        if query.kind == "match"
        else aggregate_table(reading, plan, query, block=block, limit=limit)
        for query in queries
    }


def match_tables(reading: Reading, plan: Plan, query: QueryPlan, *, block: int = BLOCK) -> Iterator[Any]:
    """The rows of a match query, batch by batch; the first table is empty, so that there is always one."""
    events = arrange(reading, plan.stream, query.partition)
    evaluator = Evaluator(events.table)
    rows = MatchRows(query, plan.stream, evaluator)
    yield rows.schema().empty_table()
    for matches in Enumerator(query, timeline_of(events, plan.letters), evaluator, block=block).matches():
        yield rows.table(matches)


def aggregate_table(
    reading: Reading, plan: Plan, query: QueryPlan, *, block: int = BLOCK, limit: int | None = PARTIAL_MATCHES
) -> Any:
    """The rows of an aggregate query whose matches have to be looked at one by one."""
    events = arrange(reading, plan.stream, query.partition)
    evaluator, timeline = Evaluator(events.table), timeline_of(events, plan.letters)
    windows = None if query.within is None else Sliding(timeline, query.within, query.slide or query.within)
    enumerator = Enumerator(query, timeline, evaluator, windows=windows, limit=limit, block=block)
    measuring = Measuring(query, events, evaluator)
    for matches, frames in enumerator.standing_matches():
        measuring.add(matches, frames)
    time_type = dict(plan.stream.columns)[plan.stream.time_column]
    return result_table(Results(measuring.totals(), time_type))
