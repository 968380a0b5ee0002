"""SQL as abstract syntax: what a program's builder does not know."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, Any, Final

from .. import ast
from ..builder import Builder
from ..pattern import Or, Repeat, Seq, with_leaves
from ..tokens import string_value
from .syntax import (
    ALL_COLUMNS,
    FINAL,
    PHYSICAL,
    Anchor,
    ClauseMeasure,
    CreateTable,
    Definition,
    EveryColumn,
    MatchRecognize,
    Nothing,
    PatternVariable,
    PlainSelect,
    RowPattern,
    RowSkip,
    RowsPerMatch,
    SelectItem,
    SortKey,
    Subset,
    TableColumn,
)

if TYPE_CHECKING:
    from lark import Token

    from ..source import Span

MOST_PERMUTED: Final = 5
"""Operands of PERMUTE, which is written out: there are 120 orders of five."""


class SqlBuilder(Builder):
    """Builds one clause, one CREATE TABLE or one SELECT."""

    # ---- expressions -------------------------------------------------------------------------------------------------

    def call(self, span: Span, children: list[Any]) -> ast.Call:
        """`PREV(FINAL LAST(x), n)`, as the standard has it, is FINAL of the whole, and so with RUNNING."""
        made = super().call(span, children)
        if made.function.text.upper() not in PHYSICAL or not made.arguments:
            return made
        inner, *rest = made.arguments
        if isinstance(inner, ast.Call) and inner.function.text == FINAL:
            whole = replace(made, arguments=(*inner.arguments, *rest))
            return ast.Call(ast.Name(FINAL, span), (whole,), False, span)
        if isinstance(inner, ast.Call) and inner.running:
            return replace(made, arguments=(replace(inner, running=False), *rest), running=True)
        return made

    def final(self, span: Span, children: list[Any]) -> ast.Call:
        inner = self.call(span, children)
        return ast.Call(ast.Name(FINAL, span), (inner,), False, span)

    def all_columns(self, span: Span, children: list[Any]) -> ast.Reference:
        operand, star = children
        if not isinstance(operand, ast.Reference) or len(operand.parts) > 1:
            self._error("E0951", "`.*` cannot stand here", span, "it stands behind a pattern variable")
            operand = ast.Reference((ast.Name("?", star.span),), star.span)
        return ast.Reference((*operand.parts, ast.Name(ALL_COLUMNS, star.span)), span)

    def _reference(self, parts: tuple[ast.Name, ...]) -> ast.Reference:
        return ast.Reference(parts, parts[0].span.to(parts[-1].span))

    # ---- the clause --------------------------------------------------------------------------------------------------

    def match_recognize(self, span: Span, children: list[Any]) -> MatchRecognize:
        partition, order, measures, rows, skip, pattern, bound, subsets, definitions = children
        return MatchRecognize(
            partition or (), order or (), measures or (), rows or RowsPerMatch(False), skip or RowSkip("PAST LAST ROW"),
            Nothing(span) if pattern is None else pattern,
            bound, subsets or (), definitions or (), span,
        )  # fmt: skip

    def partition_by(self, _span: Span, children: list[ast.Expression]) -> tuple[ast.Reference, ...]:
        return tuple(self._key(child, "PARTITION BY") for child in children)

    def order_by(self, _span: Span, children: list[SortKey]) -> tuple[SortKey, ...]:
        return tuple(children)

    def sort_key(self, _span: Span, children: list[Any]) -> SortKey:
        column, direction, nulls = children
        descending = direction is not None and direction.upper() == "DESC"
        nulls_first = not descending if nulls is None else nulls.upper() == "FIRST"
        return SortKey(self._key(column, "ORDER BY"), descending, nulls_first)

    def _key(self, written: ast.Expression, where: str) -> ast.Reference:
        """A column that rows are divided or ordered by."""
        if isinstance(written, ast.Reference) and written.parts[-1].text != ALL_COLUMNS:
            return written
        cure = "write MATCH_RECOGNIZE over `(SELECT *, … AS key FROM table)`, and `key` here"
        match written:
            case ast.Unary("-", ast.Reference(parts)) if where == "ORDER BY":
                cure = f"write `{'.'.join(part.text for part in parts)} DESC`"
        self._error(
            "E0952", f"an expression in {where}", written.span, "columns of the table can stand here", hint=cure
        )
        return ast.Reference((ast.Name("?", written.span),), written.span)

    def measures(self, _span: Span, children: list[ClauseMeasure]) -> tuple[ClauseMeasure, ...]:
        return tuple(children)

    def measure(self, _span: Span, children: list[Any]) -> ClauseMeasure:
        return ClauseMeasure(*children)

    def rows_per_match(self, span: Span, children: list[RowsPerMatch]) -> RowsPerMatch:
        return RowsPerMatch(children[0].every, children[0].of_others, span)

    def one_row(self, _span: Span, _children: list[Any]) -> RowsPerMatch:
        return RowsPerMatch(False)

    def all_rows(self, _span: Span, children: list[Any]) -> RowsPerMatch:
        return RowsPerMatch(True, children[0])

    def show_empty(self, _span: Span, _children: list[Any]) -> str:
        return "SHOW EMPTY"

    def omit_empty(self, _span: Span, _children: list[Any]) -> str:
        return "OMIT EMPTY"

    def with_unmatched(self, _span: Span, _children: list[Any]) -> str:
        return "WITH UNMATCHED"

    def skip_to(self, span: Span, children: list[RowSkip]) -> RowSkip:
        return RowSkip(children[0].mode, children[0].variable, span)

    def past_last_row(self, _span: Span, _children: list[Any]) -> RowSkip:
        return RowSkip("PAST LAST ROW")

    def to_next_row(self, _span: Span, _children: list[Any]) -> RowSkip:
        return RowSkip("TO NEXT ROW")

    def to_first_row(self, _span: Span, children: list[ast.Name]) -> RowSkip:
        return RowSkip("TO FIRST", children[0])

    def to_last_row(self, _span: Span, children: list[ast.Name]) -> RowSkip:
        return RowSkip("TO LAST", children[0])

    def bound(self, _span: Span, children: list[Any]) -> Any:
        return children[0]

    def subsets(self, _span: Span, children: list[Subset]) -> tuple[Subset, ...]:
        return tuple(children)

    def subset(self, _span: Span, children: list[ast.Name]) -> Subset:
        return Subset(children[0], tuple(children[1:]))

    def definitions(self, _span: Span, children: list[Definition]) -> tuple[Definition, ...]:
        return tuple(children)

    def definition(self, _span: Span, children: list[Any]) -> Definition:
        return Definition(*children)

    # ---- patterns of rows --------------------------------------------------------------------------------------------

    def choice(self, span: Span, children: list[RowPattern]) -> RowPattern:
        return children[0] if len(children) == 1 else Or(tuple(children), span)

    def row_sequence(self, span: Span, children: list[RowPattern]) -> RowPattern:
        return children[0] if len(children) == 1 else Seq(tuple(children), span)

    def factor(self, span: Span, children: list[Any]) -> RowPattern:
        body, quantifier = children
        if quantifier is None:
            return body  # type: ignore[no-any-return]
        least, most, reluctant, _ = quantifier
        if most is not None and least > most:
            self._error(
                "E0951", f"a repetition of at least {least} and at most {most} times", span,
                f"{least} is more than {most}", hint=f"write `{{{most},{least}}}`",
            )  # fmt: skip
            least, most = most, least
        return Repeat(body, least, most, reluctant, span)

    def pattern_variable(self, _span: Span, children: list[ast.Name]) -> PatternVariable:
        return PatternVariable(children[0])

    def row_group(self, _span: Span, children: list[RowPattern]) -> RowPattern:
        return children[0]

    def nothing(self, span: Span, _children: list[Any]) -> Nothing:
        return Nothing(span)

    def at_start(self, span: Span, _children: list[Any]) -> Anchor:
        return Anchor("start", span)

    def at_end(self, span: Span, _children: list[Any]) -> Anchor:
        return Anchor("end", span)

    def permutation(self, span: Span, children: list[RowPattern]) -> RowPattern:
        """In the standard's order: as the operands are written, then what a dictionary of their places has next."""
        if len(children) > MOST_PERMUTED:
            self._error(
                "E0952", f"PERMUTE of {len(children)}", span, "too many orders to write out",
                notes=("PERMUTE stands for all orders of its elements, of which five have 120",),
                hint=f"name {MOST_PERMUTED} elements at most",
            )  # fmt: skip
            children = children[:1]
        if len(children) == 1:
            return children[0]
        return Or(tuple(Seq(order) for order in permutations(children)), span)

    def exclusion(self, _span: Span, children: list[RowPattern]) -> RowPattern:
        return with_leaves(children[0], PatternVariable, lambda leaf: PatternVariable(leaf.name, True))

    def at_most(self, _span: Span, children: list[Token]) -> tuple[int, int]:
        return 0, self._whole(children[0])

    def bounds(self, span: Span, children: list[Any]) -> tuple[int, int | None]:
        if isinstance(children[0], tuple):
            return children[0][0], children[0][1]
        return super().bounds(span, children)

    # ---- around it ---------------------------------------------------------------------------------------------------

    def create_table(self, span: Span, children: list[Any]) -> CreateTable:
        name, *parts = children
        columns = tuple(part for part in parts if isinstance(part, TableColumn))
        given = dict(part for part in parts if not isinstance(part, TableColumn))
        options = dict(given.get("options", ()))
        path = next((options.pop(key) for key in [*options] if key.lower() == "path"), None)
        return CreateTable(
            self._reference(name), columns, given.get("using"), tuple(options.items()),
            given.get("location", path), span,
        )  # fmt: skip

    def table_column(self, _span: Span, children: list[Any]) -> TableColumn:
        return TableColumn(children[0], children[1])

    def using(self, _span: Span, children: list[ast.Name]) -> tuple[str, str]:
        return "using", children[0].text.lower()

    def table_options(self, _span: Span, children: list[tuple[str, str]]) -> tuple[str, list[tuple[str, str]]]:
        return "options", children

    def table_option(self, _span: Span, children: list[Any]) -> tuple[str, str]:
        key, value = children
        name = ".".join(part.text for part in key) if isinstance(key, tuple) else string_value(key)
        if isinstance(value, ast.Name):
            if value.text.lower() not in ("true", "false"):
                self._error(
                    "E0951", f"the option {name} is `{value.text}`", value.span, "a value is expected here",
                    hint=f"write it in quotes: `'{value.text}'`",
                )  # fmt: skip
            return name, value.text.lower()
        return name, string_value(value) if value.type == "STRING" else str(value)

    def location(self, _span: Span, children: list[Token]) -> tuple[str, str]:
        return "location", string_value(children[0])

    def table_comment(self, _span: Span, children: list[Token]) -> tuple[str, str]:
        return "comment", string_value(children[0])

    def plain_select(self, _span: Span, children: list[Any]) -> PlainSelect:
        *items, _table, alias, where, order, limit = children
        return PlainSelect(tuple(items), alias, where, order or (), limit)

    def every_column(self, span: Span, children: list[Any]) -> EveryColumn:
        return EveryColumn(children[0], span)

    def limit(self, _span: Span, children: list[Token]) -> int:
        return self._whole(children[0])

    def select_item(self, _span: Span, children: list[Any]) -> SelectItem:
        return SelectItem(self._reference(children[0]), children[1])
