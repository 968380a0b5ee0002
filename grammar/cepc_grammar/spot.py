"""Where the parser stopped, and what stands around it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .expected import CLAUSE_WORDS
from .source import Source, Span

if TYPE_CHECKING:
    from .raw_tokens import RawToken

_OPENING = {"(": ")", "[": "]", "{": "}"}
_CLAUSES = frozenset({*CLAUSE_WORDS, "WINDOW"})


@dataclass(frozen=True)
class Spot:
    """Token `at` of a statement's tokens cannot stand there; one past the end: the statement ends too early.

    A dozen habits ask for the clause and the bracket, each of which is a walk over the statement.
    """

    source: Source
    tokens: tuple[RawToken, ...]
    at: int
    expected: frozenset[str]

    @property
    def at_end(self) -> bool:
        return self.at >= len(self.tokens)

    @property
    def token(self) -> RawToken | None:
        return None if self.at_end else self.tokens[self.at]

    def word(self, offset: int = 0) -> str:
        """The word so far from here, in upper case; "" where there is none."""
        return self.tokens[self.at + offset].upper if 0 <= self.at + offset < len(self.tokens) else ""

    def text(self, offset: int = 0) -> str:
        """The token so far from here as written; "" outside the statement."""
        return self.tokens[self.at + offset].text if 0 <= self.at + offset < len(self.tokens) else ""

    def kind(self, offset: int = 0) -> str:
        """The kind of the token so far from here; "" outside the statement."""
        return self.tokens[self.at + offset].kind if 0 <= self.at + offset < len(self.tokens) else ""

    def is_name(self, offset: int) -> bool:
        """Is the token so far from here a word or a quoted name?"""
        at = self.at + offset
        return 0 <= at < len(self.tokens) and self.tokens[at].kind in ("WORD", "QUOTED")

    def span(self, first: int = 0, last: int | None = None) -> Span:
        """From the token so far from here to another one; the last token of the statement where that is past its
        end.
        """
        top = len(self.tokens) - 1
        start, end = min(self.at + first, top), min(self.at + (first if last is None else last), top)
        return Span(self.tokens[start].start, self.tokens[end].end, self.source.name)

    def written(self, span: Span) -> str:
        """What stands there, on one line, with single spaces."""
        return " ".join(self.source.text[span.start : span.end].split())

    @cached_property
    def clause(self) -> str:
        """The clause this stands in: PATTERN, WHERE, …; "" before the first one. A word behind a dot begins none."""
        for number in reversed(range(self.at)):
            word = self.tokens[number].upper
            if word in _CLAUSES and (number == 0 or self.tokens[number - 1].text != "."):
                return word
        return ""

    @cached_property
    def open_bracket(self) -> int | None:
        """The innermost bracket that is open here, as an index of the tokens."""
        stack: list[int] = []
        for i, token in enumerate(self.tokens[: self.at]):
            if token.kind != "OPERATOR":
                continue
            if token.text in _OPENING:
                stack.append(i)
            elif stack and token.text == _OPENING[self.tokens[stack[-1]].text]:
                stack.pop()
        return stack[-1] if stack else None


def closing(bracket: str) -> str:
    """What closes a bracket.

    >>> closing("[")
    ']'
    """
    return _OPENING[bracket]
