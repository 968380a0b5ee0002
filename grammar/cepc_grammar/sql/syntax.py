"""The abstract syntax of MATCH_RECOGNIZE, of the tables that it may be over, and of a plain SELECT around it.

Expressions are those of programs (`ast.Expression`). What SQL has beside them: `FINAL f(x)` is a call of FINAL with the
other call as its argument, and `A.*` a Reference whose last part is `*`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from cepc_runtime.cheap_dataclass import dataclass

from ..pattern import Operator
from ..source import NOWHERE, Span

if TYPE_CHECKING:
    from .. import ast
    from ..diagnostic import Diagnostic

ALL_COLUMNS: Final = "*"
"""The last part of `A.*`."""

FINAL: Final = "FINAL"

PHYSICAL: Final = {"PREV": -1, "NEXT": 1, "LAG": -1, "LEAD": 1}
"""What counts rows of the partition, and in which direction. LAG and LEAD are Snowflake's names."""


# ---- patterns of rows ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PatternVariable:
    """A row that is mapped to the variable; `excluded` between `{-` and `-}`."""

    name: ast.Name
    excluded: bool = False


@dataclass(frozen=True, slots=True)
class Nothing:
    """`()`."""

    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Anchor:
    """`^`, the start of the partition, or `$`, its end."""

    at: OneOf["start", "end"]
    span: Span = NOWHERE


RowPattern = PatternVariable | Nothing | Anchor | Operator["RowPattern"]
"""With Seq for rows that follow each other, Or for `|`; PERMUTE is written out, in its order of preference."""


# ---- the clause ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SortKey:
    """Of ORDER BY; without NULLS FIRST or LAST nulls are first where it ascends, as in Spark."""

    column: ast.Reference
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class ClauseMeasure:
    expression: ast.Expression
    name: ast.Name


@dataclass(frozen=True, slots=True)
class Definition:
    variable: ast.Name
    condition: ast.Expression


@dataclass(frozen=True, slots=True)
class Subset:
    """`SUBSET u = (a, b)`."""

    name: ast.Name
    members: tuple[ast.Name, ...]


@dataclass(frozen=True, slots=True)
class RowsPerMatch:
    """`ONE ROW PER MATCH`, or `ALL ROWS PER MATCH` with what it says of empty matches and of rows in no match."""

    every: bool
    of_others: OneOf["SHOW EMPTY", "OMIT EMPTY", "WITH UNMATCHED"] | None = None
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class RowSkip:
    """`AFTER MATCH SKIP …`; `variable` for TO FIRST and TO LAST."""

    mode: OneOf["PAST LAST ROW", "TO NEXT ROW", "TO FIRST", "TO LAST"]
    variable: ast.Name | None = None
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class MatchRecognize:
    """All that stands in the parentheses; `span` from the word to the last of them."""

    partition_by: tuple[ast.Reference, ...]
    order_by: tuple[SortKey, ...]
    measures: tuple[ClauseMeasure, ...]
    rows: RowsPerMatch
    skip: RowSkip
    pattern: RowPattern
    within: ast.Expression | None
    subsets: tuple[Subset, ...]
    definitions: tuple[Definition, ...]
    span: Span


# ---- around it -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TableColumn:
    name: ast.Name
    type: ast.TypeExpr


@dataclass(frozen=True, slots=True)
class CreateTable:
    """`CREATE TABLE t (x INT) USING csv OPTIONS (header 'true') LOCATION 'data'`; the format in lower case."""

    name: ast.Reference
    columns: tuple[TableColumn, ...]
    format: str | None
    options: tuple[tuple[str, str], ...]
    location: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class SelectItem:
    """`column`, `t.column`, `column AS name`."""

    column: ast.Reference
    name: ast.Name | None


@dataclass(frozen=True, slots=True)
class EveryColumn:
    """`*`, `t.*`."""

    table: ast.Name | None
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class PlainSelect:
    """A SELECT of columns around one MATCH_RECOGNIZE."""

    items: tuple[SelectItem | EveryColumn, ...]
    alias: ast.Name | None
    where: ast.Expression | None
    order: tuple[SortKey, ...]
    limit: int | None


# ---- a text ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FoundClause:
    """A MATCH_RECOGNIZE in its place: `table` names what it is over, or says where a query stands in parentheses, and
    `place` is what a view stands for, from there to the last parenthesis.
    """

    table: ast.Reference | Span
    clause: MatchRecognize
    place: Span

    @property
    def table_name(self) -> str:
        """As it is written, without quotes."""
        return "query" if isinstance(self.table, Span) else ".".join(part.text for part in self.table.parts)


@dataclass(frozen=True, slots=True)
class SqlStatement:
    """A statement up to its `;`. `created` of a CREATE TABLE with columns, `select` of a SELECT that is plain; `other`
    is where what stands around the clause is more than that, and `unread` says why a CREATE TABLE is not understood:
    both are no mistakes where Spark reads them.
    """

    clauses: tuple[FoundClause, ...]
    span: Span
    created: CreateTable | None = None
    select: PlainSelect | None = None
    other: Span | None = None
    unread: Diagnostic | None = None
