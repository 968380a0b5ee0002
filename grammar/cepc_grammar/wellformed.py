"""What the grammar accepts anywhere but the language only in one place: `[a, b]`, a top-level conjunct of WHERE."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from . import ast
from .diagnostic import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator


def misplaced(statement: ast.Statement) -> Iterator[Diagnostic]:
    """A diagnostic for every equivalence that is no top-level conjunct of a WHERE."""
    match statement:
        case ast.Query():
            yield from _in_where(statement.where)
            yield from _anywhere((statement.returns, statement.having))
        case ast.NamedPattern():
            yield from _in_where(statement.where)
        case ast.DerivedEvent():
            yield from _anywhere(statement.where)
        case ast.Function():
            yield from _anywhere(statement.body)
        case ast.Test():
            yield from _anywhere((statement.given, statement.expected))


def _in_where(condition: ast.Expression | None) -> Iterator[Diagnostic]:
    match condition:
        case ast.Binary("AND", left, right):
            yield from _in_where(left)
            yield from _in_where(right)
        case ast.Equivalence():
            pass
        case _:
            yield from _anywhere(condition)


def _anywhere(node: Any) -> Iterator[Diagnostic]:
    match node:
        case ast.Equivalence():
            yield Diagnostic(
                "E0108",
                "`[ ]` in the wrong place",
                node.span,
                "an equivalence is a condition of its own",
                notes=(
                    "`[a, b]` says that all events of a match agree on a and b; it cannot be combined with OR or NOT",
                ),
                hint="write it in WHERE, joined to the other conditions with AND",
            )
        case tuple():
            for part in node:
                yield from _anywhere(part)
        case _ if is_dataclass(node):
            for field in fields(node):
                if field.name != "span":
                    yield from _anywhere(getattr(node, field.name))
