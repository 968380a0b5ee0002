"""Layout: a document is a value; `render` makes lines of it, breaking a group only where its line would grow too long.

After Wadler's "A prettier printer", with additions for source text: `Remark`, a comment that waits for the end of its
line, `Inline`, one that need not, and `Origin`, which says what span of the source a part was written as, so that
comments find their place.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .source import Span


@dataclass(frozen=True, slots=True)
class Line:
    """A place to break: `flat` where the group fits on its line, else a new line. `hard` always breaks."""

    flat: str = " "
    hard: bool = False


@dataclass(frozen=True, slots=True)
class Cat:
    parts: tuple[Doc, ...]


@dataclass(frozen=True, slots=True)
class Nest:
    """New lines in `doc` are indented by two more."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Align:
    """New lines in `doc` start where `doc` starts."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Group:
    """All on one line, or broken at each of its own Lines."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Fill:
    """Items, a comma after each but the last: as many to a line as fit, or one to a line if a remark stands in them."""

    items: tuple[Doc, ...]


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment behind the line it comes to stand on, or on a line of its own below (`own_line`). Breaks groups."""

    text: str
    own_line: bool = False


@dataclass(frozen=True, slots=True)
class Inline:
    """A comment in the middle of a line, and the space that parts it from what is `before` it or after it. Where a
    remark waits for the end of the line, it waits behind that.
    """

    text: str
    before: bool

    @property
    def spaced(self) -> str:
        return f" {self.text}" if self.before else f"{self.text} "


@dataclass(frozen=True, slots=True)
class Origin:
    """`doc` prints the node at `span`, and the words before that which `lead` spells, in one way or another."""

    doc: Doc
    span: Span
    lead: tuple[str, ...] = ()


Doc = str | Line | Cat | Nest | Align | Group | Fill | Remark | Inline | Origin

LINE = Line()
SOFT = Line("")
HARD = Line(hard=True)

WIDTH = 100


def cat(*parts: Doc) -> Cat:
    return Cat(parts)


def separated(docs: Iterable[Doc], between: Doc) -> Cat:
    """The documents with `between` between each two."""
    parts: list[Doc] = []
    for doc in docs:
        parts += [between, doc] if parts else [doc]
    return Cat(tuple(parts))


def commas(docs: Iterable[Doc]) -> Cat:
    return separated(docs, cat(",", LINE))


def bracketed(left: str, inside: Doc, right: str) -> Group:
    """`left inside right` on one line, or the inside indented on lines of its own."""
    return Group(cat(left, Nest(cat(SOFT, inside)), SOFT, right))


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of output, and the remarks behind it, or after its indentation where it has no code."""

    code: str
    remarks: tuple[str, ...] = ()

    @property
    def closed(self) -> bool:
        """Nothing can stand behind it any more."""
        return bool(self.remarks) and self.remarks[-1].startswith("--")

    def beside(self, remark: str) -> TextLine:
        """The line with one more remark; it must not be closed."""
        return TextLine(self.code, (*self.remarks, remark))


def comment_line(text: str, indent: int = 0) -> TextLine:
    return TextLine(" " * indent, (text,))


_State = tuple[int, bool, Doc]  # indentation, flat?, document


def render(doc: Doc, width: int = WIDTH) -> list[TextLine]:
    """The lines of a document. Never recursive, so that depth is limited by memory only."""
    lines: list[TextLine] = []
    code, remarks = "", list[tuple[int, Remark]]()
    stack: list[_State] = [(0, False, doc)]
    while stack:
        indent, flat, doc = stack.pop()
        match doc:
            case str():
                code += doc
            case Line(text, hard) if flat and not hard:
                code += text
            case Line():
                lines += _finished(code, remarks)
                code, remarks = " " * indent, []
            case Cat(parts):
                stack += ((indent, flat, part) for part in reversed(parts))
            case Nest(inner):
                stack.append((indent + 2, flat, inner))
            case Align(inner):
                stack.append((len(code), flat, inner))
            case Origin(inner):
                stack.append((indent, flat, inner))
            case Group(inner):
                # A remark that waits gets its line end at the first chance.
                fits = flat or (not remarks and _fits(width - len(code), stack, (indent, True, inner)))
                stack.append((indent, fits, inner))
            case Fill(items):
                stack += reversed(_filled(items, indent, flat))
            case Remark():
                remarks.append((indent, doc))
            case Inline(text) if remarks:
                remarks.append((indent, Remark(text)))
            case Inline():
                code += doc.spaced
    return lines + _finished(code, remarks)


def _filled(items: Sequence[Doc], indent: int, flat: bool) -> list[_State]:
    if flat:
        return [(indent, True, commas(items))]
    if any(_has_remark(item) for item in items):
        return [(indent, False, commas(items))]
    first, *others = items
    return [(indent, False, first), *((indent, False, cat(",", Group(cat(LINE, other)))) for other in others)]


def _has_remark(doc: Doc) -> bool:
    stack = [doc]
    while stack:
        match stack.pop():
            case Remark() | Line(hard=True):
                return True
            case Cat(parts) | Fill(parts):
                stack += parts
            case Nest(inner) | Align(inner) | Group(inner) | Origin(inner):
                stack.append(inner)
    return False


def _fits(room: int, rest: Sequence[_State], first: _State) -> bool:
    """Does `first` fit into the room when flat, with what follows it on the same line?"""
    stack, below = [first], len(rest)
    while room >= 0:
        if not stack:
            if below == 0:
                return True
            below -= 1
            stack.append(rest[below])
        indent, flat, doc = stack.pop()
        match doc:
            case str():
                room -= len(doc)
            case Line(text, hard):
                if hard or not flat:
                    return not flat
                room -= len(text)
            case Inline():
                room -= len(doc.spaced)
            case Remark():
                if flat:
                    return False
            case Cat(parts):
                stack += ((indent, flat, part) for part in reversed(parts))
            case Fill(items):
                stack += reversed(_filled(items, indent, flat))
            case Nest(inner) | Align(inner) | Group(inner) | Origin(inner):
                stack.append((indent, flat, inner))
    return False


def _finished(code: str, remarks: Sequence[tuple[int, Remark]]) -> list[TextLine]:
    """A line, and the remarks that waited for its end: those that cannot stand behind it go below."""
    lines = [TextLine(code.rstrip(" ") or (code if remarks else ""))]
    for indent, remark in remarks:
        if remark.own_line or len(lines) > 1 or lines[-1].closed:
            lines.append(comment_line(remark.text, indent))
        else:
            lines[-1] = lines[-1].beside(remark.text)
    return lines


_ALIGN_LIMIT = 60


def text_of(lines: Iterable[TextLine]) -> str:
    """The lines joined, with the remarks of neighbouring lines in one column where none of them is long."""
    texts: list[str] = []
    for aligned, run in groupby(lines, _is_aligned):
        members = list(run)
        column = max(len(line.code) for line in members) if aligned else 0
        texts += (_text(line, column) for line in members)
    return "\n".join(texts)


def _is_aligned(line: TextLine) -> bool:
    return bool(line.remarks) and 0 < len(line.code.rstrip()) <= _ALIGN_LIMIT


def _text(line: TextLine, column: int) -> str:
    gap = "  " if line.remarks and line.code.strip(" ") else ""
    return line.code.ljust(column) + gap + " ".join(line.remarks)
