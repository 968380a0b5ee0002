"""The pieces of a text, as they are written."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Literal

from cepc_runtime.cheap_dataclass import dataclass

from .source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lark import Token

TokenKind = Literal["WORD", "QUOTED", "NUMBER", "STRING", "BINARY", "OPERATOR", "UNKNOWN"]


@dataclass(frozen=True, slots=True)
class RawToken:
    kind: TokenKind
    text: str
    start: int
    end: int
    first_on_line: bool

    @property
    def upper(self) -> str:
        """The word in upper case; empty for what is no word, so that a quoted name is never a keyword."""
        return self.text.upper() if self.kind == "WORD" else ""


def stopped_at(tokens: Sequence[RawToken], token: Token) -> int:
    """Where a parser stopped, as an index; one past the end if the statement ended too early."""
    if token.type == "$END":
        return len(tokens)
    return next(i for i, t in enumerate(tokens) if t.end > (token.start_pos or 0))


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment as written, with its marks."""

    text: str
    span: Span


class Comments:
    """The comments of a text, of which there may be millions: each is made when it is asked for, and few are."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._places = array("q")  # where each begins and ends

    def add(self, start: int, end: int) -> None:
        self._places.extend((start, end))

    def __len__(self) -> int:
        return len(self._places) // 2

    def __iter__(self) -> Iterator[Comment]:
        for start, end in zip(self._places[::2], self._places[1::2], strict=True):
            text = self._source.text[start:end]
            yield Comment(text.rstrip() if text.startswith("--") else text, Span(start, end, self._source.name))
