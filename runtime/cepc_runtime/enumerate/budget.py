"""How much an enumeration may try before it stops with an error: never a hang."""

from __future__ import annotations

import re
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Final

from ..cheap_dataclass import dataclass
from ..plan.after import SkipPastLast
from ..plan.strategy import Join

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..plan.query import QueryPlan
    from ..plan.strategy import PhysicalQuery

PARTIAL_MATCHES: Final = 10_000_000
FOR_EACH_EVENT: Final = 20
"""Partial matches of a match query beside those: so many of each event are no surprise."""

MORE: Final = 50_000_000
"""But no more than these, however many events there are: rows take some tens of bytes each."""


def for_matches(limit: int | None, events: int) -> int | None:
    """The limit of a match query over so many events."""
    return None if limit is None else limit + min(FOR_EACH_EVENT * events, MORE)


_TRIED_FOR_EACH: Final = 100
"""Candidates that conditions exclude cost less than the partial matches that they let through, but not nothing."""


UNLIMITED: Final = (1 << 63) - 1


_AT_MOST: Final = re.compile(r"(COUNT\([^()*]+\)) (<=?) ([0-9]{1,9})")


def other_bound(condition: str) -> str | None:
    """What to write instead of a COUNT of all events that a match may have of a variable: in the words of a cure."""
    found = _AT_MOST.fullmatch(condition)
    most = 0 if found is None else int(found[3]) - (found[2] == "<")
    if found is None or most < 1:
        return None
    return f"a quantifier has the bound without listing: `{{1,{most}}}` in place of `+`"


PAST_LAST: Final = "AFTER MATCH SKIP PAST LAST EVENT"
LONGER: Final = "; a larger --most, or spark.cepc.most in Spark's configuration, lets it go on for longer"


@dataclass(frozen=True, slots=True)
class WhyListed:
    """Whose matches are listed one by one, and for what: a condition, or `are_rows`. With `past_last`, the next begins
    behind the last.
    """

    query: str
    condition: str | None = None
    select: str = "ANY"
    are_rows: bool = False
    past_last: bool = False


class TooManyPartialMatchesError(RuntimeError):
    """A query whose matches are enumerated has more of them than it may look at."""

    def __init__(self, listed: WhyListed, limit: int) -> None:
        super().__init__(listed, limit)
        self.listed, self.limit = listed, limit

    @property
    def why(self) -> str | None:
        """What they had to be enumerated for."""
        select, condition = self.listed.select, self.listed.condition
        selected = None if select == "ANY" else f"SELECT {select}"
        if condition is None:
            return selected and f"for {selected}"
        return f"to check the condition {condition}" + (f" with {selected}" if selected else "")

    @property
    def cure(self) -> str:
        any_event, condition = self.listed.select == "ANY", self.listed.condition
        if condition is not None and any_event and (bound := other_bound(condition)):
            return bound
        if self.listed.are_rows and any_event:
            return "SELECT NEXT, a shorter WITHIN or conditions on single events let fewer begin"
        if self.listed.are_rows:
            fewer = "" if self.listed.past_last else f"{PAST_LAST}, "
            bounded = "a bound such as `{1,100}` in place of `+`, a shorter WITHIN or conditions on single events"
            return f"{fewer}{bounded} let them be fewer or shorter"
        conditions = "a condition on single events" + (" or between neighbours" if any_event else "")
        return f"a shorter WITHIN, {conditions}, or a finer GROUP BY lets fewer begin"

    def __str__(self) -> str:
        why = f" {self.why}" if self.why else ""
        many = f"more than {self.limit:,} partial matches had to be enumerated"
        return f"query {self.listed.query}: {many}{why}; {self.cure}{LONGER}"


@dataclass(frozen=True)
class Spent:
    """What was taken of a budget, and of those of its parts."""

    partial: int
    tried: int
    parts: Mapping[int, Spent]


class MatchBudget:
    """Counts partial matches, and those tried, of all threads that have it; `limit` None is no limit. Where queries are
    found together, each part has a budget of its own, so that no query fails for the others' matches.
    """

    def __init__(self, listed: WhyListed, limit: int | None) -> None:
        self._listed, self.limit = listed, limit
        self.partial = 0
        self.tried = 0
        self._parts: dict[int, MatchBudget] = {}
        self._lock = Lock()

    def part(self, number: int, query: str) -> MatchBudget:
        """That of a part, which the query needs."""
        with self._lock:
            if number not in self._parts:
                self._parts[number] = MatchBudget(replace(self._listed, query=query), self.limit)
            return self._parts[number]

    @property
    def spent(self) -> Spent:
        return Spent(self.partial, self.tried, {number: part.spent for number, part in self._parts.items()})

    def back_to(self, spent: Spent) -> None:
        """What was found since then is to be found once more."""
        self.partial, self.tried = spent.partial, spent.tried
        self._parts = {number: part for number, part in self._parts.items() if number in spent.parts}
        for number, part in self._parts.items():
            part.back_to(spent.parts[number])

    @property
    def left(self) -> int:
        """How many may still be tried."""
        return UNLIMITED if self.limit is None else self.limit * _TRIED_FOR_EACH - self.tried

    def spend(self, *, tried: int, partial: int) -> None:
        with self._lock:
            self.tried += tried
            self.partial += partial
        if self.limit is not None and (self.partial > self.limit or self.tried > self.limit * _TRIED_FOR_EACH):
            raise TooManyPartialMatchesError(self._listed, self.limit)


def budget_of(query: QueryPlan, limit: int | None) -> MatchBudget:
    """For the matches of one query, not more than the limit."""
    condition = query.conditions[0].text if query.conditions else None
    past_last = isinstance(query.after, SkipPastLast)
    return MatchBudget(WhyListed(query.name, condition, query.select.word, query.kind == "match", past_last), limit)


def budget_over(together: Sequence[PhysicalQuery], most: int | None, events: int) -> MatchBudget:
    """For queries whose matches are found together, among so many events."""
    first = together[0]
    if isinstance(first.strategy, Join):
        return MatchBudget(WhyListed(first.name, select=first.select.word, are_rows=True), for_matches(most, events))
    return budget_of(first, for_matches(most, events) if first.kind == "match" else most)
