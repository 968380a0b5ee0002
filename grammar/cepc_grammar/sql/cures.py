"""What to write where MATCH_RECOGNIZE, or the table before it, stops being understood: what people write who know the
language of this compiler, or another's SQL.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..ast import Name
from ..habits import calls, statements
from ..near import nearest
from ..spelling import name_text
from ..tokens import string_value
from .mistakes import mistake

if TYPE_CHECKING:
    from ..diagnostic import Diagnostic
    from ..spot import Spot

CLAUSES: Final = ("PARTITION", "ORDER", "MEASURES", "ONE", "ALL", "AFTER", "PATTERN", "WITHIN", "SUBSET", "DEFINE")
_IN_ORDER: Final = (
    "the clauses stand in this order: PARTITION BY, ORDER BY, MEASURES, ONE ROW PER MATCH or ALL ROWS PER MATCH, AFTER"
    " MATCH, PATTERN, WITHIN, SUBSET, DEFINE"
)
_WORDS: Final = (
    "BY", "ROW", "ROWS", "PER", "MATCH", "SHOW", "OMIT", "EMPTY", "MATCHES", "UNMATCHED", "SKIP", "PAST", "LAST",
    "NEXT", "FIRST", "USING", "OPTIONS", "LOCATION", "COMMENT",
)  # fmt: skip
_UNITS: Final = ("SECOND", "MINUTE", "HOUR", "DAY")


_FOR_AS: Final = ("=", "==", "=>", ":")
_OF_WINDOWS: Final = {
    "SEEK": "leave it out, as it is of patterns of a WINDOW: a match may begin with any row here",
    "INITIAL": "leave it out, and write `^` first in PATTERN for a match that begins with the first row",
}


def habit(spot: Spot) -> Diagnostic | None:
    """What a mistake in an expression is that programs of this compiler know as well."""
    found = calls.words_for_commas(spot)
    if found is None and spot.token is not None and spot.token.kind == "UNKNOWN":
        found = statements.unknown_character(spot)
    return mistake(spot) if found is None else replace(found, code="E0951")


def misspelt(spot: Spot) -> str | None:
    """The keyword that a word was meant to be."""
    if spot.token is None or spot.token.kind != "WORD" or spot.word() in CLAUSES:
        return None
    return nearest(spot.word(), [word for word in (*CLAUSES, *_WORDS) if word in spot.expected])


def cure(spot: Spot) -> str:
    """What to write there, or around it; "" where nobody knows."""
    return _of_an_expression(spot) or _of_a_clause(spot) or _of_a_table(spot) or _of_the_order(spot)


def _of_an_expression(spot: Spot) -> str:
    text, word = spot.text, spot.word()
    if (end := spot.word(-2)) in ("FINAL", "RUNNING") and text(0) == ".":
        return f"write `{end} LAST({text(-1)}.{text(1)})`"
    if text(0) == "=>" and "EQUAL" in spot.expected:
        return "write `>=`"
    if word == "FILTER" and text(-1) == ")" and text(1) == "(":
        return "write `COUNT(CASE WHEN condition THEN 1 END)`, or another aggregate of such a CASE"
    if word == "OVER" and text(-1) == ")":
        return "compute it in what the clause is over: `(SELECT *, … OVER (…) AS name FROM table)`"
    if spot.word(-1) == "SELECT" and text(-2) == "(":
        return "write MATCH_RECOGNIZE over a query that joins it: `(SELECT t.*, q.x FROM table t, (SELECT …) q)`"
    if text(0).startswith('"') and "NAME" in spot.expected:
        name = name_text(Name(string_value(text(0))))
        return f"double quotes are of texts, as in Spark: write {name if name.startswith('`') else f'`{name}`'}"
    return ""


def _of_a_clause(spot: Spot) -> str:
    text, word, expected, clause = spot.text, spot.word(), spot.expected, _clause(spot)
    if "ROW" in expected and word in ("EVENT", "PATTERN"):
        return "write ROW" if word == "EVENT" else f"write `{spot.word(-2)} {spot.word(-1)} ROW`"
    if word in _OF_WINDOWS:
        return _OF_WINDOWS[word]
    if clause == "WITHIN" and spot.word(-2) == "WITHIN" and (unit := word.removesuffix("S")) in _UNITS:
        number = text(-1).strip("'")
        return f"write `WITHIN INTERVAL '{number}' {unit}`"
    if clause == "PATTERN" and text(0) == ",":
        return "rows that follow each other have no comma between them: `A B+`"
    if clause == "PATTERN" and text(0) == "-" and text(-2) == "{":
        return f"write `{{{text(-1)},{text(1)}}}`"
    if clause == "DEFINE" and "AS" in expected:
        is_about = spot.is_name(0) or text(0) in _FOR_AS
        return f"write `{text(-1)} AS …`" if is_about else "write the variable before its condition: `variable AS …`"
    if clause == "MEASURES" and "AS" in expected:
        is_called = spot.is_name(0) and word not in CLAUSES
        return f"write `AS {text(0)}`" if is_called else "a measure has a name: `… AS name`"
    return ""


def _of_a_table(spot: Spot) -> str:
    if spot.word(-2) == "WATERMARK" and spot.word(-1) == "FOR":
        return "leave `WATERMARK FOR …` out: a clause is over rows that are there, in the order of its ORDER BY"
    if spot.word() == "WITH" and "USING" in spot.expected:
        return "a table is of files: `USING csv OPTIONS (header 'true') LOCATION 'events.csv'`"
    return ""


def _of_the_order(spot: Spot) -> str:
    word, expected = spot.word(), spot.expected
    another = not expected.isdisjoint((*CLAUSES, "RPAR"))
    return _IN_ORDER if word in CLAUSES and word not in expected and another and _is_between_clauses(spot) else ""


def _clause(spot: Spot) -> str:
    """The clause that stands before the place."""
    return next((token.upper for token in reversed(spot.tokens[: spot.at]) if token.upper in CLAUSES), "")


def _is_between_clauses(spot: Spot) -> bool:
    """Whether the place is in no parentheses but those of MATCH_RECOGNIZE."""
    opened = spot.open_bracket
    return opened is not None and spot.tokens[opened - 1].upper == "MATCH_RECOGNIZE"
