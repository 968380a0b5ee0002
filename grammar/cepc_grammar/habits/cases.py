"""Values that depend on a condition, as other languages write them, and a CASE without its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .common import CLAUSE_STARTS, CONDITIONS, closed_by, wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ..diagnostic import Diagnostic
    from ..spot import Spot


def question(spot: Spot) -> Diagnostic | None:
    """`a.x > 3 ? 'high' : 'low'`."""
    if spot.text() != "?" or spot.text(1) in ("?", ":") or spot.clause not in CONDITIONS:
        return None
    return _as_case(spot, ":", lambda before, behind: (before, behind))


def if_else(spot: Spot) -> Diagnostic | None:
    """`'high' if a.x > 3 else 'low'`."""
    is_python = spot.word() == "IF" and spot.clause in CONDITIONS and spot.text(1) != "("
    return _as_case(spot, "ELSE", lambda before, behind: (behind, before)) if is_python else None


def unfinished(spot: Spot) -> Diagnostic | None:
    """`CASE WHEN a.x > 3 THEN 'high' ELSE 'low'`."""
    if "END" not in spot.expected or "WHEN" in spot.expected:
        return None
    if not (spot.at_end or spot.text() in (")", ",") or spot.word() in ("AS", *CLAUSE_STARTS)):
        return None
    return wrong(spot.span(), "END is missing", "a CASE is still open here", "write `END` where the last value ends")


def _as_case(spot: Spot, word: str, order: Callable[[str, str], tuple[str, str]]) -> Diagnostic:
    """What is written with the mark here and the `word` behind it, as CASE; `order` gives condition and value, of what
    is before the mark and behind it.
    """
    title, label = f"`{spot.text()}` is no operator", "said in another way here"
    middle = _ends(spot, spot.at + 1, (word,))
    end = None if middle is None else _ends(spot, middle + 1, ("AS", ",", *CLAUSE_STARTS))
    start = _begins(spot)
    if middle is None or end is None or start is None:
        return wrong(spot.span(), title, label, "write `CASE WHEN condition THEN x ELSE y END`")
    text, tokens = spot.source.text, spot.tokens
    before, behind, last = (
        text[tokens[first].start : tokens[behind - 1].end]
        for first, behind in ((start, spot.at), (spot.at + 1, middle), (middle + 1, end))
    )
    condition, value = order(before, behind)
    cure = f"CASE WHEN {condition} THEN {value} ELSE {last} END"
    return wrong(spot.span(start - spot.at, end - 1 - spot.at), title, label, f"write `{cure}`", cure)


def _begins(spot: Spot) -> int | None:
    """The token with which the expression before here begins; None where it may be a part of a longer condition."""
    if spot.open_bracket is not None:
        return spot.open_bracket + 1
    if spot.clause != "RETURN":
        return None
    start = spot.at
    while spot.tokens[start - 1].text != "," and spot.tokens[start - 1].upper not in ("RETURN", "MATCH", "EACH"):
        start -= 1
    return start


def _ends(spot: Spot, start: int, words: Collection[str]) -> int | None:
    """The first token from there on that is one of the words. Of several, also what closes a bracket that is open
    there, or the end of the statement. None where there is none, or no token before it.
    """
    end = start
    while end < len(spot.tokens):
        token = spot.tokens[end]
        if token.text in (")", "]") or (token.upper or token.text) in words:
            break
        closed = closed_by(spot.tokens, end) if token.text in ("(", "[") else end
        end = len(spot.tokens) if closed is None else closed + 1
    stands = end < len(spot.tokens) and (spot.tokens[end].upper or spot.tokens[end].text) in words
    return end if end > start and (stands or len(words) > 1) else None
