"""LAG and LEAD: a column of an event so many places before or after the one at hand, among all of its partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cepc_grammar import ast
from cepc_runtime.sql.expression import Call, Expression, Field, rewrite

from . import messages as say
from .aggregates import is_variable
from .scope import ExpressionContext

if TYPE_CHECKING:
    from cepc_grammar.diagnostic import Diagnostic

    from .aggregates import CallSite

FARTHEST: Final = 1_000_000


def beside(site: CallSite, call: ast.Call) -> Expression | Diagnostic | None:
    """`LAG(v.x)`, `LEAD(v.x, 2)`. None where the argument has errors."""
    name = call.function.text.upper()
    if site.inside:
        return say.nested_aggregate(call.span, site.inside, name)
    if site.context != ExpressionContext.CONDITION:
        return say.beside_not_allowed(call.span, name, site.context.value)
    match call.arguments:
        case (ast.Reference() as reference,) | (ast.Reference() as reference, _):
            if is_variable(site.scope, reference):
                shown = ".".join(part.text for part in reference.parts)
                return say.beside_without_column(call.span, name, shown)
        case (argument,) | (argument, _):
            return say.beside_of_value(argument.span, name)
        case _:
            return say.beside_arguments(call.span, name, len(call.arguments))
    places = _places(call.arguments[1]) if len(call.arguments) > 1 else 1
    if places is None:
        return say.beside_places(call.arguments[1].span, name, FARTHEST)
    typed = site.argument(name, reference, None)
    if typed is None:
        return None
    column = _column(typed)
    if column.variable is None:
        return say.beside_without_variable(call.span, name, reference.parts[-1].text)
    of_other = site.scope.beside(column, places if name == "LEAD" else -places)
    if of_other is None or (typed != column and of_other.type != column.type):
        return say.beside_of_several(call.span, name, reference.parts[-1].text)
    return rewrite(typed, lambda node: of_other if node == column else node)


def _places(written: ast.Expression) -> int | None:
    """How far it looks, if it says so in a number."""
    match written:
        case ast.Literal("integer", text) if 1 <= int(text) <= FARTHEST:
            return int(text)
    return None


def _column(typed: Expression) -> Field:
    """That of a name: a column, or a field of a struct in one."""
    while isinstance(typed, Call):
        typed = typed.arguments[0]
    assert isinstance(typed, Field)
    return typed
