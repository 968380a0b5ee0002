"""`cepc fmt`: nothing is lost, nothing changes its meaning, and a second time changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, currently_in_test_context, given, note
from hypothesis import strategies as st

from cepc_grammar.comments import tidy
from cepc_grammar.formatter import format_source, formatted
from cepc_grammar.parser import parse
from cepc_grammar.source import Source
from tests.generators import bare, careless, programs, queries

if TYPE_CHECKING:
    from random import Random

    from cepc_grammar import ast
    from cepc_grammar.parser import Parsed


def read(text: str) -> Parsed:
    parsed = parse(Source("test.cep", text))
    assert not parsed.diagnostics, [(d.label, text[d.span.start - 60 : d.span.end + 30]) for d in parsed.diagnostics]
    return parsed


def show(text: str, what: str, result: object) -> None:
    if currently_in_test_context():
        note(f"source:\n{text!r}\n{text}\n{what}:\n{result}")


def fmt(text: str) -> str:
    result = format_source(Source("test.cep", text))
    show(text, "formatted", result)
    assert isinstance(result, str)
    return result


def one_round(text: str) -> str:
    """Without the last safeguard of `format_source`, so that it hides nothing."""
    result = formatted(Source("test.cep", text), read(text))
    show(text, "one round", result)
    return result


def comments(text: str) -> list[str]:
    return [tidy(c.text).replace("\r\n", "\n") for c in read(text).comments]


@given(programs, st.randoms(use_true_random=True))
def test_a_careless_text_says_what_its_program_says(program: ast.Program, random: Random) -> None:
    assert read(careless(program, random)).program == program


@given(programs, st.randoms(use_true_random=True))
def test_formatting_keeps_the_meaning_and_every_comment(program: ast.Program, random: Random) -> None:
    text = careless(program, random)
    once = one_round(text)
    assert read(once).program == program
    assert sorted(comments(once)) == sorted(comments(text))


@given(programs, st.randoms(use_true_random=True))
def test_comments_keep_their_order_where_clauses_do(program: ast.Program, random: Random) -> None:
    """`careless` writes clauses in canonical order, so that nothing moves."""
    text = careless(program, random)
    assert comments(one_round(text)) == comments(text)


def test_an_inline_comment_stays_behind_the_remark_that_it_follows() -> None:
    found_by_chance = (
        "test s for q given values(extract-- \n(/**/dow\nfrom/**/date 'a word' not\nbetween last.something.something and\n"
        "1)--\nis unknown,/**/(.0).true/* one */\n)expect/* two */no\nrows;"
    )
    assert comments(one_round(found_by_chance)) == comments(found_by_chance)


@pytest.mark.parametrize("text", ["[user.id]", "[a, b.`c d`]", "[`a.b`, c.d.e]"])
def test_fields_of_structs_in_an_equivalence_are_written_as_they_were(text: str) -> None:
    program = f"QUERY q\n  RETURN  MATCH x\n  PATTERN A\n  WHERE   {text}\n  WITHIN  1 HOUR;\n"
    assert text in fmt(program)
    assert read(fmt(program)).program == read(program).program


@given(programs, st.randoms(use_true_random=True), st.sampled_from([0.0, 0.02, 0.2]))
def test_formatting_twice_is_formatting_once(program: ast.Program, random: Random, density: float) -> None:
    once = fmt(careless(program, random, density))
    assert fmt(once) == once


@given(st.lists(queries, min_size=1, max_size=3), st.randoms(use_true_random=True))
def test_the_bare_form_stays_bare(several: list[ast.Query], random: Random) -> None:
    text = bare(several, random)
    assume(text is not None)
    assert text is not None
    parsed, once = read(text), one_round(text)
    again = read(once)
    assert again.program == parsed.program
    assert len(again.bare) == len(parsed.bare) == len(parsed.program.statements)
    assert comments(once) == comments(text)
    assert fmt(fmt(text)) == fmt(text)


def pairs() -> list[tuple[str, str, str]]:
    """Title, input, expected; each file of `formatting/` has cases headed by `==== title` with input and output parted
    by `----`.
    """
    found = []
    for path in sorted((Path(__file__).parent / "formatting").glob("*.txt")):
        for case in path.read_text(encoding="utf-8").split("==== ")[1:]:
            title, _, rest = case.partition("\n")
            text, _, expected = rest.partition("----\n")
            found.append((f"{path.stem}: {title}", text, expected.rstrip("\n") + "\n"))
    return found


@pytest.mark.parametrize(("text", "expected"), [p[1:] for p in pairs()], ids=[p[0] for p in pairs()])
def test_a_text_is_laid_out_as_a_person_would_like(text: str, expected: str) -> None:
    assert fmt(text) == expected
    assert fmt(expected) == expected
    assert read(expected).program == read(text).program
    assert sorted(comments(expected)) == sorted(comments(text))


def test_a_file_with_errors_is_left_alone() -> None:
    found = format_source(Source("test.cep", "QUERY q RETURN;"))
    assert not isinstance(found, str)
    assert found[0].severity == "error"


def test_an_empty_file_stays_empty() -> None:
    assert fmt("") == ""
    assert fmt(" \n\n") == ""


def test_line_ends_stay_what_they_are() -> None:
    text = "IMPORT   a;\r\n/* one\r\n   two */\r\nIMPORT b; -- c\r\n"
    assert fmt(text) == "IMPORT a;\r\n/* one\r\n   two */\r\nIMPORT b;  -- c\r\n"
    assert fmt(fmt(text)) == fmt(text)
