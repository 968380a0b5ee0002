"""One token added, changed or left out, so that the statement parses: then that is what the hint says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .near import nearest
from .pattern import PATTERN_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .raw_tokens import RawToken, TokenKind

    ReachOfTokens = Callable[[tuple[RawToken, ...]], int]
    """How many tokens the parser gets through; one more than there are where it accepts them all."""

LONGEST = 2000  # tokens of a statement that is tried again
FURTHER = 4  # tokens that a repair must gain where the statement has another mistake behind


@dataclass(frozen=True, slots=True)
class Repair:
    """What to do with token `at`: put `text` before it, write `text` in its place, or leave it out ("")."""

    at: int
    text: str
    inserted: bool


def find_repair(tokens: tuple[RawToken, ...], at: int, words: frozenset[str], reach: ReachOfTokens) -> Repair | None:
    """The first repair that makes the statement parse, else the first that gets the parser well past its mistake.

    `words` are the keywords and marks that the parser would accept at `at`.
    """
    if len(tokens) > LONGEST:
        return None
    best: tuple[int, Repair] | None = None
    for repair, tried in _candidates(tokens, at, words):
        got = reach(tried)
        if got > len(tried):
            return repair
        if got >= at + FURTHER and (best is None or got > best[0]):
            best = (got, repair)
    return best[1] if best else None


def _candidates(
    tokens: tuple[RawToken, ...], at: int, words: frozenset[str]
) -> Iterator[tuple[Repair, tuple[RawToken, ...]]]:
    # A mistyped keyword may have been taken for a name, so the mistake shows one token late.
    for i in (at, at - 1):
        if not 0 <= i < len(tokens) or tokens[i].kind != "WORD" or tokens[i].upper in (*_KEYWORDS, "ANY"):
            continue  # a keyword in the wrong place is not a mistyped one
        if near := nearest(tokens[i].upper, sorted(_KEYWORDS)):
            yield Repair(i, near, False), _with(tokens, i, i + 1, near)
    for text in ("AS", ",", "AND"):
        if text in words and at < len(tokens):
            yield Repair(at, text, True), _with(tokens, at, at, text)
    # An operator left out would change what the rest says; a word too many is only that.
    if at < len(tokens) and (tokens[at].kind == "WORD" or tokens[at].text == ","):
        yield Repair(at, "", False), tokens[:at] + tokens[at + 1 :]
    if at and at < len(tokens) and tokens[at - 1].text == ",":
        yield Repair(at - 1, "", False), tokens[: at - 1] + tokens[at:]


_KEYWORDS = frozenset({
    *(PATTERN_WORDS - {"ANY"}), "AFTER", "AS", "BETWEEN", "BY", "CASE", "CAST", "CONTIGUOUS", "DISTINCT", "ELSE", "END",
    "EACH", "EVENT", "FIRST", "FROM", "FUNCTION", "GROUP", "HAVING", "IMPORT", "IN", "IS", "LAST", "LIKE", "MATCH",
    "NEXT", "NULL", "OFFSET", "ORDER", "PAST", "PATTERN", "QUERY", "RETURN", "SELECT", "SKIP", "SLIDE", "STREAM",
    "THEN", "TIME", "TO", "TYPE", "UNBOUNDED", "UNIT", "WATERMARK", "WHEN", "WHERE", "WINDOW", "WITHIN",
})  # fmt: skip


def _with(tokens: tuple[RawToken, ...], start: int, end: int, text: str) -> tuple[RawToken, ...]:
    model = tokens[start]
    kind: TokenKind = "WORD" if text.isalpha() else "OPERATOR"
    return (
        *tokens[:start],
        replace(model, kind=kind, text=text, end=model.start if start == end else model.end),
        *tokens[end:],
    )
