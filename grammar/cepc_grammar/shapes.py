"""Statements of one shape are parsed once.

Of many queries most differ in names and values alone: the parser takes the same way through each. So a tree is kept as
what its nodes stand on, by the numbers of tokens, and is built from the tokens of any statement of its shape.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cache
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lark import Token, Tree

from cepc_runtime.cheap_dataclass import dataclass

from .keywords import token_of
from .nesting import deepest
from .source import NOWHERE, Span
from .trees import Trees

if TYPE_CHECKING:
    from lark import Lark

    from .builder import Builder
    from .raw_tokens import RawToken

_MOST: Final = 1_000
"""Shapes that are kept; when another comes, all are forgotten, for whoever has so many hardly repeats one."""
_LONGEST: Final = 1_000
"""Tokens of a shape that is kept."""


class PlaceOfTokens(NamedTuple):
    """From the start of one token to the end of another, or `left` characters before it: `>>` closes two types."""

    first: int
    last: int
    left: int

    def span(self, tokens: tuple[RawToken, ...], source_name: str) -> Span:
        return Span(tokens[self.first].start, tokens[self.last].end - self.left, source_name)


class TokenLeaf(NamedTuple):
    """A token of a terminal."""

    terminal: str
    number: int


class RuleNode(NamedTuple):
    """A rule over the last `size` values; without a place where it stands for no text."""

    method: str
    size: int
    place: PlaceOfTokens | None


@dataclass(frozen=True, slots=True)
class StatementShape:
    """A statement bottom up; None is an option that is not there. `too_deep` is what stands inside too many levels."""

    steps: tuple[TokenLeaf | RuleNode | None, ...]
    too_deep: PlaceOfTokens | None

    def built(self, tokens: tuple[RawToken, ...], builder: Builder) -> Any:
        """What the builder makes of the tokens, which are of this shape."""
        values: list[Any] = []
        source_name = builder.source_name
        for step in self.steps:
            if isinstance(step, TokenLeaf):
                token = tokens[step.number]
                values.append(token_of(step.terminal, token.text, token.start, token.end))
            elif step is None:
                values.append(None)
            else:
                method, size, place = step
                children = values[len(values) - size :]
                del values[len(values) - size :]
                span = NOWHERE if place is None else place.span(tokens, source_name)
                values.append(getattr(builder, method)(span, children))
        (whole,) = values
        return whole


class Shapes:
    """Parses statements, of each shape the first."""

    def __init__(self, lark: Lark) -> None:
        found: Any = lark
        self._trees = Trees(lark)
        self._shape_of = found.parser.lexer.shape
        self._known: dict[tuple[str, tuple[str, ...]], StatementShape] = {}

    def find(self, tokens: tuple[RawToken, ...], start: str) -> StatementShape | None:
        """None where the tokens are no statement. Each has a place of its own, and they are in order."""
        if len(tokens) > _LONGEST:
            return self._parsed(tokens, start)
        of = (start, self._shape_of(tokens))
        if (shape := self._known.get(of)) is None and (shape := self._parsed(tokens, start)) is not None:
            if len(self._known) == _MOST:
                self._known.clear()
            self._known[of] = shape
        return shape

    def _parsed(self, tokens: tuple[RawToken, ...], start: str) -> StatementShape | None:
        tree = self._trees.tree(tokens, start)
        if tree is None:
            return None
        places = _Places(tokens)
        deep = deepest(tree)
        return StatementShape(_steps(tree, places), None) if deep is None else StatementShape((), places.of(deep))


class _Places:
    """Where nodes stand, by the numbers of tokens."""

    def __init__(self, tokens: tuple[RawToken, ...]) -> None:
        self._ends = [token.end for token in tokens]
        self._begun = {token.start: number for number, token in enumerate(tokens)}
        self._ended = {end: number for number, end in enumerate(self._ends)}

    def of(self, node: Tree[Token]) -> PlaceOfTokens | None:
        meta = node.meta
        if meta.empty:
            return None
        end = meta.end_pos
        if (last := self._ended.get(end)) is None:
            last = bisect_left(self._ends, end)
        return PlaceOfTokens(self.number(meta.start_pos), last, self._ends[last] - end)

    def number(self, start: int) -> int:
        """Of the token that begins there."""
        return self._begun[start]


def _steps(tree: Tree[Token], places: _Places) -> tuple[TokenLeaf | RuleNode | None, ...]:
    """Children before their node, and each in its order. A stack, as a tree may be deeper than Python's."""
    steps: list[TokenLeaf | RuleNode | None] = []
    left: list[Tree[Token] | Token | None] = [tree]
    while left:  # each node before its children, the last child first: backwards it is what is wanted
        found: Any = left.pop()
        if isinstance(found, Tree):
            steps.append(RuleNode(_method(found.data), len(found.children), places.of(found)))
            left += found.children
        elif found is None:
            steps.append(None)
        else:
            steps.append(TokenLeaf(str(found.type), places.number(found.start_pos)))
    return tuple(reversed(steps))


@cache
def _method(rule: str) -> str:
    return f"{rule}_" if iskeyword(rule) else str(rule)
