"""The parts of an enumeration put together: for a query's pattern, and for everything that it negates."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from ..plan.after import SkipFor
from ..plan.query import numbers_matches
from ..plan.select import SelectAny
from ..sql.evaluate import EvaluationError
from .after import AfterMatch
from .budget import budget_of
from .checks import Checks
from .condition import Condition
from .extension import Extension, Sources
from .extremes import by_extremes
from .forbidden import Forbidden
from .guards import Guards
from .numbering import Numbering
from .pattern import IndexedPositions
from .search import BLOCK, Search, SearchMeans, untold
from .selection import NextByDerivations, selection_of
from .standing import Bounded, Standing
from .time_bounds import time_bound
from .timeline import Timeline
from .walk.numbers import NotComputedError
from .walk.run import Walking
from .walk.states import NoWalk, walk_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..events.grouped import Events
    from ..events.letters import Kinds
    from ..numbers.columns import Bools, Ints
    from ..plan.after import AfterMatchSkip
    from ..plan.positions import ConditionPlan, Positions
    from ..plan.query import QueryPlan
    from ..plan.select import Select
    from .budget import MatchBudget
    from .evaluation import Evaluator
    from .standing import Frames, HoldingWindows, Matches, Violated
    from .walk.states import Walk


def timeline_of(events: Events, kinds: Kinds) -> Timeline:
    """The events as enumeration needs them; they must be in canonical order, and `kinds` of them in the same order."""

    def satisfies(letter: int) -> Bools:
        return np.array([letter in letters for letters in kinds.letters], dtype=np.bool_)[kinds.of]

    return Timeline(events.ticks, events.group_starts, events.instant_starts, lru_cache(None)(satisfies))


class Enumerator:
    """Enumerates the matches of one query over events arranged by its partition.

    `windows` says in which windows matches may stand; without it each match of a match query has its own. `budget`
    bounds the partial matches that are looked at (`TooManyPartialMatchesError`), `block` those held at once for each
    event of a match. `reached` is called with the share of first events that are done.
    """

    def __init__(
        self,
        query: QueryPlan,
        timeline: Timeline,
        evaluator: Evaluator,
        *,
        windows: HoldingWindows | None = None,
        budget: MatchBudget | None = None,
        block: int = BLOCK,
        reached: Callable[[float], None] = untold,
    ) -> None:
        self.query, self.timeline, self.evaluator = query, timeline, evaluator
        self._means = SearchMeans(budget or budget_of(query, None), block, reached)
        self._merging = query.positions.ambiguous
        negated = {edge.variable for negation in query.positions.negations for edge in negation.positions.edges}
        about_negated = [c for c in query.conditions if negated & set(c.variables)]
        positive = [c for c in query.conditions if c not in about_negated]
        self._reaching, self._span = timeline, query.window.match_span
        waits = isinstance(query.after, SkipFor)  # by the query's own ticks
        if self._span is None and not waits:
            bound = time_bound(positive, query.positions, timeline, evaluator.table)
            if bound is not None:
                self._reaching, self._span, positive = bound.timeline, bound.span, [*bound.others]
        self.extension, self.standing = self._parts(
            query.positions, positive, about_negated, self._span, query.window.span,
            windows or Bounded(timeline, query.window.span), query.select, self._reaching,
        )  # fmt: skip

    def matches(self, sources: Sources | None = None) -> Iterator[Matches]:
        """The matches that stand, in batches of matches of one length. `sources` says where they may lie, if not
        anywhere; AFTER MATCH, where the next match depends on the last, looks everywhere.
        """
        if self.query.after is not None:
            walking = self.walking(self.query.after)
            yield from self.grown(self.query.after) if walking is None else walking.matches(self._means)
            return
        search = Search(self.extension, self._means, self._merging)
        for block in search.blocks(self.everywhere() if sources is None else sources):
            found = self.standing.matches(block)
            if found is not None:
                yield found

    def grown(self, after: AfterMatchSkip) -> Iterator[Matches]:
        """The matches of AFTER MATCH where they are not walked: those of many first events grow together."""
        return AfterMatch(self.extension, self.standing, self._means, after, self._merging, self._numbering()).matches()

    def _numbering(self) -> Numbering | None:
        return Numbering(self.timeline.group) if numbers_matches(self.query) else None

    def walk(self) -> Walk | NoWalk:
        """How the matches of AFTER MATCH can be walked."""
        extension = self.extension
        return walk_of(extension.checks, extension.guards, self.query.select)

    def walking(self, after: AfterMatchSkip) -> Walking | None:
        """What walks them; None where they have to grow: where numbers are too large for formulas, and where a test
        cannot be evaluated for some event, since no match may get as far as that event, and only growing them tells.
        """
        walk = self.walk()
        if isinstance(walk, NoWalk):
            return None
        extension = self.extension
        try:
            return Walking(
                walk, extension.pattern, self._reaching, self.evaluator, extension.guards, span=self._span, after=after,
                numbering=self._numbering(),
            )  # fmt: skip
        except (EvaluationError, NotComputedError):
            return None

    def standing_matches(self) -> Iterator[tuple[Matches, Frames]]:
        """The same with the windows in which they stand; `row` is of the batch."""
        search = Search(self.extension, self._means, self._merging)
        for block in search.blocks(self.everywhere()):
            frames = self.standing.frames(block)
            if len(frames.row):
                rows, place = np.unique(frames.row, return_inverse=True)
                yield self.standing.taken(block, rows), replace(frames, row=place)

    def everywhere(self) -> Sources:
        starts = self.timeline.group_starts
        return Sources(starts[:-1], starts[1:], starts[1:])

    def _parts(
        self,
        positions: Positions,
        own: Sequence[ConditionPlan],
        every: Sequence[ConditionPlan],
        bound: int | None,
        span: int | None,
        windows: HoldingWindows,
        select: Select,
        reaching: Timeline | None = None,
    ) -> tuple[Extension, Standing]:
        """What extends the partial matches of a pattern, and what finds the matches that stand among them.

        `own` are the conditions of the pattern's variables alone, `every` all that may mention what it negates. A match
        is as short as `bound` says, by the ticks of `reaching` where these are others, and one of what is negated as
        `span` says, which is that of the window.
        """
        pattern = IndexedPositions(positions)
        checks = Checks(pattern, [Condition(by_extremes(plan)) for plan in own], self.timeline, self.evaluator)
        forbidden: dict[int, Violated] = {}
        ends: dict[int, Callable[[int | None], Ints]] = {}
        for number, negation in enumerate(positions.negations):
            inner = frozenset(edge.variable for edge in negation.positions.edges)
            conditions = [c for c in map(Condition, every) if c.variables & inner]
            alone = [_within(c.plan, negation.positions) for c in conditions if c.variables <= inner]
            joined = [c for c in conditions if not c.variables <= inner]
            if joined:
                fits = span if negation.within is None else None
                parts = self._parts(
                    negation.positions, alone, (), fits, fits, Bounded(self.timeline, None), SelectAny()
                )
                search = Search(parts[0], self._means.within, False)
                together = Forbidden(pattern, search, parts[1], joined, self.timeline, self.evaluator)
                forbidden[number] = together.violated
            elif alone:
                ends[number] = partial(self._ends, negation.positions, alone)
        guards = Guards(pattern, self.timeline, span, frozenset(forbidden), ends)
        selection = selection_of(select, pattern, self.timeline, checks)
        keeps_excluded = self._merging and isinstance(selection, NextByDerivations)
        extension = Extension(
            pattern, self.timeline, checks, guards, bound, selection, keeps_excluded, reaching or self.timeline
        )
        return extension, Standing(pattern, self.timeline, checks, guards, forbidden, self.evaluator, windows)

    def _ends(self, positions: Positions, conditions: Sequence[ConditionPlan], span: int | None) -> Ints:
        """What `earliest_ends` (`negation.py`) gives, for a negation with conditions of its own: by enumeration."""
        anywhere = Bounded(self.timeline, None)
        extension, standing = self._parts(positions, conditions, (), span, span, anywhere, SelectAny())
        ends = np.full(self.timeline.length, self.timeline.length)
        for block in Search(extension, self._means.within, False).blocks(self.everywhere()):
            found = standing.matches(block)
            if found is not None:
                np.minimum.at(ends, found.positions[0], found.positions[-1])
        return ends


def _within(condition: ConditionPlan, positions: Positions) -> ConditionPlan:
    """A condition on what is negated alone. One of a named pattern around the NOT is about all of it."""
    inside = any(condition.scope in edge.scopes for edge in positions.edges)
    return condition if inside else replace(condition, scope=None)
