"""Habits that show in a query's clauses and their conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..diagnostic import Diagnostic
from .common import wrong

if TYPE_CHECKING:
    from ..spot import Spot

_SQL_CLAUSES = frozenset({"ORDER", "LIMIT", "JOIN", "UNION", "PARTITION", "OFFSET", "DISTRIBUTE", "CLUSTER", "SORT"})
# What other engines call the ways to select.
_STRATEGIES = {
    "STRICT": "CONTIGUOUS", "STRICT_CONTIGUITY": "CONTIGUOUS", "CONTIGUITY": "CONTIGUOUS", "SKIP_TILL_NEXT": "NEXT",
    "SKIP_TILL_NEXT_MATCH": "NEXT", "RELAXED": "NEXT", "SKIP_TILL_ANY": "ANY", "SKIP_TILL_ANY_MATCH": "ANY",
    "ALL": "ANY",
}  # fmt: skip


def other_language(spot: Spot) -> Diagnostic | None:
    for offset in (0, -1):
        if spot.word(offset) == "ON" and spot.clause() == "PATTERN":
            return wrong(
                spot.span(offset), "ON is no clause of a query", "cannot stand here", "conditions stand in WHERE"
            )
    return None


def select(spot: Spot) -> Diagnostic | None:
    if spot.word() == "OVER" and spot.text(-1) == ")":
        return Diagnostic(
            "E0112", "window functions are not allowed", spot.span(), "no OVER in a query",
            notes=("a query's windows are given by WITHIN and SLIDE, and hold for the whole query",),
        )  # fmt: skip
    for offset in (0, -1, 1):
        if spot.word(offset) == "SELECT" and spot.text(offset - 1) == "(":
            span = spot.span(offset)
            return Diagnostic(
                "E0112", "subqueries are not allowed", span, "an expression sees the events of one match only"
            )
    if spot.word(-1) == "SELECT" and spot.word() in _STRATEGIES:
        hint = f"write `SELECT {_STRATEGIES[spot.word()]}`"
        return wrong(spot.span(), f"`{spot.text()}` is no selection", "ANY, NEXT or CONTIGUOUS is expected", hint)
    if "SELECT" in (spot.word(), spot.word(-1)):
        span = spot.span(0 if spot.word() == "SELECT" else -1)
        hint = "what a row shows stands in RETURN"
        return wrong(span, "SELECT in the wrong place", "SELECT chooses ANY, NEXT or CONTIGUOUS", hint)
    return None


def distinct_rows(spot: Spot) -> Diagnostic | None:
    """`RETURN DISTINCT id`, where DISTINCT was taken for a column."""
    if spot.word(-1) != "DISTINCT" or spot.word(-2) not in ("RETURN", "MATCH"):
        return None
    aggregate = spot.word(-2) == "RETURN"
    note = (
        "matches are counted and summed without being listed, so that equal values are not found"
        if aggregate
        else "each match has a row, also where rows are equal"
    )
    hint = "remove DISTINCT" + ("" if aggregate else ", and leave out equal rows where they are read")
    return Diagnostic(
        "E0101", "DISTINCT in RETURN", spot.span(-1), "rows are not compared with each other", notes=(note,),
        hint=hint, replacement="",
    )  # fmt: skip


def sql_clause(spot: Spot) -> Diagnostic | None:
    """ORDER BY and others, whose first word may have been taken for an alias."""
    for offset in (0, -1):
        word = spot.word(offset)
        two = spot.word(offset + 1) == "BY"
        starts_line = word != "" and spot.tokens[spot.at + offset].first_on_line
        if word in _SQL_CLAUSES and (two or starts_line):
            shown = f"{word} BY" if two else word
            hint = ""
            if word == "SORT":
                hint = "remove it: result rows have no order"
            elif word == "LIMIT":
                hint = "remove it; `cepc run --limit` shows fewer rows"
            span = spot.span(offset, offset + 1 if two else offset)
            return wrong(span, f"{shown} is no clause of a query", "cannot stand here", hint)
    return None


def slide_alone(spot: Spot) -> Diagnostic | None:
    offset = next((o for o in (0, -1) if spot.word(o) == "SLIDE"), None)
    if offset is None or spot.clause() in ("WITHIN", "WINDOW"):
        return None
    hint = "write `WITHIN 20 MINUTES SLIDE 5 MINUTES`, say"
    return wrong(spot.span(offset), "SLIDE without WITHIN", "SLIDE requires WITHIN before it", hint)


def duration(spot: Spot) -> Diagnostic | None:
    """Anything but a number and a unit behind WITHIN, SLIDE, WINDOW or WATERMARK."""
    words = ("WITHIN", "SLIDE", "WINDOW", "WATERMARK")
    direct = spot.word(-1) in words and "NUMBER" in spot.expected
    clock = spot.text() == ":" and spot.word(-2) in words
    if not direct and not clock:
        return None
    word = spot.word(-1) if direct else spot.word(-2)
    hint = "a duration is a number and a unit: `20 MINUTES`, `500 ms`"
    if spot.at_end:
        return wrong(spot.span(-1), "a duration is missing", f"{word} requires a duration", hint)
    return wrong(spot.span(0 if direct else -1), "this is no duration", f"{word} requires a duration", hint)


def conjunction(spot: Spot) -> Diagnostic | None:
    """Conditions joined by `,`, `&&` or `&`."""
    if spot.clause() not in ("WHERE", "HAVING"):
        return None
    hint = "write AND"
    if spot.text() == "&" and spot.text(-1) == "&":
        return wrong(spot.span(-1, 0), "`&&` cannot stand here", "no operator of the language", hint)
    if spot.text() == "," and spot.open_bracket() is None:
        return wrong(spot.span(), "`,` between conditions", "conditions are joined by AND", hint)
    return None


def joined_twice(spot: Spot) -> Diagnostic | None:
    """`a AND AND b`, `WHERE AND b`, where the second word was taken for a column."""
    last = -2 if spot.word(-1) == "NOT" else -1
    first = spot.word(last - 1)
    if spot.word(last) not in ("AND", "OR") or first not in ("AND", "OR", "WHERE", "HAVING"):
        return None
    text = spot.text(last)
    label = f"behind `{spot.text(last - 1)}` a condition is expected"
    return wrong(spot.span(last), f"`{text}` cannot stand here", label, f"remove `{text}`", "")


def group_by(spot: Spot) -> Diagnostic | None:
    """`GROUP BY upper(x)`, `GROUP BY 1`."""
    if spot.clause() != "GROUP" or spot.token is None:
        return None
    if spot.text() == "(" and spot.is_name(-1):
        span, what = spot.span(-1, 0), "an expression"
    elif spot.token.kind in ("NUMBER", "STRING"):
        span, what = spot.span(), f"a {spot.token.kind.lower()}"
    else:
        return None
    hint = "a computed value can be a column of the STREAM, `hour AS HOUR(at)`: then `GROUP BY hour`"
    return wrong(span, f"GROUP BY of {what}", "GROUP BY requires columns", hint)


def star_of_variable(spot: Spot) -> Diagnostic | None:
    if spot.text() != "*" or spot.text(-1) != ".":
        return None
    hint = "name the columns, or write `RETURN MATCH *` for all events of a match"
    return wrong(spot.span(-2, 0), "`*` behind a variable", "a column is expected", hint)
