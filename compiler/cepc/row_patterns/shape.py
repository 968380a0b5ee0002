"""SQL's patterns as patterns of ours over places: each mention of a variable is one, so that what is known of the rows
before it can differ from place to place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast
from typing import Literal as OneOf

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
Empty = OneOf["never", "last", "before others"]
"""Whether a pattern can match no row, and if so, whether it prefers all that it can match to that."""


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
    before = _either([part for part in parts[:first] if part is not None])
    after = _either([part for part in parts[first:] if part is not None])
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


def emptiness(pattern: PlacePattern) -> Empty:
    """Where among what a pattern prefers no row stands."""

    def of(node: PlacePattern, parts: tuple[Empty, ...]) -> Empty:
        match node:
            case VariablePlace():
                return "never"
            case Or():
                able = [at for at, part in enumerate(parts) if part != "never"]
                if not able:
                    return "never"
                return "last" if able[0] == len(parts) - 1 and parts[-1] == "last" else "before others"
            case Repeat(_, least, _, reluctant):
                if parts[0] == "before others":
                    return "before others"
                if least > 0:
                    return parts[0]
                return "before others" if reluctant else "last"
        if "never" in parts:
            return "never"
        return "before others" if "before others" in parts else "last"

    return fold(pattern, of)


def without_nothing(pattern: PlacePattern) -> PlacePattern:
    """The pattern without its match of no row, which is the last that it prefers; what it prefers to that is the same.

    `A* B?` is `A+ B? | B`.
    """
    match pattern:
        case Or(parts):
            return Or((*parts[:-1], without_nothing(parts[-1])))
        case Repeat(body, least, most, reluctant) if least > 1 and emptiness(pattern) == "last":
            rest = Repeat(body, 1, None if most is None else most - least + 1, reluctant)
            written = in_a_row([*[body] * (least - 1), rest])
            assert written is not None
            return without_nothing(written)
        case Repeat(body, _, most, reluctant) if emptiness(pattern) == "last":
            some = without_nothing(body)
            return some if most == 1 else Repeat(some, 1, most, reluctant)
        case Seq(parts) if emptiness(pattern) == "last":
            ways: list[PlacePattern | None] = [
                in_a_row([without_nothing(part), *parts[at + 1 :]]) for at, part in enumerate(parts)
            ]
            found = one_of(ways)
            assert found is not None
            return found
    return pattern
