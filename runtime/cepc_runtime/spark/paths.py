"""Is something there already, on whatever file system, and from a client without a JVM too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def exists(spark: SparkSession, path: str) -> bool:
    """Whether there is a file or a directory. The path is named twice because of a single one that is not there Spark
    logs a page of stack trace, as a warning.
    """
    try:
        spark.read.format("binaryFile").load([path, path]).schema  # noqa: B018
    except AnalysisException:
        return False
    return True
