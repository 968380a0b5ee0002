"""What a clause says of a match's first and last row: `^`, `$` and WITHIN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cepc_grammar import ast

from . import build
from . import messages as say
from .navigation import RefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_grammar.source import Span
    from cepc_grammar.sql.syntax import Anchor, SortKey

    from .binding import BoundPattern
    from .columns import UsedColumns

_TIMES: Final = ("DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ")


def at_edges(edges: Sequence[Anchor], bound: BoundPattern, none: str | None, used: UsedColumns) -> list[ast.Expression]:
    """`^` and `$`; `none` is the variable of empty matches, if there are some. Raises RefusedError where rows of
    several variables may be at such an end of a match.
    """
    found: list[ast.Expression] = []
    every = bound.mentioned.places[None]
    for edge in edges:
        span = edge.span
        places = bound.paths.firsts(every) if edge.at == "start" else bound.paths.lasts(every)
        names = [one.name for one in bound.variables if one.places & places]
        if len(names) > 1:
            raise RefusedError(say.anchor_of_several(edge, names))
        if edge.at == "end":
            after = build.call("LAST", [used.number_of(names[0], span, 1)], span)
            found.append(ast.Is(after, "NULL", False, span))
        else:
            for name in (names[0], *(() if none is None else (none,))):
                number = build.call("FIRST", [used.number_of(name, span)], span)
                found.append(ast.Binary("=", number, build.whole(1, span), span))
    return found


def within(
    length: ast.Expression, key: SortKey, column: str, type_: str, bound: BoundPattern, used: UsedColumns
) -> list[ast.Expression]:
    """As Flink has it: the first row and the last are less than that apart in a column of times that ascends. A row
    that is not the first one is no earlier, so it is asked of each that may be. Raises RefusedError.
    """
    if not isinstance(length, ast.Interval):
        raise RefusedError(say.no_within(length.span, "what is no INTERVAL"))
    if key.descending:
        raise RefusedError(say.no_within(length.span, "where ORDER BY descends"))
    if type_ not in _TIMES:
        raise RefusedError(say.no_within(length.span, f"where ORDER BY begins with `{column}`, a column of {type_}"))

    def time(end: str, variable: str, span: Span) -> ast.Expression:
        return build.call(end, [used.of(variable, ast.Reference((ast.Name(column, span),), span), 0)], span)

    found: list[ast.Expression] = []
    for begin in bound.variables:
        if begin.places & bound.paths.begins:
            bounds = ast.Binary("+", time("FIRST", begin.name, length.span), length, length.span)
            found += (ast.Binary("<", time("LAST", v.name, length.span), bounds, length.span) for v in bound.variables)
    return found
