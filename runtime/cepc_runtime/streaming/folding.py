"""Aggregate queries whose events are folded: a group with many events in a pane keeps numbers for them, one with few keeps the events.

When the watermark has passed events, those of a pane that is folded go into its numbers, and a pane becomes folded when it has so many
of them that the numbers take less room. A window of a group without folded panes is counted from its events; that of another group is
the product of its panes, where what is still there as events is folded for the moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ..aggregate import result_table
from ..columns import codes, combine_codes, flat
from ..events import select
from ..letters import Kinds
from ..parts.folded import fold, spots_of, together, totals_of_folded
from ..results import Results, check_edges
from .ticks import before
from .windows import closed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..columns import Bools, Ints
    from ..events import Reading
    from ..parts.families import Family
    from ..parts.folded import Folded
    from ..plan import Plan
    from .decision import Windows
    from .matches import Step

_FAR: Final = 1 << 61
"""Times beyond it are near the end of 64 bits; their events are kept, and windows around them fail by name."""


@dataclass(frozen=True)
class Known:
    """The events of a class that the watermark has passed, and which letters they satisfy. `free`: an event that no query
    needs whose events are not folded.
    """

    reading: Reading
    kinds: Kinds
    free: Bools

    def take(self, rows: Bools) -> Known:
        kinds = Kinds(self.kinds.of[rows], self.kinds.letters)
        return Known(select(self.reading, rows), kinds, self.free[rows])


@dataclass(frozen=True)
class Fold:
    """A family in one step of a bucket. `keys` are those of the class, `least` is how many events of a pane are folded."""

    plan: Plan
    family: Family
    windows: dict[int, Windows]  # by query
    keys: tuple[str, ...]
    least: int
    step: Step

    def run(self, known: Known, old: Folded | None) -> Done:
        """`old` are the panes folded before the step."""
        ticks = known.reading.ticks
        panes = ticks // self.family.length
        loose = reads(known.kinds, self.family.letters)
        needed = self._needed(panes)
        chosen = np.zeros(len(ticks), dtype=np.bool_)
        if len(ticks):
            spots, inside = self._spots(known.reading, panes, old)
            loose &= ~(inside & before(ticks, self.step.earlier))
            counted = np.bincount(spots[loose & known.free], minlength=int(spots.max()) + 1)
            chosen = loose & needed & (inside | (counted[spots] >= self.least)) & (abs(ticks) < _FAR)
        folded = together(self.family, old, self._fold(known, panes, chosen))
        rest = loose & ~chosen
        rows = tuple(self._closed(known, panes, rest, folded))
        if folded is not None:
            folded = folded.take(self._needed(folded.panes))
        return Done(rows, folded if folded is not None and len(folded) else None, rest & needed)

    def _spots(self, reading: Reading, panes: Ints, old: Folded | None) -> tuple[Ints, Bools]:
        """A number for the partition and pane of each event, and whether it is folded."""
        keys = {name: reading.table.column(name) for name in self.family.partition}
        numbers, first = spots_of([] if old is None else [old], (keys, panes))
        size = 0 if old is None else len(old)
        folded = np.zeros(len(first), dtype=np.bool_)
        folded[numbers[:size]] = True
        return numbers[size:], folded[numbers[size:]]

    def _needed(self, panes: Ints) -> Bools:
        """Which panes an open window of some query holds."""
        found = np.zeros(len(panes), dtype=np.bool_)
        starts = panes * self.family.length
        for windows in set(self.windows.values()):
            held = (starts - windows.within) // windows.slide < starts // windows.slide
            found |= held & ~before(starts, windows.needed_from(self.step.watermark))
        return found

    def _fold(self, known: Known, panes: Ints, rows: Bools) -> Folded | None:
        if not rows.any():
            return None
        chosen = known.take(rows)
        return fold(self.family, self.plan, chosen.reading, chosen.kinds, panes[rows])

    # ---- windows that close ------------------------------------------------------------------------------------------

    def _closed(self, known: Known, panes: Ints, rest: Bools, folded: Folded | None) -> Iterator[tuple[int, Any]]:
        """The rows of the windows that close. `rest` are the events that are not folded."""
        step, numbers = self.step, {query.name: number for number, query in self.family.queries}
        dense = np.zeros(len(rest), dtype=np.bool_) if folded is None else self._dense(known.reading, folded)
        plain = select(known.reading, rest & ~dense)
        for windows, queries in self._by_windows():
            plans = [self.plan.queries[query] for query in queries]
            for name, table in closed(plain, self.plan, plans, windows, step.earlier, step.watermark):
                yield numbers[name], table
            low, high = windows.closing(step.earlier, step.watermark)
            if folded is None or low > high:
                continue
            start, end = low * windows.slide, high * windows.slide + windows.within
            ticks, starts = known.reading.ticks, folded.panes * self.family.length
            inside = rest & dense & before(ticks, end) & ~before(ticks, start)
            for plan in plans:
                check_edges(ticks[inside], plan, self.plan.stream)
            there = folded.take(before(starts, end) & ~before(starts, start))
            whole = together(self.family, there, self._fold(known, panes, inside))
            if whole is None or not len(whole):
                continue
            for query in queries:
                totals = totals_of_folded(self.family, query, whole, low, high)
                yield query, result_table(Results(totals, self.plan.stream))

    def _dense(self, reading: Reading, folded: Folded) -> Bools:
        """Which events are of groups with folded panes."""
        tables = [folded.keys, {name: flat(reading.table.column(name)) for name in self.keys}]
        length = len(folded) + len(reading.ticks)
        columns = [codes(_joined([table[name] for table in tables])) for name in self.keys]
        numbers, _ = combine_codes(columns, length)
        _, numbers = np.unique(numbers, return_inverse=True)
        of = np.zeros(int(numbers.max(initial=-1)) + 1, dtype=np.bool_)
        of[numbers[: len(folded)]] = True
        return np.asarray(of[numbers[len(folded) :]])

    def _by_windows(self) -> Iterator[tuple[Windows, list[int]]]:
        found: dict[Windows, list[int]] = {}
        for query, windows in self.windows.items():
            found.setdefault(windows, []).append(query)
        yield from found.items()


@dataclass(frozen=True)
class Done:
    """The rows of windows that have closed, by query; the panes folded now; and which events the family still needs."""

    rows: tuple[tuple[int, Any], ...]
    folded: Folded | None
    needed: Bools


def _joined(columns: Sequence[Any]) -> Any:
    return pa.concat_arrays([flat(column).cast(flat(columns[0]).type) for column in columns])


def reads(kinds: Kinds, letters: frozenset[int]) -> Bools:
    return np.array([bool(there & letters) for there in kinds.letters], dtype=np.bool_)[kinds.of]
