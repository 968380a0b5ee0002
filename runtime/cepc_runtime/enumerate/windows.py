"""In which windows of an aggregate query a match counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..cheap_dataclass import dataclass
from .ragged import expand
from .standing import Frames

if TYPE_CHECKING:
    from ..numbers.columns import Ints
    from ..plan.windows import Sliding
    from .timeline import Timeline


@dataclass(frozen=True)
class InWindows:
    """A match counts in every window that holds all of its events. `only`: the first and the last number of the windows
    that are wanted.
    """

    timeline: Timeline
    window: Sliding
    only: tuple[int, int] | None = None

    def frames(self, first: Ints, last: Ints, edges: bool) -> Frames:
        ticks = self.timeline.ticks
        least, most = self.window.first_holding(ticks[last]), self.window.last_holding(ticks[first])
        if self.only is not None:
            least, most = np.maximum(least, self.only[0]), np.minimum(most, self.only[1])
        rows, place = expand(np.maximum(most - least + 1, 0))
        window = least[rows] + place
        if not edges:
            return Frames(rows, window, first[rows], last[rows] + 1)
        group = self.timeline.group[first[rows]]
        return Frames(
            rows,
            window,
            self.timeline.first_from(group, self.window.begin(window)),
            self.timeline.first_from(group, self.window.end(window)),
        )
