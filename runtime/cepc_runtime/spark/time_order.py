"""The rows of a large group in the order of time, with few of them held: sorted part by part on disk, then merged.

Spark sorts a partition by keys alone, which is a third of the work of a sort by keys and time, and the rows of a group
that is held are sorted here, too.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ..events.grouped import ticks_of
from ..numbers.sorting import order_of
from .groups import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_STEP: Final = 8192
"""Rows that are held of each part while parts are merged."""
_OPTIONS: Final = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)


def in_time_order(batches: Iterable[Any], time: str, rows: int) -> Iterator[Any]:
    """The same rows, in batches; of so many at most, about, all are held."""
    parts = _parts(batches, rows)
    first = _sorted(next(parts), time)
    with TemporaryDirectory(prefix="cepc-", dir=_folder()) as folder:
        files = [_written(_sorted(part, time), Path(folder, str(number))) for number, part in enumerate(parts)]
        if not files:
            yield from first.to_batches(max_chunksize=_STEP)
            return
        files.append(_written(first, Path(folder, "first")))
        del first
        yield from _merged(files, time)


def _folder() -> str | None:
    """Where Spark has its workers write."""
    return os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or None


def _parts(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        if rows_of(held) >= rows:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)


def _sorted(table: Any, time: str) -> Any:
    return table.take(pa.array(order_of([ticks_of(table.column(time))]))).combine_chunks()


def _written(table: Any, path: Path) -> Path:
    with pa.ipc.new_stream(str(path), table.schema, options=_OPTIONS) as writer:
        writer.write_table(table, max_chunksize=_STEP)
    return path


def _merged(files: Sequence[Path], time: str) -> Iterator[Any]:
    """Step by step, all rows up to where some file must be read on."""
    sources = [_read(file) for file in files]
    heads = [next(source) for source in sources]
    nexts = [next(source, None) for source in sources]
    while heads:
        read_on = [head for head, more in zip(heads, nexts, strict=True) if more is not None]
        bound = min((int(ticks_of(head.column(time))[-1]) for head in read_on), default=None)
        taken: list[Any] = []
        for place in reversed(range(len(heads))):
            head, ticks = heads[place], ticks_of(heads[place].column(time))
            size = len(ticks) if bound is None else int(np.searchsorted(ticks, bound, side="right"))
            taken.append(head.slice(0, size))
            heads[place] = head.slice(size)
            if size == len(ticks) and nexts[place] is not None:
                heads[place], nexts[place] = nexts[place], next(sources[place], None)
            elif size == len(ticks):
                del heads[place], nexts[place], sources[place]
        yield from _sorted(pa.Table.from_batches(taken[::-1]), time).to_batches()


def _read(file: Path) -> Iterator[Any]:
    with pa.memory_map(str(file)) as mapped:
        yield from pa.ipc.open_stream(mapped)
