"""Types as written in a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cepc_grammar import ast
    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.types import DataType


def data_type(written: ast.TypeExpr) -> tuple[DataType | None, tuple[Diagnostic, ...]]:
    """The type that is meant, or None with an error."""
    raise NotImplementedError
