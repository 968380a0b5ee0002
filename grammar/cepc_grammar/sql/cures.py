"""What to write where MATCH_RECOGNIZE, or the table before it, stops being understood: what people write who know the
language of this compiler, or another's SQL.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..ast import Name
from ..habits import calls, statements
from ..spelling import name_text
from ..tokens import string_value

if TYPE_CHECKING:
    from ..diagnostic import Diagnostic
    from ..spot import Spot

_CLAUSES: Final = ("PARTITION", "ORDER", "MEASURES", "ONE", "ALL", "AFTER", "PATTERN", "WITHIN", "SUBSET", "DEFINE")
_IN_ORDER: Final = (
    "the clauses stand in this order: PARTITION BY, ORDER BY, MEASURES, ONE ROW PER MATCH or ALL ROWS PER MATCH, AFTER"
    " MATCH, PATTERN, WITHIN, SUBSET, DEFINE"
)
_UNITS: Final = ("SECOND", "MINUTE", "HOUR", "DAY")


def habit(spot: Spot) -> Diagnostic | None:
    """What a mistake in an expression is that programs of this compiler know as well."""
    found = calls.words_for_commas(spot)
    if found is None and spot.token is not None and spot.token.kind == "UNKNOWN":
        found = statements.unknown_character(spot)
    return None if found is None else replace(found, code="E0951")


def cure(spot: Spot) -> str:
    """What to write there, or around it; "" where nobody knows."""
    text, word, expected = spot.text, spot.word(), spot.expected
    end, clause = spot.word(-2), _clause(spot)
    if end in ("FINAL", "RUNNING") and text(0) == ".":
        return f"write `{end} LAST({text(-1)}.{text(1)})`"
    if word == "EVENT" and "ROW" in expected:
        return "write ROW"
    if clause == "WITHIN" and (unit := word.removesuffix("S")) in _UNITS and end == "WITHIN":
        return f"write `WITHIN INTERVAL '{text(-1)}' {unit}`"
    if clause == "PATTERN" and text(0) == ",":
        return "rows that follow each other have no comma between them: `A B+`"
    if clause == "PATTERN" and text(0) == "-" and text(-2) == "{":
        return f"write `{{{text(-1)},{text(1)}}}`"
    if clause == "DEFINE" and text(0) == "=" and "AS" in expected:
        return f"write `{text(-1)} AS …`"
    if word == "FILTER" and text(-1) == ")" and text(1) == "(":
        return "write `COUNT(CASE WHEN condition THEN 1 END)`, or another aggregate of such a CASE"
    if word == "OVER" and text(-1) == ")":
        return "compute it in what the clause is over: `(SELECT *, … OVER (…) AS name FROM table)`"
    if spot.word(-1) == "SELECT" and text(-2) == "(":
        return "write MATCH_RECOGNIZE over a query that joins it: `(SELECT t.*, q.x FROM table t, (SELECT …) q)`"
    if text(0).startswith('"') and "NAME" in expected:
        name = name_text(Name(string_value(text(0))))
        return f"double quotes are of texts, as in Spark: write {name if name.startswith('`') else f'`{name}`'}"
    if "AS" in expected and clause == "MEASURES":
        return "a measure has a name: `… AS name`"
    if spot.word(-2) == "WATERMARK" and spot.word(-1) == "FOR":
        return "leave `WATERMARK FOR …` out: a clause is over rows that are there, in the order of its ORDER BY"
    if word == "WITH" and "USING" in expected:
        return "a table is of files: `USING csv OPTIONS (header 'true') LOCATION 'events.csv'`"
    another = not expected.isdisjoint((*_CLAUSES, "RPAR"))
    if word in _CLAUSES and word not in expected and another and _is_between_clauses(spot):
        return _IN_ORDER
    return ""


def _clause(spot: Spot) -> str:
    """The clause that stands before the place."""
    return next((token.upper for token in reversed(spot.tokens[: spot.at]) if token.upper in _CLAUSES), "")


def _is_between_clauses(spot: Spot) -> bool:
    """Whether the place is in no parentheses but those of MATCH_RECOGNIZE."""
    opened = spot.open_bracket
    return opened is not None and spot.tokens[opened - 1].upper == "MATCH_RECOGNIZE"
