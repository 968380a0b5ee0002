"""COUNT, SUM and their like over rows of a match: of each variable of ours that has some, and then together."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Final

from cepc_grammar import ast
from cepc_grammar.sql.syntax import ALL_COLUMNS
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.aggregate_functions import COUNT, SUM

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
_WHOLE: Final = _NARROW | {"BIGINT", "LONG"}


@dataclass(frozen=True, slots=True)
class RowAggregate:
    """An aggregate as it is written in a clause. It is of rows of `variable`, a union, or None for all; without
    `arguments`, whose columns are bare, it counts them.
    """

    call: ast.Call
    function: AggregateFunction
    variable: str | None
    arguments: tuple[ast.Expression, ...]


def row_aggregate(call: ast.Call, function: AggregateFunction, scope: ClauseScope) -> RowAggregate:
    """Raises RefusedError."""
    match call.arguments:
        case (ast.Star(),) if function.counts and not call.distinct:
            return RowAggregate(call, function, None, ())
        case (ast.Reference((variable, ast.Name(text=last))),) if last == ALL_COLUMNS and function.counts:
            if not call.distinct:
                return RowAggregate(call, function, scope.variable(variable), ())
    if len(call.arguments) != (2 if function.by else 1) or function.alone:
        raise RefusedError(say.arguments(call))
    found = [scope.argument(argument, call) for argument in call.arguments]
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
        """Over all rows of a match, or those up to the row at hand. Raises RefusedError."""
        members = self.bound.mentioned.members[aggregate.variable]
        names = [bound.name for bound in self.bound.variables if bound.variable in members]
        return self.together(aggregate, dict.fromkeys(names, running))

    def together(self, aggregate: RowAggregate, running: Mapping[str, bool]) -> ast.Expression:
        """Over the rows of some variables of ours, of each as a whole or running. Raises RefusedError."""
        names, span = list(running), aggregate.call.span
        if len(names) == 1:
            return self.over_one(aggregate, names[0], running=running[names[0]])
        if aggregate.function.extreme is not None:
            one = replace(aggregate, call=replace(aggregate.call, distinct=False))
            found = [self.over_one(one, name, running=running[name]) for name in names]
            return build.call(aggregate.function.extreme, found, span)
        if aggregate.call.distinct:
            raise RefusedError(say.distinct_of_several(aggregate.call))
        if aggregate.function.counts:
            return added([self.over_one(aggregate, name, running=running[name]) for name in names], span)
        if aggregate.call.function.text.upper() == aggregate.function.written and self._is_exact(aggregate):
            return self._added(aggregate, running)
        raise RefusedError(say.aggregate_of_several(aggregate.call))

    def over_one(self, aggregate: RowAggregate, name: str, *, running: bool) -> ast.Expression:
        """Over the rows of one variable of ours."""
        span = aggregate.call.span
        arguments: list[ast.Expression] = [
            of_row(argument, lambda column: self.used.of(name, column, 0)) for argument in aggregate.arguments
        ]
        if not arguments:
            arguments = [ast.Reference((ast.Name(name, span),), span)]
        call = build.call(aggregate.call.function.text, arguments, span, running=running)
        return replace(call, distinct=aggregate.call.distinct)

    def _added(self, aggregate: RowAggregate, running: Mapping[str, bool]) -> ast.Expression:
        """A sum, or an average, of each and then together."""
        span = aggregate.call.span

        def of_each(function: str) -> list[ast.Expression]:
            one = replace(aggregate, call=replace(aggregate.call, function=ast.Name(function, span)))
            return [self.over_one(one, name, running=own) for name, own in running.items()]

        sums, zero = of_each(SUM.written), build.whole(0, span)
        whole = added([build.call("coalesce", [one, zero], span) for one in sums], span)
        if not aggregate.function.divided:
            return build.where(build.is_there(build.call("coalesce", sums, span), span), whole, span)
        count = added(of_each(COUNT.written), span)
        least_one = build.call("greatest", [count, build.whole(1, span)], span)  # so that it is seen not to be zero
        return build.where(ast.Binary(">", count, zero, span), ast.Binary("/", whole, least_one, span), span)

    def _is_exact(self, aggregate: RowAggregate) -> bool:
        """Whether it is as exact when it is put together from parts: of an average no sum may be above 2**53."""
        (argument,) = aggregate.arguments if len(aggregate.arguments) == 1 else (None,)
        if not isinstance(argument, ast.Reference) or len(argument.parts) > 1:
            return False
        function, type_ = aggregate.function, self.scope.table.types[argument.parts[0].text].name
        if function.squares or not function.adds:
            return False
        return type_ in (_NARROW if function.divided else _WHOLE)


def added(parts: Sequence[ast.Expression], span: Span) -> ast.Expression:
    return reduce(lambda left, right: ast.Binary("+", left, right, span), parts)
