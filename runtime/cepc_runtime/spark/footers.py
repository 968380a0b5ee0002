"""What every file of Parquet and ORC says its columns are. Spark asks one file of a directory, and takes the others by
that: a column that is not in them is null, and an INT that is read as a TINYINT loses its upper bytes.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.utils import is_remote

from ..cheap_dataclass import dataclass
from ..parts.at_once import at_once
from .paths import as_itself
from .schema import JobError, problems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from pyspark.sql import SparkSession
    from pyspark.sql import types as T  # noqa: N812

FORMS: Final = ("parquet", "orc")
LOOKED_AT: Final = 1000
"""Files of a directory, at most: to open one takes milliseconds, and on an object store some tens of them."""
_AT_ONCE: Final = 8
_OF_SPARK: Final = "org.apache.spark.sql.parquet.row.metadata"


@dataclass(frozen=True)
class Footer:
    """What some files say of their columns, one of these files, and the columns as Spark has them."""

    text: str
    file: str
    schema: T.StructType


def footers(spark: SparkSession, form: str, files: Sequence[str], known: Collection[str] = ()) -> list[Footer]:
    """The different ones of the files but for texts that are `known`: to ask Spark for the columns is a job. Of very
    many files some are looked at. None over Spark Connect, where there is no JVM to ask.
    """
    if is_remote():
        return []
    chosen = files[:: -(-len(files) // LOOKED_AT) or 1]
    texts = at_once([partial(_footer, spark, form, file) for file in chosen], _AT_ONCE)
    firsts = dict[str, str]()
    for file, text in zip(chosen, texts, strict=True):
        if text is not None:
            firsts.setdefault(text, file)
    return [
        Footer(text, file, spark.read.format(form).load(as_itself(spark, file)).schema)
        for text, file in firsts.items()
        if text not in known
    ]


def check(stream: str, declared: Iterable[T.StructField], found: Iterable[Footer]) -> None:
    """Raises JobError, which names a file and the columns of it that are not as they are declared."""
    for one in found:
        folders = folders_of(one.file)
        if wrong := problems([field for field in declared if field.name not in folders], one.schema):
            place = one.file.removeprefix("file://")
            raise JobError(f"the events of stream {stream} are not what it declares: in {place}: {'; '.join(wrong)}")


def folders_of(file: str) -> frozenset[str]:
    """The columns that the folders of a file name, `day` of `in/day=7/a.parquet`."""
    return frozenset(part.partition("=")[0] for part in file.split("/")[:-1] if "=" in part)


def _footer(spark: SparkSession, form: str, file: str) -> str | None:
    """The columns of a file as text, equal for equal ones; None where it is empty, which Spark passes over."""
    session: Any = spark
    jvm, conf = session._jvm, session._jsparkSession.sessionState().newHadoopConf()
    place = jvm.org.apache.hadoop.fs.Path(file)
    status = place.getFileSystem(conf).getFileStatus(place)
    if status.getLen() == 0:
        return None
    if form == "orc":
        orc = jvm.org.apache.orc.OrcFile
        reader = orc.createReader(place, orc.readerOptions(conf))
        try:
            return str(reader.getSchema().toString())
        finally:
            reader.close()
    parquet = jvm.org.apache.parquet.hadoop
    reader = parquet.ParquetFileReader.open(parquet.util.HadoopInputFile.fromStatus(status, conf))
    try:
        found = reader.getFileMetaData()
        return f"{found.getSchema()}{found.getKeyValueMetaData().get(_OF_SPARK)}"
    finally:
        reader.close()
