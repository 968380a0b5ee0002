"""Fragments of a position automaton, combined like the pattern (Glushkov's construction, with preference and guards).

A fragment knows how it begins (`first`, in the order of preference) and learns once how the match goes on after it
(`connect`). Reading an event leads to a state; its ways on are the fragment's own and those it was told.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cepc_runtime.plan.positions import Guard, Instance


@dataclass(frozen=True, slots=True)
class OpenEdge:
    """A way on by reading an event: an edge whose source is not yet said."""

    target: int
    letter: int
    variable: str
    tie: bool = False
    guards: frozenset[Guard] = frozenset()
    tracks: tuple[int, ...] = (0,)
    scopes: tuple[int, ...] = ()
    enters: frozenset[int] = frozenset()

    def to(self, target: int, *, tie: bool) -> OpenEdge:
        """The same event read on the way to another state."""
        return OpenEdge(target, self.letter, self.variable, tie, self.guards, self.tracks, self.scopes, self.enters)


@dataclass(frozen=True, slots=True)
class End:
    """A way on without an event: out of the fragment (in `first`: it can match nothing), or the end of the match."""

    guards: frozenset[Guard] = frozenset()


WayOn = OpenEdge | End


@dataclass(frozen=True, slots=True)
class Fragment:
    first: tuple[WayOn, ...]
    connect: Callable[[tuple[WayOn, ...]], None]


def through(first: Iterable[WayOn], onward: tuple[WayOn, ...]) -> tuple[WayOn, ...]:
    """`first`, where matching nothing goes on with `onward` under its guards. Of equal ways the preferred one stays."""
    ways: list[WayOn] = []
    for way in first:
        match way:
            case OpenEdge():
                ways.append(way)
            case End(guards):
                ways += (replace(o, guards=o.guards | guards) for o in onward) if guards else onward
    return weakest(ways)


def weakest(ways: Iterable[WayOn]) -> tuple[WayOn, ...]:
    """Without the ways that another one allows with fewer guards: a match stands if one derivation does. A way goes for
    one that comes later only if none stands between them, for that one would be preferred to the later one.
    """
    found: list[WayOn] = []
    by_bare: dict[tuple[object, ...], list[WayOn]] = {}
    for way in ways:
        alike = by_bare.setdefault(_bare(way), [])
        if any(known.guards <= way.guards for known in alike):
            continue
        while alike and found[-1] is alike[-1] and way.guards <= alike[-1].guards:
            found.pop()
            alike.pop()
        found.append(way)
        alike.append(way)
    return tuple(found)


def _bare(way: WayOn) -> tuple[object, ...]:
    """All but the guards."""
    match way:
        case OpenEdge(target, letter, variable, tie, _, tracks, scopes, enters):
            return target, letter, variable, tie, tracks, scopes, enters
        case End():
            return ()


def entering(first: Iterable[WayOn], scope: int) -> tuple[WayOn, ...]:
    """The ways into a scope: a new instance begins with the event read; an End is an instance without events."""
    ways: list[WayOn] = []
    for way in first:
        match way:
            case OpenEdge():
                ways.append(replace(way, guards=_of_instance(way.guards, scope, "next"), enters=way.enters | {scope}))
            case End(guards):
                ways.append(End(_of_instance(guards, scope, "none")))
    return tuple(ways)


def _of_instance(guards: frozenset[Guard], scope: int, instance: Instance) -> frozenset[Guard]:
    """What stands before the first event of an instance belongs to that one, not to the one before it."""
    return frozenset(replace(g, scopes=tuple((s, instance if s == scope else i) for s, i in g.scopes)) for g in guards)


def nonempty(first: Iterable[WayOn]) -> tuple[WayOn, ...]:
    return tuple(w for w in first if isinstance(w, OpenEdge))
