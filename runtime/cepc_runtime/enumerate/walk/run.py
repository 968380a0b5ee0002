"""Walking over the events of a query: from its timeline to batches of matches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ...kernel.machine_code import run_function
from ..standing import Matches
from . import loop
from .blocks import blocks_of, no_blocks
from .instructions import Instructions
from .loop import FINISHED, FULL, SHORT, Walked
from .loops import KnownOfPiece
from .numbers import NumberRows, Sides
from .progress import AT, COUNTERS, GROUP, HIGH, LOW, MATCHES, MEMORY, MOST, PATIENCE, WORK, WRITTEN
from .reading import FormulaMeans, WalkEvents
from .table import OptionParts, table_of
from .tallies import Tallies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...plan.after import AfterMatchSkip
    from ..evaluation import Evaluator
    from ..guards import Guards
    from ..numbering import Numbering
    from ..pattern import IndexedPositions
    from ..search import SearchMeans
    from ..timeline import Timeline
    from .states import Walk

PIECE: Final = 1 << 20
"""Numbers kept of a piece, where matches are not longer."""
REMEMBERED: Final = 1 << 18
"""From where no match goes on is remembered so often at most, where anything is kept."""
LEAST: Final = 1 << 12
"""First events of a piece at least."""
LONG: Final = 1 << 24
"""Work after which a run ends, so that somebody can be told."""
LONG_IN_PYTHON: Final = 1 << 16
"""The same where it is interpreted: how much there is for each event shows then, and whether machine code pays."""
EVENTS_OF_MATCH: Final = 16
"""Room for so many events of each match of a batch."""


class Walking:
    """One query over one timeline. `span` bounds a match; `after` is what AFTER MATCH SKIP says, and `numbering`
    numbers the matches. Raises EvaluationError where a test cannot be evaluated for some event, NotComputedError where
    numbers are too large for formulas.
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
        after: AfterMatchSkip,
        numbering: Numbering | None = None,
    ) -> None:
        self._walk, self._pattern, self._timeline, self._numbering = walk, pattern, timeline, numbering
        rows = NumberRows(timeline)
        sides = Sides(walk, timeline, evaluator.table, rows)
        bound = {variable: timeline.events_of_any(walk.letters_bound(variable)) for variable in pattern.variables}
        tallies = Tallies(bound, walk.held, rows, timeline, evaluator)
        instructions = Instructions(walk, timeline, evaluator.table, rows, tallies)
        self._table = table_of(walk, pattern, OptionParts(sides.rows, tallies.keeps, instructions.of), span, after)
        self._events = self._prepared(rows, guards, tallies, instructions)

    def matches(self, means: SearchMeans) -> Iterator[Matches]:
        """The matches, in batches of matches of one length."""
        states, length, slots = len(self._walk.states), self._timeline.length, len(self._events.kept)
        least = max(PIECE // states, LEAST)
        run = run_function(loop, states * length)
        progress = np.zeros(COUNTERS + MEMORY * states, dtype=np.int64)
        progress[GROUP] = -1
        linked, looped = self._walk.is_linked, self._walk.loops
        known = _knowledge(0, linked, looped, slots)
        found = _room(means.block, EVENTS_OF_MATCH * means.block, linked, slots)
        end = None
        while end != FINISHED:
            progress[MOST] = means.budget.left
            progress[PATIENCE] = min(LONG, LONG_IN_PYTHON) if run is loop.run else LONG
            end = run(self._table, progress, self._events, known, found, least)
            means.budget.spend(tried=int(progress[WORK]), partial=0)
            if end == SHORT:
                known = _knowledge(int(progress[HIGH] - progress[LOW]) * states, linked, looped, slots)
            if end == FULL and not progress[MATCHES]:  # a match of more events than there is room for
                found = _room(means.block, 2 * len(found.positions), linked, slots)
            elif end in (FULL, FINISHED):
                means.budget.spend(tried=0, partial=int(progress[WRITTEN]))
                means.reached(progress[AT] / max(length, 1))
                yield from self._by_length(found, int(progress[MATCHES]))
                progress[MATCHES] = progress[WRITTEN] = 0
            if run is loop.run:
                run = run_function(loop, int(progress[WORK]))
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

    def _prepared(self, rows: NumberRows, guards: Guards, tallies: Tallies, instructions: Instructions) -> WalkEvents:
        """The events as the loop reads them."""
        timeline, walk, numbers = self._timeline, self._walk, rows.integers
        letters = np.zeros(timeline.length, dtype=np.int64)
        for place, letter in enumerate(walk.letters):
            letters |= timeline.satisfies(letter).astype(np.int64) << place
        gaps = np.empty((len(walk.guards), timeline.length), dtype=np.int64)
        for row, forbidden in enumerate(walk.guards):
            gaps[row] = guards.free_until(forbidden, np.arange(timeline.length))
        blocks = blocks_of(letters, numbers) if walk.loops or walk.seeks else no_blocks()
        fresh, registers = np.array(tallies.fresh, dtype=np.int64), instructions.registers
        means = FormulaMeans(
            fresh, fresh.copy(), rows.reals, instructions.constants, np.zeros(registers, dtype=np.int64),
            np.full(registers, np.nan),
        )  # fmt: skip
        return WalkEvents(
            letters, timeline.ticks, timeline.instant_start, timeline.instant_end, timeline.group_starts, numbers, gaps,
            fresh.copy(), means, *blocks,
        )  # fmt: skip


def _room(matches: int, events: int, linked: bool, slots: int) -> Walked:
    ways = events if linked else 0
    return Walked(
        np.empty(events, dtype=np.int64),
        np.empty(events, dtype=np.int32),
        np.empty(matches, dtype=np.int64),
        np.empty(ways, dtype=np.int64),
        np.empty(ways, dtype=np.int64),
        np.empty((slots, max(events // EVENTS_OF_MATCH, EVENTS_OF_MATCH)), dtype=np.int64),
    )


def _knowledge(size: int, linked: bool, looped: bool, slots: int) -> KnownOfPiece:
    ends, nexts, runs = (np.empty(n, dtype=np.int32) for n in (size, size, size if looped else 0))
    remembered = min(size, REMEMBERED) if slots else size if linked else 0
    failed = np.full(remembered, -1, dtype=np.int32)
    places, kept = (np.empty(of, dtype=np.int64) for of in (remembered if slots else 0, (slots, remembered)))
    return KnownOfPiece(ends, nexts, runs, failed, places, kept)
