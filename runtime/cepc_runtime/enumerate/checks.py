"""When conditions are checked while a pattern is followed: each as soon as no later event can change its outcome.

A condition without LAST is checked for the tuples of every new event; one with LAST(v) when v can no longer be bound.
Conditions of a named pattern look only at the events of one of its matches, an *instance* of the scope.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from .block import Path
from .bound import NewestBound, PathBound

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .block import Block
    from .condition import Condition
    from .evaluation import Evaluator
    from .pattern import Pattern
    from .timeline import Ints, Timeline

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
        pattern: Pattern,
        conditions: Sequence[Condition],
        timeline: Timeline,
        evaluator: Evaluator,
    ) -> None:
        self.pattern, self.conditions = pattern, tuple(conditions)
        self._timeline, self._evaluator = timeline, evaluator
        self.scopes: tuple[int, ...] = tuple(sorted({c.plan.scope for c in conditions if c.plan.scope is not None}))
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
        """Whether no LAST of the condition can change from the state on."""
        condition = self.conditions[c]
        return not any(v in self.pattern.still_binds(state, condition.plan.scope) for v in condition.lasts)

    def _due(self, c: int, number: int) -> Iterable[Check]:
        condition, edge = self.conditions[c], self.pattern.edges[number]
        scope = condition.plan.scope
        binds = edge.variable in condition.variables and (scope is None or scope in edge.scopes)
        closed, closes = self._closed(c, edge.source), self._closed(c, edge.target)
        if scope is not None and scope in edge.enters:
            if not closed:
                yield Check(c, "ended")
            if binds and closes:
                yield Check(c, "all")
        elif closes and not closed:
            yield Check(c, "all")
        elif closed and binds:
            yield Check(c, "new")

    def start(self, scope: int | None, starts: Ints | None) -> Ints | None:
        """Where the current instances of the scope begin, of the rows that `starts` is of."""
        return None if scope is None or starts is None else starts[self.scopes.index(scope)]

    def admit(
        self,
        edge: int,
        parent: Block | None,
        above: Ints,
        position: Ints,
        before: Ints | None,
        starts: Ints | None,
        due: Sequence[Check] | None = None,
        demanding: bool = False,
    ) -> tuple[Ints, Ints]:
        """Which candidates pass what is due (without `due`: on their edge), and for these the bits of undecided
        conditions.

        `before` and `starts` are where instances of scopes begin, before and after reading the new event. With
        `demanding`, what cannot be evaluated and nothing else excludes is an error.
        """
        due = self.on_edge[edge] if due is None else due
        rows = np.arange(len(position))
        bits = np.zeros(len(position), dtype=np.int64)
        path = Path(parent, above, edge, position)

        def bound(check: Check) -> PathBound:
            scope = self.conditions[check.condition].plan.scope
            begin = self.start(scope, before if check.extent == "ended" else starts)
            return self._bound(check, edge, path, None if begin is None else begin[rows])

        failing: list[Check] = []
        for check in due:
            verdict = self.conditions[check.condition].judge(
                bound(check), self._timeline.instant_start, self._evaluator
            )
            if verdict.undecided.any():
                bits[rows[verdict.undecided]] |= bit(check.condition)
                failing.append(check)
            if not verdict.holds.all():
                rows = rows[verdict.holds]
                path = Path(parent, above[rows], edge, position[rows])
        for check in failing if demanding else ():
            self.conditions[check.condition].demand(bound(check), self._timeline.instant_start, self._evaluator)
        return rows, bits[rows]

    def _bound(self, check: Check, edge: int, path: Path, start: Ints | None) -> PathBound:
        condition = self.conditions[check.condition]
        scope = condition.plan.scope
        if check.extent == "new":
            newest = self.pattern.edges[edge].variable
            return NewestBound(self.pattern, path, scope, start, newest, condition, self._timeline.instant_start)
        stop = np.full(path.count, path.length - 1, dtype=np.int64) if check.extent == "ended" else None
        return PathBound(self.pattern, path, scope, start, stop)
