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
class TimeParts:
    """Time in parts of one length: part k, for every integer k, is `[k·length + begin, (k + 1)·length + begin)`. Part 0
    is the first that begins at 0 or later: equal parts have equal numbers.
    """

    length: int
    begin: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.begin < self.length:
            raise ValueError(f"parts of {self.length} ticks, of which the first begins at {self.begin}")

    def number(self, tick: Number) -> Number:
        """That of the part that holds the instant."""
        return (tick - self.begin) // self.length

    def start(self, number: Number) -> Number:
        return number * self.length + self.begin

    def number_sql(self, tick: str) -> str:
        """The same as Spark's SQL; it never overflows."""
        earlier = f" - IF(PMOD({tick}, {self.length}L) < {self.begin}L, 1, 0)" if self.begin else ""
        return f"{tick} DIV {self.length}L - IF({tick} % {self.length}L < 0, 1, 0){earlier}"

    def since_sql(self, tick: str) -> str:
        """How long ago the part began that holds the instant."""
        begun = f"{tick} - {self.begin}L" if self.begin else tick
        return f"PMOD({begun}, {self.length}L)"

    def common(self, other: TimeParts) -> TimeParts:
        """The longest of which those of both are whole numbers."""
        length = gcd(self.length, other.length, self.begin - other.begin)
        return TimeParts(length, self.begin % length)


@dataclass(frozen=True, slots=True)
class Sliding:
    """Of an aggregate query: for every integer k, its number, the window `[k·slide + offset, k·slide + offset + span)`.
    The offset is not negative and less than the slide: equal windows have equal numbers. `bound`, shorter than a
    window, bounds matches as a `MatchBound` does; None where a match may fill its window.
    """

    span: int
    slide: int
    offset: int = 0
    bound: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.offset < self.slide:
            raise ValueError(f"an offset of {self.offset} where windows slide by {self.slide}")
        if self.bound is not None and not 0 < self.bound < self.span:
            raise ValueError(f"matches of less than {self.bound} in windows of {self.span}")

    @property
    def match_span(self) -> int:
        """From the first event of a match to its last it is less than this."""
        return self.span if self.bound is None else self.bound

    @property
    def open_at_once(self) -> int:
        """How many windows hold an instant at most."""
        return -(-self.span // self.slide)

    @property
    def overlap(self) -> bool:
        """Whether some instant is in two windows."""
        return self.slide < self.span

    @property
    def panes(self) -> TimeParts:
        """The longest ones of which every window is a whole number."""
        length = gcd(self.span, self.slide)
        return TimeParts(length, self.offset % length)

    @property
    def is_pane(self) -> bool:
        """Whether every window is one pane."""
        return self.panes.length == self.span == self.slide

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
        return number * self.slide + self.offset

    def end(self, number: Number) -> Number:
        return self.begin(number) + self.span

    def first_holding(self, tick: Number) -> Number:
        """The number of the first window that holds the instant, if one does: where windows are apart, the next after
        it.
        """
        return (tick - self.offset - self.span) // self.slide + 1

    def last_holding(self, tick: Number) -> Number:
        """The number of the last window that has begun."""
        return (tick - self.offset) // self.slide

    def beginnings(self, first: int, end: int) -> range:
        """When windows begin, from a time on and before another."""
        return range(self.begin(self.last_holding(first - 1) + 1), end, self.slide)

    def endings(self, first: int, end: int) -> range:
        """When windows end, from a time on and before another."""
        return range(self.end(self.first_holding(first - 1)), end, self.slide)

    def overhang(self, parts: TimeParts) -> int:
        """How far a window can reach over the end of the part of time in which it begins."""
        step = gcd(self.slide, parts.length)  # so much before the end, or less, a window begins in some part
        return max(0, self.span - step + (self.offset - parts.begin) % step)

    # ---- as Spark's SQL ----------------------------------------------------------------------------------------------

    def pane_sql(self, tick: str) -> str:
        """Where the pane of an instant begins."""
        return f"{tick} - {self.panes.since_sql(tick)}"

    def holding_sql(self, pane: str) -> str:
        """Where the windows begin that hold the pane that begins there, as an array."""
        last = f"{pane} - {TimeParts(self.slide, self.offset).since_sql(pane)}"  # the last window that has begun
        begins = f"TRANSFORM(SEQUENCE(0, {(self.span - 1) // self.slide}), i -> {last} - i * {self.slide}L)"
        return f"FILTER({begins}, w -> {self.end_sql('w')} >= {pane} + {self.panes.length}L)"

    def end_sql(self, begin: str) -> str:
        """Where the window ends that begins there."""
        return f"{begin} + {self.span}L"

    # ---- in words ----------------------------------------------------------------------------------------------------

    def clauses(self, duration: InWords) -> tuple[str, ...]:
        """As a query has it."""
        slide = () if self.slide == self.span else (f"SLIDE {duration(self.slide)}",)
        offset = (f"OFFSET {duration(self.offset)}",) if self.offset else ()
        length = f"WITHIN {duration(self.match_span)}", *((f"WINDOW {duration(self.span)}",) if self.bound else ())
        return *length, *slide, *offset

    def in_short(self, duration: InWords) -> str:
        slide = "" if self.slide == self.span else f" sliding by {duration(self.slide)}"
        offset = f" offset by {duration(self.offset)}" if self.offset else ""
        bound = f"{duration(self.bound)} in windows of " if self.bound else ""
        return f"{bound}{duration(self.span)}{slide}{offset}"

    def in_full(self, duration: InWords) -> str:
        offset = f", offset by {duration(self.offset)}" if self.offset else ""
        bound = f"; a match spans less than {duration(self.bound)}" if self.bound else ""
        return f"{duration(self.span)} long, a new one every {duration(self.slide)}{offset}{bound}"


@dataclass(frozen=True, slots=True)
class MatchBound:
    """Of a match query: from the first event of a match to its last it is less than `span`."""

    span: int

    @property
    def match_span(self) -> int:
        return self.span

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
    def match_span(self) -> None:
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


@dataclass(frozen=True, slots=True)
class Sessions:
    """Of an aggregate query: for each group its sessions. The events that satisfy one of the `letters` belong to one as
    long as each is less than `gap` after the one before it; the window is `[first, last + gap)`.

    A match may be as long as its session. `results` have the windows in two columns by which a session is a group
    (`events/sessions.py`); what finds matches in it sees one window over everything.
    """

    gap: int
    letters: tuple[int, ...] = ()

    @property
    def span(self) -> None:
        return None

    @property
    def match_span(self) -> None:
        return None

    @property
    def open_at_once(self) -> int:
        return 1

    @property
    def reach(self) -> int:
        """How far the edges of a window lie from any event in it at most."""
        return self.gap

    def clauses(self, duration: InWords) -> tuple[str, ...]:
        return (f"WITHIN SESSION {duration(self.gap)}",)

    def in_short(self, duration: InWords) -> str:
        return f"sessions, which end after {duration(self.gap)}"

    def in_full(self, duration: InWords) -> str:
        return f"the sessions of each group, which end when no event has come for {duration(self.gap)}"


Window = Sliding | MatchBound | Unbounded | Sessions
