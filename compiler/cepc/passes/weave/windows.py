"""Windows in ticks and the edges of their panes: paired windows (F1, section 2) with the shifts of section 3.2."""

from __future__ import annotations

from typing import NamedTuple

from cepc_runtime.cheap_dataclass import dataclass


class Progression(NamedTuple):
    """The ticks that leave `residue` when divided by `slide`; the paper's "ACQ with a shift"."""

    slide: int
    residue: int


@dataclass(frozen=True, slots=True, order=True)
class PeriodicWindow:
    """A result every `slide` ticks, at ticks that leave `shift`, over the last `range` ticks.

    >>> PeriodicWindow(7, 5)
    PeriodicWindow(range=7, slide=5, shift=0)
    """

    range: int
    slide: int
    shift: int = 0

    def __post_init__(self) -> None:
        if self.range < 1 or self.slide < 1:
            raise ValueError(f"a window requires a positive range and slide, not {self.range} and {self.slide}")


def fragments(window: PeriodicWindow) -> tuple[int, ...]:
    """The lengths of the panes in one slide, in order of time; they sum to the slide.

    The second fragment is range mod slide, the first what is left of the slide (section 2, figure 1). A slide longer
    than its range is cut in the same way, although the paper gives it one aggregate: the gap must be told from the
    window.

    >>> fragments(PeriodicWindow(7, 5)), fragments(PeriodicWindow(6, 3)), fragments(PeriodicWindow(2, 5))
    ((3, 2), (3,), (3, 2))
    """
    second = window.range % window.slide
    return (window.slide - second, second) if second else (window.slide,)


def pane_edges(window: PeriodicWindow) -> tuple[Progression, ...]:
    """Where its panes end: one progression, or two for a window with fragments (section 3.2).

    A window ends at each multiple of the slide and begins a range before it, which is at the first fragment's end.

    >>> pane_edges(PeriodicWindow(5, 4))
    (Progression(slide=4, residue=0), Progression(slide=4, residue=3))
    """
    end = Progression(window.slide, window.shift % window.slide)
    first = fragments(window)[0]
    if first == window.slide:
        return (end,)
    return (end, Progression(window.slide, (window.shift + first) % window.slide))


def overlap(window: PeriodicWindow) -> int:
    """How many windows an event lies in at most: Ω of equation 1, the final aggregations that one pane takes part in.

    >>> overlap(PeriodicWindow(9, 3)), overlap(PeriodicWindow(7, 5))
    (3, 2)
    """
    return -(-window.range // window.slide)
