"""Arguments in place of parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar import ast

from .walk import rewrite

if TYPE_CHECKING:
    from collections.abc import Mapping


def in_name(name: ast.Name, arguments: Mapping[str, ast.Expression]) -> ast.Name | None:
    """The name that stands for it, itself where it is no parameter; None for an argument that is no name."""
    match arguments.get(name.text, name):
        case ast.Name() as same:
            return same
        case ast.Reference((only,)):
            return only
    return None


def in_expression(expression: ast.Expression, arguments: Mapping[str, ast.Expression]) -> ast.Expression:
    """The expression with arguments in place of parameters.

    A parameter alone stands for its argument, whatever that is; in a dotted name it must be a name, and is left as it
    is otherwise.
    """
    if not arguments:
        return expression

    def change(node: ast.Expression) -> ast.Expression | None:
        match node:
            case ast.Reference((only,)) if only.text in arguments:
                return arguments[only.text]
            case ast.Reference(parts, span) if any(p.text in arguments for p in parts):
                return ast.Reference(tuple(in_name(p, arguments) or p for p in parts), span)
            case ast.Member(operand, name, span) if name.text in arguments:
                return ast.Member(in_expression(operand, arguments), in_name(name, arguments) or name, span)
        return None

    return rewrite(expression, change)
