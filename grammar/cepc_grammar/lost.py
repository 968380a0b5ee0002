"""What statements with syntax errors would have declared: names that are no mistakes of those who use them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from .tokens import quoted_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .raw_tokens import RawToken


@dataclass(frozen=True, slots=True)
class Lost:
    """`streams` are names of streams, `operands` names of derived events and of named patterns, `queries` those of
    queries.
    """

    streams: frozenset[str] = frozenset()
    operands: frozenset[str] = frozenset()
    queries: frozenset[str] = frozenset()

    def __or__(self, other: Lost) -> Lost:
        return Lost(self.streams | other.streams, self.operands | other.operands, self.queries | other.queries)


NOTHING_LOST = Lost()


def lost_in(tokens: tuple[RawToken, ...]) -> Lost:
    """The names that these tokens would declare, which are a statement, or more where a `;` is missing."""
    declared = list(_declared(tokens))
    streams, queries = (frozenset(name for word, name in declared if word == of) for of in ("STREAM", "QUERY"))
    return Lost(streams, frozenset(name for word, name in declared if word not in ("STREAM", "QUERY")), queries)


def _declared(tokens: tuple[RawToken, ...]) -> Iterator[tuple[str, str]]:
    for place, (word, name) in enumerate(pairwise(tokens)):
        if name.kind in ("WORD", "QUOTED") and _declares(tokens, place):
            yield word.upper, quoted_name(name.text)


def _declares(tokens: tuple[RawToken, ...], place: int) -> bool:
    """Whether a name follows that is declared: PATTERN and EVENT begin clauses too."""
    word = tokens[place]
    if word.upper == "STREAM":
        return True
    if word.upper == "QUERY":
        return place == 0 or (word.first_on_line and tokens[place - 1].upper != "FROM")
    if word.upper not in ("EVENT", "PATTERN"):
        return False
    after = tokens[place + 2] if place + 2 < len(tokens) else None
    if place == 0 or (after is not None and after.upper == "AS"):
        return True
    return word.upper == "PATTERN" and word.first_on_line and after is not None and after.text == "("
