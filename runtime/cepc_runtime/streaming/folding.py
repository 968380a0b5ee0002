"""Aggregate queries whose events are folded: a group with many events in a pane keeps numbers for them, one with few
keeps the events.

When the watermark has passed events, those of a pane that is folded go into its numbers, and a pane becomes folded when
it has so many of them that the numbers take much less room. They wait as events until there are enough of them to be
worth it, or until a window closes that needs them in numbers. A window of a group without folded panes is counted from
its events; that of another group is the product of its panes, where what is still there as events is folded for the
moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..cheap_dataclass import dataclass
from ..events.grouped import select
from ..events.letters import Kinds
from ..numbers.columns import codes, combine_codes, dense, joined
from ..panes.folded import fold, spots_of, together
from ..panes.windows import totals_of_folded
from ..results.as_columns import Results, check_edges
from ..results.together import result_tables
from .held import Panes
from .ticks import before
from .windows import closed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..events.grouped import Reading
    from ..numbers.columns import Bools, Ints
    from ..panes.folded import Folded
    from ..panes.shared_panes import Family
    from ..plan.physical import PhysicalPlan
    from .decision import Windows
    from .matches import Advance

_FAR: Final = 1 << 61
"""Times beyond it are near the end of 64 bits; their events are kept, and windows around them fail by name."""


@dataclass(frozen=True)
class Known:
    """The events of a class that the watermark has passed, and which letters they satisfy. `free`: an event that no
    query needs whose events are not folded.
    """

    reading: Reading
    kinds: Kinds
    free: Bools

    def take(self, rows: Bools) -> Known:
        kinds = Kinds(self.kinds.of[rows], self.kinds.letters)
        return Known(select(self.reading, rows), kinds, self.free[rows])


@dataclass(frozen=True)
class Fold:
    """A family in one step of a bucket. `keys` are those of the class, `least` is how many events of a pane are folded,
    and `enough` how many of all panes do not wait for it: folding costs what its numbers are, however few events there
    are.
    """

    plan: PhysicalPlan
    family: Family
    windows: dict[int, Windows]  # by query
    keys: tuple[str, ...]
    least: int
    enough: int
    step: Advance

    def run(self, known: Known, old: Panes | None) -> Done:
        """`old` are the panes folded before the step."""
        ticks = known.reading.ticks
        panes = self.family.times.number(ticks)
        loose, crowded = self._crowded(known, panes, old)
        groups, dense = self._groups(known.reading, old)
        closing = loose & self._closing(ticks)
        many = crowded if old is not None else crowded & self._lasting(panes)
        waiting = np.count_nonzero(many) < self.enough and not (closing & dense[groups]).any()
        chosen = crowded & (not waiting)
        dense[groups[chosen]] = True
        passing = closing & dense[groups] & ~chosen
        found, staying = self._fold(known, panes, chosen, passing)
        folded = None if old is None else old.folded
        rows = tuple(
            self._closed(known, loose & ~dense[groups], passing | chosen, together(self.family, folded, found))
        )
        folded = together(self.family, folded, found and found.take(staying))
        if folded is not None:
            folded = folded.take(self._needed(folded.panes))
        until = self.step.watermark if old is None or chosen.any() else old.until
        kept = Panes(folded, until) if folded is not None and len(folded) else None
        return Done(rows, kept, loose & ~chosen & self._needed(panes), int(np.count_nonzero(crowded & waiting)))

    def _crowded(self, known: Known, panes: Ints, old: Panes | None) -> tuple[Bools, Bools]:
        """Which events are in no folded pane yet, and which of these should be."""
        ticks, loose = known.reading.ticks, reads(known.kinds, self.family.letters)
        if not len(ticks):
            return loose, loose
        spots, inside = self._spots(known.reading, panes, old)
        if old is not None:
            loose &= ~(inside & before(ticks, old.until))
        counted = np.bincount(spots[loose & known.free], minlength=int(spots.max()) + 1)
        length = float(self.family.times.length)
        near = np.abs(panes * length) + length < _FAR
        return loose, loose & self._needed(panes) & (inside | (counted[spots] >= self.least)) & near

    def _spots(self, reading: Reading, panes: Ints, old: Panes | None) -> tuple[Ints, Bools]:
        """A number for the partition and pane of each event, and whether it is folded."""
        keys = {name: reading.table.column(name) for name in self.family.partition}
        numbers, first = spots_of([] if old is None else [old.folded], (keys, panes))
        size = 0 if old is None else len(old.folded)
        folded = np.zeros(len(first), dtype=np.bool_)
        folded[numbers[:size]] = True
        return numbers[size:], folded[numbers[size:]]

    def _groups(self, reading: Reading, old: Panes | None) -> tuple[Ints, Bools]:
        """A number for the group of each event, and by number whether a pane of it is folded."""
        size = 0 if old is None else len(old.folded)
        tables = [{name: reading.table.column(name) for name in self.keys}]
        if old is not None:
            tables.insert(0, old.folded.keys)
        columns = [codes(joined([table[name] for table in tables])) for name in self.keys]
        numbers, _ = dense(combine_codes(columns, size + len(reading.ticks))[0])
        found = np.zeros(int(numbers.max(initial=-1)) + 1, dtype=np.bool_)
        found[numbers[:size]] = True
        return numbers[size:], found

    def _needed(self, panes: Ints) -> Bools:
        """Which panes an open window of some query holds."""
        found = np.zeros(len(panes), dtype=np.bool_)
        starts = self.family.times.start(panes)
        for windows in set(self.windows.values()):
            held = windows.window.first_holding(starts) <= windows.window.last_holding(starts)
            found |= held & ~before(starts, windows.needed_from(self.step.watermark))
        return found

    def _lasting(self, panes: Ints) -> Bools:
        """Which panes some query needs for a quarter of its window from now on, or for half where windows do not
        overlap, so that an event is counted once anyhow: there is no use in beginning to fold for less.
        """
        found = np.zeros(len(panes), dtype=np.bool_)
        for windows in set(self.windows.values()):
            window = windows.window
            last = window.end(window.last_holding(self.family.times.start(panes)))
            part = 4 if window.overlap else 2
            found |= ~before(last, self.step.watermark + window.span // part)
        return found

    def _fold(self, known: Known, panes: Ints, chosen: Bools, passing: Bools) -> tuple[Folded | None, Bools]:
        """The events of both as panes, and which panes are those of the chosen ones; no pane has events of both."""
        rows = chosen | passing
        if not rows.any():
            return None, rows[:0]
        events = known.take(rows)
        found = fold(self.family, self.plan, events.reading, events.kinds, panes[rows])
        if not passing.any():
            return found, np.ones(len(found), dtype=np.bool_)
        keys = {name: select(known.reading, chosen).table.column(name) for name in self.family.partition}
        numbers, first = spots_of([found], (keys, panes[chosen]))
        staying = np.zeros(len(first), dtype=np.bool_)
        staying[numbers[len(found) :]] = True
        return found, staying[numbers[: len(found)]]

    # ---- windows that close ------------------------------------------------------------------------------------------

    def _closing(self, ticks: Ints) -> Bools:
        """Which events are in a window that closes."""
        found = np.zeros(len(ticks), dtype=np.bool_)
        for windows in set(self.windows.values()):
            start, end = self._closes(windows)
            found |= before(ticks, end) & ~before(ticks, start)
        return found

    def _closes(self, windows: Windows) -> tuple[int, int]:
        """From where to where the windows reach that close; none is from a time to the same."""
        low, high = windows.closing(self.step.earlier, self.step.watermark)
        start = windows.window.begin(low)
        return start, windows.window.end(high) if low <= high else start

    def _closed(self, known: Known, plain: Bools, inside: Bools, folded: Folded | None) -> Iterator[tuple[int, Any]]:
        """The rows of the windows that close: of groups without folded panes, whose events are `plain`, and of the
        others, whose panes are all in `folded`; `inside` are the events put there now.
        """
        step, numbers = self.step, {query.name: number for number, query in self.family.queries}
        ticks, events = known.reading.ticks, select(known.reading, plain)
        for windows, queries in self._by_windows():
            plans = [self.plan.queries[query] for query in queries]
            for name, table in closed(events, self.plan, plans, windows, step):
                yield numbers[name], table
            start, end = self._closes(windows)
            if folded is None or start == end:
                continue
            for plan in plans:
                check_edges(ticks[inside & before(ticks, end) & ~before(ticks, start)], [plan], self.plan.stream)
            starts = self.family.times.start(folded.panes)
            there = folded.take(before(starts, end) & ~before(starts, start))
            if not len(there):
                continue
            low, high = windows.closing(step.earlier, step.watermark)
            folds = totals_of_folded(self.family, tuple(queries), there, low, high)
            for name, table in result_tables(Results(totals, self.plan.stream) for _, totals in folds):
                yield numbers[name], table

    def _by_windows(self) -> Iterator[tuple[Windows, list[int]]]:
        found: dict[Windows, list[int]] = {}
        for query, windows in self.windows.items():
            found.setdefault(windows, []).append(query)
        yield from found.items()


@dataclass(frozen=True)
class Done:
    """The rows of windows that have closed, by query; the panes folded now; which events the family still needs, and
    how many of them wait to be folded.
    """

    rows: tuple[tuple[int, Any], ...]
    panes: Panes | None
    needed: Bools
    waiting: int


def reads(kinds: Kinds, letters: frozenset[int]) -> Bools:
    return np.array([bool(there & letters) for there in kinds.letters], dtype=np.bool_)[kinds.of]
