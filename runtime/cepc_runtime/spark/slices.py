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

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ..events.grouped import ticks_of
from ..events.stretch import EVERYWHERE, TimeSpan
from ..plan.windows import Unbounded
from .groups import ROWS, starts_of

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
    return not any(isinstance(query.window, Unbounded) for query in queries)


def slices(
    batches: Iterable[Any],
    keys: Sequence[str],
    time: str,
    reach: int | None,
    rows: int = ROWS,
    most: int = MOST,
    *,
    flowing: bool = False,
) -> Iterator[Slice]:
    """Tables of whole groups, of `rows` rows or a little more, and slices of groups of more than `most` rows, if there
    is a reach, or pieces, if they are `flowing`; the rows must be sorted by the keys, then by time.
    """
    held = _Held(keys, time)
    limit = most
    for given in batches:
        batch = given
        if not batch.num_rows:
            continue
        if held.open:  # a group of which slices or pieces are gone
            starts = starts_of(held.last, batch, keys)
            if not len(starts):
                held.add(batch)
            else:
                held.add(batch.slice(0, int(starts[0])))
                yield held.take()
                limit = most
                held.add(batch.slice(int(starts[0])))
        elif held.count + batch.num_rows >= rows and len(starts := starts_of(held.last, batch, keys)):
            held.add(batch.slice(0, int(starts[-1])))
            if held.count:
                yield held.take()
            held.add(batch.slice(int(starts[-1])))
        else:
            held.add(batch)
        if (reach is not None or flowing) and held.count >= limit:
            if before := held.before_last_group():
                yield before
            if reach is not None:
                if gone := held.slice(reach):
                    yield gone
                limit = max(most, 2 * held.count)
            elif held.count >= limit:
                yield held.piece()
                limit = rows
    if held.count or held.open:
        yield held.take()


class _Held:
    """Batches that wait, of which the last group may go on. `open`: slices or pieces of it are gone. `last` is the last
    row.
    """

    def __init__(self, keys: Sequence[str], time: str) -> None:
        self._keys, self._time = keys, time
        self._batches: list[Any] = []
        self._span = EVERYWHERE
        self.count = 0
        self.open = False
        self.last: Any | None = None

    def add(self, batch: Any) -> None:
        if batch.num_rows:
            self._batches.append(batch)
            self.count += batch.num_rows
            self.last = batch.slice(batch.num_rows - 1)

    def take(self) -> Slice:
        """Everything, whose last group is complete."""
        assert self.last is not None
        found = Slice(pa.Table.from_batches(self._batches, self.last.schema), self._span)
        self._keep([], EVERYWHERE, opened=False)
        return found

    def before_last_group(self) -> Slice | None:
        """What is held of other groups than the last one."""
        if self.open:
            return None
        table = pa.Table.from_batches(self._batches)
        starts = starts_of(None, table, self._keys)
        if not len(starts):
            return None
        self._keep(table.slice(int(starts[-1])).to_batches(), EVERYWHERE, opened=False)
        return Slice(table.slice(0, int(starts[-1])))

    def slice(self, reach: int) -> Slice | None:
        """The windows of the last group, the only one, of which all events are here; None if there are none."""
        table = pa.Table.from_batches(self._batches)
        ticks = ticks_of(table.column(self._time))
        end = int(ticks[-1]) - reach  # more events of the last instant may come
        if end <= (int(ticks[0]) if self._span.first is None else self._span.first):
            return None
        found = Slice(table, TimeSpan(self._span.first, end))
        self._keep(table.slice(int(np.searchsorted(ticks, end))).to_batches(), TimeSpan(end), opened=True)
        return found

    def piece(self) -> Slice:
        """What is held of the last group, the only one."""
        found = Slice(pa.Table.from_batches(self._batches), goes_on=True)
        self._keep([], EVERYWHERE, opened=True)
        return found

    def _keep(self, batches: list[Any], span: TimeSpan, *, opened: bool) -> None:
        self._batches, self.count = batches, sum(batch.num_rows for batch in batches)
        self._span, self.open = span, opened
