"""Streams of the rows of queries (docs/language.md, "The rows of a query as events"): such a stream is written as one
that declares the columns of the rows, and the rows are what it is given.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from cepc_grammar import ast

from .errors import Unsupported
from .rows import Columns

if TYPE_CHECKING:
    from .matches import Finder

UNITS: dict[int, Literal["s", "ms", "us"]] = {1_000_000: "s", 1_000: "ms", 1: "us"}


def declared(stream: ast.Stream, finder: Finder) -> ast.Stream:
    """The stream with the columns that the rows of the finder's query have."""
    edges = ("match_start", "match_end") if finder.of_matches else ("window_start", "window_end")
    clock = finder.events.clock
    columns = Columns(finder).types | dict.fromkeys(edges, clock.type)
    time = stream.event_time or ast.EventTime(ast.Name(edges[1]))
    if time.column.text in edges:
        if not finder.of_matches and not isinstance(finder.query.within, ast.Duration | ast.Session):
            raise Unsupported("rows without a time")
        time = replace(time, unit=time.unit or UNITS[clock.unit])
    own = tuple(ast.Column(ast.Name(name), kind) for name, kind in columns.items())
    return replace(stream, columns=(*own, *stream.columns), event_time=time, source=None)
