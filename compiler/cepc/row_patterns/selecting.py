"""A plain SELECT around a clause, without Spark: its WHERE is HAVING of our query, its columns are of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar import ast

from ..resolve.walk import rewrite
from . import messages as say
from .navigation import RefusedError

if TYPE_CHECKING:
    from cepc_grammar.sql.syntax import PlainSelect

    from .lower import LoweredClause
    from .skipping import SkipCheck


def having(select: PlainSelect, clause: LoweredClause) -> ast.Expression | None:
    """The condition over the columns of our query. Raises RefusedError."""
    if select.where is None:
        return None
    items = clause.query.returns.items

    def change(node: ast.Expression) -> ast.Expression | None:
        if not isinstance(node, ast.Reference):
            return None
        place, fields = _column(node, select, clause)
        alias = items[place].alias
        assert alias is not None
        return ast.Reference((ast.Name(alias.text, node.span), *fields), node.span)

    condition = rewrite(select.where, change)
    return condition if clause.check is None else ast.Binary("OR", condition, _fails(clause.check), condition.span)


def _fails(check: SkipCheck) -> ast.Expression:
    """Whether AFTER MATCH SKIP fails after a match: WHERE must not hide that."""
    span = check.span

    def column(name: str) -> ast.Reference:
        return ast.Reference((ast.Name(name, span),), span)

    lost = ast.Is(column(check.landing), "NULL", False, span)
    stays = ast.Binary("=", column(check.landing), column(check.first), span)
    fails: ast.Expression = ast.Binary("OR", lost, stays, span)
    if check.empty is not None:
        fails = ast.Binary("AND", fails, ast.Is(column(check.empty), "NULL", False, span), span)
    return fails


def selected(select: PlainSelect, clause: LoweredClause) -> list[tuple[int, str]]:
    """Which of the columns shown, and what each is called. Raises RefusedError."""
    if not select.items:
        return list(enumerate(clause.shown))
    found: list[tuple[int, str]] = []
    for item in select.items:
        place, fields = _column(item.column, select, clause)
        if fields:
            raise RefusedError(say.no_plain_select(item.column.span))
        found.append((place, clause.shown[place] if item.name is None else item.name.text))
    return found


def _column(reference: ast.Reference, select: PlainSelect, clause: LoweredClause) -> tuple[int, tuple[ast.Name, ...]]:
    """The place of a column among those shown, and the fields of it that are meant. Raises RefusedError."""
    first, *rest = reference.parts
    if rest and select.alias is not None and first.text.casefold() == select.alias.text.casefold():
        first, *rest = rest
    for place, name in enumerate(clause.shown):
        if name.casefold() == first.text.casefold():
            return place, tuple(rest)
    raise RefusedError(say.not_shown(first, clause.shown))
