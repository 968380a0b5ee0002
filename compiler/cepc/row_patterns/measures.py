"""MEASURES as columns of RETURN: with ONE ROW PER MATCH all of them are of the whole match."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from cepc_grammar import ast
from cepc_grammar.sql.syntax import FINAL
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.aggregate_functions import COUNT, aggregate_written

from ..resolve.walk import rewrite
from . import build
from .aggregating import AggregateWriter, row_aggregate
from .conditions import at_end, of_no_row
from .navigation import CLASSIFIER

if TYPE_CHECKING:
    from collections.abc import Callable

    from cepc_grammar.source import Span

    from .binding import BoundPattern
    from .columns import UsedColumns
    from .navigation import ClauseScope, RowReference

_ENDS: Final = {"FIRST": "LEAST", "LAST": "GREATEST"}


@dataclass(frozen=True, slots=True)
class MeasureWriter:
    bound: BoundPattern
    scope: ClauseScope
    used: UsedColumns

    @property
    def aggregates(self) -> AggregateWriter:
        return AggregateWriter(self.bound, self.scope, self.used)

    def measure(self, expression: ast.Expression) -> ast.Expression:
        """Raises RefusedError."""

        def change(node: ast.Expression) -> ast.Expression | None:
            if isinstance(node, ast.Call):
                name = node.function.text.upper()
                if name == FINAL:
                    return rewrite(node.arguments[0], change)
                if node.running:  # at the last row, which the row of a match stands for, there is no difference
                    return rewrite(replace(node, running=False), change)
                if name == CLASSIFIER:
                    return self._classifier(node)
                function = aggregate_written(name)
                if function is not None:
                    if function.numbers:
                        return node
                    return self.aggregates.over(row_aggregate(node, function, self.scope, classified=True))
            found = self.scope.row_reference(node)
            return None if found is None else self.row_value(found, node.span)

        return rewrite(expression, change)

    # ---- rows --------------------------------------------------------------------------------------------------------

    def row_value(self, asked: RowReference, span: Span) -> ast.Expression:
        """What is asked of a row of a whole match."""
        if asked.offset:
            return self._further(asked, span)
        return self._at_end(
            asked.end,
            asked.variable,
            span,
            lambda name: at_end(self.used, asked.end, name, asked.body, asked.places, span),
        )

    def _further(self, asked: RowReference, span: Span) -> ast.Expression:
        """Of the first row but some, or the last. Of all rows of a match it is known how far away that is."""
        if asked.variable is None:
            places = asked.places + (asked.offset if asked.end == "FIRST" else -asked.offset)
            value = self.row_value(replace(asked, offset=0, places=places), span)
            apart = ast.Binary("-", self._number_of_last(span), self.number_of_first(span), span)
            return build.where(ast.Binary(">=", apart, build.whole(asked.offset, span), span), value, span)
        names = self.aggregates.names(asked.variable)
        if len(names) == 1:
            bound = next(bound for bound in self.bound.variables if bound.name == names[0])
            if not self.bound.repeats(bound):
                return of_no_row(self.used, asked.body, span)
            return at_end(self.used, asked.end, names[0], asked.body, asked.places, span, asked.offset)
        count = self.aggregates.call(COUNT.written, [], names, span)
        at: ast.Expression = build.whole(asked.offset, span)
        if asked.end == "LAST":
            at = ast.Binary("-", count, build.whole(asked.offset + 1, span), span)
        found = self.aggregates.nth_row(at, asked.body, names, asked.places, span)
        return build.where(ast.Binary(">", count, build.whole(asked.offset, span), span), found, span)

    def _at_end(
        self, end: OneOf["FIRST", "LAST"], variable: str | None, span: Span, value: Callable[[str], ast.Expression]
    ) -> ast.Expression:
        """What is asked of the first or last row among those of all variables of ours that it may be of."""
        places = self.bound.mentioned.places[variable]
        able = self.bound.paths.firsts(places) if end == "FIRST" else self.bound.paths.lasts(places)
        names = [bound.name for bound in self.bound.variables if bound.places & able]
        if len(names) == 1:
            return value(names[0])
        numbers = [build.call(end, [self.used.number_of(name, span)], span) for name in names]
        extreme = build.call(_ENDS[end], numbers, span)
        branches = (
            ast.Branch(ast.Binary("=", extreme, number, span), value(name), span)
            for name, number in zip(names, numbers, strict=True)
        )
        return ast.Case(None, tuple(branches), None, span)

    def number_of_first(self, span: Span) -> ast.Expression:
        """The number of a match's first row."""
        return self._at_end(
            "FIRST", None, span, lambda name: build.call("FIRST", [self.used.number_of(name, span)], span)
        )

    def _number_of_last(self, span: Span) -> ast.Expression:
        return self._at_end(
            "LAST", None, span, lambda name: build.call("LAST", [self.used.number_of(name, span)], span)
        )

    def _classifier(self, node: ast.Call) -> ast.Expression:
        variable = self.scope.classified(node)
        called = {bound.name: bound.variable for bound in self.bound.variables}

        def value(name: str) -> ast.Expression:
            there = build.is_there(build.call("LAST", [self.used.number_of(name, node.span)], node.span), node.span)
            return build.where(there, build.text(called[name], node.span), node.span)

        return self._at_end("LAST", variable, node.span, value)
