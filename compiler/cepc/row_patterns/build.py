"""Small pieces of syntax trees."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from cepc_grammar import ast

if TYPE_CHECKING:
    from collections.abc import Sequence

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
