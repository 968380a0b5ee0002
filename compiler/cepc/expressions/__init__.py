"""Expressions: from the syntax of Spark SQL to typed expressions, with every error that can be found.

    type_expression(expr, scope, context) -> (Expression | None, diagnostics)
    type_condition(expr, scope, context)  -> the same, for what must be a BOOLEAN
    data_type(type_expr)                  -> (DataType | None, diagnostics)
    column_type(name, type_expr)          -> the same, of a column of a STREAM
    nested_field(operand, path)           -> Expression | Diagnostic: `operand.a.b`, where the operand is a struct
    cannot_be_called(call)                -> whether its name alone is an error
    column_name(expr)                     -> how Spark names a column without AS

An expression is None exactly where one of the diagnostics is an error.
"""

from .functions import cannot_be_called
from .naming import column_name
from .scope import ExpressionContext, Scope, VariableInfo
from .struct_fields import nested_field, struct_field
from .typing import type_condition, type_expression
from .written_types import column_type, data_type

__all__ = [
    "ExpressionContext",
    "Scope",
    "VariableInfo",
    "cannot_be_called",
    "column_name",
    "column_type",
    "data_type",
    "nested_field",
    "struct_field",
    "type_condition",
    "type_expression",
]
