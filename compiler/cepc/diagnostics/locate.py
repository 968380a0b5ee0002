"""Where a span is, in lines and columns: the one answer that text and JSON both print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from cepc_grammar.source import Source, Span


@dataclass(frozen=True, slots=True)
class Region:
    """Lines and columns counted from 1, columns in characters; the end is the first column after the text."""

    line: int
    column: int
    end_line: int
    end_column: int


def locate(source: Source, span: Span) -> Region:
    """The region of a span, without the blanks at its end.

    A span in the blank rest of a file is moved to right after the last text: that is the line a reader looks at.
    """
    text = source.text
    last = len(text.rstrip())
    start = min(span.start, last)
    end = max(start, min(span.end, last))
    end = start + len(text[start:end].rstrip())
    return Region(*source.position(start), *source.position(end))
