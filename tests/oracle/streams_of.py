"""Which streams a query is about, and of which of them each event type of its pattern is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar import ast

from .errors import Unsupported
from .patterns import leaves, resolved

if TYPE_CHECKING:
    from collections.abc import Sequence


def streams_of(program: ast.Program, query: ast.Query) -> list[str]:
    """In the order in which they are declared."""
    declared = [s.name.text for s in program.statements if isinstance(s, ast.Stream)]
    if query.streams:
        wanted = {name.text for name in query.streams}
    else:
        types = [leaf.type for leaf in leaves(resolved(program, query.pattern)) if leaf.type is not None]
        wanted = {owner for t in types if (owner := _owner(program, t, declared)) is not None}
    if not wanted and len(declared) == 1:
        return declared
    if not wanted:
        raise Unsupported("a query of no stream")
    return [name for name in declared if name in wanted]


def owners(program: ast.Program, query: ast.Query, streams: Sequence[str]) -> dict[str, str]:
    """The stream of each type of the pattern; none for ANY and what is derived from it."""
    types = [leaf.type for leaf in leaves(resolved(program, query.pattern)) if leaf.type is not None]
    return {t: owner for t in types if (owner := _owner(program, t, streams)) is not None}


def _owner(program: ast.Program, type_: str, streams: Sequence[str]) -> str | None:
    """Of these streams: the one that is written, else the one that lists the type, else the one that lists none."""
    derived = {e.name.text: e for e in program.statements if isinstance(e, ast.DerivedEvent)}
    said, _, name = type_.rpartition(".")
    while (event := derived.get(name)) is not None:
        said = said or (event.stream.text if event.stream is not None else "")
        name = event.base.text
    if said:
        return said
    if name.upper() == "ANY":
        return None
    listing, open_ = [], []
    for stream in program.statements:
        if isinstance(stream, ast.Stream) and stream.name.text in streams:
            if stream.event_type is None:
                listing += [stream.name.text] * (name == stream.name.text)
            elif stream.event_type.types is None:
                open_.append(stream.name.text)
            elif name in [t.text for t in stream.event_type.types]:
                listing.append(stream.name.text)
    found = listing or open_
    if len(found) != 1:
        raise Unsupported(f"{name} is a type of {len(found)} streams")
    return found[0]
