"""COUNT, SUM and their like over rows of a match, which may be of several variables of ours: in MEASURES over all of
them at once, in DEFINE of each and then together.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Final

from cepc_grammar import ast
from cepc_grammar.sql.syntax import ALL_COLUMNS
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.aggregate_functions import COLLECT, COUNT, SUM

from ..resolve.walk import references
from . import build
from . import messages as say
from .navigation import RefusedError, of_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cepc_grammar.source import Span
    from cepc_runtime.sql.aggregate_functions import AggregateFunction

    from .binding import BoundPattern
    from .columns import UsedColumns
    from .navigation import ClauseScope

_NARROW: Final = frozenset({"TINYINT", "SMALLINT", "INT", "BYTE", "SHORT", "INTEGER"})
_LONG: Final = frozenset({"BIGINT", "LONG"})
_REAL: Final = frozenset({"DOUBLE", "FLOAT", "REAL"})
_DECIMAL: Final = frozenset({"DECIMAL", "DEC", "NUMERIC"})
MOST_DIGITS: Final = 38
DIGITS_OF_SUM: Final = 10
"""So many more than what it adds has the SUM of a DECIMAL."""


@dataclass(frozen=True, slots=True)
class RowAggregate:
    """An aggregate as it is written in a clause. It is of rows of `variable`, a union, or None for all; without
    `arguments`, whose columns are bare, it counts them.
    """

    call: ast.Call
    function: AggregateFunction
    variable: str | None
    arguments: tuple[ast.Expression, ...]


def row_aggregate(
    call: ast.Call, function: AggregateFunction, scope: ClauseScope, *, classified: bool = False
) -> RowAggregate:
    """What is said in a clause; with CLASSIFIER() in the arguments, if it may be there. Raises RefusedError."""
    match call.arguments:
        case (ast.Star(),) if function.counts and not call.distinct:
            return RowAggregate(call, function, None, ())
        case (ast.Reference((variable, ast.Name(text=last))),) if last == ALL_COLUMNS and function.counts:
            if not call.distinct:
                return RowAggregate(call, function, scope.variable(variable), ())
    if len(call.arguments) != (2 if function.by else 1) or function.alone:
        raise RefusedError(say.arguments(call))
    found = [scope.argument(argument, call, classified=classified) for argument in call.arguments]
    variables = dict.fromkeys(variable for _, variable in found)
    if len(variables) > 1:
        raise RefusedError(say.several_variables(call, sorted(name or "no variable" for name in variables)))
    return RowAggregate(call, function, found[0][1], tuple(argument for argument, _ in found))


@dataclass(frozen=True, slots=True)
class AggregateWriter:
    bound: BoundPattern
    scope: ClauseScope
    used: UsedColumns

    def over(self, aggregate: RowAggregate, *, running: bool = False) -> ast.Expression:
        """In MEASURES: over all rows of a match, or those up to the row at hand."""
        call, names = aggregate.call, self.names(aggregate.variable)
        made = self.call(call.function.text, aggregate.arguments, names, call.span, running=running)
        return replace(made, distinct=call.distinct)

    def over_rows_so_far(self, aggregate: RowAggregate) -> ast.Expression:
        """In DEFINE, where no more rows come that it is over. Raises RefusedError."""
        return self.together(aggregate, dict.fromkeys(self.names(aggregate.variable), False))

    def names(self, variable: str | None) -> list[str]:
        """The variables of ours whose rows are those of a variable, a union, or all of them."""
        members = self.bound.mentioned.members[variable]
        return [bound.name for bound in self.bound.variables if bound.variable in members]

    def call(
        self, function: str, arguments: Sequence[ast.Expression], names: Sequence[str], span: Span, *,
        places: int = 0, running: bool = False,
    ) -> ast.Call:  # fmt: skip
        """An aggregate over the rows of some variables of ours, of arguments whose columns are bare; without them of
        the rows themselves. With `places` it is of columns of the rows so many places after these.
        """
        called = {one.name: one.variable for one in self.bound.variables if one.name in names}
        if len(names) == 1 and all(any(references(argument)) for argument in arguments):
            (name,), (own,) = names, called.values()
            made = [of_row(a, lambda c: self.used.of(name, c, places), build.text(own, span)) for a in arguments]
            return build.call(function, made or [ast.Reference((ast.Name(name, span),), span)], span, running=running)

        def column(written: ast.Reference) -> ast.Reference:
            first, *fields = written.parts
            return ast.Reference((ast.Name(self.used.at(first.text, places), first.span), *fields), written.span)

        made = [of_row(argument, column, build.classifier(called, span)) for argument in arguments]
        call = build.call(function, made or [ast.Star(span)], span, running=running)
        return replace(call, among=tuple(ast.Name(name, span) for name in names))

    def nth_row(
        self, at: ast.Expression, body: ast.Expression, names: Sequence[str], places: int, span: Span
    ) -> ast.Expression:
        """What is asked of the row of that number, from 0, of all rows of some variables of ours, or of the one so many
        places after it; null where that one is not there.
        """

        def of_column(column: ast.Reference) -> ast.Expression:
            every = self.call(COLLECT.written, [column], names, span, places=places)
            return ast.Index(every, ast.Cast(at, ast.TypeExpr("INT"), False, span), span)

        found = of_row(body, of_column)
        if places == 0 or isinstance(body, ast.Reference):
            return found
        beside = of_column(ast.Reference((ast.Name(self.used.number, span),), span))
        return build.where(build.is_there(beside, span), found, span)

    def together(self, aggregate: RowAggregate, running: Mapping[str, bool]) -> ast.Expression:
        """In DEFINE, over the rows of some variables of ours, of each as a whole or running. Raises RefusedError."""
        names, span = list(running), aggregate.call.span
        if len(names) == 1:
            return self.over_one(aggregate, names[0], running=running[names[0]])
        if aggregate.function.extreme is not None:
            found = [self.over_one(aggregate, name, running=running[name]) for name in names]
            return build.call(aggregate.function.extreme, found, span)
        if aggregate.function.counts:
            return added([self.over_one(aggregate, name, running=running[name]) for name in names], span)
        type_ = self._type_of(aggregate)
        if type_ is None or not _can_be_put_together(aggregate, type_, len(names)):
            raise RefusedError(say.aggregate_of_several(aggregate.call))
        return self._put_together(aggregate, type_, running)

    def over_one(self, aggregate: RowAggregate, name: str, *, running: bool) -> ast.Expression:
        """Over the rows of one variable of ours."""
        call = aggregate.call
        return self.call(call.function.text, aggregate.arguments, [name], call.span, running=running)

    def _put_together(
        self, aggregate: RowAggregate, type_: ast.TypeExpr, running: Mapping[str, bool]
    ) -> ast.Expression:
        """A sum, or an average, of each and then together; of BIGINT as doubles, whose range no sum of them leaves."""
        span, divided = aggregate.call.span, aggregate.function.divided
        argument = aggregate.arguments[0]
        if divided and type_.name in _LONG:
            argument = ast.Cast(argument, ast.TypeExpr("DOUBLE"), False, span)

        def of_each(function: AggregateFunction, argument: ast.Expression) -> list[ast.Expression]:
            call = replace(aggregate.call, function=ast.Name(function.written, span))
            one = replace(aggregate, call=call, arguments=(argument,))
            return [self.over_one(one, name, running=own) for name, own in running.items()]

        sums, zero = of_each(SUM, argument), build.whole(0, span)
        whole = added([build.call("coalesce", [one, zero], span) for one in sums], span)
        if not divided:
            if type_.name in _DECIMAL:
                precision, scale = _digits(type_)
                whole = ast.Cast(whole, ast.TypeExpr("DECIMAL", (precision + DIGITS_OF_SUM, scale)), False, span)
            return build.where(build.is_there(build.call("coalesce", sums, span), span), whole, span)
        count = added(of_each(COUNT, aggregate.arguments[0]), span)
        least_one = build.call("greatest", [count, build.whole(1, span)], span)  # so that it is seen not to be zero
        return build.where(ast.Binary(">", count, zero, span), ast.Binary("/", whole, least_one, span), span)

    def _type_of(self, aggregate: RowAggregate) -> ast.TypeExpr | None:
        """That of its argument, where it is a column."""
        match aggregate.arguments:
            case (ast.Reference((column,)),):
                return self.scope.table.types[column.text]
        return None


def _can_be_put_together(aggregate: RowAggregate, type_: ast.TypeExpr, variables: int) -> bool:
    """Whether it can be made of those of so many variables, in the same type: exactly of integers and DECIMAL, and of
    DOUBLE, and AVG of BIGINT, but for the last digit.
    """
    function = aggregate.function
    if function.squares or not function.adds or aggregate.call.function.text.upper() != function.written:
        return False
    if type_.name in _DECIMAL:
        return not function.divided and _digits(type_)[0] + DIGITS_OF_SUM + variables <= MOST_DIGITS
    return type_.name in _NARROW | _LONG | _REAL


def _digits(type_: ast.TypeExpr) -> tuple[int, int]:
    """The precision and the scale of a DECIMAL."""
    precision, scale = (*type_.numbers, *(10, 0)[len(type_.numbers) :])
    return precision, scale


def added(parts: Sequence[ast.Expression], span: Span) -> ast.Expression:
    return reduce(lambda left, right: ast.Binary("+", left, right, span), parts)
