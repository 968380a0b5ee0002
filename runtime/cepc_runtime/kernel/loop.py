"""The kernel's loop: plain functions over the table, one pass over events. `compiled.py` compiles them; uncompiled they do the same.

`t` is the table, `s` the progress, `m` the memory. Nothing here allocates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from .program import ADD, ZERO
from .tables import (
    ACCEPTING,
    ACCEPTING_END,
    ADDITIVE,
    BINDING,
    BINDINGS,
    BINDINGS_END,
    BITS,
    CHANGE,
    CODE,
    DONE,
    EMITTED,
    EMITTED_VALUES,
    FROM,
    GROUP,
    KILLED,
    KILLS,
    LAST_TOUCHED,
    LEAST,
    LETTERS,
    MOVE,
    MOVES,
    MOVES_END,
    NEGATION,
    NEGATION_RECORD,
    NEGATIONS,
    NEGATIONS_END,
    NEW,
    NONE,
    NUMBER,
    OPEN,
    OPEN_END,
    OPERATION,
    OPERATIONS,
    OPERATIONS_END,
    PLANE,
    PROGRESS,
    QUERY,
    REGION,
    REGION_END,
    SEEN,
    SEEN_END,
    SEEN_LETTERS,
    SEGMENT,
    SLIDE,
    SLOTS,
    SOURCE,
    STARTS,
    STRIDE,
    TARGET,
    TIES,
    TIES_END,
    TO,
    TOUCHED,
    TOUCHED_BEFORE,
    VALUE,
    WAITING,
    WHEN,
    WITHIN,
)  # fmt: skip

if TYPE_CHECKING:
    from ..columns import Floats, Ints

    Matrix = npt.NDArray[np.float64]
    Numbers = npt.NDArray[np.int32]


INLINED: Final = frozenset(["add_row", "come", "operate"])


class Input(NamedTuple):
    """Events by group and instant: instant i is `instants[i]:instants[i + 1]`. `values` has a row for each value key."""

    ticks: Ints
    kinds: Numbers
    groups: Numbers
    instants: Ints
    values: Matrix


class Buffer(NamedTuple):
    """Emitted rows (query, group, window), and their planes one after the other, summed over accepting states."""

    rows: Ints
    values: Floats


def run(
    t: Ints, s: Ints, m: Floats, events: Input, buffer: Buffer, instant: int, row_limit: int, value_limit: int, last: bool
) -> int:  # fmt: skip
    """Process instants from `instant` on; the first one not processed. It stops early when more than the limits is in the buffer.

    With `last`, the windows of the last group are closed when all is processed; the caller goes on until no query is touched.
    """
    ticks, kinds, groups, instants, values = events
    rows, emitted = buffer
    end = len(instants) - 1
    while instant < end and s[EMITTED] <= row_limit and s[EMITTED_VALUES] <= value_limit:
        event = instants[instant]
        if groups[event] != s[GROUP]:
            close_group(t, s, m, rows, emitted)
            s[GROUP] = groups[event]
            continue  # there has to be room again
        instant += 1
        if instants[instant] - event > 1:
            several_events(t, s, m, ticks, kinds, values, rows, emitted, event, instants[instant])
            continue
        kind = kinds[event]
        segment, segments = t[kind], t[kind + 1]
        while segment < segments:
            query = t[segment + QUERY]
            if come(t, s, m, rows, emitted, query, ticks[event], t[segment + STARTS]):
                operate(t, s, m, values, query, segment, event)
            segment += SEGMENT
    if last and instant == end and s[EMITTED] <= row_limit and s[EMITTED_VALUES] <= value_limit:
        close_group(t, s, m, rows, emitted)
    return instant


def operate(t: Ints, s: Ints, m: Floats, values: Matrix, query: int, segment: int, event: int) -> None:
    """The operations of a segment, in place: an instant of which only this event concerns the query."""
    slots, additive, stride = t[query + SLOTS], t[query + ADDITIVE], t[query + STRIDE]
    for o in range(t[segment + OPERATIONS], t[segment + OPERATIONS_END], OPERATION):
        source, target, code = t[o + SOURCE], t[o + TARGET], t[o + CODE]
        if code == ADD:
            add_row(t, m, target, source, values, event, o, slots, additive, stride)
        elif code == ZERO:
            clear_row(m, target, additive, stride)
        else:
            for i in range(stride):
                m[target + i] = m[source + i]
        s[DONE] += 1


# ---- rows ------------------------------------------------------------------------------------------------------------


def add_row(
    t: Ints, m: Floats, target: int, source: int, values: Matrix, event: int, o: int, slots: int, additive: int, stride: int
) -> None:  # fmt: skip
    """Add a row, with the event bound as operation `o` says. The row may be the target itself, so the counts come last."""
    if stride > slots:
        for i in range(slots, additive):
            m[target + i] += m[source + i]
        for i in range(additive, stride):
            if m[source + i] < m[target + i]:
                m[target + i] = m[source + i]
        for b in range(t[o + BINDINGS], t[o + BINDINGS_END], BINDING):
            value = values[t[b + VALUE], event]
            plane = target + t[b + PLANE]
            if t[b + LEAST]:
                for i in range(slots):
                    if m[source + i] > 0 and value < m[plane + i]:
                        m[plane + i] = value
            elif value - value == 0:
                if value != 0:  # infinitely many times 0 is 0
                    for i in range(slots):
                        m[plane + i] += value * m[source + i]
            else:  # an infinite value or NaN spoils only what there is
                for i in range(slots):
                    if m[source + i] > 0:
                        m[plane + i] += value * m[source + i]
    for i in range(slots):
        m[target + i] += m[source + i]


def clear_row(m: Floats, row: int, additive: int, stride: int) -> None:
    for i in range(row, row + additive):
        m[i] = 0
    for i in range(row + additive, row + stride):
        m[i] = np.inf


def clear_region(t: Ints, m: Floats, query: int, offset: int) -> None:
    """Empty all states of a query, in the memory at an offset."""
    row = t[query + REGION] + offset
    while row < t[query + REGION_END] + offset:
        clear_row(m, row, t[query + ADDITIVE], t[query + STRIDE])
        row += t[query + STRIDE]


def merge_row(m: Floats, into: int, row: int, additive: int, stride: int) -> None:
    """Add a row to another of the same query."""
    for i in range(additive):
        m[into + i] += m[row + i]
    for i in range(additive, stride):
        if m[row + i] < m[into + i]:
            m[into + i] = m[row + i]


# ---- windows ---------------------------------------------------------------------------------------------------------


def come(t: Ints, s: Ints, m: Floats, rows: Ints, emitted: Floats, query: int, tick: int, starts: int) -> bool:
    """Bring a query to the time at hand; False if there is nothing to do, as it was not touched and this cannot start a match."""
    p = t[query + PROGRESS]
    if s[p + TOUCHED] == 0:
        if starts == 0:
            return False
        touch(t, s, m, query, p, tick)
    elif tick >= s[p + CHANGE]:
        advance(t, s, m, rows, emitted, query, p, tick)
    return True


def touch(t: Ints, s: Ints, m: Floats, query: int, p: int, tick: int) -> None:
    """Begin with a query in the group at hand: everything empty but the start row of the open windows."""
    clear_region(t, m, query, 0)
    s[p + TOUCHED] = 1
    s[p + TOUCHED_BEFORE] = s[LAST_TOUCHED]
    s[LAST_TOUCHED] = query
    slide = t[query + SLIDE]
    first = 0 if slide == 0 else (tick - t[query + WITHIN]) // slide + 1
    s[p + OPEN] = first
    s[p + OPEN_END] = first
    open_windows(t, s, m, query, p, tick)


def open_windows(t: Ints, s: Ints, m: Floats, query: int, p: int, tick: int) -> None:
    """Open the windows up to the last one that has begun at `tick`, and note when that changes."""
    slide, slots, start = t[query + SLIDE], t[query + SLOTS], t[query + REGION]
    if slide == 0:
        s[p + OPEN_END] = 1
        s[p + CHANGE] = np.iinfo(np.int64).max
        m[start] = 1.0
        return
    end = tick // slide + 1
    window = s[p + OPEN_END]
    slot = window % slots
    while window < end:
        m[start + slot] = 1.0
        window += 1
        slot = slot + 1 if slot + 1 < slots else 0
    change = end * slide
    if s[p + OPEN] < end:
        change = min(change, s[p + OPEN] * slide + t[query + WITHIN])
    s[p + OPEN_END] = end
    s[p + CHANGE] = change


def advance(t: Ints, s: Ints, m: Floats, rows: Ints, emitted: Floats, query: int, p: int, tick: int) -> None:
    """Close the windows that ended by `tick`, open those that began."""
    slots, additive, stride = t[query + SLOTS], t[query + ADDITIVE], t[query + STRIDE]
    first = (tick - t[query + WITHIN]) // t[query + SLIDE] + 1
    window = s[p + OPEN]
    slot = window % slots
    while window < min(first, s[p + OPEN_END]):
        emit(t, s, m, rows, emitted, query, window, slot)
        row = t[query + REGION]
        while row < t[query + REGION_END]:
            i = row + slot
            while i < row + additive:
                m[i] = 0
                i += slots
            while i < row + stride:
                m[i] = np.inf
                i += slots
            row += stride
        window += 1
        slot = slot + 1 if slot + 1 < slots else 0
    s[p + OPEN] = first
    s[p + OPEN_END] = max(s[p + OPEN_END], first)
    open_windows(t, s, m, query, p, tick)


def emit(t: Ints, s: Ints, m: Floats, rows: Ints, emitted: Floats, query: int, window: int, slot: int) -> None:
    """A row for the window if it has a match."""
    first, end = t[query + ACCEPTING], t[query + ACCEPTING_END]
    count = m[t[first] + slot]
    for a in range(first + 1, end):
        count += m[t[a] + slot]
    if count == 0:
        return
    row = s[EMITTED]
    rows[row, 0] = t[query + NUMBER]
    rows[row, 1] = s[GROUP]
    rows[row, 2] = window
    s[EMITTED] = row + 1
    place = s[EMITTED_VALUES]
    plane = 0
    while plane < t[query + STRIDE]:
        value = m[t[first] + slot + plane]
        for a in range(first + 1, end):
            number = m[t[a] + slot + plane]
            if plane < t[query + ADDITIVE]:
                value += number
            elif number < value:
                value = number
        emitted[place] = value
        place += 1
        plane += t[query + SLOTS]
    s[EMITTED_VALUES] = place


def close_group(t: Ints, s: Ints, m: Floats, rows: Ints, emitted: Floats) -> None:
    """Close all windows of the group at hand."""
    query = s[LAST_TOUCHED]
    while query != NONE:
        p = t[query + PROGRESS]
        for window in range(s[p + OPEN], s[p + OPEN_END]):
            emit(t, s, m, rows, emitted, query, window, window % t[query + SLOTS])
        s[p + TOUCHED] = 0
        query = s[p + TOUCHED_BEFORE]
    s[LAST_TOUCHED] = NONE


# ---- instants of several events ---------------------------------------------------------------------------------------


def several_events(
    t: Ints, s: Ints, m: Floats, ticks: Ints, kinds: Numbers, values: Matrix, rows: Ints, emitted: Floats, begin: int, end: int
) -> None:  # fmt: skip
    """An instant of several events. What it adds to a query gathers in a second memory and is merged when all are read."""
    second = len(m) // 3
    for event in range(begin, end):
        for segment in range(t[kinds[event]], t[kinds[event] + 1], SEGMENT):
            s[t[t[segment + QUERY] + PROGRESS] + WAITING] += 1
    for event in range(begin, end):
        for segment in range(t[kinds[event]], t[kinds[event] + 1], SEGMENT):
            query = t[segment + QUERY]
            p = t[query + PROGRESS]
            if s[p + WAITING] == 1:  # no other event of the instant concerns it
                s[p + WAITING] = 0
                if come(t, s, m, rows, emitted, query, ticks[begin], t[segment + STARTS]):
                    operate(t, s, m, values, query, segment, event)
                continue
            if s[p + WAITING] > 0:
                come(t, s, m, rows, emitted, query, ticks[begin], 1)
                clear_region(t, m, query, second)
                s[p + KILLED] = 0
                for negation in range(t[query + NEGATIONS], t[query + NEGATIONS_END], NEGATION_RECORD):
                    s[t[negation + SEEN_LETTERS]] = 0
                s[p + WAITING] = -s[p + WAITING]
            read_tied(t, s, m, values, query, segment, event, second)
            s[p + WAITING] += 1
            if s[p + WAITING] == 0:
                end_instant(t, s, m, query, second)


def read_tied(t: Ints, s: Ints, m: Floats, values: Matrix, query: int, segment: int, event: int, second: int) -> None:
    """One event of an instant: it reads what stood before it, so what it adds stays in a third memory until it is done."""
    slots, additive, stride = t[query + SLOTS], t[query + ADDITIVE], t[query + STRIDE]
    third = 2 * second
    first, end = t[segment + TIES], t[segment + TIES_END]
    for o in range(first, end, OPERATION):
        clear_row(m, third + t[o + TARGET], additive, stride)
    for o in range(first, end, OPERATION):
        source = t[o + SOURCE] + second * t[o + CODE]
        add_row(t, m, third + t[o + TARGET], source, values, event, o, slots, additive, stride)
        s[DONE] += 1
    for o in range(first, end, OPERATION):
        merge_row(m, second + t[o + TARGET], third + t[o + TARGET], additive, stride)
        clear_row(m, third + t[o + TARGET], additive, stride)  # another step may have the same target
    s[t[query + PROGRESS] + KILLED] |= t[segment + KILLS]
    for i in range(t[segment + SEEN], t[segment + SEEN_END], LETTERS):
        s[t[i + NEGATION]] |= t[i + BITS]


def end_instant(t: Ints, s: Ints, m: Floats, query: int, second: int) -> None:
    """Moves, kills, and what the instant added."""
    if s[t[query + PROGRESS] + KILLED] != 0:
        clear_region(t, m, query, 0)
        return
    for negation in range(t[query + NEGATIONS], t[query + NEGATIONS_END], NEGATION_RECORD):
        if s[t[negation + SEEN_LETTERS]] != 0:
            for new in range(2):
                move_rows(t, s, m, query, negation, new, new * second, 2 * second)
    row = t[query + REGION]
    while row < t[query + REGION_END]:
        merge_row(m, row, second + row, t[query + ADDITIVE], t[query + STRIDE])
        row += t[query + STRIDE]


def move_rows(t: Ints, s: Ints, m: Floats, query: int, negation: int, new: int, memory: int, third: int) -> None:
    """The moves of one negation, all at once: out of their rows into a third memory, then into their targets."""
    additive, stride = t[query + ADDITIVE], t[query + STRIDE]
    seen = s[t[negation + SEEN_LETTERS]]
    for move in range(t[negation + MOVES], t[negation + MOVES_END], MOVE):
        if t[move + NEW] == new and t[move + WHEN] == seen:
            source = t[move + FROM]
            for i in range(source, source + stride):
                m[third + i] = m[memory + i]
            clear_row(m, memory + source, additive, stride)
    for move in range(t[negation + MOVES], t[negation + MOVES_END], MOVE):
        if t[move + NEW] == new and t[move + WHEN] == seen and t[move + TO] != NONE:
            merge_row(m, memory + t[move + TO], third + t[move + FROM], additive, stride)
