"""Rows in an order that is the same every time: by window or match, then by the columns from left to right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cepc_runtime.sql.expression import Field, is_of_event

from .sorting import size_of_sorting, sorted_by

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .. import model

TIMES = ("window_start", "window_end", "match_start", "match_end")


def first_columns(query: model.Query, stream: model.Stream) -> tuple[str, ...]:
    """By which rows of RETURN EACH are sorted before the others, so that those of a match are together and in its
    order, as far as the columns tell: what is of the whole match, and when the event was.
    """
    if not query.each:
        return ()
    times = (stream.time.column, *stream.time.order_by)
    of_match = (o.name for o in query.outputs if not is_of_event(o.expression, query.partition))
    expressions = {o.name: o.expression for o in query.outputs}
    of_time = (n for time in times for n, e in expressions.items() if isinstance(e, Field) and e.column == time)
    return (*of_match, *(name for name in of_time if is_of_event(expressions[name], query.partition)))


def in_order(table: Any, memory: int | None = None, first: Iterable[str] = ()) -> Any:
    """The rows sorted as Spark sorts, nulls first, by the `first` columns before others. Rows that Spark takes for
    equal, and that are written in two ways, are sorted by what is written, so that the order does not depend on how
    they were found.

    What does not fit into so many bytes of `memory` is sorted on disk; None is no limit. Raises DiskError.
    """
    if table.num_rows < 2:  # a copy, like any that is sorted: it may be cut from a table of several queries' rows
        return table.take([0]) if table.num_rows else table.schema.empty_table()
    names = [name for name in TIMES if name in table.column_names]
    names += [name for name in dict.fromkeys((*first, *table.column_names)) if name not in names]
    if memory is not None and size_of_sorting(table) > memory:
        from .order_on_disk import sorted_on_disk

        return sorted_on_disk(table, names, memory)
    return sorted_by(table, names)
