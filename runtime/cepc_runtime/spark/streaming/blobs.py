"""Events and rows on their way through the operator as bytes.

Spark's stateful operator speaks pandas, which knows no integers with nulls and no time after 2262. So events reach it
as Arrow record batches in a binary column, one for each bucket of a batch, and rows leave it in the same way.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from ...cheap_dataclass import dataclass
from ...numbers.sorting import by_number
from ...sql.types import to_arrow
from ..events import CLASS
from ..rows import BATCH, table_of, to_bytes
from .records import MALFORMED, PASSED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyspark.sql import Column

    from ...plan.stream import StreamPlan
    from ...sql.types import DataType

BUCKET: Final = "_bucket"
AHEAD: Final = "_cepc_ahead"
KIND: Final = "kind"
PACKED: Final = f"{BUCKET} INT, {KIND} INT, blob BINARY"
BLOB: Final = "blob BINARY"
_PACKED: Final = pa.schema([(BUCKET, pa.int32()), (KIND, pa.int32()), ("blob", pa.binary())])
TAKEN, EARLY, NO_EVENT, PASSING, HELD = range(5)
"""What is in a blob of PACKED: events, events that are ahead of the clock, a record that is no event as text, what is
passed on to the links of a chain behind this one, and, when a stream is ended, what the bucket holds.
"""
LATE: Final = "late"
METRICS: Final = "metrics"
DEAD: Final = "dead"
"""In the place of a query's number: a late event as JSON, what a bucket did, and a record that is no event as JSON."""


def pack(batches: Iterable[Any]) -> Iterator[Any]:
    """For `mapInArrow`: the events of each bucket together, and each row that is no event by itself.

    Columns before the events' own are BUCKET, AHEAD and, where there can be such rows, MALFORMED or PASSED.
    """
    for batch in batches:
        name = batch.schema.field(2).name if batch.num_columns > 2 else None
        if name in (MALFORMED, PASSED):
            said = batch.column(2)
            apart = batch.filter(said.is_valid())
            if apart.num_rows:
                buckets, content = apart.column(0).to_pylist(), apart.column(2).cast(pa.binary()).to_pylist()
                if name == MALFORMED:
                    rows = [(bucket, NO_EVENT, blob) for bucket, blob in zip(buckets, content, strict=True)]
                else:
                    rows = [_opened(bucket, blob) for bucket, blob in zip(buckets, content, strict=True)]
                yield _packed(rows)
            batch = batch.filter(said.is_null()).drop_columns([name])
        if not batch.num_rows:
            continue
        keys = batch.column(0).to_numpy().astype(np.int64) * 2 + batch.column(1).to_numpy(zero_copy_only=False)
        order = by_number(keys)
        events = pa.RecordBatch.from_arrays(batch.columns[2:], schema=pa.schema(list(batch.schema)[2:]))
        events, keys = events.take(pa.array(order)), keys[order]
        bounds = [0, *(np.flatnonzero(keys[1:] != keys[:-1]) + 1).tolist(), len(keys)]
        parts = [(int(keys[start]), events.slice(start, end - start)) for start, end in pairwise(bounds)]
        yield _packed([(key // 2, EARLY if key % 2 else TAKEN, part.serialize().to_pybytes()) for key, part in parts])


def packed_for_all(buckets: Sequence[int], schema: Any) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """The same, and no events for each bucket, so that all of them see each watermark, and whether the checkpoint is
    theirs, before anything of a micro-batch is committed.

    Each is another function to Spark, which would let two operators of one plan have one shuffle, and then finds no
    watermark for the second.
    """
    own = uuid4().hex
    nothing = pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
    content = nothing.serialize().to_pybytes()

    def run(batches: Iterable[Any], _own: str = own) -> Iterator[Any]:
        yield _packed([(bucket, TAKEN, content) for bucket in buckets])
        yield from pack(batches)

    return run


def _packed(rows: Sequence[tuple[int, int, bytes]]) -> Any:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _PACKED, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_PACKED)


def event_schema(stream: StreamPlan, letters: Iterable[str], several: bool) -> Any:
    """Of the events in a blob: the class where there are several, the columns, and the letters."""
    found = [pa.field(CLASS, pa.int32())] if several else []
    found += [pa.field(name, to_arrow(type_)) for name, type_ in stream.given]
    return pa.schema([*found, *(pa.field(name, pa.int64()) for name in letters)])


# ---- what links of a chain say ---------------------------------------------------------------------------------------

_HEAD: Final = 8
"""Bytes before all that a link says. Of eight, what comes after them is aligned."""
SAID: Final = 0xFFFFFFFF
"""What is told to those who write."""
KEPT: Final = 0xFFFFFFFE
"""Rows that Spark keeps for them."""
_NO_LINK: Final = 0xFFFFFFFF


def _head(link: int, number: int) -> bytes:
    """Its number, and that of the query whose rows are events of a link behind it, or what else it is."""
    return link.to_bytes(4, "little") + number.to_bytes(4, "little")


def told_by(link: int, content: bytes) -> bytes:
    """What a link tells those who write."""
    return _head(link, SAID) + content


def kept_by(link: int, rows: bytes) -> bytes:
    """Rows of a link that are kept for those who write."""
    return _head(link, KEPT) + rows


def events_of(link: int, number: int, rows: Any) -> bytes:
    """The rows of a link's query of this number, as events of a link behind it."""
    return _head(link, number) + to_bytes(rows)


def contents(link: int, blobs: Iterable[Any]) -> Iterator[Any]:
    """What this link tells, of what all links say, as buffers."""
    return _after(_head(link, SAID), blobs)


def kept_of(link: int, blobs: Iterable[Any]) -> Iterator[Any]:
    """The rows of this link that are kept, as buffers."""
    return _after(_head(link, KEPT), blobs)


def _after(head: bytes, blobs: Iterable[Any]) -> Iterator[Any]:
    for blob in blobs:
        buffer = blob.as_buffer()
        if buffer[:_HEAD] == head:
            yield buffer.slice(_HEAD)


def is_of_kind(blob: Column, kind: int) -> Column:
    """Whether it is SAID or KEPT, of any link."""
    return F.substring(blob, 5, 4) == F.lit(kind.to_bytes(4, "little"))


@dataclass(frozen=True)
class Taking:
    """The rows of a query of a link before, its `number` there, in these columns, which are events of a `stream` here;
    `again` where they are also those of another stream, here or in a later link.
    """

    stream: str
    query: str
    link: int
    number: int
    columns: tuple[tuple[str, DataType], ...]
    again: bool = False


def taken(taking: Taking, schema: Any) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """For `mapInArrow` over what is PACKED: the rows, in columns of this schema, whose last is PASSED: null of them,
    and of all else what `pack` makes it again of.
    """
    own = _head(taking.link, taking.number)

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            passed = list[bytes]()
            for bucket, kind, blob in zip(*batch.columns, strict=True):
                buffer, is_passing = blob.as_buffer(), kind.as_py() == PASSING
                is_taken = is_passing and buffer[:_HEAD] == own
                if is_taken:
                    yield from _rows_taken(buffer.slice(_HEAD), schema)
                if taking.again or not is_taken:
                    passed.append(blob.as_py() if is_passing else _closed(bucket.as_py(), kind.as_py(), blob.as_py()))
            if passed:
                nulls = [pa.nulls(len(passed), field.type) for field in list(schema)[:-1]]
                yield pa.RecordBatch.from_arrays([*nulls, pa.array(passed, pa.binary())], schema=schema)

    return run


_CLOSED: Final = _head(_NO_LINK, _NO_LINK)


def _closed(bucket: int, kind: int, blob: bytes) -> bytes:
    """A row of PACKED as something that is passed on."""
    return _CLOSED + _head(bucket, kind) + blob


def _opened(bucket: int, blob: bytes) -> tuple[int, int, bytes]:
    """A row of PACKED, of what is passed on to a bucket, or was a row of PACKED before."""
    if not blob.startswith(_CLOSED):
        return bucket, PASSING, blob
    said, own = blob[_HEAD : 2 * _HEAD], blob[2 * _HEAD :]
    return int.from_bytes(said[:4], "little"), int.from_bytes(said[4:], "little"), own


def _rows_taken(buffer: Any, schema: Any) -> Iterator[Any]:
    for rows in table_of(buffer).to_batches(BATCH):
        yield pa.RecordBatch.from_arrays([*rows.columns, pa.nulls(rows.num_rows, pa.binary())], schema=schema)
