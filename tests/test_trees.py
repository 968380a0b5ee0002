"""The parser's own loop makes what Lark's makes, and what is nested too deeply is found."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from lark import Token, Tree, UnexpectedToken

from cepc_grammar import nesting
from cepc_grammar.keywords import KeywordLexer
from cepc_grammar.printer import to_text
from cepc_grammar.source import Source
from cepc_grammar.statements import split_statements
from cepc_grammar.tables import parser
from cepc_grammar.tokens import tokenize
from cepc_grammar.trees import Trees
from tests.generators import programs

LARK, OURS = parser(KeywordLexer), Trees(parser(KeywordLexer))


@given(programs)
def test_trees_and_their_places_are_larks(program: Any) -> None:
    source = Source("test.cep", to_text(program))
    for piece in split_statements(source, tokenize(source).tokens):
        # A statement, what is left of it when its last words are missing, and one that goes on.
        for tokens in (piece.tokens, piece.tokens[:-2], (*piece.tokens, piece.tokens[0])):
            assert shown(OURS.tree(tokens, "statement")) == shown(of_lark(tokens))


def of_lark(tokens: Any) -> Tree[Any] | None:
    try:
        return LARK.parse(tokens, start="statement")
    except UnexpectedToken:
        return None


def shown(tree: Any) -> Any:
    """As lists; a stack would read worse, and what is generated is not deep."""
    if isinstance(tree, Token):
        return tree.type, tree.start_pos, tree.end_pos, str(tree)
    if not isinstance(tree, Tree):
        return tree
    place = None if tree.meta.empty else (tree.meta.start_pos, tree.meta.end_pos)
    return [tree.data, place, *map(shown, tree.children)]


DEEP = {
    "NOT": lambda n: f"EVENT e AS A WHERE {'NOT ' * n}x",
    "operators": lambda n: f"EVENT e AS A WHERE {' + '.join('x' * n)}",
    "SEQ": lambda n: f"PATTERN p AS {'SEQ(B, ' * n}A{')' * n}",
    "quantifiers": lambda n: f"PATTERN p AS A{'?' * n}",
    "quantifiers in a SEQ": lambda n: f"PATTERN p AS {'SEQ(B, ' * (n - 60)}A{'?' * 60}{')' * (n - 60)}",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_few_levels_are_seen_at_a_glance_as_by_counting(text: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> list[bool]:
        sources = [Source("test.cep", text(n)) for n in range(60, 160)]
        trees = [OURS.tree(tokenize(source).tokens, "statement") for source in sources]
        return [nesting.deepest(tree) is not None for tree in trees if tree is not None]

    seen = found()
    monkeypatch.setattr(nesting, "_surely_flat", lambda _: False)
    assert seen == found()
    assert set(seen) == {False, True}
