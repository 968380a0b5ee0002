"""From partial matches to those with one event more: for every edge a range of positions, cut by bounds and guards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..cheap_dataclass import dataclass
from ..numbers.sorting import order_of
from .block import MatchBlock
from .bound import Extended
from .ragged import expand, slices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..numbers.columns import Bools, Ints
    from ..plan.positions import Edge
    from .checks import Checks
    from .guards import Guards
    from .pattern import IndexedPositions, Numbers
    from .timeline import Timeline


@dataclass(frozen=True, slots=True)
class Sources:
    """Where matches may lie: each begins from position `low` to before `stop`, and ends before `high`."""

    low: Ints
    stop: Ints
    high: Ints

    def __len__(self) -> int:
        return len(self.low)

    def chunks(self, limit: int) -> Iterator[Sources]:
        """The same in portions of at most `limit` positions to begin at."""
        pieces = np.maximum(-(-(self.stop - self.low) // limit), 0)
        which, place = expand(pieces)
        low = self.low[which] + place * limit
        stop = np.minimum(low + limit, self.stop[which])
        for start, end in slices(stop - low, limit):
            yield Sources(low[start:end], stop[start:end], self.high[which[start:end]])


@dataclass(frozen=True, slots=True)
class Ranges:
    """Candidates: row `row[i]` (of a block, or of the sources) and edge `edge[i]` with `count[i]` events of the edge's
    letter, number `start[i]` and following in the extension's list of letters' events.
    """

    row: Ints
    edge: Numbers
    start: Ints
    count: Ints

    def by_row(self) -> Ranges:
        """Row by row, the edges of each in the order of preference."""
        order = order_of([self.row])
        return Ranges(self.row[order], self.edge[order], self.start[order], self.count[order])

    def take(self, which: Ints) -> Ranges:
        return Ranges(self.row[which], self.edge[which], self.start[which], self.count[which])

    def split(self, limit: int) -> Ranges:
        """The same candidates in ranges of at most `limit`."""
        if not np.any(self.count > limit):
            return self
        which, piece = expand(-(-self.count // limit))
        done = piece * limit
        return Ranges(
            self.row[which], self.edge[which], self.start[which] + done, np.minimum(self.count[which] - done, limit)
        )


@dataclass(frozen=True, slots=True)
class Candidates:
    """Events that might extend rows of a block."""

    above: Ints
    edge: Numbers
    position: Ints

    def __len__(self) -> int:
        return len(self.position)

    def take(self, rows: Ints | Bools) -> Candidates:
        return Candidates(self.above[rows], self.edge[rows], self.position[rows])


class Selection(Protocol):
    """SELECT NEXT and CONTIGUOUS: which events a match may not skip."""

    def limit(self, block: MatchBlock) -> Ints:
        """For each row the position that its next event, if of a later instant, must lie before."""

    def prefixes(self, candidates: Candidates, parent: MatchBlock | None) -> Ints | None:
        """What it needs to know of partial matches with a new event: `MatchBlock.prefix`."""


class Extension:
    """Extends partial matches of a pattern. `span` bounds a match (ticks of `reaching`): its last event is less than
    that after its first. With `keeps_excluded`, derivations that a NOT excludes, or an aggregate of all events, are
    marked instead of left out. Where several derivations of a word say together what it may skip, those of which no
    match can come say it as well; elsewhere they end.
    """

    def __init__(
        self,
        pattern: IndexedPositions,
        timeline: Timeline,
        checks: Checks,
        guards: Guards,
        span: int | None,
        selection: Selection | None,
        keeps_excluded: bool,
        reaching: Timeline,
    ) -> None:
        self.pattern, self.timeline, self.checks, self.guards = pattern, timeline, checks, guards
        self._span, self._selection, self.keeps_excluded = span, selection, keeps_excluded
        self._reaching = reaching
        self._leaves_hopeless = selection is None or not pattern.positions.ambiguous
        letters = sorted({edge.letter for edge in pattern.edges})
        events = [timeline.events_of(letter) for letter in letters]
        self._events = np.concatenate(events) if events else np.empty(0, dtype=np.int64)
        lengths = np.cumsum([0, *(len(e) for e in events)])
        self._offset = dict(zip(letters, lengths.tolist(), strict=False))
        self._on_track = [pattern.on_track(track) for track in range(pattern.positions.tracks)]

    # ---- ranges ------------------------------------------------------------------------------------------------------

    def first_ranges(self, sources: Sources) -> Ranges:
        """The candidates for first events."""
        rows = np.arange(len(sources))
        return self._joined(
            [self._range(rows, number, sources.low, sources.stop) for number in self.pattern.leaving[0]]
        )

    def ranges(self, block: MatchBlock) -> Ranges:
        """The candidates for the next event."""
        states = self.pattern.target[block.edge]
        high = block.end if self._selection is None else np.minimum(block.end, self._selection.limit(block))
        found: list[Ranges] = []
        for state in np.flatnonzero(np.bincount(states, minlength=1)).tolist():
            if not self.pattern.leaving[state]:
                continue
            rows = np.flatnonzero(states == state)
            for number in self.pattern.leaving[state]:
                found.append(self._range(rows, number, *self._bounds(block, rows, high, self.pattern.edges[number])))
        return self._joined(found)

    def _bounds(self, block: MatchBlock, rows: Ints, high: Ints, edge: Edge) -> tuple[Ints, Ints]:
        """From where to before where the edge's next event lies. That of a tie is cut as well: it may end the gap of a
        track whose last event is of an earlier instant.
        """
        last = block.position[rows]
        over = self.timeline.instant_end[last]
        low, high = (last + 1, over) if edge.tie else (over, high[rows])
        return low, high if self.keeps_excluded else self.guards.cut(edge, high, block, rows)

    def _range(self, rows: Ints, number: int, low: Ints, high: Ints) -> Ranges:
        letter = self.pattern.edges[number].letter
        rank = self.timeline.rank(letter)
        start = rank[low]
        count = rank[high] - start
        some = count > 0
        if not some.all():
            rows, start, count = rows[some], start[some], count[some]
        return Ranges(rows, np.full(len(rows), number, dtype=np.int32), start + self._offset[letter], count)

    def _joined(self, ranges: list[Ranges]) -> Ranges:
        if len(ranges) == 1:
            return ranges[0]
        empty = np.empty(0, dtype=np.int64)
        none = Ranges(empty, empty.astype(np.int32), empty, empty)
        every = [none, *ranges]
        return Ranges(
            np.concatenate([r.row for r in every]),
            np.concatenate([r.edge for r in every]),
            np.concatenate([r.start for r in every]),
            np.concatenate([r.count for r in every]),
        )

    def candidates(self, ranges: Ranges, start: int, stop: int) -> Candidates:
        """The candidates of ranges number `start` to before `stop`."""
        counts = ranges.count[start:stop]
        which, place = expand(counts)
        position = self._events[ranges.start[start:stop][which] + place]
        return Candidates(ranges.row[start:stop][which], ranges.edge[start:stop][which], position)

    # ---- blocks ------------------------------------------------------------------------------------------------------

    def admit(self, candidates: Candidates, parent: MatchBlock | None, sources: Sources) -> MatchBlock:
        """The candidates for which no condition fails, as a block."""
        depth = 0 if parent is None else parent.depth + 1
        before = None if parent is None or parent.memory is None else parent.memory[:, candidates.above]
        memory = self.checks.memory.after(candidates.edge, candidates.position, depth, before)
        hopeful = self.checks.hopeful(memory) if self._leaves_hopeless else None
        if hopeful is not None and not hopeful.all():
            candidates = candidates.take(hopeful)
            before = None if before is None else before[:, hopeful]
            memory = None if memory is None else memory[:, hopeful]
        candidates, memory, bits, spared = self._checked(candidates, parent, before, memory)
        above, position = candidates.above, candidates.position
        first = position if parent is None else parent.first[above]
        end = self._first_end(position, sources.high[above]) if parent is None else parent.end[above]
        undecided = None if parent is None or parent.undecided is None else parent.undecided[above]
        if bits is not None:
            undecided = bits if undecided is None else undecided | bits
        tracks = self._tracks(candidates, parent)
        prefix = None if self._selection is None else self._selection.prefixes(candidates, parent)
        excluded = self._excluded(candidates, parent) | spared if self.keeps_excluded else None
        return MatchBlock(
            depth, parent, above, candidates.edge, position, first, end, tracks, memory, undecided, prefix=prefix,
            excluded=excluded,
        )  # fmt: skip

    def _excluded(self, candidates: Candidates, parent: MatchBlock | None) -> Bools:
        """Which candidates lie behind a gap that is not free, or go on from one that does."""
        if parent is None or parent.excluded is None:
            return np.zeros(len(candidates), dtype=np.bool_)
        excluded = parent.excluded[candidates.above]
        for number in np.unique(candidates.edge).tolist():
            rows = np.flatnonzero(candidates.edge == number)
            edge, above = self.pattern.edges[number], candidates.above[rows]
            everywhere = np.full(len(rows), self.timeline.length)
            excluded[rows] |= candidates.position[rows] >= self.guards.cut(edge, everywhere, parent, above)
        return excluded

    def _first_end(self, position: Ints, high: Ints) -> Ints:
        """Where matches that begin with these events must end before."""
        return np.minimum(high, self._reaching.reach(position, self._span))

    def _checked(
        self, candidates: Candidates, parent: MatchBlock | None, before: Ints | None, memory: Ints | None
    ) -> tuple[Candidates, Ints | None, Ints | None, Bools]:
        """The candidates that pass, their memory, which conditions are undecided for them, and which are spared."""
        numbers = np.flatnonzero(np.bincount(candidates.edge, minlength=1)).tolist()
        spared = np.zeros(len(candidates), dtype=np.bool_)
        if not any(self.checks.on_edge[number] for number in numbers):
            return candidates, memory, None, spared
        keep = np.ones(len(candidates), dtype=np.bool_)
        bits = np.zeros(len(candidates), dtype=np.int64)
        for number in numbers:
            if not self.checks.on_edge[number]:
                continue
            rows = np.flatnonzero(candidates.edge == number)
            above, position = candidates.above[rows], candidates.position[rows]
            old = None if before is None else before[:, rows]
            new = None if memory is None else memory[:, rows]
            failed = np.zeros(len(rows), dtype=np.bool_) if self.keeps_excluded else None
            passed, undecided = self.checks.admit(Extended(number, parent, above, position, old, new), spared=failed)
            if failed is not None:
                spared[rows] = failed
            keep[rows] = False
            keep[rows[passed]] = True
            bits[rows[passed]] = undecided
        memory = None if memory is None else memory[:, keep]
        return candidates.take(keep), memory, bits[keep] if bits.any() else None, spared[keep]

    def _tracks(self, candidates: Candidates, parent: MatchBlock | None) -> Ints | None:
        """The last event on each track, with the new event."""
        if len(self._on_track) == 1:
            return None
        shape = len(self._on_track), len(candidates)
        known = None if parent is None else parent.tracks
        tracks = np.full(shape, -1, dtype=np.int64) if known is None else known[:, candidates.above]
        for track, belongs in enumerate(self._on_track):
            some = belongs[candidates.edge]
            tracks[track, some] = candidates.position[some]
        return tracks
