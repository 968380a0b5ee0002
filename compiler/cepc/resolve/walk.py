"""Walks over expressions and patterns as the parser gives them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from cepc_grammar import ast
from cepc_grammar.pattern import walk as subpatterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_INNER = (
    ast.Call, ast.Member, ast.Index, ast.Unary, ast.Binary, ast.Between, ast.In, ast.Like, ast.Is, ast.IsDistinct,
    ast.Case, ast.Branch, ast.Cast, ast.Extract,
)  # fmt: skip
_PARTS: dict[type, tuple[str, ...]] = {
    node: tuple(f.name for f in fields(node) if f.name not in ("span", "type", "function", "name")) for node in _INNER
}
EXPRESSIONS = (*_INNER, ast.Literal, ast.Interval, ast.Reference, ast.Star, ast.Equivalence)


def conjuncts(expression: ast.Expression | None) -> Iterator[ast.Expression]:
    """The operands of a top-level AND, however nested; the expression itself without one."""
    match expression:
        case None:
            return
        case ast.Binary("AND", left, right):
            yield from conjuncts(left)
            yield from conjuncts(right)
        case _:
            yield expression


def walk(expression: ast.Expression) -> Iterator[ast.Expression]:
    """The expression and all that is in it, the outer before the inner, from left to right."""
    stack: list[Any] = [expression]
    while stack:
        node = stack.pop()
        if not isinstance(node, ast.Branch):
            yield node
        stack += reversed([part for name in _PARTS.get(type(node), ()) for part in _nodes(getattr(node, name))])


def references(expression: ast.Expression) -> Iterator[ast.Reference]:
    """The names in it, those that stand as arguments of FIRST, LAST, PREV and COUNT too."""
    return (node for node in walk(expression) if isinstance(node, ast.Reference))


def rewrite(expression: ast.Expression, change: Callable[[ast.Expression], ast.Expression | None]) -> ast.Expression:
    """The expression with parts replaced, the outer before the inner; `change` gives None for a part to look into."""
    result: ast.Expression = _rewrite(expression, change)
    return result


def _rewrite(node: Any, change: Callable[[ast.Expression], ast.Expression | None]) -> Any:
    if not isinstance(node, ast.Branch) and (changed := change(node)) is not None:
        return changed
    new = {}
    for name in _PARTS.get(type(node), ()):
        part = getattr(node, name)
        if isinstance(part, tuple):
            parts = tuple(_rewrite(p, change) for p in part)
            if any(a is not b for a, b in zip(parts, part, strict=True)):
                new[name] = parts
        elif isinstance(part, EXPRESSIONS) and (rewritten := _rewrite(part, change)) is not part:
            new[name] = rewritten
    return replace(node, **new) if new else node


def _nodes(part: Any) -> tuple[Any, ...]:
    if isinstance(part, tuple):
        return part
    return (part,) if isinstance(part, EXPRESSIONS) else ()


def atoms(pattern: ast.Pattern) -> Iterator[ast.Atom]:
    """The names in a pattern, from left to right."""
    return (node for node in subpatterns(pattern) if isinstance(node, ast.Atom))
