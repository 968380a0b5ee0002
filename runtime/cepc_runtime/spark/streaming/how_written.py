"""Who writes the rows of a stream, and where what is too much for that is put."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cheap_dataclass import dataclass
from ..files import UNFINISHED
from ..forms import is_one_machine, kind_of
from ..paths import whole_path
from ..rows import result_columns
from ..sinks import path_of
from .directories import ByHadoop, OnDisk, directories_in
from .sinks import Directories
from .tells import KEPT_BY_SPARK, MadeByWorkers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

    from ..forms import FileKind
    from .query import Continuous
    from .sinks import Sink
    from .tells import Aside


@dataclass(frozen=True)
class ByDriver:
    """The driver makes files of rows, and directories of these."""

    kind: FileKind
    output: OnDisk | ByHadoop


@dataclass(frozen=True)
class BySpark:
    """A sink gets rows as a DataFrame."""


@dataclass(frozen=True)
class HowWritten:
    """How a stream is written: its `rows`, where a bucket puts `aside` what is too much to be told, and into which
    folder goes what is `lost`, LATE or DEAD, if that is written.
    """

    rows: ByDriver | BySpark
    aside: Aside
    lost: Mapping[str, OnDisk | ByHadoop]


def how_written(spark: SparkSession, what: Continuous, sink: Sink, lost: Mapping[str, str]) -> HowWritten:
    """The driver makes files that are as the session says, unless it says more of them than we know to do; and workers
    do where they have one disk with it for all that is written.
    """
    folders = {name: directories_in(spark, folder) for name, folder in lost.items()}
    plans = [link.plan for link in what.links]
    types = {t for plan in plans for query in plan.queries for _, t in result_columns(query, plan.stream)}
    if not isinstance(sink, Directories) or not sink.is_usual or (kind := kind_of(spark, sink.form, types)) is None:
        return HowWritten(BySpark(), KEPT_BY_SPARK, folders)
    aside: Aside = KEPT_BY_SPARK
    output = directories_in(spark, sink.folder)
    if is_one_machine(spark) and all(isinstance(folder, OnDisk) for folder in (output, *folders.values())):
        _, unfinished = whole_path(spark, path_of(f"{sink.folder.rstrip('/')}/{UNFINISHED}", what.queries[0]))
        aside = MadeByWorkers(kind, unfinished)
    return HowWritten(ByDriver(kind, output), aside, folders)
