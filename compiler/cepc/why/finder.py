"""Matches of a query, or of a query that asks less, among some of the events that were read."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.enumerate.arranged import Arranged
from cepc_runtime.enumerate.budget import TooManyPartialMatchesError, budget_of
from cepc_runtime.enumerate.extension import Sources
from cepc_runtime.events.grouped import arrange, select
from cepc_runtime.events.letters import Kinds, classify
from cepc_runtime.events.sessions import in_rows, in_sessions, with_sessions
from cepc_runtime.plan.query import letters_listed
from cepc_runtime.plan.select import SelectContiguous
from cepc_runtime.plan.windows import Sessions, Sliding
from cepc_runtime.sql.evaluate.errors import EvaluationError

from ..planning import plan_program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_runtime.enumerate.enumerator import Enumerator
    from cepc_runtime.enumerate.standing import Matches
    from cepc_runtime.events.grouped import Reading
    from cepc_runtime.numbers.columns import Bools, Ints
    from cepc_runtime.plan.stream import StreamPlan

    from .. import model
    from ..planning.logical import LogicalPlan

PARTIAL_MATCHES = 300_000
"""How many one search may look at: seconds."""


@dataclass(frozen=True, slots=True)
class MatchEvent:
    """An event of a match: its row in the reading, and the variable that it is bound to."""

    row: int
    variable: str


Match = tuple[MatchEvent, ...]


@dataclass(frozen=True)
class Finder:
    """Looks for matches of queries that are variants of one of the program's. `reading` has all events, `stream` how
    the query's own plan reads them. One search looks at no more than `limit` partial matches.
    """

    program: model.CheckedProgram
    stream: StreamPlan
    reading: Reading
    limit: int = PARTIAL_MATCHES

    def plan(self, query: model.Query, *, listed: bool = False) -> LogicalPlan | None:
        """The plan of a variant; None where the pattern, with other things left out, is too large."""
        planned = plan_program(replace(self.program, queries=(query,)), listed=listed)
        return planned.plans[0] if planned.plans else None

    def first(self, query: model.Query, rows: Ints, start: int | None = None) -> Match | None:
        """A match of the query among the events `rows`, the earliest of the first that are found; one that begins at
        `start` if that is given. None as well where there is none within reason.
        """
        try:
            found = list(islice(self.matches(query, rows, start), 50))
        except (TooManyPartialMatchesError, EvaluationError):
            return None
        return min(found, key=self._times, default=None)

    def last(self, query: model.Query, rows: Ints, upto: int) -> Match | None:
        """The match of the query among the events `rows` that begins last, at `upto` or before. None as well where
        there is none within reason.
        """
        ticks = self.reading.ticks
        try:
            found = [match for match in self.matches(query, rows) if ticks[match[0].row] <= upto]
        except (TooManyPartialMatchesError, EvaluationError):
            return None
        return max(found, key=lambda match: int(ticks[match[0].row]), default=None)

    def matches(self, query: model.Query, rows: Ints, start: int | None = None) -> Iterator[Match]:
        """All matches, each once. Raises TooManyPartialMatchesError and EvaluationError."""
        return (match for match, _ in self._numbered(query, rows, start))

    def number(self, query: model.Query, match: Match) -> int:
        """The number of a match in its partition; 0 where it is not found within reason."""
        try:
            of_all = self._numbered(query, np.arange(len(self.reading.ticks)))
            return next((number for found, number in of_all if set(found) == set(match)), 0)
        except (TooManyPartialMatchesError, EvaluationError):
            return 0

    def _numbered(self, query: model.Query, rows: Ints, start: int | None = None) -> Iterator[tuple[Match, int]]:
        """The matches with their numbers, 0 where the query asks for none."""
        plan = self.plan(query, listed=True)
        if plan is None or not len(rows):
            return
        (query_plan,) = plan.queries
        reading = select(self.reading, rows)
        kinds = classify(reading, plan.letters)
        if not isinstance(query_plan.select, SelectContiguous):
            keep = np.flatnonzero(kinds.satisfying(letters_listed(query_plan)))
            reading, kinds, rows = select(reading, keep), Kinds(kinds.of[keep], kinds.letters), rows[keep]
        if isinstance(query_plan.window, Sessions):
            inside, starts = self.sessions(query)
            keep = np.flatnonzero(inside[rows])
            reading, kinds, rows = select(reading, keep), Kinds(kinds.of[keep], kinds.letters), rows[keep]
            reading, query_plan = with_sessions(reading, (starts[rows], starts[rows])), in_sessions(query_plan)
        events = arrange(reading, self.stream, tuple(sorted(query_plan.partition)))
        arranged = Arranged(self.stream, events, Kinds(kinds.of[events.order], kinds.letters), events.length)
        enumerator = arranged.enumerator(query_plan, block=256, budget=budget_of(query_plan, self.limit))
        for batch in _batches(enumerator, query, start):
            ticks = events.ticks[batch.positions[0]]
            some = np.arange(len(batch)) if start is None else np.flatnonzero(ticks == start)
            places = rows[events.order[batch.positions[:, some]]].T.tolist()
            names = batch.variables[:, some].T.tolist()
            numbers = [0] * len(names) if batch.number is None else batch.number[some].tolist()
            for place, name, number in zip(places, names, numbers, strict=True):
                yield tuple(MatchEvent(row, batch.names[n]) for row, n in zip(place, name, strict=True)), number

    def sessions(self, query: model.Query) -> tuple[Bools, Ints]:
        """Which events are in a session of their group, and when it begins."""
        inside = np.zeros(len(self.reading.ticks), dtype=np.bool_)
        starts = np.zeros(len(inside), dtype=np.int64)
        plan = self.plan(query, listed=True)
        if plan is not None and isinstance(window := plan.queries[0].window, Sessions):
            kinds = classify(self.reading, plan.letters)
            rows, (begins, _) = in_rows(self.reading, kinds, window, query.group_by)
            inside[rows], starts[rows] = True, begins
        return inside, starts

    def _times(self, match: Match) -> tuple[int, ...]:
        ticks = self.reading.ticks
        return int(ticks[match[-1].row]), int(ticks[match[0].row]), len(match)


def _batches(enumerator: Enumerator, query: model.Query, start: int | None) -> Iterator[Matches]:
    if isinstance(query.window, Sliding):
        for matches, _ in enumerator.standing_matches():
            yield matches
        return
    yield from enumerator.matches(None if start is None else _beginning(enumerator, start))


def _beginning(enumerator: Enumerator, start: int) -> Sources:
    """Matches that begin at a time, in every group."""
    timeline = enumerator.timeline
    groups = np.arange(len(timeline.group_starts) - 1)
    low = timeline.first_from(groups, np.full(len(groups), start, dtype=np.int64))
    stop = timeline.first_from(groups, np.full(len(groups), start + 1, dtype=np.int64))
    return Sources(low, stop, timeline.group_starts[1:])
