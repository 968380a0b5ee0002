"""Windows and groups in the kernel's loop: opening them, closing them, emitting their rows; and the ends of runs on
basis columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from .numbers import apply_all, copy
from .records import BASIS, COUNTER, LANE, NONE, OUTPUT, PIECE, PROGRESS, PROGRESSION, RUN, UNIT

if TYPE_CHECKING:
    from ..numbers.columns import Floats, Ints

INLINED: Final = frozenset(["emit", "open_windows", "clear_slot"])


class Buffer(NamedTuple):
    """Emitted rows (query, group, window), and their planes one after the other, summed over accepting states. The loop
    stops when there are more than `most_rows` or `most_values`, so that there is room for what an instant emits.
    """

    rows: Ints
    values: Floats
    most_rows: int
    most_values: int


def touch(t: Ints, s: Ints, m: Floats, unit: int, p: int, tick: int) -> None:
    """Begin with a unit in the group at hand: everything empty but the start rows of the open windows."""
    end_runs(t, s, m, t[unit + UNIT.bases], t[unit + UNIT.bases_end])
    clear_unit(t, m, unit, 0)
    s[p + PROGRESS.touched] = 1
    s[p + PROGRESS.touched_before] = s[COUNTER.last_touched]
    s[COUNTER.last_touched] = unit
    slide = t[unit + UNIT.slide]
    first = 0 if slide == 0 else (tick - t[unit + UNIT.end]) // slide + 1
    s[p + PROGRESS.open] = first
    s[p + PROGRESS.open_end] = first
    open_windows(t, s, m, unit, p, tick)


def clear_unit(t: Ints, m: Floats, unit: int, off: int) -> None:
    """Empty all places of a unit, in the memory at an offset."""
    clear_sections(t, m, t[unit + UNIT.zeros], t[unit + UNIT.zeros_end], t[unit + UNIT.slots], 0.0, off)
    clear_sections(t, m, t[unit + UNIT.infinites], t[unit + UNIT.infinites_end], t[unit + UNIT.slots], np.inf, off)


def clear_sections(t: Ints, m: Floats, begin: int, end: int, slots: int, empty: float, off: int) -> None:
    for x in range(begin, end, len(PROGRESSION)):
        place, step, times = t[x + PROGRESSION.first] + off, t[x + PROGRESSION.step], t[x + PROGRESSION.times]
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
    slide, slots = t[unit + UNIT.slide], t[unit + UNIT.slots]
    if slide == 0:
        s[p + PROGRESS.open_end] = 1
        s[p + PROGRESS.change] = np.iinfo(np.int64).max
        for x in range(t[unit + UNIT.start_rows], t[unit + UNIT.start_rows_end]):
            m[t[x]] = 1.0
        return
    window = s[p + PROGRESS.open_end]
    begins, slot = window * slide + t[unit + UNIT.begin], window % slots
    while begins <= tick:
        for x in range(t[unit + UNIT.start_rows], t[unit + UNIT.start_rows_end]):
            m[t[x] + slot] = 1.0
        window += 1
        begins += slide
        slot = slot + 1 if slot + 1 < slots else 0
    change = begins
    if s[p + PROGRESS.open] < window:
        change = min(change, s[p + PROGRESS.open] * slide + t[unit + UNIT.end])
    s[p + PROGRESS.open_end] = window
    s[p + PROGRESS.change] = change


def next_change(t: Ints, unit: int, tick: int) -> int:
    """The first tick after this one at which other windows of the unit are open."""
    slide = t[unit + UNIT.slide]
    if slide == 0:
        return int(np.iinfo(np.int64).max)
    end = (tick - t[unit + UNIT.begin]) // slide + 1
    first = (tick - t[unit + UNIT.end]) // slide + 1
    change = end * slide + t[unit + UNIT.begin]
    if first < end:
        change = min(change, first * slide + t[unit + UNIT.end])
    return int(change)


def advance(t: Ints, s: Ints, m: Floats, buffer: Buffer, unit: int, p: int, tick: int) -> None:
    """Close the windows that ended by `tick`, open those that began."""
    end_runs(t, s, m, t[unit + UNIT.bases], t[unit + UNIT.bases_end])
    slots, slide = t[unit + UNIT.slots], t[unit + UNIT.slide]
    window, opened = s[p + PROGRESS.open], s[p + PROGRESS.open_end]
    ends, slot = window * slide + t[unit + UNIT.end], window % slots
    while ends <= tick and window < opened:
        emit(t, s, m, buffer, unit, window, slot)
        clear_slot(t, m, t[unit + UNIT.zeros], t[unit + UNIT.zeros_end], slot, 0.0)
        clear_slot(t, m, t[unit + UNIT.infinites], t[unit + UNIT.infinites_end], slot, np.inf)
        window += 1
        ends += slide
        slot = slot + 1 if slot + 1 < slots else 0
    if ends <= tick:  # there was no event for longer than windows are
        window = (tick - t[unit + UNIT.end]) // slide + 1
    s[p + PROGRESS.open] = window
    s[p + PROGRESS.open_end] = max(opened, window)
    open_windows(t, s, m, unit, p, tick)


def clear_slot(t: Ints, m: Floats, begin: int, end: int, slot: int, empty: float) -> None:
    for x in range(begin, end, len(PROGRESSION)):
        place, step = t[x + PROGRESSION.first] + slot, t[x + PROGRESSION.step]
        for _ in range(t[x + PROGRESSION.times]):
            m[place] = empty
            place += step


def emit(t: Ints, s: Ints, m: Floats, buffer: Buffer, unit: int, window: int, slot: int) -> None:
    """A row for each query of the unit that has a match in the window, or as many as it asks for."""
    rows, values, _, _ = buffer
    row, at = s[COUNTER.emitted], s[COUNTER.emitted_values]
    for output in range(t[unit + UNIT.outputs], t[unit + UNIT.outputs_end], len(OUTPUT)):
        place, accepting = t[output + OUTPUT.places], t[output + OUTPUT.accepting]
        found = 0.0
        for a in range(place, place + accepting):
            found += m[t[a] + slot]
        if found == 0 or 0 < found < t[output + OUTPUT.fewest]:
            continue
        rows[row, 0] = t[output + OUTPUT.query]
        rows[row, 1] = s[COUNTER.group]
        rows[row, 2] = window
        row += 1
        planes, additive = t[output + OUTPUT.planes], t[output + OUTPUT.additive]
        for plane in range(planes):
            value = m[t[place] + slot]
            for a in range(place + 1, place + accepting):
                number = m[t[a] + slot]
                if plane < additive:
                    value += number
                elif number < value:
                    value = number
            values[at] = value
            at += 1
            place += accepting
    s[COUNTER.emitted], s[COUNTER.emitted_values] = row, at


def close_group(t: Ints, s: Ints, m: Floats, buffer: Buffer) -> None:
    """Close all windows of the group at hand."""
    unit = s[COUNTER.last_touched]
    while unit != NONE:
        p = t[unit + UNIT.progress]
        end_runs(t, s, m, t[unit + UNIT.bases], t[unit + UNIT.bases_end])
        for window in range(s[p + PROGRESS.open], s[p + PROGRESS.open_end]):
            emit(t, s, m, buffer, unit, window, window % t[unit + UNIT.slots])
        s[p + PROGRESS.touched] = 0
        unit = s[p + PROGRESS.touched_before]
    s[COUNTER.last_touched] = NONE


def end_runs(t: Ints, s: Ints, m: Floats, begin: int, end: int) -> None:
    """End the runs of some bases: what was gathered on basis columns is applied to the lanes."""
    for b in range(begin, end):
        basis = t[b]
        if s[t[basis + BASIS.run] + RUN.going] != 0:
            apply_basis(t, s, m, basis)


def apply_basis(t: Ints, s: Ints, m: Floats, basis: int) -> None:
    """Apply the common columns to all lanes, and then its own to each lane that has some, as it stood before."""
    r = t[basis + BASIS.run]
    s[r + RUN.going] = 0
    for own in range(s[r + RUN.used]):
        put_by(t, s, m, basis, own, False)
    done, changed = apply_all(t, m, t[basis + BASIS.application], t[basis + BASIS.application_end], 0)
    s[COUNTER.done] += done
    s[COUNTER.changed] += changed
    for own in range(s[r + RUN.used]):
        put_by(t, s, m, basis, own, True)
        lane = t[basis + BASIS.lanes] + s[r + RUN.lanes_used + own] * len(LANE)
        further = (own + 1) * t[basis + BASIS.shift]
        done, changed = apply_all(t, m, t[lane + LANE.own_application], t[lane + LANE.own_application_end], further)
        s[COUNTER.done] += done
        s[COUNTER.changed] += changed


def put_by(t: Ints, s: Ints, m: Floats, basis: int, own: int, back: bool) -> None:
    """The rows of a lane with columns of its own to where they are put by, or back."""
    lane = t[basis + BASIS.lanes] + s[t[basis + BASIS.run] + RUN.lanes_used + own] * len(LANE)
    at = t[basis + BASIS.stash] + own * t[basis + BASIS.room]
    for x in range(t[lane + LANE.pieces], t[lane + LANE.pieces_end], len(PIECE)):
        width = t[x + PIECE.width]
        if back:
            copy(m, t[x], at, width)
        else:
            copy(m, at, t[x], width)
        at += width
        s[COUNTER.done] += 1
        s[COUNTER.changed] += width
