"""Windows and groups in the kernel's loop: opening them, closing them, emitting their rows; and the ends of runs on basis columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from .numbers import apply_all, copy
from .records import (
    ACCEPTING,
    ADDITIVE,
    APPLICATION,
    APPLICATION_END,
    BASES,
    BASES_END,
    CHANGE,
    CHANGED,
    DONE,
    EMITTED,
    EMITTED_VALUES,
    FIRST,
    GOING,
    GROUP,
    INFINITES,
    INFINITES_END,
    LANE,
    LANES,
    LANES_USED,
    LAST_TOUCHED,
    NONE,
    OPEN,
    OPEN_END,
    OUTPUT,
    OUTPUTS,
    OUTPUTS_END,
    OWN_APPLICATION,
    OWN_APPLICATION_END,
    PIECE,
    PIECE_WIDTH,
    PIECES_END,
    PLACES,
    PLANES,
    PROGRESS,
    PROGRESSION,
    QUERY,
    ROOM,
    RUN,
    SHIFT,
    SLIDE,
    SLOTS,
    START_ROWS,
    START_ROWS_END,
    STASH,
    STEP,
    TIMES,
    TOUCHED,
    TOUCHED_BEFORE,
    USED,
    WITHIN,
    ZEROS,
    ZEROS_END,
)  # fmt: skip

if TYPE_CHECKING:
    from ..columns import Floats, Ints

INLINED: Final = frozenset[str]()


def touch(t: Ints, s: Ints, m: Floats, unit: int, p: int, tick: int) -> None:
    """Begin with a unit in the group at hand: everything empty but the start rows of the open windows."""
    end_runs(t, s, m, t[unit + BASES], t[unit + BASES_END])
    clear_unit(t, m, unit, 0)
    s[p + TOUCHED] = 1
    s[p + TOUCHED_BEFORE] = s[LAST_TOUCHED]
    s[LAST_TOUCHED] = unit
    slide = t[unit + SLIDE]
    first = 0 if slide == 0 else (tick - t[unit + WITHIN]) // slide + 1
    s[p + OPEN] = first
    s[p + OPEN_END] = first
    open_windows(t, s, m, unit, p, tick)


def clear_unit(t: Ints, m: Floats, unit: int, off: int) -> None:
    """Empty all places of a unit, in the memory at an offset."""
    clear_sections(t, m, t[unit + ZEROS], t[unit + ZEROS_END], t[unit + SLOTS], 0.0, off)
    clear_sections(t, m, t[unit + INFINITES], t[unit + INFINITES_END], t[unit + SLOTS], np.inf, off)


def clear_sections(t: Ints, m: Floats, begin: int, end: int, slots: int, empty: float, off: int) -> None:
    for x in range(begin, end, PROGRESSION):
        place, step, times = t[x + FIRST] + off, t[x + STEP], t[x + TIMES]
        if step == slots:
            a = m[place : place + slots * times]
            for i in range(slots * times):
                a[i] = empty
        else:
            for _ in range(times):
                a = m[place : place + slots]
                for i in range(slots):
                    a[i] = empty
                place += step


def open_windows(t: Ints, s: Ints, m: Floats, unit: int, p: int, tick: int) -> None:
    """Open the windows up to the last one that has begun at `tick`, and note when that changes."""
    slide, slots = t[unit + SLIDE], t[unit + SLOTS]
    if slide == 0:
        s[p + OPEN_END] = 1
        s[p + CHANGE] = np.iinfo(np.int64).max
        for x in range(t[unit + START_ROWS], t[unit + START_ROWS_END]):
            m[t[x]] = 1.0
        return
    end = tick // slide + 1
    for x in range(t[unit + START_ROWS], t[unit + START_ROWS_END]):
        window = s[p + OPEN_END]
        slot = window % slots
        while window < end:
            m[t[x] + slot] = 1.0
            window += 1
            slot = slot + 1 if slot + 1 < slots else 0
    change = end * slide
    if s[p + OPEN] < end:
        change = min(change, s[p + OPEN] * slide + t[unit + WITHIN])
    s[p + OPEN_END] = end
    s[p + CHANGE] = change


def next_change(t: Ints, unit: int, tick: int) -> int:
    """The first tick after this one at which other windows of the unit are open."""
    slide = t[unit + SLIDE]
    if slide == 0:
        return int(np.iinfo(np.int64).max)
    end = tick // slide + 1
    first = (tick - t[unit + WITHIN]) // slide + 1
    change = end * slide
    if first < end:
        change = min(change, first * slide + t[unit + WITHIN])
    return int(change)


def advance(t: Ints, s: Ints, m: Floats, rows: Ints, emitted: Floats, unit: int, p: int, tick: int) -> None:
    """Close the windows that ended by `tick`, open those that began."""
    end_runs(t, s, m, t[unit + BASES], t[unit + BASES_END])
    slots = t[unit + SLOTS]
    first = (tick - t[unit + WITHIN]) // t[unit + SLIDE] + 1
    window = s[p + OPEN]
    slot = window % slots
    while window < min(first, s[p + OPEN_END]):
        emit(t, s, m, rows, emitted, unit, window, slot)
        clear_slot(t, m, t[unit + ZEROS], t[unit + ZEROS_END], slot, 0.0)
        clear_slot(t, m, t[unit + INFINITES], t[unit + INFINITES_END], slot, np.inf)
        window += 1
        slot = slot + 1 if slot + 1 < slots else 0
    s[p + OPEN] = first
    s[p + OPEN_END] = max(s[p + OPEN_END], first)
    open_windows(t, s, m, unit, p, tick)


def clear_slot(t: Ints, m: Floats, begin: int, end: int, slot: int, empty: float) -> None:
    for x in range(begin, end, PROGRESSION):
        place = t[x + FIRST] + slot
        for _ in range(t[x + TIMES]):
            m[place] = empty
            place += t[x + STEP]


def emit(t: Ints, s: Ints, m: Floats, rows: Ints, emitted: Floats, unit: int, window: int, slot: int) -> None:
    """A row for each query of the unit that has a match in the window."""
    for output in range(t[unit + OUTPUTS], t[unit + OUTPUTS_END], OUTPUT):
        place, accepting = t[output + PLACES], t[output + ACCEPTING]
        found = 0.0
        for a in range(place, place + accepting):
            found += m[t[a] + slot]
        if found == 0:
            continue
        row = s[EMITTED]
        rows[row, 0] = t[output + QUERY]
        rows[row, 1] = s[GROUP]
        rows[row, 2] = window
        s[EMITTED] = row + 1
        for plane in range(t[output + PLANES]):
            value = m[t[place] + slot]
            for a in range(place + 1, place + accepting):
                number = m[t[a] + slot]
                if plane < t[output + ADDITIVE]:
                    value += number
                elif number < value:
                    value = number
            emitted[s[EMITTED_VALUES]] = value
            s[EMITTED_VALUES] += 1
            place += accepting


def close_group(t: Ints, s: Ints, m: Floats, rows: Ints, emitted: Floats) -> None:
    """Close all windows of the group at hand."""
    unit = s[LAST_TOUCHED]
    while unit != NONE:
        p = t[unit + PROGRESS]
        end_runs(t, s, m, t[unit + BASES], t[unit + BASES_END])
        for window in range(s[p + OPEN], s[p + OPEN_END]):
            emit(t, s, m, rows, emitted, unit, window, window % t[unit + SLOTS])
        s[p + TOUCHED] = 0
        unit = s[p + TOUCHED_BEFORE]
    s[LAST_TOUCHED] = NONE


def end_runs(t: Ints, s: Ints, m: Floats, begin: int, end: int) -> None:
    """End the runs of some bases: what was gathered on basis columns is applied to the lanes."""
    for b in range(begin, end):
        basis = t[b]
        if s[t[basis + RUN] + GOING] != 0:
            apply_basis(t, s, m, basis)


def apply_basis(t: Ints, s: Ints, m: Floats, basis: int) -> None:
    """Apply the common columns to all lanes, and then its own to each lane that has some, as it stood before."""
    r = t[basis + RUN]
    s[r + GOING] = 0
    for own in range(s[r + USED]):
        put_by(t, s, m, basis, own, False)
    done, changed = apply_all(t, m, t[basis + APPLICATION], t[basis + APPLICATION_END], 0)
    s[DONE] += done
    s[CHANGED] += changed
    for own in range(s[r + USED]):
        put_by(t, s, m, basis, own, True)
        lane = t[basis + LANES] + s[r + LANES_USED + own] * LANE
        further = (own + 1) * t[basis + SHIFT]
        done, changed = apply_all(t, m, t[lane + OWN_APPLICATION], t[lane + OWN_APPLICATION_END], further)
        s[DONE] += done
        s[CHANGED] += changed


def put_by(t: Ints, s: Ints, m: Floats, basis: int, own: int, back: bool) -> None:
    """The rows of a lane with columns of its own to where they are put by, or back."""
    lane = t[basis + LANES] + s[t[basis + RUN] + LANES_USED + own] * LANE
    at = t[basis + STASH] + own * t[basis + ROOM]
    for x in range(t[lane], t[lane + PIECES_END], PIECE):
        width = t[x + PIECE_WIDTH]
        if back:
            copy(m, t[x], at, width)
        else:
            copy(m, at, t[x], width)
        at += width
        s[DONE] += 1
        s[CHANGED] += width
