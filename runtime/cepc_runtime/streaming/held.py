"""What a bucket keeps of its events: those that later rows may need, and panes into which others are folded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from ..numbers.columns import Bools
    from ..panes.folded import Folded


@dataclass(frozen=True)
class Held:
    """The events of a class of queries that later rows may need.

    `passed[q]` says, of a query q with AFTER MATCH, with which events no match may begin any more. What SKIP FOR says
    of events to come is not here: a class may hold none of its events, and be silent.
    """

    events: Any
    passed: dict[int, Bools]


@dataclass(frozen=True)
class Panes:
    """The folded panes of a family: all their events before `until` are in their numbers, none of the others is."""

    folded: Folded
    until: int
