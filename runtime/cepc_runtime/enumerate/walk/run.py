"""Walking over the events of a query: from its timeline to batches of matches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ...kernel.machine_code import run_function
from ..standing import Matches
from . import loop
from .blocks import blocks_of, no_blocks
from .loop import FINISHED, FULL, SHORT, Walked
from .loops import KnownOfPiece
from .numbers import Sides
from .progress import AT, COUNTERS, GROUP, HIGH, LOW, MATCHES, MEMORY, WORK, WRITTEN
from .reading import WalkEvents
from .records import NONE, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...plan.query import After
    from ..evaluation import Evaluator
    from ..guards import Guards
    from ..numbering import Numbering
    from ..pattern import IndexedPositions
    from ..search import SearchMeans
    from ..timeline import Timeline
    from .states import Walk

PIECE: Final = 1 << 20
"""Numbers kept of a piece, where matches are not longer."""
LEAST: Final = 1 << 12
"""First events of a piece at least."""
EVENTS_OF_MATCH: Final = 16
"""Room for so many events of each match of a batch."""


class Walking:
    """One query over one timeline. `span` bounds a match; `after` is what AFTER MATCH SKIP says, and `numbering`
    numbers the matches. Raises EvaluationError where a test cannot be evaluated for some event.
    """

    def __init__(
        self,
        walk: Walk,
        pattern: IndexedPositions,
        timeline: Timeline,
        evaluator: Evaluator,
        guards: Guards,
        *,
        span: int | None,
        after: After,
        numbering: Numbering | None = None,
    ) -> None:
        self._walk, self._pattern, self._timeline, self._numbering = walk, pattern, timeline, numbering
        sides = Sides(walk, timeline, evaluator.table)
        self._table = table_of(walk, pattern, sides.rows, span, after)
        self._events = self._prepared(sides, guards)

    def matches(self, means: SearchMeans) -> Iterator[Matches]:
        """The matches, in batches of matches of one length."""
        states, length = len(self._walk.states), self._timeline.length
        least = max(PIECE // states, LEAST)
        run = run_function(loop, states * length)
        progress = np.zeros(COUNTERS + MEMORY * states, dtype=np.int64)
        progress[GROUP] = -1
        linked, looped, held = self._walk.is_linked, self._walk.loops, len(self._walk.held)
        known = _knowledge(0, linked, looped, held)
        found = _room(means.block, EVENTS_OF_MATCH * means.block, linked)
        end = None
        while end != FINISHED:
            end = run(self._table, progress, self._events, known, found, least)
            means.budget.spend(tried=int(progress[WORK]), partial=0)
            if end == SHORT:
                known = _knowledge(int(progress[HIGH] - progress[LOW]) * states, linked, looped, held)
            if end == FULL and not progress[MATCHES]:  # a match of more events than there is room for
                found = _room(means.block, 2 * len(found.positions), linked)
            elif end in (FULL, FINISHED):
                means.budget.spend(tried=0, partial=int(progress[WRITTEN]))
                means.reached(progress[AT] / max(length, 1))
                yield from self._by_length(found, int(progress[MATCHES]))
                progress[MATCHES] = progress[WRITTEN] = 0
            progress[WORK] = 0

    def _by_length(self, found: Walked, count: int) -> Iterator[Matches]:
        stops = found.stops[:count]
        lengths = np.diff(stops, prepend=0)
        numbers = None if self._numbering is None else self._numbering.next(found.positions[stops - lengths])
        for length in np.flatnonzero(np.bincount(lengths)).tolist():
            some = lengths == length
            places = stops[some] - length + np.arange(length)[:, None]
            number = None if numbers is None else numbers[some]
            yield Matches(self._pattern.variables, found.positions[places], found.variables[places], number)

    def _prepared(self, sides: Sides, guards: Guards) -> WalkEvents:
        """The events as the loop reads them."""
        timeline, walk = self._timeline, self._walk
        letters = np.zeros(timeline.length, dtype=np.int64)
        for place, letter in enumerate(walk.letters):
            letters |= timeline.satisfies(letter).astype(np.int64) << place
        gaps = np.empty((len(walk.guards), timeline.length), dtype=np.int64)
        for row, forbidden in enumerate(walk.guards):
            gaps[row] = guards.free_until(forbidden, np.arange(timeline.length))
        blocks = blocks_of(letters, sides.numbers) if walk.loops or walk.seeks else no_blocks()
        return WalkEvents(
            letters, timeline.ticks, timeline.instant_start, timeline.instant_end, timeline.group_starts, sides.numbers,
            gaps, np.full(len(walk.held), NONE), *blocks,
        )  # fmt: skip


def _room(matches: int, events: int, linked: bool) -> Walked:
    ways = events if linked else 0
    return Walked(
        np.empty(events, dtype=np.int64),
        np.empty(events, dtype=np.int32),
        np.empty(matches, dtype=np.int64),
        np.empty(ways, dtype=np.int64),
        np.empty(ways, dtype=np.int64),
    )


def _knowledge(size: int, linked: bool, looped: bool, held: int) -> KnownOfPiece:
    ends, nexts, runs = (np.empty(n, dtype=np.int32) for n in (size, size, size if looped else 0))
    failed = np.full(size if linked else 0, -1, dtype=np.int32)
    return KnownOfPiece(ends, nexts, failed, np.empty((held, size), dtype=np.int64), runs)
