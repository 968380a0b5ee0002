"""What all habits share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..diagnostic import Diagnostic
from ..expected import CLAUSE_WORDS
from ..spot import closing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..raw_tokens import RawToken
    from ..source import Span

CLAUSE_STARTS = frozenset({*CLAUSE_WORDS, "GROUPBY", "GROUP_BY", "WINDOW", "FROM", "SLIDE", "OFFSET"})


CONDITIONS = ("WHERE", "HAVING", "RETURN")
"""The clauses with expressions."""


def shown_text(text: str) -> str:
    """A token's text as it can be printed in a sentence."""
    text = text if text.isprintable() else text.encode("unicode_escape").decode()
    return text if len(text) <= 40 else text[:37] + "…"


def wrong(span: Span, title: str, label: str, hint: str = "", replacement: str | None = None) -> Diagnostic:
    return Diagnostic("E0101", title, span, label, hint=hint, replacement=replacement)


def not_yet(what: str, span: Span, hint: str) -> Diagnostic:
    return Diagnostic("E0110", f"{what} not supported yet", span, "reserved for later", hint=hint)


def closed_by(tokens: Sequence[RawToken], opened: int) -> int | None:
    """The bracket that closes the one at `opened`."""
    opening = tokens[opened].text
    depth = 0
    for i in range(opened, len(tokens)):
        depth += (tokens[i].text == opening) - (tokens[i].text == closing(opening))
        if depth == 0:
            return i
    return None
