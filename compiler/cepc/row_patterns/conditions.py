"""Conditions of DEFINE as conjuncts of WHERE, where it is known which rows they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING
from typing import Literal as OneOf

from cepc_grammar import ast
from cepc_grammar.sql.syntax import ALL_COLUMNS
from cepc_runtime.cheap_dataclass import dataclass

from ..resolve.walk import conjuncts, references, walk
from . import build
from . import messages as say
from .define import Earlier, EndRow, Missing, Own, Row, rows_in
from .navigation import RefusedError, of_row

if TYPE_CHECKING:
    from cepc_grammar.source import Span

    from .binding import BoundPattern
    from .columns import UsedColumns
    from .define import BoundVariable
    from .navigation import ClauseScope, RowReference
    from .shape import VariablePlace


@dataclass(frozen=True, slots=True)
class ConditionWriter:
    """Writes the condition of one variable of a pattern."""

    variable: BoundVariable
    bound: BoundPattern
    scope: ClauseScope
    used: UsedColumns

    def conditions(self, condition: ast.Expression, place: VariablePlace) -> list[ast.Expression]:
        """Conjuncts of WHERE. Raises RefusedError."""
        rows = iter(self.variable.rows)
        written = rows_in(
            condition, self.scope, place,
            lambda asked, node: self._value(next(rows), asked, node), lambda node: self._running(node),
        )  # fmt: skip
        return [self._about_it(conjunct) for conjunct in conjuncts(written)]

    def _about_it(self, conjunct: ast.Expression) -> ast.Expression:
        """A condition that mentions the variable, for one that does not is of every match."""
        mentioned = {reference.parts[0].text for reference in references(conjunct)}
        runs = any(isinstance(node, ast.Call) and node.running for node in walk(conjunct))
        if runs and mentioned > {self.variable.name}:
            raise RefusedError(say.running_beside_others(conjunct.span))
        if self.variable.name in mentioned:
            return conjunct
        span = conjunct.span
        return build.where(build.is_there(self.used.number_of(self.variable.name, span), span), conjunct, span)

    def _value(self, row: Row, asked: RowReference, node: ast.Expression) -> ast.Expression:
        span = node.span
        match row:
            case Own(places):
                name = self.variable.name
                value = of_row(asked.body, lambda column: self.used.of(name, column, places))
                if places == 0 or isinstance(asked.body, ast.Reference):
                    return value
                return build.where(build.is_there(self.used.number_of(name, span, places), span), value, span)
            case Earlier(places):
                number = self.used.number_of(self.variable.name, span)
                later = ast.Binary(">", number, build.call("FIRST", [number], span), span)
                return build.where(later, self._value(Own(places), asked, node), span)
            case Missing():
                types = self.scope.table.types
                value = of_row(
                    asked.body, lambda column: build.null_of(types[column.parts[0].text], column.parts[1:], span)
                )
                if isinstance(asked.body, ast.Reference):
                    return value
                return build.where(ast.Literal("boolean", "FALSE", span), value, span)
            case EndRow(end, variable, places):
                name = self._single(end, variable, span)
                return at_end(self.used, end, name, asked.body, places, span)

    def _single(self, end: OneOf["FIRST", "LAST"], variable: str | None, span: Span) -> str:
        """The one variable of ours whose first or last row it is. Raises RefusedError."""
        places = self.bound.mentioned.places[variable]
        if end == "FIRST":
            reached = {p for place in self.variable.places for p in self.bound.paths.may_precede(place, places)}
            reached = (reached | (places & self.variable.places)) & self.bound.paths.firsts(places)
        else:
            reached = {p for place in self.variable.places for p in self.bound.paths.latest_before(place, places)}
        names = {one.name for one in self.bound.variables if one.places & reached}
        if len(names) > 1:
            raise RefusedError(say.depends_on_length(span, variable, self.variable.variable))
        return names.pop()

    def _running(self, node: ast.Call) -> ast.Expression:
        """An aggregate, which in DEFINE is of the rows so far. Raises RefusedError."""
        if node.distinct:
            raise RefusedError(say.no_distinct(node))
        match node.arguments:
            case (ast.Star(),):
                variable, argument = None, None
            case (ast.Reference((whose, ast.Name(text=last))),) if last == ALL_COLUMNS:
                variable, argument = self.scope.variable(whose), None
            case (written,):
                argument, variable = self.scope.argument(written, node)
            case _:
                raise RefusedError(say.arguments(node))
        places = self.bound.mentioned.places[variable]
        before = {p for place in self.variable.places for p in self.bound.paths.may_precede(place, places)}
        if self.variable.variable not in self.bound.mentioned.members[variable] or not before <= self.variable.places:
            raise RefusedError(say.aggregate_of_others(node, variable, self.variable.variable))
        own = self.variable.name
        of: ast.Expression = ast.Reference((ast.Name(own, node.span),), node.span)
        if argument is not None:
            of = of_row(argument, lambda column: self.used.of(own, column, 0))
        return build.call(node.function.text, [of], node.span, running=True)


def at_end(used: UsedColumns, end: str, name: str, body: ast.Expression, places: int, span: Span) -> ast.Expression:
    """What is asked of the row so many places after the first or last one of a variable of ours; null where there is
    none, whatever the body makes of nulls.
    """
    value = build.call(end, [of_row(body, lambda column: used.of(name, column, places))], span)
    if isinstance(body, ast.Reference):
        return value
    there = build.is_there(build.call(end, [used.number_of(name, span, places)], span), span)
    return build.where(there, value, span)
