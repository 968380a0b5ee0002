"""One window of one group, with numbers of many digits: plain functions, which `machine_code.py` compiles.

A number is its digits to the base of 2**BITS, the lowest first, in two's complement; arithmetic is modulo what the
digits hold. So only the numbers at the end have to fit, whatever happens on the way. Nothing here allocates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ..plan.automaton import DROPPED

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..numbers.columns import Ints

    Digits = npt.NDArray[np.int64]

INLINED: Final = frozenset(["add", "add_times"])

BITS: Final = 30
"""Of a digit: a product of two, a third digit and what is carried fit 64 bits."""

MASK: Final = (1 << BITS) - 1
OF_A_NUMBER: Final = 3
"""Digits of a number that an event adds, which has 62 bits at most."""


class Moves(NamedTuple):
    """What events do, by their kind, and instants, by the number of the letters that they have.

    Steps of kind k are `steps[begins[k]:begins[k + 1]]`, each a source, a target and a variable; so are the ties. In an
    instant of letters l, the row of state s goes to `places[l, s]`, what the instant added to `new_places[l, s]`;
    `kills[l]` empties all.
    """

    begins: Ints
    steps: Ints
    tie_begins: Ints
    ties: Ints
    places: Ints
    new_places: Ints
    kills: Ints


class DigitWindow(NamedTuple):
    """Instant i, of letters `letters[i]`, is the events from `instants[i]`, before `instants[i + 1]`. Track t adds
    `numbers[t, e]` where event e is bound to variable `variables[t]`.
    """

    kinds: Ints
    instants: Ints
    letters: Ints
    variables: Ints
    numbers: Ints


class DigitMemory(NamedTuple):
    """For each state a row of numbers, the count and the tracks: what there is, what the instant has added, what waits
    to be added.
    """

    rows: Digits
    new: Digits
    waiting: Digits


def run(moves: Moves, window: DigitWindow, memory: DigitMemory) -> bool:
    """Read all instants; whether a negation has emptied the window. The start row holds 1 when it begins."""
    rows, new, waiting = memory
    kinds, instants, letters, _, _ = window
    for i in range(len(instants) - 1):
        here = letters[i]
        if moves.kills[here] != 0:
            return True
        first, end = instants[i], instants[i + 1]
        if end - first == 1:
            kind = kinds[first]
            for x in range(moves.begins[kind], moves.begins[kind + 1]):
                take(moves.steps[x], rows, new, window, first)
        else:
            for event in range(first, end):
                kind = kinds[event]
                for x in range(moves.begins[kind], moves.begins[kind + 1]):
                    take(moves.steps[x], rows, waiting, window, event)
                for x in range(moves.tie_begins[kind], moves.tie_begins[kind + 1]):
                    take(moves.ties[x], new, waiting, window, event)
                pour(waiting, new)
        move(rows, waiting, moves.places[here])
        move(new, waiting, moves.new_places[here])
        pour(new, rows)
    return False


def take(step: Ints, source: Digits, target: Digits, window: DigitWindow, event: int) -> None:
    """A step: what the source's row holds is added to the target's, with the event bound."""
    there, into, variable = source[step[0]], target[step[1]], step[2]
    if is_empty(there):
        return
    for number in range(len(there)):
        add(into[number], there[number])
    for track in range(len(window.variables)):
        if window.variables[track] == variable and window.numbers[track, event] != 0:
            add_times(into[track + 1], there[0], window.numbers[track, event])


def move(rows: Digits, waiting: Digits, places: Ints) -> None:
    """All rows at once into their places."""
    stays = True
    for state in range(len(places)):
        if places[state] != state and not is_empty(rows[state]):
            stays = False
    if stays:
        return
    for state in range(len(places)):
        if places[state] != DROPPED and not is_empty(rows[state]):
            for number in range(rows.shape[1]):
                add(waiting[places[state], number], rows[state, number])
        rows[state] = 0
    pour(waiting, rows)


def pour(source: Digits, target: Digits) -> None:
    """The rows of the one are added to those of the other, and then empty."""
    for state in range(len(source)):
        if not is_empty(source[state]):
            for number in range(source.shape[1]):
                add(target[state, number], source[state, number])
            source[state] = 0


def is_empty(row: Digits) -> bool:
    """Of no partial match. A count alone does not say so: where many more than fit are on their way, it may be 0 modulo
    what fits.
    """
    for number in range(row.shape[0]):
        for i in range(row.shape[1]):
            if row[number, i] != 0:
                return False
    return True


def add(a: Ints, b: Ints) -> None:
    carried = 0
    for i in range(len(a)):
        sum_ = a[i] + b[i] + carried
        a[i] = sum_ & MASK
        carried = sum_ >> BITS


def add_times(a: Ints, b: Ints, number: int) -> None:
    """The product of `b` and a number is added to `a`, digit of the number by digit."""
    sign = 1 if number > 0 else -1
    left = number * sign
    for place in range(min(OF_A_NUMBER, len(a))):
        digit = (left & MASK) * sign
        left >>= BITS
        carried = 0
        if digit != 0:
            for i in range(place, len(a)):
                sum_ = a[i] + digit * b[i - place] + carried
                a[i] = sum_ & MASK
                carried = sum_ >> BITS
