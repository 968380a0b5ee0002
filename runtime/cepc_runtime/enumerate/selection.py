"""SELECT CONTIGUOUS and SELECT NEXT: how far ahead the next event of a partial match may lie (docs/language.md,
"Selection").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .checks import Check
from .ragged import expand

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..plan import Automaton
    from .block import MatchBlock
    from .checks import Checks
    from .extension import Candidates
    from .pattern import IndexedPositions
    from .timeline import Ints, Timeline


class Contiguous:
    """No event of the partition may be skipped: the next one is of the very next instant."""

    def __init__(self, timeline: Timeline) -> None:
        self._instant_end = timeline.instant_end

    def limit(self, block: MatchBlock) -> Ints:
        return self._instant_end[self._instant_end[block.position]]

    def prefixes(self, candidates: Candidates, parent: MatchBlock | None) -> None:  # noqa: ARG002
        return None


@dataclass(frozen=True, slots=True)
class PossibleEvent:
    """A way in which an event could extend some rows to a prefix of the pattern: an event of `letter`, bound as `edge`
    binds it, for which the conditions hold.
    """

    rows: Ints
    letter: int
    edge: int
    due: tuple[Check, ...]


class NextMatch:
    """An event may not be skipped that would extend the partial match to a prefix of the pattern, all conditions true
    of what is bound so far; NOT and WITHIN play no part.

    `prefixes` says what is a prefix, without guards. Without it, rows look at the edges of their own derivation (and,
    where blocks have words, at those of all derivations of the same word): the way to go where named patterns have
    conditions. Then derivations that a NOT excludes have to be kept.
    """

    def __init__(
        self, pattern: IndexedPositions, timeline: Timeline, checks: Checks, prefixes: Automaton | None
    ) -> None:
        self._pattern, self._timeline, self._checks = pattern, timeline, checks
        self._automaton = None if any(c.plan.scope is not None for c in checks.conditions) else prefixes
        self._steps: dict[
            int, list[tuple[int, int, int]]
        ] = {}  # source: (target, letter, an edge that binds the same variable)
        if self._automaton is not None:
            edge_of = {edge.variable: number for number, edge in enumerate(pattern.edges)}
            for step in self._automaton.steps:
                edge = edge_of[self._automaton.variables[step.variable]]
                self._steps.setdefault(step.source, []).append((step.target, step.letter, edge))

    @property
    def by_derivations(self) -> bool:
        return self._automaton is None

    # ---- states among prefixes ---------------------------------------------------------------------------------------

    def prefixes(self, candidates: Candidates, parent: MatchBlock | None) -> Ints | None:
        """The state of the automaton of prefixes after each candidate; -1 cannot be."""
        automaton = self._automaton
        if automaton is None:
            return None
        before = np.zeros(len(candidates), dtype=np.int64)
        if parent is not None:
            assert parent.prefix is not None
            before = parent.prefix[candidates.above]
        after = np.full(len(candidates), -1, dtype=np.int64)
        names = np.array([automaton.variables.index(v) for v in self._pattern.variables])
        variable = names[self._pattern.variable[candidates.edge]]
        tied = np.array([edge.tie for edge in self._pattern.edges], dtype=np.bool_)[candidates.edge]
        for steps, tie in ((automaton.steps, False), (automaton.ties, True)):
            for step in steps:
                some = (before == step.source) & (variable == step.variable) & (tied == tie)
                some[some] = self._timeline.satisfies(step.letter)[candidates.position[some]]
                after[some] = step.target
        return after

    # ---- limits ------------------------------------------------------------------------------------------------------

    def limit(self, block: MatchBlock) -> Ints:
        limit = np.full(len(block), self._timeline.length)
        for option in self._options(block):
            found = self._first(block, option, limit)
            limit[option.rows] = np.minimum(limit[option.rows], self._timeline.instant_end[found])
        if self._automaton is None and block.word is not None:
            least = np.full(int(block.word.max()) + 1, self._timeline.length)
            np.minimum.at(least, block.word, limit)
            limit = least[block.word]
        return limit

    def _options(self, block: MatchBlock) -> Iterator[PossibleEvent]:
        if self._automaton is not None:
            assert block.prefix is not None
            states, ways = (
                block.prefix,
                {source: [(w[1], w[2]) for w in steps] for source, steps in self._steps.items()},
            )
        else:
            states = self._pattern.target[block.edge].astype(np.int64)
            ways = {
                state: [(self._pattern.edges[n].letter, n) for n in leaving if not self._pattern.edges[n].tie]
                for state, leaving in enumerate(self._pattern.leaving)
            }
        for state in np.unique(states).tolist():
            rows = np.flatnonzero(states == state)
            for letter, edge in ways.get(state, ()):
                yield PossibleEvent(rows, letter, edge, tuple(self._due(edge)))

    def _due(self, number: int) -> Iterable[Check]:
        """What has to be true of the events so far with a new one read along the edge; what is known to hold is left
        out.
        """
        edge = self._pattern.edges[number]
        for c, condition in enumerate(self._checks.conditions):
            scope = condition.plan.scope
            enters = scope is not None and scope in edge.enters
            inside = scope is None or scope in edge.scopes
            if condition.lasts:
                if enters:
                    yield Check(c, "ended")
                yield Check(c, "all")
            elif inside and edge.variable in condition.variables:
                yield Check(c, "new")

    def _first(self, block: MatchBlock, option: PossibleEvent, limit: Ints) -> Ints:
        """For each of the option's rows the first event after it that extends it; the number of events if none does
        before the limit known so far and the end of the match's bound.
        """
        timeline = self._timeline
        low = timeline.instant_end[block.position[option.rows]]
        rank, events = timeline.rank(option.letter), timeline.events_of(option.letter)
        place = rank[low]
        stop = np.maximum(rank[np.minimum(limit, block.end)[option.rows]], place)
        found = np.full(len(option.rows), timeline.length)
        searching = np.flatnonzero(place < stop)
        if not option.due:
            found[searching] = events[place[searching]]
            return found
        width = 1
        while len(searching):  # a few events of every row, then twice as many of those that have found none
            which, offset = expand(np.minimum(stop[searching] - place[searching], width))
            position = events[place[searching][which] + offset]
            passed = self._passing(block, option, option.rows[searching[which]], position)
            hits = searching[which[passed]]
            found[hits[::-1]] = position[passed][::-1]  # of several of one row the first stays
            place[searching] += width
            searching = searching[(place[searching] < stop[searching]) & (found[searching] == timeline.length)]
            width *= 2
        return found

    def _passing(self, block: MatchBlock, option: PossibleEvent, rows: Ints, position: Ints) -> Ints:
        """The candidates, given as rows of the block and events, for which the conditions hold."""
        before = None if block.memory is None else block.memory[:, rows]
        edges = np.full(len(rows), option.edge, dtype=np.int32)
        memory = self._checks.memory.after(edges, position, block.depth + 1, before)
        return self._checks.admit(option.edge, block, rows, position, before, memory, option.due, demanding=True)[0]
