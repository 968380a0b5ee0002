"""What writes what the buckets of a link have told of a micro-batch: the driver, or a sink by Spark."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property, partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.util import inheritable_thread_target

from ...cheap_dataclass import dataclass
from ...sql.types import STRING
from ..files import can_be_parted
from ..query_results import Alike, Rows
from ..rows import ERROR, QUERY, ddl, result_columns
from ..sinks import directory_of
from .blobs import DEAD, LATE
from .directories import ByHadoop, OnDisk
from .how_written import ByDriver, BySpark
from .made_files import OF_TEXT, file_of, text_file
from .sinks import Directories, OfTables, in_files, place
from .tells import KeptBySpark, MadeByWorkers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from ...sql.types import DataType
    from .how_written import HowWritten
    from .query import Continuous
    from .sinks import Sink
    from .told import Told

FEW: Final = 8
"""Files of what is lost, at most, where Spark writes it."""


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
                yield _of_stream(self.blobs, partial(sink.together, self.blobs.sparkSession, tables, batch))
            case BySpark(), _:
                whole = []
        rest = [number for number in numbers if number not in whole]
        yield from (_of_stream(self.blobs, write) for write in self._by_spark(sink, rest, batch))

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
        contents = [partial(file_of, how.kind, self.link.plan, number, tables)] if tables else []
        inside = f"{directory_of(self.link.queries[number])}/{place(batch)}"
        return _put(how.output, inside, how.kind.ending, contents, self.made(str(number)))

    def made(self, what: str) -> list[Path]:
        """The files that workers have made of it."""
        match self.how.aside:
            case MadeByWorkers(folder=folder):
                return [Path(folder, name) for name in self.told.files.get(what, ())]
            case KeptBySpark():
                return []

    def texts_kept(self, what: str) -> DataFrame:
        """The texts of it that Spark keeps."""
        return self.kept.where(F.col(QUERY) == what).select(ERROR)

    # ---- as DataFrames -----------------------------------------------------------------------------------------------

    def _alone(self, sink: Sink, number: int, batch: int) -> None:
        name, frames = self.link.queries[number], list[Any]()
        if str(number) in self.told.tables:
            frames.append(dataframe(self.blobs.sparkSession, self._table(number), self._columns(number)))
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
            frame = dataframe(self.blobs.sparkSession, pa.concat_tables(parts), ((QUERY, STRING), *named))
            frames.append(frame.toDF(QUERY, *(name for name, _ in columns)))
        if kept := [number for number in numbers if str(number) in self.told.kept]:
            frames.append(Rows(self.kept, self.link.plan_text).together(kept).frame)
        return Alike(self._in_files(frames, numbers), {str(n): self.link.queries[n] for n in numbers})

    def _columns(self, number: int) -> tuple[tuple[str, DataType], ...]:
        return result_columns(self.link.plan.queries[number], self.link.plan.stream)

    def _in_files(self, frames: Sequence[DataFrame], numbers: Iterable[int]) -> DataFrame:
        rows = sum(self.counts[str(number)] for number in numbers)
        return in_files(reduce(lambda one, other: one.unionAll(other), frames), rows)


def _of_stream(rows: DataFrame, write: Callable[[], None]) -> Callable[[], None]:
    """What Spark does for it, in whatever thread, ends with the stream."""
    done: Callable[[], None] = inheritable_thread_target(rows.sparkSession)(write)
    return done


def _with_number(number: int, table: Any) -> Any:
    columns = [pa.repeat(pa.scalar(str(number)), table.num_rows), *table.columns]
    return pa.table(columns, [f"c{place}" for place in range(len(columns))])


def dataframe(spark: SparkSession, table: Any, columns: Sequence[tuple[str, DataType]]) -> DataFrame:
    """The rows of a table, which has these columns."""
    named: Any = table.rename_columns([name for name, _ in columns])
    return spark.createDataFrame(named, ddl((name, type_.sql) for name, type_ in columns))


def _put(
    to: OnDisk | ByHadoop, inside: str, ending: str, contents: Sequence[Callable[[], bytes]], made: Sequence[Path]
) -> Callable[[], None]:
    match to:
        case OnDisk():
            return partial(to.put, inside, ending, contents, made)
        case ByHadoop():  # workers have no disk of its own to make files on
            return partial(to.put, inside, ending, contents)


def lost_writes(
    batches: Sequence[OfLink], what: str, to: OnDisk | ByHadoop, batch: int
) -> Iterator[Callable[[], None]]:
    """What writes what all links have of LATE or DEAD, if there is any."""
    lines = [line for own in batches for line in own.told.lines(what)]
    made = [file for own in batches for file in own.made(what)]
    kept = [own.texts_kept(what) for own in batches if what in own.told.kept]
    if kept:
        yield _of_stream(kept[0], partial(_lost_by_spark, lines, kept, f"{to.folder.rstrip('/')}/{place(batch)}"))
    elif lines or made:
        yield _put(to, place(batch), OF_TEXT, [partial(text_file, lines)] if lines else [], made)


def _lost_by_spark(lines: Sequence[str], kept: Sequence[DataFrame], to: str) -> None:
    told = kept[0].sparkSession.createDataFrame([(line,) for line in lines], kept[0].schema)
    rows = reduce(lambda one, other: one.unionAll(other), kept, told)
    rows.coalesce(FEW).write.mode("overwrite").text(to)
