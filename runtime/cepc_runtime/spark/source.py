"""Reading a stream's events with Spark, in any format that Spark knows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from ..sql.types import quote_name
from .errors import SPARK_ERRORS, sentence
from .footers import FORMS, check, folders_of, footers
from .listing import below
from .paths import as_itself
from .schema import JobError, Stream, conform, missing, not_declared
from .texts import Texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import DataFrame, SparkSession

SAMPLE: Final = 1000
OF_FILES: Final = frozenset({"parquet", "orc", "csv", "json", "avro"})
OF_TEXT: Final = {"mode": "FAILFAST", "timeZone": "UTC"}
"""Options of CSV and JSON. Files are read when rows are asked for, and then the session may have another zone."""
NO_VALUE: Final = "\0"
"""What Spark is told that null is written as: then only a value that is empty is, and `""` the empty string."""


def read(
    spark: SparkSession, stream: Stream, form: str, path: str, options: Mapping[str, str] | None = None
) -> DataFrame:
    """The declared columns of the events at `path`; of `form` "table" it is a table's name.

    CSV has a header; values of CSV and JSON that are not of the declared type fail the job when they are read. Raises
    JobError.
    """
    try:
        place = path if form == "table" else as_itself(spark, path)
        given = dict(options or {})
        return _read(spark, stream, form, place, {**below(spark, place, given), **given} if form in OF_FILES else given)
    except SPARK_ERRORS as error:
        said = sentence(error)
        if "UNABLE_TO_INFER_SCHEMA" in str(error):
            said = f"there are no files of {form} at {path}"
        raise JobError(f"the events of stream {stream.name} cannot be read: {said}") from error


def _read(spark: SparkSession, stream: Stream, form: str, path: str, options: dict[str, str]) -> DataFrame:
    match form:
        case "table":
            return conform(spark.read.options(**options).table(path), stream)
        case "csv":
            return conform(_csv(spark, stream, path, options), stream)
        case "json":
            _check_keys(spark, stream, path, options)
            texts = Texts.of("json", options)
            records = spark.read.options(**{**OF_TEXT, **options}).schema(texts.as_read(stream.schema)).json(path)
            return records.select(*(texts.value(field, stream) for field in stream.schema.fields))
    return conform(loaded(spark, stream, form, path, options), stream)


def loaded(spark: SparkSession, stream: Stream, form: str, path: str | None, options: Mapping[str, str]) -> DataFrame:
    """What Spark finds at the path, but for the types of some columns. Those that folders name have the declared one:
    Spark guesses theirs from their values, makes of `dev=007` a 7, and takes times for those of the session's zone, so
    they are read as texts. So have those whose types differ between files. Raises JobError where a file has not what is
    declared.
    """
    found = spark.read.format(form).options(**options).load(path)
    files = [unquote(file) for file in found.inputFiles()]
    folders = folders_of(files[0]) if files else frozenset()
    types = {field.name: field.dataType for field in found.schema.fields}
    guessed = [f for f in stream.schema.fields if types.get(f.name, f.dataType) not in _sure(f.dataType)]
    named = {field.name: field for field in guessed if field.name in folders}
    of_files = footers(spark, form, files) if form in FORMS and len(files) > 1 else []
    check(stream.name, stream.schema.fields, of_files)
    other = {field.name: field for field in stream.schema.fields if _differs(field.name, [f.schema for f in of_files])}
    if not named and not other:
        return found
    texts = Texts("folders")
    fields = [(named | other).get(field.name, field) for field in found.schema.fields]
    as_read = [texts.as_read(T.StructType([f])).fields[0] if f.name in named else f for f in fields]
    events = spark.read.format(form).options(**options).schema(T.StructType(as_read)).load(path)
    return events.select(*(texts.value(f, stream) if f.name in named else F.col(quote_name(f.name)) for f in fields))


def _sure(declared: T.DataType) -> set[T.DataType]:
    """The type that is right if it is guessed: 1.5d is taken for a DOUBLE, and times have no zone."""
    return {declared} - {T.DoubleType(), T.TimestampType()}


def _differs(column: str, schemas: Iterable[T.StructType]) -> bool:
    """Whether it has several types."""
    return len({schema[column].dataType.simpleString() for schema in schemas if column in schema.names}) > 1


def _check_keys(spark: SparkSession, stream: Stream, path: str, options: dict[str, str]) -> None:
    """JSON has no schema, and a key that is missing is null; but without a time or a type there are no events at all.

    Some lines tell, or where they do not all of them. Raises JobError.
    """
    if options.get("multiLine", "false").lower() == "true":
        return
    lines = spark.read.options(**options).text(path)
    present = [name for name in lines.columns if name != "value"]  # from names of folders
    for sample in (lines.limit(SAMPLE), lines):
        keys = sample.select(F.explode(F.json_object_keys("value")).alias("key")).distinct().collect()
        found = sorted({*present, *(row.key for row in keys)})
        fields = [f for f in stream.schema.fields if f.name in (stream.keys or stream.required) and f.name not in found]
        if not keys or not fields:
            return
    raise not_declared(stream, [missing(field, found) for field in fields])


def _csv(spark: SparkSession, stream: Stream, path: str, options: dict[str, str]) -> DataFrame:
    """Columns by their names in the header; Spark itself would take a schema's columns by their places. Raises
    JobError.
    """
    check_decimal(stream, options)
    _check_lines(spark, stream, path, options)
    texts = Texts.of("csv", options)
    options = {**OF_TEXT, **of_csv(options)}
    if options["header"].lower() != "true":
        declared = stream.schema
    else:
        types = {field.name: field.dataType for field in stream.schema.fields}
        header = spark.read.options(**options).csv(path).columns
        declared = T.StructType([T.StructField(name, types.get(name, T.StringType())) for name in header])
    records = spark.read.options(**options).schema(texts.as_read(declared)).csv(path)
    return records.select(*(texts.value(field, stream) for field in declared.fields))


def _check_lines(spark: SparkSession, stream: Stream, path: str, options: Mapping[str, str]) -> None:
    """Is each record a line, as Spark takes it to be? It would make others of a value with a line break, without a
    word. Raises JobError.
    """
    quote = quote_of(options)
    if not quote or "multiline" in map(str.lower, options):
        return
    line = F.col("value")
    goes_on = line.contains(quote) & line.rlike(_open_quote(quote, options))  # the pattern is dear, and few need it
    found = spark.read.options(**options).text(path).where(goes_on)
    places = found.select(F.struct(F.input_file_name().alias("file"), line).alias("place"))
    if place := places.agg(F.min("place").alias("place")).collect()[0].place:
        raise JobError(
            f"the events of stream {stream.name} cannot be read: {unquote(place.file.removeprefix('file://'))}: a "
            f"quoted value does not end on its line, `{place.value[:80]}`, and Spark takes each line for a record: "
            "write --option multiLine=true, or mend the file if it is cut off"
        )


def _open_quote(quote: str, options: Mapping[str, str]) -> str:
    """A pattern of Java's for lines of CSV that end within a quoted value. None of its parts gives back what it took:
    it is one walk along a line, and needs no stack.
    """
    given = {name.lower(): value for name, value in options.items()}
    between = given.get("sep", given.get("delimiter", ","))
    between = {"\\t": "\t"}.get(between, between)
    q, d, e = map(re.escape, (quote, between, given.get("escape") or quote))
    escaped = f"{q}{q}" if e == q else f"{q}{q}|{e}."
    inside, rest = f"(?:[^{q}{e}]++|{escaped})*+", f"[^{d}]*+" if len(between) == 1 else f"(?:(?!{d}).)*+"
    return rf"(?s)^(?:(?:{q}{inside}{q}|(?!{q})){rest}{d})*+{q}{inside}\z"


def of_csv(options: Mapping[str, str]) -> dict[str, str]:
    """The options with which Spark reads CSV as RFC 4180 says: a quote in a quoted value is doubled, and nothing else
    is special. With `enforceSchema` it would take the columns of all files by their places in one.
    """
    own = {"header": "true", "enforceSchema": "false", "escape": quote_of(options), "nullValue": NO_VALUE}
    given = {name.lower() for name in options}
    return {**{name: value for name, value in own.items() if name.lower() not in given}, **options}


def quote_of(options: Mapping[str, str]) -> str:
    """What stands around quoted values, by the options of Spark's readers and writers."""
    return next((value for name, value in options.items() if name.lower() == "quote"), '"')


def check_decimal(stream: Stream, options: dict[str, str]) -> None:
    """Takes the option `decimal` away. Raises JobError where it is a comma."""
    if options.pop("decimal", ".") != ".":
        raise JobError(
            f"stream {stream.name} has numbers with decimal commas, which Spark does not read: declare them as STRING, "
            "and compute a column from each, `x_number AS CAST(REPLACE(x, ',', '.') AS DOUBLE)`"
        )
