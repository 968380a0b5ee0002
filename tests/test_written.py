"""An error of a run points at the expression that failed, where the query has it once."""

from __future__ import annotations

import pytest

from cepc.running.written import written_in
from cepc_grammar.source import Source, Span

BEFORE = "QUERY p RETURN x / y;\n"

WRITTEN = {
    "as it is": ("RETURN a.x / b.y AS r", "a.x / b.y", "a.x / b.y"),
    "with other spaces": ("RETURN a.x/b . y AS r", "a.x / b.y", "a.x/b . y"),
    "over two lines": ("WHERE a.x /\n  b.y > 1", "a.x / b.y", "a.x /\n  b.y"),
    "in another case": ("RETURN cast(a.s as int)", "CAST(a.s AS INT)", "cast(a.s as int)"),
    "a text keeps its spaces": ("WHERE f('a b')", "f('a b')", "f('a b')"),
    "with the variable, which the event has not": ("WHERE 60 / b.minutes > 1", "60 / minutes", "60 / b.minutes"),
    "twice": ("RETURN x / y WHERE x / y > 1", "x / y", None),
    "otherwise": ("RETURN half(x)", "x / 2", None),
    "within a longer word": ("RETURN xx / yy", "x / y", None),
    "nothing is known": ("RETURN x", "", None),
    "signs of regular expressions": ("RETURN (x + y) * z", "(x + y) * z", "(x + y) * z"),
}


@pytest.mark.parametrize("how", WRITTEN)
def test_the_place_of_an_expression(how: str) -> None:
    clause, expression, expected = WRITTEN[how]
    text = f"{BEFORE}QUERY q {clause};"
    query = Span(len(BEFORE), len(text), "q.cep")
    found = written_in(query, {"q.cep": Source("q.cep", text)}, expression)
    assert (None if found == query else text[found.start : found.end]) == expected


def test_the_query_is_the_place_where_its_text_is_not_at_hand() -> None:
    assert written_in(Span(3, 9, "gone.cep"), {}, "x / y") == Span(3, 9, "gone.cep")
