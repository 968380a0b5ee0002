"""What people write who know SQL, regular expressions or another language of events, and how it is said here.

Each habit is a function of one name in HABITS: a diagnostic where it recognises the mistake, else None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .diagnostic import Diagnostic, Place
from .expected import CLAUSE_WORDS
from .near import nearest
from .source import Span
from .spot import Spot, closing
from .statements import STATEMENT_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable

_CLAUSE_STARTS = frozenset({*CLAUSE_WORDS, "GROUPBY", "GROUP_BY", "WINDOW", "FROM", "SLIDE"})
_SQL_CLAUSES = frozenset({"ORDER", "LIMIT", "JOIN", "UNION", "PARTITION", "OFFSET", "DISTRIBUTE", "CLUSTER", "SORT"})
_ARROWS = frozenset({"->", "=>", ">>"})
_QUANTIFIER_MARKS = frozenset("+*?{")
_FIRST_WORDS = {
    "SELECT": "a query is written `QUERY name RETURN … PATTERN … WITHIN …`",
    "CREATE": "a stream is declared by `STREAM name (column TYPE, …)`, a query by `QUERY name …`",
    "DECLARE": "a stream is declared by `STREAM name (column TYPE, …)`, a query by `QUERY name …`",
    "DEFINE": "a pattern is named by `PATTERN name AS …`, an event type by `EVENT name AS … WHERE …`",
    "WITH": "a part of a query is named by a statement of its own: `PATTERN name AS …`",
    "FROM": "a query is written `QUERY name RETURN … PATTERN … WITHIN …`",
    "INSERT": "where rows go is said on the command line, not in the program",
    "TABLE": "a stream is declared by `STREAM name (column TYPE, …)`",
    "MATCH": "a query is written `QUERY name RETURN … PATTERN … WITHIN …`",
    "USE": "another file is brought in by `IMPORT './file.cep'`",
    "INCLUDE": "another file is brought in by `IMPORT './file.cep'`",
}


# What other engines call the ways to select.
_STRATEGIES = {
    "STRICT": "CONTIGUOUS", "STRICT_CONTIGUITY": "CONTIGUOUS", "CONTIGUITY": "CONTIGUOUS", "SKIP_TILL_NEXT": "NEXT",
    "SKIP_TILL_NEXT_MATCH": "NEXT", "RELAXED": "NEXT", "SKIP_TILL_ANY": "ANY", "SKIP_TILL_ANY_MATCH": "ANY", "ALL": "ANY",
}  # fmt: skip


def reserved(spot: Spot) -> Diagnostic | None:
    if spot.at == 0 and spot.word() == "TEST":
        return _not_yet("tests in the language are", spot.span(), "keep tests in Python for now")
    if spot.word() in ("AND", "OR") and spot.clause() == "PATTERN":
        word = spot.word()
        named = spot.is_name(-1) and spot.is_name(1)
        both = f"{spot.text(-1)}, {spot.text(1)}" if named else "…, …"
        return _not_yet(f"infix {word} in a pattern is", spot.span(), f"write `{word}({both})`")
    return None


def unknown_character(spot: Spot) -> Diagnostic | None:
    token = spot.token
    if token is None or token.kind != "UNKNOWN":
        return None
    hint = ""
    if token.text in "‘’“”„«»‹›":
        hint = "strings stand in straight quotes: '…'"
    elif token.text == "#":
        hint = "a comment begins with `--`"
    elif token.text == "!":
        hint = "write NOT"
    elif token.text in "–—−":
        hint = "write a plain minus: `-`"
    elif token.text == "\xa0":
        hint = "write a plain blank"
    shown = shown_text(token.text)
    return Diagnostic("E0103", f"`{shown}` is no part of the language", spot.span(), "unknown character", hint=hint)


def other_comments(spot: Spot) -> Diagnostic | None:
    if spot.text() == "/" and spot.text(1) == "/" and spot.span().end == spot.span(1).start:
        return _wrong(spot.span(0, 1), "`//` is no comment", "cannot stand here", "a comment begins with `--`")
    return None


def statement_begins(spot: Spot) -> Diagnostic | None:
    """The first word of a statement is none of the five."""
    if spot.at or spot.at_end:
        return None
    word = spot.word()
    label = "a statement begins with EVENT, IMPORT, PATTERN, QUERY or STREAM"
    if word in _CLAUSE_STARTS and word not in ("FROM", "SELECT"):
        title = f"{word} outside a query"
        hint = "remove the `;` before it, if it belongs to the query above"
        return _wrong(spot.span(), title, "this is a clause of a query", hint)
    near = nearest(word, STATEMENT_WORDS) if word else None
    hint = f"did you mean `{near}`?" if near else _FIRST_WORDS.get(word, "")
    return _wrong(spot.span(), f"`{shown_text(spot.text())}` begins no statement", label, hint)


def equals_for_as(spot: Spot) -> Diagnostic | None:
    if spot.text() in ("=", ":") and "AS" in spot.expected:
        return _wrong(spot.span(), f"`{spot.text()}` cannot stand here", "AS is expected", "write AS")
    return None


def query_without_name(spot: Spot) -> Diagnostic | None:
    first, second = spot.tokens[0], spot.tokens[1] if len(spot.tokens) > 1 else None
    if first.upper == "QUERY" and second is not None and second.upper in _CLAUSE_STARTS and 0 < spot.at <= 2:
        span = Span(first.start, first.end, spot.source.name)
        return _wrong(span, "a query without a name", "a query requires a name", "write `QUERY name`")
    return None


def sql_clause(spot: Spot) -> Diagnostic | None:
    """ORDER BY and others, whose first word may have been taken for an alias."""
    for offset in (0, -1):
        word = spot.word(offset)
        two = spot.word(offset + 1) == "BY"
        starts_line = word != "" and spot.tokens[spot.at + offset].first_on_line
        if word in _SQL_CLAUSES and (two or starts_line):
            shown = f"{word} BY" if two else word
            hint = ""
            if word == "PARTITION":
                hint = "events that belong together agree on what stands in `[ ]` in WHERE: `WHERE [driver_id]`"
            elif word in ("ORDER", "SORT"):
                hint = "remove it: result rows have no order"
            elif word == "LIMIT":
                hint = "remove it; `cepc run --limit` shows fewer rows"
            span = spot.span(offset, offset + 1 if two else offset)
            return _wrong(span, f"{shown} is no clause of a query", "cannot stand here", hint)
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
        return _wrong(spot.span(), f"`{spot.text()}` is no selection", "ANY, NEXT or CONTIGUOUS is expected", hint)
    if "SELECT" in (spot.word(), spot.word(-1)):
        span = spot.span(0 if spot.word() == "SELECT" else -1)
        hint = "what a row shows stands in RETURN"
        return _wrong(span, "SELECT in the wrong place", "SELECT chooses ANY, NEXT or CONTIGUOUS", hint)
    return None


def lone_negation(spot: Spot) -> Diagnostic | None:
    """`PATTERN NOT A WITHIN … SLIDE`: the WITHIN went to the NOT."""
    at = next((i for i, token in enumerate(spot.tokens[: spot.at]) if token.upper == "PATTERN"), None)
    if at is None or at + 1 >= spot.at or spot.tokens[at + 1].upper != "NOT" or spot.word() != "SLIDE":
        return None
    span = Span(spot.tokens[at + 1].start, spot.tokens[at + 2].end, spot.source.name)
    hint = "say what happens instead: `SEQ(A, NOT B, C)`, or `SEQ(A, NOT B WITHIN 30 MINUTES)`"
    return Diagnostic("E0407", "a pattern of NOT alone", span, "no event is left to make a match of", hint=hint)


def source_without_format(spot: Spot) -> Diagnostic | None:
    token = spot.token
    if token is None or token.kind != "STRING" or spot.word(-1) != "FROM" or spot.tokens[0].upper != "STREAM":
        return None
    hint = f"write `FROM PARQUET {token.text}`, say"
    return _wrong(spot.span(-1, 0), "a source without a format", "FROM requires a format before the path", hint)


def slide_alone(spot: Spot) -> Diagnostic | None:
    offset = next((o for o in (0, -1) if spot.word(o) == "SLIDE"), None)
    if offset is None or spot.clause() in ("WITHIN", "WINDOW"):
        return None
    hint = "write `WITHIN 20 MINUTES SLIDE 5 MINUTES`, say"
    return _wrong(spot.span(offset), "SLIDE without WITHIN", "SLIDE requires WITHIN before it", hint)


def sequence(spot: Spot) -> Diagnostic | None:
    """Order written as an arrow, THEN, FOLLOWED BY, or commas alone."""
    if spot.clause() != "PATTERN":
        return None
    hint = "events in order are written `SEQ(A, B)`"
    if spot.text() in _ARROWS or spot.word() in ("THEN", "FOLLOWED", "BEFORE"):
        return _wrong(spot.span(), f"`{spot.text()}` cannot stand here", "a pattern has no such operator", hint)
    if spot.word(-1) == "FOLLOWED":
        return _wrong(spot.span(-1, 0), "FOLLOWED BY cannot stand here", "a pattern has no such operator", hint)
    if spot.text() == "-" and spot.text(1) == ">":
        return _wrong(spot.span(0, 1), "`->` cannot stand here", "a pattern has no such operator", hint)
    if spot.text() == "," and spot.open_bracket() is None:
        return _wrong(spot.span(), "`,` cannot stand here", "a pattern is one element", hint)
    return None


def pattern_operators(spot: Spot) -> Diagnostic | None:
    """`A | B`, `A & B`, `p: A`, `p = A`, `A[x > 3]`, `A t+`, `A AS a`, "A" in a pattern."""
    token = spot.token
    if token is None or spot.clause() != "PATTERN":
        return None
    text = token.text
    if text in ("|", "||", "&", "&&"):
        word = "OR" if "|" in text else "AND"
        return _wrong(
            spot.span(), f"`{text}` cannot stand here", "a pattern has no such operator", f"write `{word}(A, B)`"
        )
    if text in (":", "=") and spot.is_name(-1) and spot.is_name(1):
        hint = f"an alias follows its event: `{spot.text(1)} {spot.text(-1)}`"
        return _wrong(spot.span(-1, 0), "an alias before its event", "cannot stand here", hint)
    if text == "[":
        hint = "write it in WHERE, which may mention every event of the pattern by its alias or type"
        return _wrong(spot.span(), "a condition inside the pattern", "conditions stand in WHERE", hint)
    if text in _QUANTIFIER_MARKS and spot.is_name(-1) and (spot.is_name(-2) or spot.text(-2) == ")"):
        element, alias = spot.text(-2) if spot.is_name(-2) else "(…)", spot.text(-1)
        hint = f"write `{element}{text} {alias}`, or `{element}, {alias}{text}` for two elements"
        return _wrong(spot.span(), f"`{text}` behind an alias", "a quantifier stands before the alias", hint)
    if spot.word(-1) == "AS" and spot.is_name(0):
        hint = f"write `{spot.text(-2)} {text}`" if spot.is_name(-2) else "leave AS out"
        return _wrong(spot.span(-1), "AS in a pattern", "an alias follows its event without AS", hint)
    if token.kind == "STRING" and "NAME" in spot.expected:
        name = text[1:-1]
        hint = (
            f"write `{name}`" if name.isidentifier() else f"a name with other characters stands in backquotes: `{name}`"
        )
        return _wrong(spot.span(), "a string in a pattern", "an event type is a name, not a string", hint)
    return None


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
    hint = "group by a column of the stream; a value that is computed can be one where the events are made"
    return _wrong(span, f"GROUP BY of {what}", "GROUP BY requires columns", hint)


def star_of_variable(spot: Spot) -> Diagnostic | None:
    if spot.text() != "*" or spot.text(-1) != ".":
        return None
    hint = "name the columns, or write `RETURN MATCH *` for all events of a match"
    return _wrong(spot.span(-2, 0), "`*` behind a variable", "a column is expected", hint)


def conjunction(spot: Spot) -> Diagnostic | None:
    """Conditions joined by `,`, `&&` or `&`."""
    if spot.clause() not in ("WHERE", "HAVING"):
        return None
    hint = "write AND"
    if spot.text() == "&" and spot.text(-1) == "&":
        return _wrong(spot.span(-1, 0), "`&&` cannot stand here", "no operator of the language", hint)
    if spot.text() == "," and spot.open_bracket() is None:
        return _wrong(spot.span(), "`,` between conditions", "conditions are joined by AND", hint)
    return None


def qualified_equivalence(spot: Spot) -> Diagnostic | None:
    bracket = spot.open_bracket()
    if spot.text() != "." or bracket is None or spot.tokens[bracket].text != "[" or not spot.is_name(1):
        return None
    note = "`[a, b]` says that all events of a match agree on a and b"
    found = _wrong(
        spot.span(-1, 1),
        "`[ ]` takes plain columns",
        "a column without a variable is expected",
        f"write `[{spot.text(1)}]`",
    )
    return Diagnostic(found.code, found.title, found.span, found.label, (note,), found.hint)


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
        return _wrong(spot.span(-1), "a duration is missing", f"{word} requires a duration", hint)
    return _wrong(spot.span(0 if direct else -1), "this is no duration", f"{word} requires a duration", hint)


def ends_before_clause(spot: Spot) -> Diagnostic | None:
    """A clause that broke off, so that the next clause's first word was taken for a name: `a > WITHIN 20 …`."""
    before = spot.word(-1)
    if spot.at < 2 or before not in _CLAUSE_STARTS or not spot.tokens[spot.at - 1].first_on_line:
        return None
    if spot.open_bracket() is not None or spot.is_name(-2) or spot.text(-2) in (")", "]", "+", "*", "?", "}"):
        return None
    title = f"something is missing before {before}"
    return _wrong(spot.span(-2), title, f"`{shown_text(spot.text(-2))}` requires something after it")


def unclosed_bracket(spot: Spot) -> Diagnostic | None:
    """The statement ends, or another clause begins, while a bracket is open."""
    bracket = spot.open_bracket()
    if bracket is None:
        return None
    for offset in (0, -1):
        index = spot.at + offset
        word = spot.word(offset)
        begins = word in _CLAUSE_STARTS and index < len(spot.tokens) and spot.tokens[index].first_on_line
        begins = begins or (spot.tokens[bracket].text == "[" and word in ("AND", "OR"))
        if begins or (offset == 0 and spot.at_end):
            opened = spot.tokens[bracket]
            last = spot.tokens[min(index, len(spot.tokens)) - 1]
            span = Span(opened.start, opened.end, spot.source.name)
            end = Span(last.end - 1, last.end, spot.source.name)
            what = f"before {word}" if begins else "before the end of the statement"
            label = f"`{closing(opened.text)}` is missing {what}"
            return Diagnostic(
                "E0101", f"`{opened.text}` is not closed", span, label, others=(Place(end, "at the latest here"),)
            )
    return None


def closes_nothing(spot: Spot) -> Diagnostic | None:
    if spot.text() in (")", "]", "}") and spot.open_bracket() is None:
        return _wrong(spot.span(), f"`{spot.text()}` closes nothing", "no bracket is open here", "remove it")
    return None


def other_language(spot: Spot) -> Diagnostic | None:
    for offset in (0, -1):
        if spot.word(offset) in ("MATCH_RECOGNIZE", "MEASURES", "DEFINE"):
            hint = "RETURN, PATTERN, WHERE, SELECT and AFTER MATCH are clauses of the query itself"
            return _wrong(spot.span(offset), f"{spot.word(offset)} is no clause of a query", "cannot stand here", hint)
        if spot.word(offset) == "ON" and spot.clause() == "PATTERN":
            return _wrong(
                spot.span(offset), "ON is no clause of a query", "cannot stand here", "conditions stand in WHERE"
            )
    return None


# The order matters where two recognise the same place: the more specific one stands first.
HABITS: tuple[Callable[[Spot], Diagnostic | None], ...] = (
    unknown_character,
    other_comments,
    reserved,
    statement_begins,
    equals_for_as,
    query_without_name,
    other_language,
    select,
    sql_clause,
    lone_negation,
    source_without_format,
    slide_alone,
    qualified_equivalence,
    unclosed_bracket,
    closes_nothing,
    sequence,
    pattern_operators,
    group_by,
    star_of_variable,
    conjunction,
    duration,
    ends_before_clause,
)


def shown_text(text: str) -> str:
    """A token's text as it can be printed in a sentence."""
    text = text if text.isprintable() else text.encode("unicode_escape").decode()
    return text if len(text) <= 40 else text[:37] + "…"


def _wrong(span: Span, title: str, label: str, hint: str = "") -> Diagnostic:
    return Diagnostic("E0101", title, span, label, hint=hint)


def _not_yet(what: str, span: Span, hint: str) -> Diagnostic:
    return Diagnostic("E0110", f"{what} not supported yet", span, "reserved for later", hint=hint)
