"""What an engine gives for a clause, as SQL has it: its columns alone, or the error of AFTER MATCH SKIP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import RunError
from . import messages as say
from .number_table import sort_key
from .selecting import ordered, selected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc_grammar.source import Source
    from cepc_grammar.sql.syntax import PlainSelect

    from .lower import LoweredClause


def shown_table(table: Any, clause: LoweredClause, sources: Mapping[str, Source]) -> Any:
    """The columns of a result in memory. Raises RunError."""
    import pyarrow.compute as pc

    check = clause.check
    if check is not None:
        landing = table.column(check.landing)
        wrong = pc.or_kleene(pc.is_null(landing), pc.equal(landing, table.column(check.first)))
        if check.empty is not None:
            wrong = pc.and_kleene(wrong, pc.is_null(table.column(check.empty)))
        if pc.any(wrong).as_py():
            raise RunError([say.skip_failed(check.said, check.span)], sources)
    if clause.kept is not None:
        table = table.filter(table.column(clause.kept))
    return table.select(range(len(clause.shown))).rename_columns(list(clause.shown))


def selected_rows(table: Any, select: PlainSelect, clause: LoweredClause) -> Any:
    """What the SELECT makes of the columns shown. Rows that its ORDER BY does not tell apart stand as all rows do
    without one.
    """
    import numpy as np
    import pyarrow as pa

    from ..writing.order import in_order

    columns = selected(select, clause)
    keys = ordered(select, clause, columns)
    if keys:
        table = table if clause.sorted_by else in_order(table)
        numbers = [sort_key(table.column(place), key) for place, key in keys]
        table = table.take(pa.array(np.lexsort(numbers[::-1])))
    table = table.select([column.place for column in columns]).rename_columns([column.called for column in columns])
    if not keys and not clause.sorted_by:
        table = in_order(table)
    return table if select.limit is None else table.slice(0, select.limit)


def shown_frame(frame: Any, clause: LoweredClause) -> Any:
    """The columns of a DataFrame of Spark's, which ends with the error as soon as a row has it, shown or not."""
    from pyspark.sql import functions as F  # noqa: N812

    from cepc_runtime.spark.rows import fails_where
    from cepc_runtime.sql.types import quote_name

    check = clause.check
    if check is not None:
        landing = F.col(quote_name(check.landing))
        wrong = landing.isNull() | (landing == F.col(quote_name(check.first)))
        if check.empty is not None:
            wrong &= F.col(quote_name(check.empty)).isNull()
        frame = frame.where(fails_where(wrong, F.lit(check.said)))
    if clause.kept is not None:
        frame = frame.where(F.col(quote_name(clause.kept)))
    names = frame.columns[: len(clause.shown)]
    return frame.select(*(F.col(quote_name(of)).alias(name) for of, name in zip(names, clause.shown, strict=True)))
