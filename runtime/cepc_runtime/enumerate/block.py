"""Partial matches, as a tree of blocks: a block holds what its partial matches read last, and points to the block
before.

Nothing is copied when partial matches grow: the events of one are found by walking up (`Path`).
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..numbers.columns import Bools, Ints
    from .pattern import Numbers


@dataclass(frozen=True)
class MatchBlock:
    """Partial matches that have read `depth + 1` events. Row i read the event at `position[i]` along edge `edge[i]`,
    after what row `above[i]` of the parent had read; without a parent, `above` is the source that it started from.

    `first` is the first event, `end` the first position that is out of the match's bound. `tracks[t]` is the last event
    read on track t or -1 (None where there is one track), `memory` what is kept for conditions (memory.py). Bit c of
    `undecided` says that condition c could not be evaluated early. `word` numbers the different events and variables so
    far (None where a match has one derivation), `trace` the different derivations that have yet to matter, and `shares`
    which of its events lie in a scope (shares.py). `prefix` is the state among prefixes (SELECT NEXT). `excluded` marks
    derivations that a NOT excludes, where they are kept because their words still are prefixes.
    """

    depth: int
    parent: MatchBlock | None
    above: Ints
    edge: Numbers
    position: Ints
    first: Ints
    end: Ints
    tracks: Ints | None = None
    memory: Ints | None = None
    undecided: Ints | None = None
    word: Ints | None = None
    trace: Ints | None = None
    shares: Ints | None = None
    prefix: Ints | None = None
    excluded: Bools | None = None

    def __len__(self) -> int:
        return len(self.position)

    def take(self, rows: Ints | Bools) -> MatchBlock:
        """Some of the rows."""
        return replace(self, **{name: column[..., rows] for name, column in self._columns().items()})

    def _columns(self) -> dict[str, Any]:
        """The columns that there are, by field."""
        values = {column.name: getattr(self, column.name) for column in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}


def concatenate(blocks: Sequence[MatchBlock]) -> MatchBlock:
    """The rows of blocks of the same parent, in one. Some may have rows of which a condition could not be evaluated,
    and others none.
    """
    if len(blocks) == 1:
        return blocks[0]
    if any(block.undecided is not None for block in blocks):
        blocks = [
            block if block.undecided is not None else replace(block, undecided=np.zeros(len(block), dtype=np.int64))
            for block in blocks
        ]
    first = blocks[0]
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(b, name) for b in blocks], axis=-1) for name in first._columns()
    }
    return replace(first, **columns)


class Path:
    """The events of partial matches, by depth: those of rows `above` of `parent`, and then one more event each if
    `newest` says along which edge it is read, and its position.
    """

    def __init__(self, parent: MatchBlock | None, above: Ints, newest: tuple[int, Ints] | None = None) -> None:
        self.count = len(above)
        below = -1 if parent is None else parent.depth
        self.length = below + 1 + (newest is not None)
        self._levels: list[tuple[Numbers, Ints]] = []  # from the newest to the oldest
        self._walked: tuple[MatchBlock | None, Ints] = parent, above
        if newest is not None:
            edge, position = newest
            self._levels.append((np.full(self.count, edge, dtype=np.int32), position))

    def level(self, depth: int) -> tuple[Numbers, Ints]:
        """The edge and the position that each row read as event number `depth`."""
        block, rows = self._walked
        while block is not None and len(self._levels) < self.length - depth:
            self._levels.append((block.edge[rows], block.position[rows]))
            block, rows = self._walked = block.parent, block.above[rows]
        return self._levels[self.length - 1 - depth]

    def sources(self) -> Ints:
        """The source that each row started from."""
        self.level(0)
        return self._walked[1]

    def latest(self, binds: Bools, start: Ints | None, stop: Ints | None) -> Ints:
        """The last event of each row along an edge in `binds` at a depth from `start` to before `stop`, or -1."""
        found = np.full(self.count, -1, dtype=np.int64)
        for depth in range(self.length - 1, -1, -1):
            edges, positions = self.level(depth)
            fits = binds[edges] & (found < 0)
            fits &= _inside(depth, start, stop, self.count)
            found[fits] = positions[fits]
            if not np.any(found < 0):
                break
        return found

    def earliest(self, binds: Bools, start: Ints | None, stop: Ints | None) -> Ints:
        """The first such event, or -1."""
        found = np.full(self.count, -1, dtype=np.int64)
        for depth in range(self.length):
            edges, positions = self.level(depth)
            fits = binds[edges] & (found < 0) & _inside(depth, start, stop, self.count)
            found[fits] = positions[fits]
            if not np.any(found < 0):
                break
        return found

    def every(self, binds: Bools, start: Ints | None, stop: Ints | None) -> tuple[Ints, Ints]:
        """All such events in order: how many each row has, and their positions, row by row."""
        fits = binds[self.edges()]
        depths = np.arange(self.length)[:, None]
        if start is not None:
            fits &= start <= depths
        if stop is not None:
            fits &= depths < stop
        return fits.sum(axis=0, dtype=np.int64), self.positions().T[fits.T]

    def positions(self) -> Ints:
        """All events: one row for each depth."""
        return np.array([positions for _, positions in self._all()], dtype=np.int64).reshape(self.length, self.count)

    def edges(self) -> Numbers:
        return np.array([edges for edges, _ in self._all()], dtype=np.int32).reshape(self.length, self.count)

    def _all(self) -> Iterable[tuple[Numbers, Ints]]:
        """The levels from the oldest to the newest."""
        if self.length:
            self.level(0)
        return reversed(self._levels)


def _inside(depth: int, start: Ints | None, stop: Ints | None, count: int) -> Bools:
    inside = np.ones(count, dtype=np.bool_)
    if start is not None:
        inside &= start <= depth
    if stop is not None:
        inside &= depth < stop
    return inside
