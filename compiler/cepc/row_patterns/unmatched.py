"""WITH UNMATCHED ROWS: where matches do not overlap, a row that no match has is one at which the next match might have
begun and does not, so it is the match of an alternative that is preferred last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_grammar.pattern import walk
from cepc_grammar.sql.syntax import PatternVariable
from cepc_runtime.sql.aggregate_functions import aggregate_written

from ..resolve.walk import walk as expressions_in
from . import build
from . import messages as say
from .navigation import RefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_grammar.sql.syntax import Anchor, MatchRecognize, RowPattern


def check_unmatched(clause: MatchRecognize, pattern: RowPattern, *, has_empty: bool, edges: Sequence[Anchor]) -> None:
    """Raises RefusedError where rows that no match has cannot be shown. With a pattern that can match no row there are
    none, unless it stands at an edge.
    """
    if clause.skip.mode != "PAST LAST ROW":
        raise RefusedError(say.unmatched_skip(clause.rows, clause.skip))
    excluded = (node for node in walk(pattern) if isinstance(node, PatternVariable) and node.excluded)
    if (hidden := next(excluded, None)) is not None:
        raise RefusedError(say.unmatched_excluded(clause.rows, hidden))
    if has_empty and edges:
        raise RefusedError(say.unmatched_edge(clause.rows, edges[0]))
    for measure in clause.measures:
        for node in expressions_in(measure.expression):
            if isinstance(node, ast.Call) and _numbers(node) and not has_empty:
                raise RefusedError(say.unmatched_number(node))


def _numbers(node: ast.Call) -> bool:
    """Whether it is MATCH_NUMBER, for which rows that no match has are matches."""
    function = aggregate_written(node.function.text.upper())
    return function is not None and function.numbers


def of_matches(item: ast.Item, none: str) -> ast.Item:
    """A measure that is null in a row that no match has, which is one of the variable `none`."""
    span = item.span
    is_matched = ast.Binary("<>", build.at_variable(span), build.text(none, span), span)
    return ast.Item(build.where(is_matched, item.expression, span), item.alias, span)
