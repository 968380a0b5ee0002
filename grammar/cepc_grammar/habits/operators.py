"""Operators that other languages have between values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .common import CONDITIONS, closed_by, wrong

if TYPE_CHECKING:
    from ..diagnostic import Diagnostic
    from ..spot import Spot

_OPERATORS: Final = {
    "=<": "<=", "=>": ">=", "=!": "<>", "><": "<>", "===": "=", "!==": "<>", "~": "RLIKE", "!~": "NOT RLIKE",
    "//": "DIV",
}  # fmt: skip
_WORD_OPERATORS: Final = {"MOD": "%", "MATCHES": "RLIKE", "XOR": "<>"}
_CALLS: Final = {"CONTAINS": "contains", "STARTSWITH": "startswith", "ENDSWITH": "endswith"}
"""Words that stand between two texts elsewhere, and are functions here."""
_MARKS: Final = {"??": "COALESCE", "?:": "COALESCE", "**": "POWER"}
"""The same of two marks."""


def operator(spot: Spot) -> Diagnostic | None:
    """`a =< b`, `a => b`, `a MOD 2`, `a ~ 'x'`, `a !~ 'x'`, `a MATCHES 'x'`."""
    if spot.clause not in CONDITIONS:
        return None
    for first, last in ((0, 1), (0, 0), (-1, 0)):
        if first != last and spot.span(first).end != spot.span(last).start:
            continue
        if (spot.text(), last) == ("/", 1):
            continue  # a comment: no value is before it
        span = spot.span(first, last)
        written = spot.source.text[span.start : span.end]
        cure = _OPERATORS.get(written) or (_WORD_OPERATORS.get(written.upper()) if first == last else None)
        if cure is not None:
            more = ", or `FLOOR(x / y)` of numbers with a fraction; a comment begins with `--`" if cure == "DIV" else ""
            return wrong(span, f"`{written}` is no operator", "said in another way here", f"write `{cure}`{more}", cure)
    return None


def call(spot: Spot) -> Diagnostic | None:
    """`a.name CONTAINS 'x'`, `a.name NOT CONTAINS 'x'`, `a.x ?? 0`, `a.x ?: 0`, `a.x ** 2`."""
    called = _called(spot) if spot.clause in CONDITIONS else None
    if called is None:
        return None
    function, start, last = called
    first, end = _operand_before(spot, start - 1), _operand_behind(spot, last + 1)
    text, tokens = spot.source.text, spot.tokens
    written = text[tokens[spot.at + start].start : tokens[spot.at + last].end]
    title, label = f"`{written}` is no operator", "a function does this here"
    if first is None or end is None:
        return wrong(spot.span(start, last), title, label, f"write `{function}(x, y)`")
    before = text[tokens[spot.at + first].start : tokens[spot.at + start - 1].end]
    behind = text[tokens[spot.at + last + 1].start : tokens[spot.at + end].end]
    cure = f"{function}({before}, {behind})"
    return wrong(spot.span(first, end), title, label, f"write `{cure}`", cure)


def _called(spot: Spot) -> tuple[str, int, int] | None:
    """The function that is written as an operator here, and how far from here this begins and ends."""
    for first in (0, -1):
        mark = spot.text(first) + spot.text(first + 1)
        if mark in _MARKS and spot.span(first).end == spot.span(first + 1).start:
            return _MARKS[mark], first, first + 1
    if spot.at_end or spot.word() not in _CALLS:
        return None
    negated = spot.word(-1) == "NOT"
    return f"NOT {_CALLS[spot.word()]}" if negated else _CALLS[spot.word()], -1 if negated else 0, 0


def _operand_before(spot: Spot, last: int) -> int | None:
    """How far from here the name begins, with dots in it, that ends so far from here."""
    first = last
    while spot.is_name(first) and spot.text(first - 1) == "." and spot.is_name(first - 2):
        first -= 2
    return first if spot.is_name(first) else None


def _operand_behind(spot: Spot, first: int) -> int | None:
    """How far from here the value, or the name with dots in it, ends that begins so far from here."""
    at = spot.at + first
    if at < len(spot.tokens) and spot.tokens[at].kind in ("NUMBER", "STRING"):
        return first
    last = first
    while spot.is_name(last) and spot.text(last + 1) == "." and spot.is_name(last + 2):
        last += 2
    return last if spot.is_name(last) and spot.text(last + 1) != "(" else None


def value_in(spot: Spot) -> Diagnostic | None:
    """`a.name IN 'x'`, `a.name IN ['x', 'y']`."""
    if spot.word(-1) != "IN" or spot.token is None:
        return None
    label = "values stand in `( )` behind IN"
    if spot.token.kind in ("NUMBER", "STRING"):
        last = 0
        while spot.text(last + 1) == "," and spot.kind(last + 2) in ("NUMBER", "STRING"):
            last += 2
        span = spot.span(0, last)
        cure = f"({spot.source.text[span.start : span.end]})"
        return wrong(span, "IN without brackets", label, f"write `IN {cure}`", cure)
    end = closed_by(spot.tokens, spot.at) if spot.text() in ("[", "{") else None
    if end is None:
        return None
    cure = f"({spot.source.text[spot.token.end : spot.tokens[end].start]})"
    return wrong(spot.span(0, end - spot.at), f"`{spot.text()}` behind IN", label, f"write `IN {cure}`", cure)


def none_as_null(spot: Spot) -> Diagnostic | None:
    """`a.name IS None`, `a.name IS NOT None`."""
    if spot.word() not in ("NONE", "NIL") or spot.word(-1) not in ("IS", "NOT"):
        return None
    return wrong(spot.span(), f"`{spot.text()}` is no value", "what is not there is NULL", "write `NULL`", "NULL")


def between_of_two(spot: Spot) -> Diagnostic | None:
    """`a.x BETWEEN (1, 2)`."""
    opened = spot.open_bracket
    if spot.text() != "," or not opened or spot.tokens[opened - 1].upper != "BETWEEN":
        return None
    end = closed_by(spot.tokens, opened)
    if end is None:
        return None
    text = spot.source.text
    least = text[spot.tokens[opened].end : spot.span().start].strip()
    most = text[spot.span().end : spot.tokens[end].start].strip()
    span = spot.span(opened - spot.at, end - spot.at)
    cure = f"{least} AND {most}"
    return wrong(span, "`( )` behind BETWEEN", "AND stands between the two", f"write `BETWEEN {cure}`", cure)


def underscore_in_number(spot: Spot) -> Diagnostic | None:
    """`x > 1_000`, which is two numbers to Spark, `1_` and `000`."""
    first, last = spot.at, spot.at
    while first and _goes_on(spot, first - 1):
        first -= 1
    while _goes_on(spot, last):
        last += 1
    if first == spot.at:
        return None
    number = "".join(token.text for token in spot.tokens[first : last + 1])
    cure = number.replace("_", "")
    label = "a number has nothing between thousands"
    return wrong(spot.span(first - spot.at, last - spot.at), f"`{number}` is no number", label, f"write `{cure}`", cure)


def _goes_on(spot: Spot, at: int) -> bool:
    """Whether digits and `_` end in this token, and more digits follow without a blank."""
    if at + 1 >= len(spot.tokens):
        return False
    token, after = spot.tokens[at : at + 2]
    return token.kind == after.kind == "NUMBER" and token.text.endswith("_") and token.end == after.start


def over(spot: Spot) -> Diagnostic | None:
    """`PATTERN A OVER 5 MINUTES`, where OVER was taken for an alias, or behind a condition."""
    at = next((o for o in (0, -1) if spot.word(o) == "OVER"), None)
    if at is None or spot.clause == "WITHIN" or not 0 <= spot.at + at + 1 < len(spot.tokens):
        return None
    if spot.tokens[spot.at + at + 1].kind != "NUMBER":
        return None
    cure = f"WITHIN {spot.text(at + 1)} {spot.text(at + 2)}".rstrip()
    return wrong(spot.span(at), "OVER is no clause of a query", "said in another way here", f"write `{cure}`", "WITHIN")
