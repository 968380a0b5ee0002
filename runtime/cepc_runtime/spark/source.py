"""Reading a stream's events with Spark, in any format that Spark knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from pyspark.sql import types as T  # noqa: N812

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


def sentence(error: Exception) -> str:
    """What an error of Spark's says, without its trace and its plan."""
    text = str(error)
    for mark in _MARKS:
        if mark in text:
            return _first_line(text.partition(mark)[2])
    if "Traceback (most recent call last)" in text:  # of a worker: no error of the user's, for these come as rows
        lines = [line for line in text.partition("\n\tat ")[0].splitlines() if line.strip() and "SQLSTATE" not in line]
        return f"a bug in cepc ({lines[-1].strip()}); CEPC_DEBUG=1 shows the trace"
    return _first_line(text) or type(error).__name__


_MARKS = ("[USER_RAISED_EXCEPTION] ", "[PATH_NOT_FOUND] ")


def _first_line(text: str) -> str:
    return text.partition(" SQLSTATE")[0].partition("\n")[0].strip()
