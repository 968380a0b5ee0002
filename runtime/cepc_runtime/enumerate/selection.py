"""SELECT CONTIGUOUS and SELECT NEXT: how far ahead the next event of a partial match may lie (docs/language.md,
"Selection").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..cheap_dataclass import dataclass
from ..plan.select import SelectContiguous, SelectNext
from .bound import Extended
from .checks import Check
from .ragged import expand

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..numbers.columns import Ints
    from ..plan.automaton import Automaton
    from ..plan.select import Select
    from .block import MatchBlock
    from .checks import Checks
    from .extension import Candidates, Selection
    from .pattern import IndexedPositions
    from .timeline import Timeline

    Ways = Mapping[int, Sequence[tuple[int, int]]]  # from a state on: letters, and edges that bind as is to be bound


def selection_of(select: Select, pattern: IndexedPositions, timeline: Timeline, checks: Checks) -> Selection | None:
    """What a match may not skip; None where it may skip anything."""
    match select:
        case SelectContiguous():
            return Contiguous(timeline)
        case SelectNext(prefixes):
            following = Following(pattern, timeline, checks)
            if any(condition.plan.scope is not None for condition in checks.conditions):
                return NextByDerivations(following)
            return NextByPrefixes(following, prefixes)
    return None


class Contiguous:
    """No event of the partition may be skipped: the next one is of the very next instant."""

    def __init__(self, timeline: Timeline) -> None:
        self._instant_end = timeline.instant_end

    def limit(self, block: MatchBlock) -> Ints:
        return self._instant_end[self._instant_end[block.position]]

    def prefixes(self, candidates: Candidates, parent: MatchBlock | None) -> None:  # noqa: ARG002
        return None


class NextByPrefixes:
    """An event may not be skipped that would extend the partial match to a prefix of the pattern, all conditions true
    of what is bound so far; NOT and WITHIN play no part. What is a prefix, an automaton says, whose state after each
    partial match is kept.
    """

    def __init__(self, following: Following, automaton: Automaton) -> None:
        self._following, self._automaton = following, automaton
        edge_of = {edge.variable: number for number, edge in enumerate(following.pattern.edges)}
        self._ways: dict[int, list[tuple[int, int]]] = {}
        for step in automaton.steps:
            edge = edge_of[automaton.variables[step.variable]]
            self._ways.setdefault(step.source, []).append((step.letter, edge))

    def prefixes(self, candidates: Candidates, parent: MatchBlock | None) -> Ints:
        """The state of the automaton after each candidate; -1 cannot be."""
        automaton, pattern = self._automaton, self._following.pattern
        before = np.zeros(len(candidates), dtype=np.int64) if parent is None else _states(parent)[candidates.above]
        after = np.full(len(candidates), -1, dtype=np.int64)
        names = np.array([automaton.variables.index(v) for v in pattern.variables])
        variable = names[pattern.variable[candidates.edge]]
        tied = np.array([edge.tie for edge in pattern.edges], dtype=np.bool_)[candidates.edge]
        for steps, tie in ((automaton.steps, False), (automaton.ties, True)):
            for step in steps:
                some = (before == step.source) & (variable == step.variable) & (tied == tie)
                some[some] = self._following.timeline.satisfies(step.letter)[candidates.position[some]]
                after[some] = step.target
        return after

    def limit(self, block: MatchBlock) -> Ints:
        return self._following.limit(block, _states(block), self._ways)


def _states(block: MatchBlock) -> Ints:
    assert block.prefix is not None  # each block of this search has been asked for it
    return block.prefix


class NextByDerivations:
    """The same where named patterns have conditions. Rows look at the edges of their own derivation, and, where blocks
    have words, at those of all derivations of the same word; so derivations that a NOT excludes have to be kept.
    """

    def __init__(self, following: Following) -> None:
        self._following = following
        edges = following.pattern.edges
        self._ways = {
            state: [(edges[number].letter, number) for number in leaving if not edges[number].tie]
            for state, leaving in enumerate(following.pattern.leaving)
        }

    def prefixes(self, candidates: Candidates, parent: MatchBlock | None) -> None:  # noqa: ARG002
        return None

    def limit(self, block: MatchBlock) -> Ints:
        states = self._following.pattern.target[block.edge].astype(np.int64)
        limit = self._following.limit(block, states, self._ways)
        if block.word is not None:
            least = np.full(int(block.word.max()) + 1, self._following.timeline.length)
            np.minimum.at(least, block.word, limit)
            limit = least[block.word]
        return limit


@dataclass(frozen=True, slots=True)
class PossibleEvent:
    """A way in which an event could extend some rows to a prefix of the pattern: an event of `letter`, bound as `edge`
    binds it, for which the conditions hold.
    """

    rows: Ints
    letter: int
    edge: int
    due: tuple[Check, ...]


def due_so_far(checks: Checks, number: int) -> Iterable[Check]:
    """What has to be true of the events so far with a new one read along the edge, without what is known to hold. An
    aggregate of all events says nothing before a match is complete.
    """
    edge = checks.pattern.edges[number]
    for c, condition in enumerate(checks.conditions):
        scope = condition.plan.scope
        enters = scope is not None and scope in edge.enters
        inside = scope is None or scope in edge.scopes
        if condition.whole:
            continue
        if condition.awaits:
            if enters:
                yield Check(c, "ended")
            yield Check(c, "all")
        elif inside and edge.variable in condition.variables:
            yield Check(c, "new")


class Following:
    """The first events that extend partial matches, whose conditions hold of what is bound so far."""

    def __init__(self, pattern: IndexedPositions, timeline: Timeline, checks: Checks) -> None:
        self.pattern, self.timeline, self._checks = pattern, timeline, checks

    def limit(self, block: MatchBlock, states: Ints, ways: Ways) -> Ints:
        """For each row the end of the first instant that has such an event; `states` are those of the rows."""
        limit = np.full(len(block), self.timeline.length)
        for option in self._options(states, ways):
            found = self._first(block, option, limit)
            limit[option.rows] = np.minimum(limit[option.rows], self.timeline.instant_end[found])
        return limit

    def _options(self, states: Ints, ways: Ways) -> Iterator[PossibleEvent]:
        for state in np.unique(states).tolist():
            rows = np.flatnonzero(states == state)
            for letter, edge in ways.get(state, ()):
                yield PossibleEvent(rows, letter, edge, tuple(due_so_far(self._checks, edge)))

    def _first(self, block: MatchBlock, option: PossibleEvent, limit: Ints) -> Ints:
        """For each of the option's rows the first event after it that extends it; the number of events if none does
        before the limit known so far and the end of the match's bound.
        """
        timeline = self.timeline
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
        extended = Extended(option.edge, block, rows, position, before, memory)
        return self._checks.admit(extended, option.due, demanding=True)[0]
