"""Expressions where columns are not known, for there is no STREAM: that names of variables exist, and where a name may
stand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from cepc_grammar import ast
from cepc_runtime.sql.aggregate_functions import aggregate_written

from ..expressions.functions import LABEL
from .messages import clauses as say_clause
from .messages import names as say
from .messages import patterns as say_pattern
from .walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_grammar.diagnostic import Diagnostic

    from .scopes import Names


def _is_label(node: ast.Expression) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and node.function.text.upper() == LABEL


def _is_aggregate(node: ast.Expression) -> bool:
    return isinstance(node, ast.Call) and aggregate_written(node.function.text.upper()) is not None


def check_structure(
    expression: ast.Expression, names: Names, shared: frozenset[str] | None, result: str | None
) -> Iterator[Diagnostic]:
    """What is wrong with the names in an expression; `shared` and `result` as in a PatternScope."""
    labels = {a for node in walk(expression) if _is_label(node) for a in map(id, node.arguments)}
    of_all = {id(part) for node in walk(expression) if _is_aggregate(node) for part in walk(node)}
    arguments = {a for node in walk(expression) if isinstance(node, ast.Call) for a in map(id, node.arguments)}
    for node in walk(expression):
        if not isinstance(node, ast.Reference) or id(node) in labels:
            continue
        found = names.split(node)
        if found is not None:
            variable, path = found
            if result is not None and variable.negation is not None:
                yield say_pattern.negated_returned(variable.name, node.span, variable.negation.span)
            elif not path and id(node) not in arguments and (shared is not None and node.parts[0].text not in shared):
                yield say.bare_variable(".".join(p.text for p in node.parts), node.span, ())
        elif shared is None or node.parts[0].text in shared or not names.complete:
            continue
        elif len(node.parts) > 1:
            yield names.unknown(node)
        elif result == "aggregate":
            yield say_clause.not_grouped(node.parts[0], sorted(shared))
        elif result != "match" or id(node) not in of_all:
            yield say.bare_column(node.parts[0], list(names.variables), sorted(shared))
