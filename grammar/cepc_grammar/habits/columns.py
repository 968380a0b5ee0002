"""Columns of a STREAM as other languages write them: types of several words, names of several words, types listed
without quotes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..ast import Name
from ..source import Span
from ..spelling import name_text, string_text
from .common import closed_by, shown_text, wrong

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..diagnostic import Diagnostic
    from ..raw_tokens import RawToken
    from ..spot import Spot

_TYPES: Final = {
    "DOUBLE PRECISION": "DOUBLE",
    "CHARACTER VARYING": "STRING",
    "CHAR VARYING": "STRING",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP",
    "TIMESTAMP WITH LOCAL TIME ZONE": "TIMESTAMP",
    "TIMESTAMP WITHOUT TIME ZONE": "TIMESTAMP_NTZ",
    "TINYINT UNSIGNED": "SMALLINT",
    "SMALLINT UNSIGNED": "INT",
    "INT UNSIGNED": "BIGINT",
    "INTEGER UNSIGNED": "BIGINT",
    "BIGINT UNSIGNED": "DECIMAL(20,0)",
}
"""Types of SQL that have several words, and how they are written here."""


def type_of_several_words(spot: Spot) -> Diagnostic | None:
    """`x DOUBLE PRECISION`, `at TIMESTAMP(3) WITH TIME ZONE`."""
    first = _type_before(spot)
    if spot.tokens[0].upper != "STREAM" or spot.open_bracket is None or not spot.is_name(first - 1):
        return None
    for words, type_ in _TYPES.items():
        last = len(words.split()) - 1
        if [spot.word(first), *map(spot.word, range(last))] == words.split():
            length = closed_by(spot.tokens, spot.at + last) if spot.text(last) == "(" else None
            span = spot.span(first, last - 1 if length is None else length - spot.at)
            return wrong(span, "a type of several words", "a type is one name", f"write `{type_}`", type_)
    return None


def array_in_brackets(spot: Spot) -> Diagnostic | None:
    """`x INT[]`, `x DECIMAL(9,2)[]`, `x MAP<STRING, INT>[]`."""
    first = _type_before(spot)
    if spot.tokens[0].upper != "STREAM" or (spot.text(), spot.text(1)) != ("[", "]"):
        return None
    if not (spot.is_name(first) and spot.is_name(first - 1)):
        return None
    span = spot.span(first, -1)
    cure = f"ARRAY<{spot.word(-1) if first == -1 else spot.source.text[span.start : span.end]}>"
    return wrong(spot.span(first, 1), "`[]` behind a type", "an array is a type of its own", f"write `{cure}`", cure)


def _type_before(spot: Spot) -> int:
    """Where the type begins that ends before the spot: at its word, before what stands in brackets."""
    first, depth = -1, 0
    while spot.at + first > 0:
        text = spot.text(first)
        depth += text.count(">") + text.count(")") - text.count("<") - text.count("(")
        if depth <= 0:
            return first - 1 if first < -1 else first
        first -= 1
    return -1


def name_of_several_words(spot: Spot) -> Diagnostic | None:
    """`event time STRING`, where the second word was taken for the type."""
    if spot.tokens[0].upper != "STREAM" or spot.text(-3) not in ("(", ",") or spot.word(-1) in _KNOWN:
        return None
    last = -1
    while spot.is_name(last) and spot.word(last) not in (*_KNOWN, "AS"):
        last += 1
    if spot.word(last) not in _KNOWN:
        return None
    span = spot.span(-2, last - 1)
    cure = name_text(Name(spot.written(span)))
    label = "a name of several words stands in backquotes"
    return wrong(span, "a name of several words", label, f"write {cure}, in backquotes", cure)


_KNOWN: Final = frozenset({
    "ARRAY", "BIGINT", "BINARY", "BOOLEAN", "DATE", "DECIMAL", "DOUBLE", "FLOAT", "INT", "INTEGER", "INTERVAL", "LONG",
    "MAP", "SMALLINT", "STRING", "STRUCT", "TIMESTAMP", "TIMESTAMP_NTZ", "TINYINT", "VARCHAR",
})  # fmt: skip
"""Words that are types where they stand behind a name."""


def event_types_without_quotes(spot: Spot) -> Diagnostic | None:
    """`EVENT TYPE kind IN (A, B)`."""
    opened = spot.open_bracket
    if spot.tokens[0].upper != "STREAM" or not opened or spot.tokens[opened - 1].upper != "IN" or not spot.is_name(0):
        return None
    end = closed_by(spot.tokens, opened)
    if end is None:
        return wrong(spot.span(), "an event type without quotes", "it is a text here", f"write `'{spot.text()}'`")
    cure = ", ".join(_as_text(spot, one) for one in _listed(spot.tokens[opened + 1 : end]))
    span = spot.span(opened + 1 - spot.at, end - 1 - spot.at)
    return wrong(span, "event types without quotes", "they are texts here", f"write `IN ({shown_text(cure)})`", cure)


def _listed(tokens: Sequence[RawToken]) -> list[list[RawToken]]:
    """What stands between commas."""
    found: list[list[RawToken]] = [[]]
    for token in tokens:
        if token.text == ",":
            found.append([])
        else:
            found[-1].append(token)
    return [tokens for tokens in found if tokens]


def _as_text(spot: Spot, tokens: Sequence[RawToken]) -> str:
    """One event type as a text: `Big-One` has several tokens."""
    if len(tokens) == 1 and tokens[0].kind == "STRING":
        return tokens[0].text
    return string_text(spot.written(Span(tokens[0].start, tokens[-1].end, spot.source.name)))
