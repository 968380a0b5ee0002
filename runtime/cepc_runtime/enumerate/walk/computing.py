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

# what an instruction does: the first nine write to a register, the others are of registers a and b, too
INTEGER_OF: Final = 0  # of the event of place a, in row b
REAL_OF: Final = 1
CONSTANT: Final = 2  # a
REAL_CONSTANT: Final = 3  # number a
KEPT: Final = 4  # what slot a keeps, if there are some values in slot b
AVERAGE: Final = 5  # of integers in slot a, as many as slot b says
AVERAGE_OF_DECIMALS: Final = 6  # times c
SUM_OF_REALS: Final = 7  # in slot a and the next, as many as slot b says: of units c and the next, d bits apart
AVERAGE_OF_REALS: Final = 8
ADD_INTEGERS: Final = 9
SUBTRACT_INTEGERS: Final = 10
MULTIPLY_INTEGERS: Final = 11
IS_NULL_INTEGER: Final = 12
NOT: Final = 13  # of register a, which is b as well
AND: Final = 14
OR: Final = 15
COMPARE_INTEGERS: Final = 16  # as operator c says
ADD_REALS: Final = 17
SUBTRACT_REALS: Final = 18
MULTIPLY_REALS: Final = 19
DIVIDE_REALS: Final = 20
IS_NULL_REAL: Final = 21
COMPARE_REALS: Final = 22
TO_REAL: Final = 23
CHOOSE: Final = 24  # a where register c is true, else b
REQUIRE: Final = 25  # nothing else matters where register a is not true

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
    """Whether all formulas of the option are true when it reads event `x` after event `p`, or ends the match there.

    An instruction writes to both registers of its number, null to the one that it is not about: each access to an array
    is machine code that takes its time to make.
    """
    integers, reals, kept = events.means.integers, events.means.reals, events.kept
    null = reals[NULL_REAL]
    for i in range(t[option + FORMULAS], t[option + FORMULAS_END], INSTRUCTION):
        do, to, a, b, c = t[i + DO], t[i + TO], t[i + A], t[i + B], t[i + C]
        integer, real = NULL, null
        if do == REQUIRE:
            if integers[a] != 1:
                return False
        elif do <= REAL_OF:
            event = event_of(events, a, p, x, first)
            if event != NONE and do == INTEGER_OF:
                integer = events.numbers[b, event]
            elif event != NONE:
                real = events.means.numbers[b, event]
        elif do == CONSTANT:
            integer = a
        elif do == REAL_CONSTANT:
            real = events.means.constants[a]
        elif do <= AVERAGE_OF_REALS:
            count = 1 if b == NONE else kept[b]
            if count > 0 and do == KEPT:
                integer = kept[a]
            elif count > 0 and do == AVERAGE:
                real = float(kept[a]) / float(count)
            elif count > 0 and do == AVERAGE_OF_DECIMALS:
                integer = half_up(kept[a] * c, count)
            elif count > 0 and do == SUM_OF_REALS:
                real = sum_of(events, a, c, t[i + D])[0]
            elif count > 0:
                real = average_of(events, a, c, t[i + D], float(count))
        elif do <= COMPARE_INTEGERS:
            integer = of_integers(do, c, integers[a], integers[b])
        elif do <= COMPARE_REALS:
            u, v = reals[a], reals[b]
            if do == IS_NULL_REAL:
                integer = 1 if u != u else 0
            elif do == COMPARE_REALS:
                if u == u and v == v:
                    integer = 1 if compares(c, u, v) else 0
            else:
                real = of_reals(do, u, v)
        elif do == TO_REAL:
            if integers[a] != NULL:
                real = float(integers[a])
        else:
            chosen = a if integers[c] == 1 else b
            integer, real = integers[chosen], reals[chosen]
        integers[to], reals[to] = integer, real
    return True


def of_integers(do: int, operator: int, a: int, b: int) -> int:
    """What an instruction makes of integers."""
    if do == IS_NULL_INTEGER:
        return 1 if a == NULL else 0
    if do <= OR and do >= AND:
        return both(do, a, b)
    if a == NULL or b == NULL:
        return NULL
    if do == ADD_INTEGERS:
        return a + b
    if do == SUBTRACT_INTEGERS:
        return a - b
    if do == MULTIPLY_INTEGERS:
        return a * b
    if do == NOT:
        return 1 - a
    return 1 if compares(operator, a, b) else 0


def of_reals(do: int, a: float, b: float) -> float:
    """What an instruction makes of reals."""
    if do == ADD_REALS:
        return a + b
    if do == SUBTRACT_REALS:
        return a - b
    return a * b if do == MULTIPLY_REALS else a / b


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
