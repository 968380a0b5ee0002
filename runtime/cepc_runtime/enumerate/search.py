"""Depth first through all partial matches, block by block: memory is bounded by the block, not by the number of
matches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..cheap_dataclass import dataclass
from .block import concatenate
from .derivations import merge
from .ragged import slices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .block import MatchBlock
    from .budget import MatchBudget
    from .extension import Extension, Ranges, Sources

BLOCK = 1 << 16
"""Rows of a block, where nobody asks for less."""
_DEEP = 32
"""Where partial matches have more events than this, blocks have fewer rows."""


def untold(_part: float) -> None:
    """Nobody asks."""


@dataclass(frozen=True, slots=True)
class SearchMeans:
    """How a search may go: `budget` counts what it tries, a `block` holds so many rows at once, and `reached` is told
    which part has been seen to.
    """

    budget: MatchBudget
    block: int = BLOCK
    reached: Callable[[float], None] = untold

    @property
    def within(self) -> SearchMeans:
        """Of a search that another one makes."""
        return SearchMeans(self.budget, self.block)


class Search:
    """Goes through the partial matches of a pattern. With `merging`, all derivations of one match are in the same
    block, and those that nothing can tell apart any more are one row. The part that `means` are told is that of the
    first events.
    """

    def __init__(self, extension: Extension, means: SearchMeans, merging: bool) -> None:
        self._extension, self._means, self._merging = extension, means, merging
        self.pattern = extension.pattern

    def blocks(self, sources: Sources) -> Iterator[MatchBlock]:
        """All blocks of partial matches, each before those that grow from it."""
        waiting = [self._roots(sources)]
        while waiting:
            block = next(waiting[-1], None)
            if block is None:
                waiting.pop()
                continue
            yield block
            if self.pattern.goes_on[block.edge].any():
                waiting.append(self._grown(block, sources))

    def _roots(self, sources: Sources) -> Iterator[MatchBlock]:
        if not self._merging:
            yield from self._portions(self._extension.first_ranges(sources), None, sources)
            return
        done, every = 0, max(int((sources.stop - sources.low).sum()), 1)
        for chunk in sources.chunks(self._means.block):  # all ways in which an event begins matches are in one block
            ranges = self._extension.first_ranges(chunk)
            yield from self._admitted(ranges, [(0, len(ranges.row))], None, chunk)
            done += int((chunk.stop - chunk.low).sum())
            self._means.reached(done / every)

    def _grown(self, block: MatchBlock, sources: Sources) -> Iterator[MatchBlock]:
        ranges = self._extension.ranges(block)
        if block.word is None:
            yield from self._portions(ranges, block, sources)
            return
        ranges = ranges.by_row()  # and so by word
        words = block.word[ranges.row]
        counts = np.bincount(words, ranges.count, minlength=1).astype(np.int64)
        bounds = np.searchsorted(words, np.arange(len(counts) + 1)).tolist()
        portions = ((bounds[start], bounds[stop]) for start, stop in slices(counts, self._room(block)))
        yield from self._admitted(ranges, portions, block, sources)

    def _portions(self, ranges: Ranges, parent: MatchBlock | None, sources: Sources) -> Iterator[MatchBlock]:
        room = self._room(parent)
        ranges = ranges.split(room)
        portions: Iterable[tuple[int, int]] = slices(ranges.count, room)
        yield from self._admitted(ranges, self._told(portions, ranges) if parent is None else portions, parent, sources)

    def _told(self, portions: Iterable[tuple[int, int]], ranges: Ranges) -> Iterator[tuple[int, int]]:
        for start, stop in portions:
            self._means.reached(start / len(ranges.row))
            yield start, stop

    def _room(self, parent: MatchBlock | None) -> int:
        """How many rows the next blocks may have: what is done with them takes room for each row and each of its
        events, and of what it keeps in mind.
        """
        block, kept = self._means.block, self._extension.checks.memory.size
        return block if parent is None else max(block * _DEEP // max(parent.depth + kept, _DEEP), 1)

    def _admitted(
        self, ranges: Ranges, portions: Iterable[tuple[int, int]], parent: MatchBlock | None, sources: Sources
    ) -> Iterator[MatchBlock]:
        """What the candidates, portion by portion, leave: few rows wait for more, because a block costs the same for
        any number.
        """
        waiting: list[MatchBlock] = []
        rows = 0
        for start, stop in portions:
            candidates = self._extension.candidates(ranges, start, stop)
            block = self._extension.admit(candidates, parent, sources)
            self._means.budget.spend(tried=len(candidates), partial=0)
            if len(block):
                waiting.append(block)
                rows += len(block)
            if rows > self._room(parent) // 2:
                yield self._joined(waiting)
                waiting, rows = [], 0
        if waiting:
            yield self._joined(waiting)

    def _joined(self, blocks: list[MatchBlock]) -> MatchBlock:
        block = concatenate(blocks)
        if self._merging:
            block = merge(block, self._extension)
        self._means.budget.spend(tried=0, partial=len(block))
        return block
