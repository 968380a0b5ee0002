"""The sentences for a token that cannot stand where it stands.

First come the habits of other languages, which have sentences of their own (`habits/`); then one token added, changed
or left out, where that makes the statement parse (`repair.py`); else what the parser would accept (`expected.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .diagnostic import Diagnostic
from .expected import in_words
from .habits import HABITS, shown_text
from .repair import Repair, find_repair
from .source import Source, Span
from .spot import Spot

if TYPE_CHECKING:
    from .raw_tokens import RawToken
    from .repair import ReachOfTokens
    from .statements import StatementTokens

_MARKS = {"COMMA": ",", "AS": "AS", "AND": "AND"}


def missing_semicolon(source: Source, before: RawToken, after: RawToken) -> Diagnostic:
    return Diagnostic(
        "E0104",
        f"`;` is missing before {after.upper}",
        Span(before.end - 1, before.end, source.name),
        "the statement ends here",
        hint="end each statement with `;`",
        replacement=f"{source.text[before.end - 1 : before.end]};",
    )


def unexpected(
    source: Source, piece: StatementTokens, at: int, expected: frozenset[str], reach: ReachOfTokens
) -> Diagnostic:
    """The diagnostic for token `at` of a statement (one past the end: it ends too early).

    `expected` is what the parser accepts there, `reach` how far it gets through other tokens.
    """
    spot = Spot(source, piece.tokens, at, expected)
    for habit in HABITS:
        if (found := habit(spot)) is not None:
            return found
    words = frozenset(_MARKS[name] for name in expected & set(_MARKS))
    repair = find_repair(piece.tokens, at, words, reach)
    if repair is not None:
        return _repaired(spot, repair)
    if spot.at_end:
        span = spot.span()
        return Diagnostic("E0101", "the statement ends too early", span, f"{in_words(expected)} is expected after this")
    title = f"`{shown_text(spot.text())}` cannot stand here"
    return Diagnostic("E0101", title, spot.span(), f"{in_words(expected)} is expected")


def _repaired(spot: Spot, repair: Repair) -> Diagnostic:
    offset = repair.at - spot.at
    written, span = spot.text(offset), spot.span(offset)
    text = shown_text(written)
    if not repair.text:
        return Diagnostic(
            "E0101", f"`{text}` cannot stand here", span, "not expected", hint=f"remove `{text}`", replacement=""
        )
    if not repair.inserted:
        hint = f"did you mean `{repair.text}`?"
        return Diagnostic(
            "E0101", f"`{text}` is no keyword", span, "a keyword is expected", hint=hint, replacement=repair.text
        )
    title = f"`{repair.text}` is missing before `{text}`"
    if repair.text == "AS":
        hint = f"write `AS {text}`, or a comma before it if it is another column"
        return Diagnostic("E0101", title, span, "an alias requires AS", hint=hint, replacement=f"AS {written}")
    label = "elements of a list are separated by commas" if repair.text == "," else "conditions are joined by AND"
    hint = f"write `{repair.text} {text}`" if repair.text != "," else ""
    return Diagnostic("E0101", title, span, label, hint=hint, replacement=f"{repair.text} {written}")
