"""A module's own documentation: its comments, beside what they stand above."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_grammar.printer import to_text
from cepc_runtime.cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_grammar.parser import Parsed
    from cepc_grammar.source import Source


@dataclass(frozen=True, slots=True)
class Entry:
    """What a module declares: its name, `usage` as a query writes it, the comment above it, and its text."""

    name: str
    usage: str
    comment: str
    text: str


@dataclass(frozen=True, slots=True)
class ModulePage:
    """`comment` is what the module begins with; `imports` are the modules that it brings along."""

    comment: str
    imports: tuple[str, ...]
    entries: tuple[Entry, ...]

    @property
    def summary(self) -> str:
        """The first sentence, without the module's name before a colon."""
        first = f"{self.comment} ".replace("\n", " ").split(". ")[0]
        return first.partition(": ")[2] or first


def document(source: Source, parsed: Parsed) -> ModulePage:
    """The page of a module. A block of comments belongs to what follows on the next line; one that is followed by a
    blank line, to the module.
    """
    head = next((text for text, following in _blocks(source, parsed) if following is None), "")
    above = comments_above(source, parsed)
    entries = tuple(
        Entry(statement.name.text, _usage(statement), above.get(extent.start, ""), to_text(statement))
        for statement, extent in zip(parsed.program.statements, parsed.extents, strict=True)
        if not isinstance(statement, ast.Import | ast.Test)
    )
    imports = (
        to_text(s).removeprefix("IMPORT ").removesuffix(";")
        for s in parsed.program.statements
        if isinstance(s, ast.Import)
    )
    return ModulePage(head, tuple(imports), entries)


def comments_above(source: Source, parsed: Parsed) -> dict[int, str]:
    """By where a statement starts, the comment that it has above it."""
    return {following: text for text, following in _blocks(source, parsed) if following is not None}


def _blocks(source: Source, parsed: Parsed) -> Iterator[tuple[str, int | None]]:
    """Comments on neighbouring lines, and where the statement on the next line starts, if one does."""
    statements = {extent.start for extent in parsed.extents}
    places = sorted([*statements, *(c.span.start for c in parsed.comments), len(source.text)])
    lines: list[str] = []
    for comment in parsed.comments:
        lines.append(_plain(comment.text))
        following = places[bisect_left(places, comment.span.end)]
        if source.text.count("\n", comment.span.end, following) > 1:
            yield "\n".join(lines), None
            lines = []
        elif following in statements:
            yield "\n".join(lines), following
            lines = []


def _plain(comment: str) -> str:
    if comment.startswith("--"):
        return comment.removeprefix("--").strip()
    return "\n".join(line.strip(" *") for line in comment.removeprefix("/*").removesuffix("*/").strip().splitlines())


def _usage(statement: ast.Statement) -> str:
    """The first words of a declaration: `rise(T, x)`, `QUERY q`."""
    match statement:
        case ast.NamedPattern(name, parameters):
            return name.text if parameters is None else f"{name.text}({', '.join(p.text for p in parameters)})"
        case ast.Function(name, parameters):
            return f"{name.text}({', '.join(p.text for p in parameters)})"
        case ast.DerivedEvent(name):
            return f"EVENT {name.text}"
        case ast.Stream(name) | ast.Query(name):
            return f"{type(statement).__name__.upper()} {name.text}"
    raise TypeError(statement)


def page_text(name: str, page: ModulePage) -> str:
    """The page for a terminal."""
    parts = [page.comment or name]
    if page.imports:
        parts.append(f"Brings along {', '.join(page.imports)}.")
    return "\n\n".join([*parts, *map(entry_text, page.entries)]) + "\n"


def entry_text(entry: Entry) -> str:
    body = "\n".join(f"    {line}".rstrip() for line in [*entry.comment.splitlines(), "", *entry.text.splitlines()])
    return f"{entry.usage}\n{body.removeprefix(chr(10)) if not entry.comment else body}"
