"""Whether an event may be read: plain functions, compiled like kernel/loop.py. `t` is the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ...kernel.adjacent.tests import DIFFERENT, EQUAL, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL
from .records import (
    BEFORE,
    FIRST,
    GAP,
    LATER,
    LETTERS,
    NONE,
    OF,
    OPERATOR,
    OPTION,
    OTHER,
    PLACES,
    TEST,
    TESTS,
    TESTS_END,
)

if TYPE_CHECKING:
    from ...numbers.columns import Floats, Ints

INLINED: Final = frozenset(["wider"])

NULL: Final = -(1 << 63)

WIDTH: Final = 4
"""A block is of two to the power of so many events, or blocks of the level below."""


class WalkEvents(NamedTuple):
    """Of each event its letters as bits, its tick, and where its instant begins and ends; where groups begin.
    `numbers`: what tests compare, NULL for null. `gaps`: by option with a NOT, where the event after each must lie
    before. `kept`: what the match so far keeps in mind, first the events that are held, NONE where there is none, or no
    match. Of blocks of events (blocks.py) the letters that some event has, the least and the greatest of each row of
    numbers, and where each level begins.
    """

    letters: Ints
    ticks: Ints
    instant_start: Ints
    instant_end: Ints
    group_starts: Ints
    numbers: Ints
    gaps: Ints
    kept: Ints
    means: FormulaMeans
    some_letters: Ints
    least: Ints
    greatest: Ints
    levels: Ints


class FormulaMeans(NamedTuple):
    """What a match keeps that has read nothing, and room for what it keeps; numbers of events that are no integers, NaN
    for null; constants, and registers of integers and of reals.
    """

    fresh: Ints
    spare: Ints
    numbers: Floats
    constants: Floats
    integers: Ints
    reals: Floats


def fits(t: Ints, events: WalkEvents, option: int, p: int, x: int, first: int) -> bool:
    """Whether event `x` may be read by the option after event `p`, as far as is known without a first event."""
    if events.letters[x] & t[option + LETTERS] != t[option + LETTERS]:
        return False
    if t[option + GAP] != NONE and x >= events.gaps[t[option + GAP], p]:
        return False
    return passes(t, events, t[option + TESTS], t[option + TESTS_END], p, x, first)


def passes(t: Ints, events: WalkEvents, tests: int, end: int, p: int, x: int, first: int) -> bool:
    """Whether event `x` passes the tests: those of event `p` before it, of the first and of those that are held, where
    they are given.
    """
    for test in range(tests, end, TEST):
        of = t[test + OF]
        if of == BEFORE:
            other = p
        elif of == FIRST:
            other = first
        else:
            other = events.kept[of - PLACES]
        if other == NONE:
            continue
        later, earlier = events.numbers[t[test + LATER], x], events.numbers[t[test + OTHER], other]
        if later == NULL or earlier == NULL:
            return False
        operator = t[test + OPERATOR]
        if operator == LESS:
            holds = later < earlier
        elif operator == GREATER:
            holds = later > earlier
        elif operator == EQUAL:
            holds = later == earlier
        elif operator == DIFFERENT:
            holds = later != earlier
        elif operator == GREATER_EQUAL:
            holds = later >= earlier
        else:
            holds = later <= earlier
        if not holds:
            return False
    return True


# ---- many events at once ---------------------------------------------------------------------------------------------


def wider(events: WalkEvents, x: int, edge: int, width: int) -> int:
    """The block with event `x` that is wider than two to the power of `width`, if it begins or ends at `edge`; NONE if
    it does not, or there is none.
    """
    level = width // WIDTH
    if edge & ((1 << width + WIDTH) - 1) != 0 or level + 1 >= len(events.levels):
        return NONE
    return int(events.levels[level] + (x >> width + WIDTH))


def some_may_fit(t: Ints, events: WalkEvents, block: int, options: int, end: int, first: int) -> bool:
    """Whether some event of the block may be read by one of the options, as far as letters and tests of the first event
    say.
    """
    for option in range(options, end, OPTION):
        if events.some_letters[block] & t[option + LETTERS] == t[option + LETTERS] and some_may_pass(
            t, events, block, t[option + TESTS], t[option + TESTS_END], NONE, first
        ):
            return True
    return False


def some_may_pass(t: Ints, events: WalkEvents, block: int, tests: int, end: int, p: int, first: int) -> bool:
    """Whether some event of the block may pass the tests: those of event `p`, of the first and of those that are held,
    where they are given.
    """
    for test in range(tests, end, TEST):
        of = t[test + OF]
        if of == BEFORE:
            other = p
        elif of == FIRST:
            other = first
        else:
            other = events.kept[of - PLACES]
        if other != NONE:
            earlier = events.numbers[t[test + OTHER], other]
            if earlier == NULL or not some_may_hold(events, block, t[test + LATER], t[test + OPERATOR], earlier):
                return False
    return True


def some_may_fail(t: Ints, events: WalkEvents, block: int, tests: int, end: int, first: int) -> bool:
    """Whether some event of the block, in which no number is null, may fail one of the tests of the first event."""
    for test in range(tests, end, TEST):
        if t[test + OF] == BEFORE:
            continue
        earlier = events.numbers[t[test + OTHER], first]
        if earlier == NULL or some_may_hold(events, block, t[test + LATER], opposite(t[test + OPERATOR]), earlier):
            return True
    return False


def some_may_hold(events: WalkEvents, block: int, row: int, operator: int, earlier: int) -> bool:
    """Whether some number of the block may compare so."""
    least, greatest = int(events.least[row, block]), int(events.greatest[row, block])
    if operator == LESS:
        return least < earlier
    if operator == LESS_EQUAL:
        return least <= earlier
    if operator == GREATER:
        return greatest > earlier
    if operator == GREATER_EQUAL:
        return greatest >= earlier
    if operator == EQUAL:
        return least <= earlier <= greatest
    return least != earlier or greatest != earlier


def opposite(operator: int) -> int:
    """What holds of two numbers where the operator does not."""
    if operator == LESS:
        return GREATER_EQUAL
    if operator == LESS_EQUAL:
        return GREATER
    if operator == GREATER:
        return LESS_EQUAL
    if operator == GREATER_EQUAL:
        return LESS
    return DIFFERENT if operator == EQUAL else EQUAL
