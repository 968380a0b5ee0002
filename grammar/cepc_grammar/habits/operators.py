"""Operators that other languages have between values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .common import wrong

if TYPE_CHECKING:
    from ..diagnostic import Diagnostic
    from ..spot import Spot

_OPERATORS: Final = {"=<": "<=", "=>": ">=", "=!": "<>", "><": "<>", "~": "RLIKE"}
_WORD_OPERATORS: Final = {"MOD": "%", "MATCHES": "RLIKE"}
_CALLS: Final = {"CONTAINS": "contains", "STARTSWITH": "startswith", "ENDSWITH": "endswith"}
"""Words that stand between two texts elsewhere, and are functions here."""

_CONDITIONS: Final = ("WHERE", "HAVING", "RETURN")


def operator(spot: Spot) -> Diagnostic | None:
    """`a =< b`, `a => b`, `a MOD 2`, `a ~ 'x'`, `a MATCHES 'x'`."""
    if spot.clause not in _CONDITIONS:
        return None
    for first in (0, -1):
        if first == -1 and spot.span(-1).end != spot.span().start:
            continue
        span = spot.span(first, 0)
        written = spot.source.text[span.start : span.end]
        cure = _OPERATORS.get(written) or (_WORD_OPERATORS.get(written.upper()) if first == 0 else None)
        if cure is not None:
            return wrong(span, f"`{written}` is no operator", "said in another way here", f"write `{cure}`", cure)
    return None


def call(spot: Spot) -> Diagnostic | None:
    """`a.name CONTAINS 'x'`, `a.x ?? 0`, `a.x ?: 0`."""
    if spot.clause not in _CONDITIONS:
        return None
    mark = spot.text() + spot.text(1)
    if mark in ("??", "?:") and spot.span().end == spot.span(1).start:
        function, last, written = "COALESCE", 1, mark
    elif spot.word() in _CALLS and not spot.at_end:
        function, last, written = _CALLS[spot.word()], 0, spot.text()
    else:
        return None
    first, end = _operand_before(spot), _operand_behind(spot, last + 1)
    title, label = f"`{written}` is no operator", "a function does this here"
    if first is None or end is None:
        return wrong(spot.span(0, last), title, label, f"write `{function}(x, y)`")
    text, tokens = spot.source.text, spot.tokens
    before = text[tokens[spot.at + first].start : tokens[spot.at - 1].end]
    behind = text[tokens[spot.at + last + 1].start : tokens[spot.at + end].end]
    cure = f"{function}({before}, {behind})"
    return wrong(spot.span(first, end), title, label, f"write `{cure}`", cure)


def _operand_before(spot: Spot) -> int | None:
    """How far from here the name before, with dots in it, begins."""
    first = -1
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
    """`a.name IN 'x'`."""
    if spot.word(-1) != "IN" or spot.token is None or spot.token.kind not in ("NUMBER", "STRING"):
        return None
    cure = f"({spot.text()})"
    label = "values stand in `( )` behind IN"
    return wrong(spot.span(), "IN without brackets", label, f"write `IN {cure}`", cure)


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
