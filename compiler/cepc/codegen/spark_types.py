"""Data types as the Python text that makes them in Spark (`T` is pyspark.sql.types)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cepc_runtime.sql.types import Array, Decimal, Interval, Map, Struct

from .python import Code, PythonText, call, listed, string

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cepc_runtime.sql.types import DataType

_SIMPLE: Final = {
    "BOOLEAN": "Boolean", "TINYINT": "Byte", "SMALLINT": "Short", "INT": "Integer", "BIGINT": "Long", "FLOAT": "Float",
    "DOUBLE": "Double", "STRING": "String", "BINARY": "Binary", "DATE": "Date", "TIMESTAMP": "Timestamp",
    "TIMESTAMP_NTZ": "TimestampNTZ", "VOID": "Null",
}  # fmt: skip


def spark_type(type_: DataType) -> PythonText:
    match type_:
        case Decimal(precision, scale):
            return Code(f"T.DecimalType({precision}, {scale})")
        case Interval(start, end):
            return Code(f"T.DayTimeIntervalType({start}, {end})")
        case Array(element):
            return call("T.ArrayType", spark_type(element))
        case Map(key, value):
            return call("T.MapType", spark_type(key), spark_type(value))
        case Struct(fields):
            return struct_type((f.name, f.type) for f in fields)
    return Code(f"T.{_SIMPLE[type_.sql]}Type()")


def struct_type(columns: Iterable[tuple[str, DataType]]) -> PythonText:
    fields = (call("T.StructField", string(name), spark_type(type_)) for name, type_ in columns)
    return call("T.StructType", listed(fields))
