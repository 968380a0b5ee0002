"""Ticks compared with bounds that may lie outside 64 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ..numbers.columns import Bools, Ints

BEGIN: Final = -(1 << 70)
"""Before all events: a bucket's watermark when it is new."""
END: Final = 1 << 70
"""After all events: the watermark that closes everything."""


def before(ticks: Ints, bound: int) -> Bools:
    """Which are smaller than the bound."""
    found: Bools = ticks < max(min(bound, (1 << 63) - 1), -(1 << 63))
    return found | (bound >= 1 << 63)


def least(ticks: Ints, bound: int) -> int | None:
    """The smallest that is not smaller than the bound."""
    found = ticks[~before(ticks, bound)]
    return int(found.min()) if len(found) else None
