"""What a plan reads: columns and event types. Everything else is left in the source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.plan.columns_read import columns_read
from cepc_runtime.plan.select import SelectContiguous
from cepc_runtime.sql.expression import fields

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cepc_runtime.plan.query import QueryPlan
    from cepc_runtime.plan.stream import Beside, Letter

    from .. import model


def columns_needed(stream: model.Stream, letters: tuple[Letter, ...], queries: tuple[QueryPlan, ...]) -> frozenset[str]:
    """The columns that order, type, partition, test or show events; all of them where canonical order is shown."""
    needed = {stream.time.column, *stream.time.order_by}
    if stream.type_column is not None:
        needed.add(stream.type_column)
    needed.update(columns_read(queries, (name for name, _ in stream.columns)))
    needed.update(f.column for letter in letters for e in letter.expressions for f in fields(e))
    return frozenset(needed)


def columns_made_of(beside: Iterable[Beside], stream: model.Stream) -> frozenset[str]:
    """The columns that say which event stands beside which, and what is asked of it."""
    made = tuple(beside)
    every = [name for name, _ in stream.columns] if made else []
    return frozenset((*every, *(name for column in made for name in (column.column, *column.partition))))


def raw_types_needed(
    letters: tuple[Letter, ...], queries: tuple[QueryPlan, ...], beside: tuple[Beside, ...]
) -> tuple[str, ...] | None:
    """The types that some letter asks for; None when events of every type count."""
    if (
        beside
        or any(isinstance(q.select, SelectContiguous) for q in queries)
        or any(letter.raw_type is None for letter in letters)
    ):
        return None
    return tuple(sorted({letter.raw_type for letter in letters if letter.raw_type is not None}))
