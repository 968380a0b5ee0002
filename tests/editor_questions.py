"""All that an editor asks of a text at one place."""

from __future__ import annotations

from cepc.language_server.completion import completion
from cepc.language_server.cures import cures
from cepc.language_server.hover import hover
from cepc.language_server.outline import outline
from cepc.language_server.program import OpenTexts, edited
from cepc.language_server.program_tests import named_tests
from cepc.language_server.rename import rename
from cepc_grammar.formatter import format_source
from cepc_grammar.source import Source


def ask_everything(text: str, offset: int) -> None:
    """That nothing raises is what is tested."""
    found = edited(Source("q.cep", text), OpenTexts({}))
    cured = list(cures(found.checked.diagnostics, "q.cep", 0, len(text)))
    assert all(0 <= cure.edit.span.start <= cure.edit.span.end <= len(text) for cure in cured)
    suggested = completion(found.source, offset, found)
    assert 0 <= suggested.start <= offset
    hover(found, offset)
    rename(found, [], offset, "other")
    list(outline(found.parsed))
    list(named_tests(found))
    format_source(found.source)
