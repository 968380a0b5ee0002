"""Columns of plain aggregates, which Spark computes alone: from panes to windows, and values that must fit their
types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from ..plan.windows import Sliding
from ..sql.types import quote_name
from .events import PANE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column


def windows(*window: int) -> Column:
    """The starts of the windows that hold a whole pane, as an array. Column `_pane` is where the pane begins; the
    numbers are those of a `Sliding`.
    """
    return F.expr(Sliding(*window).holding_sql(PANE))


def fitting(
    name: str,
    type_: str,
    otherwise: str | None,
    cure: str = "",
    keys: Sequence[str] = (),
    window: tuple[str, str] | None = None,
) -> Column:
    """The column in a type. What does not fit is null, or else fails the job, which then says `otherwise`, the window
    (the SQL of its edges; None is the whole input), the group and the cure.
    """
    value = F.col(name)
    fit = value.try_cast(type_)
    if otherwise is None:
        return fit.alias(name)
    where = [F.lit(" in the whole input")]
    if window is not None:
        start, end = (F.expr(edge).cast("string") for edge in window)
        where = [F.lit(" in the window from "), start, F.lit(" to "), end]
    for i, key in enumerate(keys):
        text = F.coalesce(F.col(quote_name(key)).cast("string"), F.lit("None"))
        where += [F.lit(f"{', ' if i else ' for '}{key} = "), text]
    error = F.raise_error(F.concat(F.lit(otherwise), *where, F.lit(f"; {cure}")))
    return F.when(value.isNull() | fit.isNotNull(), fit).otherwise(error).alias(name)
