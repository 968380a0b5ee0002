"""Where the search for a partition's next match goes on: what AFTER MATCH SKIP says."""

from __future__ import annotations

from typing import Literal as OneOf

from ..cheap_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SkipToNext:
    """At the event after the match's first one."""


@dataclass(frozen=True, slots=True)
class SkipPastLast:
    """Behind the match."""


@dataclass(frozen=True, slots=True)
class SkipTo:
    """At the first or last event that is bound to one of these variables; after the first one of the match at least."""

    end: OneOf["FIRST", "LAST"]
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SkipFor:
    """At the first event that is so many ticks later than the match's last."""

    ticks: int


AfterMatchSkip = SkipToNext | SkipPastLast | SkipTo | SkipFor
