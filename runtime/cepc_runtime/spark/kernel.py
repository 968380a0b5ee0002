"""The kernel as Spark calls it: a function from the sorted batches of a partition to batches of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..drive import drive
from ..enumerate.budget import PARTIAL_MATCHES
from ..events.grouped import read
from ..events.segments import reach_of
from ..events.stretch import EVERYWHERE, Means, Stretch
from ..results.partition_sums import has_partitions, partition_query
from ..streaming.advance import flow
from ..streaming.program import Program
from . import settings
from .cut import pane_rows, segment_rows
from .encoding import decoded
from .forms import IN_ROWS
from .groups import ROWS, by_class
from .slices import MOST, can_flow, slices
from .worker import USER_ERRORS, keep_what_is_freed, packing_of, prepared, settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..parts.classes import Class
    from ..plan.physical import PhysicalPlan
    from ..plan.strategy import PhysicalQuery
    from .forms import Form
    from .parquet_packing import ParquetPacking
    from .rows import Packing
    from .slices import Slice


def kernel(
    plan_text: str, classes: Sequence[Class], class_column: str | None, form: Form
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """The function for `mapInArrow`. An error of the user's becomes a row of its own, the last of its partition."""
    limit = settings.most()

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        keep_what_is_freed()
        yield from run_partition(batches, plan_text, classes, class_column, form=form, limit=limit)
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
    form: Form = IN_ROWS,
) -> Iterator[Any]:
    """The rows of one partition, sorted by class and keys, or by time where there are none. `rows` are those of a table
    of groups, about; a group of more than `most` is cut in time where it can be. `limit` bounds the partial matches of
    a query in such a table or cut.
    """
    plan, packing = prepared(plan_text)[0], packing_of(plan_text, form)
    try:
        for number, same in by_class(decoded(batches), class_column):
            one = classes[number]
            if one.panes is not None:
                yield from pane_rows(same, plan, one, packing, rows)
                continue
            if one.segments is not None:
                yield from segment_rows(same, plan, one, one.segments, packing, rows, most)
                continue
            queries = [plan.queries[q] for q in one.queries]
            reach = reach_of(queries)
            flowing = reach is None and can_flow(queries)
            in_order = class_column is None and not one.keys
            parts = slices(
                same, one.keys, plan.stream.time_column, reach, rows, most, flowing=flowing, in_order=in_order
            )
            asked = [_of_partitions(query) for query in queries]
            for part in parts:
                if part.goes_on:
                    found = _flowing(part, parts, plan, one, asked, most, limit)
                else:
                    whole = part.span == EVERYWHERE  # a slice has a piece of a group
                    stretch = Stretch(plan, read(part.table, plan.stream), part.span, whole=whole)
                    found = drive(stretch, asked, Means(most=limit))
                yield from _packed(found, plan, one, packing)
        yield from packing.rest()
    except USER_ERRORS as error:
        yield packing.error(str(error))


def _of_partitions(query: PhysicalQuery) -> PhysicalQuery:
    """What is wanted here of the query: its rows, or the numbers of its partitions, from which another task makes
    rows.
    """
    return partition_query(query) if has_partitions(query) else query


def _flowing(
    first: Slice,
    parts: Iterator[Slice],
    plan: PhysicalPlan,
    one: Class,
    asked: Sequence[PhysicalQuery],
    most: int,
    limit: int,
) -> Iterator[tuple[str, Any]]:
    """The rows of a group that comes in pieces, by query; those after the first are the next of the parts."""

    def pieces() -> Iterator[Any]:
        yield first.table
        for part in parts:
            yield part.table
            if not part.goes_on:
                return

    alone = replace(one, queries=tuple(range(len(asked))))
    program = Program(replace(plan, queries=tuple(asked)), (alone,), most=limit)
    return ((asked[place].name, table) for place, table in flow(program, pieces(), most))


def _packed(
    found: Iterable[tuple[str, Any]], plan: PhysicalPlan, one: Class, packing: Packing | ParquetPacking
) -> Iterator[Any]:
    numbers = {plan.queries[number].name: number for number in one.queries}
    for name, table in found:
        number = numbers[name]
        if not has_partitions(plan.queries[number]):
            yield from packing.rows(number, [table])
        elif table.num_rows:
            yield packing.subtotals(number, table)
