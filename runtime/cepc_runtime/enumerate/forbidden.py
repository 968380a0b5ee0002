"""Negations whose conditions mention other events of the match: every negated match in a gap is paired with the
match.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .block import Path
from .bound import PathBound
from .extension import Sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..numbers.columns import Bools, Ints
    from ..plan.positions import Instance
    from ..sql.expression import Aggregate
    from .block import MatchBlock
    from .condition import Condition
    from .evaluation import Evaluator
    from .guards import Gap
    from .pattern import IndexedPositions
    from .search import Search
    from .standing import Standing
    from .timeline import Timeline


class JointBound:
    """What pairs of a negated match and a match have bound: the negated variables' events are of the one, all others
    of the other.
    """

    def __init__(self, negated: PathBound, other: PathBound, names: frozenset[str]) -> None:
        self.count = negated.count
        self._negated, self._other, self._names = negated, other, names

    def _of(self, variable: str) -> PathBound:
        return self._negated if variable in self._names else self._other

    def first(self, variable: str, places: int = 0) -> Ints:
        return self._of(variable).first(variable, places)

    def last(self, variable: str, places: int = 0) -> Ints:
        return self._of(variable).last(variable, places)

    def one(self, variable: str) -> Ints | None:
        return self._of(variable).one(variable)

    def before(self, variable: str, places: int = 0) -> Ints:
        return self._of(variable).before(variable, places)

    def every(self, variable: str) -> tuple[Ints, Ints]:
        return self._of(variable).every(variable)

    def newest(self) -> None:
        """Every event is looked at."""

    def any_event(self) -> Ints:
        return self._negated.any_event()

    def aggregate(self, aggregate: Aggregate) -> None:
        """Nobody keeps it."""


class Forbidden:
    """One negation with `conditions` that tie it to the matches of `pattern`; `search` and `standing` find the matches
    of what is negated by itself.
    """

    def __init__(
        self,
        pattern: IndexedPositions,
        search: Search,
        standing: Standing,
        conditions: Sequence[Condition],
        timeline: Timeline,
        evaluator: Evaluator,
    ) -> None:
        self._pattern, self._search, self._standing = pattern, search, standing
        self._negated = negated = search.pattern
        self._conditions = conditions
        self._timeline, self._evaluator = timeline, evaluator
        self._names = frozenset(negated.variables)

    def violated(self, block: MatchBlock, rows: Ints, gap: Gap, low: Ints, high: Ints) -> Bools:
        """For each of some rows of a block of matches, whether the positions from `low` to before `high` hold what the
        negation forbids together with it. The gap says where in the matches they are.
        """
        violated = np.zeros(len(rows), dtype=np.bool_)
        instances = {scope: self._instance(block, rows, scope, gap.depth, which) for scope, which in gap.scopes}
        for negated in self._search.blocks(Sources(low, high, high)):
            pairs = self._standing.accepted(negated).row
            sources = Path(negated, pairs).sources()
            new = ~violated[sources]
            pairs, sources = pairs[new], sources[new]
            extents = {scope: (start[sources], stop[sources]) for scope, (start, stop) in instances.items()}
            violated[sources[self._all_hold(negated, pairs, block, rows[sources], extents)]] = True
        return violated

    def _all_hold(
        self, negated: MatchBlock, pairs: Ints, block: MatchBlock, rows: Ints, instances: dict[int, tuple[Ints, Ints]]
    ) -> Bools:
        """For each pair of a negated match and a match whether every condition is true."""
        alive = np.arange(len(pairs))
        undecided: list[Condition] = []
        for condition in self._conditions:
            if condition.plan.scope is not None and condition.plan.scope not in instances:
                continue  # of another place where the same NOT stands
            verdict = condition.judge(
                self._bound(condition, negated, pairs[alive], block, rows[alive], instances, alive),
                self._timeline.instant_start,
                self._evaluator,
            )
            if verdict.undecided.any():
                undecided.append(condition)
            alive = alive[verdict.holds]
        for condition in undecided:  # nothing else has excluded them
            bound = self._bound(condition, negated, pairs[alive], block, rows[alive], instances, alive)
            alive = alive[condition.demand(bound, self._timeline.instant_start, self._evaluator)]
        holds = np.zeros(len(pairs), dtype=np.bool_)
        holds[alive] = True
        return holds

    def _bound(
        self,
        condition: Condition,
        negated: MatchBlock,
        pairs: Ints,
        block: MatchBlock,
        rows: Ints,
        instances: dict[int, tuple[Ints, Ints]],
        alive: Ints,
    ) -> JointBound:
        scope = condition.plan.scope
        start, stop = (None, None) if scope is None else (extent[alive] for extent in instances[scope])
        of_negated = PathBound(self._negated, Path(negated, pairs), None)
        of_others = PathBound(self._pattern, Path(block, rows), scope, start, stop)
        return JointBound(of_negated, of_others, self._names)

    def _instance(
        self, block: MatchBlock, rows: Ints, scope: int, depth: int | None, which: Instance
    ) -> tuple[Ints, Ints]:
        """At which depths the instance of the scope begins and ends that a NOT belongs to; the event at `depth` ends
        its gap (None: the end of the match).
        """
        if which == "none":
            return np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
        enters = self._pattern.enters(scope)
        path = Path(block, rows)
        length = path.length
        upto = length if depth is None else depth + (which == "next")
        start = np.zeros(len(rows), dtype=np.int64)
        stop = np.full(len(rows), length, dtype=np.int64)
        for at in range(length):
            begins = enters[path.level(at)[0]]
            if at < upto:
                start[begins] = at
            else:
                stop[begins] = np.minimum(stop[begins], at)
        return start, stop
