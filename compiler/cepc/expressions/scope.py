"""What typing an expression asks of its surroundings: what names mean, and which constructs the place allows."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Protocol

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_grammar import ast
    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.sql.expression import Expression, Field
    from cepc_runtime.sql.types import DataType


@dataclass(frozen=True, slots=True)
class VariableInfo:
    """A variable of a pattern. `columns` are those of its events: name and type."""

    name: str
    is_list: bool
    negated: bool
    columns: tuple[tuple[str, DataType], ...]


class Scope(Protocol):
    """What names mean at one place of a program. Whoever implements it reports unknown names (E02xx), with a hint."""

    def reference(self, reference: ast.Reference) -> Expression | Diagnostic:
        """What `x`, `v.x`, `w.p.x`, or `v.x.f` stands for.

        A column is a Field with `at="each"`, a bare one without a variable; a field of a struct is a `field` Call
        around it (`struct_field` makes one); an alias in HAVING is the expression that it names.
        """

    def variable(self, reference: ast.Reference) -> VariableInfo | Diagnostic:
        """The variable that `v` or `w.p` names, as in FIRST(v) and COUNT(v)."""

    def info(self, name: str) -> VariableInfo:
        """The variable of this name; called only with names that came out of this scope."""

    def of_all_events(self, arguments: Sequence[ast.Expression]) -> Scope | None:
        """What names mean in the arguments of an aggregate over all events of a match, where columns stand bare; None
        where it is over those of a variable, which its arguments mention, or no match is at hand.
        """

    def beside(self, column: Field, places: int) -> Field | None:
        """The same column of the event so many places after that one in its partition, None where that may be of
        another stream; called only in WHERE.
        """


class ExpressionContext(Enum):
    """Where an expression stands, hence what may stand in it."""

    EVENT = "a condition on one event"
    """WHERE of a derived event: bare columns of the event at hand; no FIRST, LAST, PREV, no aggregates."""

    COLUMN = "a computed column"
    """Bare columns of the record at hand, those declared before it; nothing else."""

    CONDITION = "WHERE"
    """WHERE of a query or a named pattern: FIRST, LAST and PREV of a variable, LAG and LEAD; COUNT, SUM, AVG, MIN and
    MAX of one, RUNNING or not.
    """

    AGGREGATE = "RETURN of an aggregate query"
    """Aggregates, and outside them bare columns (the grouping attributes) alone."""

    MATCH = "RETURN of a match query"
    """Columns of single variables; FIRST, LAST and aggregates, COLLECT among them, of any variable."""

    EACH = "RETURN EACH"
    """Columns of the event at hand, bare or with the variable that it may be bound to; what MATCH has of the whole
    match; RUNNING aggregates and VARIABLE().
    """

    HAVING_AGGREGATE = "HAVING of an aggregate query"
    """As AGGREGATE."""

    HAVING_MATCH = "HAVING of a match query"
    """As MATCH."""

    @property
    def allows_aggregates(self) -> bool:
        return self not in (ExpressionContext.EVENT, ExpressionContext.COLUMN, ExpressionContext.CONDITION)

    @property
    def may_ask_spark(self) -> bool:
        """Whether Spark computes what stands here, where it is of one record or event."""
        return not self.allows_aggregates

    @property
    def is_match(self) -> bool:
        """Whether one match is at hand, rather than one event, a tuple of events, or a group of matches."""
        return self in (ExpressionContext.MATCH, ExpressionContext.EACH, ExpressionContext.HAVING_MATCH)
