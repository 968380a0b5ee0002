"""Kafka as a source and as a sink, by Spark's own connector and the names of its options."""

from __future__ import annotations

import json
import socket
from collections import Counter
from functools import reduce
from hashlib import sha256
from operator import and_
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.avro.functions import from_avro
from pyspark.sql.window import Window

from ...results.lines import objects
from ...results.text_columns import joined, json_column
from ...sql.types import quote_name
from ..errors import SPARK_ERRORS
from ..schema import JobError, conform
from ..sinks import defaults
from ..texts import Texts
from .records import CORRUPT, json_reason, set_apart, with_corrupt
from .sinks import OfTables, in_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame, SparkSession

    from ..schema import Stream
    from .sinks import Sink, Target

SERVERS: Final = "kafka.bootstrap.servers"
WAIT: Final = 10.0
"""Seconds in which some broker must answer at the start."""
_PLACE: Final = ("topic", "partition", "offset")
_TOPICS: Final = ("subscribe", "subscribePattern", "assign")


def read_kafka(
    spark: SparkSession, stream: Stream, topics: str | None, options: Mapping[str, str], avro: str | None = None
) -> DataFrame:
    """The events in the values of records: JSON objects, or Avro of the schema `avro`; what is no event is MALFORMED.

    `topics` is what Spark calls `subscribe`, where the options name none. Raises JobError.
    """
    check_servers(options.get(SERVERS), "--option")
    check_connector(spark, avro is not None)
    given = {"startingOffsets": "earliest", **options}
    if topics is not None and not set(_TOPICS) & set(options):
        given["subscribe"] = topics
    if not set(_TOPICS) & set(given):
        raise JobError(
            f"no topic is named for stream {stream.name}: write --input TOPIC, or one of Spark's options "
            f"{', '.join(_TOPICS)}"
        )
    records = spark.readStream.format("kafka").options(**given).load()
    return _from_avro(records, stream, avro) if avro is not None else _from_json(records, stream)


def _from_json(records: DataFrame, stream: Stream) -> DataFrame:
    text = F.col("value").cast("string")
    texts = Texts("json")
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT, "timeZone": "UTC"}
    event = F.from_json(text, with_corrupt(stream, texts), options)
    parsed = records.select(_place(), text.alias("_text"), event.alias("_event"))
    flat = parsed.select("_place", "_text", F.col("_event").isNull().alias("_none"), "_event.*")
    said = {"reason": json_reason(F.col("_text"), stream, texts), **_said(), "record": F.col("_text")}
    wrong = F.col("_none") | F.col(CORRUPT).isNotNull() | texts.has_wrong(stream.schema)
    return set_apart(flat, stream, [texts.value_or_null(f) for f in stream.schema.fields], wrong, said)


def _from_avro(records: DataFrame, stream: Stream, schema: str) -> DataFrame:
    parsed = records.select(_place(), "value", from_avro("value", schema, {"mode": "PERMISSIVE"}).alias("_event"))
    fields = parsed.schema["_event"].dataType
    if not isinstance(fields, T.StructType):
        raise JobError(f"--avro: the schema must be that of a record, not of {fields.simpleString()}")
    conform(parsed.select("_event.*"), stream)
    # Of what it cannot parse, Spark makes a record of nulls.
    none = reduce(and_, (F.col(f"_event.{quote_name(field.name)}").isNull() for field in fields.fields))
    columns = (F.col(f"_event.{quote_name(f.name)}").cast(f.dataType).alias(f.name) for f in stream.schema.fields)
    flat = parsed.select("_place", F.col("value").alias("_value"), none.alias("_none"), *columns)
    reason = F.when(F.col("_value").isNull(), "it has no value").otherwise("it is not Avro of the schema")
    said = {"reason": reason, **_said(), "record_base64": F.base64("_value")}
    return set_apart(flat, stream, [F.col(quote_name(f.name)) for f in stream.schema.fields], F.col("_none"), said)


def kafka(target: Target) -> Sink:
    """A record for each row, whose key is the same when a micro-batch is written again; its headers are the labels of
    the query. Raises JobError.
    """
    check_servers(target.options.get(SERVERS), "--output-option")
    check_connector(target.spark)
    options = {**target.options, "topic": target.to}
    labels = {query: dict(of) for one in target.streams for query, of in one.stream.labels.items()}

    def save(records: DataFrame) -> None:
        records.write.format("kafka").options(**options).save()

    def alone(query: str, rows: DataFrame, batch: int) -> None:
        text = rows.select(F.struct("*").alias("row")).withColumn("_text", to_json("row"))
        # Equal rows are told apart by a number; the order of rows within a micro-batch is nobody's promise.
        number = F.row_number().over(Window.partitionBy("_text").orderBy("_text"))
        key = F.concat_ws(
            "/", F.lit(query), F.lit(str(batch)), F.sha2("_text", 256).substr(1, 16), number.cast("string")
        )
        value = F.struct(F.lit(query).alias("query"), F.lit(batch).alias("batch"), F.col("key").alias("id"), "row")
        headers = [_header(name, said) for name, said in labels.get(query, {}).items()]
        columns = [F.array(*headers).alias("headers")] if headers else []
        save(text.withColumn("key", key).select("key", to_json(value).alias("value"), *columns))

    def together(spark: SparkSession, tables: Mapping[str, Any], batch: int) -> None:
        found = pa.concat_tables(records_of(name, table, batch, labels.get(name, {})) for name, table in tables.items())
        save(in_files(spark.createDataFrame(found, RECORDS), found.num_rows))

    return OfTables(alone, together)


def records_of(query: str, table: Any, batch: int, labels: Mapping[str, str]) -> Any:
    """The RECORDS of the rows of a query."""
    texts, seen, keys = objects(table), Counter[str](), list[str]()
    for text in texts.to_pylist():
        seen[text] += 1  # as above
        keys.append(f"{query}/{batch}/{sha256(text.encode()).hexdigest()[:16]}/{seen[text]}")
    begin, key = f'{{"query":{json.dumps(query)},"batch":{batch},"id":', pa.array(keys, pa.string())
    values = joined(begin, json_column(key), ',"row":', texts, "}").cast(pa.string())
    headers = [{"key": name, "value": said.encode()} for name, said in labels.items()] or None
    return pa.table({"key": key, "value": values, "headers": pa.array([headers] * len(keys), _HEADERS)})


RECORDS: Final = "key STRING, value STRING, headers ARRAY<STRUCT<key STRING, value BINARY>>"
"""What Kafka is given."""
_HEADERS: Final = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


def _header(name: str, said: str) -> Column:
    return F.struct(F.lit(name).alias("key"), F.lit(said).cast("binary").alias("value"))


def to_json(value: Column | str) -> Column:
    return F.to_json(value, defaults("json"))


# ---- asked before anything is read or written ------------------------------------------------------------------------


def check_connector(spark: SparkSession, avro: bool = False) -> None:
    """Raises JobError, which says how to get it."""
    needed = []
    try:
        spark.read.format("kafka").options(**{SERVERS: "none:1", "subscribe": "none"}).load()
    except SPARK_ERRORS as error:
        if "kafka" not in str(error).lower():
            raise
        needed.append(("Kafka", "spark-sql-kafka-0-10"))
    if avro:
        try:
            spark.read.format("avro").schema("a INT").load([])  # looks for the source alone, and lists no files
        except SPARK_ERRORS as error:
            if "avro" not in str(error).lower():
                raise
            needed.append(("Avro", "spark-avro"))
    if needed:
        packages = ",".join(f"org.apache.spark:{name}_2.13:{spark.version}" for _, name in needed)
        what = " and ".join(name for name, _ in needed)
        raise JobError(f"Spark has no {what} by itself: run the job with spark-submit --packages {packages}")


def check_servers(servers: str | None, argument: str) -> None:
    """Does some broker answer? Spark itself would ask for many minutes. Raises JobError."""
    if not servers:
        raise JobError(f"no Kafka is named: write {argument} {SERVERS}=HOST:PORT")
    said = {}
    for server in filter(None, (one.strip() for one in servers.split(","))):
        host, _, port = server.rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), timeout=WAIT):
                return
        except ValueError:
            said[server] = "not HOST:PORT"
        except OSError as error:
            said[server] = error.strerror or str(error)
    reasons = "; ".join(f"{server}: {reason}" for server, reason in said.items())
    raise JobError(f"no broker of {SERVERS} answers ({reasons}); is the address right, and do they run?")


def _place() -> Column:
    """A struct, so that columns of the stream may have the names of Kafka's."""
    return F.struct(*_PLACE).alias("_place")


def _said() -> dict[str, Column]:
    return {name: F.col(f"_place.{name}") for name in _PLACE}
