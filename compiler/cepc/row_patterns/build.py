"""Small pieces of syntax trees."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_runtime.sql.aggregate_functions import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cepc_grammar.source import Span


def call(name: str, arguments: Sequence[ast.Expression], span: Span, *, running: bool = False) -> ast.Call:
    return ast.Call(ast.Name(name, span), tuple(arguments), False, span, running)


def is_there(expression: ast.Expression, span: Span) -> ast.Is:
    return ast.Is(expression, "NULL", True, span)


def where(condition: ast.Expression, value: ast.Expression, span: Span) -> ast.Case:
    """The value where the condition is true, else null."""
    return ast.Case(None, (ast.Branch(condition, value, span),), None, span)


def text(value: str, span: Span) -> ast.Literal:
    return ast.Literal("string", value, span)


def whole(value: int, span: Span) -> ast.Literal:
    return ast.Literal("integer", str(value), span)


def null_of(type_: ast.TypeExpr, fields: Sequence[ast.Name], span: Span) -> ast.Expression:
    """The null of a type, or of a field of it."""
    found: ast.Expression = ast.Cast(ast.Literal("null", "NULL", span), type_, False, span)
    for field in fields:
        found = ast.Member(found, field, span)
    return found


def conjunction(conditions: Sequence[ast.Expression]) -> ast.Expression | None:
    if not conditions:
        return None
    return reduce(lambda left, right: ast.Binary("AND", left, right, left.span.to(right.span)), conditions)


def at_variable(span: Span) -> ast.Call:
    """The name of the variable of ours that the row at hand is of."""
    return call(VARIABLE.written, [], span)


def by_variable(values: Sequence[tuple[str, ast.Expression]], span: Span) -> ast.Case:
    """The value that stands beside that name."""
    branches = (ast.Branch(text(name, span), value, span) for name, value in values)
    return ast.Case(at_variable(span), tuple(branches), None, span)


def classifier(called: Mapping[str, str], span: Span) -> ast.Case:
    """The variable that the row at hand is of, given which one each of ours is of."""
    return by_variable([(name, text(own, span)) for name, own in called.items()], span)
