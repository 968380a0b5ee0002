"""Rows of one window: a number for each plane; plain functions, which `machine_code.py` compiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from .tables import ADDITIVE, PLANES

if TYPE_CHECKING:
    from ...numbers.columns import Floats, Ints, Matrix

INLINED: Final = frozenset(["add_row"])

# What is added to a row. A tie reads what stood before the instant (CODE 0) or what earlier events of the instant added
# (CODE 1).
CODE: Final = 0
SOURCE: Final = 1
TARGET: Final = 2
BINDINGS: Final = 3
BINDINGS_END: Final = 4

PLANE: Final = 0  # where in a row
VALUE: Final = 1  # a row of the values' matrix
LEAST: Final = 2
BINDING: Final = 3


def add_row(t: Ints, m: Floats, target: int, source: int, values: Matrix, event: int, o: int) -> None:
    """Add a row, with the event bound as operation `o` says. The row may be the target itself, so the count comes
    last.
    """
    additive, planes = t[ADDITIVE], t[PLANES]
    for i in range(1, additive):
        m[target + i] += m[source + i]
    for i in range(additive, planes):
        if m[source + i] < m[target + i]:
            m[target + i] = m[source + i]
    for b in range(t[o + BINDINGS], t[o + BINDINGS_END], BINDING):
        value = values[t[b + VALUE], event]
        plane = target + t[b + PLANE]
        if m[source] == 0:
            continue  # an infinite value or NaN spoils only what there is
        if t[b + LEAST]:
            m[plane] = min(m[plane], value)
        elif value != 0:  # infinitely many times 0 is 0
            m[plane] += value * m[source]
    m[target] += m[source]


def clear_row(m: Floats, row: int, additive: int, planes: int) -> None:
    for i in range(row, row + additive):
        m[i] = 0
    for i in range(row + additive, row + planes):
        m[i] = np.inf


def merge_row(m: Floats, into: int, row: int, additive: int, planes: int) -> None:
    """Add a row to another of the same query."""
    for i in range(additive):
        m[into + i] += m[row + i]
    for i in range(additive, planes):
        if m[row + i] < m[into + i]:
            m[into + i] = m[row + i]
