"""How far a pattern comes from each event with which it may begin: conditions over several events, NOT and WITHIN left
out of account.

Without these, what goes on from a state goes on best from where it was reached first. So a state needs one place for
each beginning, and an edge is one search for all beginnings at once.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from cepc_runtime.cheap_dataclass import dataclass

from .furthest import distances

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc_runtime.events.grouped import Events
    from cepc_runtime.numbers.columns import Bools, Ints
    from cepc_runtime.plan.positions import Edge, Positions

WORK = 5_000_000
"""Beginnings times edges that are looked at."""


@dataclass(frozen=True)
class Reach:
    """`starts` are the places, in the order of the events, where the pattern may begin; `at[state][i]` is where the
    state is first reached from beginning i, the number of events where it is not. `is_whole` says that these are all.
    """

    positions: Positions
    events: Events
    starts: Ints
    at: Mapping[int, Ints]
    is_whole: bool = True

    @property
    def completed(self) -> Ints:
        """Where the pattern is first complete from each beginning."""
        soonest = np.full(len(self.starts), self.events.length, dtype=np.int64)
        for acceptance in self.positions.acceptances:
            soonest = np.minimum(soonest, self.at.get(acceptance.state, soonest))
        return soonest

    @property
    def is_completed(self) -> bool:
        return bool((self.completed < self.events.length).any())

    def furthest(self) -> tuple[int, tuple[Edge, ...]] | None:
        """The state behind an event from which the fewest events are missing, and a way to it; None where the pattern
        does not begin. From its start no more may be missing, by another way.
        """
        missing = distances(self.positions)
        ways = _ways(self.positions, [state for state, at in self.at.items() if (at < self.events.length).any()])
        state = min((s for s in ways if s), key=lambda s: (missing[s], len(ways[s]), s), default=None)
        return None if state is None else (state, ways[state])


def reach(positions: Positions, events: Events, satisfied: Mapping[int, Bools]) -> Reach:
    """`satisfied` says for each letter of an edge which of the events, in their order, satisfy it."""
    length = events.length
    places = {letter: np.append(np.flatnonzero(mask), length) for letter, mask in satisfied.items()}
    outgoing: dict[int, list[Edge]] = defaultdict(list)
    for edge in positions.edges:
        outgoing[edge.source].append(edge)
    begins = np.zeros(length, dtype=np.bool_)
    for edge in outgoing[0]:
        begins |= satisfied[edge.letter]
    beginnings = np.flatnonzero(begins)
    starts = beginnings[: max(1000, WORK // max(1, len(positions.edges)))]
    instants = np.repeat(np.arange(len(events.instant_starts) - 1), np.diff(events.instant_starts))
    behind = events.instant_starts[instants + 1]  # the instant of each event
    group_ends = events.group_starts[events.groups[starts] + 1]

    at: dict[int, Ints] = {}
    border: dict[int, Ints] = {}  # what was reached sooner in the last round: by state, the beginnings

    def improve(state: int, which: Ints, found: Ints) -> None:
        known = at.setdefault(state, np.full(len(starts), length, dtype=np.int64))
        sooner = found < known[which]
        which = which[sooner]
        if len(which):
            known[which] = found[sooner]
            border[state] = np.union1d(border[state], which) if state in border else which

    for edge in outgoing[0]:
        which = np.flatnonzero(satisfied[edge.letter][starts])
        improve(edge.target, which, starts[which])
    while border:
        reached, border = border, {}
        for state, which in reached.items():
            here = at[state][which]
            for edge in outgoing[state]:
                least = here + 1 if edge.tie else behind[here]
                found = places[edge.letter][np.searchsorted(places[edge.letter], least)]
                in_time = found < (behind[here] if edge.tie else group_ends[which])
                improve(edge.target, which[in_time], found[in_time])
    return Reach(positions, events, starts, at, len(starts) == len(beginnings))


def _ways(positions: Positions, reached: list[int]) -> dict[int, tuple[Edge, ...]]:
    """A shortest way to each state through states that are reached."""
    ways: dict[int, tuple[Edge, ...]] = {0: ()}
    border = [0]
    while border:
        after = []
        for edge in positions.edges:
            if edge.source in border and edge.target in reached and edge.target not in ways:
                ways[edge.target] = (*ways[edge.source], edge)
                after.append(edge.target)
        border = after
    return ways
