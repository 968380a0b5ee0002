"""What a text declares in statements that the parser could not read: names that are no mistakes of those who use them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_grammar.tokens import RawToken, quoted_name, tokenize

if TYPE_CHECKING:
    from cepc_grammar.parser import Parsed
    from cepc_grammar.source import Source


@dataclass(frozen=True, slots=True)
class Lost:
    """`streams` are names of streams, `operands` names of derived events and of named patterns."""

    streams: frozenset[str] = frozenset()
    operands: frozenset[str] = frozenset()

    def __or__(self, other: Lost) -> Lost:
        return Lost(self.streams | other.streams, self.operands | other.operands)


NOTHING = Lost()


def lost_in(source: Source, parsed: Parsed) -> Lost:
    """The names whose declarations have syntax errors."""
    if all(d.severity != "error" for d in parsed.diagnostics):
        return NOTHING
    declared = {s.name.text for s in parsed.program.statements if not isinstance(s, ast.Import)}
    tokens = tokenize(source).tokens
    streams: set[str] = set()
    operands: set[str] = set()
    for word, name, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        text = quoted_name(name.text) if name.kind == "QUOTED" else name.text
        if name.kind not in ("WORD", "QUOTED") or text in declared:
            continue
        if word.upper == "STREAM":
            streams.add(text)
        elif word.upper in ("EVENT", "PATTERN") and _declares(word, after):
            operands.add(text)
    return Lost(frozenset(streams), frozenset(operands))


def _declares(word: RawToken, after: RawToken) -> bool:
    """Whether a name follows that is declared: PATTERN and EVENT begin clauses too."""
    return after.upper == "AS" or (word.upper == "PATTERN" and word.first_on_line and after.text == "(")
