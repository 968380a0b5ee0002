"""A pattern with what may or may not be there written out as alternatives: what comes after it is there once for each.

`A? B` is `A B | B`, and `A* B` is `A A* B | B`: where B stands behind A, and where not, are places of their own.
The alternatives stand in the order in which the pattern prefers them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cepc_grammar.pattern import Or, Repeat, Seq, fold, over

from .shape import PlacePattern, VariablePlace, can_be_empty, in_a_row, numbered, one_of, places_of

if TYPE_CHECKING:
    from collections.abc import Collection

MOST_PLACES: Final = 400


def spread(pattern: PlacePattern, variables: Collection[str]) -> PlacePattern | None:
    """The pattern with all written out that may bind some of the variables or not; None where that is too long."""
    peeled = fold(pattern, lambda node, parts: _peeled(node, parts, variables))
    found = _spread(peeled, variables)
    if found is None or len(places_of(found)) > MOST_PLACES:
        return None
    return numbered(found)


def _binds(pattern: PlacePattern, variables: Collection[str]) -> bool:
    return any(place.variable in variables for place in places_of(pattern))


def _peeled(node: PlacePattern, parts: tuple[PlacePattern, ...], variables: Collection[str]) -> PlacePattern:
    """The first iteration of a repetition by itself. One that can match no row is left as it is: such an iteration ends
    the repetition, which is more than can be written out.
    """
    if isinstance(node, VariablePlace):
        return node
    if not isinstance(node, Repeat) or not _binds(node, variables) or can_be_empty(parts[0]):
        return over(node, parts)
    (body,) = parts
    most = None if node.most is None else node.most - 1
    rest = [] if most == 0 else [Repeat(body, max(node.least - 1, 0), most, node.reluctant)]
    once = in_a_row([body, *rest])
    assert once is not None
    return once if node.least else Repeat(once, 0, 1, node.reluctant)


def _spread(pattern: PlacePattern, variables: Collection[str]) -> PlacePattern | None:
    match pattern:
        case Seq(parts):
            return _one_after_the_other(parts, variables)
        case Or(parts):
            found = [_spread(part, variables) for part in parts]
            return None if None in found else one_of(found)
        case Repeat(body, least, most, reluctant):
            inner = _spread(body, variables)
            return None if inner is None else Repeat(inner, least, most, reluctant)
    return pattern


def _one_after_the_other(parts: tuple[PlacePattern, ...], variables: Collection[str]) -> PlacePattern | None:
    """What follows an alternative is written out behind each."""
    first, rest = parts[0], parts[1:]
    if not rest:
        return _spread(first, variables)
    ways = _ways(first) if _binds(first, variables) else (first,)
    if len(ways) == 1:
        head, tail = _spread(first, variables), _one_after_the_other(rest, variables)
        return None if head is None or tail is None else in_a_row([head, tail])
    found: list[PlacePattern | None] = []
    for way in ways:
        one = _one_after_the_other(rest if way is None else _flat(way, rest), variables)
        if one is None or sum(len(places_of(other)) for other in (*found, one) if other is not None) > MOST_PLACES:
            return None
        found.append(one)
    return one_of(found)


def _flat(way: PlacePattern, rest: tuple[PlacePattern, ...]) -> tuple[PlacePattern, ...]:
    return (*way.parts, *rest) if isinstance(way, Seq) else (way, *rest)


def _ways(pattern: PlacePattern) -> tuple[PlacePattern | None, ...]:
    """The alternatives of a pattern, None for no row."""
    match pattern:
        case Or(parts):
            return parts
        case Repeat(body, 0, 1, reluctant):
            return (None, body) if reluctant else (body, None)
    return (pattern,)
