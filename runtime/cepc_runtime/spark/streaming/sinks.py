"""Where rows go, micro-batch by micro-batch: a batch that is run again writes what it wrote before, where it did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from math import ceil
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from ...cheap_dataclass import dataclass
from ..errors import SPARK_ERRORS, submit_with
from ..files import UNFINISHED, Renaming, parted
from ..schema import JobError
from ..sinks import as_written, defaults, path_of, show
from . import checkpoint
from .chain import chain_of_each
from .ownership import BATCH
from .store import HadoopStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from ..query_results import Alike
    from .query import Streamed

Sink = Callable[[str, "DataFrame", int], None]
"""`(query, rows, batch)`. It may be called again for a batch, with the same rows, and must then change nothing."""


@dataclass(frozen=True)
class AtOnce:
    """A sink that may be called for several queries at once, each from a thread of its own."""

    write: Sink

    def __call__(self, query: str, rows: DataFrame, batch: int) -> None:
        self.write(query, rows, batch)


@dataclass(frozen=True)
class OfTables:
    """A sink that may be called for several queries at once, as AtOnce, and writes the tables of several together."""

    alone: Sink
    together: Callable[[SparkSession, Mapping[str, Any], int], None]

    def __call__(self, query: str, rows: DataFrame, batch: int) -> None:
        self.alone(query, rows, batch)


@dataclass(frozen=True, slots=True)
class Target:
    """Where the rows of the queries `names` shall go: `--output`, `--output-option` and `--checkpoint`."""

    spark: SparkSession
    streams: Sequence[Streamed]
    names: Sequence[str]
    to: str
    options: Mapping[str, str]
    checkpoint: str


FLUSHED: Final = -1
"""The number of the batch that a flush writes."""


def place(batch: int) -> str:
    """The directory of a micro-batch."""
    return f"{BATCH}={batch:09d}" if batch != FLUSHED else f"{BATCH}={batch}"


@dataclass(frozen=True)
class Directories:
    """A directory for each query, in it one for each micro-batch with rows: `QUERY/batch=000000012`."""

    folder: str
    form: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_usual(self) -> bool:
        """Whether files are as the session says, and nobody else."""
        return not self.options

    @property
    def _given(self) -> dict[str, str]:
        return defaults(self.form, self.options)

    def _place(self, query: str, batch: int) -> str:
        return f"{path_of(self.folder, query)}/{place(batch)}"

    def places(self, queries: Iterable[str]) -> dict[str, str]:
        """Where the micro-batches of each query have their directories."""
        return {query: path_of(self.folder, query) for query in queries}

    def __call__(self, query: str, rows: DataFrame, batch: int) -> None:
        written = as_written(rows, self.form).write.format(self.form).options(**self._given)
        written.mode("overwrite").save(self._place(query, batch))

    def together(self, alike: Alike, batch: int) -> None:
        """The same for several queries, each of which has rows, by one job."""
        moves, (first, *_) = Renaming(alike.frame.sparkSession), alike.queries.values()
        unfinished = path_of(f"{self.folder.rstrip('/')}/{UNFINISHED}", first)  # no other stream has this query
        moves.removed(unfinished)  # what was left by a kill
        try:
            for query, found in parted(alike, self.form, self._given, unfinished).items():
                moves.removed(self._place(query, batch))
                moves.moved(found, self._place(query, batch))
        finally:
            moves.removed(unfinished)


def delta(target: Target) -> Sink:
    """A table for each query, which remembers the micro-batches that it has. Raises JobError."""
    _check_delta(target.spark)
    checkpoints = {q: path_of(target.checkpoint, name) for q, name in chain_of_each(target.streams).items()}

    def write(query: str, rows: DataFrame, batch: int) -> None:
        version = batch if batch != FLUSHED else 1 << 62  # after all others
        own = checkpoint.id_of(HadoopStore(rows.sparkSession), checkpoints[query])
        once = {"txnAppId": own, "txnVersion": str(version)}
        rows.write.format("delta").options(**once, **target.options).mode("append").save(path_of(target.to, query))

    return AtOnce(write)


def _check_delta(spark: SparkSession) -> None:
    try:
        spark.read.format("delta").schema("a INT").load([])  # looks for the source alone, and lists no files
    except SPARK_ERRORS as error:
        if "DATA_SOURCE_NOT_FOUND" in str(error):
            raise JobError(
                f"Spark has no Delta by itself: run the job with spark-submit {submit_with('delta')}"
            ) from error


@dataclass
class Memory:
    """Keeps the rows in the driver, for tests and notebooks: tables of Arrow by query and micro-batch."""

    batches: dict[tuple[str, int], Any] = field(default_factory=dict)

    def __call__(self, query: str, rows: DataFrame, batch: int) -> None:
        self.batches[query, batch] = rows.toArrow()

    def table(self, query: str) -> Any:
        """All rows of a query; None where there are none yet."""
        found = [table for (name, _), table in self.batches.items() if name == query]
        return pa.concat_tables(found) if found else None


def console(query: str, rows: DataFrame, batch: int) -> None:
    show(f"{query}, batch {batch}" if batch != FLUSHED else f"{query}, at the end", rows)


OF_A_FILE: Final = 1 << 17
"""Rows, about."""


def in_files(rows: DataFrame, count: int) -> DataFrame:
    """Few rows of many buckets are one file, and one task, whatever the number of buckets."""
    return rows.coalesce(ceil(count / OF_A_FILE))
