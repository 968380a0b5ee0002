"""Complete matches that stand: what could not be decided while reading is decided here.

That is conditions with LAST of a variable that might have been bound again, conditions that could not be evaluated
then, gaps at the edges of a window, and negations that conditions tie to other events. A match stands if one of its
derivations does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..cheap_dataclass import dataclass
from .block import Path
from .bound import PathBound
from .checks import bit
from .equal_rows import first_of_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ..numbers.columns import Bools, Ints
    from ..plan.positions import Acceptance
    from .block import MatchBlock
    from .checks import Checks
    from .evaluation import Evaluator
    from .guards import Gap, Guards
    from .pattern import IndexedPositions, Numbers
    from .timeline import Timeline

    Violated = Callable[[MatchBlock, Ints, Gap, Ints, Ints], Bools]


@dataclass(frozen=True, slots=True)
class Matches:
    """Matches of the same length: events in order, one row of `positions` for each; `variables` index `names`. `number`
    is that of each in its partition, where the query asks for it.
    """

    names: tuple[str, ...]
    positions: Ints
    variables: Numbers
    number: Ints | None = None

    def __len__(self) -> int:
        return int(self.positions.shape[1])

    def take(self, rows: Ints | Bools) -> Matches:
        number = None if self.number is None else self.number[rows]
        return Matches(self.names, self.positions[:, rows], self.variables[:, rows], number)


@dataclass(frozen=True, slots=True)
class Frames:
    """Windows in which matches might stand: of match `row[i]` the window number `window[i]`, from position `opens[i]`
    to `closes[i]`.

    `rank` is that of the acceptance by which it stands there, if that is known.
    """

    row: Ints
    window: Ints
    opens: Ints
    closes: Ints
    rank: Ints | None = None

    def take(self, rows: Ints | Bools) -> Frames:
        rank = None if self.rank is None else self.rank[rows]
        return Frames(self.row[rows], self.window[rows], self.opens[rows], self.closes[rows], rank)


_NONE = np.empty(0, dtype=np.int64)
NOWHERE = Frames(_NONE, _NONE, _NONE, _NONE, _NONE)


class HoldingWindows(Protocol):
    """Which windows hold matches, given the positions of their first and last events. Where windows open and close
    need not be right without `edges`.
    """

    def frames(self, first: Ints, last: Ints, edges: bool) -> Frames: ...


@dataclass(frozen=True)
class Bounded:
    """The windows of a match query: each match has its own, and what is forbidden must fit in the bound together with
    it.
    """

    timeline: Timeline
    span: int | None

    def frames(self, first: Ints, last: Ints, edges: bool) -> Frames:
        if not edges:
            return Frames(np.arange(len(first)), np.zeros(len(first), np.int64), first, last + 1)
        opens, closes = self.timeline.since(last, self.span), self.timeline.reach(first, self.span)
        return Frames(np.arange(len(first)), np.zeros(len(first), np.int64), opens, closes)


class Standing:
    """Finds the matches that stand among the rows of blocks.

    `forbidden` are the negations that conditions tie to other events; they say which rows of a block are violated in a
    gap, from some positions to before others.
    """

    def __init__(
        self,
        pattern: IndexedPositions,
        timeline: Timeline,
        checks: Checks,
        guards: Guards,
        forbidden: Mapping[int, Violated],
        evaluator: Evaluator,
        windows: HoldingWindows,
    ) -> None:
        self._pattern, self._timeline, self._checks, self._guards = pattern, timeline, checks, guards
        self._forbidden, self._evaluator, self._windows = forbidden, evaluator, windows
        self._several = any(len(acceptances) > 1 for acceptances in pattern.acceptances)

    def matches(self, block: MatchBlock) -> Matches | None:
        """The matches of a match query that end with the block's last events, each once; None if there are none."""
        frames = self.frames(block)
        return self.taken(block, frames.row) if len(frames.row) else None

    def frames(self, block: MatchBlock) -> Frames:
        """The rows of the block that are matches, and the windows in which they stand, each match and window once."""
        frames = self.accepted(block)
        if block.word is None and not self._several:
            return frames
        words = frames.row if block.word is None else block.word[frames.row]
        return frames.take(first_of_each([words, frames.window]))

    def taken(self, block: MatchBlock, rows: Ints) -> Matches:
        """The matches that these rows of a block are."""
        path = Path(block, rows)
        return Matches(self._pattern.variables, path.positions(), self._pattern.variable[path.edges()])

    def accepted(self, block: MatchBlock) -> Frames:
        """The rows of the block that are matches, and the windows in which they stand: once for each acceptance."""
        accepting = self._pattern.accepting[block.edge]
        rows = np.flatnonzero(accepting if block.excluded is None else accepting & ~block.excluded)
        if not len(rows):
            return NOWHERE
        block, rows = self._at_end(block if len(rows) == len(block) else block.take(rows), rows)
        if not len(rows):
            return NOWHERE
        frames = self._windows.frames(block.first, block.position, self._guards.any_late)
        frames = self._guarded(block, frames)
        if block.undecided is not None:
            self._demand(block, frames.row)
        return replace(frames, row=rows[frames.row])

    # ---- conditions --------------------------------------------------------------------------------------------------

    def _at_end(self, block: MatchBlock, numbers: Ints) -> tuple[MatchBlock, Ints]:
        """The rows for which the conditions hold that had to wait for the end, and their numbers."""
        states = self._pattern.target[block.edge]
        waiting = {state: self._checks.at_end[state] for state in np.unique(states).tolist()}
        if not any(waiting.values()):
            return block, numbers
        keep = np.ones(len(block), dtype=np.bool_)
        bits = np.zeros(len(block), dtype=np.int64)
        for state, conditions in waiting.items():
            rows = np.flatnonzero(states == state)
            for number in conditions:
                condition = self._checks.conditions[number]
                memory = None if block.memory is None else block.memory[:, rows]
                bound = self._checks.current(condition, Path(block, rows), memory)
                verdict = condition.judge(bound, self._timeline.instant_start, self._evaluator)
                bits[rows[verdict.undecided]] |= bit(number)
                keep[rows[~verdict.holds]] = False
                rows = rows[verdict.holds]
        return _with_bits(block, bits).take(keep), numbers[keep]

    def _demand(self, block: MatchBlock, standing: Ints) -> None:
        """Conditions that could not be evaluated early, for rows that nothing else has excluded, are an error now: all
        their other tuples are true.
        """
        assert block.undecided is not None
        for number, condition in enumerate(self._checks.conditions):
            rows = np.unique(standing[block.undecided[standing] & bit(number) != 0])
            for bound in self._instances(block, number, rows):
                condition.demand(bound, self._timeline.instant_start, self._evaluator)

    def _instances(self, block: MatchBlock, number: int, rows: Ints) -> Iterator[PathBound]:
        """What the rows have bound in the whole match or, for a condition with a scope, in each instance of it."""
        scope = self._checks.conditions[number].plan.scope
        path = Path(block, rows)
        if scope is None:
            yield PathBound(self._pattern, path, None)
            return
        enters = self._pattern.enters(scope)[path.edges()]
        begins = np.cumsum(enters, axis=0)  # for each depth how many instances have begun
        for instance in range(1, int(begins.max(initial=0)) + 1):
            some = begins[-1] >= instance
            start = (begins[:, some] < instance).sum(axis=0)
            stop = (begins[:, some] <= instance).sum(axis=0)
            yield PathBound(self._pattern, Path(block, rows[some]), scope, start, stop)

    # ---- gaps --------------------------------------------------------------------------------------------------------

    def _guarded(self, block: MatchBlock, frames: Frames) -> Frames:
        """The frames in which no guard is violated, acceptance by acceptance."""
        states = self._pattern.target[block.edge]
        if not self._guards.any_late:
            ranks = np.array([a[0].rank if a else 0 for a in self._pattern.acceptances], dtype=np.int64)
            return replace(frames, rank=ranks[states[frames.row]])
        path = Path(block, np.arange(len(block)))
        edges, positions = path.edges(), path.positions()
        standing: list[Frames] = []
        for state in np.unique(states).tolist():
            rows = np.flatnonzero(states == state)
            place = np.full(len(block), -1, dtype=np.int64)
            place[rows] = np.arange(len(rows))
            for acceptance in self._pattern.acceptances[state]:
                some = frames.take(place[frames.row] >= 0)
                free = self._free(block, rows, place, edges[:, rows], positions[:, rows], acceptance, some)
                standing.append(replace(free, rank=np.full(len(free.row), acceptance.rank)))
        return Frames(
            np.concatenate([f.row for f in standing]),
            np.concatenate([f.window for f in standing]),
            np.concatenate([f.opens for f in standing]),
            np.concatenate([f.closes for f in standing]),
            np.concatenate([np.empty(0, np.int64) if f.rank is None else f.rank for f in standing]),
        )

    def _free(
        self,
        block: MatchBlock,
        rows: Ints,
        place: Ints,
        edges: Numbers,
        positions: Ints,
        acceptance: Acceptance,
        frames: Frames,
    ) -> Frames:
        """The frames of some rows without anything forbidden; `place` is where in `rows` a row of the block stands."""
        for gap in self._guards.gaps(edges, positions, acceptance):
            which = np.full(len(rows), -1, dtype=np.int64)
            which[gap.rows] = np.arange(len(gap.rows))
            of_gap = which[place[frames.row]]
            concerned = np.flatnonzero(of_gap >= 0)
            violated = self._violated(block, gap.take(of_gap[concerned]), frames.take(concerned))
            keep = np.ones(len(frames.row), dtype=np.bool_)
            keep[concerned[violated]] = False
            frames = frames.take(keep)
        return frames

    def _violated(self, block: MatchBlock, gap: Gap, frames: Frames) -> Bools:
        forbidden = self._forbidden.get(gap.negation)
        if forbidden is None:
            return self._guards.violated(gap, frames.opens, frames.closes)
        low, high = self._guards.extent(gap, frames.opens, frames.closes)
        return forbidden(block, frames.row, gap, low, high)


def _with_bits(block: MatchBlock, bits: Ints) -> MatchBlock:
    if not bits.any():
        return block
    return replace(block, undecided=bits if block.undecided is None else block.undecided | bits)
