"""Where the nodes of a parse tree begin and end in the text.

Lark can say that, with lines and columns as well, which nobody asks for, and does so again for each rule that leaves
its one child as it is. Without that, parsing takes a fifth less, and of many queries it is most of a check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lark import Token, Tree
from lark.parse_tree_builder import ExpandSingleChild, PropagatePositions

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from lark import Lark


def with_extents(lark: Lark) -> Lark:
    """The parser, whose trees know where they begin and end and nothing else of their places."""
    found: Any = lark
    callbacks = found.parser.parser.parser.callbacks
    for rule, callback in callbacks.items():
        if isinstance(callback, PropagatePositions):
            build = callback.node_builder
            alone = isinstance(build, ExpandSingleChild) and len(rule.expansion) == 1
            callbacks[rule] = _only if alone else _Placed(build)
    return lark


def _only(children: list[Any]) -> Any:
    return children[0]


@dataclass(frozen=True, slots=True)
class _Placed:
    """Builds a node and notes its extent; a node that is there already, in brackets, say, keeps its own, and has the
    larger one for what it stands in (`container_…`).
    """

    build: Callable[[list[Any]], Any]

    def __call__(self, children: list[Any]) -> Any:
        # The builder may empty the list of children, or take it for its own: it is looked at first.
        start = end = None
        for child in children:
            if isinstance(child, Token):
                start = child.start_pos
                break
            if isinstance(child, Tree) and not child.meta.empty:
                start = child.meta.container_start_pos  # type: ignore[attr-defined]
                break
        for child in reversed(children):
            if isinstance(child, Token):
                end = child.end_pos
                break
            if isinstance(child, Tree) and not child.meta.empty:
                end = child.meta.container_end_pos  # type: ignore[attr-defined]
                break
        made = self.build(children)
        if start is not None and isinstance(made, Tree):
            meta: Any = made.meta
            if meta.empty:
                meta.start_pos, meta.end_pos, meta.empty = start, end, False
            meta.container_start_pos, meta.container_end_pos = start, end
        return made
