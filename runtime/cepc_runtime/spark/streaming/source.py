"""Reading a stream's events as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from ...types import quote_name
from ..errors import SPARK_ERRORS, sentence
from ..schema import JobError, Stream, conform

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

MALFORMED: Final = "_malformed"


def read_stream(
    spark: SparkSession, stream: Stream, form: str, path: str | None, options: Mapping[str, str]
) -> DataFrame:
    """The declared columns of the events that come to `path`: files by their format, or any source of Spark's by its name.

    Values of CSV and JSON that are not of the declared type fail the job. Raises JobError.
    """
    try:
        return (
            _kafka(spark, stream, path, dict(options))
            if form == "kafka"
            else _read(spark, stream, form, path, dict(options))
        )
    except SPARK_ERRORS as error:
        raise JobError(f"the events of stream {stream.name} cannot be read: {sentence(error)}") from error


def declared(spark: SparkSession, stream: Stream) -> DataFrame:
    """The events that come to where the stream's FROM says. Raises JobError."""
    if stream.source is None:
        raise JobError(f"no events are named for stream {stream.name}, and it is not declared with FROM")
    return read_stream(spark, stream, *stream.source, {})


def checked(events: DataFrame, stream: Stream) -> DataFrame:
    """The declared columns of events from anywhere, and MALFORMED where it is. Raises JobError."""
    return events if MALFORMED in events.columns else conform(events, stream)


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


def _kafka(spark: SparkSession, stream: Stream, topics: str | None, options: dict[str, str]) -> DataFrame:
    """Records whose value is a JSON object. `topics` is what Spark calls `subscribe`, where the options name none."""
    if topics is not None and not {"subscribe", "subscribePattern", "assign"} & set(options):
        options["subscribe"] = topics
    try:
        records = spark.readStream.format("kafka").options(**options).load()
    except SPARK_ERRORS as error:
        if "Failed to find" not in str(error):
            raise
        package = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{spark.version}"
        raise JobError(f"Spark has no Kafka by itself: run the job with spark-submit --packages {package}") from error
    return from_values(records, stream)


def from_values(records: DataFrame, stream: Stream) -> DataFrame:
    """The declared columns of JSON objects in the column `value`. What is no such object has its text in MALFORMED, and no columns."""
    text = F.col("value").cast("string")
    schema = T.StructType([*stream.schema.fields, T.StructField(MALFORMED, T.StringType())])
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": MALFORMED}
    parsed = records.select(F.from_json(text, schema, options).alias("event"), text.alias("text"))
    # An array, or nothing but a null, is no error of JSON's.
    malformed = F.when(F.col("event").isNull(), F.col("text")).otherwise(F.col(f"event.{MALFORMED}"))
    return parsed.select(
        *(F.col(f"event.{quote_name(f.name)}") for f in stream.schema.fields), malformed.alias(MALFORMED)
    )
