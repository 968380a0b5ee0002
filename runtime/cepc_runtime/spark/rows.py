"""The rows of all queries of a stream as rows of one DataFrame, so that one pass over the events answers every query.

A row says its query by its number, as text, and has its values in *slots*. Queries share the slots of equal types, so
that a hundred queries need as many columns as the widest of them.

A number would be part of the code that Spark makes of `query = 7`, which a JVM then compiles anew for each query; a
text is data.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from ..cheap_dataclass import dataclass
from ..numbers.columns import flat
from ..parts.classes import has_subtotals
from ..sql.types import STRING as TEXT
from ..sql.types import Array, DataType, Struct, StructField, quote_name, to_arrow
from .forms import IN_ROWS, InFiles, InRows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from pyspark.sql import Column, DataFrame

    from ..plan.physical import PhysicalPlan
    from ..plan.query import QueryPlan
    from ..plan.stream import StreamPlan
    from .forms import Form

QUERY: Final = "query"
ERROR: Final = "error"
FILE: Final = "file"
SUBTOTALS: Final = "subtotals"
FAILED: Final = "failed"
"""In the place of a query's number: the user's error, which is why there are no other rows."""
BATCH: Final = 1 << 14


@dataclass(frozen=True, slots=True)
class Slot:
    name: str
    type: DataType


@dataclass(frozen=True, slots=True)
class RowLayout:
    """`places[q][i]` is the index of the slot that holds column i of query q of the plan. `subtotals`: some query's
    rows are made from subtotals, and there is a column for them.
    """

    slots: tuple[Slot, ...]
    places: tuple[tuple[int, ...], ...]
    subtotals: bool


def result_columns(query: QueryPlan, stream: StreamPlan) -> tuple[tuple[str, DataType], ...]:
    """The columns of a query's rows, in their order."""
    time = dict(stream.columns)[stream.time_column]
    found = [(output.name, output.expression.type) for output in query.outputs]
    if query.returns_events:
        event = Struct((StructField("variable", TEXT), *(StructField(n, t) for n, t in stream.shown)))
        found.append(("events", Array(event)))
    ends = ("match_start", "match_end") if query.kind == "match" else ("window_start", "window_end")
    return (*found, *((name, time) for name in ends))


def layout_of(plan: PhysicalPlan) -> RowLayout:
    """Where each query's columns are."""
    slots: list[Slot] = []
    by_type: dict[DataType, list[int]] = {}
    words: Counter[str] = Counter()
    places = []
    for query in plan.queries:
        used: Counter[DataType] = Counter()
        row = []
        for _, type_ in result_columns(query, plan.stream):
            same = by_type.setdefault(type_, [])
            if used[type_] == len(same):
                word = type_.sql.lower().partition("(")[0].partition("<")[0].partition(" ")[0]
                same.append(len(slots))
                slots.append(Slot(f"{word}_{words[word]}", type_))
                words[word] += 1
            row.append(same[used[type_]])
            used[type_] += 1
        places.append(tuple(row))
    return RowLayout(tuple(slots), tuple(places), any(has_subtotals(query, plan.stream.unit) for query in plan.queries))


def slots_of(layout: RowLayout, query: QueryPlan, number: int, stream: StreamPlan) -> list[tuple[str, str]]:
    """The slot of each column of query `number` of the plan, and the column's name."""
    named = zip(layout.places[number], result_columns(query, stream), strict=True)
    return [(layout.slots[slot].name, column) for slot, (column, _) in named]


def with_columns_of(rows: DataFrame, layout: RowLayout, query: QueryPlan, number: int, stream: StreamPlan) -> DataFrame:
    """The rows of query `number` of the plan with its columns and no others. Their names are no SQL, which would have
    its variables replaced, and all of them are two calls of the JVM; Column objects are several for each.
    """
    slots, columns = zip(*slots_of(layout, query, number, stream), strict=True)
    return rows.select(*slots).toDF(*columns)


def of_queries(numbers: Collection[int]) -> str:
    """The condition, as SQL, of a row of these queries."""
    texts = ", ".join(f"'{number}'" for number in numbers)
    return f"{QUERY} IN ({texts})"


def no_error() -> Column:
    """True of a row of results; a row that is an error fails the job with its text alone."""
    error = F.col(ERROR)
    return fails_where(error.isNotNull(), error)


def fails_where(wrong: Column, said: Column) -> Column:
    """A condition that is true; where a row is `wrong` the job fails with what is `said`. It is not deterministic to
    Spark, which else puts conditions on the rows that are left before it, and so loses the error.
    """
    always = F.spark_partition_id() >= 0
    return F.when(wrong, F.raise_error(said).cast("boolean")).otherwise(always)


def row_schema(layout: RowLayout, form: Form = IN_ROWS) -> str:
    """The schema of the rows in this form, as DDL."""
    columns = [(QUERY, "STRING"), (ERROR, "STRING")]
    match form:
        case InRows():
            columns += [(slot.name, slot.type.sql) for slot in layout.slots]
        case InFiles():
            columns.append((FILE, "BINARY"))
    return ddl([*columns, *([(SUBTOTALS, "BINARY")] if layout.subtotals else [])])


def ddl(columns: Iterable[tuple[str, str]]) -> str:
    """A schema of columns with these names and types."""
    return ", ".join(f"{quote_name(name)} {type_}" for name, type_ in columns)


def to_bytes(table: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def table_of(data: bytes) -> Any:
    """What was made `to_bytes`."""
    return pa.ipc.open_stream(data).read_all()


@dataclass(frozen=True)
class Packing:
    """Makes record batches of the rows' schema."""

    layout: RowLayout
    schema: Any

    @classmethod
    def of(cls, layout: RowLayout) -> Packing:
        found = [pa.field(QUERY, pa.string()), pa.field(ERROR, pa.string())]
        found += [pa.field(s.name, to_arrow(s.type)) for s in layout.slots]
        return cls(layout, pa.schema([*found, *([pa.field(SUBTOTALS, pa.binary())] if layout.subtotals else [])]))

    def rows(self, number: int, tables: Iterable[Any]) -> Iterator[Any]:
        """The tables of query `number` as batches."""
        for table in tables:
            for start in range(0, table.num_rows, BATCH):
                yield self._batch(number, table.slice(start, BATCH))

    def rest(self) -> Iterator[Any]:
        """There are no others."""
        return iter(())

    def subtotals(self, number: int, table: Any) -> Any:
        """What a task has found of query `number`, as one row."""
        columns = [pa.nulls(1, field.type) for field in self.schema]
        columns[0], columns[-1] = pa.array([str(number)]), pa.array([to_bytes(table)], pa.binary())
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def error(self, text: str) -> Any:
        """A row that says why there are no others."""
        nulls = [pa.nulls(1, slot.type) for slot in list(self.schema)[2:]]
        return pa.RecordBatch.from_arrays([pa.array([FAILED]), pa.array([text]), *nulls], schema=self.schema)

    def _batch(self, number: int, table: Any) -> Any:
        length = table.num_rows
        columns: list[Any] = [pa.nulls(length, field.type) for field in self.schema]
        columns[0] = pa.repeat(pa.scalar(str(number)), length)
        for place, column in zip(self.layout.places[number], table.columns, strict=True):
            columns[place + 2] = flat(column)
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)
