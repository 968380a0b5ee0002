"""A micro-batch is written: what its buckets have told goes to where rows, late events and records that are no events
go.
"""

from __future__ import annotations

import shutil
import threading
from collections import Counter, defaultdict
from contextlib import ExitStack
from dataclasses import field
from functools import cached_property, partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.util import inheritable_thread_target

from ...cheap_dataclass import dataclass
from ...parts.at_once import at_once
from ...sql.types import STRING
from ..errors import SPARK_ERRORS
from ..files import UNFINISHED, can_be_parted
from ..forms import is_one_machine, kind_of
from ..paths import whole_path
from ..query_results import Alike, Rows
from ..rows import ERROR, QUERY, ddl, result_columns
from ..schema import JobError
from ..sinks import directory_of, path_of
from .blobs import DEAD, LATE
from .directories import ByHadoop, OnDisk, directories_in
from .intact import state_problem
from .sinks import FLUSHED, AtOnce, Directories, OfTables, in_files, place
from .told import KEPT_BY_SPARK, OF_TEXT, KeptBySpark, MadeByWorkers, file_of, text_file, told_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from ...sql.types import DataType
    from ..forms import FileKind
    from .lease import Lease
    from .query import Continuous
    from .sinks import Sink
    from .told import Aside, Told

# ---- who writes ------------------------------------------------------------------------------------------------------


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


# ---- one micro-batch after the other ---------------------------------------------------------------------------------

AT_ONCE: Final = 8
"""Writes at the same time. A small one mostly waits, for files or for a plan of Spark's."""

_STATE: Final = {"rows": "events", "panes": "panes", "waiting": "waiting", "bytes": "bytes"}
"""What progress says of the state, and what a bucket calls it."""


@dataclass
class Writing:
    """Writes the micro-batches of one stream as long as it has the lease, each after a `look` at what it is made from;
    what each did is in `done`, by its number. `failure` is why one was not written.
    """

    what: Continuous
    sink: Sink
    how: HowWritten
    lease: Lease
    folder: str
    look: Callable[[int], None]
    done: dict[int, dict[str, Any]] = field(default_factory=dict)
    failure: Exception | None = None
    _buckets: dict[tuple[int, int], dict[str, int]] = field(default_factory=dict)
    _amid: Any = field(default_factory=threading.Lock)

    def __call__(self, blobs: DataFrame, batch: int) -> None:
        with self._amid:
            try:
                self.lease.check()
                if batch != FLUSHED:
                    self.look(batch)
                self._write(blobs, batch)
            except (JobError, *SPARK_ERRORS) as error:  # Spark's own report of it has no causes any more
                self.failure = state_problem(self.lease.store, self.folder, error) or error
                raise

    @property
    def is_amid(self) -> bool:
        """Whether a micro-batch is being written: also for a while after Spark's query has become inactive."""
        return bool(self._amid.locked())

    def _write(self, blobs: DataFrame, batch: int) -> None:
        with ExitStack() as stack:
            match self.how.aside:
                case KeptBySpark():  # they are asked for again where not all was told
                    blobs = blobs.persist()
                    stack.callback(blobs.unpersist)
                case MadeByWorkers(folder=unfinished):
                    stack.callback(shutil.rmtree, unfinished, ignore_errors=True)
            links = self.what.links
            found = told_in(blobs, [link.link.number for link in links], self.how.aside)
            batches = [OfLink(link, own, blobs, self.how) for link, own in zip(links, found, strict=True)]
            rows = [write for own in batches for write in own.writes(self.sink, batch)]
            lost = [write for what, to in self.how.lost.items() for write in _lost(batches, what, to, batch)]
            if isinstance(self.sink, Directories | AtOnce | OfTables):  # others may be a user's, and not made for it
                inherits = inheritable_thread_target(blobs.sparkSession)  # so that all end with the stream
                at_once([inherits(write) for write in (*rows, *lost)], AT_ONCE)
            else:
                at_once([*rows, *lost], 1)
        self.done[batch] = self._summary(batches)

    def _summary(self, batches: Sequence[OfLink]) -> dict[str, Any]:
        """From what the buckets of each link did."""
        out = dict[str, int]()
        for own in batches:
            self._buckets |= {(own.link.link.number, one["bucket"]): one for one in own.metrics}
            numbered = enumerate(own.link.queries)
            out |= {name: own.counts[str(n)] for n, name in numbered if name not in own.link.link.unwritten}
        metrics = [one for own in batches for one in own.metrics]
        return {
            "late": sum(m["late"] for m in metrics),
            "ahead": sum(m["ahead"] for m in metrics),
            "malformed": sum(m["malformed"] for m in metrics),
            "out": out,
            **{f"state_{name}": sum(m[what] for m in self._buckets.values()) for name, what in _STATE.items()},
            "buckets": len(metrics),
        }


@dataclass(frozen=True)
class OfLink:
    """What the buckets of a link have told of a micro-batch, and what `blobs` have of it that is kept."""

    link: Continuous
    told: Told
    blobs: DataFrame
    how: HowWritten

    @cached_property
    def metrics(self) -> list[dict[str, Any]]:
        """What each bucket did."""
        return self.told.metrics

    @cached_property
    def counts(self) -> Counter[str]:
        """Of the rows by what they are: those of queries, and what LATE and DEAD are for."""
        found: Counter[str] = Counter()
        for one in self.metrics:
            found.update({**one["rows"], LATE: one["late"] + one["ahead"], DEAD: one["malformed"]})
        return found

    @cached_property
    def kept(self) -> DataFrame:
        """The rows that Spark keeps."""
        return self.link.unpacked(self.blobs)

    def writes(self, sink: Sink, batch: int) -> Iterator[Callable[[], None]]:
        """What writes the queries that have rows: all at once those that were told, if that can be."""
        numbers = [number for number in range(len(self.link.queries)) if self.told.has(str(number))]
        whole = [number for number in numbers if str(number) not in self.told.kept]
        match self.how.rows, sink:
            case ByDriver() as how, _:
                yield from (self._by_driver(number, how, batch) for number in whole)
            case BySpark(), OfTables() if whole:
                tables = {self.link.queries[number]: self._table(number) for number in whole}
                yield partial(sink.together, self.blobs.sparkSession, tables, batch)
            case BySpark(), _:
                whole = []
        yield from self._by_spark(sink, [number for number in numbers if number not in whole], batch)

    def _by_spark(self, sink: Sink, numbers: Sequence[int], batch: int) -> Iterator[Callable[[], None]]:
        match sink:
            case Directories(form=form) if can_be_parted(form):
                for alike in self._alike(numbers):
                    if len(alike) > 1:
                        yield partial(sink.together, self._together(alike), batch)
                    else:
                        yield partial(self._alone, sink, alike[0], batch)
            case _:
                yield from (partial(self._alone, sink, number, batch) for number in numbers)

    def _table(self, number: int) -> Any:
        """The rows of a query that were told."""
        return pa.concat_tables(self.told.tables[str(number)])

    def _by_driver(self, number: int, how: ByDriver, batch: int) -> Callable[[], None]:
        tables = self.told.tables.get(str(number))
        content = partial(file_of, how.kind, self.link.plan, number, tables) if tables else None
        inside = f"{directory_of(self.link.queries[number])}/{place(batch)}"
        return _put(how.output, inside, how.kind.ending, content, self.made(str(number)))

    def made(self, what: str) -> list[Path]:
        """The files that workers have made of it."""
        match self.how.aside:
            case MadeByWorkers(folder=folder):
                return [Path(folder, name) for name in self.told.files.get(what, ())]
            case KeptBySpark():
                return []

    def of(self, what: str) -> DataFrame:
        """The texts of it that Spark keeps."""
        return self.kept.where(F.col(QUERY) == what).select(ERROR)

    # ---- as DataFrames -----------------------------------------------------------------------------------------------

    def _alone(self, sink: Sink, number: int, batch: int) -> None:
        name, frames = self.link.queries[number], list[Any]()
        if str(number) in self.told.tables:
            frames.append(_frame(self.blobs.sparkSession, self._table(number), self._columns(number)))
        if str(number) in self.told.kept:
            frames.append(self.link.of_query(self.kept, name))
        sink(name, self._in_files(frames, [number]), batch)

    def _alike(self, numbers: Iterable[int]) -> list[list[int]]:
        """Those with the same columns."""
        found: defaultdict[tuple[tuple[str, DataType], ...], list[int]] = defaultdict(list)
        for number in numbers:
            found[self._columns(number)].append(number)
        return [*found.values()]

    def _together(self, numbers: Sequence[int]) -> Alike:
        """The rows of queries with the same columns."""
        columns, frames = self._columns(numbers[0]), list[Any]()
        parts = [_with_number(n, table) for n in numbers for table in self.told.tables.get(str(n), ())]
        if parts:
            named = [(f"c{place}", type_) for place, (_, type_) in enumerate(columns)]
            frame = _frame(self.blobs.sparkSession, pa.concat_tables(parts), ((QUERY, STRING), *named))
            frames.append(frame.toDF(QUERY, *(name for name, _ in columns)))
        if kept := [number for number in numbers if str(number) in self.told.kept]:
            frames.append(Rows(self.kept, self.link.plan_text).together(kept).frame)
        return Alike(self._in_files(frames, numbers), {str(n): self.link.queries[n] for n in numbers})

    def _columns(self, number: int) -> tuple[tuple[str, DataType], ...]:
        return result_columns(self.link.plan.queries[number], self.link.plan.stream)

    def _in_files(self, frames: Sequence[DataFrame], numbers: Iterable[int]) -> DataFrame:
        rows = sum(self.counts[str(number)] for number in numbers)
        return in_files(reduce(lambda one, other: one.unionAll(other), frames), rows)


def _with_number(number: int, table: Any) -> Any:
    columns = [pa.repeat(pa.scalar(str(number)), table.num_rows), *table.columns]
    return pa.table(columns, [f"c{place}" for place in range(len(columns))])


def _frame(spark: SparkSession, table: Any, columns: Sequence[tuple[str, DataType]]) -> DataFrame:
    """The rows of a table, which has these columns."""
    named: Any = table.rename_columns([name for name, _ in columns])
    return spark.createDataFrame(named, ddl((name, type_.sql) for name, type_ in columns))


def _put(
    to: OnDisk | ByHadoop, inside: str, ending: str, content: Callable[[], bytes] | None, made: Sequence[Path]
) -> Callable[[], None]:
    match to:
        case OnDisk():
            return partial(to.put, inside, ending, content, made)
        case ByHadoop():
            assert content is not None
            return partial(to.put, inside, ending, content)


def _lost(batches: Sequence[OfLink], what: str, to: OnDisk | ByHadoop, batch: int) -> Iterator[Callable[[], None]]:
    """What writes what all links have of it, if there is any."""
    lines = [line for own in batches for line in own.told.lines(what)]
    made = [file for own in batches for file in own.made(what)]
    kept = [own.of(what) for own in batches if what in own.told.kept]
    if kept:
        yield partial(_lost_by_spark, lines, kept, f"{to.folder.rstrip('/')}/{place(batch)}")
    elif lines or made:
        content = partial(text_file, lines) if lines else None
        yield _put(to, place(batch), OF_TEXT, content, made)


def _lost_by_spark(lines: Sequence[str], kept: Sequence[DataFrame], to: str) -> None:
    told = kept[0].sparkSession.createDataFrame([(line,) for line in lines], kept[0].schema)
    rows = reduce(lambda one, other: one.unionAll(other), kept, told)
    rows.coalesce(AT_ONCE).write.mode("overwrite").text(to)
