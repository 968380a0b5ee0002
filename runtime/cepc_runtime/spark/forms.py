"""In which form workers hand on the rows that they have found: as rows, or as whole files of Parquet.

A row that Spark writes to a file goes from a worker to the JVM, is taken apart there, sorted by query, and written
value by value. A worker has it in columns, of which Arrow makes Parquet. Either the bytes of whole files go through the
JVM, and Spark writes them as it writes anything, with its commits, on any file system. Or, where workers and the driver
are on one machine, a worker writes the file to its disk: for each file that Hadoop makes there, it starts processes.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Final

from ..cheap_dataclass import dataclass
from ..sql.types import (
    BINARY,
    BOOLEAN,
    DATE,
    FLOATS,
    INTEGERS,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Array,
    Decimal,
    Map,
    Struct,
)
from .caching import in_few_tasks
from .paths import whole_path

if TYPE_CHECKING:
    from collections.abc import Collection

    from pyspark.sql import DataFrame, SparkSession

    from ..sql.types import DataType


@dataclass(frozen=True)
class InRows:
    """A row of the DataFrame is a row of a query."""

    def in_tasks(self, events: DataFrame) -> DataFrame:
        """The events in as many tasks as they came in."""
        return events


@dataclass(frozen=True)
class Carried:
    """Files are in the rows, without their last four bytes."""


@dataclass(frozen=True)
class Placed:
    """Files are in a folder of the disk that workers and the driver share, and their names in the rows. These have a
    text that those of no other write have.
    """

    folder: str
    write: str


@dataclass(frozen=True)
class Parquet:
    """Files of Parquet as this version of Spark would write them, with this compression and its times so."""

    compression: str
    times: str
    spark: str

    @property
    def ending(self) -> str:
        """Of the names that Spark gives to such files."""
        return f"{_ENDINGS[self.compression]}.parquet"


@dataclass(frozen=True)
class TextLines:
    """Files of JSON or of CSV, as `form` says."""

    form: str

    @property
    def ending(self) -> str:
        """Of the names that Spark gives to such files."""
        return f".{self.form}"


FileKind = Parquet | TextLines


@dataclass(frozen=True)
class InFiles:
    """A row of the DataFrame is a file with rows of one query."""

    parquet: Parquet
    where: Carried | Placed

    def in_tasks(self, events: DataFrame) -> DataFrame:
        """The events in no more tasks than there are cores, for each makes a file for each query."""
        return in_few_tasks(events)


Form = InRows | InFiles

IN_ROWS: Final = InRows()

END: Final = b"PAR1"
"""The last bytes of any file of Parquet. Spark's writer of text is told that lines end so."""

INT96: Final = "INT96"
"""How Spark writes times unless it is told otherwise."""

_COMPRESSIONS: Final = {"NONE": "none", "UNCOMPRESSED": "none", "SNAPPY": "snappy", "GZIP": "gzip", "ZSTD": "zstd"}
MICROS: Final = "TIMESTAMP_MICROS"
"""As whole numbers, with their least and greatest beside them."""

TIMES: Final = (INT96, MICROS)
"""Forms of times that workers write. Of milliseconds Spark takes those before, and Arrow those nearer to 1970."""
_ENDINGS: Final = {"none": "", "snappy": ".snappy", "gzip": ".gz", "zstd": ".zstd"}
MOVED: Final = ("file", "hdfs", "viewfs", "abfs", "abfss")
"""Where a file gets another name without being copied."""

_COMMITTER: Final = "org.apache.parquet.hadoop.ParquetOutputCommitter"
"""Spark's default."""

_COMPRESS: Final = "mapreduce.output.fileoutputformat.compress"
"""Whether Hadoop's writers of text compress it, which Spark's follow."""

_SIMPLE: Final = (*INTEGERS, *FLOATS, BOOLEAN, STRING, BINARY, DATE, TIMESTAMP, TIMESTAMP_NTZ)


def parquet_form(spark: SparkSession, unfinished: str, types: Collection[DataType]) -> Form:
    """The form for files of Parquet with such columns, which get names of their own when all are in the folder
    `unfinished`: made by workers, unless the session has told Spark's own writer more than a worker knows to do.
    """
    parquet, (scheme, path) = parquet_of(spark, types), whole_path(spark, unfinished)
    if parquet is None or scheme not in MOVED:
        return IN_ROWS
    one_machine = scheme == "file" and is_one_machine(spark)
    return InFiles(parquet, Placed(path, str(uuid.uuid4())) if one_machine else Carried())


def is_one_machine(spark: SparkSession) -> bool:
    """Whether workers are on the driver's."""
    return str(spark.sparkContext.master).startswith("local")


def parquet_of(spark: SparkSession, types: Collection[DataType]) -> Parquet | None:
    """Files with such columns, as the session has them written; None where that is more than we know to do."""
    compression = _COMPRESSIONS.get(_setting(spark, "compression.codec"))
    times = _setting(spark, "outputTimestampType")
    if compression is None or times not in TIMES or _has_own_settings(spark):
        return None
    return Parquet(compression, times, spark.version) if all(_is_written_alike(t, times) for t in types) else None


def kind_of(spark: SparkSession, form: str, types: Collection[DataType]) -> FileKind | None:
    """Files of a format with such columns, as the session has them written; None where that is more than we know to do,
    or fails.
    """
    match form:
        case "parquet":
            return parquet_of(spark, types)
        case "json" | "csv":
            in_cells = form == "json" or not any(isinstance(type_, Array | Map | Struct) for type_ in types)
            return TextLines(form) if in_cells and not (_has_short_files(spark) or _is_compressed(spark)) else None
    return None


def _has_short_files(spark: SparkSession) -> bool:
    return spark.conf.get("spark.sql.files.maxRecordsPerFile", "0") not in ("0", None)


def _is_compressed(spark: SparkSession) -> bool:
    session: Any = spark
    return bool(session._jsparkSession.sessionState().newHadoopConf().getBoolean(_COMPRESS, False))


def _setting(spark: SparkSession, name: str) -> str:
    """What the session says of Parquet, or Spark's default. Letters of either case are the same to Spark."""
    return (spark.conf.get(f"spark.sql.parquet.{name}") or "").upper()


def _is_written_alike(type_: DataType, times: str) -> bool:
    """Whether Arrow writes it so that whoever reads what Spark writes finds the same values."""
    match type_:
        case Decimal():
            return True
        case Array(element):
            return _is_written_alike(element, times)
        case Struct(fields):
            return all(_is_written_alike(field.type, times) for field in fields)
        case _:
            # Arrow writes all times of a file in one way.
            return type_ in _SIMPLE and not (type_ == TIMESTAMP_NTZ and times == INT96)


def _has_own_settings(spark: SparkSession) -> bool:
    """Whether the session has settings for Spark's writer of Parquet (encryption, Bloom filters, sizes, committers)."""
    rebase = [_setting(spark, f"{of}RebaseModeInWrite") for of in ("datetime", "int96")]
    legacy = _setting(spark, "writeLegacyFormat") == "TRUE" or "LEGACY" in rebase
    session: Any = spark
    given = session._jsparkSession.sessionState().newHadoopConf().getPropsWithPrefix("parquet.")
    return (
        legacy
        or _has_short_files(spark)
        or bool(given)
        or _setting(spark, "output.committer.class") != _COMMITTER.upper()
    )
