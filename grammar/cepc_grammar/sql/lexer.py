"""Which words of MATCH_RECOGNIZE are keywords in their place."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ..keywords import KeywordLexer
from ..raw_tokens import RawToken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..keywords import Accepted

_TOGETHER: Final = frozenset({("{", "-"), ("-", "}")})


_FIELDS: Final = frozenset({"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"})


class SqlLexer(KeywordLexer):
    """As the lexer of programs, but that nothing is reserved in a pattern except `PERMUTE (`."""

    def _is_keyword(self, word: str, following: RawToken | None, accepted: Accepted, _inside_pattern: bool) -> bool:
        if word == "PERMUTE":
            return following is not None and following.text == "(" and self.terminals[word] in accepted
        if word == "FINAL":
            return following is not None and following.kind == "WORD" and self.terminals[word] in accepted
        return super()._is_keyword(word, following, accepted, False)


def in_sql(tokens: Sequence[RawToken]) -> tuple[RawToken, ...]:
    """The tokens of a program's text as those of SQL, which has `{-`, `-}` and `$`."""
    found: list[RawToken] = []
    joined = False
    for token, after in pairwise([*tokens, RawToken("UNKNOWN", "", -1, -1, False)]):
        if joined:
            joined = False
        elif (token.text, after.text) in _TOGETHER and token.end == after.start:
            found.append(RawToken("OPERATOR", token.text + after.text, token.start, after.end, token.first_on_line))
            joined = True
        elif token.text == "$":
            found.append(RawToken("OPERATOR", "$", token.start, token.end, token.first_on_line))
        else:
            found.append(token)
    return tuple(found)


def intervals_joined(tokens: Sequence[RawToken]) -> tuple[RawToken, ...]:
    """With types of intervals, `INTERVAL DAY TO SECOND`, as one name each: in the grammar a type is one."""
    found: list[RawToken] = []
    after = 0
    for at, token in enumerate(tokens):
        if at < after:
            continue
        words = [other.upper for other in tokens[at : at + 4]]
        if words[0] == "INTERVAL" and len(words) > 1 and words[1] in _FIELDS:
            after = at + (4 if len(words) > 3 and words[2] == "TO" and words[3] in _FIELDS else 2)
            name = " ".join(words[: after - at])
            token = RawToken("QUOTED", f"`{name}`", token.start, tokens[after - 1].end, token.first_on_line)
        found.append(token)
    return tuple(found)
