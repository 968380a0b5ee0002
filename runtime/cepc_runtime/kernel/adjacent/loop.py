"""The pass over slices: plain functions, compiled like kernel/loop.py.

`t` is the table, `s` the progress, `m` the memory: three rows for each state (what stands; what the instant at hand
adds; what one of its events adds), a row for what a step finds, and rows by event and by place. A tree is a Fenwick
tree over places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from .rows import CODE, SOURCE, TARGET, add_row, clear_row, merge_row
from .tables import (
    ACCEPTING,
    ACCEPTING_END,
    ADDED,
    ADDITIVE,
    ALL,
    BEGIN,
    BY_POINT,
    EVENTS,
    HOW,
    INDEX,
    INDEX_RECORD,
    INDEXES,
    INDEXES_END,
    KEPT,
    KEPT_END,
    KEPT_OF,
    KEPT_RECORD,
    KEPT_SOURCE,
    KEPT_TARGET,
    KINDS,
    LISTED,
    MASKS,
    MOVE_KNOWN,
    MOVE_NEGATION,
    MOVE_NEW,
    MOVE_RECORD,
    MOVE_SEEN,
    MOVE_SOURCE,
    MOVE_TARGET,
    MOVERS,
    MOVERS_END,
    MOVES,
    MOVES_END,
    NONE,
    NUMBER,
    OPERATOR,
    PLANES,
    POINT,
    PREFIX,
    ROWS,
    SLICE,
    STANDING,
    STATES,
    STEP,
    TEST,
    TEST_RECORD,
    TESTS,
    TESTS_END,
    TREE,
)  # fmt: skip
from .tests import DIFFERENT, EQUAL, GREATER, GREATER_EQUAL, LESS, PAIRS

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ...numbers.columns import Floats, Ints, Matrix

INLINED: Final = frozenset(["read"])


class EventRanks(NamedTuple):
    """What comparisons compare. `left` and `right`: ranks by comparison and event, -1 for null. `places` and `ends`: by
    index and place in the batch, where in a tree an event's row belongs (from 1), and up to where (or in which cell) it
    looks; 0 is nowhere.
    """

    left: Ints
    right: Ints
    places: Ints
    ends: Ints


class SliceBatch(NamedTuple):
    """Slices: the events of slice i are `own[bounds[i]:bounds[i + 1]]`. Of all events: their kinds and instants, and
    what is added up of them, by row.
    """

    own: Ints
    bounds: Ints
    kinds: npt.NDArray[np.int32]
    instants: Ints
    values: Matrix
    ranks: EventRanks


class PairBlock(NamedTuple):
    """Places of a batch, from `begin` to before `end`, both between instants, and which pairs of their events pass
    other tests: `truths`, those of one later event from `base` on, in the order of the earlier ones' `ordinal`.
    """

    begin: int
    end: int
    base: Ints
    ordinal: Ints
    truths: npt.NDArray[np.bool_]


def run(t: Ints, s: Ints, m: Floats, batch: SliceBatch, block: PairBlock, emitted: Matrix) -> None:
    """Read the events of a block."""
    own, bounds, kinds, instants, _, ranks = batch
    x = block.begin
    while x < block.end:
        end = bounds[s[SLICE] + 1]
        if x == bounds[s[SLICE]]:
            begin_slice(t, s, m, end - x)
            s[BEGIN] = x
        instant = instants[own[x]]
        present = 0
        while x < end and instants[own[x]] == instant:
            read(t, s, m, batch, block, x)
            present |= t[t[MASKS] + kinds[own[x]]]
            x += 1
        if present != 0:
            move(t, s, m, ranks.places, end - s[BEGIN], present)
        end_instant(t, s, m, ranks.places, end - s[BEGIN])
        if x == end:
            emit(t, m, emitted, s[SLICE])
            s[SLICE] += 1


def begin_slice(t: Ints, s: Ints, m: Floats, length: int) -> None:
    """Everything empty but the start state."""
    additive, planes = t[ADDITIVE], t[PLANES]
    for state in range(3 * t[STATES]):
        clear_row(m, state * planes, additive, planes)
    m[0] = 1
    for kept in range(t[KEPT], t[KEPT_END], KEPT_RECORD):
        s[t[kept + ADDED]] = 0
        s[t[kept + STANDING]] = 0
        for index in range(t[kept + INDEXES], t[kept + INDEXES_END], INDEX_RECORD):
            for place in range(length):
                clear_row(m, t[index + TREE] + place * planes, additive, planes)


def read(t: Ints, s: Ints, m: Floats, batch: SliceBatch, block: PairBlock, x: int) -> None:
    """One event of an instant. It reads what stood before it, so what it adds is kept apart until it is done."""
    additive, planes = t[ADDITIVE], t[PLANES]
    second = t[STATES] * planes
    third = 2 * second
    event, ends = batch.own[x], batch.ranks.ends
    kind = batch.kinds[event]
    first, end = t[KINDS + kind], t[KINDS + kind + 1]
    for step in range(first, end, STEP):
        source = t[step + SOURCE] + second * t[step + CODE]
        if t[step + HOW] != ALL:
            source = third + second
            clear_row(m, source, additive, planes)
            if t[step + HOW] == PREFIX:
                find_prefix(
                    m, t[t[step + INDEX] + TREE], ends[t[t[step + INDEX] + NUMBER], x], source, additive, planes
                )
            elif t[step + HOW] == POINT:
                place = ends[t[t[step + INDEX] + NUMBER], x]
                if place > 0:
                    merge_row(m, source, t[t[step + INDEX] + TREE] + (place - 1) * planes, additive, planes)
            else:
                scan(t, s, m, batch, block, step, x)
        add_row(t, m, third + t[step + TARGET], source, batch.values, event, step)
    for step in range(first, end, STEP):
        added = third + t[step + TARGET]
        if m[added] > 0:  # not yet by another step with the same target
            merge_row(m, second + t[step + TARGET], added, additive, planes)
            if t[step + KEPT_TARGET] != NONE:
                keep(t, s, m, t[step + KEPT_TARGET], x, added)
            clear_row(m, added, additive, planes)


def keep(t: Ints, s: Ints, m: Floats, kept: int, x: int, row: int) -> None:
    """Keep the row that the event at place x adds to a state."""
    number = s[t[kept + ADDED]]
    into = t[kept + ROWS] + number * t[PLANES]
    for i in range(t[PLANES]):
        m[into + i] = m[row + i]
    s[t[kept + EVENTS] + number] = x
    s[t[kept + ADDED]] = number + 1


def find_prefix(m: Floats, tree: int, place: int, into: int, additive: int, planes: int) -> None:
    """Add up the rows at the places from 1 to `place`."""
    while place > 0:
        merge_row(m, into, tree + (place - 1) * planes, additive, planes)
        place -= place & -place


def scan(t: Ints, s: Ints, m: Floats, batch: SliceBatch, block: PairBlock, step: int, x: int) -> None:
    """Add up the rows of the events that pass all tests."""
    kept = t[step + KEPT_SOURCE]
    own, planes = batch.own, t[PLANES]
    into = 3 * t[STATES] * planes
    for number in range(s[t[kept + STANDING]]):
        earlier = own[s[t[kept + EVENTS] + number]]
        passes = True
        for test in range(t[step + TESTS], t[step + TESTS_END], TEST_RECORD):
            row = t[test + TEST]
            if t[test + OPERATOR] == PAIRS:
                first = block.ordinal[row, own[s[BEGIN]]]
                passes = block.truths[block.base[row, x - block.begin] + block.ordinal[row, earlier] - first]
            else:
                passes = compare(t[test + OPERATOR], batch.ranks.left[row, own[x]], batch.ranks.right[row, earlier])
            if not passes:
                break
        if passes:
            merge_row(m, into, t[kept + ROWS] + number * planes, t[ADDITIVE], planes)


def compare(operator: int, later: int, earlier: int) -> bool:
    """Whether the ranks compare so; -1 is null."""
    if later < 0 or earlier < 0:
        return False
    if operator == EQUAL:
        return later == earlier
    if operator == DIFFERENT:
        return later != earlier
    if operator == LESS:
        return later < earlier
    if operator == GREATER:
        return later > earlier
    if operator == GREATER_EQUAL:
        return later >= earlier
    return later <= earlier


def move(t: Ints, s: Ints, m: Floats, places: Ints, length: int, present: int) -> None:
    """Move what stood before the instant, and what it added, as an instant with these letters does.

    States come behind those that their values can come to, so that nothing is moved twice.
    """
    additive, planes = t[ADDITIVE], t[PLANES]
    second = t[STATES] * planes
    for mover in range(t[MOVERS], t[MOVERS_END]):
        state = t[mover]
        standing, added = moved(t, present, 0, state), moved(t, present, 1, state)
        if standing != state:
            move_row(m, state * planes, standing * planes, standing, additive, planes)
        if added != state:
            move_row(m, second + state * planes, second + added * planes, added, additive, planes)
        kept = t[t[KEPT_OF] + state]
        if kept == NONE:
            continue
        if added != state:
            move_kept(t, s, m, kept, added, s[t[kept + STANDING]], s[t[kept + ADDED]])
            s[t[kept + ADDED]] = s[t[kept + STANDING]]
        if standing != state:
            stood = s[t[kept + STANDING]]
            move_kept(t, s, m, kept, standing, 0, stood)
            for index in range(t[kept + INDEXES], t[kept + INDEXES_END], INDEX_RECORD):
                for number in range(stood):
                    empty_places(t, m, index, places[t[index + NUMBER], s[t[kept + EVENTS] + number]], length)
            left = s[t[kept + ADDED]] - stood
            for number in range(left):
                copy_kept(t, s, m, kept, number, kept, stood + number)
            s[t[kept + STANDING]] = 0
            s[t[kept + ADDED]] = left


def moved(t: Ints, present: int, new: int, state: int) -> int:
    """Where the values of a state go, NONE if nowhere: one negation after the other, each moves them once."""
    place = state
    negation = NONE
    for record in range(t[MOVES], t[MOVES_END], MOVE_RECORD):
        if (
            t[record + MOVE_NEW] == new
            and t[record + MOVE_SOURCE] == place
            and t[record + MOVE_NEGATION] != negation
            and present & t[record + MOVE_KNOWN] == t[record + MOVE_SEEN]
        ):
            place = t[record + MOVE_TARGET]
            negation = t[record + MOVE_NEGATION]
            if place == NONE:
                return NONE
    return place


def move_row(m: Floats, row: int, into: int, target: int, additive: int, planes: int) -> None:
    """Into the row of the target, if there is one."""
    if target != NONE:
        merge_row(m, into, row, additive, planes)
    clear_row(m, row, additive, planes)


def move_kept(t: Ints, s: Ints, m: Floats, kept: int, target: int, first: int, end: int) -> None:
    """Add rows kept of a state to those of the target, if any are kept of it; they come into its indexes with what is
    new.
    """
    if target == NONE or t[t[KEPT_OF] + target] == NONE:
        return
    into = t[t[KEPT_OF] + target]
    for number in range(first, end):
        copy_kept(t, s, m, into, s[t[into + ADDED]], kept, number)
        s[t[into + ADDED]] += 1


def copy_kept(t: Ints, s: Ints, m: Floats, into: int, place: int, kept: int, number: int) -> None:
    for i in range(t[PLANES]):
        m[t[into + ROWS] + place * t[PLANES] + i] = m[t[kept + ROWS] + number * t[PLANES] + i]
    s[t[into + EVENTS] + place] = s[t[kept + EVENTS] + number]


def empty_places(t: Ints, m: Floats, index: int, place: int, length: int) -> None:
    """Empty all that a row at the place has been added to: every row of the index goes."""
    while 0 < place <= length:
        clear_row(m, t[index + TREE] + (place - 1) * t[PLANES], t[ADDITIVE], t[PLANES])
        place = place + (place & -place) if t[index + BY_POINT] == 0 else 0


def end_instant(t: Ints, s: Ints, m: Floats, places: Ints, length: int) -> None:
    """What the instant added now stands."""
    additive, planes = t[ADDITIVE], t[PLANES]
    second = t[STATES] * planes
    for state in range(t[STATES]):
        if m[second + state * planes] > 0:
            merge_row(m, state * planes, second + state * planes, additive, planes)
            clear_row(m, second + state * planes, additive, planes)
    for kept in range(t[KEPT], t[KEPT_END], KEPT_RECORD):
        for number in range(s[t[kept + STANDING]], s[t[kept + ADDED]]):
            row = t[kept + ROWS] + number * planes
            for index in range(t[kept + INDEXES], t[kept + INDEXES_END], INDEX_RECORD):
                place = places[t[index + NUMBER], s[t[kept + EVENTS] + number]]
                while 0 < place <= length:
                    merge_row(m, t[index + TREE] + (place - 1) * planes, row, additive, planes)
                    place = place + (place & -place) if t[index + BY_POINT] == 0 else 0
        if t[kept + LISTED] == 0:
            s[t[kept + ADDED]] = 0
        s[t[kept + STANDING]] = s[t[kept + ADDED]]


def emit(t: Ints, m: Floats, emitted: Matrix, slice_: int) -> None:
    """The planes summed over accepting states."""
    for plane in range(t[PLANES]):
        value = m[t[t[ACCEPTING]] + plane]
        for a in range(t[ACCEPTING] + 1, t[ACCEPTING_END]):
            number = m[t[a] + plane]
            if plane < t[ADDITIVE]:
                value += number
            elif number < value:
                value = number
        emitted[slice_, plane] = value
