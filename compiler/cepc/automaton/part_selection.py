"""CONTIGUOUS(P) and NEXT(P): between the events of a match of P stands what a NOT in each of its gaps would say.

CONTIGUOUS forbids any event there, NEXT one with which what is read of P could go on. That depends on all places in P
that the events so far may have led to, whatever NOT says, so a place of P is a state for each set of such places, as in
the subset construction (`deterministic.py`).
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .fragments import OpenEdge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cepc_runtime.plan.positions import Guard

    from .fragments import WayOn


@dataclass(frozen=True, slots=True)
class PartOfPattern:
    """How P begins, and the ways on from each of its places; an End leads out of it."""

    first: tuple[WayOn, ...]
    ways: Mapping[int, tuple[WayOn, ...]]


def contiguous(part: PartOfPattern, guard: Guard) -> PartOfPattern:
    """The part with the guard on all ways between its events."""
    return PartOfPattern(part.first, {place: _guarded(ways, guard) for place, ways in part.ways.items()})


def next_ones(
    part: PartOfPattern, guard: Callable[[frozenset[int]], Guard], new_state: Callable[[], int]
) -> PartOfPattern:
    """The part with guards against what could come next instead; `guard` is that against events of some letters. A
    variable has the same test in all of the part.
    """
    return _Following(part, guard, new_state).run()


@dataclass(slots=True)
class _Following:
    part: PartOfPattern
    guard: Callable[[frozenset[int]], Guard]
    new_state: Callable[[], int]
    states: dict[tuple[int, frozenset[int]], int] = field(default_factory=dict)

    def run(self) -> PartOfPattern:
        first = tuple(self._to(way, self.part.first) for way in self.part.first)
        found: dict[int, tuple[WayOn, ...]] = {}
        waiting = list(self.states)
        while waiting:
            place, among = waiting.pop()
            number, known = self.states[place, among], len(self.states)
            onward = [way for other in among for way in self.part.ways[other]]
            could_follow = frozenset(way.letter for way in onward if isinstance(way, OpenEdge) and not way.tie)
            ways = tuple(self._to(way, onward) for way in self.part.ways[place])
            found[number] = _guarded(ways, self.guard(could_follow)) if could_follow else ways
            waiting += list(self.states)[known:]
        return PartOfPattern(first, found)

    def _to(self, way: WayOn, others: Iterable[WayOn]) -> WayOn:
        """The way to its place, of all that the same event leads to by one of the `others`."""
        if not isinstance(way, OpenEdge):
            return way
        led_to = frozenset(
            other.target
            for other in others
            if isinstance(other, OpenEdge) and (other.variable, other.tie) == (way.variable, way.tie)
        )
        key = (way.target, led_to)
        if key not in self.states:
            self.states[key] = self.new_state()
        return replace(way, target=self.states[key])


def _guarded(ways: Iterable[WayOn], guard: Guard) -> tuple[WayOn, ...]:
    """Those to a later instant: events of one instant have nothing between them."""
    return tuple(
        replace(way, guards=way.guards | {guard}) if isinstance(way, OpenEdge) and not way.tie else way for way in ways
    )
