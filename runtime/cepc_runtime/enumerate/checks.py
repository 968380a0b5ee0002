"""When conditions are checked while a pattern is followed: each as soon as no later event can change its outcome.

A condition without LAST is checked for the tuples of every new event; one with LAST(v), a place after the first, or an
aggregate of all of v, when v can no longer be bound. Conditions of a named pattern look only at the events of one of
its matches, an *instance* of the scope.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ..cheap_dataclass import dataclass
from .bound import CurrentBound, NewestBound
from .count_limits import count_limits
from .memory import MatchMemory
from .shares import shares_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..numbers.columns import Bools, Ints
    from .block import Path
    from .bound import Extended, PathBound
    from .condition import Condition
    from .evaluation import Evaluator
    from .pattern import IndexedPositions
    from .timeline import Timeline

Extent = Literal["new", "all", "ended"]


@dataclass(frozen=True, slots=True)
class Check:
    """Condition number `condition` over the tuples with the `new` event, over `all` up to and with it, or over those
    of the instance that has `ended` just before it.
    """

    condition: int
    extent: Extent


def bit(condition: int) -> int:
    """The bit of a condition among the undecided ones; the last bit is shared by all that are too many."""
    return 1 << min(condition, 62)


class Checks:
    """The conditions of one pattern, and when each is checked."""

    def __init__(
        self,
        pattern: IndexedPositions,
        conditions: Sequence[Condition],
        timeline: Timeline,
        evaluator: Evaluator,
    ) -> None:
        self.pattern, self.conditions = pattern, tuple(conditions)
        self._timeline, self._evaluator = timeline, evaluator
        self.memory = MatchMemory(pattern, conditions, timeline, evaluator)
        self.shares = shares_of(pattern, conditions)
        self.limits = tuple(limit for condition in conditions for limit in count_limits(condition.plan))
        by_cost = sorted(
            range(len(conditions)),
            key=lambda c: len(pattern.lists(conditions[c].plan.scope) & set(conditions[c].eaches)),
        )
        self.on_edge: tuple[tuple[Check, ...], ...] = tuple(
            tuple(check for c in by_cost for check in self._due(c, edge)) for edge in range(len(pattern.edges))
        )
        self.at_end: tuple[tuple[int, ...], ...] = tuple(
            tuple(c for c in by_cost if not self._closed(c, state)) for state in range(pattern.positions.states)
        )

    def _closed(self, c: int, state: int) -> bool:
        """Whether no later event can change what the condition says of those that there are."""
        condition = self.conditions[c]
        return condition.awaits.isdisjoint(self.pattern.still_binds(state, condition.plan.scope))

    def _due(self, c: int, number: int) -> Iterable[Check]:
        condition, edge = self.conditions[c], self.pattern.edges[number]
        scope = condition.plan.scope
        binds = edge.variable in condition.variables and (scope is None or scope in edge.scopes)
        closed, closes = self._closed(c, edge.source), self._closed(c, edge.target)
        if scope is not None and scope in edge.enters:
            if not closed:
                yield Check(c, "ended")
            if closes and (binds or condition.whole):
                yield Check(c, "all")
        elif closes and not closed:
            yield Check(c, "all")
        elif closed and binds:
            yield Check(c, "new")

    def hopeful(self, memory: Ints | None) -> Bools | None:
        """Which rows with this memory may still lead to a match: not those with more events than a count may have. None
        where no count has a limit.
        """
        found: Bools | None = None
        for limit in self.limits:
            known = self.memory.aggregate(limit.count, limit.scope, memory)
            if known is not None:
                column, _ = known
                within = column.fill_null(0).to_numpy(zero_copy_only=False) <= limit.most
                found = within if found is None else found & within
        return found

    def admit(
        self,
        extended: Extended,
        due: Sequence[Check] | None = None,
        demanding: bool = False,
        spared: Bools | None = None,
    ) -> tuple[Ints, Ints]:
        """Which rows pass what is due (without `due`: on their edge), and for these the bits of undecided conditions.

        With `demanding`, what cannot be evaluated and nothing else excludes is an error. Rows that fail nothing but an
        aggregate of all events pass where they can be marked in `spared`.
        """
        due = self.on_edge[extended.edge] if due is None else due
        rows = np.arange(len(extended))
        bits = np.zeros(len(extended), dtype=np.int64)
        failing: list[Check] = []
        for check in due:
            condition = self.conditions[check.condition]
            verdict = condition.judge(self._bound(check, extended), self._timeline.instant_start, self._evaluator)
            if verdict.undecided.any():
                bits[rows[verdict.undecided]] |= bit(check.condition)
                failing.append(check)
            if spared is not None and condition.whole:
                spared[rows[~verdict.holds]] = True
            elif not verdict.holds.all():
                rows, extended = rows[verdict.holds], extended.take(verdict.holds)
        for check in failing if demanding else ():
            bound = self._bound(check, extended)
            self.conditions[check.condition].demand(bound, self._timeline.instant_start, self._evaluator)
        return rows, bits[rows]

    def _bound(self, check: Check, rows: Extended) -> PathBound:
        condition = self.conditions[check.condition]
        match check.extent:
            case "new":
                return NewestBound(self.pattern, rows, condition, self.memory, self._timeline.instant_start)
            case "all":
                return self.current(condition, rows.path, rows.memory)
        stop = np.full(len(rows), rows.path.length - 1, dtype=np.int64)
        return CurrentBound(self.pattern, rows.path, condition.plan.scope, self.memory, rows.before, stop)

    def current(self, condition: Condition, path: Path, memory: Ints | None) -> PathBound:
        """What the rows of a path, whose memory is given, have bound in the current instance of the condition's
        scope.
        """
        return CurrentBound(self.pattern, path, condition.plan.scope, self.memory, memory)
