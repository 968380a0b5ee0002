"""What buckets tell of a micro-batch: a table of the rows of each query, and what else there is to say.

The job that computes it brings it to the driver. To write rows by itself, Spark would keep those of all queries, and
plan and run a job for each kind of columns. What is more than a driver shall hold is put aside: workers make files of
it where they are on the driver's machine, and else Spark keeps it as rows.
"""

from __future__ import annotations

import json
import uuid
from collections import defaultdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from ...cheap_dataclass import dataclass
from ...results.lines import csv_lines, json_lines
from ..forms import Parquet, TextLines
from ..parquet_packing import ParquetFile, file_schema
from ..query_results import table_from
from ..rows import BATCH, FAILED, Packing, layout_of, table_of, to_bytes
from ..schema import JobError
from .blobs import METRICS, SAID, contents, is_of_kind, kept_by, kept_of, told_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame

    from ...plan.physical import PhysicalPlan
    from ..forms import FileKind

OF_A_BUCKET: Final = 1 << 20
"""Bytes of rows and texts that a bucket tells the driver in a micro-batch, at most."""
OF_ALL: Final = 1 << 24
"""Those that all buckets tell: to make text of these takes a driver some tenths of a second."""

FILES: Final = "files"
"""What a table is of whose rows are files, and what these are of."""
MORE: Final = "more"
"""What a table is of whose rows say of what there are more rows, which Spark keeps."""

_OF: Final = b"of"
"""What says in a table what it is of: the number of a query, or a word."""

OF_TEXT: Final = ".txt"


def handed_on(buckets: int) -> int:
    """Bytes that each of so many tells."""
    return min(OF_A_BUCKET, OF_ALL // buckets)


@dataclass(frozen=True)
class MadeByWorkers:
    """Workers make files of it, of this kind, in a folder of the disk that they share with the driver."""

    kind: FileKind
    folder: str


@dataclass(frozen=True)
class KeptBySpark:
    """It stays in a DataFrame, as rows."""


Aside = MadeByWorkers | KeptBySpark
"""Where what is too much to be told is put."""

KEPT_BY_SPARK: Final = KeptBySpark()


# ---- a worker's side -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tells:
    """How a bucket tells what it has found, as tables that say what they are of: `most` bytes, and what is more is put
    `aside`.
    """

    plan: PhysicalPlan
    link: int
    aside: Aside
    most: int

    def all_of(self, rows: Iterable[tuple[int, Any]], texts: Mapping[str, list[str]], metrics: str) -> list[bytes]:
        """Tables with the number of their query, texts by what they are, and what the bucket did."""
        tables = defaultdict[int, list[Any]](list)
        for number, table in rows:
            tables[number].append(table)
        return [*self._all_of(tables, texts, metrics)]

    def error(self, text: str) -> bytes:
        """Why there is nothing else."""
        return self._said(FAILED, _lines([text]))

    def _all_of(
        self, tables: Mapping[int, Sequence[Any]], texts: Mapping[str, list[str]], metrics: str
    ) -> Iterator[bytes]:
        yield self._said(METRICS, _lines([metrics]))
        left = self.most
        for number, own in tables.items():
            table = pa.concat_tables(own)
            if table.nbytes <= left:
                left -= table.nbytes
                yield self._said(str(number), table)
            else:
                yield from self._rows_aside(number, table)
        for what, lines in texts.items():
            if (size := sum(map(len, lines))) <= left:
                left -= size
                yield self._said(what, _lines(lines))
            else:
                yield from self._texts_aside(what, lines)

    def _said(self, what: str, table: Any) -> bytes:
        return told_by(self.link, to_bytes(table.replace_schema_metadata({_OF: what})))

    def _rows_aside(self, number: int, table: Any) -> Iterator[bytes]:
        match self.aside:
            case MadeByWorkers(kind, folder):
                yield self._placed(folder, str(number), file_of(kind, self.plan, number, [table]), kind.ending)
            case KeptBySpark():
                yield from self._kept(str(number), self._packing.rows(number, [table]))

    def _texts_aside(self, what: str, lines: list[str]) -> Iterator[bytes]:
        match self.aside:
            case MadeByWorkers(folder=folder):
                yield self._placed(folder, what, text_file(lines), OF_TEXT)
            case KeptBySpark():
                yield from self._kept(what, [_notes(self._packing, what, lines)])

    def _placed(self, folder: str, what: str, content: Any, ending: str) -> bytes:
        """What tells of a new file with this content, or that it cannot be written."""
        name = new_name(ending)
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            Path(folder, name).write_bytes(content)
        except OSError as error:
            return self.error(unwritten(error, folder))
        return self._said(FILES, _lines([json.dumps([what, name])]))

    def _kept(self, what: str, batches: Iterable[Any]) -> Iterator[bytes]:
        yield self._said(MORE, _lines([what]))
        for batch in batches:
            yield kept_by(self.link, bytes(batch.serialize().to_pybytes()))

    @cached_property
    def _packing(self) -> Packing:
        return Packing.of(layout_of(self.plan))


def _lines(lines: list[str]) -> Any:
    return pa.table({"line": pa.array(lines, pa.string())})


def _notes(packing: Packing, what: str, texts: list[str]) -> Any:
    """Rows that are no query's."""
    nulls = [pa.nulls(len(texts), field.type) for field in list(packing.schema)[2:]]
    marks = pa.array([what] * len(texts))
    return pa.RecordBatch.from_arrays([marks, pa.array(texts, pa.string()), *nulls], schema=packing.schema)


def file_of(kind: FileKind, plan: PhysicalPlan, number: int, tables: Sequence[Any]) -> Any:
    """The bytes of a file with rows of query `number`."""
    match kind:
        case Parquet():
            file = ParquetFile(file_schema(plan, number, kind), kind)
            for table in tables:
                file.add(table)
            return file.whole()
        case TextLines(form):
            lines = csv_lines if form == "csv" else json_lines
            return b"".join(lines(pa.concat_tables(tables)))


def text_file(lines: Iterable[str]) -> bytes:
    """Its bytes."""
    return "".join(f"{line}\n" for line in lines).encode()


def new_name(ending: str) -> str:
    """Of a file."""
    return f"part-{uuid.uuid4()}{ending}"


def unwritten(error: OSError, folder: str) -> str:
    """What to say of it."""
    why = f"{error.filename or folder} cannot be written: {error.strerror or error}"
    return f"{why}; the same command goes on from the checkpoint"


# ---- the driver's side -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Told:
    """What the buckets of a link told of a micro-batch, by what it is of: tables, names of files that workers have
    made, and of what more rows are kept in Spark.
    """

    tables: Mapping[str, Sequence[Any]]
    files: Mapping[str, Sequence[str]]
    kept: frozenset[str]

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """What each bucket did."""
        return [json.loads(line) for line in self.lines(METRICS)]

    def has(self, what: str) -> bool:
        """Whether there is anything of it."""
        return bool(self.tables.get(what) or self.files.get(what) or what in self.kept)

    def lines(self, what: str) -> list[str]:
        return [line for table in self.tables.get(what, ()) for line in table.column("line").to_pylist()]


def told(buffers: Iterable[Any]) -> Told:
    """What these say. Raises JobError where a bucket has failed."""
    tables, files = defaultdict[str, list[Any]](list), defaultdict[str, list[str]](list)
    for buffer in buffers:
        table = table_of(buffer)
        tables[table.schema.metadata[_OF].decode()].append(table)
    found = Told(tables, {}, frozenset())
    if errors := found.lines(FAILED):
        raise JobError(errors[0])
    for line in found.lines(FILES):
        what, name = json.loads(line)
        files[what].append(name)
    return Told(tables, files, frozenset(found.lines(MORE)))


def told_in(blobs: DataFrame, links: Iterable[int], aside: Aside) -> list[Told]:
    """By each of these links, in one job. Raises JobError."""
    match aside:
        case KeptBySpark():
            blobs = blobs.where(is_of_kind(F.col("blob"), SAID))
        case MadeByWorkers():
            pass  # nothing else is in them
    found = table_from(blobs).column(0)
    return [told(contents(link, found)) for link in links]


def unpack(packing: Packing, link: int) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """For `mapInArrow`: the rows of a link that are kept."""
    schema = packing.schema

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            yield from _together(pa.ipc.read_record_batch(found, schema) for found in kept_of(link, batch.column(0)))

    return run


def _together(batches: Iterable[Any]) -> Iterator[Any]:
    """Of many small batches few: Spark does much for one, however few rows it has."""
    waiting, rows = list[Any](), 0
    for batch in batches:
        if waiting and rows + batch.num_rows > BATCH:
            yield from _joined(waiting)
            waiting, rows = [], 0
        waiting.append(batch)
        rows += batch.num_rows
    if waiting:
        yield from _joined(waiting)


def _joined(batches: list[Any]) -> list[Any]:
    if len(batches) == 1:
        return batches
    return list(pa.Table.from_batches(batches).combine_chunks().to_batches())
