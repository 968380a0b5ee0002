"""Tables that MATCH_RECOGNIZE is over: columns, found as SQL finds them, in any case, and when rows come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from cepc_grammar import ast
    from cepc_grammar.sql.syntax import CreateTable


@dataclass(frozen=True, slots=True)
class RowsThere:
    """All rows are there when a clause is answered."""


@dataclass(frozen=True, slots=True)
class RowsComing:
    """Rows come as time goes on: the column `by` has a watermark of Spark's, which says how far."""

    by: str


WhenRowsCome = RowsThere | RowsComing

ROWS_THERE: Final = RowsThere()


@dataclass(frozen=True, slots=True)
class RowTable:
    """`types` are those of columns that cepc can hold, in their order; `others` how Spark calls those of the rest."""

    name: str
    types: dict[str, ast.TypeExpr]
    others: dict[str, str]
    rows: WhenRowsCome = ROWS_THERE

    def column(self, name: ast.Name) -> str | None:
        """The column of that name: in the same case where there are several."""
        if name.text in self.types:
            return name.text
        return next((column for column in self.types if column.casefold() == name.text.casefold()), None)

    def other(self, name: ast.Name) -> str | None:
        """The type of a column that cepc cannot hold."""
        return next((type_ for column, type_ in self.others.items() if column.casefold() == name.text.casefold()), None)


def table_of(created: CreateTable) -> RowTable:
    """The table that a CREATE TABLE makes."""
    return RowTable(created.name.parts[-1].text, {c.name.text: c.type for c in created.columns}, {})
