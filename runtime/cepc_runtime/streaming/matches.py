"""The rows of match queries that a watermark decides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..drive import drive
from ..enumerate.budget import PARTIAL_MATCHES, TooManyPartialMatchesError
from ..enumerate.enumerator import timeline_of
from ..events.grouped import select
from ..events.stretch import Means, Stretch
from ..numbers.columns import codes, combine_codes
from ..plan.after import SkipFor, SkipPastLast, SkipTo
from ..plan.query import numbers_matches
from ..sql.evaluate.errors import EvaluationError
from .foreseen import MatchSoFar, asks_for_matches, foreseen, foreseen_with, open_partitions
from .numbered import added, so_far
from .program import FREE, ROW, SO_FAR
from .quiet import joined, silenced, silences, still
from .ticks import before

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..enumerate.arranged import Arranged
    from ..enumerate.standing import Matches
    from ..enumerate.timeline import Timeline
    from ..events.grouped import Reading
    from ..numbers.columns import Bools, Ints
    from ..plan.physical import PhysicalPlan
    from ..plan.strategy import PhysicalQuery
    from .decision import Decision

    WhichAreKnown = Callable[[PhysicalQuery, Matches, Arranged], Bools]


@dataclass(frozen=True)
class Advance:
    """A watermark goes on from `earlier` to `watermark`; `most` bounds the partial matches of a query that are
    listed.
    """

    earlier: int
    watermark: int
    most: int = PARTIAL_MATCHES


def decided(
    final: Reading, plan: PhysicalPlan, queries: Mapping[PhysicalQuery, Decision], step: Advance
) -> Iterator[tuple[str, Any]]:
    """The rows, by query, of the matches that become known, given the final events; the queries are without AFTER
    MATCH, and their matches are found together.
    """
    some = [decision.may_decide(final.ticks, step.earlier, step.watermark) for decision in queries.values()]
    concerned = _partitions_of(final, next(iter(queries)), np.any(some, axis=0))
    if not concerned.any():
        return

    def known(query: PhysicalQuery, matches: Matches, arranged: Arranged) -> Bools:
        decision, ticks = queries[query], arranged.events.ticks
        first, last = ticks[matches.positions[0]], ticks[matches.positions[-1]]
        return decision.known(first, last, step.watermark) & ~decision.known(first, last, step.earlier)

    yield from drive(Stretch(plan, select(final, concerned), known=known), list(queries), Means(most=step.most))


@dataclass(frozen=True)
class Behind:
    """Where a query with AFTER MATCH has gone on: `passed` says with which of the final events no match begins, `quiet`
    which partitions are silent after SKIP FOR (`quiet.py`), None if none is, and `numbered` how many matches partitions
    have had (`numbered.py`), None if none has had any or nobody asks.
    """

    passed: Bools
    quiet: Any
    numbered: Any


def chosen(
    final: Reading,
    plan: PhysicalPlan,
    query: PhysicalQuery,
    beginning: PhysicalPlan,
    decision: Decision,
    step: Advance,
    behind: Behind,
) -> tuple[list[Any], Behind]:
    """The same for a query of the plan with AFTER MATCH, and how far it has gone then.

    `beginning` is `Program.beginning` of the query.
    """
    passed = behind.passed | silenced(final, query.partition, behind.quiet)
    quiet = still(behind.quiet, step.watermark)
    free = ~passed & before(final.ticks, step.watermark - decision.after_first + 1)
    if decision.foreseen:
        waiting, more = ~passed & ~free, free | ~before(final.ticks, step.earlier)
        free |= waiting & _foreseen(final, plan, query, beginning, step, passed, waiting, more)
    concerned = np.flatnonzero(_partitions_of(final, query, free))
    if not len(concerned):
        return [], Behind(passed, quiet, behind.numbered)
    numbered = behind.numbered
    met: list[tuple[Arranged, Matches]] = []
    stretch = _beginning_with(free, final, concerned, query, beginning, _meeting(met, known=True), numbered)
    tables = [table for _, table in drive(stretch, beginning.queries, Means(most=step.most))]
    passed = passed | free
    if met:
        arranged, several = met[0][0], [matches for _, matches in met]
        passed[_rows_passed(arranged, several, query)] = True
        if isinstance(query.after, SkipFor):
            last = np.concatenate([matches.positions[-1] for matches in several])
            rows, ends = _rows_of(arranged, last), arranged.events.ticks[last]
            quiet = joined(quiet, silences(final, query.partition, rows, ends, query.after.ticks))
            quiet = still(quiet, step.watermark)
        if numbers_matches(query):
            first = np.concatenate([matches.positions[0] for matches in several])
            numbered = added(numbered, final, query.partition, _rows_of(arranged, first))
    return tables, Behind(passed, quiet, numbered)


def _meeting(met: list[tuple[Arranged, Matches]], *, known: bool) -> WhichAreKnown:
    """All matches are, or none is; and they are kept."""

    def which(_query: PhysicalQuery, matches: Matches, arranged: Arranged) -> Bools:
        met.append((arranged, matches))
        return np.full(len(matches), known)

    return which


def _beginning_with(
    free: Bools,
    final: Reading,
    rows: Ints,
    query: PhysicalQuery,
    beginning: PhysicalPlan,
    known: WhichAreKnown,
    numbered: Any = None,
) -> Stretch:
    """Some of the final events, of which the free ones may begin a match."""
    reading = select(final, rows)
    table = reading.table.append_column(FREE, pa.array(free[rows])).append_column(ROW, pa.array(rows))
    if numbers_matches(query):
        table = table.append_column(SO_FAR, pa.array(so_far(reading, query.partition, numbered)))
    # The query's own letters keep the first events that are not free yet: a row may pass over them.
    return Stretch(beginning, replace(reading, table=table), known=known, beside=(query,))


def _foreseen(
    final: Reading,
    plan: PhysicalPlan,
    query: PhysicalQuery,
    beginning: PhysicalPlan,
    step: Advance,
    passed: Bools,
    waiting: Bools,
    more: Bools,
) -> Bools:
    """With which events it is decided what begins, though WITHIN is not over."""
    found = np.zeros(len(waiting), dtype=np.bool_)
    partitions = open_partitions(final, plan.stream, plan.letters, query, waiting, more)
    if partitions is None:
        return found
    found[foreseen(partitions, query)] = True
    if not asks_for_matches(query):
        return found
    partitions = partitions.with_few_events()
    if not (waiting & ~found)[partitions.rows].any():
        return found
    met: list[tuple[Arranged, Matches]] = []
    stretch = _beginning_with(~passed, final, partitions.rows, query, beginning, _meeting(met, known=False))
    try:
        for _ in drive(stretch, beginning.queries, Means(most=step.most)):
            pass
    except (TooManyPartialMatchesError, EvaluationError):  # of events over which a match that is still to come passes
        return found
    places = np.zeros(len(waiting), dtype=np.int64)
    places[partitions.rows] = np.arange(len(partitions.rows))
    matches = dict(so_far for arranged, own in met for so_far in _so_far(own, arranged, query, places))
    found[foreseen_with(partitions, query, matches)] = True
    return found


def _so_far(
    matches: Matches, arranged: Arranged, query: PhysicalQuery, places: Ints
) -> Iterator[tuple[int, MatchSoFar]]:
    """By its place."""
    rows, timeline = places[_rows(arranged)], timeline_of(arranged.events, arranged.kinds)
    own = rows[matches.positions]
    resume = _resume(matches, query, timeline)
    beyond = resume >= timeline.group_end[matches.positions[0]]
    last = rows[timeline.group_end[matches.positions[0]] - 1] + 1
    until = np.where(beyond, last, rows[np.minimum(resume, len(rows) - 1)])
    for at, variables, end in zip(own.T.tolist(), matches.variables.T.tolist(), until.tolist(), strict=True):
        yield at[0], MatchSoFar(at, [matches.names[variable] for variable in variables], end)


def _rows(arranged: Arranged) -> Ints:
    """At which row of the final events each stood."""
    return np.asarray(arranged.events.table.column(ROW).to_numpy(), dtype=np.int64)


def _partitions_of(events: Reading, query: PhysicalQuery, some: Bools) -> Bools:
    """All events of the partitions that some of them belong to."""
    numbers, _ = combine_codes([codes(events.table.column(name)) for name in query.partition], len(some))
    return np.isin(numbers, numbers[some])


def _resume(matches: Matches, query: PhysicalQuery, timeline: Timeline) -> Ints:
    """Before which position no match begins any more (docs/language.md, "Selection")."""
    resume: Ints = timeline.instant_end[matches.positions[0]]
    match query.after:
        case SkipPastLast():
            resume = timeline.instant_end[matches.positions[-1]]
        case SkipFor(length):
            resume = timeline.reach(matches.positions[-1], length)
        case SkipTo(end, variables):
            bound = np.isin(matches.variables, [i for i, name in enumerate(matches.names) if name in variables])
            if end == "FIRST":
                event = np.where(bound, matches.positions, timeline.length).min(axis=0)
                event[event == timeline.length] = -1
            else:
                event = np.where(bound, matches.positions, -1).max(axis=0)
            resume = np.maximum(resume, event)
    return resume


def _rows_passed(arranged: Arranged, several: Sequence[Matches], query: PhysicalQuery) -> Ints:
    """The rows of the events with which no match begins after these: they stand before a position, one for each
    group.
    """
    events, timeline = arranged.events, timeline_of(arranged.events, arranged.kinds)
    until = np.zeros(len(events.group_starts) - 1, dtype=np.int64)
    for matches in several:
        np.maximum.at(until, events.groups[matches.positions[0]], _resume(matches, query, timeline))
    return _rows_of(arranged, np.flatnonzero(np.arange(events.length) < until[events.groups]))


def _rows_of(arranged: Arranged, positions: Ints) -> Ints:
    return _rows(arranged)[positions]
