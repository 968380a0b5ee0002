"""A stretch of events that is run at once: which of its rows are wanted, and by which means they are found."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Final

from ..cheap_dataclass import dataclass
from ..enumerate.budget import PARTIAL_MATCHES
from ..enumerate.search import BLOCK
from ..work_done import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..enumerate.arranged import Arranged
    from ..enumerate.budget import MatchBudget
    from ..enumerate.standing import Matches
    from ..numbers.columns import Bools
    from ..plan.physical import PhysicalPlan
    from ..plan.strategy import PhysicalQuery
    from ..plan.windows import Sliding
    from .grouped import Reading
    from .segments import Segments

    WhichMatches = Callable[[PhysicalQuery, Matches, Arranged], Bools]
    """Which of some matches of a query are wanted."""

_FAR: Final = 1 << 62
"""Beyond the number of any window."""


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """Where windows begin: from `first`, before `end`, in ticks; None is no bound. With `segments`, of which SEGMENT is
    an attribute of the partition, also in the segment of their partition.
    """

    first: int | None = None
    end: int | None = None
    segments: Segments | None = None

    def within(self, other: TimeSpan) -> TimeSpan:
        """What begins in both; the other has no segments."""
        firsts = [first for first in (self.first, other.first) if first is not None]
        ends = [end for end in (self.end, other.end) if end is not None]
        return TimeSpan(max(firsts, default=None), min(ends, default=None), self.segments)

    def numbers(self, window: Sliding) -> tuple[int, int] | None:
        """The first and the last number of the windows that begin from `first`, before `end`; None if all do."""
        if self.first is None and self.end is None:
            return None
        low = -_FAR if self.first is None else window.last_holding(self.first - 1) + 1
        return low, _FAR if self.end is None else window.last_holding(self.end - 1)


EVERYWHERE: Final = TimeSpan()


@dataclass(frozen=True)
class Stretch:
    """Events, and what is known of them: they are whole groups, or all events of the windows that begin in the span and
    of the matches that are `known` (None: of all). A batch is one stretch, of which everything is known.

    `whole`: the groups are said to be whole, and all their rows are wanted. So what a group has not got here it has
    nowhere, and groups in which nothing can match are left out.

    Events that one of the queries `beside` reads are held together with the others, though none of its rows is wanted.
    """

    plan: PhysicalPlan
    reading: Reading
    span: TimeSpan = EVERYWHERE
    known: WhichMatches | None = None
    beside: tuple[PhysicalQuery, ...] = ()
    whole: bool = False

    def __post_init__(self) -> None:
        if self.whole and (self.span != EVERYWHERE or self.known is not None or self.beside):
            raise ValueError("some rows of whole groups are not asked for")


@dataclass(frozen=True)
class Means:
    """How rows may be found. `most` bounds the partial matches that are listed for an aggregate query, and for a match
    query beside FOR_EACH_EVENT; `block` those held at once, for each event that they have. With `interpreted` nothing
    is compiled, with None what is worth it. `work` is called with what has been done. `budgets` are those of queries
    for which a stretch is a part of what is run, by name.
    """

    most: int | None = PARTIAL_MATCHES
    block: int = BLOCK
    interpreted: bool | None = None
    work: Work = field(default_factory=Work)
    budgets: Mapping[str, MatchBudget] = field(default_factory=dict)
