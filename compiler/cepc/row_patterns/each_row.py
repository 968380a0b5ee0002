"""MEASURES of ALL ROWS PER MATCH: columns of RETURN EACH, of the rows of a match up to the row at hand, or FINAL.

`A.x` is of the last row of A so far. Where the pattern says how far away that is, it is a column of the row at hand,
and where A gets no more rows, of the match; else it is looked up in the list of all rows of A, by their number so far.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_grammar.sql.syntax import FINAL
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.aggregate_functions import COUNT, MAX_BY, aggregate_written

from ..resolve.walk import rewrite
from . import build
from . import messages as say
from .aggregating import AggregateWriter, row_aggregate
from .conditions import of_no_row
from .measures import MeasureWriter
from .navigation import CLASSIFIER, RefusedError, of_row
from .paths import DEPENDS, Distance

if TYPE_CHECKING:
    from cepc_grammar.source import Span
    from cepc_runtime.sql.aggregate_functions import AggregateFunction

    from .binding import BoundPattern
    from .columns import UsedColumns
    from .define import BoundVariable
    from .navigation import ClauseScope, RowReference


@dataclass(frozen=True, slots=True)
class RowMeasureWriter:
    """`none` is the variable of empty matches, whose row is not one of the match, if there are some."""

    bound: BoundPattern
    scope: ClauseScope
    used: UsedColumns
    none: str | None

    @property
    def aggregates(self) -> AggregateWriter:
        return AggregateWriter(self.bound, self.scope, self.used)

    @property
    def final(self) -> MeasureWriter:
        return MeasureWriter(self.bound, self.scope, self.used)

    def measure(self, expression: ast.Expression) -> ast.Expression:
        """Raises RefusedError."""

        def change(node: ast.Expression) -> ast.Expression | None:
            if isinstance(node, ast.Call):
                name = node.function.text.upper()
                if name == FINAL:
                    return self.final.measure(node)
                if node.running:
                    return rewrite(replace(node, running=False), change)
                if name == CLASSIFIER:
                    return self._classifier(node)
                function = aggregate_written(name)
                if function is not None:
                    return node if function.numbers else self._aggregate(node, function)
            found = self.scope.row_reference(node)
            return None if found is None else self._of_row(found, node.span)

        return rewrite(expression, change)

    # ---- rows --------------------------------------------------------------------------------------------------------

    def _of_row(self, asked: RowReference, span: Span) -> ast.Expression:
        if asked.end == "FIRST":
            return self._from_then_on(asked, self.final.row_value(asked, span), span)
        if asked.variable is None:
            return self._of_any(asked, span)
        found: list[tuple[ast.Expression, list[str]]] = []
        for one in self.bound.variables:
            value = self._last_at(one, asked, span)
            known = next((names for other, names in found if other == value), None)
            if known is None:
                found.append((value, [one.name]))
            else:
                known.append(one.name)
        if len(found) == 1 and self.none is None:
            return found[0][0]
        return build.by_variable([(name, value) for value, names in found for name in names], span)

    def _of_any(self, asked: RowReference, span: Span) -> ast.Expression:
        """Of the row at hand, or one so many rows of the match before it."""
        value = self._here(asked.body, asked.places - asked.offset, span)
        if asked.offset:
            value = self._from_then_on(replace(asked, end="FIRST"), value, span)
        elif self.none is not None:
            value = build.where(
                ast.Binary("<>", build.at_variable(span), build.text(self.none, span), span), value, span
            )
        return value

    def _last_at(self, one: BoundVariable, asked: RowReference, span: Span) -> ast.Expression:
        """What is asked of the last row of a variable but some, at a row of one of ours."""
        is_own = one.variable in self.bound.mentioned.members[asked.variable]
        if is_own and asked.offset == 0:
            return self._here(asked.body, asked.places, span)
        places, paths = self.bound.mentioned.places[asked.variable], self.bound.paths
        distances = set[Distance]().union(
            *(paths.nth_before(place, places, asked.offset + (not is_own)) for place in one.places)
        )
        match tuple(distances - {None}):
            case ():
                return of_no_row(self.used, asked.body, span)
            case (int(distance),) if distance != DEPENDS:
                value = self._here(asked.body, asked.places - distance, span)
                return self._from_then_on(asked, value, span) if None in distances else value
        if not any(paths.can_follow(place, places) for place in one.places):
            return self.final.row_value(asked, span)
        return self._looked_up(asked, span)

    def _here(self, body: ast.Expression, places: int, span: Span) -> ast.Expression:
        """What is asked of the row so many places after the one at hand."""

        def of_column(column: ast.Reference) -> ast.Expression:
            name, *fields = column.parts
            return ast.Reference((ast.Name(self.used.at(name.text, places), name.span), *fields), column.span)

        value = of_row(body, of_column)
        if isinstance(body, ast.Reference) or places == 0:
            return value
        return build.where(build.is_there(self._number(span, places), span), value, span)

    def _number(self, span: Span, places: int = 0) -> ast.Expression:
        return ast.Reference((ast.Name(self.used.at(self.used.number, places), span),), span)

    def _from_then_on(self, asked: RowReference, value: ast.Expression, span: Span) -> ast.Expression:
        """The value from the row on from which there are so many rows, before that null."""
        number = ast.Reference((ast.Name(self.used.number, span),), span)
        first = self.final.row_value(replace(asked, body=number, end="FIRST", places=0), span)
        return build.where(ast.Binary("<=", first, number, span), value, span)

    def _looked_up(self, asked: RowReference, span: Span) -> ast.Expression:
        """In the list of all rows of a variable, by how many there are so far."""
        names = self.aggregates.names(asked.variable)
        count = self.aggregates.call(COUNT.written, [], names, span, running=True)
        at = ast.Binary("-", count, build.whole(asked.offset + 1, span), span)
        found = self.aggregates.nth_row(at, asked.body, names, asked.places, span)
        return build.where(ast.Binary(">", count, build.whole(asked.offset, span), span), found, span)

    # ---- names and aggregates ----------------------------------------------------------------------------------------

    def _classifier(self, node: ast.Call) -> ast.Expression:
        called = {one.name: one.variable for one in self.bound.variables}
        if not node.arguments:
            return build.classifier(called, node.span)
        names = self.aggregates.names(self.scope.classified(node))
        number = ast.Reference((ast.Name(self.used.number, node.span),), node.span)
        asked = (replace(node, arguments=()), number)
        return self.aggregates.call(MAX_BY.written, asked, names, node.span, running=True)

    def _aggregate(self, node: ast.Call, function: AggregateFunction) -> ast.Expression:
        aggregate = row_aggregate(node, function, self.scope, classified=True)
        if node.distinct or not function.runs or node.function.text.upper() != function.written:
            raise RefusedError(say.not_running(node))
        return self.aggregates.over(aggregate, running=True)
