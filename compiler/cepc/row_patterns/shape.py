"""SQL's patterns as patterns of ours over places: each mention of a variable is one, so that what is known of the rows
before it can differ from place to place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from cepc_grammar.pattern import Operator, Or, Repeat, Seq, fold, over, walk, with_leaves
from cepc_grammar.sql.syntax import Anchor, Nothing, PatternVariable
from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cepc_grammar import ast
    from cepc_grammar.sql.syntax import RowPattern


Q = TypeVar("Q")


@dataclass(frozen=True, slots=True)
class VariablePlace:
    """A mention of a variable; `number` tells it from others. Rows that are `excluded` are not shown."""

    variable: str
    number: int
    name: ast.Name
    excluded: bool = False


PlacePattern = VariablePlace | Operator["PlacePattern"]


def places_of(pattern: PlacePattern) -> list[VariablePlace]:
    """From left to right."""
    return [node for node in walk(pattern) if isinstance(node, VariablePlace)]


def without_edges(pattern: RowPattern) -> tuple[RowPattern, list[Anchor]]:
    """The pattern without `^` where it is first and `$` where it is last, and these."""
    parts = list(pattern.parts) if isinstance(pattern, Seq) else [pattern]
    edges: list[Anchor] = []
    for place, end in ((0, "start"), (-1, "end")):
        while parts and isinstance(found := parts[place], Anchor) and found.at == end:
            edges.append(found)
            parts.pop(place)
    return (Seq(tuple(parts)) if parts else Nothing()), edges


def shaped(pattern: RowPattern, names: Mapping[str, str]) -> PlacePattern | None:
    """The pattern over places; None where it matches nothing but no row. `names` has each variable's, by its name in
    one case.
    """

    def place(leaf: PatternVariable) -> VariablePlace:
        return VariablePlace(names[leaf.name.text.casefold()], 0, leaf.name, leaf.excluded)

    found = fold(pattern, lambda node, parts: _shaped(node, parts, place))
    return None if found is None else numbered(found)


def _shaped(
    node: RowPattern, parts: tuple[PlacePattern | None, ...], place: Callable[[PatternVariable], VariablePlace]
) -> PlacePattern | None:
    match node:
        case PatternVariable():
            return place(node)
        case Nothing():
            return None
        case Or():
            return one_of(parts)
        case Repeat(_, _, most) if most == 0 or parts[0] is None:
            return None
        case Repeat(_, 1, 1):
            return parts[0]
        case Seq():
            return in_a_row([part for part in parts if part is not None])
    return over(node, tuple(part for part in parts if part is not None))  # type: ignore[arg-type]


def in_a_row(parts: Sequence[PlacePattern]) -> PlacePattern | None:
    """One after the other; None for none."""
    flat: list[PlacePattern] = []
    for part in parts:
        flat += part.parts if isinstance(part, Seq) else (part,)
    return None if not flat else flat[0] if len(flat) == 1 else Seq(tuple(flat))


def one_of(parts: Sequence[PlacePattern | None]) -> PlacePattern | None:
    """One of the alternatives, of which the earlier are preferred; None matches no row, and counts where it is first.

    >>> one_of([None]) is None
    True
    """
    first = parts.index(None) if None in parts else len(parts)
    before, after = _any_of(parts[:first]), _any_of(parts[first:])
    if first == len(parts):
        return before
    if before is None:
        return None if after is None else Repeat(after, 0, 1, reluctant=True)
    perhaps: PlacePattern = Repeat(before, 0, 1)
    return perhaps if after is None else Or((perhaps, after))


def _either(parts: list[PlacePattern]) -> PlacePattern | None:
    return None if not parts else parts[0] if len(parts) == 1 else Or(tuple(parts))


def over_events(pattern: PlacePattern, event: Callable[[VariablePlace], Q]) -> Q:
    """The pattern at another stage, whose patterns are Q: with what it has for events in place of places."""
    return fold(
        pattern, lambda node, parts: event(node) if isinstance(node, VariablePlace) else cast("Q", over(node, parts))
    )


def numbered(pattern: PlacePattern) -> PlacePattern:
    """The pattern with a number of its own for each place."""
    numbers = iter(range(1, len(places_of(pattern)) + 1))
    return with_leaves(pattern, VariablePlace, lambda leaf: replace(leaf, number=next(numbers)))


def can_be_empty(pattern: PlacePattern) -> bool:
    """Whether it can match no row."""

    def of(node: PlacePattern, parts: tuple[bool, ...]) -> bool:
        match node:
            case VariablePlace():
                return False
            case Or():
                return any(parts)
            case Repeat(_, 0, _):
                return True
        return all(parts)

    return fold(pattern, of)


@dataclass(frozen=True, slots=True)
class AroundNothing:
    """Of a pattern that can match no row, what it prefers to that and what it does not; None is nothing at all."""

    before: PlacePattern | None
    after: PlacePattern | None

    @property
    def both(self) -> PlacePattern | None:
        return _any_of([self.before, self.after])


def around_nothing(pattern: PlacePattern) -> AroundNothing | None:
    """The pattern without its match of no row, in the order in which it prefers the rest; None where it has none.

    `A* B?` has `A+ B? | B` before it, and `A*? | B` has `A+? | B` after it.
    """
    match pattern:
        case Or(parts):
            return _of_alternatives(parts)
        case Seq(parts) if can_be_empty(pattern):
            found = [_empty(part) for part in parts]
            before = [_followed(one.before, parts[at + 1 :]) for at, one in enumerate(found)]
            after = [_followed(one.after, parts[at + 1 :]) for at, one in enumerate(found)]
            return AroundNothing(_any_of(before), _any_of(after[::-1]))
        case Repeat(body, least, most, reluctant) if least > 1 and can_be_empty(body):
            rest = Repeat(body, 1, None if most is None else most - least + 1, reluctant)
            return around_nothing(Seq((*[body] * (least - 1), rest)))
        case Repeat(body, least, most, reluctant) if least == 0 or can_be_empty(body):
            return _of_iterations(body, least, most, reluctant=reluctant)
    return None


def _of_alternatives(parts: Sequence[PlacePattern]) -> AroundNothing | None:
    found = [around_nothing(part) for part in parts]
    for at, one in enumerate(found):
        if one is not None:
            rest = zip(parts[at + 1 :], found[at + 1 :], strict=True)
            after = [one.after, *(part if other is None else other.both for part, other in rest)]
            return AroundNothing(_any_of([*parts[:at], one.before]), _any_of(after))
    return None


def _of_iterations(body: PlacePattern, least: int, most: int | None, *, reluctant: bool) -> AroundNothing:
    """Of one iteration or none; one that matches no row is the last."""
    found = around_nothing(body)
    if found is None or found.after is None:
        some = body if found is None else found.before
        repeated = some if some is None or most == 1 else Repeat(some, 1, most, reluctant)
        is_first = reluctant and least == 0
        return AroundNothing(None, repeated) if is_first else AroundNothing(repeated, None)
    rest = [] if most == 1 else [Repeat(body, 0, None if most is None else most - 1, reluctant)]
    around = AroundNothing(_followed(found.before, rest), _followed(found.after, rest))
    return AroundNothing(None, around.both) if reluctant and least == 0 else around


def _empty(part: PlacePattern) -> AroundNothing:
    found = around_nothing(part)
    assert found is not None
    return found


def _followed(pattern: PlacePattern | None, rest: Sequence[PlacePattern]) -> PlacePattern | None:
    return None if pattern is None else in_a_row([pattern, *rest])


def _any_of(parts: Sequence[PlacePattern | None]) -> PlacePattern | None:
    return _either([part for part in parts if part is not None])
