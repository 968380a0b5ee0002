"""Where rows go, micro-batch by micro-batch: a batch that is run again writes what it wrote before, where it did."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import field, replace
from functools import partial, reduce
from math import ceil
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.util import inheritable_thread_target

from ...cheap_dataclass import dataclass
from ...parts.at_once import at_once
from ..errors import SPARK_ERRORS, package_for
from ..files import UNFINISHED, Renaming, can_be_parted, parted
from ..forms import InRows
from ..query_results import Rows
from ..rows import ERROR, QUERY, of_queries
from ..schema import JobError
from ..sinks import as_written, defaults, path_of, show
from . import checkpoint
from .blobs import DEAD, LATE, METRICS
from .chain import chain_of_each
from .intact import state_problem
from .one_machine import OneMachine
from .ownership import BATCH
from .store import HadoopStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from ..forms import Form
    from ..query_results import Alike
    from .lease import Lease
    from .query import Continuous, Streamed

Sink = Callable[[str, "DataFrame", int], None]
"""`(query, rows, batch)`. It may be called again for a batch, with the same rows, and must then change nothing."""


@dataclass(frozen=True)
class AtOnce:
    """A sink that may be called for several queries at once, each from a thread of its own."""

    write: Sink

    def __call__(self, query: str, rows: DataFrame, batch: int) -> None:
        self.write(query, rows, batch)


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
    def is_usual_parquet(self) -> bool:
        """Whether files are as the session says, and nobody else."""
        return self.form == "parquet" and not self.options

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
                f"Spark has no Delta by itself: run the job with spark-submit --packages {package_for('delta')}"
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


def _in_files(rows: DataFrame, count: int) -> DataFrame:
    """Few rows of many buckets are one file, and one task, whatever the number of buckets."""
    return rows.coalesce(ceil(count / OF_A_FILE))


def _metrics(rows: DataFrame) -> list[dict[str, Any]]:
    """What each bucket did. To ask for it computes all rows, and is the only job for it: it has their numbers, too."""
    return [json.loads(row[ERROR]) for row in rows.where(F.col(QUERY) == METRICS).select(ERROR).collect()]


def _counts(metrics: Iterable[dict[str, Any]]) -> Counter[str]:
    """Of the rows by what they are: those of queries, and what LATE and DEAD are for."""
    found: Counter[str] = Counter()
    for one in metrics:
        found.update({**one["rows"], LATE: one["late"] + one["ahead"], DEAD: one["malformed"]})
    return found


AT_ONCE: Final = 8
"""Jobs of Spark that write. A small one mostly waits, for its plan and for files."""

_STATE: Final = {"rows": "events", "panes": "panes", "waiting": "waiting", "bytes": "bytes"}
"""What progress says of the state, and what a bucket calls it."""


def _persisted(rows: DataFrame, stack: ExitStack) -> DataFrame:
    """Until the stack is closed."""
    kept = rows.persist()
    stack.callback(kept.unpersist)
    return kept


def _lost(rows: DataFrame, what: str) -> DataFrame:
    return rows.where(F.col(QUERY) == what).select(F.col(ERROR).alias("value"))


@dataclass
class Writing:
    """Writes the micro-batches of one stream as long as it has the lease, each after a `look` at what it is made from;
    what each did is in `done`, by its number. `failure` is why one was not written. What is `lost`, LATE or DEAD, is
    written into the folder that is named for it.
    """

    what: Continuous
    sink: Sink
    how: OneMachine | InRows
    lost: Mapping[str, str]
    lease: Lease
    folder: str
    look: Callable[[int], None]
    done: dict[int, dict[str, Any]] = field(default_factory=dict)
    failure: Exception | None = None
    _buckets: dict[tuple[int, int], dict[str, int]] = field(default_factory=dict)
    _amid: Any = field(default_factory=threading.Lock)

    def __call__(self, rows: DataFrame, batch: int) -> None:
        with self._amid:
            try:
                self.lease.check()
                if batch != FLUSHED:
                    self.look(batch)
                self._write(rows, batch)
            except (JobError, *SPARK_ERRORS) as error:  # Spark's own report of it has no causes any more
                self.failure = state_problem(self.lease.store, self.folder, error) or error
                raise

    @property
    def is_amid(self) -> bool:
        """Whether a micro-batch is being written: also for a while after Spark's query has become inactive."""
        return bool(self._amid.locked())

    @property
    def form(self) -> Form:
        """In which the rows come."""
        return self.how.form if isinstance(self.how, OneMachine) else self.how

    def _write(self, told: DataFrame, batch: int) -> None:
        links = self.what.links
        match self.how:
            case OneMachine():
                found = self.how.told(told, links)
                self.how.write(found, [link.plan for link in links], place(batch))
                metrics = [own.metrics for own in found]
            case InRows():
                metrics = self._write_rows(told, batch)
        self.done[batch] = self._summary(metrics)

    def _write_rows(self, told: DataFrame, batch: int) -> list[list[dict[str, Any]]]:
        """What the buckets of each link did. Rows are computed once, whatever many queries are written, and an error
        comes before any is.
        """
        links = self.what.links
        with ExitStack() as stack:
            if len(links) > 1:
                told = _persisted(told, stack)
            kept = [_persisted(link.unpacked(told), stack) for link in links]
            metrics = [_metrics(rows) for rows in kept]
            counts = [_counts(own) for own in metrics]
            for link, rows, count in zip(links, kept, counts, strict=True):
                self._write_queries(link, rows, count, batch)
            for what, folder in self.lost.items():
                if number := sum(own[what] for own in counts):
                    lost = reduce(lambda one, other: one.unionAll(other), (_lost(rows, what) for rows in kept))
                    _in_files(lost, number).write.mode("overwrite").text(f"{folder.rstrip('/')}/{place(batch)}")
        return metrics

    def _write_queries(self, link: Continuous, kept: DataFrame, counts: Counter[str], batch: int) -> None:
        found = [number for number in range(len(link.queries)) if counts[str(number)]]
        several: list[list[int]] = []
        writes: list[Callable[[], None]] = []
        if found and isinstance(self.sink, Directories) and can_be_parted(self.sink.form):
            rows = Rows(kept.where(of_queries(found)), link.plan_text)
            several = [group for group in rows.alike(found) if len(group) > 1]
            for group in several:
                alike = replace(rows, frame=_in_files(rows.frame, sum(counts[str(number)] for number in group)))
                writes.append(partial(self.sink.together, alike.together(group), batch))
        alone = sorted({*found}.difference(*several))
        writes += [partial(self._write_query, link, kept, number, counts[str(number)], batch) for number in alone]
        if isinstance(self.sink, Directories | AtOnce):  # others may be a user's, and not made for it
            inherits = inheritable_thread_target(kept.sparkSession)  # so that all end with the stream
            at_once([inherits(write) for write in writes], AT_ONCE)
        else:
            at_once(writes, 1)

    def _write_query(self, link: Continuous, kept: DataFrame, number: int, count: int, batch: int) -> None:
        name = link.queries[number]
        self.sink(name, _in_files(link.of_query(kept, name), count), batch)

    def _summary(self, of_links: Sequence[list[dict[str, Any]]]) -> dict[str, Any]:
        """From what the buckets of each link did."""
        metrics, out = [one for own in of_links for one in own], dict[str, int]()
        for link, own in zip(self.what.links, of_links, strict=True):
            self._buckets |= {(link.link.number, one["bucket"]): one for one in own}
            counts = _counts(own)
            numbered = enumerate(link.queries)
            out |= {name: counts[str(number)] for number, name in numbered if name not in link.link.unwritten}
        return {
            "late": sum(m["late"] for m in metrics),
            "ahead": sum(m["ahead"] for m in metrics),
            "malformed": sum(m["malformed"] for m in metrics),
            "out": out,
            **{f"state_{name}": sum(m[what] for m in self._buckets.values()) for name, what in _STATE.items()},
            "buckets": len(metrics),
        }
