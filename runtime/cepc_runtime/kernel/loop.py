"""The kernel's loop: plain functions over the table, one pass over events. `machine_code.py` compiles them; uncompiled
they do the same.

`t` is the table, `s` the progress, `m` the memory. Nothing here allocates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from .basis import OWN
from .numbers import OPERATION, carry_out_all, carry_out_further, carry_out_together, copy
from .records import (
    AT_INSTANT,
    BASIS,
    BLOCK,
    COMPONENT,
    COUNTER,
    DIFFERENCE,
    GATE,
    INSIDE_RUN,
    KIND,
    LETTERS,
    MEANING,
    MOVE,
    NEGATION,
    NONE,
    OPERATIONS,
    OTHER,
    PROGRESS,
    REST,
    RUN,
    SECTION,
    UNIT,
)
from .together import join, keep_up, may_join
from .windows import advance, clear_unit, close_group, end_runs, next_change, touch

if TYPE_CHECKING:
    from ..numbers.columns import Floats, Ints, Matrix, Small
    from .windows import Buffer


INLINED: Final = frozenset(["come", "do", "is_full", "operate"])

ALL: Final = 1
FEW: Final = 2

FAR: Final = 64
"""Events that are looked at for what a run gains by going on."""


class Input(NamedTuple):
    """Events by group and instant: instant i is `instants[i]:instants[i + 1]`. `values` has a row for each value
    key.
    """

    ticks: Ints
    kinds: Small
    groups: Small
    instants: Ints
    values: Matrix


def run(t: Ints, s: Ints, m: Floats, events: Input, buffer: Buffer, instant: int, last: bool) -> int:
    """Process instants from `instant` on; the first one not processed. It stops early when the buffer is full.

    With `last`, the windows of the last group are closed when all is processed; the caller goes on until no unit is
    touched.
    """
    ticks, kinds, groups, instants, _ = events
    end = len(instants) - 1
    while instant < end and not is_full(s, buffer):
        event = instants[instant]
        if groups[event] != s[COUNTER.group]:
            close_group(t, s, m, buffer)
            s[COUNTER.group] = groups[event]
            continue  # there has to be room again
        instant += 1
        if instants[instant] - event > 1:
            several_events(t, s, m, events, buffer, event, instants[instant])
            continue
        kind = kinds[event] * len(KIND)
        section, sections = t[kind + KIND.sections], t[kind + len(KIND) + KIND.sections]
        while section < sections:
            if t[section + SECTION.band] != NONE:
                operate_together(t, s, m, events, buffer, section, event)
            else:
                block, blocks = t[section + SECTION.blocks], t[section + SECTION.blocks_end]
                while block < blocks:
                    here = come(t, s, m, buffer, block, ticks[event])
                    if here == ALL:
                        operate(t, s, m, events, block, event)
                    elif here == FEW:
                        operate_few(t, s, m, events.values, block, event)
                    block += len(BLOCK)
            section += len(SECTION)
    if last and instant == end and not is_full(s, buffer):
        close_group(t, s, m, buffer)
    return instant


def is_full(s: Ints, buffer: Buffer) -> bool:
    return bool(s[COUNTER.emitted] > buffer.most_rows or s[COUNTER.emitted_values] > buffer.most_values)


def operate_together(t: Ints, s: Ints, m: Floats, events: Input, buffer: Buffer, section: int, event: int) -> None:
    """What an event does to the units of a band: to all as one, or to each of those that are touched."""
    tick = events.ticks[event]
    if keep_up(t, s, m, buffer, section, tick):
        carry_out_together(t, m, events.values, event, t[section + SECTION.together], t[section + SECTION.together_end])
        s[COUNTER.done] += t[section + SECTION.operations]
        s[COUNTER.changed] += t[section + SECTION.numbers]
        s[COUNTER.events_joined] += 1
        return
    block, blocks = t[section + SECTION.blocks], t[section + SECTION.blocks_end]
    while block < blocks:
        if come(t, s, m, buffer, block, tick) == ALL:
            do(t, s, m, events.values, event, block + BLOCK.operations)
        block += len(BLOCK)
    if may_join(t, s, t[section + SECTION.band]):
        join(t, s, m, buffer, t[section + SECTION.band], tick)


def operate(t: Ints, s: Ints, m: Floats, events: Input, block: int, event: int) -> None:
    """What a block does, in place: an instant of which only this event concerns the component."""
    if t[block + BLOCK.gate] != NONE:  # else there are no runs
        go_on(t, s, m, events, block, event)
    do(t, s, m, events.values, event, block + BLOCK.operations)


def do(t: Ints, s: Ints, m: Floats, values: Matrix, event: int, at: int) -> None:
    """Carry out the operations that a record lists from field `at` on."""
    begin, end = t[at + OPERATIONS.begin], t[at + OPERATIONS.end]
    carry_out_all(t, m, values, event, begin, end)
    s[COUNTER.done] += (end - begin) // OPERATION
    s[COUNTER.changed] += t[at + OPERATIONS.numbers]


# ---- units -----------------------------------------------------------------------------------------------------------


def come(t: Ints, s: Ints, m: Floats, buffer: Buffer, block: int, tick: int) -> int:
    """Bring the units of a block to the time at hand. ALL are to be changed; or but a FEW, as most were not touched; or
    NONE, as none was touched and this kind of event cannot start a match.
    """
    gate = t[block + BLOCK.gate]
    if gate == NONE:
        unit, p = t[block + BLOCK.unit], t[block + BLOCK.progress]
        if s[p + PROGRESS.touched] == 0:
            if t[block + BLOCK.starts] == 0:
                return NONE
            touch(t, s, m, unit, p, tick)
        elif tick >= s[p + PROGRESS.change]:
            advance(t, s, m, buffer, unit, p, tick)
        return ALL
    if s[gate + GATE.group] == s[COUNTER.group] + 1 and tick < s[gate + GATE.until]:
        return ALL
    return come_together(t, s, m, buffer, block, tick)


def come_together(t: Ints, s: Ints, m: Floats, buffer: Buffer, block: int, tick: int) -> int:
    """Bring several units to the time at hand. If all are to be changed, that need not be done again until windows open
    or close for one of them: those that were not touched, and cannot be by this kind of event, have nothing that could
    be wrong.
    """
    rest = t[block + BLOCK.rest]
    first, end = t[rest + REST.others], t[rest + REST.others_end]
    touched, cost = False, 0
    for other in range(first, end, len(OTHER)):
        unit = t[other + OTHER.unit]
        p = t[unit + UNIT.progress]
        if s[p + PROGRESS.touched] == 0:
            if t[other + OTHER.starts] == 0:
                continue
            touch(t, s, m, unit, p, tick)
        elif tick >= s[p + PROGRESS.change]:
            advance(t, s, m, buffer, unit, p, tick)
        touched = True
        cost += t[other + OTHER.cost_alone]
    if not touched:
        return NONE
    if cost < t[rest + REST.cost_of_all]:
        return FEW
    until = np.iinfo(np.int64).max
    for other in range(first, end, len(OTHER)):
        unit = t[other + OTHER.unit]
        p = t[unit + UNIT.progress]
        until = min(until, next_change(t, unit, tick) if s[p + PROGRESS.touched] == 0 else s[p + PROGRESS.change])
    gate = t[block + BLOCK.gate]
    s[gate + GATE.group] = s[COUNTER.group] + 1
    s[gate + GATE.until] = until
    return ALL


def operate_few(t: Ints, s: Ints, m: Floats, values: Matrix, block: int, event: int) -> None:
    """What a block does to the units that are touched, each by itself."""
    rest = t[block + BLOCK.rest]
    for x in range(t[rest + REST.runs], t[rest + REST.runs_end], len(MEANING)):
        end_runs(t, s, m, x + MEANING.basis, x + MEANING.basis + 1)
    for other in range(t[rest + REST.others], t[rest + REST.others_end], len(OTHER)):
        if s[t[t[other + OTHER.unit] + UNIT.progress] + PROGRESS.touched] != 0:
            do(t, s, m, values, event, other + OTHER.alone)


# ---- runs on basis columns -------------------------------------------------------------------------------------------


def go_on(t: Ints, s: Ints, m: Floats, events: Input, block: int, event: int) -> None:
    """An event that ends runs, or goes on with some: on the basis columns if a run is shared, on the lanes if it is
    split.
    """
    rest = t[block + BLOCK.rest]
    for x in range(t[rest + REST.runs], t[rest + REST.runs_end], len(MEANING)):
        if t[x + MEANING.inside] == NONE or not goes_on(
            t, s, events, t[x + MEANING.basis], t[x + MEANING.inside], t[block + BLOCK.gate], event
        ):
            end_runs(t, s, m, x + MEANING.basis, x + MEANING.basis + 1)
    for x in range(t[rest + REST.runs], t[rest + REST.runs_end], len(MEANING)):
        i = t[x + MEANING.inside]
        if i == NONE:
            continue
        r = t[t[x + MEANING.basis] + BASIS.run]
        if s[r + RUN.going] == 0 and event >= s[r + RUN.direct_until]:
            begin_run(t, s, m, events, t[x + MEANING.basis], s[t[block + BLOCK.gate] + GATE.until], event)
        if s[r + RUN.going] != 0:
            gather(t, s, m, events.values, t[x + MEANING.basis], i, event)
            s[COUNTER.events_shared] += 1
        else:
            do(t, s, m, events.values, event, i + INSIDE_RUN.direct)
            s[COUNTER.events_split] += 1


def goes_on(t: Ints, s: Ints, events: Input, basis: int, inside: int, gate: int, event: int) -> bool:
    """Whether a run, if there is one, goes on at an event that is inside. If the event does something else in some
    lanes, there must be columns left for them, and the next events have to gain what these cost.
    """
    r = t[basis + BASIS.run]
    if t[inside + INSIDE_RUN.differing] == t[inside + INSIDE_RUN.differing_end] or s[r + RUN.going] == 0:
        return True
    needed = 0
    for x in range(t[inside + INSIDE_RUN.differing], t[inside + INSIDE_RUN.differing_end], len(DIFFERENCE)):
        if columns_of(s, r, t[x + DIFFERENCE.lane]) == NONE:
            needed += 1
    if needed == 0:
        return True
    if s[r + RUN.used] + needed > OWN:
        return False
    ticks, kinds, groups, _, _ = events
    ahead, gain, until = t[basis + BASIS.ahead], 0, s[gate + GATE.until]
    enough = min(t[basis + BASIS.cost], 0)
    for i in range(event, min(event + FAR, len(kinds))):
        if groups[i] != groups[event] or ticks[i] >= until or t[ahead + kinds[i]] == NONE:
            return False
        if t[ahead + kinds[i]] != 0:
            gain += t[t[ahead + kinds[i]] + INSIDE_RUN.gain]
            if gain > enough:
                return True
    return False


def columns_of(s: Ints, run: int, lane: int) -> int:
    """Which of the columns that lanes have of their own are this lane's; NONE without."""
    for own in range(s[run + RUN.used]):
        if s[run + RUN.lanes_used + own] == lane:
            return own
    return NONE


def gather(t: Ints, s: Ints, m: Floats, values: Matrix, basis: int, inside: int, event: int) -> None:
    """An event of a shared run, on the common columns and on those that lanes have of their own."""
    r = t[basis + BASIS.run]
    if t[inside + INSIDE_RUN.differing] == t[inside + INSIDE_RUN.differing_end]:
        if s[r + RUN.used] == 0:
            do(t, s, m, values, event, inside + INSIDE_RUN.shared)
        else:
            do(t, s, m, values, event, inside + INSIDE_RUN.wide)
        return
    shift = t[basis + BASIS.shift]
    for x in range(t[inside + INSIDE_RUN.differing], t[inside + INSIDE_RUN.differing_end], len(DIFFERENCE)):
        if columns_of(s, r, t[x + DIFFERENCE.lane]) == NONE:
            s[r + RUN.lanes_used + s[r + RUN.used]] = t[x + DIFFERENCE.lane]
            s[r + RUN.used] += 1
            s[COUNTER.own_columns] += 1
            for section in range(t[basis + BASIS.sections], t[basis + BASIS.sections_end]):
                copy(m, t[section] + s[r + RUN.used] * shift, t[section], shift)
            s[COUNTER.done] += t[basis + BASIS.sections_end] - t[basis + BASIS.sections]
            s[COUNTER.changed] += (t[basis + BASIS.sections_end] - t[basis + BASIS.sections]) * shift
    do(t, s, m, values, event, inside + INSIDE_RUN.shared)
    for own in range(s[r + RUN.used]):
        begin, end, numbers = (
            t[inside + INSIDE_RUN.shared],
            t[inside + INSIDE_RUN.shared_end],
            t[inside + INSIDE_RUN.shared_numbers],
        )
        for x in range(t[inside + INSIDE_RUN.differing], t[inside + INSIDE_RUN.differing_end], len(DIFFERENCE)):
            if t[x + DIFFERENCE.lane] == s[r + RUN.lanes_used + own]:
                begin, end, numbers = (
                    t[x + DIFFERENCE.own_shared],
                    t[x + DIFFERENCE.own_shared_end],
                    t[x + DIFFERENCE.own_shared_numbers],
                )
        carry_out_further(t, m, values, event, begin, end, (own + 1) * shift)
        s[COUNTER.done] += (end - begin) // OPERATION
        s[COUNTER.changed] += numbers


def begin_run(t: Ints, s: Ints, m: Floats, events: Input, basis: int, until: int, event: int) -> None:
    """Decide, for the run that begins: sharing pays if its events gain more than the application of the basis costs.

    Looking ahead stops as soon as that is sure, or at what ends the run, so that each event is looked at once.
    """
    ticks, kinds, groups, _, values = events
    ahead, cost, gain, i = t[basis + BASIS.ahead], t[basis + BASIS.cost], 0, event
    while i < len(kinds) and groups[i] == groups[event] and ticks[i] < until:
        if i > event and i + 1 < len(kinds) and ticks[i] == ticks[i + 1] and groups[i + 1] == groups[event]:
            break  # perhaps an instant of several events
        inside = t[ahead + kinds[i]]
        if inside == NONE:
            break
        i += 1
        if inside != 0:
            gain += t[inside + INSIDE_RUN.gain]
            if gain > cost or gain < 0:
                break
    r = t[basis + BASIS.run]
    if gain <= cost:
        s[r + RUN.direct_until] = i
        s[COUNTER.runs_split] += 1
        return
    s[r + RUN.going] = 1
    s[r + RUN.used] = 0
    s[COUNTER.runs_shared] += 1
    do(t, s, m, values, event, basis + BASIS.reset)
    for x in range(t[basis + BASIS.ones], t[basis + BASIS.ones_end]):
        m[t[x]] = 1.0


# ---- instants of several events --------------------------------------------------------------------------------------


def several_events(t: Ints, s: Ints, m: Floats, events: Input, buffer: Buffer, begin: int, end: int) -> None:
    """An instant of several events. What it adds to a component gathers in a second memory and is merged when all are
    read.
    """
    ticks, kinds = events.ticks, events.kinds
    for event in range(begin, end):
        kind = kinds[event] * len(KIND)
        for section in range(t[kind + KIND.sections], t[kind + len(KIND) + KIND.sections], len(SECTION)):
            if t[section + SECTION.band] != NONE:
                keep_up(t, s, m, buffer, section, ticks[begin])
    for event in range(begin, end):
        kind = kinds[event] * len(KIND)
        for block in range(t[kind + KIND.blocks], t[kind + len(KIND) + KIND.blocks], len(BLOCK)):
            w = t[t[t[block + BLOCK.rest] + REST.component] + COMPONENT.waiting]
            s[w] += 1
            s[w + AT_INSTANT.settling] = 0
            come(t, s, m, buffer, block, ticks[begin])
    for event in range(begin, end):
        kind = kinds[event] * len(KIND)
        for block in range(t[kind + KIND.blocks], t[kind + len(KIND) + KIND.blocks], len(BLOCK)):
            component = t[t[block + BLOCK.rest] + REST.component]
            w = t[component + COMPONENT.waiting]
            here = come(t, s, m, buffer, block, ticks[begin])
            if s[w] == 1:  # no other event of the instant concerns it
                s[w] = 0
                if here == ALL:
                    operate(t, s, m, events, block, event)
                elif here == FEW:
                    operate_few(t, s, m, events.values, block, event)
                continue
            if s[w] > 0:
                begin_instant(t, s, m, component)
                s[w + AT_INSTANT.settling] = s[w]
                s[w] = -s[w]
            read_tied(t, s, m, events.values, block, event, here != NONE)
            s[w] += 1
            if s[w] == 0:
                end_instant(t, s, m, events.values, component)
    for event in range(begin, end):
        kind = kinds[event] * len(KIND)
        for block in range(t[kind + KIND.blocks], t[kind + len(KIND) + KIND.blocks], len(BLOCK)):
            rest = t[block + BLOCK.rest]
            if s[t[t[rest + REST.component] + COMPONENT.waiting] + AT_INSTANT.settling] != 0:
                do(t, s, m, events.values, event, rest + REST.settled)


def begin_instant(t: Ints, s: Ints, m: Floats, component: int) -> None:
    end_runs(t, s, m, t[component + COMPONENT.all_bases], t[component + COMPONENT.all_bases_end])
    for x in range(t[component + COMPONENT.guarded], t[component + COMPONENT.guarded_end]):
        s[t[t[x] + UNIT.progress] + PROGRESS.killed] = 0
        for negation in range(t[t[x] + UNIT.negations], t[t[x] + UNIT.negations_end], len(NEGATION)):
            s[t[negation + NEGATION.letters]] = 0


def read_tied(t: Ints, s: Ints, m: Floats, values: Matrix, block: int, event: int, here: bool) -> None:
    """One event of an instant: what it adds, if a unit is touched, and the letters of negations that it has."""
    rest = t[block + BLOCK.rest]
    if here:
        do(t, s, m, values, event, rest + REST.tied)
    for x in range(t[rest + REST.killed_units], t[rest + REST.killed_units_end]):
        s[t[t[x] + UNIT.progress] + PROGRESS.killed] = 1
    for x in range(t[rest + REST.seen], t[rest + REST.seen_end], len(LETTERS)):
        s[t[x]] |= t[x + LETTERS.bits]


def end_instant(t: Ints, s: Ints, m: Floats, values: Matrix, component: int) -> None:
    """Moves and kills of units with negations, and then what the instant added to them."""
    second = len(m) // 3
    for x in range(t[component + COMPONENT.guarded], t[component + COMPONENT.guarded_end]):
        unit = t[x]
        if s[t[unit + UNIT.progress] + PROGRESS.killed] != 0:
            clear_unit(t, m, unit, 0)
        if s[t[unit + UNIT.progress] + PROGRESS.killed] != 0 or s[t[unit + UNIT.progress] + PROGRESS.touched] == 0:
            clear_unit(t, m, unit, second)
            continue
        for negation in range(t[unit + UNIT.negations], t[unit + UNIT.negations_end], len(NEGATION)):
            if s[t[negation + NEGATION.letters]] != 0:
                for new in range(2):
                    move_places(t, s, m, values, negation, new)
        do(t, s, m, values, 0, unit + UNIT.merges)


def move_places(t: Ints, s: Ints, m: Floats, values: Matrix, negation: int, new: int) -> None:
    """The moves of one negation, all at once: out of their places into a third memory, then into their targets."""
    seen = s[t[negation + NEGATION.letters]]
    for move in range(t[negation + NEGATION.moves], t[negation + NEGATION.moves_end], len(MOVE)):
        if t[move + MOVE.new] == new and t[move + MOVE.when] == seen:
            carry_out_all(t, m, values, 0, t[move + MOVE.take], t[move + MOVE.take_end])
    for move in range(t[negation + NEGATION.moves], t[negation + NEGATION.moves_end], len(MOVE)):
        if t[move + MOVE.new] == new and t[move + MOVE.when] == seen:
            carry_out_all(t, m, values, 0, t[move + MOVE.put], t[move + MOVE.put_end])
