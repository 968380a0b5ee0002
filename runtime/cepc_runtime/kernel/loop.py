"""The kernel's loop: plain functions over the tables, one pass over events. `compiled.py` compiles them; uncompiled they do the same.

`t` are the Tables, `s` the State. Nothing here allocates: all memory is in the state and in the buffer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ..columns import Floats, Ints
    from .tables import State, Tables


class Input(NamedTuple):
    """Events by group and instant: instant i is `instants[i]:instants[i + 1]`. `values` has a row for each value key."""

    ticks: Ints
    kinds: npt.NDArray[np.int32]
    groups: npt.NDArray[np.int32]
    instants: Ints
    values: npt.NDArray[np.float64]


class Buffer(NamedTuple):
    """Emitted rows: the planes of one query, group and window, summed over accepting states, one after the other in `values`.

    `used`: rows, values.
    """

    query: Ints
    group: Ints
    window: Ints
    values: Floats
    used: Ints


def run(t: Tables, s: State, events: Input, buffer: Buffer, instant: int, last: bool) -> int:
    """Process instants from `instant` on; the first one not processed. Stops early when the buffer may not hold another's rows.

    With `last`, the windows of the last group are closed when all is processed; the caller goes on until all instants are.
    """
    instants = len(events.instants) - 1
    most_rows = np.sum(t.slots)
    most_values = np.sum(t.stride)
    while instant < instants:
        if buffer.used[0] + most_rows > len(buffer.query) or buffer.used[1] + most_values > len(buffer.values):
            return instant
        begin = events.instants[instant]
        end = events.instants[instant + 1]
        if events.groups[begin] != s.counters[1]:
            if s.counters[0] > 0:
                close_group(t, s, buffer)
                s.counters[1] = events.groups[begin]
                continue  # the buffer has to have room again
            s.counters[1] = events.groups[begin]
        if end - begin == 1:
            one_event(t, s, events, buffer, begin)
        else:
            several_events(t, s, events, buffer, begin, end)
        instant += 1
    if last and s.counters[0] > 0:
        if buffer.used[0] + most_rows > len(buffer.query) or buffer.used[1] + most_values > len(buffer.values):
            return instant
        close_group(t, s, buffer)
    return instant


def one_event(t: Tables, s: State, events: Input, buffer: Buffer, event: int) -> None:
    """An instant of one event."""
    tick = events.ticks[event]
    kind = events.kinds[event]
    for segment in range(t.segment_start[kind], t.segment_start[kind + 1]):
        query = t.segment_query[segment]
        if s.touched[query] == 0:
            if t.segment_starts[segment] == 0:
                continue
            touch(t, s, query, tick)
        elif tick >= s.change[query]:
            advance(t, s, buffer, query, tick)
        operate(t, s, events.values, query, segment, event)


def operate(t: Tables, s: State, values: npt.NDArray[np.float64], query: int, segment: int, event: int) -> None:
    """The operations of a segment, in place."""
    memory = s.memory
    region = t.region[query]
    stride = t.stride[query]
    first = t.operation_start[segment]
    end = t.operation_start[segment + 1]
    s.counters[2] += end - first
    for operation in range(first, end):
        source = region + t.operation_source[operation]
        target = region + t.operation_target[operation]
        code = t.operation_code[operation]
        if code == 2:
            add_row(t, memory, target, memory, source, query, t.operation_variable[operation], values, event)
        elif code == 1:
            clear_row(t, memory, target, query)
        else:
            for i in range(stride):
                memory[target + i] = memory[source + i]


def add_row(
    t: Tables, into: Floats, target: int, memory: Floats, source: int, query: int, variable: int,
    values: npt.NDArray[np.float64], event: int,
) -> None:  # fmt: skip
    """Add a row, with the event bound to `variable`. The row may be the target itself, so the count comes last."""
    slots = t.slots[query]
    additive = t.additive[query]
    stride = t.stride[query]
    if stride > slots:
        for i in range(slots, additive):
            into[target + i] += memory[source + i]
        for i in range(additive, stride):
            if memory[source + i] < into[target + i]:
                into[target + i] = memory[source + i]
        if variable >= 0:
            for b in range(t.binding_start[variable], t.binding_start[variable + 1]):
                row = t.binding_value[b]
                value = 1.0 if row < 0 else values[row, event]
                bind(into, target + t.binding_plane[b], memory, source, slots, value, t.binding_least[b])
    for i in range(slots):
        into[target + i] += memory[source + i]


def bind(into: Floats, target: int, memory: Floats, source: int, slots: int, value: float, least: int) -> None:
    """One plane of a bound event, where there are partial matches to extend: an infinite or NaN value spoils nothing else."""
    if least:
        for i in range(slots):
            if memory[source + i] > 0.0 and value < into[target + i]:
                into[target + i] = value
    elif value != 0.0:
        for i in range(slots):
            if memory[source + i] > 0.0:
                into[target + i] += value * memory[source + i]


def clear_row(t: Tables, memory: Floats, row: int, query: int) -> None:
    additive = t.additive[query]
    for i in range(additive):
        memory[row + i] = 0.0
    for i in range(additive, t.stride[query]):
        memory[row + i] = np.inf


# ---- windows ---------------------------------------------------------------------------------------------------------


def touch(t: Tables, s: State, query: int, tick: int) -> None:
    """Begin with a query in the group at hand: everything empty but the start row of the open windows."""
    for state in range(t.states[query]):
        clear_row(t, s.memory, t.region[query] + state * t.stride[query], query)
    s.touched[query] = 1
    s.active[s.counters[0]] = query
    s.counters[0] += 1
    slide = t.slide[query]
    if slide == 0:
        s.first[query] = 0
    else:
        s.first[query] = (tick - t.within[query]) // slide + 1
    s.end[query] = s.first[query]
    open_windows(t, s, query, tick)


def open_windows(t: Tables, s: State, query: int, tick: int) -> None:
    """Open the windows up to the last one that has begun at `tick`, and note when that changes."""
    slide = t.slide[query]
    start = t.region[query]
    slots = t.slots[query]
    if slide == 0:
        s.end[query] = 1
        s.change[query] = np.iinfo(np.int64).max
        s.memory[start] = 1.0
        return
    end = tick // slide + 1
    for window in range(s.end[query], end):
        s.memory[start + window % slots] = 1.0
    s.end[query] = end
    s.change[query] = end * slide
    if s.first[query] < end:
        s.change[query] = min(s.change[query], s.first[query] * slide + t.within[query])


def advance(t: Tables, s: State, buffer: Buffer, query: int, tick: int) -> None:
    """Close the windows that ended by `tick`, open those that began."""
    slide = t.slide[query]
    first = (tick - t.within[query]) // slide + 1
    slots = t.slots[query]
    for window in range(s.first[query], min(first, s.end[query])):
        emit(t, s, buffer, query, window)
        slot = window % slots
        for row in range(t.region[query] + slot, t.region[query] + t.states[query] * t.stride[query], t.stride[query]):
            for i in range(row, row + t.additive[query], slots):
                s.memory[i] = 0.0
            for i in range(row + t.additive[query], row - slot + t.stride[query], slots):
                s.memory[i] = np.inf
    s.first[query] = first
    s.end[query] = max(s.end[query], first)
    open_windows(t, s, query, tick)


def emit(t: Tables, s: State, buffer: Buffer, query: int, window: int) -> None:
    """A row for the window if it has a match."""
    slots = t.slots[query]
    column = t.region[query] + window % slots
    count = 0.0
    for a in range(t.accepting_start[query], t.accepting_start[query + 1]):
        count += s.memory[column + t.accepting[a]]
    if count == 0.0:
        return
    row = buffer.used[0]
    buffer.query[row] = query
    buffer.group[row] = s.counters[1]
    buffer.window[row] = window
    place = buffer.used[1]
    for plane in range(0, t.stride[query], slots):
        least = plane >= t.additive[query]
        value = np.inf if least else 0.0
        for a in range(t.accepting_start[query], t.accepting_start[query + 1]):
            number = s.memory[column + t.accepting[a] + plane]
            if not least:
                value += number
            elif number < value:
                value = number
        buffer.values[place] = value
        place += 1
    buffer.used[0] = row + 1
    buffer.used[1] = place


def close_group(t: Tables, s: State, buffer: Buffer) -> None:
    """Close all windows of the group at hand."""
    for i in range(s.counters[0]):
        query = s.active[i]
        for window in range(s.first[query], s.end[query]):
            emit(t, s, buffer, query, window)
        s.touched[query] = 0
    s.counters[0] = 0


# ---- instants of several events ---------------------------------------------------------------------------------------


def several_events(t: Tables, s: State, events: Input, buffer: Buffer, begin: int, end: int) -> None:
    """An instant of several events. What it adds to a query gathers in `delta` and is merged when all are read; a query that
    only one of the events concerns needs none of this.
    """
    tick = events.ticks[begin]
    for event in range(begin, end):
        kind = events.kinds[event]
        for segment in range(t.segment_start[kind], t.segment_start[kind + 1]):
            s.waiting[t.segment_query[segment]] += 1
    for event in range(begin, end):
        kind = events.kinds[event]
        for segment in range(t.segment_start[kind], t.segment_start[kind + 1]):
            query = t.segment_query[segment]
            waiting = s.waiting[query]
            if waiting == 1:  # it is the only one
                if s.touched[query] != 0 or t.segment_starts[segment] != 0:
                    come(t, s, buffer, query, tick)
                    operate(t, s, events.values, query, segment, event)
                s.waiting[query] = 0
                continue
            if waiting > 0:
                come(t, s, buffer, query, tick)
                begin_instant(t, s, query)
                s.waiting[query] = 1 - waiting  # from now on minus the events that are to come
            else:
                s.waiting[query] += 1
            read_tied(t, s, events.values, query, segment, event)
            if s.waiting[query] == 0:
                end_instant(t, s, query)


def come(t: Tables, s: State, buffer: Buffer, query: int, tick: int) -> None:
    """Bring a query to the time of the instant at hand."""
    if s.touched[query] == 0:
        touch(t, s, query, tick)
    elif tick >= s.change[query]:
        advance(t, s, buffer, query, tick)


def begin_instant(t: Tables, s: State, query: int) -> None:
    for state in range(t.states[query]):
        clear_row(t, s.delta, t.region[query] + state * t.stride[query], query)
    s.killed[query] = 0
    for negation in range(t.negation_start[query], t.negation_start[query + 1]):
        s.seen[negation] = 0


def read_tied(t: Tables, s: State, values: npt.NDArray[np.float64], query: int, segment: int, event: int) -> None:
    """One event of an instant: steps read what stood before it, ties what earlier events of it added."""
    region = t.region[query]
    first = t.tie_start[segment]
    end = t.tie_start[segment + 1]
    s.counters[2] += end - first
    for i in range(first, end):
        clear_row(t, s.fresh, region + t.tie_target[i], query)
    for i in range(first, end):
        source = region + t.tie_source[i]
        memory = s.memory if t.tie_new[i] == 0 else s.delta
        add_row(t, s.fresh, region + t.tie_target[i], memory, source, query, t.tie_variable[i], values, event)
    for i in range(first, end):
        merge_row(t, s.delta, region + t.tie_target[i], s.fresh, query)
        clear_row(t, s.fresh, region + t.tie_target[i], query)  # another step may have the same target
    s.killed[query] |= t.tie_kills[segment]
    for i in range(t.seen_start[segment], t.seen_start[segment + 1]):
        s.seen[t.seen_negation[i]] |= t.seen_bits[i]


def merge_row(t: Tables, into: Floats, row: int, memory: Floats, query: int) -> None:
    """Add a row of one memory to the same row of another."""
    additive = t.additive[query]
    for i in range(row, row + additive):
        into[i] += memory[i]
    for i in range(row + additive, row + t.stride[query]):
        if memory[i] < into[i]:
            into[i] = memory[i]


def end_instant(t: Tables, s: State, query: int) -> None:
    """Moves, kills, and what the instant added."""
    region = t.region[query]
    stride = t.stride[query]
    if s.killed[query] != 0:
        for state in range(t.states[query]):
            clear_row(t, s.memory, region + state * stride, query)
        return
    for negation in range(t.negation_start[query], t.negation_start[query + 1]):
        if s.seen[negation] != 0:
            move_rows(t, s, s.memory, query, negation, 0)
            move_rows(t, s, s.delta, query, negation, 1)
    for state in range(t.states[query]):
        merge_row(t, s.memory, region + state * stride, s.delta, query)


def move_rows(t: Tables, s: State, memory: Floats, query: int, negation: int, new: int) -> None:
    """The moves of one negation, all at once: out of their rows first, then into their targets."""
    region = t.region[query]
    stride = t.stride[query]
    moves = range(t.move_start[negation], t.move_start[negation + 1])
    for i in moves:
        if t.move_new[i] == new and t.move_bits[i] == s.seen[negation]:
            source = region + t.move_source[i]
            for j in range(source, source + stride):
                s.fresh[j] = memory[j]
            clear_row(t, memory, source, query)
    for i in moves:
        if t.move_new[i] == new and t.move_bits[i] == s.seen[negation] and t.move_target[i] >= 0:
            source = region + t.move_source[i]
            target = region + t.move_target[i]
            for j in range(stride):
                if j < t.additive[query]:
                    memory[target + j] += s.fresh[source + j]
                elif s.fresh[source + j] < memory[target + j]:
                    memory[target + j] = s.fresh[source + j]
