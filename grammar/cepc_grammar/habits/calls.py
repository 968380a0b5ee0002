"""Calls in SQL with words between arguments: `position(x IN y)`, `trim(BOTH x FROM y)`, `overlay(x PLACING y FROM 2)`.

The forms that the grammar has, `substring(x FROM 2)` and `trim(x FROM y)`, do not come here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..spot import closing
from .common import closed_by, wrong

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..diagnostic import Diagnostic
    from ..raw_tokens import RawToken
    from ..spot import Spot

_WORDS: Final = {"POSITION": ("IN",), "TRIM": ("FROM",), "OVERLAY": ("PLACING", "FROM", "FOR")}
_TRIMS: Final = {"BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}


def words_for_commas(spot: Spot) -> Diagnostic | None:
    opened = spot.open_bracket
    if not opened or spot.tokens[opened - 1].upper not in _WORDS:
        return None
    function = spot.tokens[opened - 1].upper
    end = closed_by(spot.tokens, opened)
    parts = None if end is None else _parted(spot.tokens[opened + 1 : end], _WORDS[function])
    if end is None or parts is None or len(parts) < 2:
        return None
    commas = _trim(spot, parts) if function == "TRIM" else _call(spot, function.lower(), parts)
    cure = f"CAST({commas} AS STRING)" if function == "OVERLAY" else commas  # its type is not known otherwise
    span = spot.span(opened - 1 - spot.at, end - spot.at)
    label = "its arguments are separated by commas here"
    return wrong(span, f"a call of {function} with words", label, f"write `{cure}`")


def _parted(tokens: Sequence[RawToken], words: tuple[str, ...]) -> list[list[RawToken]] | None:
    """The tokens between the words, outside brackets within."""
    parts: list[list[RawToken]] = [[]]
    open_brackets: list[str] = []
    for token in tokens:
        if token.text in ("(", "["):
            open_brackets.append(closing(token.text))
        elif open_brackets and token.text == open_brackets[-1]:
            open_brackets.pop()
        if token.upper in words and not open_brackets:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts if all(parts[1:]) else None


def _trim(spot: Spot, parts: list[list[RawToken]]) -> str:
    """`BOTH x` and the text, of which BOTH and x may be missing."""
    first, text = parts[0], parts[1]
    function = _TRIMS.get(first[0].upper if first else "")
    characters = first if function is None else first[1:]
    return _call(spot, function or "trim", [characters, text] if characters else [text])


def _call(spot: Spot, function: str, parts: list[list[RawToken]]) -> str:
    return f"{function}({', '.join(spot.source.text[part[0].start : part[-1].end] for part in parts)})"
