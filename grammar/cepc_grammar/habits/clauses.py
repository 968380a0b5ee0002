"""Habits that show in a query's clauses and their conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ast import Duration
from ..diagnostic import Diagnostic
from ..near import nearest
from ..spelling import duration_text
from ..units import UNITS
from .common import CLAUSE_STARTS, closed_by, wrong

if TYPE_CHECKING:
    from ..ast import Unit
    from ..spot import Spot

_SQL_CLAUSES = frozenset({"ORDER", "LIMIT", "JOIN", "UNION", "PARTITION", "OFFSET", "DISTRIBUTE", "CLUSTER", "SORT"})
# What other engines call the ways to select.
_STRATEGIES = {
    "STRICT": "CONTIGUOUS", "STRICT_CONTIGUITY": "CONTIGUOUS", "CONTIGUITY": "CONTIGUOUS", "SKIP_TILL_NEXT": "NEXT",
    "SKIP_TILL_NEXT_MATCH": "NEXT", "RELAXED": "NEXT", "SKIP_TILL_ANY": "ANY", "SKIP_TILL_ANY_MATCH": "ANY",
    "ALL": "ANY",
}  # fmt: skip


_SELECTIONS = ("ANY", "CONTIGUOUS", "NEXT")
_SELECT_LABEL = "ANY, NEXT or CONTIGUOUS is expected"


def other_language(spot: Spot) -> Diagnostic | None:
    for offset in (0, -1):
        if spot.word(offset) == "ON" and spot.clause == "PATTERN":
            return wrong(
                spot.span(offset), "ON is no clause of a query", "cannot stand here", "conditions stand in WHERE"
            )
    return None


def select(spot: Spot) -> Diagnostic | None:
    if spot.word() == "OVER" and (spot.text(-1) == ")" or _ends_with_over(spot)):
        return Diagnostic(
            "E0112", "window functions are not allowed", spot.span(), "no OVER in a query",
            notes=("a query's windows are given by WITHIN, SLIDE and OFFSET, and hold for the whole query",),
            hint="leave OVER out: an aggregate is of the events of a match, `LAG(v.x)` of those that agree on `[ ]`",
        )  # fmt: skip
    for offset in (0, -1, 1):
        if spot.word(offset) == "SELECT" and spot.text(offset - 1) == "(":
            span = spot.span(offset)
            return Diagnostic(
                "E0112", "subqueries are not allowed", span, "an expression sees the events of one match only"
            )
    if spot.word(-1) == "SELECT" and (named := _strategy(spot)) is not None:
        strategy, last = named
        span = spot.span(0, last)
        shown = spot.written(span)
        return wrong(span, f"`{shown}` is no selection", _SELECT_LABEL, f"write `SELECT {strategy}`", strategy)
    near = nearest(spot.word(), _SELECTIONS) if spot.word(-1) == "SELECT" else None
    if near is not None:
        hint = f"did you mean `{near}`?"
        return wrong(spot.span(), f"`{spot.text()}` is no selection", _SELECT_LABEL, hint, near)
    if "SELECT" in (spot.word(), spot.word(-1)):
        span = spot.span(0 if spot.word() == "SELECT" else -1)
        hint = "what a row shows stands in RETURN"
        return wrong(span, "SELECT in the wrong place", "SELECT chooses ANY, NEXT or CONTIGUOUS", hint)
    return None


def _ends_with_over(spot: Spot) -> bool:
    """Whether nothing follows OVER that would make a column of it."""
    return spot.clause in ("WHERE", "HAVING", "RETURN") and (spot.word(1) in CLAUSE_STARTS or not spot.text(1))


def _strategy(spot: Spot) -> tuple[str, int] | None:
    """What the words here call a way to select, `SKIP TILL NEXT MATCH` and `skip-till-next-match` too, and how far from
    here they end.
    """
    words, found, offset = list[str](), None, 0
    while spot.word(offset) or spot.text(offset) == "-":
        words += [spot.word(offset)] if spot.word(offset) else []
        if (strategy := _STRATEGIES.get("_".join(words))) is not None:
            found = (strategy, offset)
        offset += 1
    return found


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
        number = word in ("LIMIT", "OFFSET") and spot.at + offset + 1 < len(spot.tokens)
        counted = number and spot.tokens[spot.at + offset + 1].kind == "NUMBER"
        if word == "OFFSET" and _is_time(spot, offset + 1):
            continue  # of windows
        if word in _SQL_CLAUSES and (two or starts_line or counted):
            shown = f"{word} BY" if two else word
            hint = ""
            if word == "SORT":
                hint = "remove it: result rows have no order"
            elif word == "LIMIT":
                hint = "remove it; `cepc run --limit` shows fewer rows"
            span = spot.span(offset, offset + 1 if two else offset)
            return wrong(span, f"{shown} is no clause of a query", "cannot stand here", hint)
    return None


def _is_time(spot: Spot, at: int) -> bool:
    """Whether a number and a unit stand there, perhaps behind a sign."""
    at += spot.text(at) in ("-", "+")
    return spot.word(at + 1).lower() in UNITS


def labels(spot: Spot) -> Diagnostic | None:
    """WITH behind a clause, and labels that are no texts."""
    first, name = spot.tokens[0].upper, spot.tokens[1].text if len(spot.tokens) > 1 else ""
    if first != "QUERY":
        return None
    if spot.word() == "WITH" and spot.at > 2:
        hint = f"write it behind the name of the query: `QUERY {name} WITH (severity = 'high')`"
        return wrong(spot.span(), "WITH in the wrong place", "labels stand behind the query's name", hint)
    if len(spot.tokens) > 2 and spot.tokens[2].upper == "WITH" and spot.text(-1) == "=" and spot.clause == "":
        text = spot.text()
        if text and spot.tokens[spot.at].kind in ("NUMBER", "WORD"):
            shown = f"'{text}'"
            return wrong(spot.span(), "a label is a text", "no text in quotes", f"write `{shown}`", shown)
    return None


def session(spot: Spot) -> Diagnostic | None:
    """`WITHIN SESSION(10 MINUTES)`, `WITHIN 10 MINUTES SESSION`."""
    called = spot.text() == "(" and spot.word(-1) == "SESSION"
    if spot.clause not in ("WITHIN", "WINDOW") or not (called or spot.word() == "SESSION"):
        return None
    number, unit = (1, 2) if called else (-2, -1)
    length = f"{spot.text(number)} {spot.text(unit)}" if spot.word(unit).lower() in UNITS else "10 MINUTES"
    span = spot.span(-1, 0) if called else spot.span()
    return wrong(span, "SESSION in another form", "a duration stands behind it", f"write `WITHIN SESSION {length}`")


def outside_within(spot: Spot) -> Diagnostic | None:
    """SLIDE or OFFSET, not behind WITHIN."""
    at = next((o for o in (0, -1) if spot.word(o) in ("SLIDE", "OFFSET")), None)
    if at is None or spot.clause in ("WITHIN", "WINDOW"):
        return None
    word = spot.word(at)
    hint = f"write `WITHIN 20 MINUTES {word} 5 MINUTES`, say"
    return wrong(spot.span(at), f"{word} without WITHIN", f"{word} requires WITHIN before it", hint)


def slide_behind_offset(spot: Spot) -> Diagnostic | None:
    """`WITHIN 1 HOUR OFFSET 5 MINUTES SLIDE 10 MINUTES`."""
    if spot.word() != "SLIDE" or spot.clause not in ("WITHIN", "WINDOW") or not _is_time(spot, 1):
        return None
    before = next((o for o in (-3, -4) if spot.word(o) == "OFFSET"), None)
    if before is None:
        return None
    text, tokens = spot.source.text, spot.tokens
    first, here, end = tokens[spot.at + before], tokens[spot.at], tokens[spot.at + 2]
    offset = text[first.start : tokens[spot.at - 1].end]
    cure = f"{text[here.start : end.end]} {offset}"
    return wrong(spot.span(before, 2), "OFFSET before SLIDE", "SLIDE comes first", f"write `{cure}`", cure)


def duration(spot: Spot) -> Diagnostic | None:
    """Anything but a number and a unit behind WITHIN, SLIDE, OFFSET, WINDOW, WATERMARK or SKIP FOR."""
    words = ("WITHIN", "SLIDE", "OFFSET", "WINDOW", "WATERMARK", "FOR")
    direct = spot.word(-1) in words and "NUMBER" in spot.expected
    clock = spot.text() == ":" and spot.word(-2) in words
    if not direct and not clock:
        return None
    word = spot.word(-1) if direct else spot.word(-2)
    word = "SKIP FOR" if word == "FOR" else word
    hint = "a duration is a number and a unit: `20 MINUTES`, `500 ms`"
    if spot.at_end:
        return wrong(spot.span(-1), "a duration is missing", f"{word} requires a duration", hint)
    return wrong(spot.span(0 if direct else -1), "this is no duration", f"{word} requires a duration", hint)


def comma_in_number(spot: Spot) -> Diagnostic | None:
    """`x > 1,000`, `x > 1,5`, outside brackets, where a comma parts nothing."""
    if spot.text() != "," or spot.clause not in ("WHERE", "HAVING") or spot.open_bracket is not None:
        return None
    first, last = spot.at - 1, spot.at + 1
    while last + 2 < len(spot.tokens) and spot.tokens[last + 1].text == "," and _in_digits(spot, last + 1):
        last += 2
    if not all(_in_digits(spot, comma) for comma in range(spot.at, last, 2)):
        return None
    parts = [spot.tokens[i].text for i in range(first, last + 1, 2)]
    span = spot.span(-1, last - spot.at)
    thousands = all(len(part) == 3 for part in parts[1:])
    number = "".join(parts) if thousands else f"{parts[0]}.{parts[1]}" if len(parts) == 2 else ""
    if not number:
        return None
    written = spot.source.text[span.start : span.end]
    label = "a number has a point before its fraction, and nothing between thousands"
    # Three digits behind one comma are a thousand in one country and a fraction in another.
    instead = None if thousands and len(parts) == 2 else number
    return wrong(span, f"`{written}` is no number", label, f"write `{number}`", instead)


def _in_digits(spot: Spot, comma: int) -> bool:
    """Whether digits stand on both sides of this comma, without a blank."""
    if comma + 1 >= len(spot.tokens):
        return False
    before, mark, after = spot.tokens[comma - 1 : comma + 2]
    return before.text.isdecimal() and after.text.isdecimal() and (before.end, mark.end) == (mark.start, after.start)


def method(spot: Spot) -> Diagnostic | None:
    """`Pickup.district.startswith('a')`: a function called behind a dot."""
    if spot.text() != "(" or spot.text(-2) != "." or not spot.is_name(-1):
        return None
    if spot.clause not in ("WHERE", "HAVING", "RETURN"):
        return None
    first = spot.at - 3
    while first >= 2 and spot.tokens[first - 1].text == "." and spot.tokens[first - 2].kind in ("WORD", "QUOTED"):
        first -= 2
    end = closed_by(spot.tokens, spot.at)
    if end is None or spot.tokens[first].kind not in ("WORD", "QUOTED"):
        return None
    text = spot.source.text
    accessor = spot.word(-3) in _ACCESSORS and spot.text(-4) == "."
    operand = text[spot.tokens[first].start : spot.tokens[spot.at - (5 if accessor else 3)].end]
    rest = text[spot.tokens[spot.at].end : spot.tokens[end].start].strip()
    cure = f"{spot.text(-1).upper()}({', '.join([operand, rest] if rest else [operand])})"
    if (of_pandas := _METHODS.get(spot.word(-1))) is not None:
        cure = of_pandas.format(operand, rest.strip("[]"))
    span = spot.span(first - spot.at, end - spot.at)
    return wrong(span, "a function behind a dot", "a function stands before what it is of", f"write `{cure}`", cure)


_ACCESSORS = frozenset({"STR", "DT"})
"""What stands in pandas between a column and a method."""
_METHODS = {
    "ISIN": "{} IN ({})", "ISNA": "{} IS NULL", "ISNULL": "{} IS NULL", "NOTNA": "{} IS NOT NULL",
    "NOTNULL": "{} IS NOT NULL", "MATCH": "{} RLIKE {}", "MATCHES": "{} RLIKE {}", "EQUALS": "{} = {}", "EQ": "{} = {}",
}  # fmt: skip
"""Methods of pandas and of Java that are operators here."""


def second_duration(spot: Spot) -> Diagnostic | None:
    """`WITHIN 1 HOUR 30 MINUTES`."""
    if (spot.clause not in ("WITHIN", "SLIDE", "WINDOW") and spot.word(-3) != "FOR") or spot.at < 3:
        return None
    tokens = spot.tokens[spot.at - 2 : spot.at + 2]
    units = [UNITS.get(token.text.lower()) for token in tokens[1::2]]
    amounts = [token.text for token in tokens[::2]]
    if len(units) < 2 or not all(amount.isdecimal() for amount in amounts):
        return None
    larger, smaller = units
    times = None if larger is None or smaller is None else _FACTORS.get((larger, smaller))
    if times is None or smaller is None:
        return None
    cure = duration_text(Duration(str(int(amounts[0]) * times + int(amounts[1])), smaller))
    label, hint = "a duration is one number and one unit", f"write `{cure}`"
    return wrong(spot.span(-2, 1), "two durations", label, hint, cure)


_FACTORS: dict[tuple[Unit, Unit], int] = {
    ("DAY", "HOUR"): 24, ("DAY", "MINUTE"): 24 * 60, ("DAY", "SECOND"): 24 * 3600, ("HOUR", "MINUTE"): 60,
    ("HOUR", "SECOND"): 3600, ("MINUTE", "SECOND"): 60, ("SECOND", "MILLISECOND"): 1000,
}  # fmt: skip
"""How many of the second unit one of the first has."""


def conjunction(spot: Spot) -> Diagnostic | None:
    """Conditions joined by `,`, `&&` or `&`."""
    if spot.clause not in ("WHERE", "HAVING"):
        return None
    hint = "write AND"
    if spot.text() == "&" and spot.text(-1) == "&":
        return wrong(spot.span(-1, 0), "`&&` cannot stand here", "no operator of the language", hint)
    if spot.text() == "," and spot.open_bracket is None:
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


_OF_VALUES = frozenset({"(", "[", "+", "-", "*", "/", "%", "||", "::", "DIV"})
_OF_CONDITIONS = frozenset({"=", "==", "<=>", "<>", "!=", "<", "<=", ">", ">=", "IS", "IN", "LIKE", "RLIKE", "BETWEEN"})
"""What behind a column makes an expression of it."""


def group_by(spot: Spot) -> Diagnostic | None:
    """`GROUP BY upper(x)`, `GROUP BY x % 2`, `GROUP BY 1`; Spark's windows."""
    at = next((o for o in (0, -1) if spot.word(o) == "SESSION_WINDOW" and spot.text(o + 1) == "("), None)
    if at is not None and spot.clause == "GROUP":
        hint = "write `WITHIN SESSION 10 MINUTES` in the place of it and of WITHIN"
        return wrong(spot.span(at), "SESSION_WINDOW in GROUP BY", "windows are a clause", hint)
    return (
        _no_column(spot, "GROUP BY", "GROUP BY hour", _OF_VALUES | _OF_CONDITIONS) if spot.clause == "GROUP" else None
    )


def equivalence(spot: Spot) -> Diagnostic | None:
    """`[upper(x)]`, `[x % 2]`, but not `[A.x = B.x]`, a condition that needs no brackets."""
    opened = spot.open_bracket
    if spot.clause != "WHERE" or opened is None or spot.tokens[opened].text != "[":
        return None
    stands_alone = spot.text(opened - 1 - spot.at).upper() in ("WHERE", "AND", "OR", "NOT", "(")  # else an element
    return _no_column(spot, "`[ ]`", "[hour]", _OF_VALUES) if stands_alone else None


def _no_column(spot: Spot, where: str, then: str, of_expressions: frozenset[str]) -> Diagnostic | None:
    if spot.token is None:
        return None
    is_case = spot.word(-1) == "CASE" and any(token.upper == "WHEN" for token in spot.tokens[spot.at :])
    is_behind_column = spot.is_name(-1) and spot.word(-1) not in ("BY", "GROUPBY", "GROUP_BY")
    if is_behind_column and (is_case or spot.text().upper() in of_expressions):
        span, what = spot.span(-1, 0), "an expression"
    elif spot.text() in ("(", "-", "+"):
        span, what = spot.span(), "an expression"
    elif spot.token.kind in ("NUMBER", "STRING"):
        span, what = spot.span(), f"a {spot.token.kind.lower()}"
    else:
        return None
    hint = f"a computed value can be a column of the STREAM, `hour AS HOUR(at)`: then `{then}`"
    return wrong(span, f"{where} of {what}", f"{where} requires columns", hint)


def star_of_variable(spot: Spot) -> Diagnostic | None:
    if spot.text() != "*" or spot.text(-1) != ".":
        return None
    if (spot.word(-4), spot.text(-3), spot.text(1)) == ("COUNT", "(", ")"):
        label, hint = "COUNT of a variable is the number of its events", f"write `COUNT({spot.text(-2)})`"
        return wrong(spot.span(-2, 0), "`*` behind a variable", label, hint, spot.text(-2))
    hint = "name the columns, or write `RETURN EACH *`, a row with all columns for each event of a match"
    return wrong(spot.span(-2, 0), "`*` behind a variable", "a column is expected", hint)
