"""Which streams a query is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar import ast

from ..diagnostics.near import nearest
from .events import ANY, EventTypes, owners, typed
from .inline import inline
from .messages import names as say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc_grammar.diagnostic import Diagnostic

    from .names import Declarations
    from .streams import KnownStream


def named_twice(query: ast.Query) -> list[Diagnostic]:
    """What to say of a stream that FROM names again."""
    first: dict[str, ast.Name] = {}
    return [
        say.listed_twice("stream", name.text, name.span, first[name.text].span)
        for name in query.streams
        if first.setdefault(name.text, name) is not name
    ]


def streams_of(
    query: ast.Query, declared: Declarations, streams: Mapping[str, KnownStream]
) -> tuple[str, ...] | Diagnostic | None:
    """The names of the streams that a query is about, in the order in which they are declared: those of FROM, else
    those whose types its pattern mentions. None where there are none, or may be some that could not be read.
    """
    lost = declared.lost.streams
    if lost and (not query.streams or any(name.text in lost for name in query.streams)):
        return None
    if query.streams:
        unknown = next((name for name in query.streams if name.text not in streams), None)
        if unknown is not None:
            return say.unknown_stream(unknown, list(streams))
        wanted = {name.text for name in query.streams}
        return tuple(name for name in streams if name in wanted)
    if len(streams) < 2:
        return tuple(streams) or None
    types = inline(query.pattern, declared, EventTypes(None, declared, streams)).types
    found: set[str] = set()
    for name, span in types.items():
        named = typed(name, declared)
        if named.root == ANY or named.root in declared.events:
            continue
        fitting = owners(named.said, named.root, streams.values())
        if len(fitting) > 1:
            return say.type_of_several_streams(ast.Name(name, span), fitting)
        listed = [t for stream in streams.values() for t in stream.types or ()]
        if fitting and named.said is None and named.root not in listed and nearest(named.root, listed) is not None:
            return say.type_like_a_listed_one(ast.Name(name, span), listed, fitting[0])
        found |= set(fitting)
    if not found and types and not all(typed(name, declared).root == ANY for name in types):
        name, span = next(iter(types.items()))
        known = [*(t for s in streams.values() for t in s.types or ()), *declared.events]
        return say.unknown_type(ast.Name(name, span), known, declared.patterns, "any stream")
    if not found:
        return say.stream_needed(query.name, list(streams))
    return tuple(name for name in streams if name in found)
