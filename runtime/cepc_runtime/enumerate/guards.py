"""Guards: which gaps must be free of matches of what is negated, and whether they are.

A gap between two events of the match bounds the range of the next event (`Guards.cut`): nothing else need be tested.
What depends on the window, or on conditions between negated and other events, waits until the match is complete
(`Guards.late`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..cheap_dataclass import dataclass
from .negation import earliest_ends, next_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ..numbers.columns import Bools, Ints
    from ..plan.positions import Acceptance, Edge, Guard, Instance
    from .block import MatchBlock
    from .pattern import IndexedPositions, Numbers
    from .timeline import Timeline


@dataclass(frozen=True, slots=True)
class Gap:
    """For rows of complete matches: nothing of the negation strictly between event `after[i]` and event `before[i]`;
    -1 stands for the edges of the window. The event that ends it was read at depth `depth` (None: the end of the
    match). `scopes` as in Guard.
    """

    negation: int
    scopes: tuple[tuple[int, Instance], ...]
    rows: Ints
    after: Ints
    before: Ints
    depth: int | None

    def take(self, which: Ints) -> Gap:
        return Gap(self.negation, self.scopes, self.rows[which], self.after[which], self.before[which], self.depth)


class Guards:
    """The guards of a pattern over one timeline.

    `joined` are the negations that conditions tie to other events, for which matches have to be looked at one by one.
    `own` gives, for a negation with conditions among its own variables alone, what `earliest_ends` gives for one
    without, of a span.
    """

    def __init__(
        self,
        pattern: IndexedPositions,
        timeline: Timeline,
        span: int | None,
        joined: frozenset[int],
        own: Mapping[int, Callable[[int | None], Ints]],
    ) -> None:
        self._pattern, self._timeline, self._span = pattern, timeline, span
        self.joined, self._own = joined, own
        self._next: dict[tuple[int, int | None], Ints] = {}
        self.late: tuple[tuple[Guard, ...], ...] = tuple(
            tuple(g for g in edge.guards if self._waits(g, edge)) for edge in pattern.edges
        )
        self._inner: dict[Edge, tuple[Guard, ...]] = {
            edge: tuple(g for g in edge.guards if g.negation not in joined and edge.source != 0)
            for edge in pattern.edges
        }

    def _waits(self, guard: Guard, edge: Edge) -> bool:
        return guard.negation in self.joined or edge.source == 0 or guard.track != 0

    @property
    def scopes(self) -> frozenset[int]:
        """The scopes whose instances make a difference to some guard."""
        positions = self._pattern.positions
        guards = [*(e.guards for e in positions.edges), *(a.guards for a in positions.acceptances)]
        return frozenset(scope for some in guards for guard in some for scope, _ in guard.scopes)

    @property
    def any_late(self) -> bool:
        """Whether a match that has been read to its end may still be forbidden."""
        return any(self.late) or any(acceptance.guards for acceptance in self._pattern.positions.acceptances)

    def next_end(self, negation: int) -> Ints:
        """Where the next match of the negation ends, for each position. One that must fit in a bound together with the
        match is no longer than the bound; the gap of NOT … WITHIN is as it is, whatever the bound.
        """
        plan = self._pattern.positions.negations[negation]
        span = self._span if plan.within is None else None
        if (negation, span) not in self._next:
            own = self._own.get(negation)
            ends = earliest_ends(plan.positions, self._timeline, span) if own is None else own(span)
            self._next[negation, span] = next_end(ends)
        return self._next[negation, span]

    # ---- while reading -----------------------------------------------------------------------------------------------

    def cut(self, edge: Edge, high: Ints, block: MatchBlock, rows: Ints) -> Ints:
        """Where the range of the edge's next event ends, given where it would end without guards."""
        for guard in self._inner[edge]:
            last = block.position[rows] if guard.track == 0 or block.tracks is None else block.tracks[guard.track][rows]
            known = last >= 0
            high = np.where(known, np.minimum(high, self._until(guard, np.where(known, last, 0))), high)
        return high

    def free_until(self, guards: Iterable[Guard], events: Ints) -> Ints:
        """Where the next event after each must lie before, of a match that has no tracks."""
        high = np.full(len(events), self._timeline.length)
        for guard in guards:
            high = np.minimum(high, self._until(guard, events))
        return high

    def _until(self, guard: Guard, last: Ints) -> Ints:
        """Where the event must lie before that ends the gap after each."""
        end = self.next_end(guard.negation)[self._timeline.instant_end[last]]
        # an event of the instant in which the forbidden match ends still has it outside its gap
        until: Ints = self._timeline.instant_end[end]
        deadline = self._deadline(guard.negation, last)
        return until if deadline is None else np.where(end < deadline, until, self._timeline.length)

    def _deadline(self, negation: int, last: Ints) -> Ints | None:
        within = self._pattern.positions.negations[negation].within
        return None if within is None else self._timeline.reach(last, within)

    # ---- complete matches --------------------------------------------------------------------------------------------

    def gaps(self, edges: Numbers, positions: Ints, acceptance: Acceptance) -> Iterator[Gap]:
        """The gaps of complete matches that remain to be looked at. `edges` and `positions` have a row for each
        depth.
        """
        for depth in range(len(edges)):
            for number in np.unique(edges[depth]).tolist():
                for guard in self.late[number]:
                    rows = np.flatnonzero(edges[depth] == number)
                    after = self._last(guard.track, edges[:depth, rows], positions[:depth, rows])
                    if guard.negation not in self.joined:  # gaps after an event have been looked at
                        rows, after = rows[after < 0], after[after < 0]
                    if len(rows):
                        yield Gap(guard.negation, guard.scopes, rows, after, positions[depth, rows], depth)
        for guard in acceptance.guards:
            rows = np.arange(edges.shape[1])
            if self._pattern.positions.negations[guard.negation].window_wide:
                after = np.full(len(rows), -1, dtype=np.int64)
            else:
                after = self._last(guard.track, edges, positions)
            yield Gap(guard.negation, guard.scopes, rows, after, np.full(len(rows), -1, dtype=np.int64), None)

    def _last(self, track: int, edges: Numbers, positions: Ints) -> Ints:
        """The last event on the track, or -1."""
        last = np.full(edges.shape[1], -1, dtype=np.int64)
        belongs = self._pattern.on_track(track)
        for depth in range(len(edges)):
            last = np.where(belongs[edges[depth]], positions[depth], last)
        return last

    def extent(self, gap: Gap, opens: Ints, closes: Ints) -> tuple[Ints, Ints]:
        """The gap as a range of positions, in windows that open and close at the given positions."""
        inner = gap.after >= 0
        low = np.where(inner, self._timeline.instant_end[gap.after], opens)
        high = np.where(gap.before >= 0, self._timeline.instant_start[gap.before], closes)
        deadline = self._deadline(gap.negation, np.maximum(gap.after, 0))
        if deadline is not None:
            # without an event after it, the gap ends with its own time, whatever the window
            early = np.where(gap.before >= 0, np.minimum(high, deadline), deadline)
            high = np.where(inner, early, high)
        return low, high

    def violated(self, gap: Gap, opens: Ints, closes: Ints) -> Bools:
        """Whether a match of the negation, one without joined conditions, lies in the gap."""
        low, high = self.extent(gap, opens, closes)
        return self.next_end(gap.negation)[low] < high
