"""A query's pattern as the sharing passes see it: a tree over letters, so that equal event tests of different queries
are equal.

    SEQ(A a, B+ b) with a.x > 0      →      Seq((Event(0, "a"), Repeat(Event(1, "b"), 1, None)))

Letters are numbers into `LogicalPlan.letters`. What a tree leaves out are conditions over several variables, also those
of named patterns: whoever shares matches, not counts, looks at `QueryPlan.conditions` too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_grammar.pattern import Named, Not, Operator, Repeat, Seq, fold, over, walk, with_leaves, word
from cepc_runtime.cheap_dataclass import dataclass

from .. import model
from ..automaton.letters import letter_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping

    from cepc_runtime.plan.stream import Letter


@dataclass(frozen=True, slots=True)
class Event:
    """One event of `letter`; of equal patterns `variable` may differ."""

    letter: int
    variable: str


PlannedPattern = Event | Operator["PlannedPattern"] | Not["PlannedPattern", int]  # `within` in ticks


def pattern_of(query: model.Query, letters: Mapping[Letter, int]) -> PlannedPattern:
    """The query's pattern over the letters of its plan."""
    tests = {variable.name: variable.test for variable in query.variables}

    def tree(node: model.Pattern, parts: tuple[PlannedPattern, ...]) -> PlannedPattern:
        match node:
            case model.Event(variable, conditions):
                return Event(letters[letter_of(tests[variable], conditions)], variable)
            case Repeat(_, least, most):
                return Repeat(parts[0], least, most)  # whichever it prefers, the matches are the same
            case Not(_, within):
                return Not(parts[0], within)
            case Named():
                return parts[0]
        return over(node, parts)

    return fold(query.pattern, tree)


def relettered(pattern: PlannedPattern, letters: Mapping[int, int]) -> PlannedPattern:
    """The pattern with other letters, where they say one.

    >>> relettered(Seq((Event(0, "a"), Not(Event(1, "b")))), {1: 2})
    Seq(parts=(Event(letter=0, variable='a'), Not(body=Event(letter=2, variable='b'), within=None)))
    """
    return with_leaves(pattern, Event, lambda event: replace(event, letter=letters.get(event.letter, event.letter)))


def events(pattern: PlannedPattern) -> Iterator[Event]:
    """The events of a pattern in the order of the text, those under NOT included.

    >>> [e.variable for e in events(Seq((Event(0, "a"), Repeat(Event(1, "b"), 1, None))))]
    ['a', 'b']
    """
    return (node for node in walk(pattern) if isinstance(node, Event))


def outline(pattern: PlannedPattern, leaf: Callable[[Event], Hashable]) -> Hashable:
    """The pattern without the names of its variables, `leaf` in the place of its events: equal for patterns of one
    shape.

    >>> outline(Seq((Event(0, "a"), Not(Event(1, "b"), 5))), lambda event: event.letter)
    ('SEQ', 0, ('NOT', 5, 1))
    """

    def shape(node: PlannedPattern, parts: tuple[Hashable, ...]) -> Hashable:
        match node:
            case Event():
                return leaf(node)
            case Repeat(_, least, most):
                return (word(node), least, most, *parts)
            case Not(_, within):
                return (word(node), within, *parts)
        return (word(node), *parts)

    return fold(pattern, shape)


def flat_sequence(pattern: PlannedPattern) -> tuple[Event, ...] | None:
    """The events of a SEQ of single events, the only patterns that Sharon knows; None for any other."""
    elements = pattern.parts if isinstance(pattern, Seq) else (pattern,)
    found = tuple(element for element in elements if isinstance(element, Event))
    return found if len(found) == len(elements) else None
