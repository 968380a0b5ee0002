"""AFTER MATCH: one match for each first event, the preferred one, and then on as the clause says (docs/language.md,
"Selection").

First events are tried some at a time in every group at once. A group whose matches pass over most of those tried gets
fewer the next time, one where they do not gets more: work is not wasted on long matches, nor rounds on short ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..cheap_dataclass import dataclass
from ..plan.after import SkipFor, SkipPastLast, SkipTo, SkipToNext
from .block import Path, concatenate
from .derivations import merge
from .extension import Sources
from .ragged import expand, slices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..plan.after import AfterMatchSkip
    from .block import MatchBlock
    from .extension import Extension, Ranges
    from .numbering import Numbering
    from .search import SearchMeans
    from .standing import Matches, Standing
    from .timeline import Bools, Ints

_NO_RANK = np.iinfo(np.int64).max
_FEW = 16384
"""How many first events are tried together to begin with."""
_ROWS = 1 << 21
"""How many partial matches may be held together: all of some first events are, until their matches are chosen."""
_KEPT = 16
"""A partial match that keeps so many numbers in mind takes the room of two."""
_CHEAP = 4096
"""So many first events at once cost hardly more than one."""
_WIDE = 4
"""Candidates of so many blocks are looked at before it is asked whether that was too much."""
_FASTER = 4
"""How many times as many are tried the next time where nothing speaks against it."""


@dataclass(frozen=True, slots=True)
class Level:
    """Partial matches of one depth in the order of preference, and what may come of them.

    `found` says whether a match that stands comes of a row; then `child` is the row of the next level on the way to the
    preferred one, -1 where it ends here.
    """

    block: MatchBlock
    found: Bools
    child: Ints


@dataclass(frozen=True, slots=True)
class Chosen:
    """The preferred matches of some first events: they end at row `row[i]` of level `level[i]`.

    `first` is ascending.
    """

    first: Ints
    level: Ints
    row: Ints

    def take(self, which: Ints) -> Chosen:
        return Chosen(self.first[which], self.level[which], self.row[which])


class _Pace:
    """Where each group is among the possible first events, and how many of them to try at once."""

    def __init__(self, firsts: Ints, group_starts: Ints, room: int) -> None:
        self.firsts, self.room = firsts, room
        self._upto = np.searchsorted(firsts, group_starts[1:])
        self.begin = np.searchsorted(firsts, group_starts[:-1])
        self._width = np.ones(len(self._upto), dtype=np.int64)

    @property
    def done(self) -> float:
        """Which part of the first events has been tried or passed over."""
        left = int(np.maximum(self._upto - self.begin, 0).sum())
        return 1 - left / max(len(self.firsts), 1)

    def groups(self) -> Ints:
        """The groups that are not done."""
        return np.flatnonzero(self.begin < self._upto)

    def counts(self, groups: Ints) -> Ints:
        """How many first events to try of each."""
        least = max(_CHEAP // len(groups), 1)
        left: Ints = self._upto[groups] - self.begin[groups]
        return np.minimum(left, np.maximum(self._width[groups], least))

    def move(self, groups: Ints, counts: Ints, allowed: dict[int, int]) -> None:
        """Past the first events tried, and to where the matches found allow the groups to go on."""
        self.begin[groups] += counts
        moved = np.array([*allowed], dtype=np.int64)
        then = np.searchsorted(self.firsts, np.array([*allowed.values()], dtype=np.int64))
        self.begin[moved] = np.maximum(self.begin[moved], then)

    def learn(self, groups: Ints, used: Ints, wasted: Ints, partial: int, limit: int) -> None:
        """From the groups of matches that were used and passed over, and from how many partial matches it took."""
        size = len(self._width)
        worse = np.bincount(wasted, minlength=size)[groups] > np.bincount(used, minlength=size)[groups]
        width = self._width[groups]
        self._width[groups] = np.clip(np.where(worse, width // 2, width * _FASTER), 1, limit)
        if partial > _ROWS:
            self.room = max(self.room // 2, 1)
        elif partial * _FASTER <= _ROWS:
            self.room = min(self.room * _FASTER, limit)


class AfterMatch:
    """Finds the matches of a query; `after` is what AFTER MATCH SKIP says, and `numbering` numbers them."""

    def __init__(
        self,
        extension: Extension,
        standing: Standing,
        means: SearchMeans,
        after: AfterMatchSkip,
        merging: bool,
        numbering: Numbering | None = None,
    ) -> None:
        self._numbering = numbering
        self._extension, self._standing, self._means, self._merging = extension, standing, means, merging
        self._after = after
        self._timeline = extension.timeline

    def matches(self) -> Iterator[Matches]:
        pace = _Pace(self._firsts(), self._timeline.group_starts, min(_FEW, self._means.block))
        while len(groups := pace.groups()):
            counts = pace.counts(groups)
            start = 0
            while start < len(groups):
                stop = start + max(int(np.searchsorted(np.cumsum(counts[start:]), pace.room, side="right")), 1)
                yield from self._of_groups(pace, groups[start:stop], np.minimum(counts[start:stop], pace.room))
                start = stop
            self._means.reached(pace.done)

    def _of_groups(self, pace: _Pace, groups: Ints, counts: Ints) -> Iterator[Matches]:
        """The matches that so many of the groups' next first events lead to."""
        which, place = expand(counts)
        levels, chosen = self._preferred(pace.firsts[pace.begin[groups][which] + place])
        group = self._timeline.group[chosen.first]
        kept, allowed = _chain(group, chosen.first, self._resume(levels, chosen))
        pace.move(groups, counts, allowed)
        partial = sum(len(level.block) for level in levels) * (_KEPT + self._extension.checks.memory.size) // _KEPT
        pace.learn(groups, group[kept], group[~kept], partial, self._means.block)
        yield from self._taken(levels, chosen.take(np.flatnonzero(kept)))

    def _firsts(self) -> Ints:
        """The events with which a match may begin."""
        pattern = self._extension.pattern
        begins = np.zeros(self._timeline.length, dtype=np.bool_)
        for letter in {pattern.edges[number].letter for number in pattern.leaving[0]}:
            begins[self._timeline.events_of(letter)] = True
        return np.flatnonzero(begins)

    # ---- the preferred match of each first event ---------------------------------------------------------------------

    def _preferred(self, firsts: Ints) -> tuple[list[Level], Chosen]:
        blocks: list[tuple[MatchBlock, Ints]] = []
        sources = Sources(firsts, firsts + 1, self._timeline.group_end[firsts])
        block = self._grown(self._extension.first_ranges(sources), None, sources)
        while len(block):
            ends = self._ends(block)
            blocks.append((block, ends))
            block = self._grown(self._hopeful(self._extension.ranges(block), block, ends), block, sources)
        levels: list[Level] = []
        for block, ends in reversed(blocks):
            levels.append(self._level(block, ends, levels[-1] if levels else None))
        levels.reverse()
        return levels, _choose(levels, firsts)

    def _ends(self, block: MatchBlock) -> Ints:
        """Of each row that is a match the rank of its end among its ways on."""
        ends = np.full(len(block), _NO_RANK)
        frames = self._standing.accepted(block)
        if frames.rank is not None:
            np.minimum.at(ends, frames.row, frames.rank)
        return ends

    def _hopeful(self, ranges: Ranges, block: MatchBlock, ends: Ints) -> Ranges:
        """Without the ways on that a match of the same first event is preferred to already: rows stand in the order of
        preference.

        Where derivations of one word are looked at together, none is left out.
        """
        matched = np.flatnonzero(ends < _NO_RANK)
        if not len(matched) or block.word is not None:
            return ranges
        firsts, index = np.unique(block.first[matched], return_index=True)
        best = matched[index]
        own = block.first[ranges.row]
        place = np.minimum(np.searchsorted(firsts, own), len(firsts) - 1)
        limit = np.where(firsts[place] == own, best[place], len(block))
        ranks = np.array([edge.rank for edge in self._extension.pattern.edges], dtype=np.int64)
        preferred = (ranges.row == limit) & (ranks[ranges.edge] < ends[ranges.row])
        return ranges.take(np.flatnonzero((ranges.row < limit) | preferred))

    def _grown(self, ranges: Ranges, parent: MatchBlock | None, sources: Sources) -> MatchBlock:
        """The next level: row by row, edge by edge, event by event, and so in the order of preference."""
        portion = _WIDE * self._means.block
        ranges = ranges.by_row().split(portion)
        blocks: list[MatchBlock] = []
        for start, stop in slices(ranges.count, portion) if len(ranges.row) else [(0, 0)]:
            candidates = self._extension.candidates(ranges, start, stop)
            blocks.append(self._extension.admit(candidates, parent, sources))
            self._means.budget.spend(tried=len(candidates), partial=0 if self._merging else len(blocks[-1]))
        block = concatenate(blocks)
        if self._merging and len(block):
            block = merge(block, self._extension, by_word=False)
            self._means.budget.spend(tried=0, partial=len(block))
        return block

    def _level(self, block: MatchBlock, ends: Ints, below: Level | None) -> Level:
        """Which of its rows lead to a match, and how to the preferred one: by a child or, if that has the better
        rank, by its end.
        """
        rank = np.full(len(block), _NO_RANK)
        child = np.full(len(block), -1, dtype=np.int64)
        if below is not None:
            ranks = np.array([edge.rank for edge in self._extension.pattern.edges], dtype=np.int64)
            leading = np.flatnonzero(below.found)
            rows, first = np.unique(below.block.above[leading], return_index=True)
            child[rows] = leading[first]
            rank[rows] = ranks[below.block.edge[leading[first]]]
        child[ends < rank] = -1
        return Level(block, np.minimum(ends, rank) < _NO_RANK, child)

    # ---- going on ----------------------------------------------------------------------------------------------------

    def _resume(self, levels: list[Level], chosen: Chosen) -> Ints:
        """From which position on the next match may begin."""
        timeline = self._timeline
        resume = timeline.instant_end[chosen.first]
        if isinstance(self._after, SkipToNext):
            return resume
        for number in np.unique(chosen.level).tolist():
            some = np.flatnonzero(chosen.level == number)
            path = Path(levels[number].block, chosen.row[some])
            last = path.level(number)[1]
            match self._after:
                case SkipPastLast():
                    resume[some] = timeline.instant_end[last]
                case SkipFor(length):
                    resume[some] = timeline.reach(last, length)
                case SkipTo(end, variables):
                    bound = [self._extension.pattern.binds(variable, None) for variable in variables]
                    binds = np.logical_or.reduce(bound)
                    event = path.earliest(binds, None, None) if end == "FIRST" else path.latest(binds, None, None)
                    resume[some] = np.maximum(resume[some], event)
        return resume

    def _taken(self, levels: list[Level], chosen: Chosen) -> Iterator[Matches]:
        numbers = None if self._numbering is None else self._numbering.next(chosen.first)
        for level in np.unique(chosen.level).tolist():
            some = chosen.level == level
            found = self._standing.taken(levels[level].block, chosen.row[some])
            yield found if numbers is None else replace(found, number=numbers[some])


def _choose(levels: list[Level], firsts: Ints) -> Chosen:
    """From the preferred first rows down to where their preferred matches end."""
    if not levels:
        return Chosen(firsts[:0], firsts[:0], firsts[:0])
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
    return Chosen(firsts[source], ends, rows)


def _chain(group: Ints, first: Ints, resume: Ints) -> tuple[Bools, dict[int, int]]:
    """Which matches are kept when each group goes from one to the next that it may, and from where each group may go
    on.
    """
    kept = np.zeros(len(first), dtype=np.bool_)
    allowed: dict[int, int] = {}
    for i, (number, position, then) in enumerate(zip(group.tolist(), first.tolist(), resume.tolist(), strict=True)):
        if position >= allowed.get(number, -1):
            kept[i] = True
            allowed[number] = then
    return kept, allowed
