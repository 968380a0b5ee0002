"""How far a pattern came where nothing completes it: conditions over several events, NOT and WITHIN left out of
account.

Without these a state can be reached if it can be reached by some events, and what can go on from it can best go on from
where it was reached first. So one pass over a group's events finds the furthest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .finder import Match, MatchEvent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cepc_runtime.plan.positions import Edge, Positions


@dataclass(frozen=True, slots=True)
class GroupEvent:
    """An event of a group: its row in the reading, the number of its instant, the letters that it satisfies."""

    row: int
    instant: int
    letters: frozenset[int]


@dataclass(frozen=True, slots=True)
class Reached:
    """A state of the pattern, the events on the way to it, and how many more are needed at least."""

    state: int
    match: Match
    missing: int


def furthest(positions: Positions, events: Sequence[GroupEvent], *, at_once: bool = False) -> Reached:
    """The state from which the fewest events are missing; of several the one with the most events behind it. With
    `at_once` a match begins at the first instant.
    """
    distance = distances(positions)
    found = _reached(positions, events, at_once)
    state = min(found, key=lambda s: (distance[s], -len(_way(found, s)), s))
    return Reached(state, _way(found, state), distance[state])


def awaited(positions: Positions, state: int) -> tuple[Edge, ...]:
    """The edges by which the pattern goes on from a state towards its end, one for each letter and variable."""
    distance = distances(positions)
    onward = [e for e in positions.edges if e.source == state and not e.tie and distance[e.target] < distance[state]]
    return tuple({(e.letter, e.variable): e for e in reversed(onward)}.values())[::-1]


@dataclass(frozen=True, slots=True)
class _Step:
    """How a state was first reached: by an event, from the step before (None from the start)."""

    bound: MatchEvent
    instant: int
    before: _Step | None


def _reached(positions: Positions, events: Sequence[GroupEvent], at_once: bool) -> Mapping[int, _Step | None]:
    """For each state that some events reach the first way to it; ties read what this instant has reached."""
    first: dict[int, _Step | None] = {0: None}
    now: dict[int, _Step] = {}
    instant = -1
    for event in events:
        if event.instant != instant:
            now, instant = {}, event.instant
        new: dict[int, _Step] = {}
        for edge in positions.edges:
            if edge.letter not in event.letters:
                continue
            if edge.tie:
                before: _Step | None = now.get(edge.source)
                if before is None:
                    continue
            elif edge.source in first:
                before = first[edge.source]
                if before is not None and before.instant == instant:
                    continue
                if before is None and at_once and instant != events[0].instant:
                    continue
            else:
                continue
            new.setdefault(edge.target, _Step(MatchEvent(event.row, edge.variable), instant, before))
        for state, step in new.items():
            now.setdefault(state, step)
            first.setdefault(state, step)
    return first


def _way(found: Mapping[int, _Step | None], state: int) -> Match:
    step, way = found[state], []
    while step is not None:
        way.append(step.bound)
        step = step.before
    return tuple(reversed(way))


def distances(positions: Positions) -> list[int]:
    """For each state how many events are needed at least until the pattern is complete."""
    far = positions.states + 1
    distance = [far] * positions.states
    for acceptance in positions.acceptances:
        distance[acceptance.state] = 0
    changed = True
    while changed:
        changed = False
        for edge in positions.edges:
            if distance[edge.target] + 1 < distance[edge.source]:
                distance[edge.source] = distance[edge.target] + 1
                changed = True
    return distance
