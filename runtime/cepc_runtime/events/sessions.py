"""WITHIN SESSION: the events of each group cut into sessions, which are then groups by themselves.

A session is a window that depends on the group's events, and on nothing else. A match lies in one session, and a NOT
looks no further than its ends, so the matches of a session are those of its events as if there were no others: its
first and last time become two columns by which events are grouped, and its window is one over everything.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from ..numbers.columns import dense_rows
from ..numbers.sorting import order_of
from ..plan.windows import Sessions, Unbounded
from .grouped import select
from .letters import Kinds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..numbers.columns import Ints
    from ..plan.query import Q
    from ..plan.strategy import PhysicalQuery
    from .grouped import Reading
    from .stretch import Stretch

SESSION: Final = ("\0session start", "\0session end")
"""Columns with the edges of an event's session, in ticks; no stream has such names."""


def in_sessions(query: Q) -> Q:
    """The query over events that have the SESSION columns."""
    return replace(
        query, window=Unbounded(), partition=(*query.partition, *SESSION), group_by=(*query.group_by, *SESSION)
    )


def by_sessions(queries: Iterable[PhysicalQuery]) -> dict[tuple[Sessions, tuple[str, ...]], list[PhysicalQuery]]:
    """The queries with WITHIN SESSION, those together whose groups have the same sessions."""
    found: dict[tuple[Sessions, tuple[str, ...]], list[PhysicalQuery]] = {}
    for query in queries:
        if isinstance(query.window, Sessions):
            found.setdefault((query.window, tuple(sorted(query.group_by))), []).append(query)
    return found


def cut_into_sessions(
    stretch: Stretch, kinds: Kinds, sessions: Sessions, group_by: Sequence[str]
) -> tuple[Stretch, Kinds]:
    """The events of sessions, those in between that make none too, with the SESSION columns; and their kinds."""
    reading = stretch.reading
    rows, edges = in_rows(reading, kinds, sessions, group_by)
    cut = with_sessions(select(reading, rows), edges)
    return replace(stretch, reading=cut), Kinds(kinds.of[rows], kinds.letters)


def with_sessions(reading: Reading, edges: tuple[Ints, Ints]) -> Reading:
    """The events with the SESSION columns."""
    table = reading.table
    for name, ticks in zip(SESSION, edges, strict=True):
        table = table.append_column(name, pa.array(ticks, pa.int64()))
    return replace(reading, table=table)


def in_rows(
    reading: Reading, kinds: Kinds, sessions: Sessions, group_by: Sequence[str]
) -> tuple[Ints, tuple[Ints, Ints]]:
    """Which rows are from the first to the last event of a session, and where their sessions begin and end."""
    length = len(reading.ticks)
    makes = kinds.satisfying(frozenset(sessions.letters))
    columns = [reading.table.column(name) for name in group_by]
    groups = dense_rows(columns)[0] if columns else np.zeros(length, dtype=np.int64)
    order = order_of([groups, reading.ticks, (~makes).astype(np.int8)])
    ticks, groups, makes = reading.ticks[order], groups[order], makes[order]
    of, at = groups[makes], ticks[makes]
    begins = np.ones(len(at), dtype=np.bool_)
    apart = at[1:].view(np.uint64) - at[:-1].view(np.uint64)  # two times may be further apart than 2^63
    begins[1:] = (of[1:] != of[:-1]) | (apart >= sessions.gap)
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(at)) - 1 if len(at) else first
    number = np.cumsum(begins) - 1
    before = np.cumsum(makes) - 1  # the event that makes a session at an event or last before it
    inside = before >= 0
    session = number[np.maximum(before, 0)] if len(at) else np.zeros(length, dtype=np.int64)
    if len(at):
        inside &= (of[first][session] == groups) & (ticks <= at[last][session])
    rows, session = order[inside], session[inside]
    place = np.argsort(rows)
    rows, session = rows[place], session[place]
    return rows, (at[first][session], at[last][session] + sessions.gap)
