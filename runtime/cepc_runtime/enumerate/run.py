"""Enumerated queries over a batch of whole groups: from events to result tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..events import arrange
from .enumerator import Enumerator, timeline_of
from .evaluation import Evaluator
from .matches import MatchRows
from .search import BLOCK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..events import Reading
    from ..plan import Plan, QueryPlan


def run_enumerated(reading: Reading, plan: Plan, queries: Sequence[QueryPlan], *, block: int = BLOCK) -> dict[str, Any]:
    """The result table of each query, by name, in no promised order of rows.

    Raises ResultOverflowError, TooManyPartialMatchesError, or what an expression fails with.
    """
    return {query.name: _run(reading, plan, query, block) for query in queries}


def _run(reading: Reading, plan: Plan, query: QueryPlan, block: int) -> Any:
    tables = list(match_tables(reading, plan, query, block=block))
    return pa.concat_tables(tables)


def match_tables(reading: Reading, plan: Plan, query: QueryPlan, *, block: int = BLOCK) -> Iterator[Any]:
    """The rows of a match query, batch by batch; the first table may be empty, so that there is always one."""
    events = arrange(reading, plan.stream, query.partition)
    evaluator = Evaluator(events.table)
    rows = MatchRows(query, plan.stream, evaluator)
    yield rows.schema().empty_table()
    for matches in Enumerator(query, timeline_of(events, plan.letters), evaluator, block=block).matches():
        yield rows.table(matches)
