"""What a bucket tells of a micro-batch: a table of the rows of each query, and what else there is to say.

What is more than a driver shall hold is put aside: workers make files of it where they are on the driver's machine, and
else Spark keeps it as rows.
"""

from __future__ import annotations

import json
from collections import defaultdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from ...cheap_dataclass import dataclass
from ..rows import FAILED, Packing, layout_of, to_bytes
from .blobs import METRICS, kept_by, told_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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

OF: Final = b"of"
"""What says in a table what it is of: the number of a query, or a word."""


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
            if table.num_rows:
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
        return told_by(self.link, to_bytes(table.replace_schema_metadata({OF: what})))

    def _rows_aside(self, number: int, table: Any) -> Iterator[bytes]:
        match self.aside:
            case MadeByWorkers(kind, folder):
                from .made_files import file_of  # which brings all of Parquet, and other streams do not need it

                yield self._placed(folder, str(number), file_of(kind, self.plan, number, [table]), kind.ending)
            case KeptBySpark():
                yield from self._kept(str(number), self._packing.rows(number, [table]))

    def _texts_aside(self, what: str, lines: list[str]) -> Iterator[bytes]:
        match self.aside:
            case MadeByWorkers(folder=folder):
                from .made_files import OF_TEXT, text_file

                yield self._placed(folder, what, text_file(lines), OF_TEXT)
            case KeptBySpark():
                yield from self._kept(what, [_notes(self._packing, what, lines)])

    def _placed(self, folder: str, what: str, content: Any, ending: str) -> bytes:
        """What tells of a new file with this content, or that it cannot be written."""
        from .made_files import new_name, unwritten

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
