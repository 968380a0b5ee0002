"""All ways in which events derive a match from a pattern: docs/language.md, "Patterns", taken literally.

A pattern is "written out" over the events of one partition: repetitions unrolled, one alternative taken in each OR and
SOME, what matches nothing left out, a SEQ inside a SEQ dissolved. One written-out form with an event in each of its
places is a derivation. A NOT in it is a mark until the events on both of its sides are known; then it stands in a gap.
"""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from cepc_grammar import ast

from .conditions import Bindings, Condition, agree, by_variable
from .errors import TooMuch
from .expressions import conjuncts
from .patterns import (
    Choice,
    Close,
    Conjunction,
    Leaf,
    Negation,
    Node,
    Repetition,
    Scope,
    Sequence,
    leaves,
    negated,
    variables,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .stream import Event, Events

Path = tuple[int, ...]
"""Where in the written-out pattern a leaf is: the places, options and iterations on the way to it. Empty unless
traced.
"""


class Bound(NamedTuple):
    event: Event
    variable: str
    path: Path


class Mark(NamedTuple):
    """A NOT, and the matches of named patterns around it: their conditions are asked of what it negates, too."""

    negation: Negation
    contexts: frozenset[tuple[Scope, frozenset[Bound]]] = frozenset()


class Gap(NamedTuple):
    """No match of what the mark negates lies strictly between these two events. None is the edge of the window."""

    mark: Mark
    after: Event | None
    before: Event | None


class Part(NamedTuple):
    """A derivation of a part of the pattern. `leading` and `trailing` marks lie before and after all its events.

    A part without events keeps its marks in `leading`.
    """

    bound: frozenset[Bound] = frozenset()
    first: Event = -1
    last: Event = -1
    gaps: frozenset[Gap] = frozenset()
    leading: frozenset[Mark] = frozenset()
    trailing: frozenset[Mark] = frozenset()

    def then(self, later: Part) -> Part:
        """The two in sequence. The caller sees to it that the events of the later one are strictly later."""
        gaps = self.gaps | later.gaps
        if not self.bound:
            leading = self.leading | later.leading
            return Part(later.bound, later.first, later.last, gaps, leading, later.trailing)
        if not later.bound:
            return Part(self.bound, self.first, self.last, gaps, self.leading, self.trailing | later.leading)
        marks = self.trailing | later.leading
        if marks:
            gaps |= {Gap(mark, self.last, later.first) for mark in marks}
        return Part(self.bound | later.bound, self.first, later.last, gaps, self.leading, later.trailing)

    def closed(self) -> Part:
        """With nothing more before or after it: the marks at its ends reach to the edges of the window."""
        if not (self.leading or self.trailing):
            return self
        first, last = (self.first, self.last) if self.bound else (None, None)
        before = frozenset(Gap(mark, None, first) for mark in self.leading)
        after = frozenset(Gap(mark, last, None) for mark in self.trailing)
        return self._replace(gaps=self.gaps | before | after, leading=frozenset(), trailing=frozenset())

    def beside(self, other: Part) -> Part:
        """The two in any order, both closed."""
        if not (self.bound and other.bound):
            return (self if self.bound else other)._replace(gaps=self.gaps | other.gaps)
        return Part(
            self.bound | other.bound, min(self.first, other.first), max(self.last, other.last), self.gaps | other.gaps
        )

    def within(self, scope: Scope) -> Part:
        """As a match of a named pattern: its marks and gaps remember which."""
        if not (self.gaps or self.leading or self.trailing):
            return self
        context = (scope, self.bound)

        def inside(mark: Mark) -> Mark:
            return Mark(mark.negation, mark.contexts | {context})

        return self._replace(
            gaps=frozenset(gap._replace(mark=inside(gap.mark)) for gap in self.gaps),
            leading=frozenset(map(inside, self.leading)),
            trailing=frozenset(map(inside, self.trailing)),
        )


EMPTY = Part()

MOST_PARTS = 60_000
"""Of one partition: more would take minutes."""


class Writing:
    """Writes patterns out over the events of one partition. Parts with the same events, gaps and marks are one part."""

    def __init__(
        self,
        events: Events,
        among: Iterable[Event],
        admits: Callable[[str, Event], bool],
        traced: bool,
        span: int | None,
        begun: bool = False,
    ) -> None:
        """`admits(variable, event)` is false where a local condition is; `traced` keeps paths; matches span less than
        `span`. Of matches that are only `begun`, conditions that wait for all of one are not asked.
        """
        self._begun = begun
        self._events, self._among, self._admits, self._traced, self._span = events, tuple(among), admits, traced, span
        self._written: dict[tuple[object, ...], tuple[Part, ...]] = {}
        self._parts = 0
        self._around: list[Scope] = []
        self._beginnings: dict[Close, frozenset[frozenset[tuple[Event, str]]]] = {}
        self._scopes: dict[Scope, tuple[tuple[Condition, ...], tuple[str, ...]]] = {}
        self._asked: dict[Scope, list[Condition]] = {}

    def derivations(self, node: Node) -> tuple[Part, ...]:
        return self._derive(node, -1, (), False)

    def prefixes(self, node: Node) -> tuple[Part, ...]:
        """All derivations broken off at any point. NOT plays no part in them."""
        return self._derive(node, -1, (), True)

    def conditions(self, scope: Scope) -> tuple[tuple[Condition, ...], tuple[str, ...]]:
        """The conditions of a named pattern in this place, and the attributes of its `[ ]`."""
        if scope not in self._scopes:
            parts = conjuncts(scope.where)
            attributes = tuple(
                a.text
                for part in parts
                if isinstance(part, ast.Equivalence)
                for a in part.attributes
                if isinstance(a, ast.Name)
            )
            plain = [part for part in parts if not isinstance(part, ast.Equivalence)]
            known = variables(scope.body)
            self._scopes[scope] = (
                tuple(Condition(part, known, scope.prefix, self._events) for part in plain),
                attributes,
            )
        return self._scopes[scope]

    def _derive(self, node: Node, after: int, path: Path, partial: bool) -> tuple[Part, ...]:
        """Derivations of the node from events of a rank above `after`; with `partial`, also their prefixes."""
        key = (node, after, path, partial)
        if key not in self._written:
            self._written[key] = self._counted(self._all(node, after, path, partial))
        return self._written[key]

    def _counted(self, parts: Iterable[Part]) -> tuple[Part, ...]:
        found = tuple(dict.fromkeys(parts))
        self._parts += len(found)
        if self._parts > MOST_PARTS:
            raise TooMuch
        return found

    def _all(self, node: Node, after: int, path: Path, partial: bool) -> Iterable[Part]:
        match node:
            case Leaf():
                parts = [self._leaf(event, node, path) for event in self._among if self._may_be(event, node, after)]
                return [EMPTY, *parts] if partial else parts
            case Sequence(elements):
                return self._sequence(elements, 0, after, path, partial)
            case Conjunction(operands):
                each = [
                    self._derive(operand, after, self._down(path, i), partial) for i, operand in enumerate(operands)
                ]
                return reduce(self._side_by_side, [[part.closed() for part in parts] for parts in each])
            case Choice(options):
                return [
                    part
                    for i, option in enumerate(options)
                    for part in self._derive(option, after, self._down(path, i), partial)
                ]
            case Repetition():
                return self._iterations(node, 0, after, path, partial)
            case Close(body):
                whole = self._derive(body, after, path, partial)
                return whole if partial else [part for part in whole if not self._passes_over(node, part)]
            case Negation():
                return [EMPTY if partial else Part(leading=frozenset({Mark(node)}))]
            case Scope(body):
                self._around.append(node)
                inside = self._derive(body, after, path, partial)
                self._around.pop()
                return [part.within(node) for part in inside if not part.bound or self._conditions_hold(node, part)]

    def _leaf(self, event: Event, leaf: Leaf, path: Path) -> Part:
        return Part(frozenset({Bound(event, leaf.variable, path)}), event, event)

    def _may_be(self, event: Event, leaf: Leaf, after: int) -> bool:
        of_type = leaf.type is None or leaf.type in self._events.types[event]
        return self._events.rank[event] > after and of_type and self._admits(leaf.variable, event)

    def _passes_over(self, close: Close, part: Part) -> bool:
        """Whether an event lies strictly between two of the part that follow each other: any, or for NEXT one with
        which it could have gone on, whatever NOT says.
        """
        rank = self._events.rank
        ranks = sorted({rank[b.event] for b in part.bound})
        between = [(low, x) for low, high in pairwise(ranks) for x in self._among if low < rank[x] < high]
        if close.select == "CONTIGUOUS":
            return bool(between)
        return any(
            self._goes_on(close, frozenset((b.event, b.variable) for b in part.bound if rank[b.event] <= low), x)
            for low, x in between
        )

    def _goes_on(self, close: Close, begun: frozenset[tuple[Event, str]], event: Event) -> bool:
        """Whether what is begun of a match of the part goes on with the event, bound to some variable of it."""
        if close not in self._beginnings:
            parts = self._derive(close.body, -1, (), True)
            self._beginnings[close] = frozenset(frozenset((b.event, b.variable) for b in part.bound) for part in parts)
        names = {leaf.variable for leaf in leaves(close.body) if self._admitted_around(leaf.variable, event)}
        return any(begun | {(event, name)} in self._beginnings[close] for name in names)

    def _admitted_around(self, variable: str, event: Event) -> bool:
        """Whether conditions on single events of the named patterns around hold."""
        conditions = (c for scope in self._around for c in self.conditions(scope)[0] if c.local == variable)
        return all(condition.holds({variable: (event,)}) for condition in conditions)

    def _sequence(self, elements: tuple[Node, ...], place: int, after: int, path: Path, partial: bool) -> list[Part]:
        """The elements from `place` on."""
        if place == len(elements):
            return [EMPTY]
        head = elements[place]
        found = self._joined(
            head, self._down(path, place), after, lambda rank: self._rest(elements, place + 1, rank, path, partial)
        )
        return found + list(self._derive(head, after, self._down(path, place), True)) if partial else found

    def _rest(self, elements: tuple[Node, ...], place: int, after: int, path: Path, partial: bool) -> tuple[Part, ...]:
        key = (elements, place, after, path, partial)
        if key not in self._written:
            self._written[key] = self._counted(self._sequence(elements, place, after, path, partial))
        return self._written[key]

    def _iterations(self, node: Repetition, count: int, after: int, path: Path, partial: bool) -> list[Part]:
        """The iterations from number `count` on. One that is not required and matches nothing is left out."""
        stop = [EMPTY] if count >= node.least or partial else []
        if count == node.most:
            return stop
        place = self._down(path, count)
        required = count < node.least
        more = self._joined(
            node.body, place, after, lambda rank: self._further(node, count + 1, rank, path, partial), required
        )
        return more + stop + (list(self._derive(node.body, after, place, True)) if partial else [])

    def _further(self, node: Repetition, count: int, after: int, path: Path, partial: bool) -> tuple[Part, ...]:
        if not self._traced and node.most is None:
            count = min(count, node.least)  # from there on every iteration is like the one before
        key = (node, count, after, path, partial, "iterations")
        if key not in self._written:
            self._written[key] = self._counted(self._iterations(node, count, after, path, partial))
        return self._written[key]

    def _joined(
        self, head: Node, place: Path, after: int, rest: Callable[[int], tuple[Part, ...]], empty_too: bool = True
    ) -> list[Part]:
        """Every derivation of the head with every one of the rest that is strictly later."""
        return [
            first.then(then)
            for first in self._derive(head, after, place, False)
            if first.bound or empty_too
            for then in rest(max(after, self._events.rank[first.last]) if first.bound else after)
            if self._fits(first.first, then.last)
        ]

    def _side_by_side(self, some: list[Part], others: list[Part]) -> list[Part]:
        """Every pair that shares no event."""
        if len(some) * len(others) > 50 * MOST_PARTS:
            raise TooMuch
        return [
            a.beside(b)
            for a in some
            for b in others
            if not {x.event for x in a.bound} & {x.event for x in b.bound}
            and self._fits(min(a.first, b.first), max(a.last, b.last))
        ]

    def _fits(self, first: Event, last: Event) -> bool:
        """No window or bound is too short for events this far apart (-1 stands for none)."""
        return (
            self._span is None
            or min(first, last) < 0
            or self._events.time[last] - self._events.time[first] < self._span
        )

    def _conditions_hold(self, scope: Scope, part: Part) -> bool:
        conditions, attributes = self.conditions(scope)
        if scope not in self._asked:
            not_bound = negated(scope.body)
            self._asked[scope] = [c for c in conditions if not (self._begun and c.waits) and not c.mentions & not_bound]
        bindings = bindings_of(part.bound)
        return all(c.holds(bindings) for c in self._asked[scope]) and agree(
            self._events, attributes, (b.event for b in part.bound)
        )

    def _down(self, path: Path, step: int) -> Path:
        return (*path, step) if self._traced else ()


def bindings_of(bound: Iterable[Bound]) -> Bindings:
    return by_variable((b.event, b.variable) for b in bound)
