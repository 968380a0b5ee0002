"""The kernel as Spark calls it: a function from the sorted batches of a partition to batches of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..aggregate import run_aggregates
from ..enumerate.budget import PARTIAL_MATCHES
from ..enumerate.run import arrange_for, tables_of
from ..events import read
from ..letters import classify
from ..partition_sums import has_partitions, partition_query
from ..plan import by_partition, counted_queries, listed_queries
from ..segments import reach_of
from ..streaming.advance import flow
from ..streaming.program import Program
from . import settings
from .cut import pane_rows, segment_rows
from .encoding import decoded
from .groups import ROWS, by_class
from .slices import MOST, can_flow, slices
from .worker import USER_ERRORS, prepared, settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..aggregate import Span
    from ..events import Reading
    from ..plan import Plan, QueryPlan
    from .rows import Packing
    from .share import Class
    from .slices import Slice


def kernel(
    plan_text: str, classes: Sequence[Class], class_column: str | None, rows: int = ROWS, most: int = MOST
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """The function for `mapInArrow`. An error of the user's becomes a row of its own, the last of its partition."""
    limit = settings.most()

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        yield from run_partition(batches, plan_text, classes, class_column, rows, most, limit)
        settled()

    return run


def run_partition(
    batches: Iterable[Any],
    plan_text: str,
    classes: Sequence[Class],
    class_column: str | None,
    rows: int = ROWS,
    most: int = MOST,
    limit: int = PARTIAL_MATCHES,
) -> Iterator[Any]:
    """The rows of one partition, sorted by class, keys and time. `rows` are those of a table of groups, about; a group of more
    than `most` is cut in time where it can be. `limit` bounds the partial matches of a query in such a table or cut.
    """
    plan, packing = prepared(plan_text)
    try:
        for number, same in by_class(decoded(batches), class_column):
            one = classes[number]
            if one.pane is not None:
                yield from pane_rows(same, plan, one, packing, rows)
                continue
            if one.segments is not None:
                yield from segment_rows(same, plan, one, one.segments, packing, rows, most)
                continue
            queries = [plan.queries[q] for q in one.queries]
            reach = reach_of(queries)
            flowing = reach is None and can_flow(queries)
            parts = slices(same, one.keys, plan.stream.time_column, reach, rows, most, flowing=flowing)
            for part in parts:
                if part.goes_on:
                    yield from _large(part, parts, plan, one, packing, most, limit)
                else:
                    yield from _rows(read(part.table, plan.stream), part.span, plan, queries, packing, limit)
    except USER_ERRORS as error:
        yield packing.error(str(error))


def _large(
    first: Slice, parts: Iterator[Slice], plan: Plan, one: Class, packing: Packing, most: int, limit: int
) -> Iterator[Any]:
    """The rows of a group that comes in pieces; those after the first are the next of the parts."""

    def pieces() -> Iterator[Any]:
        yield first.table
        for part in parts:
            yield part.table
            if not part.goes_on:
                return

    queries = [plan.queries[q] for q in one.queries]
    asked = tuple(partition_query(q) if has_partitions(q) else q for q in queries)
    program = Program(replace(plan, queries=asked), (replace(one, queries=tuple(range(len(asked)))),), most=limit)
    for place, table in flow(program, pieces(), most):
        if has_partitions(queries[place]):
            yield packing.subtotals(one.queries[place], table)
        else:
            yield from packing.rows(one.queries[place], [table])


def _rows(
    reading: Reading, span: Span, plan: Plan, queries: Sequence[QueryPlan], packing: Packing, limit: int
) -> Iterator[Any]:
    numbers = {query.name: number for number, query in enumerate(plan.queries)}
    counted = counted_queries(queries)
    if counted:
        parts = {q.name for q in counted if has_partitions(q)}
        asked = [partition_query(q) if q.name in parts else q for q in counted]
        for name, table in run_aggregates(reading, plan, asked, span=span).items():
            if name not in parts:
                yield from packing.rows(numbers[name], [table])
            elif table.num_rows:
                yield packing.subtotals(numbers[name], table)
    listed = listed_queries(queries)
    if listed:
        kinds = classify(reading, plan.letters)
        for same in by_partition(listed):
            arranged = arrange_for(reading, kinds, plan, same)
            for name, table in tables_of(arranged, same, limit=limit):
                yield from packing.rows(numbers[name], [table])
