"""The plan: what the runtime executes, as plain data. The compiler writes it, a generated job carries it, the engines
read it.

Times are whole ticks of the event-time column (`StreamPlan.unit`). Events are ordered by partition, then time and ORDER
BY columns (an *instant*: events of one instant tie), then canonically (docs/language.md, "Time").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..cheap_dataclass import dataclass
from .sharing import SharedMatches, SharedStates, check_shared_once

if TYPE_CHECKING:
    from .strategy import PhysicalQuery
    from .stream import Letter, StreamPlan


@dataclass(frozen=True, slots=True)
class Need:
    """So many events that satisfy one of the letters."""

    letters: tuple[int, ...]
    events: int = 1


@dataclass(frozen=True, slots=True)
class Needs:
    """What every match of a query has, in letters that its executor asks for: a partition that lacks one of these has
    no match of it.
    """

    query: str
    of: tuple[Need, ...]


@dataclass(frozen=True, slots=True)
class PhysicalPlan:
    """All queries of a program over one stream, by which strategy each is executed, what they share, and what a
    partition needs to be looked at for them. Of a query that `needs` does not name every partition is looked at.

    A state of a query is in one part of `sharing` that is `equal` at most, and in one other at most; there, the first
    member of the equal part stands for all its members.
    """

    stream: StreamPlan
    letters: tuple[Letter, ...]
    queries: tuple[PhysicalQuery, ...]
    sharing: tuple[SharedStates, ...] = ()
    shared_matches: tuple[SharedMatches, ...] = ()
    needs: tuple[Needs, ...] = ()

    def __post_init__(self) -> None:
        check_shared_once(self.sharing)
