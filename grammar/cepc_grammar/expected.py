"""What the parser would accept, in words: groups of terminals first, and not more than a reader takes in."""

from __future__ import annotations

from .pattern import PATTERN_WORDS

CLAUSE_WORDS = ("RETURN", "PATTERN", "WHERE", "GROUP", "HAVING", "WITHIN", "SELECT", "AFTER")
QUANTIFIERS = frozenset({"PLUS_SIGN", "ASTERISK", "QMARK", "LBRACE"})

_SHOWN = {
    "NAME": "a name", "NUMBER": "a number", "STRING": "a string", "$END": "`;`", "LPAR": "`(`", "RPAR": "`)`",
    "COMMA": "`,`", "DOT": "`.`", "LSQB": "`[`", "RSQB": "`]`", "LBRACE": "`{`", "RBRACE": "`}`", "LESS": "`<`",
    "MORE": "`>`", "COLON": "`:`", "SELECT_ANY": "ANY", "GROUPBY": "", "GROUP_BY": "", "QUOTED": "", "BINARY": "",
    "UNKNOWN_VALUE": "UNKNOWN", "EQUAL": "`=`", "EQUAL2": "`==`", "SAFE_EQUAL": "`<=>`", "UNEQUAL": "`<>`",
    "UNEQUAL2": "`!=`", "AT_MOST": "`<=`", "AT_LEAST": "`>=`", "BAR": "`|`", "CARET": "`^`", "AMPERSAND": "`&`",
    "SHIFT_LEFT": "`<<`", "SHIFT_RIGHT": "`>>`", "SHIFT_RIGHT_UNSIGNED": "`>>>`", "PLUS_SIGN": "`+`",
    "MINUS_SIGN": "`-`", "CONCAT": "`||`", "ASTERISK": "`*`", "SLASH": "`/`", "PERCENT": "`%`", "TILDE": "`~`",
    "BANG": "`!`", "DOLLAR": "`$`", "QMARK": "`?`", "NULLS_FIRST": "FIRST", "NULLS_LAST": "LAST",
}  # fmt: skip
_OPERATORS = frozenset({
    "EQUAL", "EQUAL2", "SAFE_EQUAL", "UNEQUAL", "UNEQUAL2", "LESS", "AT_MOST", "MORE", "AT_LEAST", "BAR", "CARET",
    "AMPERSAND", "SHIFT_LEFT", "SHIFT_RIGHT", "SHIFT_RIGHT_UNSIGNED", "PLUS_SIGN", "MINUS_SIGN", "CONCAT", "ASTERISK",
    "SLASH", "PERCENT", "DIV", "LIKE", "ILIKE", "RLIKE", "REGEXP", "BETWEEN", "IN", "IS", "NOT", "AND", "OR", "DOT",
    "LSQB", "DBLCOLON",
})  # fmt: skip
_OPERAND = frozenset({"NAME", "NUMBER", "LPAR", "CASE"})
_EXPRESSION = frozenset({
    "NAME", "NUMBER", "STRING", "BINARY", "LPAR", "LSQB", "CASE", "CAST", "TRY_CAST", "EXTRACT", "INTERVAL", "TRUE",
    "FALSE", "NULL", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "NOT", "BANG", "PLUS_SIGN", "MINUS_SIGN", "TILDE", "QUOTED",
    "DISTINCT", "ASTERISK", "MATCH", "EACH", "RUNNING",
})  # fmt: skip
_PATTERN_START = frozenset({"NAME", "SEQ", "LPAR"})
_PATTERN = frozenset({"NAME", "LPAR", "QUOTED"}) | PATTERN_WORDS
_CLAUSES = frozenset({*CLAUSE_WORDS, "WINDOW", "FROM", "GROUPBY", "GROUP_BY"})
_STATEMENTS = frozenset({"EVENT", "FUNCTION", "IMPORT", "PATTERN", "QUERY", "STREAM", "TEST"})
MOST = len(_STATEMENTS)  # that are shown one by one


def in_words(expected: frozenset[str]) -> str:
    """The terminals in words.

    >>> in_words(frozenset({"COMMA", "RPAR"}))
    '`)` or `,`'
    >>> in_words(_STATEMENTS)
    'EVENT, FUNCTION, IMPORT, PATTERN, QUERY, STREAM or TEST'
    """
    rest = set(expected)
    words: list[str] = []
    if rest >= _PATTERN_START:
        words.append("a pattern")
        rest -= _PATTERN
    elif rest >= _OPERAND:
        words.append("an expression")
        rest -= _EXPRESSION
    if {"EQUAL", "PLUS_SIGN"} <= rest:
        words.append("an operator")
        rest -= _OPERATORS | {"LPAR"}  # a call is no news after a name
    if rest >= QUANTIFIERS:
        words.append("a quantifier")
        rest -= QUANTIFIERS | {"LPAR"}
        if "NAME" in rest:
            words.append("a variable" if "PERMUTE" in rest else "an alias")  # SQL's patterns know no aliases
            rest.remove("NAME")
    if len(rest & _CLAUSES) > 2:
        words.append("a clause")
        rest -= _CLAUSES
    words += sorted(filter(None, map(_shown, rest)))
    if len(words) < 2:
        return words[0] if words else "something else"
    if len(words) > MOST:
        words = [*words[: MOST - 1], "something else"]
    return ", ".join(words[:-1]) + " or " + words[-1]


def _shown(terminal: str) -> str:
    plain = terminal if terminal.replace("_", "").isalpha() and not terminal.startswith("__") else ""
    return _SHOWN.get(terminal, plain)
