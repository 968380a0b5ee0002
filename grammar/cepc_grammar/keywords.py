"""Is a word a keyword or a name? A keyword counts only in its place.

The parser asks for one token at a time, so what it can accept next is known: a word is a keyword where the parser
accepts that keyword, unless it accepts a name as well and what follows shows that a name is meant (`RETURN match.x`,
`date(x)`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lark import Token
from lark.lexer import Lexer, PatternStr
from lark.parsers.lalr_analysis import Shift

from cepc_runtime.cheap_dataclass import dataclass

from .pattern import PATTERN_WORDS, SELECTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lark.common import LexerConf

    from .raw_tokens import RawToken, TokenKind

_ENDS_OPERAND = frozenset(
    {",", ")", ".", "=", "<", ">", "<=", ">=", "<>", "!=", "+", "/", "%", "IS", "AS", "BETWEEN", "IN", "LIKE"}
)
_GENERIC_TYPES = frozenset({"ARRAY", "MAP", "STRUCT"})
_CONSTANTS = frozenset({"TRUE", "FALSE", "NULL"})
_CLAUSES = frozenset(
    {"RETURN", "PATTERN", "WHERE", "GROUP", "GROUPBY", "GROUP_BY", "HAVING", "WITHIN", "WINDOW", "FROM", "SELECT"}
)
_AFTER_PATTERN = _CLAUSES | {"AFTER", "AS"}
_OPERATORS = frozenset({"AND", "OR", "THEN"})
_BEHIND_OPERAND = frozenset(
    {"NOT", "DIV", "ILIKE", "RLIKE", "REGEXP", "ESCAPE", "WHEN", "ELSE", "END", "FOR", "SLIDE", "OFFSET", "AFTER"}
)
_DEEPER = {"(": 1, ")": -1}
# Words that decide even where they are no keywords, as GROUP in the pattern of a MATCH_RECOGNIZE.
_LOOKED_AT = _AFTER_PATTERN | _BEHIND_OPERAND | _GENERIC_TYPES | {"UNBOUNDED"}
_KINDS = {"QUOTED": "QUOTED", "NUMBER": "NUMBER", "STRING": "STRING", "BINARY": "BINARY"}
_ANY_OF: dict[TokenKind, str] = {
    "WORD": "a word", "QUOTED": "a quoted name", "NUMBER": "a number", "STRING": "a string", "BINARY": "a binary",
    "UNKNOWN": "unknown",
}  # fmt: skip


class KeywordLexer(Lexer):
    """Feeds raw tokens to the parser under the terminal names of the grammar."""

    __future_interface__ = 2

    def __init__(self, configuration: LexerConf) -> None:
        self.terminals = {t.pattern.value: t.name for t in configuration.terminals if isinstance(t.pattern, PatternStr)}
        self._told_apart = _LOOKED_AT.union(self.terminals)

    def shape(self, tokens: tuple[RawToken, ...]) -> tuple[str, ...]:
        """What `tokens` and the parser look at: two texts of one shape differ in names and values."""
        told_apart, shape = self._told_apart, list[str]()
        for token in tokens:
            kind = token.kind
            if kind == "OPERATOR":
                shape.append(token.text)
            elif kind == "WORD" and (word := token.text.upper()) in told_apart:
                shape.append(word)
            else:
                shape.append(_ANY_OF[kind])
        return tuple(shape)

    def lex(self, lexer_state: Any, parser_state: Any) -> Iterator[Token]:
        return self.tokens(lexer_state.text, parser_state.parse_conf.states, parser_state.state_stack)

    def tokens(self, tokens: tuple[RawToken, ...], table: Any, states: list[Any]) -> Iterator[Token]:
        """The parser's table says what it can accept in the last of its states, which it changes between tokens."""
        accepted = Accepted(table, states)
        in_pattern, depth, angles = False, 0, 0
        for i, token in enumerate(tokens):
            kind, text, start = token.kind, token.text, token.start
            if kind == "OPERATOR":
                if text == "<" and i and tokens[i - 1].upper in _GENERIC_TYPES:
                    angles += 1
                if text in (">>", ">>>") and angles >= len(text):  # ARRAY<ARRAY<INT>>
                    name = self.terminals[">"]
                    for at in range(start, token.end):
                        yield token_of(name, ">", at, at + 1)
                else:
                    name = self.terminals.get(text, "UNKNOWN")
                    yield token_of(name, text, start, token.end)
                depth += _DEEPER.get(text, 0)
                if angles and name == self.terminals[">"]:
                    angles -= len(text)
                continue
            if kind != "WORD":
                yield token_of(_KINDS.get(kind, "UNKNOWN"), text, start, token.end)
                continue
            word = text.upper()
            following = tokens[i + 1] if i + 1 < len(tokens) else None
            if word not in self.terminals or not self._is_keyword(word, following, accepted, in_pattern and depth > 0):
                yield token_of("NAME", text, start, token.end)
                continue
            name = self.terminals[word]
            yield token_of(name, text, start, token.end)
            if name in _CLAUSES and not (in_pattern and depth):  # a NOT has a WITHIN of its own
                in_pattern = name == "PATTERN"

    def _is_keyword(self, word: str, following: RawToken | None, accepted: Accepted, inside_pattern: bool) -> bool:
        """Of a word that may be one."""
        if word in PATTERN_WORDS and "SOME" in accepted:
            return True  # reserved where a pattern begins: `NOT NOT A` is no event type called NOT
        if word in SELECTION_WORDS and "SOME" in accepted:
            return following is not None and following.text == "("  # else an event type that is called so
        if word in _OPERATORS and "QMARK" in accepted and _is_operand(following):
            return True  # `A AND B`, `A THEN B`: no alias, but an operator that patterns do not have
        if self.terminals[word] not in accepted:
            return False
        if "NAME" not in accepted:
            return True
        next_text = "" if following is None else following.upper or following.text
        next_kind = None if following is None else following.kind
        match word:
            case "DATE" | "TIMESTAMP" | "TIMESTAMP_NTZ":
                return next_kind == "STRING"
            case "INTERVAL":
                return next_kind in ("NUMBER", "STRING")
            case "CAST" | "TRY_CAST" | "EXTRACT":
                return next_text == "("
            case "CASE" | "DISTINCT" | "MATCH" | "EACH":
                return next_text not in _ENDS_OPERAND
            case "RUNNING":
                return next_kind == "WORD" and next_text not in _ENDS_OPERAND | _OPERATORS | _CLAUSES | _BEHIND_OPERAND
            case "QUERY":
                return next_kind != "STRING"  # FROM QUERY 'path' reads a format of Spark's
            case "WITHIN" if inside_pattern:
                return next_kind in ("NUMBER", "STRING") or next_text == "UNBOUNDED"
        return not inside_pattern or word in PATTERN_WORDS or word in _CONSTANTS  # a constant: `rise(T, TRUE)`


def _is_operand(token: RawToken | None) -> bool:
    """Is it a pattern rather than what follows a whole pattern? A clause, say, or `,`."""
    return token is not None and (token.text == "(" or (token.kind == "WORD" and token.upper not in _AFTER_PATTERN))


@dataclass(frozen=True, slots=True)
class Accepted:
    """The terminals that the parser can shift next.

    The row of its table alone says too much: after a name it has what may follow any name anywhere, as if `PATTERN
    Order order` could go on with ORDER BY. So the reductions that a terminal asks for are played through.
    """

    table: Any
    states: list[Any]

    def __contains__(self, terminal: str) -> bool:
        table, states = self.table, self.states
        kept, above = len(states), list[Any]()  # the stack: so many of the parser's states, and ours on top
        state = states[-1]
        while (found := table[state].get(terminal)) is not None:
            action, rule = found
            if action is Shift:
                return True
            size, ours = len(rule.expansion), len(above)
            if size < ours:
                del above[ours - size :]
            else:
                above.clear()
                kept -= size - ours
            state = table[above[-1] if above else states[kept - 1]][rule.origin.name][1]
            above.append(state)
        return False


def token_of(name: str, text: str, start: int, end: int) -> Token:
    """As `Token(…)` makes it, which takes seven times as long to look at what it is given."""
    token = str.__new__(Token, text)
    token.type, token.value, token.start_pos, token.end_pos = name, text, start, end
    token.line, token.column, token.end_line, token.end_column = 1, start, 1, end
    return token
