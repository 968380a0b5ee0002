"""Values that are no values here: parameters, columns in quotes, functions of an expression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..source import Span
from ..tokens import line_end
from .common import CONDITIONS, shown_text, wrong

if TYPE_CHECKING:
    from ..diagnostic import Diagnostic
    from ..spot import Spot


def quote_in_text(spot: Spot) -> Diagnostic | None:
    """`'it's'`, which is a text, a word, and a text without an end."""
    quote = spot.text(-1)[:1]
    adjoin = spot.span(-1).end == spot.span().start
    if (spot.kind(-1), spot.kind()) != ("STRING", "WORD") or quote not in ("'", '"') or not adjoin:
        return None
    text, start, inner = spot.source.text, spot.span(-1).start, spot.span().start - 1
    end = text.find(quote, inner + 1, line_end(text, inner))
    if end < 0:
        return None
    while text[end + 1 : end + 2] == quote:  # `"say "hi""`
        end += 1
    escaped = text[inner:end].replace(quote, f"\\{quote}")
    hint = f"write `{shown_text(text[start:inner] + escaped + quote)}`"
    span = Span(inner, end, spot.source.name)
    return wrong(span, "a quote inside a text", "here the text ends", hint, escaped)


def parameter(spot: Spot) -> Diagnostic | None:
    """`a.x > ?`, `a.x > :limit`, `a.x > @limit`, `a.x > ${limit}`."""
    if spot.text() not in ("?", ":", "@", "$") or spot.clause not in CONDITIONS or spot.at == 0:
        return None
    before = spot.tokens[spot.at - 1]
    if before.kind != "OPERATOR" or before.text in (")", "]"):
        return None
    title = f"`{spot.text()}` is no value"
    return wrong(spot.span(), title, "a program has no parameters", "write the value, as Python can into the text")


def quoted_column(spot: Spot) -> Diagnostic | None:
    """`a."name"`."""
    text = spot.text()
    if not text.startswith('"') or spot.text(-1) != "." or not spot.is_name(-2):
        return None
    name = text[1:-1]
    cure = name if name.isidentifier() else f"`{name}`"
    hint = f"write `{name}`" if name.isidentifier() else f"write it in backquotes: {cure}"
    return wrong(spot.span(), "a column in quotes", "a text is in quotes, and no name", hint, cure)


def function_of_values(spot: Spot) -> Diagnostic | None:
    """`filter(a.list, x -> x > 3)`."""
    arrow = spot.text() if spot.text() == "->" else spot.text() + spot.text(1)
    if arrow != "->" or spot.clause not in CONDITIONS:
        return None
    hint = "what several events have is asked by an aggregate, `COUNT(CASE WHEN v.x > 3 THEN 1 END)`, say"
    return wrong(spot.span(), "`->` cannot stand here", "an expression has no functions of its own", hint)
