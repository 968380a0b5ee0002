"""What a sink of a stream gets of rows that were told: a DataFrame with the same values, whatever their types."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from cepc_runtime.spark.schema import from_spark
from cepc_runtime.spark.streaming.link_writes import dataframe
from cepc_runtime.sql import types
from cepc_runtime.sql.types import (
    SIMPLE_TYPES,
    STRING,
    TIMESTAMP,
    Array,
    DataType,
    Interval,
    Map,
    Struct,
    StructField,
    to_arrow,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VALUES: list[tuple[DataType, list[Any]]] = [
    (SIMPLE_TYPES["BOOLEAN"], [True, None]),
    (SIMPLE_TYPES["TINYINT"], [-128, None]),
    (SIMPLE_TYPES["BIGINT"], [2**63 - 1, None]),
    (SIMPLE_TYPES["FLOAT"], [0.5, None]),
    (SIMPLE_TYPES["DOUBLE"], [0.1, float("inf")]),
    (types.Decimal(38, 10), [Decimal("1234567890123456789012345678.0123456789"), None]),
    (STRING, ["é\U0001f600", ""]),
    (SIMPLE_TYPES["BINARY"], [b"\x00\xff", None]),
    (SIMPLE_TYPES["DATE"], [date(1, 1, 1), date(9999, 12, 31)]),
    (TIMESTAMP, [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC)]),
    (SIMPLE_TYPES["TIMESTAMP_NTZ"], [datetime(1969, 12, 31, 23, 59, 59, 999_999), None]),
    (Interval(0, 3), [timedelta(days=-3, microseconds=1), None]),
    (Interval(1, 2), [timedelta(hours=5), None]),
    (Array(TIMESTAMP), [[datetime(2026, 3, 1, tzinfo=UTC), None], []]),
    (
        Struct((StructField("a b", SIMPLE_TYPES["INT"]), StructField("c", Array(STRING)))),
        [{"a b": 1, "c": [None]}, None],
    ),
    (Map(STRING, types.Decimal(4, 2)), [[("k", Decimal("1.50")), ("none", None)], None]),
]


@pytest.mark.spark
def test_tables_that_were_told_are_the_same_rows_to_a_sink(spark: SparkSession) -> None:
    columns = [(f"Column `{place}`", type_) for place, (type_, _) in enumerate(VALUES)]
    arrays = [pa.array(values, to_arrow(type_)) for type_, values in VALUES]
    table = pa.table(arrays, [name for name, _ in columns])
    found = dataframe(spark, table, columns)
    assert found.columns == table.column_names
    assert [from_spark(field.dataType) for field in found.schema.fields] == [type_ for _, type_ in columns]
    assert found.toArrow().to_pydict() == table.to_pydict()
