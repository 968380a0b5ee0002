"""Tokens to statements, before any parsing, so that a mistake in one statement leaves the others alone.

A statement ends with `;`. In the bare form of the papers' workload files it ends with a blank line before the next
name.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from .raw_tokens import RawToken
    from .source import Source

STATEMENT_WORDS = frozenset({"IMPORT", "STREAM", "EVENT", "PATTERN", "FUNCTION", "QUERY", "TEST"})
NEW_STATEMENT_WORDS = frozenset({"IMPORT", "STREAM", "QUERY"})  # EVENT and PATTERN begin clauses too


@dataclass(frozen=True, slots=True)
class StatementTokens:
    """The tokens of one statement without its `;`."""

    tokens: tuple[RawToken, ...]
    bare: bool
    end: int  # where the statement's text ends, its `;` included


def split_statements(source: Source, tokens: tuple[RawToken, ...]) -> tuple[StatementTokens, ...]:
    """Cut at each `;`, and cut what lies between into bare queries where it begins like one."""
    statements: list[StatementTokens] = []
    current: list[RawToken] = []
    for token in tokens:
        if token.text == ";" and token.kind == "OPERATOR":
            statements += _bare_or_one(source, tuple(current), token.end)
            current = []
        else:
            current.append(token)
    return (*statements, *_bare_or_one(source, tuple(current), current[-1].end if current else 0))


def _bare_or_one(source: Source, tokens: tuple[RawToken, ...], end: int) -> list[StatementTokens]:
    if not tokens:
        return []
    if not _begins_bare_query(source, tokens, 0):
        return [StatementTokens(tokens, False, end)]
    cuts = [0, *(i for i in range(1, len(tokens)) if _begins_after_blank_line(source, tokens, i)), len(tokens)]
    pieces = [tokens[a:b] for a, b in pairwise(cuts)]
    ends = [*(piece[-1].end for piece in pieces[:-1]), end]
    return [
        StatementTokens(piece, _begins_bare_query(source, piece, 0), piece_end)
        for piece, piece_end in zip(pieces, ends, strict=True)
    ]


def _begins_after_blank_line(source: Source, tokens: tuple[RawToken, ...], i: int) -> bool:
    if not tokens[i].first_on_line or source.text.count("\n", tokens[i - 1].end, tokens[i].start) < 2:
        return False
    return tokens[i].upper in NEW_STATEMENT_WORDS or _begins_bare_query(source, tokens, i)


def _begins_bare_query(source: Source, tokens: tuple[RawToken, ...], i: int) -> bool:
    """A name alone on its line, RETURN first on a later one."""
    if i + 1 >= len(tokens):
        return False
    name, following = tokens[i], tokens[i + 1]
    return (
        name.kind in ("WORD", "QUOTED")
        and name.upper not in STATEMENT_WORDS
        and following.upper == "RETURN"
        and "\n" in source.text[name.end : following.start]
    )
