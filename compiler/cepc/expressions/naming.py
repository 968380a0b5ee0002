"""The names of columns without AS: what Spark would print."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cepc_grammar import ast


def column_name(expression: ast.Expression) -> str:
    """The name that Spark gives to the column: `SUM(t.duration)` is `sum(duration)`, `t.district` is `district`."""
    raise NotImplementedError
