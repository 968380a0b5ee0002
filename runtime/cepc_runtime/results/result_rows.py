"""The rows of an aggregate query as a table: its results after HAVING, in the columns that it declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..numbers.columns import Ints, flat
from ..sql.types import to_arrow
from .having import kept
from .partition_sums import sums_table

if TYPE_CHECKING:
    from ..sql.expression import Expression
    from .as_columns import Results


def result_table(results: Results) -> Any:
    """The declared columns of the rows that HAVING keeps; without outputs, the sums that make them."""
    return rows_kept(results)[1] if results.totals.query.outputs else sums_table(results.totals)


def rows_kept(results: Results) -> tuple[Ints, Any]:
    """Which rows HAVING keeps, and their declared columns."""
    query = results.totals.query
    rows = np.arange(len(results.totals))
    if not len(rows):  # of hundreds of queries most have none in a small stretch
        return rows, _no_rows(results)
    if query.having is not None:
        rows = np.flatnonzero(kept(results, query.having))
        results = results.of_rows(rows)
    columns = {output.name: _column(results, output.expression) for output in query.outputs}
    columns["window_start"], columns["window_end"] = results.window_edges()
    return rows, pa.table(columns)


def _no_rows(results: Results) -> Any:
    columns = {o.name: pa.array([], to_arrow(o.expression.type)) for o in results.totals.query.outputs}
    columns["window_start"] = columns["window_end"] = pa.array([], to_arrow(results.time))
    return pa.table(columns)


def _column(results: Results, expression: Expression) -> Any:
    column, type_ = flat(results.evaluate(expression)), to_arrow(expression.type)
    return column if column.type == type_ else column.cast(type_)
