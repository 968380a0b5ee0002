"""Rows of a DataFrame of Spark's, numbered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cepc_runtime.plan.row_numbers import ShiftedColumn, SortColumn

    from .numbered import NumberedRows


def number_frame(frame: Any, rows: NumberedRows) -> Any:
    """The columns that queries see; one sort of the rows by partition and order gives all that are made of it."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    from cepc_runtime.sql.types import quote_name

    partition = [F.col(quote_name(column)) for column in rows.order.partition] or [F.lit(0)]
    window = Window.partitionBy(*partition).orderBy(*map(_key, rows.order.order))
    number = F.row_number().over(window).cast("bigint")

    def shifted(column: Any, places: int) -> Any:
        return (F.lead(column, places) if places > 0 else F.lag(column, -places)).over(window)

    def value(one: ShiftedColumn) -> Any:
        if one.column == rows.number:
            return F.when(shifted(F.lit(1), one.places).isNotNull(), number + one.places)
        return shifted(F.col(quote_name(one.column)), one.places)

    return frame.select(
        *(F.col(quote_name(column)).alias(column) for column in rows.columns),
        number.alias(rows.number),
        *(value(one).alias(one.name) for one in rows.shifted),
    )


def coming_frame(frame: Any, rows: NumberedRows) -> Any:
    """The same columns of rows that come as time goes on. What their order decides is still to be known: of that the
    number has a place and no value yet, and rows before have no column at all.
    """
    from pyspark.sql import functions as F  # noqa: N812

    from cepc_runtime.sql.types import quote_name

    types = {field.name: field.dataType for field in frame.schema.fields} | {rows.number: "bigint"}
    return frame.select(
        *(F.col(quote_name(column)).alias(column) for column in rows.columns),
        F.lit(0).cast("bigint").alias(rows.number),
        *(F.lit(None).cast(types[one.column]).alias(one.name) for one in rows.shifted if one.places > 0),
    )


def _key(sort: SortColumn) -> Any:
    from pyspark.sql import functions as F  # noqa: N812

    from cepc_runtime.sql.types import quote_name

    column = F.col(quote_name(sort.column))
    if sort.descending:
        return column.desc_nulls_first() if sort.nulls_first else column.desc_nulls_last()
    return column.asc_nulls_first() if sort.nulls_first else column.asc_nulls_last()
