"""Reading a stream's events with Spark, in any format that Spark knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from pyspark.sql import types as T  # noqa: N812

from .errors import sentence
from .schema import JobError, Stream, conform

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession


def read(
    spark: SparkSession, stream: Stream, form: str, path: str, options: Mapping[str, str] | None = None
) -> DataFrame:
    """The declared columns of the events at `path`; of `form` "table" it is a table's name.

    CSV has a header; values of CSV and JSON that are not of the declared type fail the job when they are read. Raises JobError.
    """
    try:
        return _read(spark, stream, form, path, dict(options or {}))
    except AnalysisException as error:
        raise JobError(f"the events of stream {stream.name} cannot be read: {sentence(error)}") from error


def _read(spark: SparkSession, stream: Stream, form: str, path: str, options: dict[str, str]) -> DataFrame:
    match form:
        case "table":
            return conform(spark.read.options(**options).table(path), stream)
        case "csv":
            options = {"header": "true", "mode": "FAILFAST", **options}
            return conform(_csv(spark, stream, path, options), stream)
        case "json":
            # A key that is nowhere is null, as a key that is missing in some line is.
            return spark.read.options(**{"mode": "FAILFAST", **options}).schema(stream.schema).json(path)
    return conform(spark.read.format(form).options(**options).load(path), stream)


def _csv(spark: SparkSession, stream: Stream, path: str, options: dict[str, str]) -> DataFrame:
    """Columns by their names in the header; Spark itself would take a schema's columns by their places."""
    if options["header"].lower() != "true":
        return spark.read.options(**options).schema(stream.schema).csv(path)
    header = spark.read.options(**options).csv(path).columns
    declared = {field.name: field.dataType for field in stream.schema.fields}
    schema = T.StructType([T.StructField(name, declared.get(name, T.StringType())) for name in header])
    return spark.read.options(**options).schema(schema).csv(path)
