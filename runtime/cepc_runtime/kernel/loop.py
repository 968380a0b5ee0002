"""The kernel's loop: plain functions over the tables, one pass over events. `compiled.py` compiles them; uncompiled they do the same.

`t` are the Tables, `s` the State. Nothing here allocates: all memory is in the state and in the buffer. Compiled, every array that is
handed to a function is counted as a reference, so the hot path is one function, and what it calls takes few arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from .tables import (
    ACCEPTING, ACCEPTING_END, ACTIVE, ADDITIVE, BINDINGS, BINDINGS_END, BITS, CHANGE, CODE, DONE, EMITTED, EMITTED_VALUES, FROM,
    GROUP, KILLED, KILLS, LEAST, LETTERS, MOVES, MOVES_END, NEGATION, NEGATIONS, NEGATIONS_END, NEW, OPEN, OPEN_END, OPERATIONS,
    OPERATIONS_END, PLANE, QUERY, REGION, SEEN, SEEN_END, SLIDE, SLOTS, SOURCE, STARTS, STATES, STRIDE, TARGET, TIES, TIES_END,
    TO, TOUCHED, VALUE, WAITING, WITHIN,
)  # fmt: skip

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
    """Emitted rows (query, group, window), and their planes one after the other, summed over accepting states."""

    rows: Ints
    values: Floats


def run(t: Tables, s: State, events: Input, buffer: Buffer, instant: int, last: bool) -> int:
    """Process instants from `instant` on; the first one not processed. Stops early when the buffer may not hold another's rows.

    With `last`, the windows of the last group are closed when all is processed; the caller goes on until no query is active.
    """
    ticks, kinds, groups, instants, values = events
    first_segment, queries, segments, operations, bindings = t.kinds, t.queries, t.segments, t.operations, t.bindings
    memory, progress, counters = s.memory, s.progress, s.counters
    end = len(instants) - 1
    row_limit = len(buffer.rows) - np.sum(queries[:, SLOTS])
    value_limit = len(buffer.values) - np.sum(queries[:, STRIDE])
    done = 0
    while instant < end and counters[EMITTED] <= row_limit and counters[EMITTED_VALUES] <= value_limit:
        event = instants[instant]
        if groups[event] != counters[GROUP]:
            close_group(queries, progress, memory, s.active, counters, t.accepting, buffer.rows, buffer.values)
            counters[GROUP] = groups[event]
            continue  # there has to be room again
        if instants[instant + 1] - event > 1:
            several_events(t, s, events, buffer, event, instants[instant + 1])
            instant += 1
            continue
        tick = ticks[event]
        kind = kinds[event]
        for segment in range(first_segment[kind], first_segment[kind + 1]):
            query = segments[segment, QUERY]
            if progress[query, TOUCHED] == 0:
                if segments[segment, STARTS] == 0:
                    continue
                touch(queries, progress, memory, s.active, counters, query, tick)
            elif tick >= progress[query, CHANGE]:
                advance(queries, progress, memory, counters, t.accepting, buffer.rows, buffer.values, query, tick)
            slots, additive, stride = queries[query, SLOTS], queries[query, ADDITIVE], queries[query, STRIDE]
            for o in range(segments[segment, OPERATIONS], segments[segment, OPERATIONS_END]):
                done += 1
                source, target, code = operations[o, SOURCE], operations[o, TARGET], operations[o, CODE]
                if code == 2:
                    if stride > slots:
                        add_planes(memory, target, memory, source, slots, additive, stride)
                        for b in range(operations[o, BINDINGS], operations[o, BINDINGS_END]):
                            value = 1.0 if bindings[b, VALUE] < 0 else values[bindings[b, VALUE], event]
                            bind(memory, target + bindings[b, PLANE], memory, source, slots, value, bindings[b, LEAST])
                    for i in range(slots):
                        memory[target + i] += memory[source + i]
                elif code == 1:
                    clear_row(memory, target, additive, stride)
                else:
                    for i in range(stride):
                        memory[target + i] = memory[source + i]
        instant += 1
    counters[DONE] += done
    if last and instant == end and counters[EMITTED] <= row_limit and counters[EMITTED_VALUES] <= value_limit:
        close_group(queries, progress, memory, s.active, counters, t.accepting, buffer.rows, buffer.values)
    return instant


# ---- rows ------------------------------------------------------------------------------------------------------------


def add_planes(into: Floats, target: int, memory: Floats, source: int, slots: int, additive: int, stride: int) -> None:
    """Add a row, all but the counts: bindings read them, and the row may be the target itself."""
    for i in range(slots, additive):
        into[target + i] += memory[source + i]
    for i in range(additive, stride):
        if memory[source + i] < into[target + i]:
            into[target + i] = memory[source + i]


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


def clear_row(memory: Floats, row: int, additive: int, stride: int) -> None:
    for i in range(row, row + additive):
        memory[i] = 0.0
    for i in range(row + additive, row + stride):
        memory[i] = np.inf


def clear_region(queries: Ints, memory: Floats, query: int) -> None:
    """Empty all states of a query."""
    row, stride = queries[query, REGION], queries[query, STRIDE]
    for _ in range(queries[query, STATES]):
        clear_row(memory, row, queries[query, ADDITIVE], stride)
        row += stride


def merge_row(into: Floats, memory: Floats, row: int, additive: int, stride: int) -> None:
    """Add a row of one memory to the same row of another."""
    for i in range(row, row + additive):
        into[i] += memory[i]
    for i in range(row + additive, row + stride):
        if memory[i] < into[i]:
            into[i] = memory[i]


# ---- windows ---------------------------------------------------------------------------------------------------------


def touch(queries: Ints, progress: Ints, memory: Floats, active: Ints, counters: Ints, query: int, tick: int) -> None:
    """Begin with a query in the group at hand: everything empty but the start row of the open windows."""
    clear_region(queries, memory, query)
    progress[query, TOUCHED] = 1
    active[counters[ACTIVE]] = query
    counters[ACTIVE] += 1
    slide = queries[query, SLIDE]
    first = 0 if slide == 0 else (tick - queries[query, WITHIN]) // slide + 1
    progress[query, OPEN] = first
    progress[query, OPEN_END] = first
    open_windows(queries, progress, memory, query, tick)


def open_windows(queries: Ints, progress: Ints, memory: Floats, query: int, tick: int) -> None:
    """Open the windows up to the last one that has begun at `tick`, and note when that changes."""
    slide, slots, start = queries[query, SLIDE], queries[query, SLOTS], queries[query, REGION]
    if slide == 0:
        progress[query, OPEN_END] = 1
        progress[query, CHANGE] = np.iinfo(np.int64).max
        memory[start] = 1.0
        return
    end = tick // slide + 1
    window = progress[query, OPEN_END]
    slot = window % slots
    while window < end:
        memory[start + slot] = 1.0
        window += 1
        slot = slot + 1 if slot + 1 < slots else 0
    change = end * slide
    if progress[query, OPEN] < end:
        change = min(change, progress[query, OPEN] * slide + queries[query, WITHIN])
    progress[query, OPEN_END] = end
    progress[query, CHANGE] = change


def advance(
    queries: Ints, progress: Ints, memory: Floats, counters: Ints, accepting: Ints, rows: Ints, values: Floats, query: int, tick: int
) -> None:  # fmt: skip
    """Close the windows that ended by `tick`, open those that began."""
    slots, additive, stride = queries[query, SLOTS], queries[query, ADDITIVE], queries[query, STRIDE]
    region = queries[query, REGION]
    first = (tick - queries[query, WITHIN]) // queries[query, SLIDE] + 1
    window = progress[query, OPEN]
    slot = window % slots
    while window < min(first, progress[query, OPEN_END]):
        emit(queries, memory, counters, accepting, rows, values, query, window, slot)
        row = region
        for _ in range(queries[query, STATES]):
            i = row + slot
            while i < row + additive:
                memory[i] = 0.0
                i += slots
            while i < row + stride:
                memory[i] = np.inf
                i += slots
            row += stride
        window += 1
        slot = slot + 1 if slot + 1 < slots else 0
    progress[query, OPEN] = first
    progress[query, OPEN_END] = max(progress[query, OPEN_END], first)
    open_windows(queries, progress, memory, query, tick)


def emit(
    queries: Ints, memory: Floats, counters: Ints, accepting: Ints, rows: Ints, values: Floats, query: int, window: int,
    slot: int,
) -> None:  # fmt: skip
    """A row for the window if it has a match."""
    slots = queries[query, SLOTS]
    column = queries[query, REGION] + slot
    states = range(queries[query, ACCEPTING], queries[query, ACCEPTING_END])
    count = 0.0
    for a in states:
        count += memory[column + accepting[a]]
    if count == 0.0:
        return
    row = counters[EMITTED]
    rows[row, 0] = query
    rows[row, 1] = counters[GROUP]
    rows[row, 2] = window
    counters[EMITTED] = row + 1
    plane = 0
    while plane < queries[query, STRIDE]:
        least = plane >= queries[query, ADDITIVE]
        value = np.inf if least else 0.0
        for a in states:
            number = memory[column + accepting[a] + plane]
            if not least:
                value += number
            elif number < value:
                value = number
        values[counters[EMITTED_VALUES]] = value
        counters[EMITTED_VALUES] += 1
        plane += slots


def close_group(
    queries: Ints, progress: Ints, memory: Floats, active: Ints, counters: Ints, accepting: Ints, rows: Ints, values: Floats
) -> None:  # fmt: skip
    """Close all windows of the group at hand."""
    for i in range(counters[ACTIVE]):
        query = active[i]
        slots = queries[query, SLOTS]
        for window in range(progress[query, OPEN], progress[query, OPEN_END]):
            emit(queries, memory, counters, accepting, rows, values, query, window, window % slots)
        progress[query, TOUCHED] = 0
    counters[ACTIVE] = 0


# ---- instants of several events ---------------------------------------------------------------------------------------


def several_events(t: Tables, s: State, events: Input, buffer: Buffer, begin: int, end: int) -> None:
    """An instant of several events. What it adds to a query gathers in `delta` and is merged when all are read."""
    tick = events.ticks[begin]
    segments, progress = t.segments, s.progress
    for event in range(begin, end):
        kind = events.kinds[event]
        for segment in range(t.kinds[kind], t.kinds[kind + 1]):
            progress[segments[segment, QUERY], WAITING] += 1
    for event in range(begin, end):
        kind = events.kinds[event]
        for segment in range(t.kinds[kind], t.kinds[kind + 1]):
            query = segments[segment, QUERY]
            if progress[query, WAITING] > 0:
                if progress[query, TOUCHED] == 0:
                    touch(t.queries, progress, s.memory, s.active, s.counters, query, tick)
                elif tick >= progress[query, CHANGE]:
                    advance(
                        t.queries, progress, s.memory, s.counters, t.accepting, buffer.rows, buffer.values, query, tick
                    )
                begin_instant(t, s, query)
                progress[query, WAITING] = -progress[query, WAITING]  # from now on minus the events to come
            read_tied(t, s, events.values, segment, event)
            progress[query, WAITING] += 1
            if progress[query, WAITING] == 0:
                end_instant(t, s, query)


def begin_instant(t: Tables, s: State, query: int) -> None:
    clear_region(t.queries, s.delta, query)
    s.progress[query, KILLED] = 0
    for negation in range(t.queries[query, NEGATIONS], t.queries[query, NEGATIONS_END]):
        s.letters[negation] = 0


def read_tied(t: Tables, s: State, values: npt.NDArray[np.float64], segment: int, event: int) -> None:
    """One event of an instant: it reads what stood before it, so what it adds is merged when it is done."""
    query = t.segments[segment, QUERY]
    slots, additive, stride = t.queries[query, SLOTS], t.queries[query, ADDITIVE], t.queries[query, STRIDE]
    ties, fresh = t.ties, s.fresh
    first, end = t.segments[segment, TIES], t.segments[segment, TIES_END]
    s.counters[DONE] += end - first
    for i in range(first, end):
        clear_row(fresh, ties[i, TARGET], additive, stride)
    for i in range(first, end):
        source, target = ties[i, SOURCE], ties[i, TARGET]
        memory = s.memory if ties[i, CODE] == 0 else s.delta
        add_planes(fresh, target, memory, source, slots, additive, stride)
        for b in range(ties[i, BINDINGS], ties[i, BINDINGS_END]):
            value = 1.0 if t.bindings[b, VALUE] < 0 else values[t.bindings[b, VALUE], event]
            bind(fresh, target + t.bindings[b, PLANE], memory, source, slots, value, t.bindings[b, LEAST])
        for j in range(slots):
            fresh[target + j] += memory[source + j]
    for i in range(first, end):
        merge_row(s.delta, fresh, ties[i, TARGET], additive, stride)
        clear_row(fresh, ties[i, TARGET], additive, stride)  # another step may have the same target
    s.progress[query, KILLED] |= t.segments[segment, KILLS]
    for i in range(t.segments[segment, SEEN], t.segments[segment, SEEN_END]):
        s.letters[t.seen[i, NEGATION]] |= t.seen[i, BITS]


def end_instant(t: Tables, s: State, query: int) -> None:
    """Moves, kills, and what the instant added."""
    if s.progress[query, KILLED] != 0:
        clear_region(t.queries, s.memory, query)
        return
    for negation in range(t.queries[query, NEGATIONS], t.queries[query, NEGATIONS_END]):
        if s.letters[negation] != 0:
            move_rows(t, s, s.memory, query, negation, 0)
            move_rows(t, s, s.delta, query, negation, 1)
    row = t.queries[query, REGION]
    for _ in range(t.queries[query, STATES]):
        merge_row(s.memory, s.delta, row, t.queries[query, ADDITIVE], t.queries[query, STRIDE])
        row += t.queries[query, STRIDE]


def move_rows(t: Tables, s: State, memory: Floats, query: int, negation: int, new: int) -> None:
    """The moves of one negation, all at once: out of their rows first, then into their targets."""
    region, additive, stride = t.queries[query, REGION], t.queries[query, ADDITIVE], t.queries[query, STRIDE]
    moves, letters = t.moves, s.letters[negation]
    for i in range(t.negations[negation, MOVES], t.negations[negation, MOVES_END]):
        if moves[i, NEW] == new and moves[i, LETTERS] == letters:
            source = region + moves[i, FROM]
            for j in range(source, source + stride):
                s.fresh[j] = memory[j]
            clear_row(memory, source, additive, stride)
    for i in range(t.negations[negation, MOVES], t.negations[negation, MOVES_END]):
        if moves[i, NEW] == new and moves[i, LETTERS] == letters and moves[i, TO] >= 0:
            source, target = region + moves[i, FROM], region + moves[i, TO]
            for j in range(additive):
                memory[target + j] += s.fresh[source + j]
            for j in range(additive, stride):
                memory[target + j] = min(memory[target + j], s.fresh[source + j])
