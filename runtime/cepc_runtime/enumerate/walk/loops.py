"""A state that leads to itself, under CONTIGUOUS: plain functions, compiled like kernel/loop.py.

Where such a loop ends, and where the match leaves it, may depend on the first event. Neither is found event by event,
since many first events may go round the same loop: by `runs` it is known how far a first event that passes every test
would get, and blocks of events that all pass the tests of the first, or that none of the ways out may read, are passed
over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from .progress import COUNTERS, DEAD, DEAD_FROM, DEAD_TO, HIGH, LOW, MEMORY, REACH, WORK
from .reading import NULL, WIDTH, fits, passes, some_may_fail, some_may_fit, wider
from .records import (
    BEFORE,
    LATER,
    LOOP,
    NONE,
    OF,
    OPTION,
    OPTIONS,
    OPTIONS_END,
    RECORDS,
    STATE,
    TARGET,
    TEST,
    TESTS,
    TESTS_END,
)

if TYPE_CHECKING:
    from ...numbers.columns import Ints, Small
    from .reading import WalkEvents

INLINED: Final = frozenset(["goes_on", "leads", "loop_end", "next_way_out", "run_of"])
"""What would be called for each event; `way_out` is called once for a loop."""


class KnownOfPiece(NamedTuple):
    """Of a piece, by state and event: `ends`, `nexts`, and `runs`, the last event of the state's loop, if all tests of
    the first event are passed (empty where no state has a loop with such tests). `failed`: the last first event from
    which no match goes on there (empty where nothing asks). Where a match keeps anything, that is of as many states and
    events as there is room for, which are in `places`, with what was `kept` then, a row for each slot.
    """

    ends: Small
    nexts: Small
    runs: Small
    failed: Small
    places: Ints
    kept: Ints


def run_of(t: Ints, s: Ints, events: WalkEvents, runs: Small, state: int, p: int, x: int) -> int:
    """The last event of the loop after event `p`, from `LOW`, where the next instant begins with event `x`: `p` itself
    if no other is. The events of a loop are one after the other, each alone in its instant.
    """
    low, loop = s[LOW], t[RECORDS + state * STATE + LOOP]
    if x >= s[HIGH] or events.instant_end[x] != x + 1 or not fits(t, events, loop, p, x, NONE):
        return int(p - low)
    for test in range(t[loop + TESTS], t[loop + TESTS_END], TEST):
        if t[test + OF] != BEFORE and events.numbers[t[test + LATER], x] == NULL:
            return int(p - low)
    return int(runs[state * (s[HIGH] - low) + x - low])


def way_out(
    t: Ints, s: Ints, events: WalkEvents, known: KnownOfPiece, state: int, p: int, first: int
) -> tuple[int, int]:
    """Of a state with a loop, in which event `p` was read: the event of the loop, or `p`, from which the preferred
    match with the first event goes on in another way, and the option from which on ways are to be tried there; NONE if
    there is no such match.
    """
    record, memory = RECORDS + state * STATE, COUNTERS + state * MEMORY
    loop, begin = t[record + LOOP], events.instant_end[p]
    dead = s[memory + DEAD] == first
    if dead and s[memory + DEAD_FROM] <= p <= s[memory + DEAD_TO]:
        return NONE, NONE
    last = min(known.runs[state * (s[HIGH] - s[LOW]) + p - s[LOW]] + s[LOW], s[REACH] - 1)
    if last > p:
        last = loop_end(t, s, events, loop, begin, last, first)
    if last < begin:
        return p, t[record + OPTIONS]
    stop = last + 1
    if dead and s[memory + DEAD_TO] == last:
        stop = s[memory + DEAD_FROM] + 1
    place = next_way_out(t, s, events, known, t[record + OPTIONS], loop, p, begin, stop, 1, first)
    if place != NONE:
        return place, t[record + OPTIONS]
    if stop > last and goes_on(t, s, events, known, t[record + OPTIONS], t[record + OPTIONS_END], last, first):
        return last, t[record + OPTIONS]
    place = next_way_out(t, s, events, known, loop + OPTION, t[record + OPTIONS_END], p, begin, stop, -1, first)
    if place != NONE:
        return place, loop + OPTION
    s[memory + DEAD], s[memory + DEAD_FROM], s[memory + DEAD_TO] = first, begin, last
    return NONE, NONE


def loop_end(t: Ints, s: Ints, events: WalkEvents, loop: int, begin: int, last: int, first: int) -> int:
    """How far the first event gets in a loop that goes from `begin` to `last` if all tests of it are passed."""
    tests, end = t[loop + TESTS], t[loop + TESTS_END]
    x = begin
    while x <= last:
        s[WORK] += 1
        width = 0
        block = wider(events, x, x, width)
        while block != NONE and not some_may_fail(t, events, block, tests, end, first):
            width += WIDTH
            block = wider(events, x, x, width)
        if width == 0 and not passes(t, events, tests, end, NONE, x, first):
            return x - 1
        x += 1 << width
    return last


def next_way_out(
    t: Ints,
    s: Ints,
    events: WalkEvents,
    known: KnownOfPiece,
    options: int,
    end: int,
    p: int,
    begin: int,
    stop: int,
    step: int,
    first: int,
) -> int:
    """Of a loop that comes from event `p` and goes from `begin` on, the first event of it, or `p`, after which one of
    the options may read the next one, which lies before `stop`; the last where `step` is -1; NONE if there is none.
    """
    if options == end:
        return NONE
    x = begin if step > 0 else stop - 1
    while begin <= x < stop:
        s[WORK] += 1
        width = 0
        edge = x if step > 0 else x + 1
        block = wider(events, x, edge, width)
        while block != NONE and not some_may_fit(t, events, block, options, end, first):
            width += WIDTH
            block = wider(events, x, edge, width)
        if width == 0:
            before = p if x == begin else x - 1
            if leads(t, s, events, known, options, end, before, x, first):
                return before
        x += step << width
    return NONE


def goes_on(
    t: Ints, s: Ints, events: WalkEvents, known: KnownOfPiece, options: int, end: int, p: int, first: int
) -> bool:
    """Whether after event `p` one of the options may read an event of the next instant, or ends the match."""
    for option in range(options, end, OPTION):
        if t[option + TARGET] == NONE:
            return True
    x = events.instant_end[p]
    if x < s[REACH]:
        for y in range(x, events.instant_end[x]):
            if leads(t, s, events, known, options, end, p, y, first):
                return True
    return False


def leads(
    t: Ints, s: Ints, events: WalkEvents, known: KnownOfPiece, options: int, end: int, p: int, x: int, first: int
) -> bool:
    """Whether one of the options may read event `x` after event `p`, and a match of the first event may go on there."""
    low, size = s[LOW], s[HIGH] - s[LOW]
    for option in range(options, end, OPTION):
        if t[option + TARGET] != NONE and fits(t, events, option, p, x, first):
            place = t[option + TARGET] * size + x - low
            if known.ends[place] < s[REACH] - low and known.failed[place] != first:
                return True
    return False
