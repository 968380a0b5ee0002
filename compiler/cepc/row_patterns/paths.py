"""What is known of the rows before a place of a pattern, whichever way a match takes there.

A match's rows follow each other, so a row of a variable that every way has last so many places before is so many rows
before in the partition, too.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass

from .. import model
from ..automaton.positions import positions_in
from .shape import over_events, places_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from .shape import PlacePattern

Distance = int | None
"""How many rows ago the last row of some places was; None where there was none; 0 for "it depends"."""

DEPENDS: Final = 0
FARTHEST: Final = 100


@dataclass(frozen=True)
class RowPaths:
    """The ways through a pattern: states, of which each is that a row was mapped at a place, `place_of` it; the first
    state is 0, and `before` and `after` have their neighbours. A match may end in `ends`.
    """

    place_of: Mapping[int, int]
    before: Mapping[int, frozenset[int]]
    after: Mapping[int, frozenset[int]]
    ends: frozenset[int]
    _distances_to: dict[frozenset[int], dict[int, set[Distance]]] = field(
        default_factory=dict, compare=False, repr=False
    )
    _nth: dict[tuple[int, frozenset[int], int], frozenset[Distance]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @cached_property
    def states_at(self) -> Mapping[int, list[int]]:
        """The states of each place."""
        found: dict[int, list[int]] = defaultdict(list)
        for state, place in self.place_of.items():
            found[place].append(state)
        return found

    def distances(self, places: Collection[int]) -> dict[int, set[Distance]]:
        """For each state, how many rows before its own the last row of the places may have been."""
        of = frozenset(places)
        if of not in self._distances_to:
            self._distances_to[of] = self._distances(of)
        return self._distances_to[of]

    def _distances(self, places: frozenset[int]) -> dict[int, set[Distance]]:
        known: dict[int, set[Distance]] = defaultdict(set)
        known[0] = {None}
        waiting = [0]
        while waiting:
            state = waiting.pop()
            after = {1} if self.place_of.get(state) in places else {self._further(d) for d in known[state]}
            for following in self.after[state]:
                if not after <= known[following]:
                    known[following] |= after
                    waiting.append(following)
        return known

    def _further(self, distance: Distance) -> Distance:
        """One row more; beyond a number it is not counted."""
        if distance is None or distance == DEPENDS:
            return distance
        return distance + 1 if distance < FARTHEST else DEPENDS

    def last_before(self, place: int, places: Collection[int]) -> set[Distance]:
        """How many rows before one at the place the last row of some places may have been."""
        found = self.distances(places)
        return {distance for state in self.states_at[place] for distance in found[state]}

    def nth_before(self, place: int, places: Collection[int], nth: int) -> frozenset[Distance]:
        """The same of the row that is the nth of them, counted back from one at the place. At most one number is among
        what is found: where there are several, it depends.
        """
        asked = place, frozenset(places), nth
        if asked not in self._nth:
            self._nth[asked] = frozenset(self._nth_before(*asked))
        return self._nth[asked]

    def _nth_before(self, place: int, places: Collection[int], nth: int) -> set[Distance]:
        found: set[Distance] = set()
        known: dict[tuple[int, int], int] = {}
        waiting = [(other, 0, 1) for state in self.states_at[place] for other in self.before[state]]
        while waiting:
            state, count, distance = waiting.pop()
            if state == 0:
                found.add(None)
                continue
            before = known.get((state, count))
            if before in (distance, DEPENDS):
                continue
            distance = distance if before is None else DEPENDS
            known[state, count] = distance
            count += self.place_of[state] in places
            if count == nth:
                found.add(distance)
            else:
                further = distance + 1 if 0 < distance < FARTHEST else DEPENDS
                waiting += ((other, count, further) for other in self.before[state])
        numbers = found - {None}
        return found if len(numbers) < 2 else (found & {None}) | {DEPENDS}

    def can_follow(self, place: int, places: Collection[int]) -> bool:
        """Whether a row of the places may come after one at the place."""
        return any(self.place_of[state] in places for state in self._reached(self.states_at[place], self.after))

    def may_precede(self, place: int, places: Collection[int]) -> set[int]:
        """Those of the places of which a row may come before one at the place."""
        return {self.place_of[s] for s in self._reached(self.states_at[place], self.before) if s} & set(places)

    def firsts(self, places: Collection[int]) -> set[int]:
        """Those of the places that may be the first of them in a match."""
        found = self.distances(places)
        return {place for state, place in self.place_of.items() if place in places and None in found[state]}

    def lasts(self, places: Collection[int]) -> set[int]:
        """Those of the places that may be the last of them in a match."""
        return self._latest(list(self.ends), places)

    def latest_before(self, place: int, places: Collection[int]) -> set[int]:
        """Those of the places that may have the last of their rows before one at the place."""
        return self._latest([before for state in self.states_at[place] for before in self.before[state]], places)

    def _latest(self, states: list[int], places: Collection[int]) -> set[int]:
        """What of the places is met first on the ways back from the states, these among them."""
        found, seen = set[int](), set[int]()
        waiting = list(states)
        while waiting:
            state = waiting.pop()
            if state in seen or state == 0:
                continue
            seen.add(state)
            if self.place_of[state] in places:
                found.add(self.place_of[state])
            else:
                waiting += self.before[state]
        return found

    def is_certain(self, places: Collection[int]) -> bool:
        """Whether every match has a row at some of the places."""
        found = self.distances(places)
        return all(self.place_of.get(end) in places or None not in found[end] for end in self.ends)

    @property
    def begins(self) -> frozenset[int]:
        """The places of a match's first row."""
        return frozenset(self.place_of[state] for state in self.after[0])

    def _reached(self, states: list[int], neighbours: Mapping[int, frozenset[int]]) -> set[int]:
        """What is reached from the states in one step or more."""
        found: set[int] = set()
        waiting = [other for state in states for other in neighbours[state]]
        while waiting:
            state = waiting.pop()
            if state not in found:
                found.add(state)
                waiting += neighbours[state]
        return found


def paths_of(pattern: PlacePattern) -> RowPaths:
    """Raises PatternTooLarge."""
    variables = [model.Variable(str(place.number), "ANY", model.EventTest(None), False) for place in places_of(pattern)]
    of_events: model.Pattern = over_events(pattern, lambda place: model.Event(str(place.number)))
    positions = positions_in(of_events, variables)
    before: dict[int, set[int]] = defaultdict(set)
    after: dict[int, set[int]] = defaultdict(set)
    for edge in positions.edges:
        before[edge.target].add(edge.source)
        after[edge.source].add(edge.target)
    return RowPaths(
        {edge.target: int(edge.variable) for edge in positions.edges},
        defaultdict(frozenset, {state: frozenset(others) for state, others in before.items()}),
        defaultdict(frozenset, {state: frozenset(others) for state, others in after.items()}),
        frozenset(acceptance.state for acceptance in positions.acceptances),
    )
