"""Statements of one shape are parsed once.

Of many queries most differ in names and values alone: the parser takes the same way through each. So a tree is kept as
what its nodes stand on, by the numbers of tokens, and is built from the tokens of any statement of its shape.
"""

from __future__ import annotations

from bisect import bisect_left
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Final

from lark import Token, Tree

from cepc_runtime.cheap_dataclass import dataclass

from .keywords import token_of
from .nesting import deepest
from .raw_tokens import RawToken
from .source import NOWHERE, Span
from .trees import Trees

if TYPE_CHECKING:
    from lark import Lark

    from .builder import Builder

_MOST: Final = 1_000
"""Shapes that are kept; when another comes, all are forgotten, for whoever has so many hardly repeats one."""
_LONGEST: Final = 1_000
"""Tokens of a shape that is kept."""


@dataclass(frozen=True, slots=True)
class PlaceOfTokens:
    """From the start of one token to the end of another, or `left` characters before it: `>>` closes two types."""

    first: int
    last: int
    left: int

    def span(self, tokens: tuple[RawToken, ...], source_name: str) -> Span:
        return Span(tokens[self.first].start, tokens[self.last].end - self.left, source_name)


@dataclass(frozen=True, slots=True)
class TokenLeaf:
    """A token of a terminal."""

    terminal: str
    number: int


@dataclass(frozen=True, slots=True)
class RuleNode:
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
                size, place = step.size, step.place
                children = values[len(values) - size :]
                del values[len(values) - size :]
                span = NOWHERE if place is None else place.span(tokens, source_name)
                values.append(getattr(builder, step.method)(span, children))
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
        """None where the tokens are no statement."""
        if len(tokens) > _LONGEST:
            return self._parsed(tokens, start)
        of = (start, self._shape_of(tokens))
        if (shape := self._known.get(of)) is None and (shape := self._parsed(tokens, start)) is not None:
            if len(self._known) == _MOST:
                self._known.clear()
            self._known[of] = shape
        return shape

    def _parsed(self, tokens: tuple[RawToken, ...], start: str) -> StatementShape | None:
        apart = _apart(tokens)
        tree = self._trees.tree(apart, start)
        if tree is None:
            return None
        places = _Places(apart)
        deep = deepest(tree)
        return StatementShape(_steps(tree, places), None) if deep is None else StatementShape((), places.of(deep))


def _apart(tokens: tuple[RawToken, ...]) -> tuple[RawToken, ...]:
    """The same with places that tell them apart: what completes a text that is not at its end has no length."""
    found, at = [], 0
    for token in tokens:
        end = at + max(len(token.text), 1)
        found.append(RawToken(token.kind, token.text, at, end, token.first_on_line))
        at = end + 1
    return tuple(found)


class _Places:
    """Where nodes stand, by the numbers of tokens."""

    def __init__(self, tokens: tuple[RawToken, ...]) -> None:
        self._tokens = tokens
        self._starts, self._ends = [token.start for token in tokens], [token.end for token in tokens]

    def of(self, node: Tree[Token]) -> PlaceOfTokens | None:
        meta = node.meta
        if meta.empty:
            return None
        first, last = self.number(meta.start_pos), bisect_left(self._ends, meta.end_pos)
        return PlaceOfTokens(first, last, self._ends[last] - meta.end_pos)

    def number(self, start: int) -> int:
        """Of the token that begins there."""
        return bisect_left(self._starts, start)


def _steps(tree: Tree[Token], places: _Places) -> tuple[TokenLeaf | RuleNode | None, ...]:
    """Children before their node, and each in its order. A stack, as a tree may be deeper than Python's."""
    steps: list[TokenLeaf | RuleNode | None] = []
    left: list[Tree[Token] | Token | None] = [tree]
    while left:  # each node before its children, the last child first: backwards it is what is wanted
        found: Any = left.pop()
        if isinstance(found, Tree):
            rule = str(found.data)
            steps.append(RuleNode(f"{rule}_" if iskeyword(rule) else rule, len(found.children), places.of(found)))
            left += found.children
        elif found is None:
            steps.append(None)
        else:
            steps.append(TokenLeaf(str(found.type), places.number(found.start_pos)))
    return tuple(reversed(steps))
