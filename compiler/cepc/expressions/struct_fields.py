"""Fields of structs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.sql.expression import Call, Expression, Literal
from cepc_runtime.sql.types import STRING, Struct

from ..diagnostics.near import nearest
from . import messages as say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_grammar import ast
    from cepc_grammar.diagnostic import Diagnostic


def struct_field(operand: Expression, name: ast.Name) -> Call | Diagnostic:
    """`operand.name`, a `field` call."""
    if not isinstance(operand.type, Struct):
        return say.not_a_struct(name.span, name.text, operand.type)
    type_ = operand.type.field(name.text)
    if type_ is None:
        near = nearest(name.text, [f.name for f in operand.type.fields])
        return say.unknown_field(name.span, name.text, operand.type, near)
    return Call("field", (operand, Literal(name.text, STRING)), type_)


def nested_field(operand: Expression, path: Sequence[ast.Name]) -> Expression | Diagnostic:
    """`operand.a.b`: a field of a field."""
    for name in path:
        inner = struct_field(operand, name)
        if not isinstance(inner, Call):
            return inner
        operand = inner
    return operand
