"""Which rows a condition of DEFINE means.

SQL asks a condition when a row is to be mapped, of the rows mapped so far; WHERE is of the whole match. So of each row
that a condition mentions it has to be known from the pattern which one it is in the end: the row at hand or one so many
rows away from it, none, or the first or the last one of a variable that gets no more. That may differ from place to
place, and then the variable becomes several of ours.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from cepc_grammar import ast
from cepc_grammar.sql.syntax import FINAL
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.aggregate_functions import aggregate_written

from ..resolve.walk import rewrite, walk
from . import build
from . import messages as say
from .navigation import CLASSIFIER, RefusedError
from .paths import DEPENDS, Distance

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Span

    from .navigation import ClauseScope, RowReference
    from .paths import RowPaths
    from .shape import VariablePlace


@dataclass(frozen=True, slots=True)
class Own:
    """The row so many `places` after the one at hand."""

    places: int


@dataclass(frozen=True, slots=True)
class Missing:
    """No row: what is asked of it is null."""


@dataclass(frozen=True, slots=True)
class EndRow:
    """The row so many `places` after the first or last one of a variable, in the whole match."""

    end: OneOf["FIRST", "LAST"]
    variable: str | None
    places: int


@dataclass(frozen=True, slots=True)
class Earlier:
    """The row so many `places` after the one at hand, if that is not the first one of its variable; else none."""

    places: int


Row = Own | Missing | EndRow | Earlier


@dataclass(frozen=True, slots=True)
class Unsure:
    """Whether there is a row depends on the way that the match took, past places of these variables."""

    variables: frozenset[str]
    refused: Diagnostic


@dataclass(frozen=True, slots=True)
class Mentioned:
    """The places of each variable's and each union's rows, of all rows under None; and their `members`. Of a variable
    that is `aggregated` in its own condition all rows have to be of one variable of ours.
    """

    members: Mapping[str | None, frozenset[str]]
    places: Mapping[str | None, frozenset[int]]
    aggregated: frozenset[str]


def row_at(
    place: VariablePlace, asked: RowReference, mentioned: Mentioned, paths: RowPaths, span: Span
) -> Row | Unsure:
    """Which row is meant in the condition of a row at the place. Raises RefusedError."""
    own = place.variable in mentioned.members[asked.variable]
    if own and asked.end == "LAST" and asked.offset == 0:
        return Own(asked.places)
    if asked.offset > (1 if own and asked.end == "LAST" else 0):
        raise RefusedError(say.no_offset(span, asked.end))
    places = mentioned.places[asked.variable]
    if own and asked.offset and asked.variable in mentioned.aggregated:
        every = set[Distance]().union(*(paths.last_before(number, places) for number in places))
        if len(every) == 2 and None in every and DEPENDS not in every:
            return Earlier(asked.places - max(distance for distance in every if distance is not None))
    distances = paths.last_before(place.number, places)
    if distances == {None}:
        return Own(asked.places) if own and asked.end == "FIRST" else Missing()
    if None in distances and not (own and asked.end == "FIRST"):
        return Unsure(mentioned.members[asked.variable], say.perhaps_unmapped(span, asked.variable, place.variable))
    if asked.end == "FIRST":
        return EndRow("FIRST", asked.variable, asked.places)
    if len(distances) == 1 and DEPENDS not in distances:
        (distance,) = distances
        assert distance is not None
        return Own(asked.places - distance)
    if asked.offset or paths.can_follow(place.number, places):
        raise RefusedError(say.depends_on_length(span, asked.variable, place.variable))
    return EndRow("LAST", asked.variable, asked.places)


@dataclass(frozen=True, slots=True)
class BoundVariable:
    """A variable of our query: the places of a SQL variable in whose condition the same rows are meant."""

    name: str
    variable: str
    places: frozenset[int]
    rows: tuple[Row, ...]


# ---- walking a condition ---------------------------------------------------------------------------------------------


def rows_in(
    condition: ast.Expression,
    scope: ClauseScope,
    place: VariablePlace,
    reference: Callable[[RowReference, ast.Expression], ast.Expression],
    aggregate: Callable[[ast.Call], ast.Expression],
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
                return aggregate(node)
        found = scope.row_reference(node)
        return None if found is None else reference(found, node)

    return rewrite(condition, change)


def is_aggregated(condition: ast.Expression) -> bool:
    """Whether it has an aggregate, which in DEFINE is of the variable's own rows."""
    return any(isinstance(node, ast.Call) and aggregate_written(node.function.text.upper()) for node in walk(condition))


def rows_at(
    place: VariablePlace, condition: ast.Expression | None, scope: ClauseScope, mentioned: Mentioned, paths: RowPaths
) -> tuple[Row | Unsure, ...]:
    """What a condition mentions at a place, in order. Raises RefusedError."""
    found: list[Row | Unsure] = []

    def reference(asked: RowReference, node: ast.Expression) -> ast.Expression:
        found.append(row_at(place, asked, mentioned, paths, node.span))
        return node

    if condition is not None:
        rows_in(condition, scope, place, reference, lambda node: node)
    return tuple(found)
