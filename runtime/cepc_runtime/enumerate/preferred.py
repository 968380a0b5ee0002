"""The preferred match of each first event.

The partial matches of some first events grow together, level by level, as long as they are not too many. Those of one
first event that are too many are tried in the order of preference instead: where events can be bound in many ways, the
way that is preferred mostly leads to a match.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..cheap_dataclass import dataclass
from .block import concatenate
from .budget import UNLIMITED
from .derivations import merge
from .extension import Sources
from .ragged import slices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..numbers.columns import Bools, Ints
    from .block import MatchBlock
    from .extension import Extension, Ranges
    from .search import SearchMeans
    from .standing import Standing

TOGETHER: Final = 1 << 21
"""So many partial matches may be held together: all of some first events are, until their matches are chosen."""
OF_ONE: Final = 1 << 17
"""And so many of one first event."""
WAYS: Final = 256
"""So many for each event and first event are no reason to follow them one after the other."""
_NO_RANK: Final = np.iinfo(np.int64).max
_WIDE: Final = 4
"""Candidates of so many blocks are looked at before it is asked whether that was too much."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The preferred matches of some first events, which are ascending: that of `first[i]` ends with `row[i]` of block
    number `block[i]`. So many `partial` matches were held together, or would have to be at least.
    """

    blocks: Sequence[MatchBlock]
    first: Ints
    block: Ints
    row: Ints
    partial: int

    def take(self, which: Ints) -> Chosen:
        return Chosen(self.blocks, self.first[which], self.block[which], self.row[which], self.partial)


@dataclass(frozen=True, slots=True)
class _Level:
    """Partial matches of one depth in the order of preference, and what may come of them.

    `found` says whether a match that stands comes of a row; then `child` is the row of the next level on the way to the
    preferred one, -1 where it ends here.
    """

    block: MatchBlock
    found: Bools
    child: Ints


class Preferred:
    """Finds the preferred matches of first events. With `merging`, derivations that grow together and are as good as
    one are one. Where they say together what a match may skip, they always grow together.
    """

    def __init__(self, extension: Extension, standing: Standing, means: SearchMeans, merging: bool) -> None:
        self._extension, self._standing, self._means, self._merging = extension, standing, means, merging
        pattern = extension.pattern
        self._ranks = np.array([edge.rank for edge in pattern.edges], dtype=np.int64)
        self._ends_last = np.array(
            [
                all(end.rank > pattern.edges[number].rank for end in ends for number in leaving)
                for ends, leaving in zip(pattern.acceptances, pattern.leaving, strict=True)
            ],
            dtype=np.bool_,
        )

    def of(self, firsts: Ints, one_each: bool) -> Chosen | None:
        """Those of the first events that have one; None where these are too many to grow together. With `one_each`, no
        two are of the same group.
        """
        found = self._together(firsts, one_each)
        return self._one_after_the_other(firsts) if found is None and len(firsts) == 1 else found

    def _room(self, firsts: int, one_each: bool, depth: int) -> int:
        """How many partial matches of so many first events may be held, down to a depth."""
        if self._extension.keeps_excluded:
            return UNLIMITED
        least = OF_ONE if firsts == 1 else TOGETHER
        return max(least, WAYS * firsts * depth) if one_each else least

    def _together(self, firsts: Ints, one_each: bool) -> Chosen | None:
        grown: list[tuple[MatchBlock, Ints | None]] = []
        partial = 0
        sources = self._sources(firsts)
        block: MatchBlock | None = self._grown(self._extension.first_ranges(sources), None, sources, UNLIMITED)
        while block is not None and len(block):
            if self._merging:
                block = merge(block, self._extension, by_word=False)
                if not len(block):
                    break
            partial += len(block)
            ends = self._ends_asked_first(block)
            grown.append((block, ends))
            ways = self._ways_on(block, ends)
            room = self._room(len(firsts), one_each, block.depth + 1)
            block = self._grown(ways, block, sources, room - partial)
        if block is None:
            return None
        self._means.budget.spend(tried=0, partial=partial)
        levels: list[_Level] = []
        for block, ends in reversed(grown):
            levels.append(self._level(block, ends, levels[-1] if levels else None))
        levels.reverse()
        return _choose(levels, firsts, partial)

    def _one_after_the_other(self, firsts: Ints) -> Chosen:
        """That of one first event: the partial matches that are preferred are followed to their end before the others
        are looked at. The more of them lead nowhere, the more are followed together.
        """
        sources = self._sources(firsts)
        width, depth = 1, 0
        waiting = [_Waiting(self._followed(self._extension.first_ranges(sources), None, sources))]
        while waiting:
            own = waiting[-1]
            if own.followed is not None:
                ends = self._ends(own.followed) if own.ends is None else own.ends
                matched = np.flatnonzero(ends < _NO_RANK)[:1]
                if len(matched):
                    return Chosen((own.followed,), firsts, np.zeros(1, dtype=np.int64), matched, TOGETHER)
                width = min(2 * width, self._means.block)
            own.followed = block = own.next(width)
            if not len(block):
                waiting.pop()
                continue
            own.ends = self._ends_asked_first(block)
            longer = self._followed(self._ways_on(block, own.ends), block, sources)
            if len(longer):
                waiting.append(_Waiting(longer))
                if len(waiting) > depth:
                    width, depth = max(width // 2, 1), len(waiting)
        return Chosen((), firsts[:0], firsts[:0], firsts[:0], TOGETHER)

    def _sources(self, firsts: Ints) -> Sources:
        return Sources(firsts, firsts + 1, self._extension.timeline.group_end[firsts])

    def _ends(self, block: MatchBlock) -> Ints:
        """Of each row that is a match the rank of its end among its ways on."""
        ends = np.full(len(block), _NO_RANK)
        frames = self._standing.accepted(block)
        if frames.rank is not None:
            np.minimum.at(ends, frames.row, frames.rank)
        return ends

    def _ends_asked_first(self, block: MatchBlock) -> Ints | None:
        """The same; None where each row is the only one of its first event and prefers all ways on: whether these are
        matches is asked when the ways on have led nowhere.
        """
        alone = not np.any(block.first[1:] == block.first[:-1])
        last = alone and self._ends_last[self._extension.pattern.target[block.edge]].all()
        return None if last else self._ends(block)

    def _ways_on(self, block: MatchBlock, ends: Ints | None) -> Ranges:
        """Those that no match of the same first event is preferred to: rows stand in the order of preference.

        Where derivations of one word say together what may be skipped, none is left out.
        """
        ranges = self._extension.ranges(block)
        if ends is None or self._extension.keeps_excluded:
            return ranges
        matched = np.flatnonzero(ends < _NO_RANK)
        if not len(matched):
            return ranges
        firsts, index = np.unique(block.first[matched], return_index=True)
        best = matched[index]
        own = block.first[ranges.row]
        place = np.minimum(np.searchsorted(firsts, own), len(firsts) - 1)
        limit = np.where(firsts[place] == own, best[place], len(block))
        preferred = (ranges.row == limit) & (self._ranks[ranges.edge] < ends[ranges.row])
        return ranges.take(np.flatnonzero((ranges.row < limit) | preferred))

    def _followed(self, ranges: Ranges, parent: MatchBlock | None, sources: Sources) -> MatchBlock:
        """The next level, however many rows it has."""
        block = self._grown(ranges, parent, sources, UNLIMITED)
        assert block is not None
        self._means.budget.spend(tried=0, partial=len(block))
        return block

    def _grown(self, ranges: Ranges, parent: MatchBlock | None, sources: Sources, most: int) -> MatchBlock | None:
        """The next level: row by row, edge by edge, event by event, and so in the order of preference; None if it has
        more rows than `most`.
        """
        portion = _WIDE * self._means.block
        ranges = ranges.by_row().split(portion)
        blocks: list[MatchBlock] = []
        rows = 0
        for start, stop in slices(ranges.count, portion) if len(ranges.row) else [(0, 0)]:
            candidates = self._extension.candidates(ranges, start, stop)
            blocks.append(self._extension.admit(candidates, parent, sources))
            self._means.budget.spend(tried=len(candidates), partial=0)
            rows += len(blocks[-1])
            if rows > most:
                return None
        return concatenate(blocks)

    def _level(self, block: MatchBlock, asked: Ints | None, below: _Level | None) -> _Level:
        """Which of its rows lead to a match, and how to the preferred one: by a child or, if that has the better
        rank, by its end.
        """
        rank = np.full(len(block), _NO_RANK)
        child = np.full(len(block), -1, dtype=np.int64)
        if below is not None:
            leading = np.flatnonzero(below.found)
            rows, first = np.unique(below.block.above[leading], return_index=True)
            child[rows] = leading[first]
            rank[rows] = self._ranks[below.block.edge[leading[first]]]
        ends = asked
        if ends is None:
            ends, left = np.full(len(block), _NO_RANK), np.flatnonzero(child < 0)
            ends[left] = self._ends(block.take(left))
        child[ends < rank] = -1
        return _Level(block, np.minimum(ends, rank) < _NO_RANK, child)


class _Waiting:
    """Partial matches that are followed portion by portion, in their order. `followed` is the last portion that was,
    and `ends` has the ranks of its rows' ends if these are known.
    """

    def __init__(self, block: MatchBlock) -> None:
        self._block, self._begin = block, 0
        self.followed: MatchBlock | None = None
        self.ends: Ints | None = None

    def next(self, width: int) -> MatchBlock:
        """The next so many, or as many as there are."""
        begin = self._begin
        self._begin = min(begin + width, len(self._block))
        return self._block.take(np.arange(begin, self._begin))


def _choose(levels: Sequence[_Level], firsts: Ints, partial: int) -> Chosen:
    """From the preferred first rows down to where their preferred matches end."""
    if not levels:
        return Chosen((), firsts[:0], firsts[:0], firsts[:0], partial)
    leading = np.flatnonzero(levels[0].found)
    source, first = np.unique(levels[0].block.above[leading], return_index=True)
    ends = np.zeros(len(source), dtype=np.int64)
    rows = leading[first]
    going = np.arange(len(source))
    for number, level in enumerate(levels):
        ends[going] = number
        child = level.child[rows[going]]
        going, child = going[child >= 0], child[child >= 0]
        rows[going] = child
    return Chosen([level.block for level in levels], firsts[source], ends, rows, partial)
