"""Groups too large to be held: cut in time, with as much held as the longest window needs.

Where matches are counted, slices overlap. A window is found from the slice in which it begins, which has all events of
the window and a tick more:

    slice 0   events before t1 + reach          windows that begin before t1
    slice 1   events from t1, before t2 + reach windows that begin from t1, before t2
    …

Where matches are listed, a large group comes in pieces that do not overlap and flows through the engine of streams,
whose watermark is how far it has come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..events.grouped import ticks_of
from ..events.stretch import EVERYWHERE, TimeSpan
from ..plan.windows import Sessions, Unbounded
from .groups import ROWS, LargeGroup, groups, rows_of
from .time_order import in_time_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..plan.query import QueryPlan

MOST: Final = 1 << 19
"""Rows of one group that are held before it is cut."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Events to be run together, and where the windows begin that they are all events of. `goes_on`: they are a piece
    of one group, of which more pieces follow.
    """

    table: Any
    span: TimeSpan = EVERYWHERE
    goes_on: bool = False


def can_flow(queries: Iterable[QueryPlan]) -> bool:
    """Whether a stream could answer the queries: nothing needs the end of the events."""
    return not any(isinstance(query.window, Unbounded | Sessions) for query in queries)


def slices(
    batches: Iterable[Any],
    keys: Sequence[str],
    time: str,
    reach: int | None,
    rows: int = ROWS,
    most: int = MOST,
    *,
    flowing: bool = False,
    in_order: bool = False,
) -> Iterator[Slice]:
    """Tables of whole groups, of `rows` rows or a little more, and slices of groups of more than `most` rows, if there
    is a reach, or pieces, if they are `flowing`; the rows must be sorted by the keys. Those of a group that is cut are
    sorted by time, if they do not come `in_order`.
    """
    for found in groups(batches, keys, rows, None if reach is None and not flowing else most):
        if not isinstance(found, LargeGroup):
            yield Slice(found)
            continue
        ordered = found.batches if in_order else in_time_order(found.batches, time, most)
        yield from _pieces(ordered, rows, most) if reach is None else _slices(ordered, time, reach, most)


def _slices(batches: Iterable[Any], time: str, reach: int, most: int) -> Iterator[Slice]:
    """Of one group: the windows of which all events are there, when there are many."""
    held, span, limit = list[Any](), EVERYWHERE, most
    for batch in batches:
        held.append(batch)
        if rows_of(held) < limit:
            continue
        table = pa.Table.from_batches(held)
        ticks = ticks_of(table.column(time))
        end = int(ticks[-1]) - reach  # more events of the last instant may come
        if end > (int(ticks[0]) if span.first is None else span.first):
            yield Slice(table, TimeSpan(span.first, end))
            held, span = table.slice(int(np.searchsorted(ticks, end))).to_batches(), TimeSpan(end)
        limit = max(most, 2 * rows_of(held))
    yield Slice(pa.Table.from_batches(held), span)


def _pieces(batches: Iterable[Any], rows: int, most: int) -> Iterator[Slice]:
    """Of one group, one after the other; the last may have no rows."""
    held, limit = list[Any](), most
    schema: Any = None
    for batch in batches:
        held.append(batch)
        schema = batch.schema
        if rows_of(held) >= limit:
            yield Slice(pa.Table.from_batches(held), goes_on=True)
            held, limit = [], rows
    yield Slice(pa.Table.from_batches(held, schema))
