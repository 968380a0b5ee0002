"""Habits that show where a statement begins, or in characters that no statement has."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ..ast import Name
from ..diagnostic import Diagnostic
from ..near import nearest
from ..raw_tokens import RawToken
from ..source import Span
from ..spelling import name_text, string_text
from ..statements import STATEMENT_WORDS
from ..tokens import string_value
from .common import CLAUSE_STARTS, closed_by, not_yet, shown_text, wrong

if TYPE_CHECKING:
    from ..spot import Spot

_REQUIRE_MORE = frozenset({
    "AND", "AS", "BETWEEN", "BY", "HAVING", "ILIKE", "IN", "LIKE", "MATCH", "NOT", "OR", "RETURN", "RLIKE", "WHERE",
})  # fmt: skip
_NAME_AND_TYPE = "a column has a name and a type, and nothing is checked or filled in"
_CONSTRAINTS = {
    "NOT NULL": "a column of events may always be null",
    "NULL": "a column of events may always be null",
    "PRIMARY KEY": _NAME_AND_TYPE,
    "FOREIGN KEY": _NAME_AND_TYPE,
    "UNIQUE": _NAME_AND_TYPE,
    "AUTO_INCREMENT": _NAME_AND_TYPE,
    "DEFAULT _": _NAME_AND_TYPE,
    "COMMENT _": "a column has a name and a type; a comment begins with `--`",
}
"""What SQL writes behind a column's type, where `_` is any token."""
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


_CHARACTERS = {
    "‘’“”„«»‹›": "strings stand in straight quotes: '…'",
    "#": "a comment begins with `--`",
    "!": "write NOT",
    "\xa0": "write a plain blank",
}
_WIDE = {
    "–": "-", "—": "-", "−": "-", "\u037e": ";", "；": ";", "，": ",", "（": "(", "）": ")", "：": ":", "＝": "=",
    "＞": ">", "＜": "<", "×": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "<>",
}  # fmt: skip
"""Characters that look like one of the language, or mean it."""


def unknown_character(spot: Spot) -> Diagnostic | None:
    token = spot.token
    if token is None or (token.kind != "UNKNOWN" and token.text != "!"):
        return None
    if token.text == "!" and spot.clause != "PATTERN":
        label, hint = "it stands before a whole condition, as NOT does", "write `(NOT …)` around what it is of"
        return wrong(spot.span(), "`!` cannot stand here", label, hint)
    hint = next((cure for characters, cure in _CHARACTERS.items() if token.text in characters), "")
    instead = _WIDE.get(token.text)
    if instead is not None:
        hint = f"write `{instead}`"
    shown = f"`{shown_text(token.text)}`" + ("" if instead is None else f" (U+{ord(token.text):04X})")
    return Diagnostic(
        "E0103",
        f"{shown} is no part of the language",
        spot.span(),
        "unknown character",
        hint=hint,
        replacement=instead,
    )


def other_comments(spot: Spot) -> Diagnostic | None:
    if spot.text() == "/" and spot.text(1) == "/" and spot.span().end == spot.span(1).start:
        return wrong(spot.span(0, 1), "`//` is no comment", "cannot stand here", "a comment begins with `--`")
    return None


def reserved(spot: Spot) -> Diagnostic | None:
    if spot.word() in ("AND", "OR") and spot.clause == "PATTERN":
        word = spot.word()
        return not_yet(f"infix {word} in a pattern is", spot.span(), f"write `{word}({', '.join(_operands(spot))})`")
    return None


def _operands(spot: Spot) -> list[str]:
    """What stands on both sides of the word, and of the same word again, as it is written."""
    opened = spot.open_bracket
    first = 1 + max(number for number in range(spot.at) if spot.tokens[number].upper == "PATTERN" or number == opened)
    operands, depth = [list[RawToken]()], 0
    for token in spot.tokens[first : spot.at]:
        depth += (token.text in "([{") - (token.text in ")]}")
        operands = [[]] if depth == 0 and token.text == "," else [[*operands[0], token]]
    for token in spot.tokens[spot.at :]:
        depth += (token.text in "([{") - (token.text in ")]}")
        if depth < 0 or (depth == 0 and (token.upper in CLAUSE_STARTS or token.text == ",")):
            break
        if depth == 0 and token.upper == spot.word():
            operands.append([])
        elif depth == 0 and token.upper in ("AND", "OR"):
            return ["…", "…"]
        else:
            operands[-1].append(token)
    texts = [spot.source.text[one[0].start : one[-1].end] if one else "…" for one in operands]
    return texts if all(len(text) <= _SHORT for text in texts) else ["…", "…"]


_SHORT: Final = 40
"""Characters of an operand that are said again."""


def statement_begins(spot: Spot) -> Diagnostic | None:
    """The first word of a statement is none of the six."""
    if spot.at or spot.at_end:
        return None
    word = spot.word()
    label = "a statement begins with EVENT, FUNCTION, IMPORT, PATTERN, QUERY, STREAM or TEST"
    if word in CLAUSE_STARTS and word not in ("FROM", "SELECT"):
        title = f"{word} outside a query"
        hint = "remove the `;` before it, if it belongs to the query above"
        return wrong(spot.span(), title, "this is a clause of a query", hint)
    if word in ("SELECT", "WITH", "CREATE") and any(token.upper == "MATCH_RECOGNIZE" for token in spot.tokens):
        of_sql = "MATCH_RECOGNIZE stands in a text of SQL: `cepc run queries.sql`, or `cepc.sql(spark, text)` in Python"
        hint = f"{_FIRST_WORDS['SELECT']}; {of_sql}"
        return wrong(spot.span(), f"`{word}` begins no statement", label, hint)
    near = nearest(word, STATEMENT_WORDS) if word else None
    hint = f"did you mean `{near}`?" if near else _FIRST_WORDS.get(word, "")
    return wrong(spot.span(), f"`{shown_text(spot.text())}` begins no statement", label, hint, near)


def equals_for_as(spot: Spot) -> Diagnostic | None:
    if spot.text() == ":" and spot.tokens[0].upper == "STREAM" and spot.is_name(-1) and spot.is_name(1):
        hint = f"write `{spot.text(-1)} {spot.text(1)}`"
        return wrong(spot.span(), "`:` cannot stand here", "a column is a name and behind it a type", hint, "")
    if spot.text() in ("=", ":") and "AS" in spot.expected:
        return wrong(spot.span(), f"`{spot.text()}` cannot stand here", "AS is expected", "write AS", "AS")
    return None


def query_without_name(spot: Spot) -> Diagnostic | None:
    first, second = spot.tokens[0], spot.tokens[1] if len(spot.tokens) > 1 else None
    if first.upper == "QUERY" and second is not None and second.upper in CLAUSE_STARTS and 0 < spot.at <= 2:
        span = Span(first.start, first.end, spot.source.name)
        return wrong(span, "a query without a name", "a query requires a name", "write `QUERY name`")
    return None


def hyphen_in_name(spot: Spot) -> Diagnostic | None:
    """`QUERY my-query`, `STREAM s (user-id STRING)`."""
    named = spot.at == 2 and spot.tokens[0].upper in STATEMENT_WORDS
    column = spot.tokens[0].upper == "STREAM" and spot.clause == "" and spot.text(-2) in ("(", ",")
    if spot.text() != "-" or not spot.is_name(-1) or not (named or column):
        return None
    found = _HYPHENATED.match(spot.source.text, spot.span(-1).start)
    if found is None:
        return None
    name, span = found[0], Span(*found.span(), spot.source.name)
    cure = name.replace("-", "_")
    hint = f"write `{cure}`, or the name in backquotes: {name_text(Name(name))}"
    return wrong(span, f"`{name}` is no name", "a name has letters, digits and `_`", hint, cure)


_HYPHENATED: Final = re.compile(r"\w+(?:-\w+)+")


def text_for_name(spot: Spot) -> Diagnostic | None:
    """`RETURN a.x AS 'x'`."""
    token = spot.token
    if token is None or token.kind != "STRING" or spot.word(-1) != "AS" or spot.clause != "RETURN":
        return None
    name = name_text(Name(string_value(token.text)))
    hint = f"write {name if name.startswith('`') else f'`{name}`'}"
    return wrong(spot.span(), f"`{shown_text(token.text)}` is no name", "a name has no such quotes", hint, name)


def select_in_event(spot: Spot) -> Diagnostic | None:
    """`EVENT Big AS SELECT * FROM A WHERE x > 3`."""
    select = next((o for o in (0, -1) if spot.word(o) == "SELECT"), None)
    if spot.tokens[0].upper != "EVENT" or select is None:
        return None
    at = next((o for o in range(len(spot.tokens) - spot.at) if spot.word(o) == "FROM"), None)
    base = spot.text(at + 1) if at is not None and spot.is_name(at + 1) else "A"
    hint = f"write `EVENT {spot.text(1 - spot.at)} AS {base} WHERE …`"
    return wrong(spot.span(select), "SELECT in an EVENT", "the event type is expected that it is of", hint)


def condition_in_event(spot: Spot) -> Diagnostic | None:
    """`EVENT Big AS A(x > 3)`, `EVENT Big AS A[x > 3]`."""
    end = closed_by(spot.tokens, spot.at) if spot.text() in ("(", "[") and spot.clause == "" else None
    if spot.tokens[0].upper != "EVENT" or end is None or not spot.is_name(-1):
        return None
    condition = spot.source.text[spot.span().end : spot.tokens[end].start].strip()
    cure = f"WHERE {condition}" if len(condition) <= _SHORT else "WHERE …"
    blank = " " if spot.span(-1).end == spot.span().start else ""
    title, label = "a condition behind its event", "conditions stand in WHERE"
    return wrong(spot.span(0, end - spot.at), title, label, f"write `{cure}`", f"{blank}WHERE {condition}")


def connector(spot: Spot) -> Diagnostic | None:
    """`STREAM t (…) WITH ('connector' = 'kafka', 'topic' = 'x')` of Flink."""
    if spot.tokens[0].upper != "STREAM" or spot.word() != "WITH" or spot.text(1) != "(":
        return None
    texts = [string_value(token.text) for token in spot.tokens[spot.at :] if token.kind == "STRING"]
    options = dict(pairwise(texts))
    place = options.get("topic") or options.get("path") or "topic"
    source = f"FROM {options.get('connector', 'kafka').upper()} {string_text(place)}"
    hint = f"write `{source}`, and behind it Spark's options if there are any: `OPTIONS (name = 'value')`"
    return wrong(spot.span(), "WITH in a STREAM", "where events come from is said by FROM", hint)


def source_without_format(spot: Spot) -> Diagnostic | None:
    token = spot.token
    if token is None or token.kind != "STRING" or spot.word(-1) != "FROM" or spot.tokens[0].upper != "STREAM":
        return None
    hint = f"write `FROM {_format_of(token.text[1:-1])} {token.text}`, say"
    return wrong(spot.span(-1, 0), "a source without a format", "FROM requires a format before the path", hint)


def interval_type(spot: Spot) -> Diagnostic | None:
    """`lasted INTERVAL DAY TO SECOND` in a STREAM: a type is one name."""
    of_column = spot.tokens[0].upper == "STREAM" and spot.is_name(-2) and spot.word(-1) == "INTERVAL"
    if not of_column or spot.word(-2) == "AS" or spot.word() not in _FIELDS:
        return None
    last = 2 if spot.word(1) == "TO" and spot.word(2) in _FIELDS else 0
    type_ = " ".join(spot.word(offset) for offset in range(-1, last + 1))
    hint = "write `INTERVAL`, which is of days to seconds" if type_ == _USUAL else f"write it in backquotes: `{type_}`"
    return wrong(spot.span(-1, last), "a type of several words", "a type is one name", hint)


_FIELDS: Final = ("DAY", "HOUR", "MINUTE", "SECOND")
_USUAL: Final = "INTERVAL DAY TO SECOND"

_FORMATS: Final = {
    "csv": "CSV", "tsv": "CSV", "json": "JSON", "jsonl": "JSON", "ndjson": "JSON", "orc": "ORC", "avro": "AVRO",
}  # fmt: skip


def _format_of(path: str) -> str:
    return _FORMATS.get(path.rpartition(".")[2].lower(), "PARQUET")


def rows_of_a_query(spot: Spot) -> Diagnostic | None:
    """`STREAM alarms FROM bursts`, `STREAM alarms AS QUERY bursts`: the rows of a query as events."""
    if spot.tokens[0].upper != "STREAM":
        return None
    if (
        spot.word(-2) == "FROM"
        and spot.is_name(-1)
        and (spot.at_end or spot.token is None or spot.token.kind != "STRING")
    ):
        hint = f"of a query's rows write `FROM QUERY {spot.text(-1)}`; files have a path, `FROM PARQUET 'path'`"
        if spot.text() == "." and spot.is_name(1):
            path = f"{spot.text(-1)}.{spot.text(1)}"
            hint = f"a path is in quotes: `FROM {_format_of(path)} '{path}'`"
        return wrong(spot.span(-2, -1), "a source without a path", "a path is expected after a format", hint)
    if spot.word() == "AS" and spot.at == 2:
        name = spot.text(2) if spot.word(1) == "QUERY" and spot.is_name(2) else "name"
        hint = f"write `FROM QUERY {name}`: a stream has the rows of a query that stands by itself"
        return wrong(spot.span(), "AS cannot stand here", "columns or FROM QUERY are expected", hint)
    return None


def rows_of_a_test(spot: Spot) -> Diagnostic | None:
    """`GIVEN ('x', 1)`, `EXPECT 3`: rows without VALUES."""
    token = spot.token
    if token is None or spot.tokens[0].upper != "TEST":
        return None
    before = next((t.upper for t in reversed(spot.tokens[: spot.at]) if t.upper in ("GIVEN", "EXPECT", "VALUES")), "")
    if before == "EXPECT" and spot.word(-1) == "EXPECT":
        hint = "write `EXPECT (column, …) VALUES (value, …)`, or `EXPECT NO ROWS`"
        return wrong(spot.span(), f"`{shown_text(token.text)}` is no row", "rows are expected", hint)
    if before in ("GIVEN", "EXPECT") and (token.text == "(" or "VALUES" not in spot.expected) and token.kind != "WORD":
        hint = f"write `{before} (column, …) VALUES (value, …)`"
        return wrong(spot.span(), f"`{shown_text(token.text)}` cannot stand here", "rows stand behind VALUES", hint)
    return None


def constraint(spot: Spot) -> Diagnostic | None:
    """`at TIMESTAMP NOT NULL`, `x INT DEFAULT 0` in a STREAM."""
    if spot.tokens[0].upper != "STREAM" or spot.open_bracket is None:
        return None
    for words, label in _CONSTRAINTS.items():
        last = len(words.split()) - 1
        if [spot.word(i) if word != "_" else "_" for i, word in enumerate(words.split())] == words.split():
            span = spot.span(0, last)
            written = spot.written(span)
            return wrong(span, f"`{written}` cannot stand here", label, f"remove `{written}`", "")
    return None


def types_of_a_function(spot: Spot) -> Diagnostic | None:
    """`FUNCTION f(x DOUBLE)`, `FUNCTION f(x) RETURNS DOUBLE AS …`."""
    if spot.tokens[0].upper != "FUNCTION" or "AS" in (t.upper for t in spot.tokens[: spot.at]):
        return None
    opened = spot.open_bracket
    if opened is not None:
        if not (spot.is_name(-1) and spot.is_name(0)):
            return None
        end = _type_ends(spot, (",", ")"))
        what, label = "a parameter with a type", "parameters have names alone"
    elif spot.word() == "RETURNS":
        end = _type_ends(spot, ("AS", "{", "RETURN", "BEGIN"))
        what, label = "a result with a type", "the type follows from the expression"
    else:
        return None
    span = spot.span(0, end - spot.at - 1)
    return wrong(span, what, label, f"remove `{shown_text(spot.source.text[span.start : span.end])}`", "")


def _type_ends(spot: Spot, ends: tuple[str, ...]) -> int:
    """The first token behind the type that begins here."""
    depth = 0
    for i in range(spot.at + 1, len(spot.tokens)):
        token = spot.tokens[i]
        if depth == 0 and (token.upper or token.text) in ends:
            return i
        depth += {"(": 1, "<": 1, ")": -1, ">": -1}.get(token.text, 0)
    return len(spot.tokens)


def body_of_a_function(spot: Spot) -> Diagnostic | None:
    """`FUNCTION f(x) { RETURN x + 1 }`, `FUNCTION f(x) RETURN x + 1`."""
    token = spot.token
    if spot.tokens[0].upper != "FUNCTION" or token is None or "AS" not in spot.expected:
        return None
    start = spot.at + (spot.text() == "{" or token.upper == "BEGIN")
    start += start < len(spot.tokens) and spot.tokens[start].upper == "RETURN"
    if start in (spot.at, len(spot.tokens)):
        return None
    span = spot.span(0, len(spot.tokens) - 1 - spot.at)
    closed = spot.tokens[-1].text == "}" or spot.tokens[-1].upper == "END"
    last = spot.tokens[-2 if closed else -1]
    body = spot.source.text[spot.tokens[start].start : last.end]
    begun = token.upper != "RETURN" and not closed  # its end is in another statement
    cure = f"AS {body}"
    hint = f"write `{cure if len(cure) <= MOST_SHOWN else 'AS …'}`"
    return wrong(
        span, f"`{token.text}` cannot stand here", "a function is one expression", hint, None if begun else cure
    )


MOST_SHOWN = 60


def import_of_several(spot: Spot) -> Diagnostic | None:
    """`IMPORT std.*`, `IMPORT ./mine.cep`."""
    if spot.tokens[0].upper != "IMPORT":
        return None
    if (spot.text(-1), spot.text()) == (".", "*"):
        hint = "name each module in an IMPORT of its own: `IMPORT std.shapes;`; `cepc doc` lists them"
        return wrong(spot.span(1 - spot.at, 0), "`*` in an IMPORT", "a module is expected", hint)
    if spot.at == 1 and spot.text() in (".", "/") and spot.tokens[-1].upper == "CEP":
        span = spot.span(0, len(spot.tokens) - 2)
        cure = f"'{spot.source.text[span.start : span.end]}'"
        return wrong(span, "a file without quotes", "a file is a string", f"write `{shown_text(cure)}`", cure)
    return None


def ends_before_clause(spot: Spot) -> Diagnostic | None:
    """A clause that broke off, so that the next clause's first word was taken for a name: `a > WITHIN 20 …`."""
    before = spot.word(-1)
    if spot.at < 2 or before not in CLAUSE_STARTS or spot.open_bracket is not None or not _breaks_off(spot):
        return None
    if spot.text(-2) == ",":
        title, label = f"`,` before {before}", f"nothing follows it but {before}, which begins a clause"
        return wrong(spot.span(-2), title, label, "remove `,`", "")
    title, written = f"something is missing before {before}", spot.text(-2)
    label = f"`{shown_text(written)}` requires something after it"
    if _is_return_each(spot):
        hint = f"in backquotes it is a column of that name: RETURN `{written}`"
        return wrong(spot.span(-2), title, label, hint, f"`{written}`")
    return wrong(spot.span(-2), title, label)


def comma_before_pattern(spot: Spot) -> Diagnostic | None:
    """`RETURN x, PATTERN (A a)`, where PATTERN was taken for a function whose arguments broke off."""
    back = next((o for o in range(-1, -spot.at - 1, -1) if spot.word(o) in CLAUSE_STARTS), 0)
    if spot.word(back) != "PATTERN" or spot.text(back - 1) != "," or spot.text(back + 1) != "(":
        return None
    label = "nothing follows it but PATTERN, which begins a clause"
    return wrong(spot.span(back - 1), "`,` before PATTERN", label, "remove `,`", "")


def _is_return_each(spot: Spot) -> bool:
    """Anywhere else `each` is a name."""
    return (spot.word(-3), spot.word(-2)) == ("RETURN", "EACH")


def _breaks_off(spot: Spot) -> bool:
    """Whether a clause's first word stands where an operand would; one that begins no line, and comes again, may be a
    column that is called so.
    """
    if not spot.tokens[spot.at - 1].first_on_line and spot.word(-1) in (t.upper for t in spot.tokens[spot.at :]):
        return False
    if spot.is_name(-2):
        return spot.word(-2) in _REQUIRE_MORE or _is_return_each(spot)
    in_pattern = (
        next((t.upper for t in reversed(spot.tokens[: spot.at - 1]) if t.upper in CLAUSE_STARTS), "") == "PATTERN"
    )
    return spot.text(-2) not in ((")", "]", "+", "*", "?", "}") if in_pattern else (")", "]"))
