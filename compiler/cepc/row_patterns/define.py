"""Which rows a condition of DEFINE means.

SQL asks a condition when a row is to be mapped, of the rows mapped so far; WHERE is of the whole match. So of each row
that a condition mentions it has to be known from the pattern which one it is in the end: the row at hand or one so many
rows away from it, none, or the first or the last one of a variable that gets no more. That may differ from place to
place, and then the variable becomes several of ours.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from cepc_grammar import ast
from cepc_grammar.sql.syntax import FINAL
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.aggregate_functions import aggregate_written

from ..resolve.walk import rewrite, walk
from . import build
from . import messages as say
from .navigation import CLASSIFIER, LOGICAL, RefusedError
from .paths import DEPENDS, Distance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Span
    from cepc_runtime.sql.aggregate_functions import AggregateFunction

    from .naming import ClauseNames
    from .navigation import ClauseScope, RowReference
    from .paths import RowPaths
    from .shape import VariablePlace


MOST_WRITTEN_OUT: Final = 5
"""A pattern is written out for LAST(v.x, n) up to this n."""


@dataclass(frozen=True, slots=True)
class Own:
    """The row so many `places` after the one at hand."""

    places: int


@dataclass(frozen=True, slots=True)
class Missing:
    """No row: what is asked of it is null."""


@dataclass(frozen=True, slots=True)
class EndRow:
    """The row so many `places` after the first or last one of a variable but `offset`, in the whole match. The first
    but some is none, as long as the row at hand comes before it.
    """

    end: OneOf["FIRST", "LAST"]
    variable: str | None
    places: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Earlier:
    """The row so many `places` after the one at hand, if its variable has `offset` rows before that; else none."""

    places: int
    offset: int


@dataclass(frozen=True, slots=True)
class Back:
    """The row so many `places` after the one of the same variable that is `offset` of its rows before the one at hand;
    none where there are fewer.
    """

    places: int
    offset: int


@dataclass(frozen=True, slots=True)
class SoFar:
    """The row so many `places` after the first or last one of a variable among the rows up to the one at hand."""

    end: OneOf["FIRST", "LAST"]
    variable: str | None
    places: int


WhichRow = Own | Missing | EndRow | Earlier | Back | SoFar


@dataclass(frozen=True, slots=True)
class Unsure:
    """Whether there is a row depends on the way that the match took, past places of these variables. In a pattern that
    cannot be written out it `may_be_back`.
    """

    variables: frozenset[str]
    refused: Diagnostic
    may_be_back: bool = False


@dataclass(frozen=True, slots=True)
class Mentioned:
    """The places of each variable's and each union's rows, of all rows under None; and their `members`. Of a variable
    that is `aggregated` in its own condition all rows have to be of one variable of ours. The pattern `may_grow`: what
    is unsure may be sure when it is written out. Where it has not helped, first and last rows are those `so_far`.
    """

    members: Mapping[str | None, frozenset[str]]
    places: Mapping[str | None, frozenset[int]]
    aggregated: frozenset[str]
    may_grow: bool
    so_far: bool


def row_at(
    place: VariablePlace, asked: RowReference, mentioned: Mentioned, paths: RowPaths, span: Span
) -> WhichRow | Unsure:
    """Which row is meant in the condition of a row at the place. Raises RefusedError."""
    if asked.end == "FIRST":
        return _first(place, asked, mentioned, paths, span)
    members = mentioned.members[asked.variable]
    if place.variable not in members:
        return _last_of_another(place, asked, mentioned, paths, span)
    if asked.offset == 0:
        return Own(asked.places)
    found = _before(place, asked, mentioned, paths)
    if found is not None:
        return found
    if DEPENDS in paths.nth_before(place.number, mentioned.places[asked.variable], asked.offset):
        raise RefusedError(say.depends_on_length(span, asked.variable, place.variable))
    refused = say.perhaps_unmapped(span, asked.variable, place.variable)
    return Unsure(members, refused, may_be_back=members == {place.variable})


def _first(
    place: VariablePlace, asked: RowReference, mentioned: Mentioned, paths: RowPaths, span: Span
) -> WhichRow | Unsure:
    own, places = place.variable in mentioned.members[asked.variable], mentioned.places[asked.variable]
    distances = paths.last_before(place.number, places)
    if distances == {None}:
        return Missing() if not own or asked.offset else Own(asked.places)
    if None in distances and not own:
        if mentioned.so_far and not asked.offset:
            return SoFar("FIRST", asked.variable, asked.places)
        return Unsure(mentioned.members[asked.variable], say.perhaps_unmapped(span, asked.variable, place.variable))
    if asked.offset and paths.nth_before(place.number, places, asked.offset + (not own)) == {None}:
        return Missing()
    return EndRow("FIRST", asked.variable, asked.places, asked.offset)


def _before(place: VariablePlace, asked: RowReference, mentioned: Mentioned, paths: RowPaths) -> WhichRow | None:
    """A row before the one at hand, which is of the same variable; None where it is not known which."""
    places = mentioned.places[asked.variable]
    every = [paths.nth_before(number, places, asked.offset) for number in places]
    if mentioned.members[asked.variable] == {place.variable}:
        numbers = set[Distance]().union(*every)
        if place.variable in mentioned.aggregated and None in numbers and len(numbers) == 2 and DEPENDS not in numbers:
            return Earlier(asked.places - sum(number or 0 for number in numbers), asked.offset)
        is_one = place.variable in mentioned.aggregated and len(numbers) > 1
        is_long = not mentioned.may_grow or asked.offset > MOST_WRITTEN_OUT
        if is_one or DEPENDS in numbers or (is_long and any(len(distances) > 1 for distances in every)):
            return Back(asked.places, asked.offset)
    match tuple(paths.nth_before(place.number, places, asked.offset)):
        case (None,):
            return Missing()
        case (int(distance),) if distance != DEPENDS:
            return Own(asked.places - distance)
    return None


def _last_of_another(
    place: VariablePlace, asked: RowReference, mentioned: Mentioned, paths: RowPaths, span: Span
) -> WhichRow | Unsure:
    places, members = mentioned.places[asked.variable], mentioned.members[asked.variable]
    distances = paths.nth_before(place.number, places, asked.offset + 1)
    if distances == {None}:
        return Missing()
    can_follow = paths.can_follow(place.number, places)
    if not asked.offset and (mentioned.so_far or (can_follow and DEPENDS in distances)):
        return SoFar("LAST", asked.variable, asked.places)
    if None in (distances if can_follow else paths.last_before(place.number, places)):
        return Unsure(members, say.perhaps_unmapped(span, asked.variable, place.variable))
    match tuple(distances - {None}):
        case (int(distance),) if distance != DEPENDS and None not in distances:
            return Own(asked.places - distance)
        case (int(distance),) if distance != DEPENDS and mentioned.may_grow and asked.offset <= MOST_WRITTEN_OUT:
            refused = say.several_rows_back(span, asked.variable, place.variable)
            return Unsure(members, refused, may_be_back=True)
    if can_follow:
        raise RefusedError(say.depends_on_length(span, asked.variable, place.variable))
    return EndRow("LAST", asked.variable, asked.places, asked.offset)


@dataclass(frozen=True, slots=True)
class BoundVariable:
    """A variable of our query: the places of a SQL variable in whose condition the same rows are meant."""

    name: str
    variable: str
    places: frozenset[int]
    rows: tuple[WhichRow, ...]
    excluded: bool


# ---- walking a condition ---------------------------------------------------------------------------------------------


def rows_in(
    condition: ast.Expression,
    scope: ClauseScope,
    place: VariablePlace,
    reference: Callable[[RowReference, ast.Expression], ast.Expression],
    aggregate: Callable[[ast.Call, AggregateFunction], ast.Expression],
) -> ast.Expression:
    """The condition with each mention of a row replaced. Raises RefusedError."""

    def change(node: ast.Expression) -> ast.Expression | None:
        if isinstance(node, ast.Call):
            name = node.function.text.upper()
            if name == FINAL:
                raise RefusedError(say.final_in_define(node))
            if node.running:
                return rewrite(replace(node, running=False), change)
            if name == CLASSIFIER and not node.arguments:
                return build.text(place.variable, node.span)
            function = aggregate_written(name)
            if name == CLASSIFIER or (function is not None and function.numbers):
                raise RefusedError(say.not_in_define(node, name))
            if function is not None:
                return aggregate(node, function)
        found = scope.row_reference(node)
        return None if found is None else reference(found, node)

    return rewrite(condition, change)


def rows_of(condition: ast.Expression, scope: ClauseScope, place: VariablePlace) -> list[RowReference]:
    """What a condition mentions, in order. Raises RefusedError."""
    found: list[RowReference] = []

    def reference(asked: RowReference, node: ast.Expression) -> ast.Expression:
        found.append(asked)
        return node

    rows_in(condition, scope, place, reference, lambda node, _: node)
    return found


def is_aggregated(condition: ast.Expression, variable: str, names: ClauseNames) -> bool:
    """Whether it has an aggregate of rows of the variable, among others or not."""
    return any(
        isinstance(node, ast.Call)
        and aggregate_written(node.function.text.upper()) is not None
        and any(variable in names.members[_whose(column, names)] for column in _columns(node))
        for node in walk(condition)
    )


def counts_all(condition: ast.Expression) -> bool:
    """Whether it has `COUNT(*)`, the one call with a star."""
    return any(isinstance(node, ast.Star) for node in walk(condition))


def _columns(call: ast.Call) -> Iterator[ast.Expression]:
    return (
        node for argument in call.arguments for node in walk(argument) if isinstance(node, (ast.Reference, ast.Star))
    )


def _whose(column: ast.Expression, names: ClauseNames) -> str | None:
    return names.rows.get(column.parts[0].text.casefold()) if isinstance(column, ast.Reference) else None


def farthest(conditions: Iterable[ast.Expression]) -> int:
    """The largest number in FIRST(v.x, n) and LAST(v.x, n)."""
    found = [0]
    for condition in conditions:
        for node in walk(condition):
            if isinstance(node, ast.Call) and node.function.text.upper() in LOGICAL:
                found += (int(n.text) for n in node.arguments[1:] if isinstance(n, ast.Literal) and n.kind == "integer")
    return max(found)


def rows_at(
    place: VariablePlace, condition: ast.Expression | None, scope: ClauseScope, mentioned: Mentioned, paths: RowPaths
) -> tuple[WhichRow | Unsure, ...]:
    """What a condition mentions at a place, in order. Raises RefusedError."""
    found: list[WhichRow | Unsure] = []

    def reference(asked: RowReference, node: ast.Expression) -> ast.Expression:
        found.append(row_at(place, asked, mentioned, paths, node.span))
        return node

    if condition is not None:
        rows_in(condition, scope, place, reference, lambda node, _: node)
    return tuple(found)
