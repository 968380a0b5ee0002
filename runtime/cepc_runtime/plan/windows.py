"""Windows: which of them hold an instant, where they begin and end, and how far a match can reach (docs/language.md,
"Windows").

A query's window is one of the classes here, and all that others need to know of windows they get from these: nothing
else knows how a kind of window lies in time. Times and lengths are ticks. Imports no numpy; numbers and ticks may be
arrays of them.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, TypeVar

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..numbers.columns import Ints

    Number = TypeVar("Number", int, Ints)
    InWords = Callable[[int], str]  # a length of time as people write it


@dataclass(frozen=True, slots=True)
class Sliding:
    """Of an aggregate query: for every integer k, its number, the window `[k·slide, k·slide + span)`."""

    span: int
    slide: int

    @property
    def open_at_once(self) -> int:
        """How many windows hold an instant at most."""
        return -(-self.span // self.slide)

    @property
    def overlap(self) -> bool:
        """Whether some instant is in two windows."""
        return self.slide < self.span

    @property
    def pane(self) -> int:
        """The longest time between edges of windows that all edges are a multiple of."""
        return gcd(self.span, self.slide)

    @property
    def is_pane(self) -> bool:
        """Whether every window is one pane."""
        return self.pane == self.span == self.slide

    @property
    def edges(self) -> int:
        """At how many instants windows open or close in the time from one window's beginning to the next."""
        return 2 if self.span % self.slide else 1

    @property
    def reach(self) -> int:
        """How far the edges of a window lie from any event in it at most, and those of the next window."""
        return self.span + self.slide

    # ---- in time: window k lies k slides after window 0 --------------------------------------------------------------

    def begin(self, number: Number) -> Number:
        return number * self.slide

    def end(self, number: Number) -> Number:
        return self.begin(number) + self.span

    def first_holding(self, tick: Number) -> Number:
        """The number of the first window that holds the instant, if one does: where windows are apart, the next after
        it.
        """
        return (tick - self.span) // self.slide + 1

    def last_holding(self, tick: Number) -> Number:
        """The number of the last window that has begun."""
        return tick // self.slide

    def beginnings(self, first: int, end: int) -> range:
        """When windows begin, from a time on and before another."""
        return range(self.begin(self.last_holding(first - 1) + 1), end, self.slide)

    def endings(self, first: int, end: int) -> range:
        """When windows end, from a time on and before another."""
        return range(self.end(self.first_holding(first - 1)), end, self.slide)

    def overhang(self, length: int) -> int:
        """How far a window can reach over the end of the stretch in which it begins, where time is cut at the multiples
        of a length.
        """
        return max(0, self.span - gcd(self.slide, length))

    # ---- as Spark's SQL ----------------------------------------------------------------------------------------------

    def pane_sql(self, tick: str) -> str:
        """Where the pane of an instant begins."""
        return f"{tick} - PMOD({tick}, {self.pane}L)"

    def holding_sql(self, pane: str) -> str:
        """Where the windows begin that hold the pane that begins there, as an array."""
        last = f"{pane} - PMOD({pane}, {self.slide}L)"  # the last window that has begun
        begins = f"TRANSFORM(SEQUENCE(0, {(self.span - 1) // self.slide}), i -> {last} - i * {self.slide}L)"
        return f"FILTER({begins}, w -> {self.end_sql('w')} >= {pane} + {self.pane}L)"

    def end_sql(self, begin: str) -> str:
        """Where the window ends that begins there."""
        return f"{begin} + {self.span}L"

    # ---- in words ----------------------------------------------------------------------------------------------------

    def clauses(self, duration: InWords) -> tuple[str, ...]:
        """As a query has it."""
        slide = () if self.slide == self.span else (f"SLIDE {duration(self.slide)}",)
        return f"WITHIN {duration(self.span)}", *slide

    def in_short(self, duration: InWords) -> str:
        slide = "" if self.slide == self.span else f" sliding by {duration(self.slide)}"
        return f"{duration(self.span)}{slide}"

    def in_full(self, duration: InWords) -> str:
        return f"{duration(self.span)} long, a new one every {duration(self.slide)}"


@dataclass(frozen=True, slots=True)
class MatchBound:
    """Of a match query: from the first event of a match to its last it is less than `span`."""

    span: int

    @property
    def open_at_once(self) -> int:
        return 1

    def clauses(self, duration: InWords) -> tuple[str, ...]:
        return (f"WITHIN {duration(self.span)}",)

    def in_short(self, duration: InWords) -> str:
        return duration(self.span)

    def in_full(self, duration: InWords) -> str:
        return f"a match spans less than {duration(self.span)}"


@dataclass(frozen=True, slots=True)
class Unbounded:
    """One window over all events; a match may be of any length."""

    @property
    def span(self) -> None:
        return None

    @property
    def open_at_once(self) -> int:
        return 1

    def clauses(self, _duration: InWords) -> tuple[str, ...]:
        return ("WITHIN UNBOUNDED",)

    def in_short(self, _duration: InWords) -> str:
        return "UNBOUNDED"

    def in_full(self, _duration: InWords) -> str:
        return "one over everything"


Window = Sliding | MatchBound | Unbounded
