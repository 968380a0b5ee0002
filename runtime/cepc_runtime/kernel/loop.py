"""The kernel's loop: plain functions over the table, one pass over events. `compiled.py` compiles them; uncompiled they do the same.

`t` is the table, `s` the progress, `m` the memory. Nothing here allocates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from .basis import OWN
from .numbers import OPERATION, carry_out_all, carry_out_further, copy
from .records import (
    AHEAD,
    ALL_BASES,
    ALL_BASES_END,
    ALONE,
    ALONE_END,
    ALONE_NUMBERS,
    BITS,
    BLOCK,
    CHANGE,
    CHANGED,
    COMPONENT,
    COST,
    COST_ALONE,
    COST_OF_ALL,
    DIFFERENCE,
    DIFFERING,
    DIFFERING_END,
    DIFFERING_LANE,
    DIRECT,
    DIRECT_END,
    DIRECT_NUMBERS,
    DIRECT_UNTIL,
    DONE,
    EMITTED,
    EMITTED_VALUES,
    EVENTS_SHARED,
    EVENTS_SPLIT,
    GAIN,
    GATE,
    GATE_GROUP,
    GATE_UNTIL,
    GOING,
    GROUP,
    GUARDED,
    GUARDED_END,
    INSIDE,
    KILLED,
    KILLED_UNITS,
    KILLED_UNITS_END,
    LANES_USED,
    LETTERS,
    MEANING,
    MERGES,
    MERGES_END,
    MERGES_NUMBERS,
    MOVE,
    MOVES,
    MOVES_END,
    NEGATION,
    NEGATIONS,
    NEGATIONS_END,
    NEW,
    NONE,
    NUMBERS,
    ONES,
    ONES_END,
    OPERATIONS,
    OPERATIONS_END,
    OTHER,
    OTHER_STARTS,
    OTHER_UNIT,
    OTHERS,
    OTHERS_END,
    OWN_COLUMNS,
    OWN_SHARED,
    OWN_SHARED_END,
    OWN_SHARED_NUMBERS,
    PROGRESS,
    PUT,
    PUT_END,
    RESET,
    RESET_END,
    RESET_NUMBERS,
    RUN,
    RUNS,
    RUNS_END,
    RUNS_SHARED,
    RUNS_SPLIT,
    SECTIONS,
    SECTIONS_END,
    SEEN,
    SEEN_END,
    SETTLED,
    SETTLED_END,
    SETTLED_NUMBERS,
    SETTLING,
    SHARED,
    SHARED_END,
    SHARED_NUMBERS,
    SHIFT,
    STARTS,
    TAKE,
    TAKE_END,
    TIED,
    TIED_END,
    TIED_NUMBERS,
    TOUCHED,
    UNIT,
    USED,
    WAITING,
    WHEN,
    WIDE,
    WIDE_END,
    WIDE_NUMBERS,
)  # fmt: skip
from .windows import advance, clear_unit, close_group, end_runs, next_change, touch

if TYPE_CHECKING:
    from ..columns import Floats, Ints

    Matrix = npt.NDArray[np.float64]
    Numbers = npt.NDArray[np.int32]


INLINED: Final = frozenset(["come", "do", "operate"])

ALL: Final = 1
FEW: Final = 2

FAR: Final = 64
"""Events that are looked at for what a run gains by going on."""


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

    With `last`, the windows of the last group are closed when all is processed; the caller goes on until no unit is touched.
    """
    ticks, kinds, groups, instants, _ = events
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
            several_events(t, s, m, events, buffer, event, instants[instant])
            continue
        kind = kinds[event]
        block, blocks = t[kind], t[kind + 1]
        while block < blocks:
            here = come(t, s, m, rows, emitted, block, ticks[event])
            if here == ALL:
                operate(t, s, m, events, block, event)
            elif here == FEW:
                operate_few(t, s, m, events.values, block, event)
            block += BLOCK
    if last and instant == end and s[EMITTED] <= row_limit and s[EMITTED_VALUES] <= value_limit:
        close_group(t, s, m, rows, emitted)
    return instant


def operate(t: Ints, s: Ints, m: Floats, events: Input, block: int, event: int) -> None:
    """What a block does, in place: an instant of which only this event concerns the component."""
    if t[block + RUNS] != t[block + RUNS_END]:
        go_on(t, s, m, events, block, event)
    do(t, s, m, events.values, event, t[block + OPERATIONS], t[block + OPERATIONS_END], t[block + NUMBERS])


def do(t: Ints, s: Ints, m: Floats, values: Matrix, event: int, begin: int, end: int, numbers: int) -> None:
    carry_out_all(t, m, values, event, begin, end)
    s[DONE] += (end - begin) // OPERATION
    s[CHANGED] += numbers


# ---- units -----------------------------------------------------------------------------------------------------------


def come(t: Ints, s: Ints, m: Floats, rows: Ints, emitted: Floats, block: int, tick: int) -> int:
    """Bring the units of a block to the time at hand. ALL are to be changed; or but a FEW, as most were not touched; or NONE, as
    none was touched and this kind of event cannot start a match.
    """
    gate = t[block + GATE]
    if gate == NONE:
        unit = t[block + UNIT]
        p = t[unit + PROGRESS]
        if s[p + TOUCHED] == 0:
            if t[block + STARTS] == 0:
                return NONE
            touch(t, s, m, unit, p, tick)
        elif tick >= s[p + CHANGE]:
            advance(t, s, m, rows, emitted, unit, p, tick)
        return ALL
    if s[gate + GATE_GROUP] == s[GROUP] + 1 and tick < s[gate + GATE_UNTIL]:
        return ALL
    return come_together(t, s, m, rows, emitted, block, tick)


def come_together(t: Ints, s: Ints, m: Floats, rows: Ints, emitted: Floats, block: int, tick: int) -> int:
    """Bring several units to the time at hand. If all are to be changed, that need not be done again until windows open or close for
    one of them: those that were not touched, and cannot be by this kind of event, have nothing that could be wrong.
    """
    first, end = t[block + OTHERS], t[block + OTHERS_END]
    touched, cost = False, 0
    for other in range(first, end, OTHER):
        unit = t[other + OTHER_UNIT]
        p = t[unit + PROGRESS]
        if s[p + TOUCHED] == 0:
            if t[other + OTHER_STARTS] == 0:
                continue
            touch(t, s, m, unit, p, tick)
        elif tick >= s[p + CHANGE]:
            advance(t, s, m, rows, emitted, unit, p, tick)
        touched = True
        cost += t[other + COST_ALONE]
    if not touched:
        return NONE
    if cost < t[block + COST_OF_ALL]:
        return FEW
    until = np.iinfo(np.int64).max
    for other in range(first, end, OTHER):
        unit = t[other + OTHER_UNIT]
        p = t[unit + PROGRESS]
        until = min(until, next_change(t, unit, tick) if s[p + TOUCHED] == 0 else s[p + CHANGE])
    gate = t[block + GATE]
    s[gate + GATE_GROUP] = s[GROUP] + 1
    s[gate + GATE_UNTIL] = until
    return ALL


def operate_few(t: Ints, s: Ints, m: Floats, values: Matrix, block: int, event: int) -> None:
    """What a block does to the units that are touched, each by itself."""
    for x in range(t[block + RUNS], t[block + RUNS_END], MEANING):
        end_runs(t, s, m, x, x + 1)
    for other in range(t[block + OTHERS], t[block + OTHERS_END], OTHER):
        if s[t[t[other + OTHER_UNIT] + PROGRESS] + TOUCHED] != 0:
            do(t, s, m, values, event, t[other + ALONE], t[other + ALONE_END], t[other + ALONE_NUMBERS])


# ---- runs on basis columns ---------------------------------------------------------------------------------------------


def go_on(t: Ints, s: Ints, m: Floats, events: Input, block: int, event: int) -> None:
    """An event that ends runs, or goes on with some: on the basis columns if a run is shared, on the lanes if it is split."""
    for x in range(t[block + RUNS], t[block + RUNS_END], MEANING):
        if t[x + INSIDE] == NONE or not goes_on(t, s, events, t[x], t[x + INSIDE], t[block + GATE], event):
            end_runs(t, s, m, x, x + 1)
    for x in range(t[block + RUNS], t[block + RUNS_END], MEANING):
        i = t[x + INSIDE]
        if i == NONE:
            continue
        r = t[t[x] + RUN]
        if s[r + GOING] == 0 and event >= s[r + DIRECT_UNTIL]:
            begin_run(t, s, m, events, t[x], s[t[block + GATE] + GATE_UNTIL], event)
        if s[r + GOING] != 0:
            gather(t, s, m, events.values, t[x], i, event)
            s[EVENTS_SHARED] += 1
        else:
            do(t, s, m, events.values, event, t[i + DIRECT], t[i + DIRECT_END], t[i + DIRECT_NUMBERS])
            s[EVENTS_SPLIT] += 1


def goes_on(t: Ints, s: Ints, events: Input, basis: int, inside: int, gate: int, event: int) -> bool:
    """Whether a run, if there is one, goes on at an event that is inside. If the event does something else in some lanes, there must be
    columns left for them, and the next events have to gain what these cost.
    """
    r = t[basis + RUN]
    if t[inside + DIFFERING] == t[inside + DIFFERING_END] or s[r + GOING] == 0:
        return True
    needed = 0
    for x in range(t[inside + DIFFERING], t[inside + DIFFERING_END], DIFFERENCE):
        if columns_of(s, r, t[x + DIFFERING_LANE]) == NONE:
            needed += 1
    if needed == 0:
        return True
    if s[r + USED] + needed > OWN:
        return False
    ticks, kinds, groups, _, _ = events
    ahead, gain, until = t[basis + AHEAD], 0, s[gate + GATE_UNTIL]
    enough = min(t[basis + COST], 0)
    for i in range(event, min(event + FAR, len(kinds))):
        if groups[i] != groups[event] or ticks[i] >= until or t[ahead + kinds[i]] == NONE:
            return False
        if t[ahead + kinds[i]] != 0:
            gain += t[t[ahead + kinds[i]] + GAIN]
            if gain > enough:
                return True
    return False


def columns_of(s: Ints, run: int, lane: int) -> int:
    """Which of the columns that lanes have of their own are this lane's; NONE without."""
    for own in range(s[run + USED]):
        if s[run + LANES_USED + own] == lane:
            return own
    return NONE


def gather(t: Ints, s: Ints, m: Floats, values: Matrix, basis: int, inside: int, event: int) -> None:
    """An event of a shared run, on the common columns and on those that lanes have of their own."""
    r = t[basis + RUN]
    if t[inside + DIFFERING] == t[inside + DIFFERING_END]:
        if s[r + USED] == 0:
            do(t, s, m, values, event, t[inside + SHARED], t[inside + SHARED_END], t[inside + SHARED_NUMBERS])
        else:
            do(t, s, m, values, event, t[inside + WIDE], t[inside + WIDE_END], t[inside + WIDE_NUMBERS])
        return
    shift = t[basis + SHIFT]
    for x in range(t[inside + DIFFERING], t[inside + DIFFERING_END], DIFFERENCE):
        if columns_of(s, r, t[x + DIFFERING_LANE]) == NONE:
            s[r + LANES_USED + s[r + USED]] = t[x + DIFFERING_LANE]
            s[r + USED] += 1
            s[OWN_COLUMNS] += 1
            for section in range(t[basis + SECTIONS], t[basis + SECTIONS_END]):
                copy(m, t[section] + s[r + USED] * shift, t[section], shift)
            s[DONE] += t[basis + SECTIONS_END] - t[basis + SECTIONS]
            s[CHANGED] += (t[basis + SECTIONS_END] - t[basis + SECTIONS]) * shift
    do(t, s, m, values, event, t[inside + SHARED], t[inside + SHARED_END], t[inside + SHARED_NUMBERS])
    for own in range(s[r + USED]):
        begin, end, numbers = t[inside + SHARED], t[inside + SHARED_END], t[inside + SHARED_NUMBERS]
        for x in range(t[inside + DIFFERING], t[inside + DIFFERING_END], DIFFERENCE):
            if t[x + DIFFERING_LANE] == s[r + LANES_USED + own]:
                begin, end, numbers = t[x + OWN_SHARED], t[x + OWN_SHARED_END], t[x + OWN_SHARED_NUMBERS]
        carry_out_further(t, m, values, event, begin, end, (own + 1) * shift)
        s[DONE] += (end - begin) // OPERATION
        s[CHANGED] += numbers


def begin_run(t: Ints, s: Ints, m: Floats, events: Input, basis: int, until: int, event: int) -> None:
    """Decide, for the run that begins: sharing pays if its events gain more than the application of the basis costs.

    Looking ahead stops as soon as that is sure, or at what ends the run, so that each event is looked at once.
    """
    ticks, kinds, groups, _, values = events
    ahead, cost, gain, i = t[basis + AHEAD], t[basis + COST], 0, event
    while i < len(kinds) and groups[i] == groups[event] and ticks[i] < until:
        if i > event and i + 1 < len(kinds) and ticks[i] == ticks[i + 1] and groups[i + 1] == groups[event]:
            break  # perhaps an instant of several events
        inside = t[ahead + kinds[i]]
        if inside == NONE:
            break
        i += 1
        if inside != 0:
            gain += t[inside + GAIN]
            if gain > cost or gain < 0:
                break
    r = t[basis + RUN]
    if gain <= cost:
        s[r + DIRECT_UNTIL] = i
        s[RUNS_SPLIT] += 1
        return
    s[r + GOING] = 1
    s[r + USED] = 0
    s[RUNS_SHARED] += 1
    do(t, s, m, values, event, t[basis + RESET], t[basis + RESET_END], t[basis + RESET_NUMBERS])
    for x in range(t[basis + ONES], t[basis + ONES_END]):
        m[t[x]] = 1.0


# ---- instants of several events ---------------------------------------------------------------------------------------


def several_events(t: Ints, s: Ints, m: Floats, events: Input, buffer: Buffer, begin: int, end: int) -> None:
    """An instant of several events. What it adds to a component gathers in a second memory and is merged when all are read."""
    ticks, kinds = events.ticks, events.kinds
    rows, emitted = buffer
    for event in range(begin, end):
        for block in range(t[kinds[event]], t[kinds[event] + 1], BLOCK):
            w = t[t[block + COMPONENT] + WAITING]
            s[w] += 1
            s[w + SETTLING] = 0
            come(t, s, m, rows, emitted, block, ticks[begin])
    for event in range(begin, end):
        for block in range(t[kinds[event]], t[kinds[event] + 1], BLOCK):
            component = t[block + COMPONENT]
            w = t[component + WAITING]
            here = come(t, s, m, rows, emitted, block, ticks[begin])
            if s[w] == 1:  # no other event of the instant concerns it
                s[w] = 0
                if here == ALL:
                    operate(t, s, m, events, block, event)
                elif here == FEW:
                    operate_few(t, s, m, events.values, block, event)
                continue
            if s[w] > 0:
                begin_instant(t, s, m, component)
                s[w + SETTLING] = s[w]
                s[w] = -s[w]
            read_tied(t, s, m, events.values, block, event, here != NONE)
            s[w] += 1
            if s[w] == 0:
                end_instant(t, s, m, events.values, component)
    for event in range(begin, end):
        for block in range(t[kinds[event]], t[kinds[event] + 1], BLOCK):
            if s[t[t[block + COMPONENT] + WAITING] + SETTLING] != 0:
                do(
                    t,
                    s,
                    m,
                    events.values,
                    event,
                    t[block + SETTLED],
                    t[block + SETTLED_END],
                    t[block + SETTLED_NUMBERS],
                )


def begin_instant(t: Ints, s: Ints, m: Floats, component: int) -> None:
    end_runs(t, s, m, t[component + ALL_BASES], t[component + ALL_BASES_END])
    for x in range(t[component + GUARDED], t[component + GUARDED_END]):
        s[t[t[x] + PROGRESS] + KILLED] = 0
        for negation in range(t[t[x] + NEGATIONS], t[t[x] + NEGATIONS_END], NEGATION):
            s[t[negation]] = 0


def read_tied(t: Ints, s: Ints, m: Floats, values: Matrix, block: int, event: int, here: bool) -> None:
    """One event of an instant: what it adds, if a unit is touched, and the letters of negations that it has."""
    if here:
        do(t, s, m, values, event, t[block + TIED], t[block + TIED_END], t[block + TIED_NUMBERS])
    for x in range(t[block + KILLED_UNITS], t[block + KILLED_UNITS_END]):
        s[t[t[x] + PROGRESS] + KILLED] = 1
    for x in range(t[block + SEEN], t[block + SEEN_END], LETTERS):
        s[t[x]] |= t[x + BITS]


def end_instant(t: Ints, s: Ints, m: Floats, values: Matrix, component: int) -> None:
    """Moves and kills of units with negations, and then what the instant added to them."""
    second = len(m) // 3
    for x in range(t[component + GUARDED], t[component + GUARDED_END]):
        unit = t[x]
        if s[t[unit + PROGRESS] + KILLED] != 0:
            clear_unit(t, m, unit, 0)
        if s[t[unit + PROGRESS] + KILLED] != 0 or s[t[unit + PROGRESS] + TOUCHED] == 0:
            clear_unit(t, m, unit, second)
            continue
        for negation in range(t[unit + NEGATIONS], t[unit + NEGATIONS_END], NEGATION):
            if s[t[negation]] != 0:
                for new in range(2):
                    move_places(t, s, m, values, negation, new)
        do(t, s, m, values, 0, t[unit + MERGES], t[unit + MERGES_END], t[unit + MERGES_NUMBERS])


def move_places(t: Ints, s: Ints, m: Floats, values: Matrix, negation: int, new: int) -> None:
    """The moves of one negation, all at once: out of their places into a third memory, then into their targets."""
    seen = s[t[negation]]
    for move in range(t[negation + MOVES], t[negation + MOVES_END], MOVE):
        if t[move + NEW] == new and t[move + WHEN] == seen:
            carry_out_all(t, m, values, 0, t[move + TAKE], t[move + TAKE_END])
    for move in range(t[negation + MOVES], t[negation + MOVES_END], MOVE):
        if t[move + NEW] == new and t[move + WHEN] == seen:
            carry_out_all(t, m, values, 0, t[move + PUT], t[move + PUT_END])
