"""A keyword counts only in its place: what is a name, and where it is not."""

from __future__ import annotations

import time

import pytest

from cepc_grammar import ast
from cepc_grammar.parser import parse
from cepc_grammar.source import Source

WORDS = (
    "order", "event", "end", "unit", "slide", "then", "when", "else", "escape", "like", "in", "is", "between", "div",
    "watermark", "skip", "distinct", "match", "desc",
)  # fmt: skip


def read_pattern(text: str) -> ast.Pattern:
    parsed = parse(Source("test.cep", f"QUERY q RETURN COUNT(*) PATTERN {text} WITHIN 1 DAY;"))
    assert not parsed.diagnostics
    (query,) = parsed.program.statements
    assert isinstance(query, ast.Query)
    return query.pattern


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("text", ["T+ {}", "SEQ(T+ {}, {})", "{}"])
def test_an_event_or_its_alias_may_be_called_like_a_keyword_that_has_no_place_there(text: str, word: str) -> None:
    """After a name the parser's table also has what may follow names elsewhere, such as the BY of ORDER BY."""
    pattern = read_pattern(text.format(word, word))
    assert f"text='{word}'" in repr(pattern)


@pytest.mark.parametrize("word", ["NEXT", "Contiguous"])
@pytest.mark.parametrize("text", ["{}", "SEQ({}, A)", "{}+ {}", "SEQ(A, NOT {}, B)", "NEXT({}, A {})"])
def test_a_selection_is_one_before_a_parenthesis_alone(text: str, word: str) -> None:
    assert f"text='{word}'" in repr(read_pattern(text.format(word, word)))
    assert read_pattern(f"{word} (A, B)") == read_pattern(f"{word}(SEQ(A, B))") != read_pattern(f"`{word}`(A, B)")


@pytest.mark.parametrize("constant", ["TRUE", "false", "Null"])
def test_a_constant_is_no_name_among_the_arguments_of_a_pattern(constant: str) -> None:
    pattern = read_pattern(f"rise(T, {constant})")
    assert isinstance(pattern, ast.Atom)
    assert isinstance((pattern.arguments or ())[1], ast.Literal)


@pytest.mark.parametrize("word", ["AND", "OR", "THEN", "then"])
def test_a_pattern_has_no_operators_between_its_parts(word: str) -> None:
    text = f"QUERY q RETURN COUNT(*) PATTERN Request {word} Pickup WITHIN 1 DAY;"
    (diagnostic, *_) = parse(Source("test.cep", text)).diagnostics
    assert text[diagnostic.span.start : diagnostic.span.end] == word


@pytest.mark.parametrize("clause", ["HAVING f(TRUE)", "WHERE f(NULL)", "HAVING (x IS NULL)"])
def test_constants_are_constants_in_the_clauses_after_a_pattern(clause: str) -> None:
    parsed = parse(Source("test.cep", f"QUERY q RETURN pattern, f(TRUE) PATTERN SEQ(A, B) {clause} WITHIN 1 DAY;"))
    assert not parsed.diagnostics
    assert "Reference(parts=(Name(text='TRUE')" not in repr(parsed.program)
    assert "Reference(parts=(Name(text='NULL')" not in repr(parsed.program)


def test_thousands_of_levels_are_answered_in_time() -> None:
    """Each word asks what the parser accepts; that must not cost the depth of its stack, nor a quantifier be no
    level.
    """
    started = time.process_time()
    for text in ("x IN (" * 3000 + "x" + ")" * 3000, "A" + "+" * 3000):
        source = Source(
            "test.cep", f"QUERY q RETURN COUNT(*) PATTERN {text} WITHIN 1 DAY;".replace("PATTERN x", "WHERE x")
        )
        assert {d.code for d in parse(source).diagnostics} & {"E0109"}
    assert time.process_time() - started < 10
