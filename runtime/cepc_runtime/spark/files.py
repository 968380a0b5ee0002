"""The rows of a batch in files: a directory for each query, complete when Spark's `_SUCCESS` is in it.

Queries with the same columns are written together, by one job: a write of its own for each would read the rows of all,
which had to be kept for it, and plan a job. What comes out has the directories of each write of its own: Spark parts
the rows by query into directories beside them, which then get their names. So it is in a micro-batch of a stream, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.utils import is_remote

from ..cheap_dataclass import dataclass
from .schema import JobError
from .sinks import as_written, defaults, for_each, path_of, write

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        apart = not can_be_parted(self.form)
        frames, several = (answers.frames(queries), []) if apart else answers.parted(queries)
        unfinished = f"{self.folder.rstrip('/')}/{UNFINISHED}"
        try:
            for number, alike in enumerate(several):
                _together(alike, self, f"{unfinished}/{number}")
        finally:
            if several:
                Renaming(several[0].frame.sparkSession).removed(unfinished)
        if frames:
            for_each(frames, lambda name, rows: write(rows, path_of(self.folder, name), self.form))


def can_be_parted(form: str) -> bool:
    """Whether the rows of several queries can be written as files of this format by one job."""
    return not is_remote() and form in PARTED  # a client without a JVM moves no files


def parted(alike: Alike, form: str, options: Mapping[str, str], unfinished: str) -> dict[str, str]:
    """Write the rows of several queries by one job: where below `unfinished` those of each are then, if there are any,
    by its name.
    """
    by = _free_name(alike.frame.columns[1:])
    rows = as_written(alike.frame.toDF(by, *alike.frame.columns[1:]), form)
    rows.write.format(form).options(**options).partitionBy(by).mode("errorifexists").save(unfinished)
    return {name: f"{unfinished}/{by}={value}" for value, name in alike.queries.items()}


def _together(alike: Alike, files: Files, unfinished: str) -> None:
    spark, form = alike.frame.sparkSession, files.form
    moves = Renaming(spark)
    found = parted(alike, form, defaults(form), unfinished)
    places = {name: path_of(files.folder, name) for name in found}
    empty = [places[name] for name, rows in found.items() if not moves.moved(rows, places[name])]
    if empty:
        nothing = spark.createDataFrame([], alike.frame.drop(alike.frame.columns[0]).schema)
        write(nothing, empty[0], form)
        for place in empty[1:]:
            moves.copied(empty[0], place)


def _free_name(taken: list[str]) -> str:
    """A column's name that no other has, in Spark's eyes."""
    name, known = "query", {column.lower() for column in taken}
    while name in known:
        name += "_"
    return name


class Renaming:
    """Directories of any file system that Hadoop knows."""

    def __init__(self, spark: SparkSession) -> None:
        session: Any = spark
        self._hadoop = session._jvm.org.apache.hadoop.fs
        self._conf = session._jsparkSession.sessionState().newHadoopConf()

    def moved(self, source: str, target: str) -> bool:
        """Whether there was anything to move; it is marked as complete then. Raises JobError."""
        system, found, place = self._at(source, target)
        if not system.exists(found):
            return False
        if system.exists(place):  # Hadoop would move it into what is there
            raise JobError(f"{target} exists already; name a new directory")
        system.mkdirs(place.getParent())
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
