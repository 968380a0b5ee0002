"""From syntax to typed expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cepc_grammar import ast
    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.expression import Expression

    from .scope import Context, Scope

Typed = tuple["Expression | None", tuple["Diagnostic", ...]]


def type_expression(expression: ast.Expression, scope: Scope, context: Context) -> Typed:
    """The expression with types, coercions as casts, or None where it has errors; and all diagnostics about it."""
    raise NotImplementedError


def type_condition(expression: ast.Expression, scope: Scope, context: Context) -> Typed:
    """The same for a conjunct of WHERE or HAVING, which must be a BOOLEAN."""
    raise NotImplementedError


def struct_field(operand: Expression, name: ast.Name) -> Expression | Diagnostic:
    """`operand.name`, a `field` call."""
    raise NotImplementedError
