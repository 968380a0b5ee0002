"""What formulas come to: plain functions, compiled like kernel/loop.py. `t` is the table.

Integers and reals are in registers, NULL and NaN for null; what is true is 1, and what is false 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...kernel.adjacent.tests import EQUAL, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL
from .reading import NULL
from .records import (
    ADD,
    BEFORE,
    COUNT,
    DO,
    FIRST,
    FORMULAS,
    FORMULAS_END,
    GREATEST,
    HOLD,
    HOLD_FIRST,
    INSTRUCTION,
    KEEP,
    KEEPS,
    KEEPS_END,
    KIND,
    LEAST,
    NONE,
    PLACES,
    ROW,
    SLOT,
    THIS,
    TO,
    A,
    B,
    C,
    D,
)

if TYPE_CHECKING:
    from ...numbers.columns import Ints
    from .reading import WalkEvents

INLINED: Final = frozenset(["event_of"])

# what an instruction does: the first eight to a register, the others of registers a and b, too
INTEGER_OF: Final = 0  # of the event of place a, in row b
REAL_OF: Final = 1
CONSTANT: Final = 2  # a
REAL_CONSTANT: Final = 3  # number a
KEPT: Final = 4  # what slot a keeps, if there are some values in slot b
AVERAGE: Final = 5  # of integers in slot a, as many as slot b says
AVERAGE_OF_DECIMALS: Final = 6  # times c
SUM_OF_REALS: Final = (
    7  # in slot a and the next, as many as slot b says, of the units constants c and the next, d bits apart
)
AVERAGE_OF_REALS: Final = 8
TO_REAL: Final = 9
ADD_INTEGERS: Final = 10
SUBTRACT_INTEGERS: Final = 11
MULTIPLY_INTEGERS: Final = 12
ADD_REALS: Final = 13
SUBTRACT_REALS: Final = 14
MULTIPLY_REALS: Final = 15
DIVIDE_REALS: Final = 16
COMPARE_INTEGERS: Final = 17  # as operator c says
COMPARE_REALS: Final = 18
CHOOSE_INTEGER: Final = 19  # a where register c is true, else b
CHOOSE_REAL: Final = 20
IS_NULL_INTEGER: Final = 21
IS_NULL_REAL: Final = 22
NOT: Final = 23
AND: Final = 24
OR: Final = 25
REQUIRE: Final = 26  # nothing else matters where register a is not true

NULL_REAL: Final = 0
"""A register of reals that nothing is written to."""

SPLIT: Final = 2.0**27 + 1


def keep(t: Ints, events: WalkEvents, option: int, x: int) -> None:
    """What a match keeps in mind, changed by event `x`, which the option reads."""
    kept = events.kept
    for k in range(t[option + KEEPS], t[option + KEEPS_END], KEEP):
        kind, slot = t[k + KIND], t[k + SLOT]
        if kind == HOLD:
            kept[slot] = x
        elif kind == HOLD_FIRST:
            if kept[slot] == NONE:
                kept[slot] = x
        elif kind == COUNT:
            kept[slot] += 1
        elif kind == ADD:
            kept[slot] += events.numbers[t[k + ROW], x]
        else:
            number, best = events.numbers[t[k + ROW], x], kept[slot]
            if number != NULL and (
                best == NONE
                or (kind == LEAST and number < events.numbers[t[k + ROW], best])
                or (kind == GREATEST and number > events.numbers[t[k + ROW], best])
            ):
                kept[slot] = x


def event_of(events: WalkEvents, place: int, p: int, x: int, first: int) -> int:
    """The event in a place."""
    if place == THIS:
        return x
    if place == BEFORE:
        return p
    return first if place == FIRST else int(events.kept[place - PLACES])


def all_true(t: Ints, events: WalkEvents, option: int, p: int, x: int, first: int) -> bool:
    """Whether all formulas of the option are true when it reads event `x` after event `p`, or ends the match there."""
    integers, reals, kept = events.means.integers, events.means.reals, events.kept
    for i in range(t[option + FORMULAS], t[option + FORMULAS_END], INSTRUCTION):
        do, to, a, b, c, d = t[i + DO], t[i + TO], t[i + A], t[i + B], t[i + C], t[i + D]
        if do == REQUIRE:
            if integers[a] != 1:
                return False
        elif do == INTEGER_OF:
            event = event_of(events, a, p, x, first)
            integers[to] = NULL if event == NONE else events.numbers[b, event]
        elif do == REAL_OF:
            event = event_of(events, a, p, x, first)
            reals[to] = reals[NULL_REAL] if event == NONE else events.means.numbers[b, event]
        elif do == CONSTANT:
            integers[to] = a
        elif do == REAL_CONSTANT:
            reals[to] = events.means.constants[a]
        elif do == KEPT:
            integers[to] = kept[a] if b == NONE or kept[b] > 0 else NULL
        elif do == AVERAGE:
            reals[to] = reals[NULL_REAL] if kept[b] == 0 else float(kept[a]) / float(kept[b])
        elif do == AVERAGE_OF_DECIMALS:
            integers[to] = NULL if kept[b] == 0 else half_up(kept[a] * c, kept[b])
        elif do == SUM_OF_REALS:
            reals[to] = reals[NULL_REAL] if kept[b] == 0 else sum_of(events, a, c, d)[0]
        elif do == AVERAGE_OF_REALS:
            reals[to] = reals[NULL_REAL] if kept[b] == 0 else average_of(events, a, c, d, float(kept[b]))
        elif do == TO_REAL:
            reals[to] = reals[NULL_REAL] if integers[a] == NULL else float(integers[a])
        elif do == ADD_INTEGERS:
            integers[to] = NULL if integers[a] == NULL or integers[b] == NULL else integers[a] + integers[b]
        elif do == SUBTRACT_INTEGERS:
            integers[to] = NULL if integers[a] == NULL or integers[b] == NULL else integers[a] - integers[b]
        elif do == MULTIPLY_INTEGERS:
            integers[to] = NULL if integers[a] == NULL or integers[b] == NULL else integers[a] * integers[b]
        elif do == ADD_REALS:
            reals[to] = reals[a] + reals[b]
        elif do == SUBTRACT_REALS:
            reals[to] = reals[a] - reals[b]
        elif do == MULTIPLY_REALS:
            reals[to] = reals[a] * reals[b]
        elif do == DIVIDE_REALS:
            reals[to] = reals[a] / reals[b]
        elif do == COMPARE_INTEGERS:
            none = integers[a] == NULL or integers[b] == NULL
            integers[to] = NULL if none else compares(c, integers[a], integers[b])
        elif do == COMPARE_REALS:
            none = reals[a] != reals[a] or reals[b] != reals[b]
            integers[to] = NULL if none else compares(c, reals[a], reals[b])
        elif do == CHOOSE_INTEGER:
            integers[to] = integers[a] if integers[c] == 1 else integers[b]
        elif do == CHOOSE_REAL:
            reals[to] = reals[a] if integers[c] == 1 else reals[b]
        elif do == IS_NULL_INTEGER:
            integers[to] = integers[a] == NULL
        elif do == IS_NULL_REAL:
            integers[to] = reals[a] != reals[a]
        elif do == NOT:
            integers[to] = NULL if integers[a] == NULL else 1 - integers[a]
        else:
            integers[to] = both(do, integers[a], integers[b])
    return True


def both(do: int, a: int, b: int) -> int:
    """AND or OR of what may be null."""
    decides = 0 if do == AND else 1
    if a == decides or b == decides:
        return decides
    return NULL if a == NULL or b == NULL else 1 - decides


def compares(operator: int, a: float, b: float) -> bool:
    """Whether two numbers compare so."""
    if operator == LESS:
        return a < b
    if operator == LESS_EQUAL:
        return a <= b
    if operator == GREATER:
        return a > b
    if operator == GREATER_EQUAL:
        return a >= b
    return a == b if operator == EQUAL else a != b


def half_up(number: int, count: int) -> int:
    """The quotient, rounded to the nearest integer, halves away from zero."""
    size = abs(number)
    found = size // count
    if 2 * (size - found * count) >= count:
        found += 1
    return found if number >= 0 else -found


def sum_of(events: WalkEvents, slot: int, units: int, bits: int) -> tuple[float, float]:
    """The sum of reals, rounded once, and what it lacks: both parts are exact as doubles, and so is that (Knuth)."""
    low = events.kept[slot + 1]
    over = low >> bits
    a = float(events.kept[slot] + over) * events.means.constants[units]
    b = float(low - (over << bits)) * events.means.constants[units + 1]
    found = a + b
    of_b = found - a
    return found, (a - (found - of_b)) + (b - of_b)


def average_of(events: WalkEvents, slot: int, units: int, bits: int, count: float) -> float:
    """The sum of reals divided by a count, rounded once (numbers/doubles.py, `quotients`)."""
    near, left = sum_of(events, slot, units, bits)
    found = near / count
    product = found * count
    high = SPLIT * found
    high = high - (high - found)
    more = SPLIT * count
    more = more - (more - count)
    low, less = found - high, count - more
    missing = ((high * more - product) + high * less + low * more) + low * less
    return found + ((near - product) - missing + left) / count
