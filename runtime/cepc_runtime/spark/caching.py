"""What several queries read is computed once."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.utils import is_remote

from .settings import held

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

JOINS_PARTITIONS: Final = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"


def kept(frame: DataFrame) -> DataFrame:
    """The frame, cached from the first time that somebody asks for its rows.

    Spark does not join small partitions of what is cached unless it is told so while the cache is made: 200 tasks, and
    200 calls of the kernel, for however few events.
    """
    with held(frame.sparkSession, {JOINS_PARTITIONS: "true"}):
        return frame.persist()


def of_its_own(frame: DataFrame) -> DataFrame:
    """The same rows, which are cached for this frame alone. Spark takes two reads of one path for equal, and would
    answer the second by what is cached of the first, whatever has become of the files.
    """
    return frame.where(F.lit(uuid.uuid4().hex).isNotNull())


def kept_rows(rows: DataFrame) -> DataFrame:
    """The rows of all queries, cached. They are found in tasks that are small, so that no core waits for another; each
    query then reads all of them, in no more tasks than there are cores, and writes no more files.
    """
    return in_few_tasks(kept(rows))


def in_few_tasks(rows: DataFrame) -> DataFrame:
    """In no more tasks than there are cores, where that is known: each task writes a file for each query."""
    cores = _cores(rows.sparkSession)
    return rows if cores is None else rows.coalesce(cores)


def _cores(spark: SparkSession) -> int | None:
    """How many tasks run at the same time; None where that changes, or is not known here."""
    if is_remote() or spark.sparkContext.getConf().get("spark.dynamicAllocation.enabled") == "true":
        return None
    return spark.sparkContext.defaultParallelism
