"""A query's pattern as the sharing passes see it: a tree over letters, so that equal event tests of different queries are equal.

    SEQ(A a, B+ b) with a.x > 0      →      Seq((Event(0, "a"), Repeat(Event(1, "b"), 1, None)))

Letters are numbers into `Plan.letters`. What a tree leaves out are conditions over several variables, also those of named patterns:
whoever shares matches, not counts, looks at `QueryPlan.conditions` too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import model
from ..automaton.letters import letter_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cepc_runtime.plan import Letter


@dataclass(frozen=True, slots=True)
class Event:
    """One event of `letter`; of equal patterns `variable` may differ."""

    letter: int
    variable: str


@dataclass(frozen=True, slots=True)
class Seq:
    elements: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class And:
    operands: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Or:
    operands: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Some:
    operands: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    body: Pattern
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Not:
    """`within` in ticks ends the gap early."""

    body: Pattern
    within: int | None = None


Pattern = Event | Seq | And | Or | Some | Repeat | Not


def pattern_of(query: model.Query, letters: Mapping[Letter, int]) -> Pattern:
    """The query's pattern over the letters of its plan."""
    tests = {variable.name: variable.test for variable in query.variables}

    def tree(pattern: model.Pattern) -> Pattern:
        match pattern:
            case model.Event(variable, conditions):
                return Event(letters[letter_of(tests[variable], conditions)], variable)
            case model.Seq(elements):
                return Seq(tuple(map(tree, elements)))
            case model.And(operands):
                return And(tuple(map(tree, operands)))
            case model.Or(operands):
                return Or(tuple(map(tree, operands)))
            case model.Some(operands):
                return Some(tuple(map(tree, operands)))
            case model.Repeat(body, least, most):
                return Repeat(tree(body), least, most)
            case model.Not(body, within):
                return Not(tree(body), within)
            case model.Scope(body):
                return tree(body)

    return tree(query.pattern)


def relettered(pattern: Pattern, letters: Mapping[int, int]) -> Pattern:
    """The pattern with other letters, where they say one.

    >>> relettered(Seq((Event(0, "a"), Repeat(Event(1, "b"), 1, None))), {1: 2})
    Seq(elements=(Event(letter=0, variable='a'), Repeat(body=Event(letter=2, variable='b'), least=1, most=None)))
    """
    match pattern:
        case Event(letter, variable):
            return Event(letters.get(letter, letter), variable)
        case Seq(parts):
            return Seq(tuple(relettered(part, letters) for part in parts))
        case And(parts):
            return And(tuple(relettered(part, letters) for part in parts))
        case Or(parts):
            return Or(tuple(relettered(part, letters) for part in parts))
        case Some(parts):
            return Some(tuple(relettered(part, letters) for part in parts))
        case Repeat(body, least, most):
            return Repeat(relettered(body, letters), least, most)
        case Not(body, within):
            return Not(relettered(body, letters), within)


def events(pattern: Pattern) -> Iterator[Event]:
    """The events of a pattern in the order of the text, those under NOT included.

    >>> [e.variable for e in events(Seq((Event(0, "a"), Repeat(Event(1, "b"), 1, None))))]
    ['a', 'b']
    """
    match pattern:
        case Event():
            yield pattern
        case Seq(parts) | And(parts) | Or(parts) | Some(parts):
            for part in parts:
                yield from events(part)
        case Repeat(body) | Not(body):
            yield from events(body)


def flat_sequence(pattern: Pattern) -> tuple[Event, ...] | None:
    """The events of a SEQ of single events, the only patterns that Sharon knows; None for any other."""
    elements = pattern.elements if isinstance(pattern, Seq) else (pattern,)
    found = tuple(element for element in elements if isinstance(element, Event))
    return found if len(found) == len(elements) else None
