"""`cepc fmt`: a source in the one layout, with its comments and its blank lines between statements."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

from . import ast
from .comments import tidy, weave
from .layout import TextLine, cat, comment_line, render, text_of
from .parser import parse
from .printer import statement
from .source import Source
from .tokens import line_end, tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .diagnostic import Diagnostic
    from .parser import Parsed
    from .raw_tokens import Comment, RawToken


def format_source(source: Source) -> str | tuple[Diagnostic, ...]:
    """The source's text in canonical layout, or its diagnostics if it has errors.

    The result means the same and has the same comments, and formatting it again changes nothing. Should it ever read
    back as something else, the text is given back as it was.
    """
    parsed = current = parse(source)
    if any(d.severity == "error" for d in parsed.diagnostics):
        return parsed.diagnostics
    text = source.text
    for _ in range(_ROUNDS):
        before, text = text, formatted(Source(source.name, text), current)
        if text == before:
            break
        current = parse(Source(source.name, text))
        if current.diagnostics or current.program != parsed.program or _remarks(current) != _remarks(parsed):
            return source.text
    return text


# A comment in the middle of a part moves to where the next round finds it beside the part. One is mostly enough.
_ROUNDS = 5


def _remarks(parsed: Parsed) -> list[str]:
    return sorted(tidy(c.text) for c in parsed.comments)


def formatted(source: Source, parsed: Parsed) -> str:
    """One round: the text of a source that was parsed without errors, in canonical layout and with its own line
    ends.
    """
    text = text_of(_assembled(source.text, _chunks(source, parsed)))
    text = text + "\n" if text else ""
    return text.replace("\n", "\r\n") if "\r\n" in source.text else text


# ---- what stands at the top level ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A statement or a comment between statements: where it stood, and its lines now."""

    start: int
    end: int
    lines: tuple[TextLine, ...]
    kind: type[ast.Statement] | None = None  # None for a comment

    @property
    def tall(self) -> bool:
        return self.kind is not None and len(self.lines) > 1


def _chunks(source: Source, parsed: Parsed) -> list[_Chunk]:
    """Statements and the comments between them, in the order of the source."""
    tokens = tokenize(source).tokens
    statements = parsed.program.statements
    chunks: list[_Chunk] = []
    free: list[Comment] = []
    pending = list(parsed.comments)[::-1]
    for i, (node, extent) in enumerate(zip(statements, parsed.extents, strict=True)):
        own = _tokens_between(tokens, extent.start, extent.end)
        end = own[-1].end
        if isinstance(node, ast.Query):  # what stands behind its last clause stays there when that moves
            end = line_end(source.text, end)
        free += _taken_before(pending, extent.start)
        bare = node.span in parsed.bare
        follower = statements[i + 1] if i + 1 < len(statements) else None
        doc = weave(statement(node, bare=bare), _taken_before(pending, end), source, own)
        closing = (
            ""
            if bare and not isinstance(follower, ast.DerivedEvent | ast.NamedPattern | ast.Function | ast.Test)
            else ";"
        )
        chunks.append(_Chunk(extent.start, extent.end, tuple(render(cat(doc, closing))), type(node)))
    free += reversed(pending)
    chunks += (_Chunk(c.span.start, c.span.end, (comment_line(tidy(c.text)),)) for c in free)
    return sorted(chunks, key=lambda chunk: chunk.start)


def _tokens_between(tokens: Sequence[RawToken], start: int, end: int) -> Sequence[RawToken]:
    """The tokens of a statement without its `;`."""
    first, last = (bisect_left(tokens, offset, key=lambda t: t.start) for offset in (start, end))
    return tokens[first : last - 1] if tokens[last - 1].text == ";" else tokens[first:last]


def _taken_before(pending: list[Comment], offset: int) -> list[Comment]:
    """Take from `pending` (last first) the comments before an offset."""
    taken: list[Comment] = []
    while pending and pending[-1].span.start < offset:
        taken.append(pending.pop())
    return taken


# ---- putting it together ---------------------------------------------------------------------------------------------


def _assembled(text: str, chunks: Sequence[_Chunk]) -> list[TextLine]:
    lines: list[TextLine] = []
    above: _Chunk | None = None  # the statement above, if only comments behind it came since
    for i, chunk in enumerate(chunks):
        gap = text.count("\n", chunks[i - 1].end, chunk.start) if i else 0  # 0 for a comment before the `;`
        if gap == 0 and i and chunk.kind is None:
            (comment,) = chunk.lines[0].remarks
            if lines[-1].closed:
                lines += chunk.lines
            else:
                lines[-1] = lines[-1].beside(comment)
            continue
        if i and (gap > 1 or (above is not None and _parted(text, above, chunks, i))):
            lines.append(TextLine(""))
        lines += chunk.lines
        above = chunk if chunk.kind is not None else None
    return lines


def _parted(text: str, above: _Chunk, chunks: Sequence[_Chunk], i: int) -> bool:
    """Does a blank line go between a statement and chunk `i` even where the source has none?

    It does next to a statement of several lines, and between statements of different kinds. Comments directly above a
    statement belong to it.
    """
    below = i
    while chunks[below].kind is None:
        below += 1
        if below == len(chunks) or text.count("\n", chunks[below - 1].end, chunks[below].start) > 1:
            return False
    return above.tall or chunks[below].tall or above.kind is not chunks[below].kind
