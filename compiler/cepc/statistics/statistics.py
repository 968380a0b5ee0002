"""The statistics of one stream.

They are keyed by names and by the text of conditions, not by numbers of a plan, so that they stay valid when queries
are edited. What is not known is assumed, always the same.
"""

from __future__ import annotations

import math
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .conditions import condition_text, conjunction_text, letter_text
from .defaults import GROUPS, RATE, assumed_selectivity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cepc_runtime.plan.stream import Letter
    from cepc_runtime.sql.expression import Expression

NOTHING: Mapping[str, float] = MappingProxyType({})
NOWHERE: Mapping[str, Mapping[str, float]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class TypeStatistics:
    """Of the events of one type: how many come in a second, and for which share of them each condition is true."""

    rate: float | None = None
    true_for: Mapping[str, float] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True)
class Grouping:
    """The stream parted by some columns, of the events that some query looks at.

    `largest` is the share of all events that the group with most of them has. `in_groups_with` is for each type, and
    for the conditions of each of its letters, the share of the events that stand in groups which have such an event;
    without a condition the text is "".
    """

    groups: float | None = None
    largest: float | None = None
    in_groups_with: Mapping[str, Mapping[str, float]] = field(default_factory=lambda: NOWHERE)


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known about a stream. Every question has an answer.

    `types` by the name of the event type, `anything` for events of whatever type (its rate is that of all types),
    `groupings` by the names of the columns, sorted. `events` and `seconds` say how large the sample was, 0 without one.

    >>> from cepc_runtime.plan.stream import Letter
    >>> Statistics(types={"Travel": TypeStatistics(rate=2.5)}).rate(Letter("Travel"))
    2.5
    """

    types: Mapping[str, TypeStatistics] = field(default_factory=lambda: MappingProxyType({}))
    anything: TypeStatistics = TypeStatistics()
    groupings: Mapping[tuple[str, ...], Grouping] = field(default_factory=lambda: MappingProxyType({}))
    events: int = 0
    seconds: float = 0.0

    def rate(self, letter: Letter) -> float:
        """Events of the letter in a second, over all groups."""
        return self._type_rate(letter.raw_type) * self.selectivity(letter)

    def selectivity(self, letter: Letter) -> float:
        """The share of the letter's events among those of its type.

        Where it was not measured for all its conditions together, they are taken to be independent.
        """
        known = self._type(letter.raw_type).true_for.get(letter_text(letter))
        if known is not None:
            return known
        kept = self._all_true(letter.raw_type, letter.conditions)
        return kept * math.prod(1 - self._all_true(letter.raw_type, e) for e in letter.excluded)

    def groups(self, partition: Iterable[str]) -> float:
        """How many groups the partition makes. Of columns that were not measured together: at least as many as a part
        of them makes, and at most as many as they make with others.
        """
        wanted = frozenset(partition)
        if not wanted:
            return 1.0
        known = {frozenset(by): g.groups for by, g in self.groupings.items() if g.groups is not None}
        least = max((n for by, n in known.items() if by <= wanted), default=0.0)
        most = min((n for by, n in known.items() if by >= wanted), default=math.inf)
        return known.get(wanted, min(max(GROUPS, least), most))

    def largest(self, partition: Iterable[str]) -> float:
        """The share of the events that the largest group has; 0 where it is not known."""
        return self._grouping(partition).largest or 0.0

    def in_groups_with(self, letter: Letter, partition: Iterable[str]) -> float:
        """The share of the events that stand in groups of the partition with an event of the letter: at most that of
        groups with one of its type. 1 where it is not known.
        """
        known = self._grouping(partition).in_groups_with.get(letter.raw_type or "", NOTHING)
        return known.get(letter_text(letter), known.get("", 1.0))

    def _type(self, name: str | None) -> TypeStatistics:
        return self.anything if name is None else self.types.get(name, TypeStatistics())

    def _type_rate(self, name: str | None) -> float:
        known = self._type(name).rate
        if known is not None:
            return known
        rates = [t.rate for t in self.types.values() if t.rate is not None]
        return math.fsum(rates) if name is None and rates else RATE

    def _all_true(self, name: str | None, conditions: tuple[Expression, ...]) -> float:
        known = self._type(name).true_for
        together = known.get(conjunction_text(conditions))
        if together is not None:
            return together
        each = (known.get(condition_text(c)) for c in conditions)
        return math.prod(
            assumed_selectivity(c) if share is None else share for c, share in zip(conditions, each, strict=True)
        )

    def _grouping(self, partition: Iterable[str]) -> Grouping:
        return self.groupings.get(tuple(sorted(set(partition))), Grouping())
