"""What the buckets have told of a micro-batch, on the driver's side.

The job that computes it brings it here. To write rows by itself, Spark would keep those of all queries, and plan and
run a job for each kind of columns.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from ...cheap_dataclass import dataclass
from ..query_results import table_from
from ..rows import BATCH, FAILED, table_of
from ..schema import JobError
from .blobs import METRICS, SAID, contents, is_of_kind, kept_of
from .tells import FILES, MORE, OF, KeptBySpark, MadeByWorkers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame

    from ..rows import Packing
    from .tells import Aside


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
        tables[table.schema.metadata[OF].decode()].append(table)
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
