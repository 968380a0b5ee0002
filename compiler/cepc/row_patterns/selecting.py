"""A plain SELECT around a clause, without Spark: its WHERE is HAVING of our query, or says which of all rows per match
are kept; its columns are of the result.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_grammar.sql.syntax import EveryColumn
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.types import is_orderable

from ..resolve.walk import rewrite, walk
from . import messages as say
from .lower import KEPT, with_hidden
from .navigation import RefusedError, is_of_rows, refuse_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.sql.syntax import PlainSelect, SortKey

    from .. import model
    from .lower import LoweredClause
    from .skipping import SkipCheck


def around(select: PlainSelect, clause: LoweredClause) -> LoweredClause:
    """The clause with the SELECT's WHERE. Raises RefusedError."""
    ordered(select, clause, selected(select, clause))
    if select.where is None:
        return clause
    for node in walk(select.where):
        if not isinstance(node, ast.Call):
            continue
        if is_of_rows(node):
            raise RefusedError(say.not_of_one_row(node))
        refuse_unit(node, lambda _argument: False)
    if clause.query.returns.each:
        return _of_rows(select, select.where, clause)
    return replace(clause, query=replace(clause.query, having=_having(select, select.where, clause)))


def _of_rows(select: PlainSelect, where: ast.Expression, clause: LoweredClause) -> LoweredClause:
    """With WHERE as a column that says which rows are kept: HAVING keeps whole matches."""
    returns = clause.query.returns
    items = list(returns.items)

    def change(node: ast.Expression) -> ast.Expression | None:
        if not isinstance(node, ast.Reference):
            return None
        place, fields = _column(node, select, clause)
        return reduce(lambda inner, field: ast.Member(inner, field, node.span), fields, items[place].expression)

    is_true = ast.Branch(rewrite(where, change), ast.Literal("boolean", "TRUE", where.span), where.span)
    kept: ast.Expression = ast.Case(None, (is_true,), ast.Literal("boolean", "FALSE", where.span), where.span)
    if clause.kept is not None:
        before = next(item for item in items if item.alias is not None and item.alias.text == clause.kept)
        items.remove(before)
        kept = ast.Binary("AND", before.expression, kept, where.span)
    name = with_hidden(items, KEPT, kept)
    return replace(clause, query=replace(clause.query, returns=replace(returns, items=tuple(items))), kept=name)


def _having(select: PlainSelect, where: ast.Expression, clause: LoweredClause) -> ast.Expression:
    """The condition over the columns of our query. Raises RefusedError."""
    items = clause.query.returns.items

    def change(node: ast.Expression) -> ast.Expression | None:
        if not isinstance(node, ast.Reference):
            return None
        place, fields = _column(node, select, clause)
        alias = items[place].alias
        assert alias is not None
        return ast.Reference((ast.Name(alias.text, node.span), *fields), node.span)

    condition = rewrite(where, change)
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


@dataclass(frozen=True, slots=True)
class SelectedColumn:
    """One of the columns shown, by its place among them; what it is called, and as which name of the text."""

    place: int
    called: str
    written: ast.Name


def selected(select: PlainSelect, clause: LoweredClause) -> list[SelectedColumn]:
    """Raises RefusedError."""
    found: list[SelectedColumn] = []
    for item in select.items:
        if isinstance(item, EveryColumn):
            if item.table is not None and not _is_alias(item.table, select):
                raise RefusedError(say.other_table(item.table, select.alias))
            every = enumerate(clause.shown)
            found += (SelectedColumn(place, name, ast.Name(name, item.span)) for place, name in every)
            continue
        place, written = _whole_column(item.column, select, clause), item.name or item.column.parts[-1]
        found.append(SelectedColumn(place, clause.shown[place] if item.name is None else item.name.text, written))
    return found


def ordered(select: PlainSelect, clause: LoweredClause, columns: Sequence[SelectedColumn]) -> list[tuple[int, SortKey]]:
    """Which of the columns shown its ORDER BY is of, by the names of those selected or in the clause. Raises
    RefusedError.
    """
    called = {column.called.casefold(): column.place for column in reversed(columns)}

    def place(key: SortKey) -> int:
        known = called.get(key.column.parts[0].text.casefold()) if len(key.column.parts) == 1 else None
        return _whole_column(key.column, select, clause) if known is None else known

    return [(place(key), key) for key in select.order]


def not_sorted(select: PlainSelect, clause: LoweredClause, query: model.Query) -> list[Diagnostic]:
    """What is wrong with an ORDER BY of columns that have no order. Raises RefusedError."""
    keys = ordered(select, clause, selected(select, clause))
    types = ((key.column, query.outputs[place].expression.type) for place, key in keys)
    return [say.not_sorted(column, type_) for column, type_ in types if not is_orderable(type_)]


def _whole_column(reference: ast.Reference, select: PlainSelect, clause: LoweredClause) -> int:
    """Its place among those shown. Raises RefusedError, for a field too."""
    place, fields = _column(reference, select, clause)
    if fields:
        raise RefusedError(say.no_plain_select(reference.span))
    return place


def _is_alias(name: ast.Name, select: PlainSelect) -> bool:
    return select.alias is not None and name.text.casefold() == select.alias.text.casefold()


def _column(reference: ast.Reference, select: PlainSelect, clause: LoweredClause) -> tuple[int, tuple[ast.Name, ...]]:
    """The place of a column among those shown, and the fields of it that are meant. Raises RefusedError."""
    first, *rest = reference.parts
    if rest and _is_alias(first, select):
        first, *rest = rest
    for place, name in enumerate(clause.shown):
        if name.casefold() == first.text.casefold():
            return place, tuple(rest)
    raise RefusedError(say.not_shown(first, clause.shown))
