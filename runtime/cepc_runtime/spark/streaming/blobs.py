"""Events and rows on their way through the operator as bytes.

Spark's stateful operator speaks pandas, which knows no integers with nulls and no time after 2262. So events reach it
as Arrow record batches in a binary column, one for each bucket of a batch, and rows leave it in the same way.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ...cheap_dataclass import dataclass
from ...numbers.sorting import by_number
from ...sql.types import to_arrow
from ..events import CLASS
from ..rows import BATCH
from .records import MALFORMED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ...plan.stream import StreamPlan
    from ..rows import Packing

BUCKET: Final = "_bucket"
AHEAD: Final = "_ahead"
PACKED: Final = f"{BUCKET} INT, {AHEAD} BOOLEAN, blob BINARY"
BLOB: Final = "blob BINARY"
LATE: Final = "late"
METRICS: Final = "metrics"
DEAD: Final = "dead"
"""In the place of a query's number: a late event as JSON, what a bucket did, and a record that is no event as JSON."""


def pack(batches: Iterable[Any]) -> Iterator[Any]:
    """For `mapInArrow`: the events of each bucket together, and each record that is none by itself, with a null for
    AHEAD.

    Columns before the events' own are BUCKET, AHEAD and, where there can be such records, MALFORMED.
    """
    schema = pa.schema([(BUCKET, pa.int32()), (AHEAD, pa.bool_()), ("blob", pa.binary())])
    for batch in batches:
        if batch.num_columns > 2 and batch.schema.field(2).name == MALFORMED:
            texts = batch.column(2)
            dead = batch.filter(texts.is_valid())
            if dead.num_rows:
                nothing = pa.nulls(dead.num_rows, pa.bool_())
                yield pa.RecordBatch.from_arrays(
                    [dead.column(0), nothing, dead.column(2).cast(pa.binary())], schema=schema
                )
            batch = batch.filter(texts.is_null()).drop_columns([MALFORMED])
        if not batch.num_rows:
            continue
        keys = batch.column(0).to_numpy().astype(np.int64) * 2 + batch.column(1).to_numpy(zero_copy_only=False)
        order = by_number(keys)
        events = pa.RecordBatch.from_arrays(batch.columns[2:], schema=pa.schema(list(batch.schema)[2:]))
        events, keys = events.take(pa.array(order)), keys[order]
        bounds = [0, *(np.flatnonzero(keys[1:] != keys[:-1]) + 1).tolist(), len(keys)]
        parts = [(int(keys[start]), events.slice(start, end - start)) for start, end in pairwise(bounds)]
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([key // 2 for key, _ in parts], pa.int32()),
                pa.array([key % 2 == 1 for key, _ in parts]),
                pa.array([part.serialize().to_pybytes() for _, part in parts], pa.binary()),
            ],
            schema=schema,
        )


def event_schema(stream: StreamPlan, letters: Iterable[str], several: bool) -> Any:
    """Of the events in a blob: the class where there are several, the columns, and the letters."""
    found = [pa.field(CLASS, pa.int32())] if several else []
    found += [pa.field(name, to_arrow(type_)) for name, type_ in stream.given]
    return pa.schema([*found, *(pa.field(name, pa.int64()) for name in letters)])


def unpack(packing: Packing) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """For `mapInArrow`: the rows that the operator gave."""
    schema = packing.schema

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            yield from _together(pa.ipc.read_record_batch(blob.as_buffer(), schema) for blob in batch.column(0))

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


@dataclass(frozen=True)
class TellsRows:
    """What a bucket tells, as serialized record batches of one schema, which `unpack` makes rows of."""

    packing: Packing

    def all_of(self, rows: Iterable[tuple[int, Any]], texts: Mapping[str, list[str]], metrics: str) -> list[bytes]:
        """Tables with the number of their query, texts by what they are, and what the bucket did."""
        found = [batch for number, table in rows for batch in self.packing.rows(number, [table])]
        found += [notes(self.packing, what, lines) for what, lines in {**texts, METRICS: [metrics]}.items()]
        return [_bytes(batch) for batch in found]

    def error(self, text: str) -> bytes:
        """Why there is nothing else."""
        return _bytes(self.packing.error(text))


def notes(packing: Packing, what: str, texts: list[str]) -> Any:
    """Rows that are no query's."""
    nulls = [pa.nulls(len(texts), field.type) for field in list(packing.schema)[2:]]
    marks = pa.array([what] * len(texts))
    return pa.RecordBatch.from_arrays([marks, pa.array(texts, pa.string()), *nulls], schema=packing.schema)


def _bytes(batch: Any) -> bytes:
    return bytes(batch.serialize().to_pybytes())
