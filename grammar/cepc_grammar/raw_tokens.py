"""The pieces of a text, as they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from .source import Span

Kind = Literal["WORD", "QUOTED", "NUMBER", "STRING", "BINARY", "OPERATOR", "UNKNOWN"]


@dataclass(frozen=True, slots=True)
class RawToken:
    kind: Kind
    text: str
    start: int
    end: int
    first_on_line: bool

    @property
    def upper(self) -> str:
        """The word in upper case; empty for what is no word, so that a quoted name is never a keyword."""
        return self.text.upper() if self.kind == "WORD" else ""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment as written, with its marks."""

    text: str
    span: Span
