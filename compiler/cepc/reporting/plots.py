"""Counts over time as bars, in SVG inside of a page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from ..explaining.escaping import escaped
from ..explaining.routes import number as _n

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .history import Axis, History

WIDTH: Final = 900
HEIGHT: Final = 110
LEFT: Final = 56
BOTTOM: Final = 18
FAR: Final = 1_000
"""Where the largest count is so many times the least, heights are logarithms."""


def plot(history: History, axis: Axis) -> str:
    """A picture whose bars say their counts to who points at them."""
    logarithmic = is_logarithmic(history.counts)
    heights = [_height(count, max(history.counts), logarithmic) for count in history.counts]
    step = (WIDTH - LEFT) / axis.bars
    bars = "".join(
        _bar(LEFT + i * step, step * history.span, height, count)
        for i, (count, height) in enumerate(zip(history.counts, heights, strict=True))
        if count
    )
    return (
        f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT + BOTTOM}" role="img" aria-label="{escaped(history.what)}">'
        f'<path class="axis" d="M{LEFT} 4V{HEIGHT}H{WIDTH}"/>{bars}'
        f'<text x="{LEFT - 6}" y="14" text-anchor="end">{shown(max(history.counts))}</text>'
        f'<text x="{LEFT - 6}" y="{HEIGHT}" text-anchor="end">0</text>'
        f'<text x="{LEFT}" y="{HEIGHT + 14}">{escaped(axis.first)}</text>'
        f'<text x="{WIDTH}" y="{HEIGHT + 14}" text-anchor="end">{escaped(axis.last)}</text></svg>'
    )


def _bar(x: float, width: float, height: float, count: float) -> str:
    inside = max(min(width, WIDTH - x) - 1, 0.8)
    return (
        f'<rect x="{_n(x)}" y="{_n(HEIGHT - height)}" width="{_n(inside)}" height="{_n(height)}">'
        f"<title>{shown(count)}</title></rect>"
    )


def is_logarithmic(counts: Sequence[float]) -> bool:
    """
    >>> is_logarithmic([0, 3, 20]), is_logarithmic([0, 3, 20_000])
    (False, True)
    """
    return max(counts) > FAR * min(count for count in counts if count)


def _height(count: float, most: float, logarithmic: bool) -> float:
    if not count:
        return 0.0
    if not math.isfinite(most):
        return HEIGHT - 6.0 if count == most else 1.0
    share = math.log1p(count) / math.log1p(most) if logarithmic else count / most
    return max(share * (HEIGHT - 6), 1.0)


def shown(count: float) -> str:
    """
    >>> shown(12.0), shown(1234567.0), shown(2.0**70)
    ('12', '1,234,567', '1.18e+21')
    """
    return f"{count:,.0f}" if count < 1e9 else f"{count:.3g}"
