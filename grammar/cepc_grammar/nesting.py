"""A limit on nesting, so that later stages may recurse over the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lark import Token, Tree

from .diagnostic import Diagnostic

if TYPE_CHECKING:
    from .source import Span

MAX_DEPTH = 150
FLATTER = "use IN (…) for a long list of values, or name a part with EVENT … AS or PATTERN … AS"


def too_deep(span: Span, cure: str = FLATTER) -> Diagnostic:
    """What stands there is inside more than MAX_DEPTH levels."""
    return Diagnostic(
        "E0109",
        "nested too deeply",
        span,
        f"this stands inside more than {MAX_DEPTH} levels",
        notes=("a long chain of one operator nests once for each of its operands",),
        hint=cure,
    )


def deepest(tree: Tree[Token]) -> Tree[Token] | None:
    """The first node found inside more than MAX_DEPTH levels. Walks with a stack of its own."""
    if _surely_flat(tree):
        return None
    stack: list[tuple[Tree[Token], int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            return node
        inner = depth + 1 + 2 * sum(_is_quantifier(child) for child in node.children[2:])
        stack += [(child, inner) for child in node.children if isinstance(child, Tree)]
    return None


def _surely_flat(tree: Tree[Token]) -> bool:
    """True for a statement of few levels, which is soon known; False says nothing."""
    level, levels = [tree], 0
    while level and levels <= MAX_DEPTH:
        levels += 1 + 2 * sum(node.data == "quantifier" for node in level)
        level = [child for node in level for child in node.children if isinstance(child, Tree)]
    return levels <= MAX_DEPTH


def _is_quantifier(node: Tree[Token] | Token | None) -> bool:
    """`A+*?` has one node of the syntax tree inside another for each quantifier; the printer writes `((A+)*)?`."""
    return isinstance(node, Tree) and node.data == "quantifier"
