"""Where the matches of what is negated end: the earliest end of one that begins at a position or later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..numbers.columns import Ints
    from ..plan.positions import Positions
    from .timeline import Timeline


def next_end(ends: Ints) -> Ints:
    """For each position the earliest end of a match that begins there or later, given the earliest that begins right
    there.

    No end is the number of events. A range of positions holds a match if and only if the next end of its first
    position lies in it; `next_end` also has the position after the last event.
    """
    with_none = np.append(ends, len(ends))
    return np.minimum.accumulate(with_none[::-1])[::-1]


def earliest_ends(positions: Positions, timeline: Timeline, span: int | None) -> Ints:
    """For each event the position at which the earliest match without conditions that begins with it ends, less than
    `span` later; the number of events where none does.
    """
    none = timeline.length
    accepting = {acceptance.state for acceptance in positions.acceptances}
    here = np.arange(none)
    after = {state: here if state in accepting else np.full(none, none) for state in range(positions.states)}
    while _improve(positions, timeline, after, accepting):
        pass
    ends = np.full(none, none)
    for edge in positions.edges:
        if edge.source == 0:
            events = timeline.events_of(edge.letter)
            ends[events] = np.minimum(ends[events], after[edge.target][events])
    return np.where(ends < timeline.reach(here, span), ends, none)


def _improve(positions: Positions, timeline: Timeline, after: dict[int, Ints], accepting: set[int]) -> bool:
    """One round over all edges: `after[s][p]` is the earliest known end of a match in state s whose last event so far
    is at p.

    An accepting state ends at p itself; going round a loop never ends earlier, so there are at most as many rounds as
    states.
    """
    improved = False
    for state in range(1, positions.states):
        if state in accepting:
            continue
        edges = [edge for edge in positions.edges if edge.source == state]
        best = after[state]
        for edge in edges:
            ends = (
                _tied(timeline, edge.letter, after[edge.target])
                if edge.tie
                else _later(timeline, edge.letter, after[edge.target])
            )
            best = np.minimum(best, ends)
        improved |= bool(np.any(best < after[state]))
        after[state] = best
    return improved


def _later(timeline: Timeline, letter: int, ends: Ints) -> Ints:
    """For each event the least of `ends` over the letter's events of later instants."""
    events = timeline.events_of(letter)
    least = np.append(np.minimum.accumulate(ends[events][::-1])[::-1], timeline.length)
    return least[timeline.rank(letter)[timeline.instant_end[:-1]]]


def _tied(timeline: Timeline, letter: int, ends: Ints) -> Ints:
    """For each event the least of `ends` over the letter's later events of its instant."""
    least = np.full(timeline.length, timeline.length)
    events, rank = timeline.events_of(letter), timeline.rank(letter)
    low, high = rank[1:], rank[timeline.instant_end[:-1]]
    place = 0
    while len(some := np.flatnonzero(low + place < high)):  # as many rounds as an instant has events
        least[some] = np.minimum(least[some], ends[events[low[some] + place]])
        place += 1
    return least
