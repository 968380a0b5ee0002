"""The baseline of F1: mark every edge of the composite slide in a bit set and count the bits (sections 2, 3.1 and
3.2).
"""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING

from cepc.passes.weave.windows import Progression, Window, pane_edges

if TYPE_CHECKING:
    from collections.abc import Iterable


def bitset_edges(windows: Iterable[Window]) -> tuple[int, int]:
    """The edges in one composite slide, and that slide's length. Memory grows with the length: a bit for each tick.

    >>> bitset_edges([Window(s, s) for s in (2, 3, 4, 5, 6)])  # example 2
    (44, 60)
    """
    progressions = {edge for window in windows for edge in pane_edges(window)}
    length = lcm(*(p.slide for p in progressions))
    marked = 0
    for progression in sorted(progressions):
        marked |= marks(progression, length)
    return marked.bit_count(), length


def marks(progression: Progression, length: int) -> int:
    """A big integer with a bit for each tick of the progression below `length`, a multiple of its slide.

    >>> bin(marks(Progression(4, 3), 12))
    '0b100010001000'
    """
    bits, width = 1 << progression.residue, progression.slide
    while width < length:  # doubling, so that the baseline is a fast one: log(length / slide) shifts
        bits |= bits << width
        width *= 2
    return bits & ((1 << length) - 1)
