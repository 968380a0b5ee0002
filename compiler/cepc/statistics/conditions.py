"""Conditions of letters as text: the keys under which statistics know them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.sql.spark_sql import describe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cepc_runtime.plan.stream import Letter
    from cepc_runtime.sql.expression import Expression


def condition_text(condition: Expression) -> str:
    """One condition, written in one way however a query wrote it.

    >>> from cepc_runtime.sql.expression import Call, Field, Literal
    >>> from cepc_runtime.sql.types import BOOLEAN, INT
    >>> condition_text(Call(">", (Field(None, "x", "each", INT), Literal(3, INT)), BOOLEAN))
    'x > 3'
    """
    return describe(condition)


def conjunction_text(conditions: Iterable[Expression]) -> str:
    """Conditions that are all true; their order does not matter."""
    return " AND ".join(sorted(map(condition_text, conditions)))


def letter_text(letter: Letter) -> str:
    """All that a letter asks of an event of its type; empty where it asks nothing."""
    excluded = sorted(f"NOT ({conjunction_text(e)})" for e in letter.excluded)
    return " AND ".join(filter(None, [conjunction_text(letter.conditions), *excluded]))
