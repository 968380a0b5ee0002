"""Bands in the kernel's loop: units with the same windows, which go from window to window as one where most of them
have partial matches. Then an event does to all of them what it does in batches, and nobody asks each for its windows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from .records import BAND, COUNTER, PROGRESS, SECTION, TOGETHER, UNIT
from .windows import advance, next_change, touch

if TYPE_CHECKING:
    from ..numbers.columns import Floats, Ints
    from .windows import Buffer

INLINED: Final[frozenset[str]] = frozenset()

ENOUGH: Final = 4
"""Instants between two changes of windows from which on it pays to take all units from window to window."""


def keep_up(t: Ints, s: Ints, m: Floats, buffer: Buffer, section: int, tick: int) -> bool:
    """Bring a band to the time at hand: whether its units go as one at this instant."""
    band = t[section + SECTION.band]
    b = t[band + BAND.progress]
    unit = t[band + BAND.unit]
    p = t[unit + UNIT.progress]
    if s[b + TOGETHER.group] != s[COUNTER.group] + 1:
        s[b + TOGETHER.group] = s[COUNTER.group] + 1
        s[b + TOGETHER.joined] = s[b + TOGETHER.instants] = 0
        s[b + TOGETHER.change] = next_change(t, unit, tick)
    elif tick >= s[b + TOGETHER.change]:
        if s[b + TOGETHER.joined] != 0:
            advance(t, s, m, buffer, unit, p, tick)
            s[b + TOGETHER.change] = s[p + PROGRESS.change]
            if s[b + TOGETHER.instants] < ENOUGH:
                part(t, s, band)
        else:
            s[b + TOGETHER.change] = next_change(t, unit, tick)
        s[b + TOGETHER.instants] = 0
    s[b + TOGETHER.instants] += 1
    return bool(s[b + TOGETHER.joined] != 0)


def may_join(t: Ints, s: Ints, band: int) -> bool:
    """Whether it pays that the units go as one: at least three quarters are touched. That is asked at an instant where
    twice as many have passed since the last change as when it was asked before.
    """
    instants = s[t[band + BAND.progress] + TOGETHER.instants]
    if instants < ENOUGH or instants & (instants - 1) != 0:
        return False
    first, end, touched = t[band + BAND.members], t[band + BAND.members_end], 0
    for x in range(first, end):
        if s[t[t[x] + UNIT.progress] + PROGRESS.touched] != 0:
            touched += 4
    return bool(touched >= 3 * (end - first))


def join(t: Ints, s: Ints, m: Floats, buffer: Buffer, band: int, tick: int) -> None:
    """From now on the units of a band go as one. By themselves they have no windows meanwhile, so that nothing of them
    is closed twice.
    """
    unit = t[band + BAND.unit]
    p = t[unit + UNIT.progress]
    for x in range(t[band + BAND.members], t[band + BAND.members_end]):
        own = t[t[x] + UNIT.progress]
        if s[own + PROGRESS.touched] == 0:
            touch(t, s, m, t[x], own, tick)
        elif tick >= s[own + PROGRESS.change]:
            advance(t, s, m, buffer, t[x], own, tick)
        s[p + PROGRESS.open] = s[own + PROGRESS.open]
        s[p + PROGRESS.open_end] = s[own + PROGRESS.open_end]
        s[p + PROGRESS.change] = s[own + PROGRESS.change]
        s[own + PROGRESS.open_end] = s[own + PROGRESS.open]
        s[own + PROGRESS.change] = np.iinfo(np.int64).max
    if s[p + PROGRESS.touched] == 0:
        s[p + PROGRESS.touched] = 1
        s[p + PROGRESS.touched_before] = s[COUNTER.last_touched]
        s[COUNTER.last_touched] = unit
    b = t[band + BAND.progress]
    s[b + TOGETHER.joined] = 1
    s[b + TOGETHER.change] = s[p + PROGRESS.change]


def part(t: Ints, s: Ints, band: int) -> None:
    """From now on each unit of a band goes by itself."""
    p = t[t[band + BAND.unit] + UNIT.progress]
    for x in range(t[band + BAND.members], t[band + BAND.members_end]):
        own = t[t[x] + UNIT.progress]
        s[own + PROGRESS.open] = s[p + PROGRESS.open]
        s[own + PROGRESS.open_end] = s[p + PROGRESS.open_end]
        s[own + PROGRESS.change] = s[p + PROGRESS.change]
    s[p + PROGRESS.open_end] = s[p + PROGRESS.open]
    s[t[band + BAND.progress] + TOGETHER.joined] = 0
