"""Variances and standard deviations from exact sums: of exact numbers, rounded once."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from .columns import Bools
    from .gathered import Gathered

_BITS = 66
"""So many bits of a root at least, and one that says whether there are more, are rounded as the root is."""


def spreads(gathered: Gathered, *, sample: bool, root: bool) -> tuple[Any, Bools]:
    """How far the values of each place are from their mean: null where there are none, of a sample where there is one
    alone.
    """
    totals, squares = gathered.sums
    rows = zip(gathered.counts.tolist(), totals.tolist(), squares.tolist(), strict=True)
    found = [_spread(int(n), int(total), int(square), gathered.scale, sample, root) for n, total, square in rows]
    return pa.array(found, pa.float64()), np.zeros(len(found), dtype=np.bool_)


def _spread(count: int, total: int, squares: int, scale: int, sample: bool, root: bool) -> float | None:
    """Of numbers times 10**scale, whose squares have twice the scale."""
    divisor = count - 1 if sample else count
    if divisor <= 0:
        return None
    variance = Fraction(count * squares - total * total, count * divisor * 100**scale)
    return square_root(variance) if root else float(variance)


def square_root(number: Fraction) -> float:
    """Rounded once."""
    a, b = number.numerator, number.denominator
    shift = max(0, _BITS - (a.bit_length() - b.bit_length()) // 2)
    whole = math.isqrt((a << 2 * shift) // b)
    is_exact = whole * whole * b == a << 2 * shift
    return float(Fraction(2 * whole + (not is_exact), 2 << shift))
