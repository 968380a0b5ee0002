"""The columns that a clause uses of its table's rows, and of the rows beside these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_runtime.plan.row_numbers import ShiftedColumn

from .numbered import NUMBER, NumberedRows, unused

if TYPE_CHECKING:
    from cepc_grammar.source import Span

    from .numbered import RowOrder
    from .tables import RowTable


class UsedColumns:
    """Collects them while a clause is lowered."""

    def __init__(self, table: RowTable) -> None:
        self.table = table
        self._taken = frozenset({*table.types, *table.others})
        self.number = unused(NUMBER, self._taken)
        self._columns: dict[str, None] = {}
        self._shifted: dict[tuple[str, int], ShiftedColumn] = {}

    def use(self, column: str) -> None:
        self._columns[column] = None

    def at(self, column: str, places: int) -> str:
        """What the column so many places after a row is called."""
        if column != self.number:
            self.use(column)
        if places == 0:
            return column
        far = f", {abs(places)}" if abs(places) > 1 else ""
        called = f"{'PREV' if places < 0 else 'NEXT'}({column}{far})"  # as errors show it
        found = ShiftedColumn(unused(called, self._taken), column, places)
        return self._shifted.setdefault((column, places), found).name

    def of(self, variable: str, column: ast.Reference, places: int) -> ast.Reference:
        """The column of a variable's row, or of the row so many places after it."""
        name, *fields = column.parts
        parts = (ast.Name(variable, name.span), ast.Name(self.at(name.text, places), name.span), *fields)
        return ast.Reference(parts, column.span)

    def number_of(self, variable: str, span: Span, places: int = 0) -> ast.Reference:
        """The number of a variable's row; null where there is no row so many places after it."""
        return ast.Reference((ast.Name(variable, span), ast.Name(self.at(self.number, places), span)), span)

    def rows(self, order: RowOrder) -> NumberedRows:
        for column in (*order.partition, *(key.column for key in order.order)):
            self.use(column)
        columns = tuple(column for column in self.table.types if column in self._columns)
        return NumberedRows(order, columns, tuple(self._shifted.values()), self.number)
