"""What is said about streams of the rows of queries."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from cepc_grammar.diagnostic import Diagnostic, Label
from cepc_grammar.printer import to_text
from cepc_grammar.spelling import name_text

from ...diagnostics.listed import listed
from ...diagnostics.near import did_you_mean, replacement
from ...wording import first_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cepc_grammar import ast

    from ... import model


def unknown_query(name: ast.Name, known: Sequence[str]) -> Diagnostic:
    hint = did_you_mean(name.text, known) or (f"the queries are {first_of(known)}" if known else "write the query")
    return Diagnostic(
        "E0235",
        f"unknown query `{name.text}`",
        name.span,
        "there are no rows of it",
        hint=hint,
        replacement=replacement(name.text, known),
    )


def circle(stream: ast.Stream, way: Sequence[tuple[str, str]]) -> Diagnostic:
    """`way` are streams, each with its query, from the stream back to it."""
    assert stream.query is not None
    first = way[0][0]
    said = ", ".join(
        f"{'it' if other == first else 'which'} has the rows of `{query}`, which looks at `{target}`"
        for (other, query), (target, _) in pairwise(way)
    )
    return Diagnostic(
        "E0230",
        f"the events of `{first}` would be made of themselves",
        stream.query.span,
        said,
        notes=("there are no rows before there are events, and no events before there are rows",),
        hint=f"let a query that does not look at `{first}` make its events",
    )


def own_column(column: ast.Column, query: ast.Name, rows: Iterable[str]) -> Diagnostic:
    names = listed((f"`{name}`" for name in rows), "and")
    written = to_text(column.type) if column.type is not None else ""
    name = name_text(column.name)
    return Diagnostic(
        "E0232",
        f"`{column.name.text}` is declared, and the rows of `{query.text}` say which columns there are",
        column.span,
        "no column that is computed",
        notes=(f"they have {names}",) if names else (),
        hint=f"leave `{name} {written}` out, or say what it is of them: `{name} {written} AS …`",
    )


def no_time(declaration: ast.Stream, query: model.Query, named: str, times: Sequence[str]) -> Diagnostic:
    """`times` are other columns of the rows of the same type."""
    assert declaration.query is not None
    place = declaration.query.span if declaration.event_time is None else declaration.event_time.column.span
    name = name_text(declaration.query)
    cure = (
        f"name a time that the rows have: `EVENT TIME {times[0]}`"
        if times
        else (
            f"give `{name}` windows, `WITHIN 1 DAY`, say; or let it return a time, such as `MAX(v.at) AS last`, and "
            "write `EVENT TIME last`"
        )
    )
    return Diagnostic(
        "E0233",
        f"the rows of `{declaration.query.text}` have no event time",
        place,
        f"`{named}` is null in all of them",
        notes=("with WITHIN UNBOUNDED there is one window, which has no edges",),
        others=(Label(query.span, "this query"),),
        hint=cure,
    )


def watermark(declaration: ast.Stream, time: ast.EventTime) -> Diagnostic:
    assert declaration.query is not None
    return Diagnostic(
        "E0234",
        "the rows of a query are never late",
        time.span,
        f"WATERMARK says nothing of the rows of `{declaration.query.text}`",
        notes=("how late events may be is said of the streams that the query looks at",),
        hint="leave WATERMARK out",
    )
