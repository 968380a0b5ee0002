"""How many matches a pattern has: the expected number for events that come independently of one another.

n events of rates r1 … rn fall within a window w of one another n · w^(n-1) · r1 · … · rn times per unit of time, in
each order equally often. So of a pattern only this is needed, for each number of events: over its ways of being
matched, the share of the orders that it allows, times the product of r · w. That is a series in the number of events,
and operators combine the series of their operands.
"""

from __future__ import annotations

from math import comb, fsum
from typing import TYPE_CHECKING

from .patterns import Pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .patterns import Operand, OperatorName

Series = dict[int, float]

MOST = 1e200
"""Larger estimates are all the same."""


def series_of(operand: Operand, events: Callable[[int], float]) -> Series:
    """The series of an operand, given for each letter its events in a window."""
    if isinstance(operand, Pattern):
        return combined(operand.operator, [series_of(o, events) for o in operand.operands])
    return {1: events(operand)}


def combined(operator: OperatorName, parts: Sequence[Series]) -> Series:
    """The series of an operator over operands with these.

    >>> combined("SEQ", [{1: 2.0}, {1: 3.0}])  # half of all pairs are in order
    {2: 3.0}
    >>> combined("AND", [{1: 2.0}, {1: 3.0}]), combined("SOME", [{1: 2.0}, {1: 3.0}])
    ({2: 6.0}, {1: 5.0, 2: 6.0})
    """
    found: Series = {} if operator == "OR" else {0: 1.0}
    for part in parts:
        match operator:
            case "SEQ":  # any two shapes follow one another in one of (n + m)! / (n! m!) ways of mixing them
                found = _product(found, part, lambda n, m: 1 / comb(n + m, n))
            case "AND":
                found = _product(found, part, lambda _n, _m: 1.0)
            case "SOME":
                found = _product(found, {0: 1.0, **part}, lambda _n, _m: 1.0)
            case "OR":
                found = {n: found.get(n, 0.0) + part.get(n, 0.0) for n in sorted({*found, *part})}
    if operator == "SOME":
        del found[0]
    return found


def _product(left: Series, right: Series, share: Callable[[int, int], float]) -> Series:
    found: dict[int, list[float]] = {}
    for n, x in left.items():
        for m, y in right.items():
            found.setdefault(n + m, []).append(x * y * share(n, m))
    return {n: min(fsum(values), MOST) for n, values in sorted(found.items())}


def matches(series: Series) -> float:
    """How many matches begin while a window passes.

    >>> matches({2: 3.0})  # 3 · 2 pairs within a window of one another
    6.0
    """
    return min(fsum(n * value for n, value in series.items()), MOST)
