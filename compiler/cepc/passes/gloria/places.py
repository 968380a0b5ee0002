"""A pattern written out: its places, the transitions between them, and the cycles that Kleene operators make (§2.2).

This is Glushkov's construction. Whether a transition is the same in two queries depends on its two types, on what NOT
forbids between them, and on the innermost Kleene operator around both.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING

from cepc_grammar.pattern import And, Not, Or, Repeat, Selected, Seq, Some
from cepc_runtime.cheap_dataclass import dataclass

from ..pattern import Event, events, outline
from .query import Type, WrittenPlace

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from ..pattern import PlannedPattern

PlaceGuards = frozenset["Hashable"]
"""What NOT forbids on the way, one element for each NOT."""
FREE: PlaceGuards = frozenset()


@dataclass(frozen=True, slots=True)
class Cycle:
    """A Kleene sub-pattern; `shape` is its tree over types: equal shapes are the same sub-pattern."""

    shape: Hashable
    types: tuple[Type, ...]
    outer: int | None
    """The next Kleene operator around it, an index into `WrittenPlaces.cycles`."""


@dataclass(frozen=True, slots=True)
class PlaceTransition:
    """A transition from place to place. `ways`: between them there may be a NOT or not, as in
    `SEQ(A, OR(NOT C, D?), B)`.
    """

    source: int
    target: int
    ways: frozenset[PlaceGuards]
    cycle: int | None
    """The innermost Kleene operator around both ends."""


@dataclass(frozen=True, slots=True)
class WrittenPlaces:
    """Places by number, in the order of the text."""

    places: tuple[WrittenPlace, ...]
    types: tuple[Type, ...]
    steps: tuple[PlaceTransition, ...]
    starts: frozenset[int]
    ends: frozenset[int]
    cycles: tuple[Cycle, ...]

    def outermost(self, cycle: int) -> int:
        outer = self.cycles[cycle].outer
        return cycle if outer is None else self.outermost(outer)


def write(pattern: PlannedPattern, owner: str) -> WrittenPlaces:
    """The pattern of query `owner`, written out.

    >>> a, b = Event(0, "a"), Event(1, "b")
    >>> written = write(Seq((a, Repeat(Seq((a, b)), 1, None))), "q")
    >>> [(t.letters, t.nth) for t in written.types]
    [((0,), 0), ((0,), 1), ((1,), 0)]
    >>> [(s.source, s.target, s.cycle) for s in written.steps]
    [(0, 1, None), (1, 2, 0), (2, 1, 0)]
    """
    writer = _Writer(owner)
    whole = writer.write(pattern, 0, None)
    steps = (PlaceTransition(a, b, frozenset(ways), cycle) for (a, b), (ways, cycle) in sorted(writer.steps.items()))
    return WrittenPlaces(
        tuple(writer.places),
        tuple(writer.types),
        tuple(steps),
        frozenset(place for place, _ in whole.first),
        frozenset(place for place, _ in whole.last),
        tuple(cycle for cycle in writer.cycles if cycle is not None),
    )


GuardedEnds = tuple[tuple[int, "PlaceGuards"], ...]


@dataclass(frozen=True, slots=True)
class _Fragment:
    """How a part begins and ends, and what it forbids when it is empty (nothing in `empty`: it cannot be)."""

    first: GuardedEnds
    last: GuardedEnds
    empty: frozenset[PlaceGuards]
    shape: Hashable


_NOTHING = _Fragment((), (), frozenset({FREE}), ())


@dataclass(slots=True)
class _Writer:
    owner: str
    places: list[WrittenPlace] = field(default_factory=list)
    types: list[Type] = field(default_factory=list)
    steps: dict[tuple[int, int], tuple[set[PlaceGuards], int | None]] = field(default_factory=dict)
    cycles: list[Cycle | None] = field(default_factory=list)
    _occurrences: Counter[int] = field(default_factory=Counter)
    _copies: Counter[int] = field(default_factory=Counter)

    def write(self, pattern: PlannedPattern, event: int, cycle: int | None) -> _Fragment:
        """`event` is the number of the pattern's first event, `cycle` the innermost Kleene operator around it."""
        match pattern:
            case Event(letter):
                self._occurrences[letter] += 1
                return self._place(event, Type((letter,), self._occurrences[letter] - 1))
            case And() | Some() | Selected():
                letters = tuple(sorted({e.letter for e in events(pattern)}))
                return self._place(event, Type(letters, len(self.places), self.owner))  # copies are types of their own
            case Seq(parts):
                return self._sequence(self._each(parts, event, cycle), cycle)
            case Or(parts):
                alternatives = self._each(parts, event, cycle)
                return _Fragment(
                    tuple(end for a in alternatives for end in a.first),
                    tuple(end for a in alternatives for end in a.last),
                    frozenset().union(*(a.empty for a in alternatives)),
                    ("or", *(a.shape for a in alternatives)),
                )
            case Not(body, within):
                guard = frozenset({("not", outline(body, _letter), within)})
                return _Fragment((), (), frozenset({guard}), ("not", outline(body, _letter), within))
            case Repeat(body, least, most):
                if most is None:
                    copies = [self.write(body, event, cycle) for _ in range(max(0, least - 1))]
                    plus = self._plus(body, event, cycle)
                    return self._sequence([*copies, _optional(plus) if least == 0 else plus], cycle)
                copies = [self.write(body, event, cycle) for _ in range(most)]
                rest = _NOTHING
                for copy in reversed(copies[least:]):
                    rest = _optional(self._sequence([copy, rest], cycle))
                return self._sequence([*copies[:least], rest], cycle)

    def _each(self, parts: tuple[PlannedPattern, ...], event: int, cycle: int | None) -> list[_Fragment]:
        found = []
        for part in parts:
            found.append(self.write(part, event, cycle))
            event += _size(part)
        return found

    def _place(self, event: int, kind: Type) -> _Fragment:
        place = len(self.places)
        self.places.append(WrittenPlace(event, self._copies[event]))
        self.types.append(kind)
        self._copies[event] += 1
        return _Fragment(((place, FREE),), ((place, FREE),), frozenset(), kind)

    def _plus(self, body: PlannedPattern, event: int, outer: int | None) -> _Fragment:
        while isinstance(body, Repeat) and (body.least, body.most) == (1, None):
            body = body.body  # (P+)+ is P+
        number, begin = len(self.cycles), len(self.types)
        self.cycles.append(None)  # its number is needed before its shape is known
        inner = self.write(body, event, number)
        self._connect(inner.last, inner.first, number)
        shape = ("+", inner.shape)
        self.cycles[number] = Cycle(shape, tuple(self.types[begin:]), outer)
        return _Fragment(inner.first, inner.last, inner.empty, shape)

    def _sequence(self, parts: list[_Fragment], cycle: int | None) -> _Fragment:
        parts = [p for p in parts if p is not _NOTHING]
        if len(parts) == 1:
            return parts[0]
        first: GuardedEnds = ()
        last: GuardedEnds = ()
        empty: frozenset[PlaceGuards] = frozenset({FREE})
        for part in parts:
            self._connect(last, part.first, cycle)
            first += _through(part.first, empty)
            last = part.last + _through(last, part.empty)
            empty = frozenset(a | b for a in empty for b in part.empty)
        return _Fragment(first, last, empty, ("seq", *(p.shape for p in parts)))

    def _connect(self, last: GuardedEnds, first: GuardedEnds, cycle: int | None) -> None:
        for source, before in last:
            for target, after in first:
                # Inner operators come first, so the first cycle that makes a transition is the innermost.
                ways, _ = self.steps.setdefault((source, target), (set(), cycle))
                ways.add(before | after)


def _through(ends: GuardedEnds, empty: Iterable[PlaceGuards]) -> GuardedEnds:
    return tuple((place, guards | more) for place, guards in ends for more in empty)


def _optional(part: _Fragment) -> _Fragment:
    return _Fragment(part.first, part.last, part.empty | {FREE}, ("?", part.shape))


def _size(pattern: PlannedPattern) -> int:
    return sum(1 for _ in events(pattern))


def _letter(event: Event) -> Hashable:
    return event.letter
