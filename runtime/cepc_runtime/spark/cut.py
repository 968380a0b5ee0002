"""Groups in many tasks. Each task finds numbers of some parts of a group, and one puts them together, which is little
work; or it finds the windows that begin in some segments of time, which are rows already.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..drive import drive
from ..events.grouped import read
from ..events.letters import classify
from ..events.segments import SEGMENT, reach_of
from ..events.stretch import Stretch
from ..panes.cutting import can_be_cut, panes_in_time
from ..panes.folded import concatenated, fold_exactly
from ..panes.shared_panes import Family
from ..panes.tables import from_table, projected, to_table
from ..panes.windows import totals_of_folded
from ..plan.windows import Sliding
from ..results.as_columns import Results, check_edges
from ..results.partition_sums import has_partitions, totals_of_partitions
from ..results.result_rows import result_table
from ..sql.types import BIGINT
from .events import PANE
from .rows import SUBTOTALS, table_of
from .slices import slices
from .worker import USER_ERRORS, prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..events.segments import Segments
    from ..parts.classes import Class
    from ..plan.physical import PhysicalPlan
    from ..plan.strategy import CountedQuery, PhysicalQuery
    from ..results.totals import Totals
    from .parquet_packing import ParquetPacking
    from .rows import Packing


def pane_rows(
    batches: Iterable[Any], plan: PhysicalPlan, one: Class, packing: Packing | ParquetPacking, rows: int
) -> Iterator[Any]:
    """For a class with panes, what these tell of its queries; the batches are sorted by pane."""
    cut = [(number, query) for number in one.queries if can_be_cut(query := plan.queries[number])]
    family, alone = _family(cut), {number: _family([(number, query)]) for number, query in cut}
    for part in slices(batches, (PANE,), plan.stream.time_column, None, rows):  # a pane is never cut
        reading = read(part.table, plan.stream)
        check_edges(reading.ticks, (plan.queries[number] for number in one.queries), plan.stream)
        kinds = classify(reading, plan.letters)
        folded = fold_exactly(family, plan, reading, kinds, family.times.number(reading.ticks))
        if len(folded):
            for number, own in alone.items():
                yield packing.subtotals(number, to_table(projected(folded, family, own)))


def _family(queries: Sequence[tuple[int, CountedQuery]]) -> Family:
    """Queries of one group with the same panes."""
    (times,) = {panes_in_time(query.window) for _, query in queries if isinstance(query.window, Sliding)}
    return Family((), times, tuple(queries))


def segment_rows(
    batches: Iterable[Any],
    plan: PhysicalPlan,
    one: Class,
    segments: Segments,
    packing: Packing | ParquetPacking,
    rows: int,
    most: int,
) -> Iterator[Any]:  # fmt: skip
    """For a class with segments, the rows of its queries; the batches are sorted by keys and segment."""
    stream = replace(plan.stream, columns=(*plan.stream.columns, (SEGMENT, BIGINT)))
    cut = replace(plan, stream=stream, queries=tuple(_within_segment(plan.queries[number]) for number in one.queries))
    parts = slices(batches, (*one.keys, SEGMENT), stream.time_column, reach_of(cut.queries), rows, most)
    numbers = {query.name: number for number, query in zip(one.queries, cut.queries, strict=True)}
    for part in parts:
        stretch = Stretch(cut, read(part.table, stream), replace(part.span, segments=segments))
        for name, table in drive(stretch, cut.queries):
            yield from packing.rows(numbers[name], [table])


def _within_segment(query: PhysicalQuery) -> PhysicalQuery:
    """The query, whose matches lie within one segment each."""
    return replace(query, partition=(*query.partition, SEGMENT))


def together(plan_text: str, number: int) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """The function for `mapInArrow` that makes the rows of a query from all of its subtotals."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        plan, packing = prepared(plan_text)
        found = [table_of(blob) for batch in batches for blob in batch.column(SUBTOTALS).to_pylist()]
        if not found:
            return
        try:
            totals = totals_of(plan.queries[number], number, found)
            yield from packing.rows(number, [result_table(Results(totals, plan.stream))])
        except USER_ERRORS as error:
            yield packing.error(str(error))

    return run


def totals_of(query: PhysicalQuery, number: int, found: Sequence[Any]) -> Totals:
    """The totals of query `number` of a plan from the subtotals that tasks have found."""
    if has_partitions(query):
        return totals_of_partitions(query, found)
    if not can_be_cut(query):
        raise ValueError(f"query {query.name} has no subtotals")
    family = _family([(number, query)])
    folded = concatenated([from_table(family, table) for table in found])
    return next(totals for _, totals in totals_of_folded(family, (number,), folded))
