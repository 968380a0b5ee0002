"""Operations carried out: plain functions over the table and the memory, which `machine_code.py` compiles.

Loops become vector instructions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from .operations import ADD, COPY, INFINITE, LEAST, MIN, MIN_IF, MULTIPLY, SCALE, TWICE, ZERO
from .records import BATCH

if TYPE_CHECKING:
    from ..numbers.columns import Floats, Ints, Matrix

INLINED: Final = frozenset(["carry_out_all", "carry_out_together", "copy", "is_plain"])

# An operation in the table.
CODE: Final = 0
TARGET: Final = 1
SOURCE: Final = 2
WIDTH: Final = 3
VALUE: Final = 4
OPERATION: Final = 5


def carry_out_all(t: Ints, m: Floats, values: Matrix, event: int, begin: int, end: int) -> None:
    """The operations from `begin` to `end`; the values are those of the event."""
    o = begin
    while o < end:  # numba makes a division of a range with a step
        code, target, source, width = t[o + CODE], t[o + TARGET], t[o + SOURCE], t[o + WIDTH]
        if code == ADD:  # these two are nearly all, and a call would take longer than they do
            for i in range(width):
                m[target + i] += m[source + i]
        elif code == MULTIPLY and is_plain(values[t[o + VALUE], event]):
            value = values[t[o + VALUE], event]
            for i in range(width):
                m[target + i] += value * m[source + i]
        else:
            value = values[t[o + VALUE], event] if code in (MULTIPLY, LEAST) else 0
            carry_out(m, code, target, source, width, value)
        o += OPERATION


def carry_out_together(t: Ints, m: Floats, values: Matrix, event: int, begin: int, end: int) -> None:
    """The batches from `begin` to `end`. What an operation is, is looked up once for a batch, and how wide it is does
    not change from one to the next, which the processor then foresees.
    """
    o = begin
    while o < end:
        code, width, until = t[o + BATCH.code], t[o + BATCH.width], t[o + BATCH.pairs_end]
        value = values[t[o + BATCH.value], event] if code in (MULTIPLY, LEAST) else 0
        o += len(BATCH)
        if code == ADD:
            while o < until:
                target, source = t[o], t[o + 1]
                for i in range(width):
                    m[target + i] += m[source + i]
                o += 2
        elif code == MULTIPLY and is_plain(value):
            while o < until:
                target, source = t[o], t[o + 1]
                for i in range(width):
                    m[target + i] += value * m[source + i]
                o += 2
        elif code == TWICE:
            while o < until:
                for i in range(t[o], t[o] + width):
                    m[i] += m[i]
                o += 2
        else:
            while o < until:
                carry_out(m, code, t[o], t[o + 1], width, value)
                o += 2


def is_plain(value: float) -> bool:
    """Finite, and not 0: its product with what is infinite needs no care."""
    return value - value == 0 and value != 0


def carry_out_further(t: Ints, m: Floats, values: Matrix, event: int, begin: int, end: int, further: int) -> None:
    """The operations, with their sources and targets so much further on."""
    for o in range(begin, end, OPERATION):
        code = t[o + CODE]
        value = values[t[o + VALUE], event] if code in (MULTIPLY, LEAST) else 0
        carry_out(m, code, t[o + TARGET] + further, t[o + SOURCE] + further, t[o + WIDTH], value)


def copy(m: Floats, target: int, source: int, width: int) -> None:
    a = m[target:]
    b = m[source:]
    for i in range(width):
        a[i] = b[i]


def apply_all(t: Ints, m: Floats, begin: int, end: int, further: int) -> tuple[int, int]:
    """The operations, with values from memory, so much further on, that change anything; how many, and how many
    numbers.
    """
    done, changed = 0, 0
    for o in range(begin, end, OPERATION):
        code, value = t[o + CODE], m[t[o + VALUE] + further]
        if code == COPY or (value < np.inf if code == LEAST else value != 0):
            carry_out(m, code, t[o + TARGET], t[o + SOURCE], t[o + WIDTH], value)
            done += 1
            changed += t[o + WIDTH]
    return done, changed


def carry_out(m: Floats, code: int, target: int, source: int, width: int, value: float) -> None:
    """One operation. A row that is added to itself is TWICE: then source and target are never the same."""
    a = m[target:]
    b = m[source:]
    if code == ADD:
        for i in range(width):
            a[i] += b[i]
    elif code == TWICE:
        for i in range(width):
            a[i] += a[i]
    elif code == MULTIPLY:
        if value - value == 0:
            if value != 0:  # infinitely many times 0 is 0
                for i in range(width):
                    a[i] += value * b[i]
        else:  # an infinite value or NaN spoils only what there is
            for i in range(width):
                if b[i] != 0:
                    a[i] += value * b[i]
    elif code == LEAST:
        for i in range(width):
            if (b[i] > 0) & (value < a[i]):
                a[i] = value
    elif code == MIN:
        for i in range(width):
            if b[i] < a[i]:
                a[i] = b[i]
    elif code == ZERO:
        for i in range(width):
            a[i] = 0
    elif code == INFINITE:
        for i in range(width):
            a[i] = np.inf
    elif code == COPY:
        for i in range(width):
            a[i] = b[i]
    elif code == SCALE:
        if value != 1:
            for i in range(width):
                if a[i] != 0:  # infinitely many times 0 is 0
                    a[i] *= value
    elif code == MIN_IF and value > 0:
        for i in range(width):
            if b[i] < a[i]:
                a[i] = b[i]
