"""A column as it is declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar.printer import to_text
from cepc_grammar.spelling import type_text

if TYPE_CHECKING:
    from cepc_grammar import ast


def declared_as(column: ast.Column) -> str:
    """What stands behind its name: a type, what it is computed from, or both."""
    type_ = "" if column.type is None else type_text(column.type)
    computed = "" if column.expression is None else f"AS {' '.join(to_text(column.expression).split())}"
    return " ".join(filter(None, (type_, computed)))
