"""What may be done about a diagnostic at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Span


@dataclass(frozen=True, slots=True)
class Edit:
    """`text` in place of what the span has."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Cure:
    """`title` says what is done, as a menu shows it."""

    title: str
    edit: Edit
    diagnostic: Diagnostic


def cures(diagnostics: Iterable[Diagnostic], source: str, start: int, end: int) -> Iterator[Cure]:
    """What cures the diagnostics that touch the text from start to end of a source."""
    for diagnostic in diagnostics:
        span = diagnostic.span
        if diagnostic.replacement is None or span.source != source or span.end < start or end < span.start:
            continue
        hint = diagnostic.hint or f"write `{diagnostic.replacement}`"
        title = f"Write `{diagnostic.replacement}`" if hint.startswith("did you mean") else hint[:1].upper() + hint[1:]
        yield Cure(title, Edit(span, diagnostic.replacement), diagnostic)


def changed(text: str, edits: Iterable[Edit]) -> str:
    """The text with the edits, which do not overlap.

    >>> from cepc_grammar.source import Span
    >>> changed("a + b", [Edit(Span(0, 1), "x"), Edit(Span(4, 5), "y")])
    'x + y'
    """
    for edit in sorted(edits, key=lambda e: e.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text
