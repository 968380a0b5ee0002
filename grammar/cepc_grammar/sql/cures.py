"""What to write where MATCH_RECOGNIZE stops being understood: what people write who know the language of this compiler,
or another's SQL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ..raw_tokens import RawToken

_CLAUSES: Final = ("PARTITION", "ORDER", "MEASURES", "ONE", "ALL", "AFTER", "PATTERN", "WITHIN", "SUBSET", "DEFINE")
_IN_ORDER: Final = (
    "the clauses stand in this order: PARTITION BY, ORDER BY, MEASURES, ONE ROW PER MATCH or ALL ROWS PER MATCH, AFTER"
    " MATCH, PATTERN, WITHIN, SUBSET, DEFINE"
)
_UNITS: Final = ("SECOND", "MINUTE", "HOUR", "DAY")


def cure(tokens: Sequence[RawToken], at: int, expected: Collection[str]) -> str:
    """What to write for token `at`, or around it; "" where nobody knows."""

    def text(offset: int) -> str:
        return tokens[at + offset].text if 0 <= at + offset < len(tokens) else ""

    end, clause = text(-2).upper(), _clause(tokens, at)
    if end in ("FINAL", "RUNNING") and text(0) == ".":
        return f"write `{end} LAST({text(-1)}.{text(1)})`"
    if text(0).upper() == "EVENT" and "ROW" in expected:
        return "write ROW"
    if clause == "WITHIN" and (unit := text(0).upper().removesuffix("S")) in _UNITS and text(-2).upper() == "WITHIN":
        return f"write `WITHIN INTERVAL '{text(-1)}' {unit}`"
    if clause == "PATTERN" and text(0) == ",":
        return "rows that follow each other have no comma between them: `A B+`"
    if clause == "PATTERN" and text(0) == "-" and text(-2) == "{":
        return f"write `{{{text(-1)},{text(1)}}}`"
    if clause == "DEFINE" and text(0) == "=" and "AS" in expected:
        return f"write `{text(-1)} AS …`"
    if "AS" in expected and clause == "MEASURES":
        return "a measure has a name: `… AS name`"
    if text(0).upper() in _CLAUSES and text(0).upper() not in expected and _is_open(tokens, at):
        return _IN_ORDER
    return ""


def _clause(tokens: Sequence[RawToken], at: int) -> str:
    """The clause that stands before the place."""
    return next((token.upper for token in reversed(tokens[:at]) if token.upper in _CLAUSES), "")


def _is_open(tokens: Sequence[RawToken], at: int) -> bool:
    """Whether the place is in no parentheses but those of MATCH_RECOGNIZE, where clauses begin."""
    return sum((token.text == "(") - (token.text == ")") for token in tokens[:at]) == 1
