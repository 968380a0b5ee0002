"""The columns of a stream: those of its input, and those that are computed from columns declared before them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.computed import Computed, StreamInput
from cepc_runtime.sql.expression import Expression, Field
from cepc_runtime.sql.functions.coercion import can_store, cast_to
from cepc_runtime.sql.types import NULL

from ..expressions import ExpressionContext, VariableInfo, column_type, nested_field, type_expression
from ..expressions.messages import no_type
from .messages import from_query as say_from_query
from .messages import names as say
from .messages import streams as say_stream
from .walk import references

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cepc_grammar import ast
    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.sql.types import DataType


@dataclass(frozen=True, slots=True)
class StreamColumns:
    """`visible` are the columns that queries see, in order: all but those of the input whose place a computed one
    takes. `broken` are those whose type is not known.
    """

    visible: Mapping[str, DataType]
    input: StreamInput
    broken: frozenset[str]
    problems: tuple[Diagnostic, ...]


NO_ROWS: Final[Mapping[str, DataType]] = MappingProxyType({})


def resolve_columns(stream: ast.Stream, rows: Mapping[str, DataType]) -> StreamColumns:
    """Every column with its type, and all that is wrong. `rows` are those of the query whose rows are the events, which
    then has no others in its input.
    """
    problems: list[Diagnostic] = []
    types: dict[str, DataType] = dict(rows)
    broken: set[str] = set()
    computed: dict[str, Expression] = {}
    for number, column in enumerate(stream.columns):
        name = column.name.text
        if stream.query is not None and column.expression is None:
            problems.append(say_from_query.own_column(column, stream.query, rows))
            broken |= {name} - {*rows}
            continue
        if stream.query is not None and name in rows:
            problems.append(say.twice("column", column.name, stream.query.span))
            continue
        type_, found = (None, ()) if column.type is None else column_type(column.name, column.type)
        problems += found
        if column.expression is not None and not found:
            scope = ColumnScope(stream, number, types, frozenset(broken))
            typed, wrong = _typed(column, column.expression, type_, scope)
            problems += wrong
            type_ = None if typed is None else typed.type
            if typed is not None:
                computed.setdefault(name, typed)
        if name in types or name in broken:
            continue  # declared twice
        if type_ is None:
            broken.add(name)
        else:
            types[name] = type_
    of_input = {*rows} | {c.name.text for c in stream.columns if c.expression is None}
    taken = {name.casefold() for name in computed}
    return StreamColumns(
        {name: type_ for name, type_ in types.items() if name not in of_input or name.casefold() not in taken},
        StreamInput(
            tuple((name, type_) for name, type_ in types.items() if name in of_input),
            tuple(Computed(name, e) for name, e in computed.items() if name not in of_input),
        ),
        frozenset(broken),
        tuple(problems),
    )


def _typed(
    column: ast.Column, written: ast.Expression, type_: DataType | None, scope: ColumnScope
) -> tuple[Expression | None, list[Diagnostic]]:
    """What a column is computed by, in the type that is written, if one is."""
    problems = scope.order(written)
    if problems or scope.mentions_broken(written):
        return None, problems
    typed, found = type_expression(written, scope, ExpressionContext.COLUMN)
    problems += found
    if typed is None:
        return None, problems
    if type_ is None:
        return (None, [*problems, no_type(written.span)]) if typed.type == NULL else (typed, problems)
    if not can_store(typed.type, type_):
        return None, [*problems, say_stream.computed_type(column, written, typed.type, type_)]
    return cast_to(typed, type_), problems


@dataclass(frozen=True, slots=True)
class ColumnScope:
    """The names in a computed column: the columns declared before it, which is column `number` of the stream."""

    stream: ast.Stream
    number: int
    types: Mapping[str, DataType]
    broken: frozenset[str]

    def order(self, written: ast.Expression) -> list[Diagnostic]:
        """What is wrong where a column is named that is not there yet, or the column itself."""
        column = self.stream.columns[self.number]
        later = {c.name.text: c for c in reversed(self.stream.columns[self.number :])}
        problems = []
        for name in dict.fromkeys(reference.parts[0] for reference in references(written)):
            other = later.get(name.text)
            if other is None or name.text in self.types or name.text in self.broken:
                continue
            if other is column:
                problems.append(say_stream.computed_from_itself(column, name))
            else:
                back = other.expression is not None and _names(other.expression, column.name.text)
                problems.append(say_stream.computed_from_later(column, name, other, circle=back))
        return problems

    def mentions_broken(self, written: ast.Expression) -> bool:
        return any(reference.parts[0].text in self.broken for reference in references(written))

    def reference(self, reference: ast.Reference) -> Expression | Diagnostic:
        first, *rest = reference.parts
        type_ = self.types.get(first.text)
        if type_ is None:
            known = list(self.types)
            if rest and rest[0].text in self.types:
                return say_stream.event_in_column(first, rest[0].text)
            return say.unknown_column(first, known, self.stream.name.text)
        return nested_field(Field(None, first.text, "each", type_), rest)

    def variable(self, reference: ast.Reference) -> VariableInfo | Diagnostic:
        name = reference.parts[0]
        if name.text in self.types:
            return say_stream.no_event_in_column(name)
        return say_stream.event_in_column(name, next(iter(self.types), "column"))

    def info(self, name: str) -> VariableInfo:
        raise KeyError(name)

    def of_all_events(self, arguments: Sequence[ast.Expression]) -> None:
        """There are no matches."""

    def beside(self, column: Field, places: int) -> Field:
        raise NotImplementedError


def _names(expression: ast.Expression, name: str) -> bool:
    return any(reference.parts[0].text == name for reference in references(expression))
