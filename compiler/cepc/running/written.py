"""Where in a query the expression stands that a run failed with, of which the plan has the text alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from cepc_grammar.source import Span

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc_grammar.source import Source

_PART: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\w+|[^\s\w]")
"""Of an expression: a text, a word or number, or a sign."""

_OF_A_VARIABLE: Final = r"(?:\w+\s*\.\s*)?"


def written_in(place: Span, sources: Mapping[str, Source], expression: str) -> Span:
    """The one place in a query where the expression is written, with whatever spaces and case, and with a variable
    where that of one event has none; the query where it is written otherwise, or twice.
    """
    parts = [_OF_A_VARIABLE * part.isidentifier() + re.escape(part) for part in _PART.findall(expression)]
    if not parts or place.source not in sources:
        return place
    begins = r"(?<!\w)" if expression[:1].isalnum() else ""
    ends = r"(?!\w)" if expression[-1:].isalnum() else ""
    text = sources[place.source].text[place.start : place.end]
    found = list(re.finditer(begins + r"\s*".join(parts) + ends, text, re.IGNORECASE))
    if len(found) != 1:
        return place
    return Span(place.start + found[0].start(), place.start + found[0].end(), place.source)
