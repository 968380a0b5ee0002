"""Windows: which of them hold an instant, where they begin and end, and how far a match can reach (docs/language.md,
"Windows").

A query's window is one of the classes here, and what is asked of windows is asked of these: nothing else knows how a
kind of window lies in time. Times and lengths are ticks. Imports no numpy; numbers and ticks may be arrays of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from .columns import Ints

    Number = TypeVar("Number", int, Ints)


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
    def edges(self) -> int:
        """At how many instants windows open or close in the time from one window's beginning to the next."""
        return 2 if self.span % self.slide else 1

    @property
    def reach(self) -> int:
        """How far the edges of a window lie from any event in it at most, and those of the next window."""
        return self.span + self.slide

    def begin(self, number: Number) -> Number:
        return number * self.slide

    def end(self, number: Number) -> Number:
        return number * self.slide + self.span

    def first_holding(self, tick: Number) -> Number:
        """The number of the first window that holds the instant, if one does: where windows are apart, the next after
        it.
        """
        return (tick - self.span) // self.slide + 1

    def last_holding(self, tick: Number) -> Number:
        """The number of the last window that has begun."""
        return tick // self.slide


@dataclass(frozen=True, slots=True)
class MatchBound:
    """Of a match query: from the first event of a match to its last it is less than `span`."""

    span: int

    @property
    def open_at_once(self) -> int:
        return 1


@dataclass(frozen=True, slots=True)
class Unbounded:
    """One window over all events; a match may be of any length."""

    @property
    def span(self) -> None:
        return None

    @property
    def open_at_once(self) -> int:
        return 1


Window = Sliding | MatchBound | Unbounded
