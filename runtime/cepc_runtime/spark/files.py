"""The rows of a batch in files: a directory for each query, complete when Spark's `_SUCCESS` is in it.

Queries with the same columns are written together, by one job: a write of its own for each would read the rows of all,
which had to be kept for it, and plan a job. What comes out has the directories of each write of its own: Spark parts
the rows by query into directories beside them, which then get their names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.utils import is_remote

from .schema import JobError
from .sinks import defaults, for_each, path_of, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .query_results import Alike, Answers

PARTED: Final = ("parquet", "orc", "json", "csv")
"""Formats whose tables are files alone, which may be moved."""

UNFINISHED: Final = "_unfinished"
"""What is written together stands here until it has its names; Spark takes no notice of such a directory."""


@dataclass(frozen=True)
class Files:
    """Where to, and how."""

    folder: str
    form: str

    def write(self, answers: Answers, queries: frozenset[str]) -> None:
        """The rows of the queries. Raises JobError."""
        apart = is_remote() or self.form not in PARTED  # a client without a JVM moves no files
        frames, several = (answers.frames(queries), []) if apart else answers.parted(queries)
        unfinished = f"{self.folder.rstrip('/')}/{UNFINISHED}"
        try:
            for number, alike in enumerate(several):
                _together(alike, self, f"{unfinished}/{number}")
        finally:
            if several:
                _Moves(several[0].frame.sparkSession).removed(unfinished)
        if frames:
            for_each(frames, lambda name, rows: write(rows, path_of(self.folder, name), self.form))


def _together(alike: Alike, files: Files, unfinished: str) -> None:
    spark, form = alike.frame.sparkSession, files.form
    moves = _Moves(spark)
    by = _free_name(alike.frame.columns[1:])
    rows = alike.frame.toDF(by, *alike.frame.columns[1:])
    rows.write.format(form).options(**defaults(form)).partitionBy(by).mode("errorifexists").save(unfinished)
    places = {f"{unfinished}/{by}={value}": path_of(files.folder, name) for value, name in alike.queries.items()}
    empty = [place for found, place in places.items() if not moves.moved(found, place)]
    if empty:
        nothing = spark.createDataFrame([], rows.drop(by).schema)
        write(nothing, empty[0], form)
        for place in empty[1:]:
            moves.copied(empty[0], place)


def _free_name(taken: list[str]) -> str:
    """A column's name that no other has, in Spark's eyes."""
    name, known = "query", {column.lower() for column in taken}
    while name in known:
        name += "_"
    return name


class _Moves:
    """Directories of any file system that Hadoop knows."""

    def __init__(self, spark: SparkSession) -> None:
        context: Any = spark.sparkContext
        self._hadoop, self._conf = context._jvm.org.apache.hadoop.fs, context._jsc.hadoopConfiguration()

    def moved(self, source: str, target: str) -> bool:
        """Whether there was anything to move; it is marked as complete then."""
        system, found, place = self._at(source, target)
        if not system.exists(found):
            return False
        if not system.rename(found, place):
            raise JobError(f"{target} cannot be written: its rows are in {source}, which cannot be moved")
        system.create(self._hadoop.Path(place, "_SUCCESS")).close()
        return True

    def copied(self, source: str, target: str) -> None:
        system, found, place = self._at(source, target)
        self._hadoop.FileUtil.copy(system, found, system, place, False, self._conf)

    def removed(self, folder: str) -> None:
        system, found, _ = self._at(folder, folder)
        system.delete(found, True)

    def _at(self, source: str, target: str) -> tuple[Any, Any, Any]:
        found, place = self._hadoop.Path(source), self._hadoop.Path(target)
        return found.getFileSystem(self._conf), found, place
