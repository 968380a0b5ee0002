"""Reading a stream's events as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from pyspark.sql import functions as F  # noqa: N812

from ..errors import SPARK_ERRORS, sentence
from ..paths import as_itself, is_file, odd_name
from ..schema import JobError, Stream, conform
from ..source import check_decimal, loaded, of_csv
from ..texts import Texts
from .kafka import read_kafka
from .records import CORRUPT, MALFORMED, json_reason, record_of, set_apart, with_corrupt, written_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

OF_FILES: Final = frozenset(("parquet", "orc", "json", "csv", "avro", "text", "xml", "binaryfile"))
_AGE: Final = "maxFileAge"
_CSV: Final = "a value is not of its declared type, or values are missing or too many"


def read_stream(
    spark: SparkSession,
    stream: Stream,
    form: str,
    path: str | None,
    options: Mapping[str, str],
    avro: str | None = None,
) -> DataFrame:
    """The declared columns of the events that come to `path`: files by their format, or any source of Spark's by its
    name.

    Records of Kafka, JSON and CSV that are no events are MALFORMED; `avro` is the schema of Kafka's values, which are
    JSON without it. Raises JobError.
    """
    try:
        if form == "kafka":
            return read_kafka(spark, stream, path, options, avro)
        if path is not None and form.lower() in OF_FILES and (wrong := _wrong_place(spark, path)) is not None:
            raise JobError(f"the events of stream {stream.name} cannot be read: {wrong}")
        place = path if path is None or form == "table" else as_itself(spark, path)
        return _read(spark, stream, form, place, with_age(form, options))
    except SPARK_ERRORS as error:
        raise JobError(f"the events of stream {stream.name} cannot be read: {sentence(error)}") from error


def _wrong_place(spark: SparkSession, path: str) -> str | None:
    """What is wrong with where files come to."""
    if is_file(spark, path):
        return f"{path} is a file, and a stream has those of a directory: name the directory that files come to"
    odd = odd_name(spark, path)
    return None if odd is None else f"{read_again(odd)}: give it another name"


def read_again(path: str) -> str:
    """What is wrong with the whole name of a file or directory of a stream: Spark takes all files of a micro-batch for
    each of them whose name is a pattern to it.
    """
    odd = "any of `[ ] { } * ? \\` in its whole name"
    return f"Spark reads the files of a micro-batch again and again where one has {odd}, as {path} has"


def with_age(form: str, options: Mapping[str, str]) -> dict[str, str]:
    """A file is read whatever its age: Spark by itself never reads one that is a week older than the newest it has
    seen, so that one whose time is ahead of the clock makes it blind to all others.
    """
    is_said = form.lower() not in OF_FILES or _AGE.lower() in map(str.lower, options)
    return dict(options) if is_said else {**options, _AGE: "365000d"}


def declared(spark: SparkSession, stream: Stream) -> DataFrame:
    """The events that come to where the stream's FROM says. Raises JobError."""
    return read_stream(spark, stream, *stream.declared_source, dict(stream.options))


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
        case "json" | "csv":
            return _text(spark, stream, form, path, options)
    return conform(reader.options(**options).load(path), stream)


def _text(
    spark: SparkSession, stream: Stream, form: Literal["csv", "json"], path: str | None, options: dict[str, str]
) -> DataFrame:
    """JSON and CSV, where single records can be wrong. A header of CSV with other columns, or in another order, is an
    error.
    """
    texts = Texts.of(form, options)
    written = written_by(options)
    if form == "csv":
        check_decimal(stream, options)
        options = of_csv(options)
    own = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT, "timeZone": "UTC"}
    reader = spark.readStream.format(form).options(**{**own, **options})
    records = reader.schema(with_corrupt(stream, texts)).load(path)
    text, wrong = record_of(stream, texts, written)
    reason = json_reason(text, stream, texts) if form == "json" else F.lit(_CSV)
    said = {"reason": reason, "file": F.col("_metadata.file_path"), "record": text}
    values = [texts.value_or_null(field) for field in stream.schema.fields]
    return set_apart(records, stream, values, wrong, said)


def _look(spark: SparkSession, stream: Stream, form: str, path: str | None, options: dict[str, str]) -> None:
    """Are the files that are there what the stream declares? Spark would put null in the place of a column that is
    missing.
    """
    try:
        found = loaded(spark, stream, form, path, options)
    except SPARK_ERRORS:  # none are there yet, or Spark says the same of the stream
        return
    conform(found, stream)
