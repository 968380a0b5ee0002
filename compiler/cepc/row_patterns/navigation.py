"""Which row a column is of: `x`, `A.x`, LAST, FIRST, PREV and NEXT, as SQL nests them.

All columns within one of them are of the same variable. PREV and NEXT count rows of the partition, whether the match
has them or not; LAST and FIRST are of the rows mapped to the variable, or of all rows of the match without one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from cepc_grammar import ast
from cepc_grammar.sql.syntax import ALL_COLUMNS, FINAL, PHYSICAL
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.aggregate_functions import aggregate_written
from cepc_runtime.sql.types import NULL, TIMESTAMP

from ..expressions.aggregates import FARTHEST
from ..expressions.messages import form_with_unit
from ..expressions.units_first import cure, unit_of
from ..resolve.walk import rewrite
from . import messages as say

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cepc_grammar.diagnostic import Diagnostic

    from .tables import RowTable

LOGICAL: Final = ("FIRST", "LAST")
CLASSIFIER: Final = "CLASSIFIER"


class RefusedError(Exception):
    """What the diagnostic says."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic)
        self.diagnostic = diagnostic


@dataclass(frozen=True, slots=True)
class ColumnOf:
    """A column, with fields of it behind, and whose it is as written: a variable, a union, or None for any row."""

    variable: str | None
    column: str
    fields: tuple[ast.Name, ...]


@dataclass(frozen=True, slots=True)
class RowReference:
    """`body` is what is asked of a row, over columns that are written as they are in the table. The row is the last one
    (the first, of `end`) of the variable but `offset`, None for any variable, or so many `places` after that.
    """

    body: ast.Expression
    variable: str | None
    end: OneOf["FIRST", "LAST"]
    offset: int
    places: int


@dataclass(frozen=True, slots=True)
class ClauseScope:
    """What expressions of a clause may name: the columns of its table, and `variables`, unions among them, by their
    names in one case. They may not name each other: `measures`, by their names in one case.
    """

    table: RowTable
    variables: Mapping[str, str]
    measures: Mapping[str, ast.Expression]

    def column_of(self, reference: ast.Reference) -> ColumnOf:
        """Raises RefusedError."""
        first, *rest = reference.parts
        variable = self.variables.get(first.text.casefold()) if rest else None
        if variable is not None:
            first, *rest = rest
        if first.text == ALL_COLUMNS:
            raise RefusedError(say.all_columns(reference))
        column = self.table.column(first)
        if column is None:
            other = self.table.other(first)
            if other is not None:
                raise RefusedError(say.unusable_column(first, other))
            if variable is None and rest:
                raise RefusedError(say.unknown_before_dot(first, self.table, sorted(self.variables.values())))
            measure = self.measures.get(first.text.casefold()) if variable is None else None
            if measure is not None and not measure.span.start <= first.span.start < measure.span.end:
                raise RefusedError(say.measure_as_column(first))
            raise RefusedError(say.unknown_column(first, self.table))
        return ColumnOf(variable, column, tuple(rest))

    def variable(self, name: ast.Name) -> str:
        """Raises RefusedError."""
        found = self.variables.get(name.text.casefold())
        if found is None:
            raise RefusedError(say.unknown_variable(name, sorted(self.variables.values())))
        return found

    def argument(
        self, body: ast.Expression, call: ast.Expression, *, classified: bool = False
    ) -> tuple[ast.Expression, str | None]:
        """An argument with its columns bare, and the variable that they are all of; with CLASSIFIER() in it where that
        may be asked of a row. Raises RefusedError.
        """
        found: list[str | None] = []

        def change(node: ast.Expression) -> ast.Expression | None:
            if isinstance(node, ast.Call) and node.function.text.upper() == CLASSIFIER and classified:
                found.append(self.classified(node))
                return replace(node, arguments=())
            if isinstance(node, ast.Call) and is_of_rows(node):
                raise RefusedError(say.nested(node))
            self._known(node)
            if isinstance(node, ast.Reference):
                column = self.column_of(node)
                found.append(column.variable)
                return bare(column, node)
            return None

        changed = rewrite(body, change)
        if not found:
            raise RefusedError(say.no_column(call))
        if len(set(found)) > 1:
            raise RefusedError(say.several_variables(call, sorted(name or "no variable" for name in set(found))))
        return changed, found[0]

    def classified(self, node: ast.Call) -> str | None:
        """The variable of which CLASSIFIER is asked, None of all rows. Raises RefusedError."""
        match node.arguments:
            case ():
                return None
            case (ast.Reference((name,)),):
                return self.variable(name)
        raise RefusedError(say.arguments(node))

    def _known(self, node: ast.Expression) -> None:
        """Of calls. Raises RefusedError."""
        if not isinstance(node, ast.Call):
            return
        if (unknown := say.not_here(node)) is not None:
            raise RefusedError(unknown)
        refuse_unit(node, self._is_timestamp)

    def _is_timestamp(self, argument: ast.Expression) -> bool:
        """Whether it is certain; what is no TIMESTAMP is cast to one in a cure. Raises RefusedError."""
        if isinstance(argument, ast.Call) and argument.arguments and is_of_rows(argument):
            return self._is_timestamp(argument.arguments[0])
        if not isinstance(argument, ast.Reference):
            return False
        column = self.column_of(argument)
        return not column.fields and self.table.types[column.column].name.upper() == TIMESTAMP.sql

    def row_reference(self, node: ast.Expression) -> RowReference | None:
        """What a column, or a call of LAST and its like, is of; None for anything else. Raises RefusedError."""
        self._known(node)
        match node:
            case ast.Reference():
                column = self.column_of(node)
                return RowReference(bare(column, node), column.variable, "LAST", 0, 0)
            case ast.Call(ast.Name() as function, arguments) if (name := function.text.upper()) in PHYSICAL:
                amount = PHYSICAL[name] * _offset(node, 1)
                inner = arguments[0]
                if isinstance(inner, ast.Call) and inner.function.text.upper() in LOGICAL:
                    found = self.row_reference(inner)
                    assert found is not None
                else:
                    body, variable = self.argument(inner, node)
                    found = RowReference(body, variable, "LAST", 0, 0)
                return RowReference(found.body, found.variable, found.end, found.offset, amount)
            case ast.Call(ast.Name() as function, arguments) if (name := function.text.upper()) in LOGICAL:
                offset = _offset(node, 0)
                if offset > FARTHEST:
                    raise RefusedError(say.too_far(node.span, FARTHEST))
                body, variable = self.argument(arguments[0], node)
                return RowReference(body, variable, "FIRST" if name == "FIRST" else "LAST", offset, 0)
        return None


def refuse_unit(call: ast.Call, is_timestamp: Callable[[ast.Expression], bool]) -> None:
    """A unit, as in `datediff(HOUR, a, b)`, would be taken for a column. Raises RefusedError."""
    if (unit := unit_of(call)) is not None:
        types = [TIMESTAMP if is_timestamp(argument) else NULL for argument in call.arguments[1:]]
        raise RefusedError(form_with_unit(call.span, call.function.text, unit, cure(call, unit, types)))


def bare(column: ColumnOf, written: ast.Reference) -> ast.Reference:
    return ast.Reference((ast.Name(column.column, written.span), *column.fields), written.span)


def is_of_rows(call: ast.Call) -> bool:
    """Whether it is a function that asks of other rows."""
    name = call.function.text.upper()
    return name in (*LOGICAL, *PHYSICAL, CLASSIFIER, FINAL) or call.running or aggregate_written(name) is not None


def of_row(
    body: ast.Expression, column: Callable[[ast.Reference], ast.Expression], name: ast.Expression | None = None
) -> ast.Expression:
    """The body with another expression in place of each column, and of CLASSIFIER() if there is one."""

    def change(node: ast.Expression) -> ast.Expression | None:
        if isinstance(node, ast.Call) and node.function.text.upper() == CLASSIFIER:
            return name
        return column(node) if isinstance(node, ast.Reference) else None

    return rewrite(body, change)


def _offset(call: ast.Call, unless: int) -> int:
    """The second argument, a number of rows. Raises RefusedError."""
    match call.arguments:
        case (_,):
            return unless
        case (_, ast.Literal("integer", text)) if len(text) < 7:
            return int(text)
        case (_, second):
            raise RefusedError(say.offset(second))
    raise RefusedError(say.arguments(call))
