"""Brackets that are not closed, and those that close nothing."""

from __future__ import annotations

from ..diagnostic import Diagnostic, Label
from ..source import Span
from ..spot import Spot, closing
from .common import CLAUSE_STARTS, wrong


def unclosed_bracket(spot: Spot) -> Diagnostic | None:
    """The statement ends, or another clause begins, while a bracket is open."""
    bracket = spot.open_bracket
    if bracket is None:
        return None
    for offset in (0, -1):
        index = spot.at + offset
        word = spot.word(offset)
        begins = word in CLAUSE_STARTS and index < len(spot.tokens) and spot.tokens[index].first_on_line
        begins = begins or (spot.tokens[bracket].text == "[" and word in ("AND", "OR"))
        if begins or (offset == 0 and spot.at_end):
            return not_closed(spot, bracket, index, f"before {word}" if begins else "before the end of the statement")
    return None


def not_closed(spot: Spot, bracket: int, before: int, what: str) -> Diagnostic:
    """Of the bracket at that index, which ends at the latest before the token at another, in words `what`."""
    opened, last = spot.tokens[bracket], spot.tokens[min(before, len(spot.tokens)) - 1]
    span = Span(opened.start, opened.end, spot.source.name)
    end = Span(last.end - 1, last.end, spot.source.name)
    label = f"`{closing(opened.text)}` is missing {what}"
    return Diagnostic(
        "E0101", f"`{opened.text}` is not closed", span, label, others=(Label(end, "at the latest here"),)
    )


def closes_nothing(spot: Spot) -> Diagnostic | None:
    if spot.text() in (")", "]", "}") and spot.open_bracket is None:
        return wrong(spot.span(), f"`{spot.text()}` closes nothing", "no bracket is open here", "remove it")
    return None
