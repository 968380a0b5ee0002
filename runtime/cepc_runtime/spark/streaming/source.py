"""Reading a stream's events as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import SPARK_ERRORS, sentence
from ..schema import JobError, Stream, conform

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession


def read_stream(
    spark: SparkSession, stream: Stream, form: str, path: str | None, options: Mapping[str, str]
) -> DataFrame:
    """The declared columns of the events that come to `path`: files by their format, or any source of Spark's by its name.

    Values of CSV and JSON that are not of the declared type fail the job. Raises JobError.
    """
    try:
        return _read(spark, stream, form, path, dict(options))
    except SPARK_ERRORS as error:
        raise JobError(f"the events of stream {stream.name} cannot be read: {sentence(error)}") from error


def declared(spark: SparkSession, stream: Stream) -> DataFrame:
    """The events that come to where the stream's FROM says. Raises JobError."""
    if stream.source is None:
        raise JobError(f"no events are named for stream {stream.name}, and it is not declared with FROM")
    return read_stream(spark, stream, *stream.source, {})


def _read(spark: SparkSession, stream: Stream, form: str, path: str | None, options: dict[str, str]) -> DataFrame:
    reader = spark.readStream.format(form)
    match form:
        case "table":
            assert path is not None
            return conform(spark.readStream.options(**options).table(path), stream)
        case "parquet" | "orc":
            _look(spark, stream, form, path, options)
            return reader.options(**options).schema(stream.schema).load(path)
        case "json":
            return reader.options(**{"mode": "FAILFAST", **options}).schema(stream.schema).load(path)
        case "csv":  # a header that names other columns, or in another order, is an error
            options = {"header": "true", "mode": "FAILFAST", "enforceSchema": "false", **options}
            return reader.options(**options).schema(stream.schema).load(path)
    return conform(reader.options(**options).load(path), stream)


def _look(spark: SparkSession, stream: Stream, form: str, path: str | None, options: dict[str, str]) -> None:
    """Are the files that are there what the stream declares? Spark would put null in the place of a column that is missing."""
    try:
        found = spark.read.format(form).options(**options).load(path)
    except SPARK_ERRORS:  # none are there yet, or Spark says the same of the stream
        return
    conform(found, stream)
