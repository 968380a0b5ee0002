"""Which columns the rows of queries depend on, beside those that order and type events and decide letters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..sql.expression import Aggregate, aggregates, fields, walk
from .query import letters_listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..sql.expression import Expression
    from .query import QueryPlan
    from .stream import Beside, Letter


def columns_read(queries: Iterable[QueryPlan], every: Iterable[str]) -> frozenset[str]:
    """Those that partition, test or show events; `every` one where canonical order is shown."""
    queries = tuple(queries)
    needed = {name for query in queries for name in query.partition}
    if any(shows_canonical_order(query) for query in queries):
        needed.update(every)
    needed.update(field.column for query in queries for e in expressions_of(query) for field in fields(e))
    return frozenset(needed)


def shows_canonical_order(query: QueryPlan) -> bool:
    """Do the rows depend on the order of events that tie?"""
    shown = [o.expression for o in query.outputs]
    collects = any(isinstance(n, Aggregate) and n.function.combination == "list" for e in shown for n in walk(e))
    asked = {f.at for e in (*shown, *(c.expression for c in query.conditions)) for f in fields(e)}
    ends = not asked.isdisjoint(("first", "last"))
    # The latest of earlier events is one of several that tie only where such may stand in one match.
    # So are those up to one, of which some aggregates are.
    running = (*(c.expression for c in query.conditions), *(shown if query.each else ()))
    up_to = "prev" in asked or any(a.running for e in running for a in aggregates(e))
    latest = up_to and any(edge.tie for edge in query.positions.edges)
    return query.returns_events or query.after is not None or collects or ends or latest


def beside_read(query: QueryPlan, letters: Sequence[Letter], beside: Iterable[Beside]) -> tuple[Beside, ...]:
    """Of the columns that are of other events, those that it asks for."""
    asked = {field.column for e in expressions_of(query) for field in fields(e)}
    asked.update(f.column for i in letters_listed(query) for e in letters[i].expressions for f in fields(e))
    return tuple(column for column in beside if column.name in asked)


def expressions_of(query: QueryPlan) -> Iterator[Expression]:
    """What it computes of its matches; conditions on one event are those of letters."""
    yield from (c.expression for c in query.conditions)
    yield from (o.expression for o in query.outputs)
    if query.having is not None:
        yield query.having
