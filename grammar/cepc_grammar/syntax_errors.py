"""The sentences for a token that cannot stand where it stands."""

from __future__ import annotations

from .diagnostic import Diagnostic
from .source import Source, Span
from .statements import StatementTokens
from .tokens import RawToken

_CLAUSE_WORDS = ("RETURN", "PATTERN", "WHERE", "GROUP", "HAVING", "WITHIN", "SELECT", "AFTER")
_SHOWN = {
    "NAME": "a name", "NUMBER": "a number", "STRING": "a string", "$END": "`;`", "LPAR": "`(`", "RPAR": "`)`", "COMMA": "`,`",
    "DOT": "`.`", "LSQB": "`[`", "RSQB": "`]`", "LBRACE": "`{`", "RBRACE": "`}`", "LESS": "`<`", "MORE": "`>`", "COLON": "`:`",
    "SELECT_ANY": "ANY", "GROUPBY": "", "GROUP_BY": "", "QUOTED": "", "BINARY": "", "UNKNOWN_VALUE": "UNKNOWN",
}  # fmt: skip
_OPERATORS = frozenset({
    "EQUAL", "EQUAL2", "SAFE_EQUAL", "UNEQUAL", "UNEQUAL2", "LESS", "AT_MOST", "MORE", "AT_LEAST", "BAR", "CARET", "AMPERSAND",
    "SHIFT_LEFT", "SHIFT_RIGHT", "SHIFT_RIGHT_UNSIGNED", "PLUS_SIGN", "MINUS_SIGN", "CONCAT", "ASTERISK", "SLASH", "PERCENT", "DIV",
    "LIKE", "ILIKE", "RLIKE", "REGEXP", "BETWEEN", "IN", "IS", "NOT", "AND", "OR", "DOT", "LSQB", "__ANON_0", "__ANON_1", "DBLCOLON",
})  # fmt: skip
_QUANTIFIERS = frozenset({"PLUS_SIGN", "ASTERISK", "QMARK", "LBRACE"})
_OPERAND = frozenset({"NAME", "NUMBER", "LPAR", "CASE"})
_PATTERN_START = frozenset({"NAME", "SEQ", "LPAR"})
_ARROWS = frozenset({"->", "=>"})


def missing_semicolon(source: Source, before: RawToken, after: RawToken) -> Diagnostic:
    return Diagnostic(
        "E0104",
        f"`;` is missing before {after.upper}",
        Span(before.end - 1, before.end, source.name),
        "the statement ends here",
        hint="end each statement with `;`",
    )


def unexpected(source: Source, piece: StatementTokens, at: int, expected: frozenset[str]) -> Diagnostic:
    """The diagnostic for token `at` of a statement (one past the end: it ends too early), of which the parser accepts `expected`."""
    tokens = piece.tokens
    before = tokens[at - 1] if at else None
    if at >= len(tokens):
        last = tokens[-1]
        span = Span(last.end - 1, last.end, source.name)
        return Diagnostic("E0101", "the statement ends too early", span, f"{_list(expected)} is expected after this")
    token = tokens[at]
    span = Span(token.start, token.end, source.name)
    if token.kind == "UNKNOWN":
        return Diagnostic("E0103", f"`{_shown(token)}` is no part of the language", span, "unknown character", hint=_character_hint(token))
    special = _special(token, before, tokens, at, expected, span)
    if special is not None:
        return special
    return Diagnostic("E0101", f"`{_shown(token)}` cannot stand here", span, f"{_list(expected)} is expected", hint=_hint(token, before, expected))


def _special(
    token: RawToken, before: RawToken | None, tokens: tuple[RawToken, ...], at: int, expected: frozenset[str], span: Span
) -> Diagnostic | None:
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    if token.upper == "TEST" and at == 0:
        return _not_yet("tests in the language", span, "keep tests in Python for now")
    if token.upper in ("AND", "OR") and _in_pattern(tokens, at) and before is not None:
        return _not_yet(f"infix {token.upper} in a pattern", span, f"write `{token.upper}(P, Q)`")
    if token.upper == "OVER" and before is not None and before.text == ")":
        return Diagnostic(
            "E0112", "window functions are not allowed", span, "no OVER in a query",
            notes=("a query's windows are given by WITHIN and SLIDE, and hold for the whole query",),
        )  # fmt: skip
    if token.upper == "SELECT" and before is not None and before.text == "(" or (
        following is not None and token.text == "(" and following.upper == "SELECT"
    ):
        return Diagnostic("E0112", "subqueries are not allowed", span, "an expression sees the events of one match only")
    if token.upper == "SELECT" or (before is not None and before.upper == "SELECT"):
        return Diagnostic(
            "E0101", f"`{_shown(token)}` cannot stand here", span, f"{_list(expected)} is expected",
            hint="what a row shows stands in RETURN; SELECT chooses ANY, NEXT or CONTIGUOUS",
        )  # fmt: skip
    return None


def _not_yet(what: str, span: Span, hint: str) -> Diagnostic:
    return Diagnostic("E0110", f"{what} is not supported yet", span, "reserved for later", hint=hint)


def _in_pattern(tokens: tuple[RawToken, ...], at: int) -> bool:
    for token in reversed(tokens[:at]):
        if token.upper in _CLAUSE_WORDS:
            return token.upper == "PATTERN"
    return tokens[0].upper == "PATTERN"


def _hint(token: RawToken, before: RawToken | None, expected: frozenset[str]) -> str:
    if token.text in _ARROWS or token.upper in ("FOLLOWED", "THEN"):
        return "events in order are written `SEQ(A, B)`"
    if token.text in ("&&", "&") and "AND" in expected:
        return "write AND"
    if token.kind == "STRING" and "NAME" in expected:
        return f"a name that needs quotes stands in backquotes: `{token.text[1:-1]}`" if len(token.text) > 2 else ""
    if token.upper == "AS" and _QUANTIFIERS <= expected:
        return "an alias follows its event without AS: `E e`"
    if token.upper in ("ORDER", "LIMIT", "JOIN", "UNION") and "WHERE" in expected:
        return f"a query has no {token.upper}; result rows have no order"
    if token.upper == "ON" and "WHERE" in expected:
        return "conditions stand in WHERE"
    if "COMMA" in expected and before is not None and (token.kind in ("WORD", "QUOTED") or token.text == "("):
        return "elements of a list are parted by commas"
    return ""


def _character_hint(token: RawToken) -> str:
    if token.text in "‘’“”„«»":
        return "strings stand in straight quotes: '…'"
    return ""


def _shown(token: RawToken) -> str:
    text = token.text if token.text.isprintable() else token.text.encode("unicode_escape").decode()
    return text if len(text) <= 40 else text[:37] + "…"


def _list(expected: frozenset[str]) -> str:
    """The tokens the parser accepts, in words: groups first, at most six."""
    rest = set(expected)
    words: list[str] = []
    if _PATTERN_START | {"SEQ"} <= rest:
        words.append("a pattern")
        rest -= {"NAME", "SEQ", "LPAR", "AND", "OR", "SOME", "ANY", "NOT", "QUOTED"}
    elif rest >= _OPERAND:
        words.append("an expression")
        rest -= {
            "NAME", "NUMBER", "STRING", "BINARY", "LPAR", "LSQB", "CASE", "CAST", "TRY_CAST", "EXTRACT", "INTERVAL", "TRUE", "FALSE",
            "NULL", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "NOT", "PLUS_SIGN", "MINUS_SIGN", "TILDE", "QUOTED", "DISTINCT",
        }  # fmt: skip
    if {"EQUAL", "PLUS_SIGN"} <= rest:
        words.append("an operator")
        rest -= _OPERATORS
    if rest >= _QUANTIFIERS:
        rest -= _QUANTIFIERS
        words.append("a quantifier")
    clauses = rest & set(_CLAUSE_WORDS)
    if len(clauses) > 3:
        words.append("a clause")
        rest -= {*_CLAUSE_WORDS, "WINDOW", "FROM", "GROUPBY", "GROUP_BY"}
    words += sorted(shown for name in rest if (shown := _SHOWN.get(name, name if name.isalpha() or "_" in name else "")) and not name.startswith("__"))
    if not words:
        return "something else"
    if len(words) == 1:
        return words[0]
    return ", ".join(words[:6][:-1]) + " or " + words[:6][-1]
