"""The rows of a batch in files: a directory for each query, complete when Spark's `_SUCCESS` is in it.

Queries with the same columns are written together, by one job: a write of its own for each would read the rows of all,
which had to be kept for it, and plan a job. What comes out has the directories of each write of its own: Spark parts
the rows by query into directories beside them, which then get their names. So it is in a micro-batch of a stream, too.

Parquet is made by the workers of a batch where that is possible, of queries with whatever columns by one job.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.utils import is_remote

from ..cheap_dataclass import dataclass
from .forms import END, IN_ROWS, Carried, InFiles, InRows, Placed, parquet_form
from .query_results import table_from
from .rows import FILE, QUERY
from .schema import JobError
from .sinks import as_written, column_types, defaults, for_each, path_of, write

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from .forms import Form
    from .query_results import Alike, Answers, WholeFiles
    from .stream_part import StreamPart

COMPLETE: Final = "_SUCCESS"
"""The file by which a directory says that it is complete."""

PARTED: Final = ("parquet", "orc", "json", "csv")
"""Formats whose tables are files alone, which may be moved."""

UNFINISHED: Final = "_unfinished"
"""What is written together stands here until it has its names; Spark takes no notice of such a directory."""


@dataclass(frozen=True)
class Files:
    """Where to, and how."""

    folder: str
    form: str

    def form_of_rows(self, spark: SparkSession, parts: Iterable[StreamPart], queries: frozenset[str]) -> Form:
        """The form in which workers hand on what is written."""
        if self.form != "parquet" or not can_be_parted(self.form):
            return IN_ROWS
        return parquet_form(spark, self._unfinished, column_types(parts, queries))

    @property
    def _unfinished(self) -> str:
        return f"{self.folder.rstrip('/')}/{UNFINISHED}"

    def write(self, answers: Answers, queries: frozenset[str], form: Form) -> None:
        """The rows of the queries, which come in this form. Raises JobError."""
        unfinished = self._unfinished
        with nullcontext() if is_remote() else _removed_at_the_end(answers.events.sparkSession, unfinished):
            match form:
                case InFiles():
                    frames, files = answers.made_by_workers(queries)
                    if files is not None:
                        _whole(files, self, form, unfinished)
                case InRows():
                    apart = not can_be_parted(self.form)
                    frames, several = (answers.frames(queries), []) if apart else answers.parted(queries)
                    for number, alike in enumerate(several):
                        _together(alike, self, f"{unfinished}/{number}")
            if frames:
                for_each(frames, lambda name, rows: write(rows, path_of(self.folder, name), self.form))


@contextmanager
def _removed_at_the_end(spark: SparkSession, folder: str) -> Iterator[None]:
    try:
        yield
    finally:
        Renaming(spark).removed(folder)


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
    empty = [name for name, rows in found.items() if not moves.moved(rows, path_of(files.folder, name))]
    _without_rows(spark, empty, alike.frame.drop(alike.frame.columns[0]).schema, files)


def _whole(whole: WholeFiles, files: Files, form: InFiles, unfinished: str) -> None:
    """Give the files that workers make to their queries."""
    match form.where:
        case Carried():
            without = _carried(whole, files, form, unfinished)
        case Placed(folder):
            without = _placed(whole, files, Path(folder))
    empty = defaultdict[str, list[str]](list)
    for name in without:
        empty[whole.schemas[name]].append(name)
    for schema, names in empty.items():
        _without_rows(whole.frame.sparkSession, names, schema, files)


def _carried(whole: WholeFiles, files: Files, form: InFiles, unfinished: str) -> list[str]:
    """Write the files, and say which queries have none. To Spark a file is a text of one line, which ends as files of
    Parquet do.
    """
    one_each = {"lineSep": END.decode(), "maxRecordsPerFile": "1", "compression": "none"}
    whole.frame.write.options(**one_each).partitionBy(QUERY).mode("errorifexists").text(unfinished)
    moves, without = Renaming(whole.frame.sparkSession), []
    for number, name in whole.queries.items():
        found = f"{unfinished}/{QUERY}={number}"
        moves.renamed(found, ".txt", form.parquet.ending)
        if not moves.moved(found, path_of(files.folder, name)):
            without.append(name)
    return without


def _placed(whole: WholeFiles, files: Files, folder: Path) -> list[str]:
    """Let workers write the files into the folder, and say which queries have none. What a task left there that Spark
    had to run again is not among the names.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        said = f"{files.folder}: {error.strerror}: {error.filename}"
        raise JobError(f"{said}; name a directory in which this user may write") from None
    found = defaultdict[str, list[str]](list)
    for row in table_from(whole.frame).to_pylist():
        found[row[QUERY]].append(row[FILE])
    for number, names in found.items():
        place = Path(path_of(str(folder.parent), whole.queries[number]))
        try:
            place.mkdir()
        except FileExistsError:
            raise JobError(
                f"{path_of(files.folder, whole.queries[number])} exists already; name a new directory"
            ) from None
        for name in names:
            (folder / name).rename(place / name)
        (place / COMPLETE).touch()
    return [name for number, name in whole.queries.items() if number not in found]


def _without_rows(spark: SparkSession, queries: Sequence[str], schema: StructType | str, files: Files) -> None:
    """Write no rows for the queries, which have these columns."""
    if not queries:
        return
    first, *others = (path_of(files.folder, name) for name in queries)
    write(spark.createDataFrame([], schema), first, files.form)
    moves = Renaming(spark)
    for place in others:
        moves.copied(first, place)


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
        self._mark(system, place)
        return True

    def renamed(self, folder: str, ending: str, other: str) -> None:
        """Give files of the folder, if there is one, another ending."""
        system, place, _ = self._at(folder, folder)
        if not system.exists(place):
            return
        for status in system.listStatus(place):
            name = status.getPath().getName()
            if name.endswith(ending):
                system.rename(status.getPath(), self._hadoop.Path(place, name.removesuffix(ending) + other))

    def copied(self, source: str, target: str) -> None:
        system, found, place = self._at(source, target)
        if (ours := _of_this_machine(system, found)) and (other := _of_this_machine(system, place)):
            shutil.copytree(ours, other)
        else:
            self._hadoop.FileUtil.copy(system, found, system, place, False, self._conf)

    def removed(self, folder: str) -> None:
        system, found, _ = self._at(folder, folder)
        system.delete(found, True)

    def _mark(self, system: Any, place: Any) -> None:
        """Say that the directory is complete."""
        if here := _of_this_machine(system, place):
            (here / COMPLETE).touch()
        else:
            system.create(self._hadoop.Path(place, COMPLETE)).close()

    def _at(self, source: str, target: str) -> tuple[Any, Any, Any]:
        found, place = self._hadoop.Path(source), self._hadoop.Path(target)
        return found.getFileSystem(self._conf), found, place


def _of_this_machine(system: Any, place: Any) -> Path | None:
    """The path, if it is of this machine: for each file that Hadoop makes there, it starts processes."""
    return Path(place.toUri().getPath()) if system.getUri().getScheme() == "file" else None
