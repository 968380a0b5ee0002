"""What a plan reads: columns and event types. Everything else is left in the source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.plan.select import SelectContiguous
from cepc_runtime.sql.expression import Aggregate, fields, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_runtime.plan.query import QueryPlan
    from cepc_runtime.plan.stream import Letter
    from cepc_runtime.sql.expression import Expression

    from .. import model


def columns_needed(stream: model.Stream, letters: tuple[Letter, ...], queries: tuple[QueryPlan, ...]) -> frozenset[str]:
    """The columns that order, type, partition, test or show events; all of them where canonical order is shown."""
    needed = {stream.time.column, *stream.time.order_by}
    if any(_shows_canonical_order(q) for q in queries):
        needed.update(name for name, _ in stream.columns)
    if stream.type_column is not None:
        needed.add(stream.type_column)
    for query in queries:
        needed.update(query.partition)
    needed.update(f.column for e in _expressions(letters, queries) for f in fields(e))
    return frozenset(needed)


def _shows_canonical_order(query: QueryPlan) -> bool:
    """Do the rows depend on the order of events that tie?"""
    shown = [o.expression for o in query.outputs]
    collects = any(isinstance(n, Aggregate) and n.function.combination == "list" for e in shown for n in walk(e))
    asked = {f.at for e in (*shown, *(c.expression for c in query.conditions)) for f in fields(e)}
    ends = not asked.isdisjoint(("first", "last"))
    # The latest of earlier events is one of several that tie only where such may stand in one match.
    latest = "prev" in asked and any(edge.tie for edge in query.positions.edges)
    return query.returns_events or query.after is not None or collects or ends or latest


def _expressions(letters: tuple[Letter, ...], queries: tuple[QueryPlan, ...]) -> Iterator[Expression]:
    for letter in letters:
        yield from letter.conditions
        for excluded in letter.excluded:
            yield from excluded
    for query in queries:
        yield from (c.expression for c in query.conditions)
        yield from (o.expression for o in query.outputs)
        if query.having is not None:
            yield query.having


def raw_types_needed(letters: tuple[Letter, ...], queries: tuple[QueryPlan, ...]) -> tuple[str, ...] | None:
    """The types that some letter asks for; None when events of every type count."""
    if any(isinstance(q.select, SelectContiguous) for q in queries) or any(
        letter.raw_type is None for letter in letters
    ):
        return None
    return tuple(sorted({letter.raw_type for letter in letters if letter.raw_type is not None}))
