"""The parser's own loop makes what Lark's makes."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from lark import Lark, Token, Tree, UnexpectedToken

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
            assert shown(OURS.tree(tokens, "statement")) == shown(_of_lark(LARK, tokens))


def _of_lark(lark: Lark, tokens: Any) -> Tree[Any] | None:
    try:
        return lark.parse(tokens, start="statement")
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
