"""Mistakes in SQL that are of more than the token at which the parser stops: each gets a diagnostic of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..diagnostic import Diagnostic

if TYPE_CHECKING:
    from ..spot import Spot

PARAMETER: Final = "a parameter"
COMMA_BEFORE_FROM: Final = "a comma before FROM"

_BEGINNINGS: Final = {
    "PARTITION": "BY", "ORDER": "BY", "MEASURES": "", "ONE": "ROW", "ALL": "ROWS", "AFTER": "MATCH", "PATTERN": "(",
    "WITHIN": "INTERVAL", "SUBSET": "", "DEFINE": "", "FROM": "",
}  # fmt: skip
"""Words of clauses, and what comes next, "" for any name."""

_OF_A_COLUMN: Final = frozenset(
    ["AUTO_INCREMENT", "CHECK", "CONSTRAINT", "DEFAULT", "GENERATED", "NULL", "PRIMARY", "REFERENCES", "UNIQUE"]
)
_OF_A_TABLE: Final = {"PRIMARY": "KEY", "FOREIGN": "KEY", "UNIQUE": "(", "CHECK": "(", "CONSTRAINT": ""}
"""Words of constraints that stand in the place of a column, and what comes next, "" for any name."""


def mistake(spot: Spot) -> Diagnostic | None:
    return _comma(spot) or _parameter(spot) or _constraint(spot)


def _comma(spot: Spot) -> Diagnostic | None:
    """Behind the last of a list. The parser may have taken the next clause for one more of it."""
    begin, end = _part(spot, spot.at + (spot.text() == ","))
    first = begin - spot.at
    if begin == 0 or spot.text(first - 1) != ",":
        return None
    word = spot.word(first)
    is_clause = _follows(spot, first, _BEGINNINGS) and (word in ("PATTERN", "FROM") or first >= -1)
    if not is_clause and (begin != end or spot.text() == ","):
        return None
    return Diagnostic(
        "E0951", f"a comma before {word or '`)`'}", spot.span(first - 1), "its list ends before this",
        hint="leave the comma out",
    )  # fmt: skip


def _parameter(spot: Spot) -> Diagnostic | None:
    is_named = spot.text() == ":" and spot.is_name(1)
    if "CASE" not in spot.expected or not (is_named or spot.text() == "?"):
        return None
    return Diagnostic(
        "E0951", PARAMETER, spot.span(0, int(is_named)), "nothing gives it a value", hint="write the value in its place"
    )


def _constraint(spot: Spot) -> Diagnostic | None:
    """What a database keeps of the columns of a table."""
    if spot.word(-spot.at) != "CREATE":
        return None
    begin, end = _part(spot, spot.at)
    first, cure = begin - spot.at, "leave it out, and the comma before it"
    if not _follows(spot, first, _OF_A_TABLE):
        if spot.word() not in _OF_A_COLUMN:
            return None
        first, cure = 0, "leave it out"
        if spot.word() == "DEFAULT":
            value = spot.source.text[spot.tokens[spot.at].end : spot.tokens[end - 1].end].strip()
            cure += f", and write `COALESCE({spot.text(begin - spot.at)}, {value})` where a value may be missing"
    return Diagnostic(
        "E0951", f"{spot.word(first)}{' KEY' * (spot.word(first + 1) == 'KEY')} in CREATE TABLE",
        spot.span(first, end - 1 - spot.at), "the rows of files are taken as they are", hint=cure,
    )  # fmt: skip


def _follows(spot: Spot, place: int, words: dict[str, str]) -> bool:
    """Whether one of the words stands in a place, and behind it what comes next."""
    following = words.get(spot.word(place))
    return following == "" or (following is not None and following in (spot.word(place + 1), spot.text(place + 1)))


def _part(spot: Spot, at: int) -> tuple[int, int]:
    """From where to where the part of a list goes that has a place: a list in no parentheses but those of the clause,
    or of the columns of a table.
    """
    own, depth, begin = int(spot.word(-spot.at) != "SELECT"), 0, 0
    for place, token in enumerate(spot.tokens):
        separates = token.text == "," and depth == own
        if token.text == ")":
            separates = depth == own
            depth -= 1
        elif token.text == "(":
            depth += 1
            separates = depth == own
        if separates and place >= at:
            return begin, place
        if separates:
            begin = place + 1
    return begin, len(spot.tokens)
