"""Groups in many tasks. Each task finds numbers of some parts of a group, and one puts them together, which is little work; or it finds
the windows that begin in some segments of time, which are rows already.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..drive import drive, tables
from ..events import read
from ..parts.panes import can_be_cut, pane_queries
from ..parts.partitions import has_partitions, totals_of_partitions
from ..parts.product import totals_of_panes
from ..parts.segments import SEGMENT, reach_of
from ..plan import is_counted
from ..result_rows import result_table
from ..results import Results, check_edges
from ..stretch import Stretch
from ..types import BIGINT
from .events import PANE
from .rows import PARTS
from .slices import slices
from .worker import USER_ERRORS, prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..parts.panes import PaneQueries
    from ..parts.segments import Segments
    from ..plan import Plan, QueryPlan
    from .rows import Packing
    from .share import Class


def pane_rows(batches: Iterable[Any], plan: Plan, one: Class, packing: Packing, rows: int) -> Iterator[Any]:
    """For a class with panes, the matrices of its queries; the batches are sorted by pane."""
    types = dict(plan.stream.columns)
    cut = {n: pane_queries(query, types, PANE) for n in one.queries if can_be_cut(query := plan.queries[n])}
    paned = _plan(plan, list(cut.values()))
    for part in slices(batches, (PANE,), plan.stream.time_column, None, rows):  # a pane is never cut
        reading = read(part.table, paned.stream)
        for number in one.queries:
            check_edges(reading.ticks, plan.queries[number], plan.stream)
        found = tables(drive(Stretch(paned, reading), paned.queries))
        for number, queries in cut.items():
            matrices = pa.concat_tables(found[query.name] for query in queries.queries)
            if matrices.num_rows:
                yield packing.part(number, matrices)


def _plan(plan: Plan, cut: list[PaneQueries]) -> Plan:
    return replace(
        plan,
        stream=replace(plan.stream, columns=(*plan.stream.columns, (PANE, BIGINT))),
        queries=tuple(query for found in cut for query in found.queries),
        sharing=tuple(part for found in cut for part in found.sharing),
    )


def segment_rows(
    batches: Iterable[Any], plan: Plan, one: Class, segments: Segments, packing: Packing, rows: int, most: int
) -> Iterator[Any]:
    """For a class with segments, the rows of its queries; the batches are sorted by keys, segment and time."""
    stream = replace(plan.stream, columns=(*plan.stream.columns, (SEGMENT, BIGINT)))
    cut = replace(plan, stream=stream, queries=tuple(_within_segment(plan.queries[number]) for number in one.queries))
    parts = slices(batches, (*one.keys, SEGMENT), stream.time_column, reach_of(cut.queries), rows, most)
    numbers = {query.name: number for number, query in zip(one.queries, cut.queries, strict=True)}
    for part in parts:
        stretch = Stretch(cut, read(part.table, stream), replace(part.span, segments=segments))
        for name, table in drive(stretch, cut.queries):
            yield from packing.rows(numbers[name], [table])


def _within_segment(query: QueryPlan) -> QueryPlan:
    """The query, whose matches lie within one segment each."""
    return replace(query, partition=(*query.partition, SEGMENT))


def together(plan_text: str, number: int) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """The function for `mapInArrow` that makes the rows of a query from all of its parts."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        plan, packing = prepared(plan_text)
        query = plan.queries[number]
        blobs = [blob for batch in batches for blob in batch.column(PARTS).to_pylist()]
        if not blobs:
            return
        parts = pa.concat_tables(pa.ipc.open_stream(blob).read_all() for blob in blobs)
        try:
            assert is_counted(query)  # no other has parts
            totals = totals_of_partitions(query, parts) if has_partitions(query) else totals_of_panes(query, parts)
            yield from packing.rows(number, [result_table(Results(totals, plan.stream))])
        except USER_ERRORS as error:
            yield packing.error(str(error))

    return run
