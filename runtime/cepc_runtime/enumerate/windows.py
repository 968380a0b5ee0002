"""The windows of an aggregate query: `[k·slide, k·slide + within)` for every integer k (docs/language.md, "Windows")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .ragged import expand
from .standing import Frames

if TYPE_CHECKING:
    from .timeline import Ints, Timeline


@dataclass(frozen=True)
class Sliding:
    """A match counts in every window that holds all of its events; the window's number is k. `only`: the first and the last number of
    the windows that are asked for.
    """

    timeline: Timeline
    within: int
    slide: int
    only: tuple[int, int] | None = None

    def frames(self, first: Ints, last: Ints, edges: bool) -> Frames:
        ticks = self.timeline.ticks
        least = (ticks[last] - self.within) // self.slide + 1
        most = ticks[first] // self.slide
        if self.only is not None:
            least, most = np.maximum(least, self.only[0]), np.minimum(most, self.only[1])
        rows, place = expand(np.maximum(most - least + 1, 0))
        window = least[rows] + place
        if not edges:
            return Frames(rows, window, first[rows], last[rows] + 1)
        group, opens = self.timeline.group[first[rows]], window * self.slide
        return Frames(
            rows,
            window,
            self.timeline.first_from(group, opens),
            self.timeline.first_from(group, opens + self.within),
        )
