"""Names that a statement with a syntax error would have declared: not finding them is no second mistake."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from cepc_grammar.tokens import quoted_name, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.parser import Parsed
    from cepc_grammar.source import Source

UNKNOWN = frozenset({"E0201", "E0202", "E0207"})  # an event type, a pattern, a stream that nothing declares
NO_STREAM = "W0601"
DECLARING = frozenset({"STREAM", "EVENT", "PATTERN"})


def without_consequences(
    diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source], parsed: Iterable[tuple[Source, Parsed]]
) -> tuple[Diagnostic, ...]:
    """The diagnostics of resolution without those that only follow from statements that the parser left out."""
    broken = {word_and_name for source, one in parsed if one.diagnostics for word_and_name in _left_out(source, one)}
    names = {name for _, name in broken}
    streamless = any(word == "STREAM" for word, _ in broken)

    def follows(diagnostic: Diagnostic) -> bool:
        if diagnostic.code == NO_STREAM:
            return streamless
        source = sources.get(diagnostic.span.source)
        if diagnostic.code not in UNKNOWN or source is None:
            return False
        return quoted_name(source.text[diagnostic.span.start : diagnostic.span.end]) in names

    return tuple(diagnostic for diagnostic in diagnostics if not follows(diagnostic))


def _left_out(source: Source, parsed: Parsed) -> Iterable[tuple[str, str]]:
    """Each word that begins a declaration outside the statements that were parsed, with the name behind it."""
    for token, following in pairwise(tokenize(source).tokens):
        declares = token.upper in DECLARING and following.kind in ("WORD", "QUOTED")
        if declares and not any(extent.start <= token.start < extent.end for extent in parsed.extents):
            yield token.upper, quoted_name(following.text)
