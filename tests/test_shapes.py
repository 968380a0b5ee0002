"""Statements that differ in names and values are parsed once, and each says what Lark says of it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lark import Token

from cepc_grammar import keywords, shapes
from cepc_grammar.keywords import KeywordLexer
from cepc_grammar.parser import parse, pattern_of
from cepc_grammar.printer import to_text
from cepc_grammar.raw_tokens import RawToken
from cepc_grammar.shapes import Shapes
from cepc_grammar.source import NOWHERE, Source
from cepc_grammar.sql.lexer import SqlLexer
from cepc_grammar.statements import split_statements
from cepc_grammar.tables import parser, sql_parser
from cepc_grammar.tokens import tokenize
from tests.generators import programs
from tests.test_trees import of_lark, shown

LEXER: Any = parser(KeywordLexer).parser.lexer
SQL_LEXER: Any = sql_parser(SqlLexer).parser.lexer
OTHERS = {
    "a word": ("a", "evt", "Überweisung", "_1", "STRING", "array_size"),
    "a quoted name": ("`a`", "`SEQ`", "`a``b c`"),
    "a number": ("7", "1e9", "0.25BD", "10min"),
    "a string": ("''", "'it''s'", '"SEQ(A, B)"'),
    "a binary": ("X''", "x'00ff'"),
}
"""What may stand instead of a token of each kind."""


class Written:
    """As a builder: what each rule was called with, as `shown` has it."""

    source_name = "test.cep"

    def __getattr__(self, rule: str) -> Any:
        def written(span: Any, children: list[Any]) -> list[Any]:
            place = None if span is NOWHERE else (span.start, span.end)
            return [rule.rstrip("_"), place, *(shown(c) if isinstance(c, Token) else c for c in children)]

        return written


def ours(kept: Shapes, tokens: tuple[RawToken, ...]) -> Any:
    shape = kept.find(tokens, "statement")
    return None if shape is None or shape.too_deep is not None else shape.built(tokens, Written())  # type: ignore[arg-type]


def alike(tokens: tuple[RawToken, ...], seed: int) -> tuple[RawToken, ...]:
    """Other names and values, of other lengths, with other gaps."""
    draw, at, found = random.Random(seed), 0, []
    for token, kind in zip(tokens, LEXER.shape(tokens), strict=True):
        text = draw.choice(OTHERS[kind]) if kind in OTHERS else token.text
        start = at + draw.randint(0, 3)
        at = start + len(text)
        found.append(replace(token, text=text, start=start, end=at))
    return tuple(found)


@given(programs, st.integers(0, 1_000))
def test_statements_of_one_shape_are_built_as_lark_parses_each(program: Any, seed: int) -> None:
    source, kept = Source("test.cep", to_text(program)), Shapes(parser(KeywordLexer))
    for piece in split_statements(source, tokenize(source).tokens):
        first, end = piece.tokens[0], piece.tokens[-1].end
        behind = replace(first, start=end + 1, end=end + 1 + len(first.text))
        for tokens in (piece.tokens, piece.tokens[:-2], (*piece.tokens, behind)):
            others = [alike(tokens, seed + i) for i in range(3)]
            assert {LEXER.shape(other) for other in others} == {LEXER.shape(tokens)}
            for statement in (tokens, *others):
                assert ours(kept, statement) == shown(of_lark(statement))


TEXTS = {
    "types inside types": "STREAM s (a ARRAY<ARRAY<INT>>, b MAP<INT, ARRAY<STRUCT<x: ARRAY<INT>>>>, kind STRING)",
    "a right shift": "EVENT e AS A WHERE x >> 2 > 1",
    "nothing in brackets": "FUNCTION f() AS 1",
    "words of other places": "QUERY next RETURN match.x, first, COUNT(*) PATTERN SEQ(A within, B) WITHIN 1 h",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_stands_between_tokens_does_not_matter(text: str) -> None:
    tokens, kept = tokenize(Source("test.cep", text)).tokens, Shapes(parser(KeywordLexer))
    wanted = shown(of_lark(tokens))
    assert wanted is not None
    assert ours(kept, tokens) == wanted
    for seed in range(20):
        other = alike(tokens, seed)
        assert ours(kept, other) == shown(of_lark(other))


@pytest.mark.parametrize("lexer", [LEXER, SQL_LEXER], ids=["programs", "SQL"])
def test_words_that_decide_what_is_a_keyword_are_told_apart(lexer: Any) -> None:
    """In a pattern of SQL, say, AND is a name before GROUP, which is no keyword there."""
    words = set(lexer.terminals) | keywords._AFTER_PATTERN | keywords._BEHIND_OPERAND | keywords._GENERIC_TYPES
    for word in filter(str.isalpha, {*words, *keywords._ENDS_OPERAND, "UNBOUNDED"}):
        assert lexer.shape((RawToken("WORD", word.lower(), 0, 1, False),)) == (word,)
        assert lexer.shape((RawToken("QUOTED", f"`{word}`", 0, 1, False),)) == ("a quoted name",)


def test_a_shape_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Shapes(parser(KeywordLexer))
    parsed: list[str] = []
    monkeypatch.setattr(kept, "_trees", Counting(kept._trees, parsed))
    for text in ("EVENT e AS A WHERE x > 1", "EVENT other AS B  WHERE  y > 2.5", "EVENT e AS A WHERE x < 1"):
        assert ours(kept, tokenize(Source("test.cep", text)).tokens) is not None
    assert len(parsed) == 2


class Counting:
    def __init__(self, trees: Any, parsed: list[str]) -> None:
        self._inner, self._parsed = trees, parsed

    def tree(self, tokens: Any, start: str) -> Any:
        self._parsed.append(start)
        return self._inner.tree(tokens, start)


def test_shapes_without_end_and_long_ones_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "_MOST", 3)
    monkeypatch.setattr(shapes, "_LONGEST", 12)
    kept = Shapes(parser(KeywordLexer))
    for operands in [*range(1, 9), *range(1, 9)]:
        tokens = tokenize(Source("test.cep", f"EVENT e AS A WHERE {' + '.join('x' * operands)}")).tokens
        assert ours(kept, tokens) == shown(of_lark(tokens)) is not None
        assert len(kept._known) <= 3
        assert all(len(shape) <= 12 for _, shape in kept._known)


def test_a_pattern_at_the_start_of_a_text_leaves_what_is_parsed_after_it_alone() -> None:
    """What completes it stands at no place of the text."""
    source = Source("test.cep", "SEQ(First f, Second s")
    assert pattern_of(source, tokenize(source).tokens) is not None
    program = parse(Source("test.cep", "\nPATTERN called AS SEQ(First f, Second s);")).program
    assert to_text(program) == "PATTERN called AS SEQ(First f, Second s);\n"
    assert (program.statements[0].span.start, program.statements[0].span.end) == (1, 41)
