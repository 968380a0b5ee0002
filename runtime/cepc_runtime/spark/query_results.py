"""What answers the queries of a stream: as a DataFrame for each query, or as tables that the driver collects."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..cheap_dataclass import dataclass
from ..parts.classes import has_subtotals
from .caching import in_few_tasks, kept, kept_rows
from .cut import together
from .groups import runs
from .rows import FILE, QUERY, ddl, no_error, of_queries, result_columns, row_schema, slots_of, with_columns_of
from .sinks import for_each
from .worker import prepared

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from pyspark.sql import DataFrame

    from ..plan.physical import PhysicalPlan
    from .rows import RowLayout


@dataclass(frozen=True)
class Alike:
    """The rows of queries that have the same columns: first the text that a query's rows have, then these."""

    frame: DataFrame
    queries: Mapping[str, str]
    """By that text the query's name."""


@dataclass(frozen=True)
class WholeFiles:
    """Files of Parquet as a DataFrame: the text that a query's files have, and the file as text, without its end."""

    frame: DataFrame
    queries: Mapping[str, str]
    """By that text the query's name."""
    schemas: Mapping[str, str]
    """By the query's name."""


@dataclass(frozen=True)
class Rows:
    """The rows of all queries of a plan, as the kernel makes them, or as they were `cached` then."""

    frame: DataFrame
    plan_text: str
    cached: DataFrame | None = None

    @property
    def plan(self) -> PhysicalPlan:
        return prepared(self.plan_text)[0]

    @property
    def layout(self) -> RowLayout:
        return prepared(self.plan_text)[1].layout

    def numbers(self, queries: Collection[str]) -> list[int]:
        """The numbers that the plan has for these queries, but for those that are not in it."""
        return [number for number, query in enumerate(self.plan.queries) if query.name in queries]

    def made_from_subtotals(self, number: int) -> bool:
        """Whether what tasks find are subtotals of the query."""
        return has_subtotals(self.plan.queries[number], self.plan.stream.unit)

    def kept(self) -> Rows:
        return self if self.cached is not None else replace(self, frame=kept_rows(self.frame), cached=self.frame)

    def forget(self) -> None:
        (self.frame if self.cached is None else self.cached).unpersist()

    def in_few_tasks(self) -> Rows:
        return replace(self, frame=in_few_tasks(self.frame))

    def alike(self, numbers: Collection[int]) -> list[list[int]]:
        """The queries, none of them made from subtotals, by their columns."""
        found: defaultdict[tuple[tuple[int, ...], tuple[str, ...]], list[int]] = defaultdict(list)
        for number in numbers:
            found[self.layout.places[number], self._columns(number)].append(number)
        return list(found.values())

    def together(self, numbers: Collection[int]) -> Alike:
        """The rows of such queries."""
        first = next(iter(numbers))
        slots, columns = zip(*slots_of(self.layout, self.plan.queries[first], first, self.plan.stream), strict=True)
        rows = self._of_queries(numbers).select(QUERY, *slots).toDF(QUERY, *columns)
        return Alike(rows, {str(number): self.plan.queries[number].name for number in numbers})

    def whole_files(self, numbers: Collection[int]) -> WholeFiles:
        """The files of such queries, where workers make files."""
        files = self.frame.where(f"{FILE} IS NOT NULL").selectExpr(QUERY, f"CAST({FILE} AS STRING) AS {FILE}")
        queries = {str(number): self.plan.queries[number].name for number in numbers}
        return WholeFiles(files, queries, {queries[str(number)]: self._schema(number) for number in numbers})

    def _columns(self, number: int) -> tuple[str, ...]:
        return tuple(name for name, _ in result_columns(self.plan.queries[number], self.plan.stream))

    def _schema(self, number: int) -> str:
        columns = result_columns(self.plan.queries[number], self.plan.stream)
        return ddl((name, type_.sql) for name, type_ in columns)

    def of_query(self, number: int) -> DataFrame:
        """The rows of one query, with its columns and no others."""
        plan, layout = self.plan, self.layout
        found = self._of_queries([number])
        if self.made_from_subtotals(number):
            one_task = found.repartition(1)
            found = one_task.mapInArrow(together(self.plan_text, number), row_schema(layout)).where(no_error())
        return with_columns_of(found, layout, plan.queries[number], number, plan.stream)

    def tables(self, numbers: Collection[int]) -> dict[str, Any]:
        """The rows of queries, none of them made from subtotals, as tables of Arrow: by one job, for a job costs more
        than its rows.
        """
        plan, layout = self.plan, self.layout
        brought = table_from(self._of_queries(numbers))
        batches = defaultdict[str, list[Any]](list)
        for text, batch in _by_query(brought.to_batches()):
            batches[text].append(batch)
        found = {}
        for number in numbers:
            table = pa.Table.from_batches(batches[str(number)], brought.schema)
            slots, columns = zip(*slots_of(layout, plan.queries[number], number, plan.stream), strict=True)
            found[plan.queries[number].name] = table.select(slots).rename_columns(columns).combine_chunks()
        return found

    def _of_queries(self, numbers: Collection[int]) -> DataFrame:
        return self.frame if len(numbers) == len(self.plan.queries) else self.frame.where(of_queries(numbers))


def table_from(frame: DataFrame) -> Any:
    """All rows, here. Spark 3.5 has no name for it that is public."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    from pyspark.sql.pandas.types import to_arrow_schema

    older: Any = frame
    return pa.Table.from_batches(older._collect_as_arrow(), to_arrow_schema(frame.schema))


def _by_query(batches: list[Any]) -> Iterator[tuple[str, Any]]:
    """The batches cut where the query changes, with the text that is its number. The kernel writes many rows of one
    after the other.
    """
    for batch in batches:
        queries = batch.column(QUERY).dictionary_encode()
        codes = queries.indices.to_numpy()
        for start, end in runs(codes):
            yield queries.dictionary[codes[start]].as_py(), batch.slice(start, end - start)


@dataclass(frozen=True)
class Answers:
    """The kernel's rows of some queries of a stream, and a DataFrame for each of those that Spark answers `alone`, all
    of the same events. Where rows are events of other queries, they are kept until somebody `forget`s them.
    """

    events: DataFrame
    rows: Rows | None = None
    alone: Mapping[str, DataFrame] = field(default_factory=dict)
    is_read_again: bool = False

    def read_again(self, queries: Collection[str]) -> Answers:
        """The same for who reads rows of these queries several times: they are found once."""
        alone, numbers = self._chosen(queries)
        self._keep_events(alone, numbers)
        rows = self.rows.kept() if self.rows is not None and numbers else self.rows
        return replace(
            self, rows=rows, alone={**self.alone, **{n: kept(f) for n, f in alone.items()}}, is_read_again=True
        )

    def frames(self, queries: Collection[str]) -> dict[str, DataFrame]:
        """The rows of each of the queries, with its columns and no others. What several of them are made from is
        computed once, by the first that is asked.
        """
        alone, numbers = self._chosen(queries)
        self._keep_events(alone, numbers)
        return alone | self._frames(numbers, readers=len(numbers))

    def parted(self, queries: Collection[str]) -> tuple[dict[str, DataFrame], list[Alike]]:
        """The same rows, together where several queries have the same columns."""
        alone, numbers = self._chosen(queries)
        self._keep_events(alone, numbers)
        if self.rows is None or not numbers:
            return alone, []
        added_up = [number for number in numbers if self.rows.made_from_subtotals(number)]
        alike = self.rows.alike([number for number in numbers if number not in added_up])
        apart = [*added_up, *(group[0] for group in alike if len(group) == 1)]
        several = [group for group in alike if len(group) > 1]
        rows = self.rows.kept() if len(apart) + len(several) > 1 else self.rows.in_few_tasks()
        frames = {rows.plan.queries[number].name: rows.of_query(number) for number in apart}
        return frames | alone, [rows.together(group) for group in several]

    def made_by_workers(self, queries: Collection[str]) -> tuple[dict[str, DataFrame], WholeFiles | None]:
        """The rows of those queries of which workers make no files, and the files of all others."""
        alone, numbers = self._chosen(queries)
        self._keep_events(alone, numbers)
        if self.rows is None or not numbers:
            return alone, None
        added_up = [number for number in numbers if self.rows.made_from_subtotals(number)]
        whole = [number for number in numbers if number not in added_up]
        rows = self.rows.kept() if len(added_up) + bool(whole) > 1 else self.rows
        frames = {rows.plan.queries[number].name: rows.of_query(number) for number in added_up}
        return frames | alone, rows.whole_files(whole) if whole else None

    def tables(self, queries: Collection[str]) -> dict[str, Any]:
        """The same rows as tables of Arrow, by as few jobs as there can be."""
        alone, numbers = self._chosen(queries)
        self._keep_events(alone, numbers)
        try:
            return self._tables(alone, numbers)
        finally:
            if not self.is_read_again:
                self.forget()

    def _tables(self, alone: Mapping[str, DataFrame], numbers: Collection[int]) -> dict[str, Any]:
        if self.rows is None:
            return _brought(alone)
        added_up = [number for number in numbers if self.rows.made_from_subtotals(number)]
        whole = [number for number in numbers if number not in added_up]
        frames = {**alone, **self._frames(added_up, readers=len(added_up) + bool(whole))}
        return (self.rows.tables(whole) if whole else {}) | _brought(frames)

    def _chosen(self, queries: Collection[str]) -> tuple[dict[str, DataFrame], list[int]]:
        """Those that Spark answers alone, and the numbers of the others."""
        alone = {name: frame for name, frame in self.alone.items() if name in queries}
        return alone, [] if self.rows is None else self.rows.numbers(queries)

    def _keep_events(self, alone: Collection[str], numbers: Collection[int]) -> None:
        if len(alone) + bool(numbers) > 1:
            kept(self.events)

    def forget(self) -> None:
        """What was kept, when all rows are there."""
        self.events.unpersist()
        if self.rows is not None:
            self.rows.forget()
        for frame in self.alone.values() if self.is_read_again else ():
            frame.unpersist()

    def _frames(self, numbers: Collection[int], readers: int) -> dict[str, DataFrame]:
        """The rows of queries of the kernel, kept if they have several `readers`."""
        if self.rows is None or not numbers:
            return {}
        rows = self.rows.kept() if readers > 1 else self.rows
        return {rows.plan.queries[number].name: rows.of_query(number) for number in numbers}


def _brought(frames: Mapping[str, DataFrame]) -> dict[str, Any]:
    return for_each(frames, lambda _, frame: table_from(frame)) if frames else {}
