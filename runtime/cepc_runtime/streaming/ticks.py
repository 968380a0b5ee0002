"""Ticks compared with bounds that may lie outside 64 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from ..numbers.columns import Bools, Ints

BEGIN: Final = -(1 << 70)
"""Before all events: a bucket's watermark when it is new."""
END: Final = 1 << 70
"""After all events: the watermark that closes everything."""


def before(ticks: Ints, bound: int) -> Bools:
    """Which are smaller than the bound."""
    if bound >= 1 << 63:
        return np.ones(ticks.shape, dtype=np.bool_)
    found: Bools = ticks < max(bound, -(1 << 63))
    return found


def least(ticks: Ints, bound: int) -> int | None:
    """The smallest that is not smaller than the bound."""
    found = ticks[~before(ticks, bound)]
    return int(found.min()) if len(found) else None
