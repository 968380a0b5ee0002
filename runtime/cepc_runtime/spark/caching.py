"""What several queries read is computed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql.utils import is_remote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

JOINS_PARTITIONS: Final = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"


def kept(frame: DataFrame) -> DataFrame:
    """The frame, cached from the first time that somebody asks for its rows.

    Spark does not join small partitions of what is cached unless it is told so while the cache is made: 200 tasks, and
    200 calls of the kernel, for however few events.
    """
    conf = frame.sparkSession.conf
    before = conf.get(JOINS_PARTITIONS, None)
    conf.set(JOINS_PARTITIONS, "true")
    try:
        return frame.persist()
    finally:
        if before is None:
            conf.unset(JOINS_PARTITIONS)
        else:
            conf.set(JOINS_PARTITIONS, before)


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
