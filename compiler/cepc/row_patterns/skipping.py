"""AFTER MATCH SKIP. Where SQL ends with an error, the engines go on with the next row: so such a match is looked for
among the rows of the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cepc_grammar import ast
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.aggregate_functions import MAX, MIN

from . import messages as say
from .aggregating import AggregateWriter
from .navigation import RefusedError

if TYPE_CHECKING:
    from cepc_grammar.source import Span
    from cepc_grammar.sql.syntax import RowSkip

    from .binding import BoundPattern
    from .columns import UsedColumns
    from .navigation import ClauseScope

_ENDS: Final = {"TO FIRST": "FIRST", "TO LAST": "LAST"}


@dataclass(frozen=True, slots=True)
class SkipCheck:
    """`landing` and `first` are columns of the result, with the numbers of the row to go on with and of the match's
    first row. It is an error if the one is null or the other, unless the match is empty: then the column `empty`, if
    there is one, is not null.
    """

    landing: str
    first: str
    empty: str | None
    said: str
    span: Span


@dataclass(frozen=True, slots=True)
class Skipping:
    """How our query goes on after a match; `landing` is what a check needs to see, if one is needed."""

    after: ast.AfterMatch
    landing: ast.Expression | None = None
    said: str = ""


def skipping(skip: RowSkip, scope: ClauseScope, bound: BoundPattern, used: UsedColumns) -> Skipping:
    """Raises RefusedError."""
    if skip.variable is None:
        mode = "PAST LAST EVENT" if skip.mode == "PAST LAST ROW" else "TO NEXT EVENT"
        return Skipping(ast.AfterMatch(mode, span=skip.span))  # type: ignore[arg-type]
    if skip.variable.text.upper() == "ROW" and "row" not in scope.variables:
        raise RefusedError(say.row_to_skip_to(skip))
    variable, end = scope.variable(skip.variable), _ENDS[skip.mode]
    places = bound.mentioned.places[variable]
    able = bound.paths.firsts(places) if end == "FIRST" else bound.paths.lasts(places)
    names = [one.name for one in bound.variables if one.places & able]
    span = skip.variable.span
    targets = tuple(ast.Reference((ast.Name(name, span),), span) for name in names)
    after = ast.AfterMatch(skip.mode, targets, span=skip.span)  # type: ignore[arg-type]
    if bound.paths.is_certain(places) and not places & bound.paths.begins:
        return Skipping(after)
    number = ast.Reference((ast.Name(used.number, span),), span)
    extreme = MIN if end == "FIRST" else MAX
    landing = AggregateWriter(bound, scope, used).call(extreme.written, [number], names, span)
    return Skipping(after, landing, say.cannot_skip(variable, end))
