"""A batch that does not fit into memory: its events are parted on disk, and run part by part.

First by a hash of the columns by which queries need them together, for each class of queries by itself. Where a part is
still too large, because there are no such columns or one group has most events, it is cut in time, as for threads, if
the windows and bounds of queries are so short that not more than twice the events are read. What then is left needs its
events at once and is run so.

Rows are sorted in the end, and what a number is does not depend on what is run with it: parts may come in any order.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..drive import kinds_of
from ..events.grouped import Dropped, Reading, read
from ..events.stretch import EVERYWHERE, Stretch, TimeSpan
from ..numbers.columns import flat
from ..numbers.sorting import by_number
from ..work_done import Work
from .at_once import in_turn
from .classes import classes_of
from .cutting import begins_in, cuts_of, near_matches, near_windows
from .found import Found
from .key_hashes import parts_by_key
from .on_disk import EventFile, Scattering, Stored, in_chunks
from .threads import budgets_of, drive_in_threads, events_listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..enumerate.budget import MatchBudget
    from ..events.stretch import Means
    from ..numbers.columns import Ints
    from ..plan.physical import PhysicalPlan
    from ..plan.strategy import PhysicalQuery
    from ..plan.stream import StreamPlan
    from ..sql.types import DataType
    from .cutting import Near
    from .on_disk import PartSource
    from .resources import Resources

MOST: Final = 256
"""Parts into which events are parted at once: of more, too few rows of a chunk are in each."""

SPARE: Final = 1.25
"""Parts are so many times smaller than they might be, for no hash makes them equal."""

CHUNK: Final = 1 << 20
"""Rows that are divided among the parts at once."""

TWICE: Final = 2
"""Time is cut if not more than so many times the events are read then."""

SAMPLE: Final = 1 << 14
"""Events whose times say where time is cut."""


@dataclass(frozen=True)
class Parting:
    """What the parts of a run have in common; `chunk` rows are divided at once."""

    plan: PhysicalPlan
    means: Means
    resources: Resources
    chunk: int
    told: _Told

    def many(self, source: PartSource) -> float:
        """How many parts the events should be."""
        return self.resources.parts(source.rows, source.size) * SPARE


def drive_by_part(
    source: PartSource, plan: PhysicalPlan, queries: Sequence[PhysicalQuery], means: Means, resources: Resources
) -> tuple[Found, Dropped]:
    """The rows of the queries, and which rows were no events. Raises DiskError, and what `drive` does; of several
    queries or groups that fail, not always the first.
    """
    share = source.rows / max(resources.parts(source.rows, source.size), 1) / 4  # of what fits
    chunk = int(min(max(share, 1), CHUNK))
    told = _Told(means.work, len(queries), source.rows * len(queries))
    found = Found(resources.found)
    with _Files() as made:
        parting = Parting(plan, means, resources, chunk, told)
        source, without = _with_beside(source, parting, made) if plan.stream.beside else (source, Dropped())
        dropped, budgets = _looked_at(source, plan, queries, means, resources, chunk)
        parting = replace(parting, means=replace(means, budgets=budgets))
        for one in classes_of(queries):
            own = tuple(queries[number] for number in one.queries)
            asked = None if one.letters is None else {plan.letters[letter].raw_type for letter in one.letters}
            with _Files() as files:
                parts = _by_key(source, one.keys, asked, parting, files)
                for part in [part for part in parts if part.rows] or parts[:1]:
                    found.add(_of_part(part, own, parting))
    return found, without + dropped


def _looked_at(
    source: PartSource,
    plan: PhysicalPlan,
    queries: Sequence[PhysicalQuery],
    means: Means,
    resources: Resources,
    chunk: int,
) -> tuple[Dropped, dict[str, MatchBudget]]:
    """Which rows are no events, and the budgets of all queries that list matches, which depend on how many events they
    look at.
    """
    listed = events_listed(queries)
    dropped, events = Dropped(), [0] * len(listed)
    for table in in_chunks(source.tables(), chunk):
        reading = read(table, plan.stream, resources.threads)
        dropped += reading.dropped
        if listed:
            kinds = kinds_of(Stretch(plan, reading), queries)
            events = [before + one.count(kinds) for before, one in zip(events, listed, strict=True)]
    return dropped, budgets_of(listed, events, means.most)


def _of_part(source: PartSource, queries: tuple[PhysicalQuery, ...], parting: Parting) -> Iterator[tuple[str, Any]]:
    """The rows of queries over whole groups: those that can be cut in time piece by piece if that is needed."""
    left = dict.fromkeys(queries)
    if parting.resources.parts(source.rows, source.size) > 1:
        stream, times = parting.plan.stream, _times(source, parting)
        pieces = int(min(parting.many(source) + 1, MOST))
        for near in (near_windows(queries, stream, times, pieces), near_matches(queries)) if len(times) else ():
            if near is None or not (spans := _spans(times, near, pieces)):
                continue
            left = {query: None for query in left if query not in near.queries}
            with _Files() as files:
                yield from _by_time(source, near, spans, parting, files)
    if left:
        yield from _run(source, tuple(left), EVERYWHERE, parting)
        parting.told.ended(source.rows * len(left))


def _run(
    source: PartSource, queries: tuple[PhysicalQuery, ...], span: TimeSpan, parting: Parting
) -> Iterator[tuple[str, Any]]:
    work = parting.told.of(len(queries), source.rows)
    known = None if span == EVERYWHERE else partial(begins_in, span)
    reading = read(source.whole(), parting.plan.stream, parting.resources.threads)
    stretch = Stretch(parting.plan, reading, span, known)
    yield from drive_in_threads(stretch, queries, replace(parting.means, work=work), parting.resources)
    parting.means.work.spent(work.effort)
    pa.default_memory_pool().release_unused()


# ---- what events beside have -----------------------------------------------------------------------------------------


def _with_beside(source: PartSource, parting: Parting, files: _Files) -> tuple[PartSource, Dropped]:
    """The events with the columns that are of others beside them, partition by partition: each is in memory at once,
    which no cut in time could change, and then on disk again. And which rows were no events.
    """
    stream, dropped = parting.plan.stream, Dropped()
    plain = replace(stream, columns=stream.given, beside=())
    for table in in_chunks(source.tables(), parting.chunk):
        dropped += read(table, plain).dropped
    for partition in dict.fromkeys(column.partition for column in stream.beside):
        before = replace(stream, columns=_columns_of(source, stream), beside=())
        now = tuple(column for column in stream.beside if column.partition == partition)
        after = replace(before, columns=(*before.columns, *((one.name, one.type) for one in now)), beside=now)
        with _Files() as parts:
            by_key = replace(parting, plan=replace(parting.plan, stream=before))
            file, schema, batches, rows, size = None, None, list[int](), 0, 0
            for part in _by_key(source, partition, None, by_key, parts):
                reading = read(part.whole(), after, parting.resources.threads)
                table = _plain(reading.table)
                if file is None:
                    file, schema = files.new(table.schema), table.schema
                batches += file.add(table)
                rows, size = rows + table.num_rows, size + table.nbytes
        if file is None or not rows:
            return source, Dropped()  # which has no event
        source = Stored(file, schema, tuple(batches), rows, size)
    return source, dropped


def _columns_of(source: PartSource, stream: StreamPlan) -> tuple[tuple[str, DataType], ...]:
    """Those of the plan that the events have by now."""
    there = set(next(source.tables()).schema.names)
    return tuple(column for column in stream.columns if column[0] in there)


# ---- by key ----------------------------------------------------------------------------------------------------------


def _by_key(
    source: PartSource, keys: Sequence[str], asked: set[str | None] | None, parting: Parting, files: _Files
) -> Sequence[PartSource]:
    """Parts with whole groups, of events of the types that are asked for; None asks for all."""
    many = int(min(parting.many(source) + 1, MOST))
    if not keys:
        return [source]

    def rows_of(reading: Reading) -> list[Ints]:
        place = parts_by_key([reading.table.column(name) for name in keys], many)
        if asked is not None and None not in asked and not asked.issuperset(reading.names):
            wanted = np.array([name in asked for name in reading.names], dtype=np.bool_)[reading.types]
            place = np.where(wanted, place, np.uint16(many))
        order = by_number(place)
        return np.split(order, np.searchsorted(place[order], np.arange(1, many + 1)))[:many]

    return _scattered(source, many, rows_of, parting, files)


# ---- by time ---------------------------------------------------------------------------------------------------------


def _by_time(
    source: PartSource, near: Near, spans: Sequence[TimeSpan], parting: Parting, files: _Files
) -> Iterator[tuple[str, Any]]:
    def rows_of(reading: Reading) -> list[Ints]:
        return [np.flatnonzero(near.inside(span, reading.ticks)) for span in spans]

    pieces = _scattered(source, len(spans), rows_of, parting, files)
    for piece, span in zip(pieces, spans, strict=True):
        if piece.rows:
            yield from _run(piece, near.queries, span, parting)
        parting.told.ended(source.rows * len(near.queries) / len(spans))


def _times(source: PartSource, parting: Parting) -> Ints:
    """Some of them, with the least and the greatest."""
    some, each = [np.zeros(0, dtype=np.int64)], max(source.rows // SAMPLE, 1)
    for table in in_chunks(source.tables(), parting.chunk):
        ticks = read(table, parting.plan.stream).ticks
        if len(ticks):
            some += [ticks[::each], np.array([ticks.min(), ticks.max()])]
    return np.sort(np.concatenate(some))


def _spans(times: Ints, near: Near, pieces: int) -> list[TimeSpan]:
    """Where pieces of time begin and end, of which there are fewer where windows are long; none if two are too many."""
    while pieces > 1:
        spans = [TimeSpan(*edges) for edges in pairwise([None, *cuts_of(times, near.edges, pieces), None])]
        if len(spans) > 1 and sum(np.count_nonzero(near.inside(s, times)) for s in spans) <= TWICE * len(times):
            return spans
        pieces //= 2
    return []


# ---- on disk ---------------------------------------------------------------------------------------------------------


class _Files:
    """Closes them, and so gives their room back."""

    def __init__(self) -> None:
        self._files: list[EventFile] = []

    def new(self, schema: Any) -> EventFile:
        self._files.append(EventFile(schema))
        return self._files[-1]

    def __enter__(self) -> _Files:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            file.close()


def _scattered(
    source: PartSource, many: int, rows_of: Callable[[Reading], list[Ints]], parting: Parting, files: _Files
) -> list[Stored]:
    """Parts of the events, which `rows_of` finds among some of them."""
    plan, threads = parting.plan.stream, parting.resources.threads

    def divided(table: Any) -> tuple[list[int], Any]:
        reading = read(table, plan)
        rows = rows_of(reading)
        return [len(own) for own in rows], _plain(reading.table).take(pa.array(np.concatenate(rows))).combine_chunks()

    schema = _plain(read(next(source.tables()).slice(0, 0), plan).table).schema
    scattering = Scattering(files.new(schema), schema, many)
    for _, (lengths, table) in in_turn(in_chunks(source.tables(), parting.chunk), divided, threads):
        scattering.add(lengths, table)
    return scattering.parts()


def _plain(table: Any) -> Any:
    """Without dictionaries, which a file has once for all its batches."""
    if not any(pa.types.is_dictionary(column.type) for column in table.columns):
        return table
    return pa.table(
        [flat(column) if pa.types.is_dictionary(column.type) else column for column in table.columns],
        table.column_names,
    )


# ---- what is done ----------------------------------------------------------------------------------------------------


class _Told:
    """Adds up what parts say of their work: of so many queries, `whole` rows."""

    def __init__(self, work: Work, queries: int, whole: float) -> None:
        self._work, self._queries, self._whole, self._done = work, queries, max(whole, 1), 0.0

    def of(self, queries: int, rows: int) -> Work:
        """The work of the next part."""

        def tell(fraction: float) -> None:
            done = (self._done + queries * rows * fraction) / self._whole
            self._work.reached(min(done, 1) * self._queries)

        return Work(queries, tell)

    def ended(self, done: float) -> None:
        """So many rows, times queries, are done."""
        self._done += done
