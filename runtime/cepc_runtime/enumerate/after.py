"""AFTER MATCH: one match for each first event, the preferred one, and then on as the clause says (docs/language.md,
"Selection").

First events are tried some at a time in every group at once. A group whose matches pass over most of those tried gets
fewer the next time, one where they do not gets more: work is not wasted on long matches, nor rounds on short ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..plan.after import SkipFor, SkipPastLast, SkipTo, SkipToNext
from .block import Path
from .preferred import TOGETHER, Preferred
from .ragged import expand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..numbers.columns import Bools, Ints
    from ..plan.after import AfterMatchSkip
    from .extension import Extension
    from .numbering import Numbering
    from .preferred import Chosen
    from .search import SearchMeans
    from .standing import Matches, Standing

_FEW = 16384
"""How many first events are tried together to begin with."""
_FEWER = 16
"""So many times fewer are tried where their partial matches were too many to be held together."""
_KEPT = 16
"""A partial match that keeps so many numbers in mind takes the room of two."""
_CHEAP = 4096
"""So many first events at once cost hardly more than one."""
_FASTER = 4
"""How many times as many are tried the next time where nothing speaks against it."""


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
        least = max(min(_CHEAP, self.room) // len(groups), 1)
        left: Ints = self._upto[groups] - self.begin[groups]
        return np.minimum(left, np.maximum(self._width[groups], least))

    def next(self, groups: Ints, counts: Ints) -> Ints:
        """So many of each group's next first events."""
        which, place = expand(counts)
        found: Ints = self.firsts[self.begin[groups][which] + place]
        return found

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
        if partial > TOGETHER:
            self.room = max(self.room // 2, 1)
        elif partial * _FASTER <= TOGETHER:
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
        self._extension, self._standing, self._means = extension, standing, means
        self._preferred = Preferred(extension, standing, means, merging)
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
        """The matches that so many of the groups' next first events lead to, or fewer."""
        while (chosen := self._preferred.of(pace.next(groups, counts), counts.max() == 1)) is None:
            groups, counts = _fewer(groups, counts)
            pace.room = int(counts.sum())
        group = self._timeline.group[chosen.first]
        kept, allowed = _chain(group, chosen.first, self._resume(chosen))
        pace.move(groups, counts, allowed)
        partial = chosen.partial * (_KEPT + self._extension.checks.memory.size) // _KEPT
        pace.learn(groups, group[kept], group[~kept], partial, self._means.block)
        yield from self._taken(chosen.take(np.flatnonzero(kept)))

    def _firsts(self) -> Ints:
        """The events with which a match may begin."""
        pattern = self._extension.pattern
        begins = np.zeros(self._timeline.length, dtype=np.bool_)
        for letter in {pattern.edges[number].letter for number in pattern.leaving[0]}:
            begins[self._timeline.events_of(letter)] = True
        return np.flatnonzero(begins)

    # ---- going on ----------------------------------------------------------------------------------------------------

    def _resume(self, chosen: Chosen) -> Ints:
        """From which position on the next match may begin."""
        timeline = self._timeline
        resume = timeline.instant_end[chosen.first]
        if isinstance(self._after, SkipToNext):
            return resume
        for number in np.unique(chosen.block).tolist():
            some = np.flatnonzero(chosen.block == number)
            block = chosen.blocks[number]
            path = Path(block, chosen.row[some])
            last = block.position[chosen.row[some]]
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

    def _taken(self, chosen: Chosen) -> Iterator[Matches]:
        numbers = None if self._numbering is None else self._numbering.next(chosen.first)
        for number in np.unique(chosen.block).tolist():
            some = chosen.block == number
            found = self._standing.taken(chosen.blocks[number], chosen.row[some])
            yield found if numbers is None else replace(found, number=numbers[some])


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


def _fewer(groups: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Fewer first events of each group, or one of each of fewer groups if it is that."""
    if counts.max() > 1:
        return groups, -(-counts // _FEWER)
    few = max(len(groups) // _FEWER, 1)
    return groups[:few], counts[:few]
