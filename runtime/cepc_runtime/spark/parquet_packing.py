"""Files of Parquet in a worker: the rows of a task, by query, as record batches of whole files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import TaskContext

from ..results.parquet_columns import with_dictionary
from ..sql.types import to_arrow
from .forms import END, INT96, Carried, Placed
from .rows import ERROR, FAILED, FILE, QUERY, SUBTOTALS, result_columns, to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ..plan.physical import PhysicalPlan
    from .forms import InFiles, Parquet
    from .rows import RowLayout

GROUP: Final = 1 << 17
"""Rows that a file is given at a time, if they fit into memory until then."""

PENDING: Final = 1 << 26
"""Bytes of the rows that wait, of all queries together."""

FILE_BYTES: Final = 1 << 25
"""A file is whole when it has so many; a JVM holds some of them at a time."""

FILES_BYTES: Final = 1 << 27
"""Those of all files that are not whole, and the largest then is."""


class ParquetFile:
    """A file that is being written, and rows that wait for it."""

    def __init__(self, schema: Any, parquet: Parquet) -> None:
        self._schema, self._parquet = schema, parquet
        self._bytes = pa.BufferOutputStream()
        self._writer: Any = None
        self._waiting: list[Any] = []
        self.rows = 0
        """How many wait."""
        self.pending = 0
        """How many bytes these have."""

    def add(self, table: Any) -> int:
        """The bytes of these rows."""
        size = int(table.nbytes)
        self._waiting.append(table)
        self.rows += table.num_rows
        self.pending += size
        return size

    def write(self) -> int:
        """How many bytes the file has when the rows that wait are in it."""
        if self._waiting:
            found = pa.concat_tables(self._waiting)
            rows = pa.Table.from_arrays(found.columns, schema=self._schema)
            self._writer = self._writer or self._begun(rows)
            self._writer.write_table(rows)
        self._waiting, self.rows, self.pending = [], 0, 0
        return int(self._bytes.tell())

    def _begun(self, rows: Any) -> Any:
        return pq.ParquetWriter(
            self._bytes,
            self._schema,
            compression=self._parquet.compression,
            use_dictionary=with_dictionary(rows),
            use_deprecated_int96_timestamps=self._parquet.times == INT96,
            store_schema=False,
        )

    def whole(self) -> Any:
        """A buffer of all its bytes, when all rows are in it."""
        self.write()
        self._writer.close()
        return self._bytes.getvalue()


def file_schema(plan: PhysicalPlan, number: int, parquet: Parquet) -> Any:
    """Of the files of query `number`."""
    columns = result_columns(plan.queries[number], plan.stream)
    # Without a version Spark takes old times for times of a calendar that it had before.
    return pa.schema([(name, to_arrow(type_)) for name, type_ in columns], {"org.apache.spark.version": parquet.spark})


def _task() -> tuple[int, int]:
    """The number of the task, as in the names that Spark gives to files, and that of the attempt at it."""
    context = TaskContext.get()
    return (0, 0) if context is None else (context.partitionId(), context.taskAttemptId())


class ParquetPacking:
    """Makes record batches with the columns of `rows.row_schema` for files, of the rows of one task."""

    def __init__(self, plan: PhysicalPlan, layout: RowLayout, form: InFiles) -> None:
        self._plan, self._form = plan, form
        self._files: dict[int, ParquetFile] = {}
        self._written: dict[int, int] = {}
        self._pending, self._named = 0, 0
        columns = [pa.field(QUERY, pa.string()), pa.field(ERROR, pa.string()), pa.field(FILE, pa.binary())]
        self._schema = pa.schema([*columns, *([pa.field(SUBTOTALS, pa.binary())] if layout.subtotals else [])])

    def rows(self, number: int, tables: Iterable[Any]) -> Iterator[Any]:
        """The files that are whole by the rows of these tables, which are those of query `number`."""
        for table in tables:
            if not table.num_rows:
                continue
            if number not in self._files:
                parquet = self._form.parquet
                self._files[number] = ParquetFile(file_schema(self._plan, number, parquet), parquet)
            file = self._files[number]
            self._pending += file.add(table)
            if file.rows < GROUP and self._pending <= PENDING:
                continue
            if file.rows >= GROUP:
                self._write(number)
            while self._pending > PENDING:
                self._write(max(self._files, key=lambda n: self._files[n].pending))
            yield from self._large()

    def rest(self) -> Iterator[Any]:
        """All other files."""
        for number in list(self._files):
            yield self._whole(number)

    def subtotals(self, number: int, table: Any) -> Any:
        """What a task has found of query `number`, as one row."""
        return self._row({QUERY: str(number), SUBTOTALS: to_bytes(table)})

    def error(self, text: str) -> Any:
        """A row that says why there are no others."""
        return self._row({QUERY: FAILED, ERROR: text})

    def _write(self, number: int) -> None:
        self._pending -= self._files[number].pending
        self._written[number] = self._files[number].write()

    def _large(self) -> Iterator[Any]:
        for number in [number for number, size in self._written.items() if size >= FILE_BYTES]:
            yield self._whole(number)
        while sum(self._written.values()) > FILES_BYTES:
            yield self._whole(max(self._written, key=lambda n: self._written[n]))

    def _whole(self, number: int) -> Any:
        file = self._files.pop(number)
        self._pending -= file.pending
        self._written.pop(number, None)
        return self._row({QUERY: str(number), FILE: self._handed_on(file.whole())})

    def _handed_on(self, file: Any) -> bytes:
        """What the row of a file says of it."""
        match self._form.where:
            case Carried():
                return bytes(file.slice(0, file.size - len(END)).to_pybytes())
            case Placed(folder, write):
                task, attempt = _task()
                name = f"part-{task:05}-{write}.a{attempt}.c{self._named:05}{self._form.parquet.ending}"
                self._named += 1
                Path(folder, name).write_bytes(file)
                return name.encode()

    def _row(self, values: Mapping[str, str | bytes]) -> Any:
        columns = [pa.array([values.get(field.name)], field.type) for field in self._schema]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)
