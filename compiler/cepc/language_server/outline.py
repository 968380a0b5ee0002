"""The statements of a file, as an editor lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_runtime.cheap_dataclass import dataclass

from .columns import declared_as

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_grammar.parser import Parsed
    from cepc_grammar.source import Span

    from .references import SymbolKind


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """`span` is the whole text, `name_span` the name in it."""

    name: str
    kind: SymbolKind
    detail: str
    span: Span
    name_span: Span
    parts: tuple[OutlineEntry, ...] = ()


def outline(parsed: Parsed) -> Iterator[OutlineEntry]:
    """What a file declares, in the order of the text."""
    for statement, extent in zip(parsed.program.statements, parsed.extents, strict=True):
        match statement:
            case ast.Stream(name, columns):
                parts = tuple(OutlineEntry(c.name.text, "column", declared_as(c), c.span, c.name.span) for c in columns)
                yield OutlineEntry(name.text, "stream", "", extent, name.span, parts)
            case ast.DerivedEvent(name, base):
                yield OutlineEntry(name.text, "event type", f"AS {base.text}", extent, name.span)
            case ast.NamedPattern(name, parameters):
                yield OutlineEntry(name.text, "pattern", _given(parameters), extent, name.span)
            case ast.Function(name, parameters):
                yield OutlineEntry(name.text, "function", _given(parameters), extent, name.span)
            case ast.Query(name):
                yield OutlineEntry(name.text, "query", "", extent, name.span)
            case ast.Test(name, query):
                yield OutlineEntry(name.text, "test", f"FOR {query.text}", extent, name.span)


def _given(parameters: tuple[ast.Name, ...] | None) -> str:
    return "" if parameters is None else f"({', '.join(p.text for p in parameters)})"
