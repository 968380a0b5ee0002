"""The walk: plain functions, compiled like kernel/loop.py.

`t` is the table, `s` the progress. Events are seen to piece by piece: from `LOW` to before `HIGH`, of which those
before `STOP` may begin matches. For each state and event of the piece that may lead there, `ends` is where the earliest
match that goes on from there ends, and `nexts` where its next event lies: the beginning of an instant (both from `LOW`,
and `NOWHERE`). What tests of the first event and of those that are held say is left out there, since these are not
known yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from .computing import all_true, keep
from .loops import KnownOfPiece, run_of, way_out
from .progress import (
    AT,
    COUNTERS,
    DEAD,
    FOUND,
    GROUP,
    GROUP_END,
    HIGH,
    KNOWN,
    LOW,
    MATCHES,
    MEMORY,
    MOST,
    NEXT,
    PATIENCE,
    REACH,
    SEEN,
    STOP,
    WORK,
    WRITTEN,
)
from .reading import WalkEvents, fits
from .records import (
    ACCEPTING,
    BOUND,
    CONTIGUOUS,
    ENTERING,
    FOR,
    FORMULAS,
    FORMULAS_END,
    INITIAL,
    KEEPS,
    KEEPS_END,
    LINKED,
    LOOKED,
    LOOP,
    LOOSE,
    NAMED,
    NAMED_END,
    NONE,
    OPTION,
    OPTIONS,
    OPTIONS_END,
    PAST_LAST,
    PLAIN,
    RECORDS,
    SKIP,
    SPAN,
    STATE,
    STATES,
    TARGET,
    TICKS,
    TO_FIRST,
    TO_LAST,
)
from .skipping import seek

if TYPE_CHECKING:
    from ...numbers.columns import Ints, Small

INLINED: Final = frozenset(["after", "common", "earliest", "find", "leads_nowhere", "look_back"])
"""Called for each event: a call copies what describes each array, over a hundred words, and took most of the time."""

# what a run ends with
FINISHED: Final = 0
FULL: Final = 1  # no room for the next match
SHORT: Final = 2  # no room for the next piece
TIRED: Final = 3  # enough was done to be told of

NOWHERE: Final = (1 << 31) - 1
LAST_TICK: Final = (1 << 63) - 1
LOW_BITS: Final = (1 << 31) - 1


class Walked(NamedTuple):
    """Matches: events and variables one after the other, and where each ends. Where tests are not of the event before
    alone, also how each event was come by: the option, the instant in which the search for it began, and of the match
    that is being looked for what it kept before each event, a row for each slot.
    """

    positions: Ints
    variables: Small
    stops: Ints
    options: Ints
    instants: Ints
    kept: Ints


def run(t: Ints, s: Ints, events: WalkEvents, known: KnownOfPiece, found: Walked, least: int) -> int:
    """Go on until matches, or the room for a piece, have no more room. A piece has at least so many first events."""
    while True:
        if (s[HIGH] - s[LOW]) * t[STATES] > len(known.ends):
            return SHORT
        events.kept[:] = NONE
        while s[KNOWN] > s[LOW]:
            look_back(t, s, events, known)
            if s[WORK] > s[PATIENCE]:
                return TIRED
        end = walk(t, s, events, known, found)
        if end != FINISHED or not next_piece(t, s, events, least):
            return end


# ---- pieces ----------------------------------------------------------------------------------------------------------


def next_piece(t: Ints, s: Ints, events: WalkEvents, least: int) -> bool:
    """From the next event on that may begin a match, of this group or a later one; false if there is none."""
    at, end = s[AT], s[GROUP_END]
    while True:
        while at < end and events.letters[at] & t[INITIAL] == 0:
            at += 1
        if at < end:
            break
        s[GROUP] += 1
        if s[GROUP] >= len(events.group_starts) - 1:
            return False
        at, end = events.group_starts[s[GROUP]], events.group_starts[s[GROUP] + 1]
    stop = min(end, at + least)
    high = reach(t, events, stop - 1, end)
    if high - stop > least:  # what lies beyond is looked at again: seldom enough
        stop = min(end, at + (high - stop))
        high = reach(t, events, stop - 1, end)
    s[AT], s[GROUP_END] = at, end
    s[LOW], s[STOP], s[HIGH], s[KNOWN], s[REACH] = events.instant_start[at], stop, high, high, at
    for state in range(t[STATES]):
        memory = COUNTERS + state * MEMORY
        s[memory + NEXT] = NONE
        s[memory + SEEN] = NONE
        s[memory + DEAD] = NONE
    return True


def reach(t: Ints, events: WalkEvents, first: int, end: int) -> int:
    """Where a match that begins with the event must end before."""
    tick = events.ticks[first]
    if t[SPAN] == NONE or tick > LAST_TICK - t[SPAN]:
        return end
    low, high = first, end
    while low < high:
        middle = (low + high) >> 1
        if events.ticks[middle] < tick + t[SPAN]:
            low = middle + 1
        else:
            high = middle
    return low


# ---- from the last event back ----------------------------------------------------------------------------------------


def look_back(t: Ints, s: Ints, events: WalkEvents, known: KnownOfPiece) -> None:
    """One instant more."""
    ends, nexts = known.ends, known.nexts
    low, stop = s[LOW], s[KNOWN]
    size = s[HIGH] - low
    begin = events.instant_start[stop - 1]
    present = 0
    for p in range(begin, stop):
        present |= events.letters[p]
    s[WORK] += stop - begin
    for state in range(1, t[STATES]):
        record = RECORDS + state * STATE
        if present & t[record + ENTERING] == 0:
            continue
        plain = t[record + PLAIN] != 0
        instant, least = NONE, NOWHERE
        if plain:
            instant, least = common(t, s, events, ends, state, stop)
        for p in range(begin, stop):
            if events.letters[p] & t[record + ENTERING] == 0:
                continue
            if t[record + LOOSE] != 0:
                least = p - low
            elif not plain:
                instant = following(t, s, state, stop)
                if instant != NONE and t[CONTIGUOUS] == 0:
                    instant = seek(t, s, events, record, p, instant, NONE)
                least = NOWHERE if instant == NONE else earliest(t, s, events, ends, record, p, instant)
            if t[record + LOOP] != NONE:
                known.runs[state * size + p - low] = run_of(t, s, events, known.runs, state, p, stop)
            ends[state * size + p - low] = p - low if t[record + ACCEPTING] != 0 else least
            nexts[state * size + p - low] = NOWHERE if instant == NONE else instant - low
    for state in range(1, t[STATES]):
        if present & t[RECORDS + state * STATE + LOOKED] != 0:
            s[COUNTERS + state * MEMORY + NEXT] = begin
    s[KNOWN] = begin


def following(t: Ints, s: Ints, state: int, stop: int) -> int:
    """Before which instant nothing can be next in the state, of events of the instant that ends at `stop`."""
    if t[CONTIGUOUS] != 0:
        return stop if stop < s[HIGH] else NONE
    return int(s[COUNTERS + state * MEMORY + NEXT])


def common(t: Ints, s: Ints, events: WalkEvents, ends: Small, state: int, stop: int) -> tuple[int, int]:
    """Of a state for which events of one instant are alike: the instant of the next event, and where the earliest match
    ends.
    """
    memory = COUNTERS + state * MEMORY
    instant = following(t, s, state, stop)
    if instant == NONE:
        return NONE, NOWHERE
    if s[memory + SEEN] != instant:
        s[memory + SEEN] = instant
        s[memory + FOUND] = earliest(t, s, events, ends, RECORDS + state * STATE, NONE, instant)
    return instant, s[memory + FOUND]


def earliest(t: Ints, s: Ints, events: WalkEvents, ends: Small, record: int, p: int, instant: int) -> int:
    """Where the earliest match ends that goes on from event `p` with one of the instant; of a plain state any event."""
    low, size, least = s[LOW], s[HIGH] - s[LOW], NOWHERE
    stop = events.instant_end[instant]
    for option in range(t[record + OPTIONS], t[record + OPTIONS_END], OPTION):
        if t[option + TARGET] == NONE:
            continue
        row = t[option + TARGET] * size - low
        for x in range(instant, stop):
            if fits(t, events, option, p, x, NONE) and ends[row + x] < least:
                least = ends[row + x]
        s[WORK] += stop - instant
    return least


# ---- from match to match ---------------------------------------------------------------------------------------------


def walk(t: Ints, s: Ints, events: WalkEvents, known: KnownOfPiece, found: Walked) -> int:
    """The matches that begin in the piece."""
    at, stop, high = s[AT], s[STOP], s[HIGH]
    while at < stop:
        if events.letters[at] & t[INITIAL] != 0:
            if t[SPAN] == NONE or events.ticks[at] > LAST_TICK - t[SPAN]:
                s[REACH] = high
            else:
                while s[REACH] < high and events.ticks[s[REACH]] < events.ticks[at] + t[SPAN]:
                    s[REACH] += 1
            length = find(t, s, events, known, found, at)
            if length == NONE:
                s[AT] = at
                return TIRED if s[WORK] > s[MOST] else FULL
            at = at + 1 if length == 0 else resume(t, s, events, found, length)
            if s[WORK] > s[PATIENCE]:
                s[AT] = at
                return TIRED
        else:
            at += 1
    s[AT] = at
    return FINISHED


def find(t: Ints, s: Ints, events: WalkEvents, known: KnownOfPiece, found: Walked, first: int) -> int:
    """Write the preferred match that begins with the event: its length, 0 if there is none, NONE without room, or when
    there was too much to do.

    Where more than the event before decides, a way on that seems to lead to a match may not: then the next is tried,
    and what has led nowhere from this first event, with what was kept, is remembered.
    """
    low, size, limit, linked = s[LOW], s[HIGH] - s[LOW], s[REACH] - s[LOW], t[LINKED] != 0
    start, slots = s[WRITTEN], len(events.kept)
    for slot in range(slots):
        events.kept[slot] = events.means.fresh[slot]
    length, p, state, record = 0, NONE, 0, RECORDS
    instant, stop = first, first + 1
    option, x = t[record + OPTIONS], first
    while True:
        if slots > 0 and length >= found.kept.shape[1]:
            return NONE
        taken = NONE
        while option < t[record + OPTIONS_END]:
            if t[option + TARGET] == NONE:
                if t[option + FORMULAS] == t[option + FORMULAS_END] or all_true(t, events, option, p, NONE, first):
                    taken = option
                    break
                option += OPTION
                continue
            row = t[option + TARGET] * size - low
            while x < stop:
                if (
                    known.ends[row + x] < limit
                    and fits(t, events, option, p, x, first)
                    and not (linked and leads_nowhere(t, events, known, found, option, row + x, p, x, first, length))
                ):
                    taken = option
                    break
                x += 1
            if taken != NONE:
                break
            option += OPTION
            x = instant
        s[WORK] += 1
        if s[WORK] > s[MOST]:
            return NONE
        if taken == NONE:
            if length == 0:
                return 0
            remember(events, known, state * size + p - low, first)
            length -= 1
            for slot in range(slots):
                events.kept[slot] = found.kept[slot, length]
            option, x = found.options[start + length], found.positions[start + length] + 1
            state, p, instant, stop = 0, NONE, first, first + 1
            if length > 0:
                state = t[found.options[start + length - 1] + TARGET]
                p, instant = found.positions[start + length - 1], found.instants[start + length]
                stop = events.instant_end[instant]
            record = RECORDS + state * STATE
            continue
        if t[taken + TARGET] == NONE:
            break
        if start + length >= len(found.positions) or s[MATCHES] >= len(found.stops):
            return NONE
        found.positions[start + length], found.variables[start + length] = x, t[taken + BOUND]
        if linked:
            found.options[start + length], found.instants[start + length] = taken, instant
        length += 1
        p, state = x, t[taken + TARGET]
        record = RECORDS + state * STATE
        option = t[record + OPTIONS]
        if t[record + LOOP] != NONE:
            place, option = way_out(t, s, events, known, state, p, first)
            if place == NONE:
                option = t[record + OPTIONS_END]
            elif place > p:
                begin = events.instant_end[p]
                if start + length + place + 1 - begin > len(found.positions):
                    return NONE
                for x in range(begin, place + 1):
                    found.positions[start + length], found.variables[start + length] = x, t[t[record + LOOP] + BOUND]
                    found.options[start + length], found.instants[start + length] = t[record + LOOP], x
                    length += 1
                p = place
        instant = after(t, s, events, known, state, p, first)
        stop = instant if instant == 0 else events.instant_end[instant]
        x = instant
    s[WRITTEN] = start + length
    found.stops[s[MATCHES]] = s[WRITTEN]
    s[MATCHES] += 1
    return length


def leads_nowhere(
    t: Ints,
    events: WalkEvents,
    known: KnownOfPiece,
    found: Walked,
    option: int,
    place: int,
    p: int,
    x: int,
    first: int,
    length: int,
) -> bool:
    """Whether formulas are not all true of event `x`, or no match of the first event goes on at the place, the state to
    which the option leads by it, with what is kept then. Else that is kept, and in `found` what was before.
    """
    slots = len(events.kept)
    for slot in range(slots):
        found.kept[slot, length] = events.kept[slot]
    if t[option + KEEPS] < t[option + KEEPS_END]:
        keep(t, events, option, x)
    is_true = t[option + FORMULAS] == t[option + FORMULAS_END] or all_true(t, events, option, p, x, first)
    if is_true and not has_failed(events, known, place, first):
        return False
    for slot in range(slots):
        events.kept[slot] = found.kept[slot, length]
    return True


def entry(events: WalkEvents, known: KnownOfPiece, place: int) -> int:
    """Where a state and an event, with what is kept, may be remembered: others may take the same room."""
    if len(events.kept) == 0:
        return place
    found = place & LOW_BITS
    for slot in range(len(events.kept)):
        found = (found * 31 + (events.kept[slot] & LOW_BITS)) & LOW_BITS
    return found % len(known.failed)


def remember(events: WalkEvents, known: KnownOfPiece, place: int, first: int) -> None:
    """That no match of the first event goes on at a place, with what is kept."""
    i = entry(events, known, place)
    known.failed[i] = first
    if len(events.kept) > 0:
        known.places[i] = place
        for slot in range(len(events.kept)):
            known.kept[slot, i] = events.kept[slot]


def has_failed(events: WalkEvents, known: KnownOfPiece, place: int, first: int) -> bool:
    """Whether that is remembered."""
    i = entry(events, known, place)
    if known.failed[i] != first:
        return False
    if len(events.kept) > 0:
        if known.places[i] != place:
            return False
        for slot in range(len(events.kept)):
            if known.kept[slot, i] != events.kept[slot]:
                return False
    return True


def after(t: Ints, s: Ints, events: WalkEvents, known: KnownOfPiece, state: int, p: int, first: int) -> int:
    """The instant of the next event after event `p`; 0, in which no next event lies, if there is none."""
    if t[RECORDS + state * STATE + LOOSE] != 0:
        instant = seek(t, s, events, RECORDS + state * STATE, p, events.instant_end[p], first)
        return 0 if instant == NONE else instant
    place = known.nexts[state * (s[HIGH] - s[LOW]) + p - s[LOW]]
    return 0 if place == NOWHERE else int(place + s[LOW])


def resume(t: Ints, s: Ints, events: WalkEvents, found: Walked, length: int) -> int:
    """Where the next match may begin."""
    start, stop = s[WRITTEN] - length, s[WRITTEN]
    then: int = events.instant_end[found.positions[start]]
    if t[SKIP] == PAST_LAST:
        return int(events.instant_end[found.positions[stop - 1]])
    if t[SKIP] == FOR:
        return quiet_until(t, s, events, int(found.positions[stop - 1]))
    if t[SKIP] == TO_FIRST:
        for i in range(start, stop):
            if is_named(t, found.variables[i]):
                return max(then, int(found.positions[i]))
    if t[SKIP] == TO_LAST:
        for i in range(stop - 1, start - 1, -1):
            if is_named(t, found.variables[i]):
                return max(then, int(found.positions[i]))
    return then


def is_named(t: Ints, variable: int) -> bool:
    """Whether SKIP TO names the variable."""
    named = False
    for i in range(t[NAMED], t[NAMED_END]):
        named = named or t[i] == variable
    return named


def quiet_until(t: Ints, s: Ints, events: WalkEvents, last: int) -> int:
    """The first event of the group that is as much later than `last` as SKIP FOR says."""
    tick, length, end = events.ticks[last], t[TICKS], s[GROUP_END]
    if tick > LAST_TICK - length:  # no 64 bits are so late, and so no event
        return int(end)
    at: int = events.instant_end[last]
    while at < end and events.ticks[at] < tick + length:
        at += 1
    return at
